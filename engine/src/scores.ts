/**
 * Is this lane a good one for you: won steadily, more often than your other lanes, lately more than before, and also when it is
 * busy? Methods, by score: harmonic mean of two shares; wins above expectation; z test of a log odds ratio (Woolf, 1955);
 * Fisher's z of a correlation (Fisher, 1915). Counts are shrunk by pseudo-quotes.
 * docs/model.md, "Par" and "Scores".
 */

import type { LaneBucket } from './buckets.ts'
import { normalCdf } from './statistics/normal-cdf.ts'

/** The four scores of a lane, computed from its counts by 30-day bucket. */
export interface LaneScores {
  /** Consistency, 0 to 1: whether you win every month rather than only in some. */
  readonly harmonic: number
  /** Strength, unbounded, in wins: recent wins minus the wins expected at the win rate of your other lanes. */
  readonly integral: number
  /** Trend, 0 to 1: the probability that your win rate is higher now than before. 0.5 means no evidence of a change. */
  readonly derivative: number
  /** Timing, unbounded: whether wins rise when the lane has more quotes. */
  readonly correlation: number
}

/** Intermediate values of the scores, which the signals use too. */
export interface ScoreBasis {
  /** The win rate of the brokerage's other lanes, which this lane is compared with. */
  readonly par: number
  /** This lane's recent win rate, shrunk towards par by `SCORE_RULE.parQuotes` pseudo-quotes. */
  readonly rate: number
  /** The number of buckets, and the number of buckets with a decided quote. */
  readonly bucketCount: number
  readonly decidedBuckets: number
  /** Decided quotes in the buckets. */
  readonly decided: number
  /** How much the volume varies between buckets: the centered sum of squares of ln(1 + quotes). */
  readonly busynessSpread: number
}

/** Weights and half-lives of the scores. One bucket is 30 days. */
export const SCORE_RULE = {
  /** The weight of a bucket halves with every 3 buckets of age. */
  halfLifeBuckets: 3,
  /** The weight for "now" in the derivative halves with every bucket of age. */
  nowHalfLifeBuckets: 1,
  /** Pseudo-quotes at par, so that two lucky wins do not make a lane strong. */
  parQuotes: 4,
  /** Pseudo-quotes at the lane's own win rate: on both sides of the derivative, and in each bucket of the harmonic. */
  rateQuotes: 2,
  /** Added to the spread of quotes and of wins, so that a lane with constant volume has no correlation. */
  spreadAdded: 0.25,
  correlationMax: 0.995,
  correlationBucketsMin: 3,
} as const

/** Prior for par: 8 wins of 20 decided quotes. The outcomes on the brokerage's other lanes are added to it. */
export const PAR_PRIOR = { wins: 8, decided: 20 } as const

/**
 * Par: the win rate of the brokerage's other lanes, which a lane is compared with. The counts of `tenant` include those of `lane`.
 * Par is 0.4 if there are no other lanes.
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
 * Computes the four scores of a lane and their intermediate values from its buckets (oldest first, the last one ends
 * now) and par (between 0 and 1, both excluded). Without buckets all scores are neutral.
 *
 * With d = wins + losses of a bucket, age 0 for the last, f = 2^(-age/3) and rate = (sum f wins + 4 par)/(sum f d +
 * 4):
 *
 * - integral = sum f (wins - par d)
 * - derivative = Phi(z), where z is the log odds ratio of winning now (weights g = 2^-age) against before (weights f
 *   (1 - g)), divided by its standard error; both sides include two pseudo-quotes at `rate`
 * - harmonic = harmonic mean of two values: the smoothed win rate over the buckets with a decided quote, and the
 *   share of buckets with a decided quote; 0 if there are none
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
  const pseudoWins = SCORE_RULE.rateQuotes * rate
  const pseudoLosses = SCORE_RULE.rateQuotes * (1 - rate)
  const before = (bucket: AgedBucket) => bucket.weight * (1 - bucket.nowShare)
  const winsNow = pseudoWins + sumOf(aged, (bucket) => bucket.nowShare * bucket.wins)
  const lossesNow = pseudoLosses + sumOf(aged, (bucket) => bucket.nowShare * bucket.losses)
  const winsBefore = pseudoWins + sumOf(aged, (bucket) => before(bucket) * bucket.wins)
  const lossesBefore = pseudoLosses + sumOf(aged, (bucket) => before(bucket) * bucket.losses)
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
  const busy = centered(buckets.map((bucket) => Math.log1p(bucket.quotes)))
  const won = centered(buckets.map((bucket) => Math.log1p(bucket.wins)))
  const spread = sumOf(busy, (value) => value * value)
  const together = busy.reduce((sum, value, at) => sum + value * (won[at] ?? 0), 0)
  const wonSpread = sumOf(won, (value) => value * value)
  const { spreadAdded, correlationMax } = SCORE_RULE
  const r = together / Math.sqrt((spread + spreadAdded) * (wonSpread + spreadAdded))
  return { spread, correlation: Math.atanh(Math.min(correlationMax, Math.max(-correlationMax, r))) }
}

function centered(values: readonly number[]): number[] {
  const middle = sumOf(values, (value) => value) / values.length
  return values.map((value) => value - middle)
}

function sumOf<T>(items: readonly T[], amountOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + amountOf(item), 0)
}
