import type { LaneScores, ScoreBasis } from './scores.ts'

/** The scores in words. Trend and timing describe the past; only consistency predicts the next month. */
export interface LaneSignals {
  readonly strength: 'strong' | 'moderate' | 'weak' | 'unproven'
  readonly trend: 'heating' | 'steady' | 'cooling' | 'new'
  readonly consistency: 'reliable' | 'mixed' | 'erratic' | 'unproven'
  readonly timing: 'aligned' | 'neutral' | 'misaligned' | 'unknown'
}

/**
 * Thresholds of the signals. The `*Min` counts are the minimum evidence; below them, a signal is unproven, new or
 * unknown.
 */
export const SIGNAL_RULE = {
  strength: { decidedMin: 3, integral: 1, rateAbovePar: 0.05, rateBelowPar: 0.05 },
  trend: { bucketsMin: 2, decidedMin: 3, heating: 0.75, cooling: 0.25 },
  consistency: { decidedBucketsMin: 2, decidedMin: 4, reliable: 0.7, erratic: 0.45, fullScalePar: 0.6 },
  timing: { bucketsMin: 3, decidedMin: 4, aligned: 0.8, misaligned: 0.3, busynessSpreadMin: 1 },
} as const

/**
 * The four signals of a lane, such as "heating", from its scores and their intermediate values (docs/model.md, "Signals").
 *
 * The thresholds of consistency are scaled by min(1, par / 0.6), so that a lane can be reliable at a brokerage whose lanes all have
 * low win rates.
 *
 * @example laneSignals(laneScores(buckets, 0.4)).trend // 'heating'
 */
export function laneSignals({ scores, basis }: { scores: LaneScores; basis: ScoreBasis }): LaneSignals {
  return {
    strength: strengthOf(scores.integral, basis),
    trend: trendOf(scores.derivative, basis),
    consistency: consistencyOf(scores.harmonic, basis, consistencyScale(basis.par)),
    timing: timingOf(scores.correlation, basis),
  }
}

/**
 * The factor that lowers the consistency thresholds for a brokerage with a low win rate.
 *
 * @example consistencyScale(0.3) // 0.5
 */
export function consistencyScale(par: number): number {
  return Math.min(1, par / SIGNAL_RULE.consistency.fullScalePar)
}

function strengthOf(integral: number, basis: ScoreBasis): LaneSignals['strength'] {
  const rule = SIGNAL_RULE.strength
  if (basis.decided < rule.decidedMin) return 'unproven'
  if (integral >= rule.integral && basis.rate >= basis.par + rule.rateAbovePar * (1 - basis.par))
    return 'strong'
  if (integral <= -rule.integral && basis.rate <= basis.par - rule.rateBelowPar) return 'weak'
  return 'moderate'
}

function trendOf(derivative: number, basis: ScoreBasis): LaneSignals['trend'] {
  const rule = SIGNAL_RULE.trend
  if (basis.bucketCount < rule.bucketsMin || basis.decided < rule.decidedMin) return 'new'
  if (derivative >= rule.heating) return 'heating'
  return derivative <= rule.cooling ? 'cooling' : 'steady'
}

/** The consistency signal, with its thresholds multiplied by `scale`. */
export function consistencyOf(
  harmonic: number,
  basis: ScoreBasis,
  scale: number,
): LaneSignals['consistency'] {
  const rule = SIGNAL_RULE.consistency
  if (basis.decidedBuckets < rule.decidedBucketsMin || basis.decided < rule.decidedMin) return 'unproven'
  if (harmonic >= rule.reliable * scale) return 'reliable'
  return harmonic < rule.erratic * scale ? 'erratic' : 'mixed'
}

function timingOf(correlation: number, basis: ScoreBasis): LaneSignals['timing'] {
  const rule = SIGNAL_RULE.timing
  if (basis.bucketCount < rule.bucketsMin || basis.decided < rule.decidedMin) return 'unknown'
  if (correlation >= rule.aligned) return 'aligned'
  return correlation < rule.misaligned && basis.busynessSpread >= rule.busynessSpreadMin
    ? 'misaligned'
    : 'neutral'
}
