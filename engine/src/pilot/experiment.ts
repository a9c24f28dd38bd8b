import type { Optimum } from '../estimate/best-rate.ts'
import type { PricingRule } from '../rules/pricing-rules.ts'
import { isForAll } from '../rules/rule-conditions.ts'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { hashOf } from '../text-hash.ts'

/** The two suggestions that an experiment compares: the low and the high end of the flat zone of the best rate. */
export type Arm = 'low' | 'high'

/** A running experiment: its seed assigns arms. */
export interface Experiment {
  readonly seed: string
}

/** A quote counts with what it earned within this many days. */
export const EXPERIMENT_DAYS = 30
/** The flat zone has at least 98 % of the highest expected margin, so a suggestion costs at most this share of it. */
export const EXPERIMENT_COST_SHARE = 0.02

/**
 * Whether the pricing rules leave the choice of a rate open: there is at most a minimum for all quotes. Any other rule decides the
 * rate itself, so there is no suggestion of an experiment.
 */
export function permitsExperiment(rules: readonly PricingRule[]): boolean {
  return rules.every(({ conditions, terms: { target, maximum, roundToCents } }) => {
    const decides = target !== undefined || maximum !== undefined || roundToCents !== undefined
    return isForAll(conditions) && !decides
  })
}

/**
 * The arm of a lane on a day, by a fair coin that the seed fixes: whoever knows the seed can compute it, and whoever asks again
 * gets the same suggestion.
 *
 * @param day days since 1970, UTC
 */
export function armOf({ seed }: Experiment, lane: string, day: number): Arm {
  return seededNumbers(hashOf(`${seed} ${day} ${lane}`))() < 0.5 ? 'low' : 'high'
}

/** A suggestion of an experiment, in cents. */
export interface Suggestion {
  readonly arm: Arm
  readonly rateCents: number
}

/**
 * The suggestion of an experiment for a lane on a day, in whole dollars. It lies within the flat zone and not below the floor. Null
 * if there is nothing to compare: the zone is narrower than two dollars, mostly below the floor, or cut off by the grid.
 */
export function suggestionOf(
  experiment: Experiment,
  { lane, day, optimum }: { readonly lane: string; readonly day: number; readonly optimum: Optimum | null },
): Suggestion | null {
  return optimum === null ? null : suggestionIn(armOf(experiment, lane, day), optimum)
}

/** The suggestion of an arm: see `suggestionOf`. @example suggestionIn('low', optimum)?.rateCents // 197500 */
export function suggestionIn(arm: Arm, optimum: Optimum): Suggestion | null {
  if (optimum.atEdge || !(optimum.expectedMarginCents > 0)) return null
  const low = 100 * Math.ceil(Math.max(optimum.flatZone.lowCents, optimum.floorCents ?? 0) / 100)
  const high = 100 * Math.floor(optimum.flatZone.highCents / 100)
  if (high - low < 200) return null
  return { arm, rateCents: arm === 'low' ? low : high }
}

/** A quote of an experiment, with what it earned. Quotes of one lane and day share an arm. */
export interface ExperimentQuote {
  readonly arm: Arm
  /** The lane and the day. */
  readonly unit: string
  /** Dollars, 0 if the quote was not won within 30 days. */
  readonly earned: number
}

/** The result of an experiment. Dollars per quote. */
export interface ExperimentResult {
  readonly low: { readonly quotes: number; readonly earned: number }
  readonly high: { readonly quotes: number; readonly earned: number }
  /** What a quote earned more with the high suggestion. */
  readonly gain: number
  readonly range95: { readonly low: number; readonly high: number }
}

/**
 * The difference in what quotes earned, high minus low, whatever rate was then quoted. Its 95 % range is that of a ratio estimate
 * over lanes and days, which are what was assigned. Null with fewer than 20 of them in an arm.
 */
export function experimentResult(quotes: readonly ExperimentQuote[]): ExperimentResult | null {
  const low = armResult(quotes.filter(({ arm }) => arm === 'low'))
  const high = armResult(quotes.filter(({ arm }) => arm === 'high'))
  if (low === null || high === null) return null
  const gain = high.mean - low.mean
  const half = 1.96 * Math.sqrt(high.variance + low.variance)
  return {
    low: { quotes: low.quotes, earned: low.mean },
    high: { quotes: high.quotes, earned: high.mean },
    gain,
    range95: { low: gain - half, high: gain + half },
  }
}

const UNITS_MIN = 20

function armResult(quotes: readonly ExperimentQuote[]) {
  const units = [...Map.groupBy(quotes, ({ unit }) => unit).values()]
  if (units.length < UNITS_MIN) return null
  const mean = quotes.reduce((sum, { earned }) => sum + earned, 0) / quotes.length
  const spread = units.reduce((sum, unit) => {
    return sum + unit.reduce((total, { earned }) => total + earned - mean, 0) ** 2
  }, 0)
  const variance = (units.length / (units.length - 1)) * (spread / quotes.length ** 2)
  return { quotes: quotes.length, mean, variance }
}
