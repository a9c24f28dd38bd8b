import { DEVIATIONS_80 } from '#engine/statistics/normal-cdf.ts'

/** A group of quotes with similar forecasts, and its actual win rate. */
export interface Group {
  readonly number: number
  readonly quotes: number
  readonly wins: number
  /** Mean forecast of the group, 0 to 1. */
  readonly forecast: number
  /** The share of the group that was won, 0 to 1. */
  readonly won: number
  /** The 80% interval of `won` for this number of quotes. */
  readonly low: number
  readonly high: number
  readonly verdict: 'as forecast' | 'more often than forecast' | 'less often than forecast'
}

/**
 * The groups with their wins and 80% ranges (Wilson score interval, as for all win rates).
 *
 * @example groupsOf([{ quotes: 26, forecast: 0.6, won: 17 / 26 }])[0]?.verdict // 'as forecast'
 */
export function groupsOf(
  reliability: readonly { readonly quotes: number; readonly forecast: number; readonly won: number }[],
): Group[] {
  return reliability.map(({ quotes, forecast, won }, index) => {
    const [low, high] = wilson80(won, quotes)
    const verdict =
      forecast < low
        ? 'more often than forecast'
        : forecast > high
          ? 'less often than forecast'
          : 'as forecast'
    return { number: index + 1, quotes, wins: Math.round(won * quotes), forecast, won, low, high, verdict }
  })
}

function wilson80(share: number, quotes: number): readonly [low: number, high: number] {
  if (quotes === 0) return [0, 1]
  const squared = DEVIATIONS_80 ** 2 / quotes
  const middle = (share + squared / 2) / (1 + squared)
  const half =
    (DEVIATIONS_80 / (1 + squared)) * Math.sqrt((share * (1 - share)) / quotes + squared / (4 * quotes))
  return [Math.max(0, middle - half), Math.min(1, middle + half)]
}
