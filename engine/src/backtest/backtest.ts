/**
 * How good would the estimate have been for your own quotes, had you used it in the last half year? Each past quote is forecast
 * from the days before it, by the model and by four simple rules. Method: forecasts walking forward in time (prequential
 * forecasting, Dawid, 1984).
 * docs/backtest.md.
 */

import { dayOf } from '../day.ts'
import { leftOutQuotes } from '../estimate/current-lane.ts'
import { costsByType } from '../estimate/expected-cost.ts'
import { estimatorsByType } from '../estimate/rate-type-estimators.ts'
import { isDecided } from '../history.ts'
import type { RateType } from '../rate-type.ts'
import type { MinimumTerms } from '../rules/pricing-rules.ts'
import {
  type Forecast,
  type Quality,
  quality,
  type ReliabilityRow,
  reliability,
} from '../statistics/forecast-quality.ts'
import { forecastByBaselines } from './baselines.ts'
import {
  type DollarEstimate,
  dollarEstimate,
  type PricedQuote,
  priceQuote,
  type Unpriced,
} from './dollars.ts'
import {
  type JudgeableQuote,
  type MissedColumns,
  type MissedMargin,
  missedColumns,
  missedMargin,
  type NotJudged,
} from './missed-margin.ts'
import { forecastOf, testDays } from './walk-forward.ts'

const DAY = 86_400_000

/** Minimum numbers of decided quotes in total and of tested quotes. With fewer, the measures would be noise. */
export const DECIDED_MIN = 200
export const TESTED_MIN = 60
/** The first test is this many days after the first quote, so that the model has data. */
export const WARM_UP_DAYS = 30
/** Half a year: long enough for reliable measures, short enough to reflect the current market. */
export const TESTED_DAYS = 180
/** Assumed days from a quote to its outcome. If customers answer later, the model in use knew fewer outcomes than the backtest's model. */
export const OUTCOME_DELAY_DAYS = 1
/** Minimum standard deviation of the forecasts' log odds. If all forecasts are nearly the same, their calibration slope is meaningless. */
const SLOPE_SPREAD_MIN = 0.1

/** A past quote with its lane, its effective cost, the truck cost actually paid (AP), and the cost known when the quote was made. */
export interface BacktestQuote extends JudgeableQuote {
  readonly truckCostCents: number | null
}

export interface BacktestQuestion {
  readonly quotes: readonly BacktestQuote[]
  readonly now: number
  /** Quotes of the last `windowDays` days are tested. Older quotes are only training data. */
  readonly windowDays: number
  /** The minimum rate by the brokerage's rule for all quotes. */
  readonly minimum?: MinimumTerms
  /** Called with the share of the work that is done, from 0 to 1. */
  readonly onProgress?: (share: number) => void
}

/** The result of a backtest with too few quotes: nothing was measured. */
export interface TooFewQuotes {
  readonly enough: false
  readonly why: 'too_few_decided' | 'too_few_tested'
  readonly decided: number
  readonly tested: number
  readonly needed: { readonly decided: number; readonly tested: number }
}

/**
 * Forecast quality. `auc` (do wins have higher forecasts than losses?) and `slope` (are forecasts too extreme or too timid?) are null if
 * every tested quote had the same outcome; `slope` also if the forecasts hardly differ.
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
  /** Midnight (UTC) of the first and the last day with a tested quote, in epoch milliseconds. */
  readonly firstTestedAt: number
  readonly lastTestedAt: number
  readonly quotes: number
  readonly decided: number
  readonly tested: number
  readonly testedWon: number
  /** Number of quotes excluded from estimates: rate not above zero, date in the future, or rate far from all others. */
  readonly leftOut: number
  readonly quality: Readonly<Record<Forecaster, MeasuredQuality>>
  readonly reliability: readonly ReliabilityRow[]
  /** Null if fewer than 30 tested quotes, or quotes on fewer than 5 lanes, could be priced. */
  readonly dollars: DollarEstimate | null
  readonly unpriced: Readonly<Record<Unpriced, number>>
  /** The won and pending quotes of the tested days: the number that missed-margin.ts judged; `notJudged`: the others by reason. */
  readonly judged: number
  readonly notJudged: Readonly<Record<NotJudged, number>>
  readonly missed: MissedColumns
}

/**
 * Walk-forward backtest over a brokerage's own quotes. Measures how well the model and four baseline rules forecast
 * each tested quote from the quotes of earlier days, and estimates the value of the model's best rates.
 *
 * The result is deterministic. docs/backtest.md has the formulas and the limits of the figures.
 *
 * @example backtest({ quotes: [], now, windowDays: 180 }) // { enough: false, why: 'too_few_decided', decided: 0, ... }
 */
export function backtest(question: BacktestQuestion): BacktestResult | TooFewQuotes {
  const { now, windowDays, minimum = {} } = question
  const out = leftOutOf(question.quotes, now)
  const quotes = question.quotes
    .filter(({ quoteId }) => !out.has(quoteId))
    .sort((one, other) => one.quotedAt - other.quotedAt || one.quoteId - other.quoteId)
  const decided = quotes.filter(isDecided)
  const firstDay = quotes.reduce((least, { quotedAt }) => Math.min(least, dayOf(quotedAt)), dayOf(now))
  const fromDay = Math.max(firstDay + WARM_UP_DAYS, dayOf(now) - windowDays + 1)
  const tested = decided.filter(({ quotedAt }) => dayOf(quotedAt) >= fromDay)
  const few = tooFew(decided.length, tested.length)
  if (few !== null) return few

  const walked = walk({ quotes, fromDay, minimum, onProgress: question.onProgress })
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
      lane_rate: measured(baselines.winRateOfLane),
      overall: measured(baselines.overall),
      literal: measured(baselines.literal),
      at_or_below: measured(baselines.atOrBelow),
    },
    reliability: reliability(walked.forecasts),
    dollars: dollarEstimate(walked.priced),
    unpriced: walked.unpriced,
    judged: walked.judged,
    notJudged: walked.notJudged,
    missed: missedColumns(walked.missed),
  }
}

/** The quotes that the estimate of their rate type (spot or contract) excludes. */
function leftOutOf(quotes: readonly BacktestQuote[], now: number): ReadonlySet<number> {
  const { spot, contract } = estimatorsByType({ quotes, now })
  const out = new Set<number>()
  for (const estimator of [spot, contract])
    if (estimator !== null) for (const quoteId of leftOutQuotes(estimator)) out.add(quoteId)
  return out
}

function tooFew(decided: number, tested: number): TooFewQuotes | null {
  const why = decided < DECIDED_MIN ? 'too_few_decided' : tested < TESTED_MIN ? 'too_few_tested' : null
  if (why === null) return null
  return { enough: false, why, decided, tested, needed: { decided: DECIDED_MIN, tested: TESTED_MIN } }
}

function walk(plan: {
  quotes: readonly BacktestQuote[]
  fromDay: number
  minimum: MinimumTerms
  onProgress: ((share: number) => void) | undefined
}) {
  const forecasts: Forecast[] = []
  const priced: PricedQuote[] = []
  const unpriced: Record<Unpriced, number> = { without_cost: 0, without_optimum: 0, unlikely_cost: 0 }
  const missed: MissedMargin[] = []
  const notJudged: Record<NotJudged, number> = {
    without_cost: 0,
    without_rate: 0,
    unlikely_cost: 0,
    at_edge: 0,
  }
  let judged = 0
  let done = 0
  const toDo = plan.quotes.filter(({ quotedAt }) => dayOf(quotedAt) >= plan.fromDay).length
  for (const test of testDays(plan.quotes, plan.fromDay, () => true)) {
    const ofType = (wanted: RateType) =>
      paidLoads(test.past.filter(({ rateType = 'spot' }) => rateType === wanted))
    const byType = costsByType({ spot: ofType('spot'), contract: ofType('contract') }, test.day * DAY)
    for (const quote of test.tests) {
      const costs = byType[quote.rateType ?? 'spot']
      if (isDecided(quote)) {
        forecasts.push({ p: forecastOf(test, quote), won: quote.outcome === 'won' })
        const found = priceQuote(test, quote, { costs, minimum: plan.minimum })
        if (typeof found === 'string') unpriced[found]++
        else priced.push(found)
      }
      if (quote.outcome === 'lost') continue
      const found = missedMargin(test, quote, costs)
      if (typeof found === 'string') {
        notJudged[found]++
        continue
      }
      judged++
      if (found !== null) missed.push(found)
    }
    done += test.tests.length
    plan.onProgress?.(done / toDo)
  }
  return { forecasts, priced, unpriced, judged, notJudged, missed }
}

function paidLoads(quotes: readonly BacktestQuote[]) {
  return quotes.flatMap(({ quoteId, truckCostCents, miles, quotedAt, lane }) =>
    truckCostCents === null || miles === null
      ? []
      : [{ quoteId, costCents: truckCostCents, miles, at: quotedAt, costKeys: lane.costKeys }],
  )
}

function measured(forecasts: readonly Forecast[]): MeasuredQuality {
  const all = quality(forecasts)
  const won = forecasts.filter((forecast) => forecast.won).length
  const hasOneOutcome = won === 0 || won === forecasts.length
  return {
    ...all,
    auc: hasOneOutcome ? null : all.auc,
    slope: hasOneOutcome || spreadOfLogOdds(forecasts) < SLOPE_SPREAD_MIN ? null : all.slope,
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
