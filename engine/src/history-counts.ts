import { BUCKET_DAYS, BUCKETS_MAX, type BucketCount } from './buckets.ts'
import { dayOf } from './day.ts'
import type { Outcome, PastQuote } from './history.ts'

const BUCKET_MS = BUCKET_DAYS * 86_400_000

/**
 * Counts of the quotes that are in one 30-day bucket and in one calendar month. Lane insight needs only these counts.
 */
export interface HistoryCount extends BucketCount {
  /** The calendar month (UTC) as year x 12 + month, where January is 0. */
  readonly month: number
  /**
   * Number of quotes with a rate above 0. `rateSumCents` is the sum of their effective rates (see `rateThatCounts`).
   */
  readonly priced: number
  readonly rateSumCents: number
  /** Time of the oldest quote in epoch milliseconds. This quote is the first to move to the next bucket. */
  readonly oldestAt: number
}

/**
 * Counts quotes by bucket and month, newest first. Future quotes are in bucket -1; quotes too old to score are in
 * bucket 13.
 *
 * @example // at the end of 2026-02-01, a win of 200000 cents made at its noon
 * // [{ bucket: 0, month: 24313, won: 1, lost: 0, pending: 0, priced: 1, rateSumCents: 200000, oldestAt: 1769947200000 }]
 */
export function countHistory(
  quotes: readonly Pick<PastQuote, 'rateCents' | 'outcome' | 'quotedAt'>[],
  now: number,
): HistoryCount[] {
  const counter = new HistoryCounter(now)
  for (const { rateCents, outcome, quotedAt } of quotes) counter.add(rateCents, outcome, quotedAt)
  return counter.counts()
}

/** Counts quotes by bucket and month, one quote at a time. See `countHistory`. */
export class HistoryCounter {
  readonly #now: number
  readonly #counts = new Map<number, { -readonly [Member in keyof HistoryCount]: HistoryCount[Member] }>()
  /** Cache of the month of each day: building a Date takes longer than the rest of `add`. */
  readonly #months = new Map<number, number>()

  constructor(now: number) {
    this.#now = now
  }

  add(rateCents: number, outcome: Outcome, quotedAt: number): void {
    const bucket = Math.min(BUCKETS_MAX, Math.max(-1, bucketOf(quotedAt, this.#now)))
    const day = dayOf(quotedAt)
    let month = this.#months.get(day)
    if (month === undefined) {
      month = monthOf(quotedAt)
      this.#months.set(day, month)
    }
    const key = month * (BUCKETS_MAX + 2) + bucket
    let count = this.#counts.get(key)
    if (count === undefined) {
      count = {
        bucket,
        month,
        won: 0,
        lost: 0,
        pending: 0,
        priced: 0,
        rateSumCents: 0,
        oldestAt: quotedAt,
      }
      this.#counts.set(key, count)
    }
    count[outcome] += 1
    if (quotedAt < count.oldestAt) count.oldestAt = quotedAt
    if (rateCents <= 0) return
    count.priced += 1
    count.rateSumCents += rateCents
  }

  counts(): HistoryCount[] {
    return [...this.#counts.values()].sort((a, b) => a.bucket - b.bucket || b.month - a.month)
  }
}

/**
 * The time (epoch milliseconds) at which the first quote moves to another bucket, or Infinity if no quote will. `now`
 * is the time of the count. Until the returned time, a lane's insight stays the same unless its quotes change.
 *
 * @example // one quote, made 40 days before `now`
 * // now + 20 days, when the quote is 60 days old
 */
export function countsSameUntil(counts: readonly HistoryCount[], now: number): number {
  let until = Number.POSITIVE_INFINITY
  for (const { oldestAt } of counts) {
    const bucket = bucketOf(oldestAt, now)
    // A future quote enters bucket 0 at its own date.
    if (bucket < BUCKETS_MAX) until = Math.min(until, oldestAt + Math.max(0, bucket + 1) * BUCKET_MS)
  }
  return until
}

function bucketOf(quotedAt: number, now: number): number {
  return Math.floor((now - quotedAt) / BUCKET_MS)
}

/** A calendar month in UTC as one number, which can be compared and used as a key. */
function monthOf(time: number): number {
  const date = new Date(time)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}
