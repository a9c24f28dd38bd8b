/** Adjacent values pooled into one level: their count, their total weight and their weighted mean. */
interface Block {
  count: number
  weight: number
  level: number
}

/**
 * The non-increasing sequence closest to `values` by weighted least squares: of the shares of quotes won at rising rates, it makes
 * shares that never rise with the rate. Adjacent values that rise are pooled into their weighted mean (pool adjacent violators;
 * Barlow et al., 1972). `weights` has one weight above 0 per value.
 *
 * @example nonIncreasingFit([0, 0.5, 0.2], [1, 1, 1]) // [0.25, 0.25, 0.2]
 */
export function nonIncreasingFit(values: readonly number[], weights: readonly number[]): number[] {
  if (values.length !== weights.length) throw new RangeError('values and weights must have the same length')
  const blocks: Block[] = []
  for (const [at, value] of values.entries()) {
    let block: Block = { count: 1, weight: weights[at] ?? 0, level: value }
    let before = blocks.at(-1)
    while (before !== undefined && before.level < block.level) {
      blocks.pop()
      const weight = before.weight + block.weight
      block = {
        count: before.count + block.count,
        weight,
        level: (before.level * before.weight + block.level * block.weight) / weight,
      }
      before = blocks.at(-1)
    }
    blocks.push(block)
  }
  return blocks.flatMap((block) => new Array<number>(block.count).fill(block.level))
}
