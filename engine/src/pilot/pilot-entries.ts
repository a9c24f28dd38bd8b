import { type AmountTerms, type RateBasis, termsBehind } from '../rate-basis.ts'
import type { Arm } from './experiment.ts'

/** The entries of a pilot's chain. Amounts are dollars, and times ISO 8601, as in the exported file. */

/** A forecast that is recorded more than this after its rate was quoted is late, and not scored. */
export const forecastLateAfterMs = 24 * 3_600_000

/** The pilot was switched on. The rules of scoring that a brokerage can set are fixed here. */
export interface StartedBody {
  readonly format: 'lanewise pilot 1'
  readonly brokerage: { readonly id: number; readonly name: string }
  readonly by: number
  readonly expired_counts_as_lost: boolean
  readonly model: string
}

export interface StoppedBody {
  readonly by: number
}

/** A forecast for a quote at its rate. Null numbers: there is no forecast, or no cost for a best rate. */
export interface ForecastBody {
  readonly lane_ref: string
  readonly external_id: string | null
  /** The place pair and the equipment. */
  readonly lane: string
  readonly rep: string | null
  readonly quoted_at: string
  /** The quoted rate as it was sent: see `quotedAs`. Entries of earlier versions do not have it. */
  readonly quoted_as?: string
  /** What the amounts include: the default basis of the brokerage at the time. Entries of earlier versions do not have it. */
  readonly basis?: RateBasis | null
  readonly rate: number | null
  readonly cost: number | null
  readonly cost_from: 'entered' | 'expected' | null
  /** The win probability at the rate. */
  readonly probability: number | null
  readonly interval_80: readonly [low: number, high: number] | null
  readonly interval_95: readonly [low: number, high: number] | null
  /** Quotes won and decided before, on the lane and in the brokerage. */
  readonly lane_won: number | null
  readonly lane_decided: number | null
  readonly all_won: number | null
  readonly all_decided: number | null
  readonly going_rate: number | null
  readonly probability_at_going: number | null
  readonly best_rate: number | null
  readonly probability_at_best: number | null
  readonly model: string
  /** The suggestion of a running experiment for this lane on this day. */
  readonly experiment?: { readonly arm: Arm; readonly rate: number; readonly day: number } | null
  /** Why the forecast does not precede the outcome, or is recorded too late. */
  readonly late: 'decided_before' | 'quoted_long_before' | null
  readonly no_forecast: 'no_quotes' | 'not_computed' | 'other_basis' | null
}

/** The outcome of a quote with a forecast, each time it changes. */
export interface OutcomeBody {
  readonly lane_ref: string
  readonly outcome: 'won' | 'lost' | 'pending' | 'expired' | 'void'
  readonly reason: string | null
  readonly source: string | null
  readonly decided_at: string | null
  /** The quoted rate at this time, as it was sent. Entries of earlier versions do not have it. */
  readonly quoted_as?: string
  /** What the amounts include: the default basis of the brokerage at the time. Entries of earlier versions do not have it. */
  readonly basis?: RateBasis
  readonly rate: number | null
  /** What the customer pays, and the truck is paid. */
  readonly revenue: number | null
  readonly cost: number | null
  /** A booked amount is on another basis or in another currency, and could not be converted: it is null above. */
  readonly kept_apart?: true
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

/** An experiment began, with its seed and its stopping rule, or was ended before. */
export type ExperimentBody =
  | {
      readonly action: 'started'
      readonly by: number
      /** SHA-256 of the seed, in hexadecimal: nobody who reads the chain can compute suggestions before they are made. */
      readonly seed_sha256: string
      /** The result is computed from this many quotes, each with what it earned within `days` days, and not before. */
      readonly quotes: number
      readonly days: number
      readonly cost_share_max: number
    }
  | { readonly action: 'ended'; readonly by: number; readonly seed: string }

/** An entry of the chain. */
export type PilotEntry = { readonly entry: number; readonly at: number } & (
  | { readonly kind: 'started'; readonly body: StartedBody }
  | { readonly kind: 'stopped'; readonly body: StoppedBody }
  | { readonly kind: 'forecast'; readonly body: ForecastBody }
  | { readonly kind: 'outcome'; readonly body: OutcomeBody }
  | { readonly kind: 'experiment'; readonly body: ExperimentBody }
)
