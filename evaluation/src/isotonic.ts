import type { Forecast } from '#engine/statistics/forecast-quality.ts'

/**
 * Forecasts wins by the falling function of x (such as the rate) that fits these same outcomes best (pool-adjacent-violators). No
 * falling forecast from x alone has a lower Brier score.
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
