import { dayOf } from '../estimate/day.ts'
import {
  type Estimator,
  lanePosterior,
  offerPosition,
  prepareEstimator,
  referenceRateCents,
} from '../estimate/estimator.ts'
import { type Posterior, winMean } from '../estimate/posterior.ts'
import type { LaneQuote } from '../estimate/quoted-lanes.ts'
import { isDecided } from '../history.ts'

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

/** One day of a backtest: the quotes to estimate, all earlier quotes, and the model built from those alone. */
export interface TestDay<Quote extends LaneQuote> {
  readonly day: number
  readonly tests: readonly Quote[]
  readonly past: readonly Quote[]
  readonly model: Estimator
  /** The posterior of this day's model for a lane. Computed once per lane. */
  readonly posteriorFor: (quote: Quote) => Posterior
}

/**
 * Yields each day from `fromDay` on that has quotes to estimate: decided ones, unless `isTested` says otherwise. The model of
 * a day is built from the quotes of earlier days only, so an outcome is known one day after its quote. Finish with a day
 * before you request the next: `past` is reused.
 *
 * Each day builds a new model, because the weights of all quotes decay daily and an incremental update would not give
 * identical digits.
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
      const model = prepareEstimator({ quotes: past, now: day * DAY })
      const posteriors = new Map<string, Posterior>()
      const posteriorFor = ({ lane }: Quote) => {
        const known = posteriors.get(lane.key)
        if (known) return known
        const posterior = lanePosterior(model, lane)
        posteriors.set(lane.key, posterior)
        return posterior
      }
      yield { day, tests, past, model, posteriorFor }
    }
    past.push(...today)
  }
}

/**
 * The win probability by the model of the quote's day. Without any earlier quote, the probability at the reference
 * rate.
 */
export function forecastOf<Quote extends LaneQuote>(
  { model, posteriorFor }: TestDay<Quote>,
  quote: Quote,
): number {
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
