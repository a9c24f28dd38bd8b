import { isDecided, type Outcome } from '../history.ts'
import type { Interval } from './interval.ts'
import { reachDays } from './reach.ts'

/** How far an estimate can be trusted. Not the `confidence` of markup, which only counts decided quotes. */
export type Trust = 'good' | 'fair' | 'weak' | 'none'

export const TRUST_RULE = {
  /** `widthMax`: the width of the 80 % interval, high minus low. */
  good: { widthMax: 0.3, borrowedMax: 0.5, daysMax: 90 },
  /** `nearbyMin`: decided quotes on the lane and on the other lanes of its state pair. */
  fair: { widthMax: 0.55, nearbyMin: 5 },
} as const

/** The quotes of a lane that an estimate uses, and the time of the newest one. */
export interface QuotesUsed {
  readonly decided: number
  readonly won: number
  /** Epoch milliseconds; null if no decided quote is used. */
  readonly newestAt: number | null
}

/** The parts of an estimate that trust depends on. */
export interface TrustBasis {
  readonly interval80: Interval | null
  /** The share of the estimate that comes from other lanes; null without an estimate. */
  readonly borrowedShare: number | null
  /** The age of the newest decided quote that the estimate uses; null if it uses none of this lane. */
  readonly newestDays: number | null
  /** See `nearbyDecided`. */
  readonly nearby: number
}

/** The decided quotes near by: those of the lane that the estimate uses, and those of the other lanes of its state pair. */
export function nearbyDecided(
  used: Pick<QuotesUsed, 'decided'>,
  borrowedFrom: readonly { readonly scope: string; readonly decided: number }[],
): number {
  return used.decided + (borrowedFrom.find(({ scope }) => scope === 'state_pair')?.decided ?? 0)
}

const dayMs = 86_400_000

/**
 * May I rely on this estimate? A rule of thumb, from its interval, its borrowed share and its age: docs/model-estimate.md, "Trust".
 * "good" needs a narrow interval, at least half of the evidence from the lane itself, and a recent quote. "weak" is an interval so
 * wide that the probability says little, or an estimate that is only from far away.
 *
 * @example trustOf({ interval80: { low: 0.4, high: 0.62 }, borrowedShare: 0.2, newestDays: 12, nearby: 20 }) // 'good'
 * @example trustOf({ interval80: { low: 0.06, high: 0.95 }, borrowedShare: 1, newestDays: null, nearby: 0 }) // 'weak'
 */
export function trustOf({ interval80, borrowedShare, newestDays, nearby }: TrustBasis): Trust {
  if (interval80 === null || borrowedShare === null) return 'none'
  const { good, fair } = TRUST_RULE
  const width = interval80.high - interval80.low
  if (width > fair.widthMax || nearby < fair.nearbyMin) return 'weak'
  const isOwn = borrowedShare <= good.borrowedMax
  const isRecent = newestDays !== null && newestDays <= good.daysMax
  return width <= good.widthMax && isOwn && isRecent ? 'good' : 'fair'
}

/**
 * The decided quotes of a lane that count in its estimate: those with a rate, not dated in the future, not older than
 * `reachDays`, and not left out as outliers.
 */
export function quotesUsed(
  quotes: Iterable<{
    readonly quoteId: number
    readonly rateCents: number
    readonly outcome: Outcome
    readonly quotedAt: number
  }>,
  leftOut: ReadonlySet<number>,
  now: number,
): QuotesUsed {
  let [decided, won, newestAt] = [0, 0, Number.NEGATIVE_INFINITY]
  for (const quote of quotes) {
    const isOld = quote.quotedAt < now - reachDays * dayMs
    if (!isDecided(quote) || quote.rateCents <= 0 || isOld || leftOut.has(quote.quoteId)) continue
    decided++
    if (quote.outcome === 'won') won++
    newestAt = Math.max(newestAt, quote.quotedAt)
  }
  return { decided, won, newestAt: decided === 0 ? null : newestAt }
}

/** Whole days since a moment. @example daysSince(now - 3.5 * 86_400_000, now) // 3 */
export function daysSince(at: number, now: number): number {
  return Math.max(0, Math.floor((now - at) / dayMs))
}
