import { type AmountTerms, termsBehind } from './rate-basis.ts'

/**
 * The forecast that was made with a quote, in the form in which it is saved: once, and never changed. Amounts are US dollars on the
 * default basis of the brokerage at that time, probabilities 0 to 1. Null: not known, or from an earlier version.
 */
export interface RecordedForecast {
  /** ISO 8601. */
  readonly made_at: string
  /** The win probability at the quoted rate, and its 80 % interval. */
  readonly win_probability: number
  readonly low: number
  readonly high: number
  /** The truck cost that was entered or expected. */
  readonly cost: number | null
  readonly cost_from: 'entered' | 'expected' | null
  readonly going_rate: number | null
  readonly best_rate: number | null
  /** The win rate of the lane at that time (see `laneWinRate`), to compare with the forecast. */
  readonly lane_win_rate: number | null
  /** The quoted rate with its terms (see `quotedAs`). A quote whose rate changed later is not scored. */
  readonly quoted_as: string | null
  /** The version of Lanewise and a digest of the estimate's source files. */
  readonly model: string | null
}

/** Pseudo-quotes at the brokerage's win rate, so that a lane's first outcome does not set its win rate to 0 or 1. */
const LANE_WEIGHT = 2

interface Outcomes {
  readonly won: number
  readonly decided: number
}

/**
 * How likely is a win on this lane, by its past wins alone? The plain rule that the model must beat, with two imaginary quotes at
 * the overall win rate: (won + 2 x overall) / (decided + 2), with overall = (won + 1) / (decided + 2) over all quotes of the
 * brokerage. The backtest weights the outcomes of the lane by their age.
 *
 * @example laneWinRate({ won: 1, decided: 2 }, { won: 1, decided: 2 }) // 0.5
 */
export function laneWinRate(lane: Outcomes, all: Outcomes): number {
  const overall = (all.won + 1) / (all.decided + 2)
  return (lane.won + LANE_WEIGHT * overall) / (lane.decided + LANE_WEIGHT)
}

/**
 * A quoted rate with its terms, to tell whether it changed. Converted amounts cannot tell: a later diesel price changes them, too.
 *
 * @example quotedAs(170000, { basis: 'linehaul', fuelCents: 30000, accessorialCents: null }) // '1700 linehaul, fuel 300'
 */
export function quotedAs(
  cents: number,
  { basis, fuelCents, accessorialCents, currency }: AmountTerms,
): string {
  const charge = (name: string, amount: number | null) => (amount === null ? '' : `, ${name} ${amount / 100}`)
  const terms = termsBehind({ basis, currency: currency ?? null })
  return `${cents / 100}${terms}${charge('fuel', fuelCents)}${charge('accessorials', accessorialCents)}`
}
