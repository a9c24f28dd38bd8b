/** Neighbours that were pooled into one level: how many values, their total weight, their weighted mean. */
interface Block {
  count: number
  weight: number
  level: number
}

/**
 * The non-increasing sequence closest to `values` by weighted least squares, by pooling neighbours that rise into their
 * weighted mean (pool adjacent violators; Barlow and others, 1972). Weights are above 0, one a value.
 *
 * @example nonIncreasingFit([0, 0.5, 0.2], [1, 1, 1]) // [0.25, 0.25, 0.2]
 */
export function nonIncreasingFit(values: readonly number[], weights: readonly number[]): number[] {
  if (values.length !== weights.length) throw new RangeError('one weight for each value')
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
