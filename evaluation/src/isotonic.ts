import type { Forecast } from '#engine/statistics/forecast-quality.ts'

/**
 * Forecasts by the function that falls with x and fits these same outcomes best (pool-adjacent-violators): the lowest Brier score
 * that a falling forecast from x alone can have.
 */
export function isotonicForecasts(
  outcomes: readonly { readonly x: number; readonly won: boolean }[],
): Forecast[] {
  const blocks: { won: number; count: number }[] = []
  const sorted = [...outcomes].sort((one, other) => one.x - other.x)
  for (const { won } of sorted) {
    let block = { won: won ? 1 : 0, count: 1 }
    for (let before = blocks.at(-1); before && before.won / before.count <= block.won / block.count; ) {
      block = { won: block.won + before.won, count: block.count + before.count }
      blocks.pop()
      before = blocks.at(-1)
    }
    blocks.push(block)
  }
  const levels = blocks.flatMap(({ won, count }) => Array.from({ length: count }, () => won / count))
  return sorted.map(({ won }, i) => ({ p: levels[i] ?? 0, won }))
}
