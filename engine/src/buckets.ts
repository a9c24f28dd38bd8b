/** A month of a lane's life: 30 days, counted back from now, so that each holds the same number of days. */
export interface LaneBucket {
  readonly quotes: number
  readonly wins: number
  readonly losses: number
}

/** Buckets of 30 days, at most 13: a little over a year, so that a season is seen once. */
export const BUCKET_DAYS = 30
export const BUCKETS_MAX = 13

const DAY_MS = 86_400_000

export interface BucketedQuotes {
  /** Oldest first, from the first bucket with a quote to the one that ends now. Empty when no quote is recent enough. */
  readonly buckets: readonly LaneBucket[]
  /** Quotes older than the oldest possible bucket. */
  readonly older: number
  /** Quotes dated after now, from a clock that runs ahead or a wrong import. */
  readonly future: number
}

/**
 * A lane's quotes counted into consecutive 30-day buckets that end at `now` (epoch milliseconds). A quote made at `now`
 * is in the last one; a quote 30 days old to the millisecond is in the one before. Quotes too old or dated in the
 * future are in none, and are counted apart.
 *
 * @example // quotes 1 and 40 days old, the older one won
 * // { buckets: [{ quotes: 1, wins: 1, losses: 0 }, { quotes: 1, wins: 0, losses: 0 }], older: 0, future: 0 }
 */
export function bucketQuotes(
  quotes: readonly { readonly quotedAt: number; readonly outcome: 'won' | 'lost' | 'pending' }[],
  now: number,
): BucketedQuotes {
  const newestFirst: { quotes: number; wins: number; losses: number }[] = []
  let older = 0
  let future = 0
  for (const { quotedAt, outcome } of quotes) {
    const age = Math.floor((now - quotedAt) / (BUCKET_DAYS * DAY_MS))
    if (age < 0) future += 1
    else if (age >= BUCKETS_MAX) older += 1
    else {
      while (newestFirst.length <= age) newestFirst.push({ quotes: 0, wins: 0, losses: 0 })
      const bucket = newestFirst[age]
      if (bucket === undefined) continue
      bucket.quotes += 1
      if (outcome === 'won') bucket.wins += 1
      if (outcome === 'lost') bucket.losses += 1
    }
  }
  return { buckets: newestFirst.reverse(), older, future }
}
