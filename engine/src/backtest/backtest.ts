import { dayOf } from '../estimate/day.ts'
import { leftOutQuotes, prepareEstimator } from '../estimate/estimator.ts'
import { prepareCosts } from '../estimate/expected-cost.ts'
import type { RateFloors } from '../estimate/optimum.ts'
import type { LaneQuote } from '../estimate/quoted-lanes.ts'
import { isDecided } from '../history.ts'
import { forecastByBaselines } from './baselines.ts'
import {
  type DollarEstimate,
  dollarEstimate,
  type PricedQuote,
  priceQuote,
  type Unpriced,
} from './dollars.ts'
import { type Forecast, type Quality, quality, type ReliabilityRow, reliability } from './measures.ts'
import { forecastOf, testDays } from './walk-forward.ts'

const DAY = 86_400_000

/** Below this many decided quotes in all, or tested ones, the measures would be noise. */
export const DECIDED_MIN = 200
export const TESTED_MIN = 60
/** The model is given this many days of quotes before it is asked anything. */
export const WARM_UP_DAYS = 30
/** Half a year is tested: long enough to count on, short enough to be about today's market. */
export const TESTED_DAYS = 180
/** An outcome counts as known this many days after its quote. Where customers answer later, the model knew less. */
export const OUTCOME_DELAY_DAYS = 1
/** Forecasts whose log odds vary by less than this (standard deviation) have no slope worth the name. */
const SLOPE_SPREAD_MIN = 0.1

/** A past quote with its lane and, apart from the cost that counts, the truck cost that was paid (AP). */
export interface BacktestQuote extends LaneQuote {
  readonly truckCostCents: number | null
}

export interface BacktestQuestion {
  readonly quotes: readonly BacktestQuote[]
  readonly now: number
  /** Quotes of the last so many days are tested; older ones are only learnt from. */
  readonly windowDays: number
  readonly floors?: RateFloors
  /** Told the share that is done, from 0 to 1. */
  readonly onProgress?: (share: number) => void
}

/** Nothing was measured, because there was too little to measure. */
export interface TooFewQuotes {
  readonly enough: false
  readonly why: 'too_few_decided' | 'too_few_tested'
  readonly decided: number
  readonly tested: number
  readonly needed: { readonly decided: number; readonly tested: number }
}

/**
 * How good forecasts were. AUC and slope are null where every tested quote ended alike, and the slope also where the
 * forecasts hardly differ: then they mean nothing.
 */
export interface MeasuredQuality extends Omit<Quality, 'auc' | 'slope'> {
  readonly auc: number | null
  readonly slope: number | null
}

export type Forecaster = 'model' | 'lane_rate' | 'overall' | 'literal' | 'at_or_below'

export interface BacktestResult {
  readonly enough: true
  readonly windowDays: number
  readonly outcomeDelayDays: number
  /** Mornings of the first and the last day with a tested quote, epoch milliseconds. */
  readonly firstTestedAt: number
  readonly lastTestedAt: number
  readonly quotes: number
  readonly decided: number
  readonly tested: number
  readonly testedWon: number
  /** Quotes that no estimate counts: a rate not above zero, a date to come, a rate far from all others. */
  readonly leftOut: number
  readonly quality: Readonly<Record<Forecaster, MeasuredQuality>>
  readonly reliability: readonly ReliabilityRow[]
  /** null where fewer than 30 tested quotes on 5 lanes could be priced. */
  readonly dollars: DollarEstimate | null
  readonly unpriced: Readonly<Record<Unpriced, number>>
}

/**
 * Walks a brokerage's own quotes forward and counts how well each tested one was forecast from the days before it, by the
 * model and by four simple rules; and what the model's best rates would have been worth by its own estimate.
 *
 * The same quotes give the same digits. Formulas, and what the figures do not say: docs/backtest.md.
 *
 * @example backtest({ quotes: [], now, windowDays: 180 }) // { enough: false, why: 'too_few_decided', decided: 0, ... }
 */
export function backtest(question: BacktestQuestion): BacktestResult | TooFewQuotes {
  const { now, windowDays, floors = {} } = question
  const out = leftOutQuotes(prepareEstimator({ quotes: question.quotes, now }))
  const quotes = question.quotes
    .filter(({ laneId }) => !out.has(laneId))
    .sort((one, other) => one.quotedAt - other.quotedAt || one.laneId - other.laneId)
  const decided = quotes.filter(isDecided)
  const firstDay = quotes.reduce((least, { quotedAt }) => Math.min(least, dayOf(quotedAt)), dayOf(now))
  const fromDay = Math.max(firstDay + WARM_UP_DAYS, dayOf(now) - windowDays + 1)
  const tested = decided.filter(({ quotedAt }) => dayOf(quotedAt) >= fromDay)
  const few = tooFew(decided.length, tested.length)
  if (few !== null) return few

  const walked = walk({ quotes, fromDay, toTest: tested.length, floors, onProgress: question.onProgress })
  const baselines = forecastByBaselines(quotes, fromDay - firstDay)
  return {
    enough: true,
    windowDays,
    outcomeDelayDays: OUTCOME_DELAY_DAYS,
    firstTestedAt: DAY * tested.reduce((least, { quotedAt }) => Math.min(least, dayOf(quotedAt)), Infinity),
    lastTestedAt: DAY * tested.reduce((most, { quotedAt }) => Math.max(most, dayOf(quotedAt)), -Infinity),
    quotes: quotes.length,
    decided: decided.length,
    tested: tested.length,
    testedWon: tested.filter(({ outcome }) => outcome === 'won').length,
    leftOut: out.size,
    quality: {
      model: measured(walked.forecasts),
      lane_rate: measured(baselines.laneRate),
      overall: measured(baselines.overall),
      literal: measured(baselines.literal),
      at_or_below: measured(baselines.atOrBelow),
    },
    reliability: reliability(walked.forecasts),
    dollars: dollarEstimate(walked.priced),
    unpriced: walked.unpriced,
  }
}

function tooFew(decided: number, tested: number): TooFewQuotes | null {
  const why = decided < DECIDED_MIN ? 'too_few_decided' : tested < TESTED_MIN ? 'too_few_tested' : null
  if (why === null) return null
  return { enough: false, why, decided, tested, needed: { decided: DECIDED_MIN, tested: TESTED_MIN } }
}

function walk(plan: {
  quotes: readonly BacktestQuote[]
  fromDay: number
  toTest: number
  floors: RateFloors
  onProgress: ((share: number) => void) | undefined
}) {
  const forecasts: Forecast[] = []
  const priced: PricedQuote[] = []
  const unpriced: Record<Unpriced, number> = { without_cost: 0, without_optimum: 0, unlikely_cost: 0 }
  for (const test of testDays(plan.quotes, plan.fromDay)) {
    const costs = prepareCosts(paidLoads(test.past), test.day * DAY)
    for (const quote of test.tests) {
      forecasts.push({ p: forecastOf(test, quote), won: quote.outcome === 'won' })
      const found = priceQuote(test, quote, { costs, floors: plan.floors })
      if (typeof found === 'string') unpriced[found]++
      else priced.push(found)
    }
    plan.onProgress?.(forecasts.length / plan.toTest)
  }
  return { forecasts, priced, unpriced }
}

function paidLoads(quotes: readonly BacktestQuote[]) {
  return quotes.flatMap(({ laneId, truckCostCents, miles, quotedAt, lane }) =>
    truckCostCents === null || miles === null
      ? []
      : [{ laneId, costCents: truckCostCents, miles, at: quotedAt, costKeys: lane.costKeys }],
  )
}

function measured(forecasts: readonly Forecast[]): MeasuredQuality {
  const all = quality(forecasts)
  const won = forecasts.filter((forecast) => forecast.won).length
  const alike = won === 0 || won === forecasts.length
  return {
    ...all,
    auc: alike ? null : all.auc,
    slope: alike || spreadOfLogOdds(forecasts) < SLOPE_SPREAD_MIN ? null : all.slope,
  }
}

function spreadOfLogOdds(forecasts: readonly Forecast[]): number {
  let sum = 0
  let squares = 0
  for (const { p } of forecasts) {
    const logOdds = Math.log(Math.max(p, 1e-4) / Math.max(1 - p, 1e-4))
    sum += logOdds
    squares += logOdds ** 2
  }
  return Math.sqrt(Math.max(0, squares / forecasts.length - (sum / forecasts.length) ** 2))
}
