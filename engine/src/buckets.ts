/** Quotes of one 30-day period, counted back from now. Calendar months are not used because their lengths differ. */
export interface LaneBucket {
  readonly quotes: number
  readonly wins: number
  readonly losses: number
}

/** At most 13 buckets of 30 days: a little over one year, so that each season occurs once. */
export const BUCKET_DAYS = 30
export const BUCKETS_MAX = 13

/** Won, lost and pending quotes of one age. */
export interface BucketCount {
  /** Age in whole 30-day periods: 0 is the most recent, -1 is dated in the future, 13 is too old to score. */
  readonly bucket: number
  readonly won: number
  readonly lost: number
  readonly pending: number
}

export interface LaneBuckets {
  /** Oldest first, from the first bucket with a quote to the one that ends now. Empty when no quote is recent enough. */
  readonly buckets: readonly LaneBucket[]
  /** Number of quotes older than the oldest possible bucket. */
  readonly older: number
  /** Number of quotes dated after now, because of a fast clock or an import with wrong dates. */
  readonly future: number
}

/**
 * Groups a lane's quote counts, given in any order, into consecutive 30-day buckets that end now. A quote made now is
 * in the last bucket; a quote exactly 30 days old is in the bucket before it. Quotes that are too old or dated in the
 * future are in no bucket and are counted separately.
 *
 * @example // quotes 1 and 40 days old, the older one won
 * // { buckets: [{ quotes: 1, wins: 1, losses: 0 }, { quotes: 1, wins: 0, losses: 0 }], older: 0, future: 0 }
 */
export function laneBuckets(counts: readonly BucketCount[]): LaneBuckets {
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
