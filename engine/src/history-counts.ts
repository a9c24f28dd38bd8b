import { BUCKET_DAYS, BUCKETS_MAX } from './buckets.ts'
import { dayOf } from './estimate/day.ts'
import type { Outcome, PastQuote } from './history.ts'

const BUCKET_MS = BUCKET_DAYS * 86_400_000

/** The quotes of one 30-day bucket that were made in one calendar month: all that lane insight asks of them. */
export interface HistoryCount {
  /** Whole periods of 30 days back from now: 0 the last, below 0 dated in the future, 13 and more too old to score. */
  readonly bucket: number
  /** The calendar month (UTC) as year x 12 + month, January being 0. */
  readonly month: number
  readonly won: number
  readonly lost: number
  readonly pending: number
  /** Quotes with a rate above 0, and the sum of their rates that count. */
  readonly priced: number
  readonly rateSumCents: number
  /** When the oldest of them was made, in epoch milliseconds: the first to grow into the next bucket. */
  readonly oldestAt: number
}

/**
 * Quotes counted by bucket and month, the newest first. All future quotes are in bucket -1, all older ones in bucket 13.
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

/** Counts quotes by bucket and month one by one: see `countHistory`. */
export class HistoryCounter {
  readonly #now: number
  readonly #counts = new Map<number, { -readonly [Member in keyof HistoryCount]: HistoryCount[Member] }>()
  /** The month of a day: a date costs more than all the rest of a count. */
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
 * The first moment (epoch milliseconds) after `now`, when the quotes were counted, at which one of them lies in another
 * bucket, Infinity when none ever will: until then a lane's answer stays the same unless its quotes change.
 *
 * @example // one quote, made 40 days before `now`
 * // now + 20 days: then it is 60 days old
 */
export function countsHoldUntil(counts: readonly HistoryCount[], now: number): number {
  let until = Number.POSITIVE_INFINITY
  for (const { oldestAt } of counts) {
    const bucket = bucketOf(oldestAt, now)
    // However far in the future, a quote enters bucket 0 at its own time.
    if (bucket < BUCKETS_MAX) until = Math.min(until, oldestAt + Math.max(0, bucket + 1) * BUCKET_MS)
  }
  return until
}

function bucketOf(quotedAt: number, now: number): number {
  return Math.floor((now - quotedAt) / BUCKET_MS)
}

/** A calendar month in UTC as one number, so that equal months are equal. */
function monthOf(time: number): number {
  const date = new Date(time)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}
