import type { HistoryCount } from './history-counts.ts'

/** A month of a lane's life: 30 days, counted back from now, so that each holds the same number of days. */
export interface LaneBucket {
  readonly quotes: number
  readonly wins: number
  readonly losses: number
}

/** Buckets of 30 days, at most 13: a little over a year, so that a season is seen once. */
export const BUCKET_DAYS = 30
export const BUCKETS_MAX = 13

export interface LaneBuckets {
  /** Oldest first, from the first bucket with a quote to the one that ends now. Empty when no quote is recent enough. */
  readonly buckets: readonly LaneBucket[]
  /** Quotes older than the oldest possible bucket. */
  readonly older: number
  /** Quotes dated after now, from a clock that runs ahead or a wrong import. */
  readonly future: number
}

/**
 * A lane's quotes as consecutive 30-day buckets that end now, from their counts in any order. A quote made now is in the
 * last one; a quote 30 days old to the millisecond is in the one before. Quotes too old or dated in the future are in
 * none, and are counted apart.
 *
 * @example // quotes 1 and 40 days old, the older one won
 * // { buckets: [{ quotes: 1, wins: 1, losses: 0 }, { quotes: 1, wins: 0, losses: 0 }], older: 0, future: 0 }
 */
export function laneBuckets(
  counts: readonly Pick<HistoryCount, 'bucket' | 'won' | 'lost' | 'pending'>[],
): LaneBuckets {
  const newestFirst: { quotes: number; wins: number; losses: number }[] = []
  let older = 0
  let future = 0
  for (const { bucket: age, won, lost, pending } of counts) {
    const quotes = won + lost + pending
    if (quotes === 0) continue
    if (age < 0) future += quotes
    else if (age >= BUCKETS_MAX) older += quotes
    else {
      while (newestFirst.length <= age) newestFirst.push({ quotes: 0, wins: 0, losses: 0 })
      const bucket = newestFirst[age]
      if (bucket === undefined) continue
      bucket.quotes += quotes
      bucket.wins += won
      bucket.losses += lost
    }
  }
  return { buckets: newestFirst.reverse(), older, future }
}
