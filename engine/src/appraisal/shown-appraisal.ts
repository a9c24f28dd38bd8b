import type { ExpectedCost } from '../estimate/expected-cost.ts'
import type { Interval } from '../estimate/interval.ts'
import type { RuledRate, SelectedTerms } from '../rules/pricing-rules.ts'

/** The fuel surcharge per mile and the exchange rate on the day of a quote. Null if not known or not needed. */
export interface DayCharges {
  /** Mills (tenths of a cent) per mile, by the customer's schedule. */
  readonly fuelMillsPerMile: number | null
  readonly usdPerCad: number | null
}

/** The chance of winning at a rate, with its ranges. */
export interface Chance {
  readonly probability: number
  readonly interval80: Interval
  readonly interval95: Interval
}

/**
 * What an appraisal was computed from, as plain values: enough to judge a rate again exactly as a person saw it, although the quotes
 * of the brokerage have changed since. Amounts are cents in US dollars on the brokerage's basis.
 */
export interface ShownAppraisal {
  readonly terms: SelectedTerms
  readonly expected: ExpectedCost | null
  readonly miles: number | null
  readonly day: DayCharges
  /** The number of quotes of the lane that count, decided or not. */
  readonly quotes: number
  /** Fractional. */
  readonly goingCents: number | null
  /** The win rate of the lane (see `laneWinRate`). Null without a book. */
  readonly laneWinRate: number | null
  /** The rate that it was shown for, and its chance; null without one. A chance at another rate is computed from current quotes. */
  readonly at: { readonly rateCents: number; readonly chance: Chance | null } | null
  /** The best rate within the rules, and the entered cost that it is for. */
  readonly best: { readonly enteredCents: number | null; readonly rate: RuledRate | null }
}

/** The charges of the day that were shown. Those that the shown terms did not need are current. */
export function dayShown(shown: ShownAppraisal | null, current: DayCharges): DayCharges {
  return {
    fuelMillsPerMile: shown?.day.fuelMillsPerMile ?? current.fuelMillsPerMile,
    usdPerCad: shown?.day.usdPerCad ?? current.usdPerCad,
  }
}
