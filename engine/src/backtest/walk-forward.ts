/**
 * What would the model have said about each past quote on the morning of its day, when it knew earlier days only?
 * Method: forecasts walking forward in time (prequential forecasting, Dawid, 1984).
 * docs/backtest.md, "Walking forward".
 */

import { dayOf } from '../day.ts'
import type { Estimator } from '../estimate/estimator.ts'
import { lanePosterior } from '../estimate/lane-posterior.ts'
import { offerPosition, referenceRateCents } from '../estimate/lane-reference.ts'
import { type Posterior, winMean } from '../estimate/posterior.ts'
import { estimatorFor, estimatorsByType } from '../estimate/rate-type-estimators.ts'
import { isDecided } from '../history.ts'
import type { LaneQuote } from '../quotes/quoted-lanes.ts'

const DAY = 86_400_000

/** Groups quotes by day, oldest day first. */
export function byDay<T extends { quotedAt: number }>(quotes: readonly T[]): Map<number, T[]> {
  const days = new Map<number, T[]>()
  for (const quote of [...quotes].sort((one, other) => one.quotedAt - other.quotedAt)) {
    const day = dayOf(quote.quotedAt)
    const known = days.get(day)
    if (known) known.push(quote)
    else days.set(day, [quote])
  }
  return days
}

/** One day of a backtest: the quotes to estimate, all earlier quotes, and the models built from those alone. */
export interface TestDay<Quote extends LaneQuote> {
  readonly day: number
  readonly tests: readonly Quote[]
  readonly past: readonly Quote[]
  /** The model of a quote's rate type. */
  readonly modelFor: (quote: Quote) => Estimator
  /** The possible win curves of a quote's lane, computed once per lane and rate type. */
  readonly posteriorFor: (quote: Quote) => Posterior
}

/**
 * Yields each day from `fromDay` on with quotes to estimate: decided ones, unless `isTested` says otherwise. The model of a day is
 * built from the quotes of earlier days only, so an outcome is known one day after its quote. Finish with a day before you request
 * the next: `past` is reused.
 *
 * Each day builds a new model, because the weights of all quotes decay daily and an incremental update would not give identical
 * digits.
 */
export function* testDays<Quote extends LaneQuote>(
  quotes: readonly Quote[],
  fromDay: number,
  isTested: (quote: Quote) => boolean = isDecided,
): Generator<TestDay<Quote>> {
  const past: Quote[] = []
  for (const [day, today] of byDay(quotes)) {
    const tests = today.filter(isTested)
    if (day >= fromDay && tests.length > 0) {
      const models = estimatorsByType({ quotes: past, now: day * DAY })
      const modelFor = ({ rateType = 'spot' }: Quote) => estimatorFor(models, rateType)
      const posteriors = new Map<string, Posterior>()
      const posteriorFor = (quote: Quote) => {
        const { lane, rateType = 'spot' } = quote
        const name = `${rateType} ${lane.key}`
        const known = posteriors.get(name)
        if (known) return known
        const posterior = lanePosterior(modelFor(quote), lane)
        posteriors.set(name, posterior)
        return posterior
      }
      yield { day, tests, past, modelFor, posteriorFor }
    }
    past.push(...today)
  }
}

/** The win probability by the model of the quote's day. Without a reference rate (no earlier quote), the quote is taken to be at it. */
export function forecastOf<Quote extends LaneQuote>(
  { modelFor, posteriorFor }: TestDay<Quote>,
  quote: Quote,
): number {
  const model = modelFor(quote)
  const { rateCents, lane, miles } = quote
  const referenceCents = referenceRateCents(model, lane, miles)
  const x = referenceCents === null ? 0 : offerPosition(model, lane, { rateCents, referenceCents })
  return winMean(posteriorFor(quote), x)
}

/**
 * Forecasts by the calibrated model, oldest first, from `warmUpDays` days after the first quote. Each decided quote
 * is forecast from the quotes of earlier days only.
 */
export function forecastByModel(
  quotes: readonly LaneQuote[],
  options: { warmUpDays: number; onDay?: (day: number) => void },
): { quote: LaneQuote; p: number }[] {
  const first = quotes.reduce((least, quote) => Math.min(least, dayOf(quote.quotedAt)), Infinity)
  const out: { quote: LaneQuote; p: number }[] = []
  for (const test of testDays(quotes, first + options.warmUpDays)) {
    options.onDay?.(test.day - first)
    for (const quote of test.tests) out.push({ quote, p: forecastOf(test, quote) })
  }
  return out
}
