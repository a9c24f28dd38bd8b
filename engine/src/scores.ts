import type { LaneBucket } from './buckets.ts'
import { normalCdf } from './statistics/normal-cdf.ts'

/** Four numbers about a lane, from its counts by 30-day bucket. */
export interface LaneScores {
  /** 0 to 1: you win month after month, not only sometimes. */
  readonly harmonic: number
  /** Unbounded, in wins: recent wins beyond what your other lanes would have given. */
  readonly integral: number
  /** 0 to 1, 0.5 is no news: the chance that you win more often now than before. */
  readonly derivative: number
  /** Unbounded: when this lane is busy, do you get the wins. */
  readonly correlation: number
}

/** What the scores were made of: the signals look at these too. */
export interface ScoreBasis {
  /** The share your other lanes win: what this lane is measured against. */
  readonly par: number
  /** This lane's recent share of wins, pulled towards par by `PAR_QUOTES` imagined quotes. */
  readonly rate: number
  /** How many buckets there are, and how many of them hold a decided quote. */
  readonly bucketCount: number
  readonly decidedBuckets: number
  /** Decided quotes in the buckets. */
  readonly decided: number
  /** How much busy and quiet buckets differ: the centred sum of squares of ln(1 + quotes). */
  readonly busynessSpread: number
}

/** What the scores weigh, and how fast they forget. One bucket is 30 days. */
export const SCORE_RULE = {
  /** Older buckets count half as much for every 3 buckets of age ... */
  halfLifeBuckets: 3,
  /** ... and "now", in the derivative, fades by half with every bucket. */
  nowHalfLifeBuckets: 1,
  /** Imagined quotes won at par, so that two lucky quotes do not make a lane. */
  parQuotes: 4,
  /** Imagined quotes at the lane's own rate: on either side of the derivative, and in each bucket of the harmonic. */
  rateQuotes: 2,
  /** Added to the spread of quotes and of wins, so that a lane that is always as busy has no correlation. */
  spreadAdded: 0.25,
  correlationMax: 0.995,
  correlationBucketsMin: 3,
} as const

/** The tenant's share of wins is taken as 8 of 20 before anything is known, and follows the other lanes from there. */
export const PAR_PRIOR = { wins: 8, decided: 20 } as const

/**
 * The share of quotes the tenant's other lanes win: what a lane has to beat. Both counts of `tenant` include the
 * lane's own. Without other lanes it is 0.4.
 *
 * @example par({ wins: 30, decided: 60 }, { wins: 8, decided: 10 }) // (22 + 8) / (50 + 20) = 0.428571
 */
export function par(
  tenant: { readonly wins: number; readonly decided: number },
  lane: { readonly wins: number; readonly decided: number },
): number {
  const decided = Math.max(0, tenant.decided - lane.decided)
  const wins = Math.min(decided, Math.max(0, tenant.wins - lane.wins))
  return (wins + PAR_PRIOR.wins) / (decided + PAR_PRIOR.decided)
}

/**
 * The four scores of a lane and what they were made of, from its buckets (oldest first, the last one ends now) and par
 * (between 0 and 1, both excluded). No buckets: no news, all scores neutral.
 *
 * With d = wins + losses of a bucket, age 0 for the last, f = 2^(-age/3) and rate = (sum f wins + 4 par)/(sum f d + 4):
 *
 * - integral = sum f (wins - par d)
 * - derivative = Phi(z): z compares the odds of winning now (g = 2^-age) and before (f (1 - g)), each with two imagined
 *   quotes at `rate`, as the log odds ratio over its standard error
 * - harmonic = harmonic mean of the smoothed share won over buckets with a decided quote, and of how many buckets have
 *   one; 0 when none has
 * - correlation = Fisher's atanh of the correlation of ln(1 + quotes) and ln(1 + wins) over 3 buckets or more, else 0
 *
 * @example // quotes 2 3 4 6, wins 0 1 2 4, losses 1 2 1 1, par 0.4
 * // integral 2.308968, derivative 0.774592, harmonic 0.645880, correlation 0.890314
 */
export function laneScores(
  buckets: readonly LaneBucket[],
  par: number,
): { scores: LaneScores; basis: ScoreBasis } {
  const aged = buckets.map((bucket, at) => ({
    ...bucket,
    decided: bucket.wins + bucket.losses,
    weight: 2 ** (-(buckets.length - 1 - at) / SCORE_RULE.halfLifeBuckets),
    nowShare: 2 ** (-(buckets.length - 1 - at) / SCORE_RULE.nowHalfLifeBuckets),
  }))
  const weightedWins = sumOf(aged, (bucket) => bucket.weight * bucket.wins)
  const weightedDecided = sumOf(aged, (bucket) => bucket.weight * bucket.decided)
  const rate = (weightedWins + SCORE_RULE.parQuotes * par) / (weightedDecided + SCORE_RULE.parQuotes)
  const busyness = busynessOf(buckets)
  return {
    scores: {
      harmonic: harmonicScore(aged, rate),
      integral: sumOf(aged, (bucket) => bucket.weight * (bucket.wins - par * bucket.decided)),
      derivative: derivativeScore(aged, rate),
      correlation: buckets.length < SCORE_RULE.correlationBucketsMin ? 0 : busyness.correlation,
    },
    basis: {
      par,
      rate,
      bucketCount: buckets.length,
      decidedBuckets: aged.filter((bucket) => bucket.decided > 0).length,
      decided: sumOf(aged, (bucket) => bucket.decided),
      busynessSpread: busyness.spread,
    },
  }
}

interface AgedBucket extends LaneBucket {
  readonly decided: number
  readonly weight: number
  readonly nowShare: number
}

function derivativeScore(aged: readonly AgedBucket[], rate: number): number {
  if (aged.length === 0) return 0.5
  const imaginedWins = SCORE_RULE.rateQuotes * rate
  const imaginedLosses = SCORE_RULE.rateQuotes * (1 - rate)
  const before = (bucket: AgedBucket) => bucket.weight * (1 - bucket.nowShare)
  const winsNow = imaginedWins + sumOf(aged, (bucket) => bucket.nowShare * bucket.wins)
  const lossesNow = imaginedLosses + sumOf(aged, (bucket) => bucket.nowShare * bucket.losses)
  const winsBefore = imaginedWins + sumOf(aged, (bucket) => before(bucket) * bucket.wins)
  const lossesBefore = imaginedLosses + sumOf(aged, (bucket) => before(bucket) * bucket.losses)
  const error = Math.sqrt(1 / winsNow + 1 / lossesNow + 1 / winsBefore + 1 / lossesBefore)
  return normalCdf((Math.log(winsNow / lossesNow) - Math.log(winsBefore / lossesBefore)) / error)
}

function harmonicScore(aged: readonly AgedBucket[], rate: number): number {
  const decided = aged.filter((bucket) => bucket.decided > 0)
  if (decided.length === 0) return 0
  const shareWon =
    decided.length /
    sumOf(
      decided,
      (bucket) => (bucket.decided + SCORE_RULE.rateQuotes) / (bucket.wins + SCORE_RULE.rateQuotes * rate),
    )
  const presence = (decided.length + 0.5) / (aged.length + 1)
  return (2 * shareWon * presence) / (shareWon + presence)
}

function busynessOf(buckets: readonly LaneBucket[]): { spread: number; correlation: number } {
  if (buckets.length === 0) return { spread: 0, correlation: 0 }
  const busy = centred(buckets.map((bucket) => Math.log1p(bucket.quotes)))
  const won = centred(buckets.map((bucket) => Math.log1p(bucket.wins)))
  const spread = sumOf(busy, (value) => value * value)
  const together = busy.reduce((sum, value, at) => sum + value * (won[at] ?? 0), 0)
  const wonSpread = sumOf(won, (value) => value * value)
  const { spreadAdded, correlationMax } = SCORE_RULE
  const r = together / Math.sqrt((spread + spreadAdded) * (wonSpread + spreadAdded))
  return { spread, correlation: Math.atanh(Math.min(correlationMax, Math.max(-correlationMax, r))) }
}

function centred(values: readonly number[]): number[] {
  const middle = sumOf(values, (value) => value) / values.length
  return values.map((value) => value - middle)
}

function sumOf<T>(items: readonly T[], amountOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + amountOf(item), 0)
}
