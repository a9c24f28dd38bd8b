import { dayOf } from '../estimate/day.ts'
import {
  type Estimator,
  type LaneQuote,
  lanePrior,
  offerPosition,
  prepareEstimator,
  referenceRateCents,
} from '../estimate/estimator.ts'
import { emptyKnots } from '../estimate/knots.ts'
import { type Posterior, posteriorOf, winMean } from '../estimate/posterior.ts'
import { isDecided } from '../history.ts'

const DAY = 86_400_000

/** Quotes of one day, oldest day first. */
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

/**
 * Forecasts of the calibrated model, day by day from `warmUpDays` after the first quote: each decided quote is forecast from
 * the quotes of earlier days only, outcomes counting as known the next day. Quotes come back in the order given.
 */
export function forecastByModel(
  quotes: readonly LaneQuote[],
  options: { warmUpDays: number; onDay?: (day: number) => void },
): { quote: LaneQuote; p: number }[] {
  const days = byDay(quotes)
  const first = Math.min(...days.keys())
  const past: LaneQuote[] = []
  const out: { quote: LaneQuote; p: number }[] = []
  for (const [day, today] of days) {
    options.onDay?.(day - first)
    const tests = today.filter(isDecided)
    if (day - first >= options.warmUpDays && tests.length > 0) {
      const model = prepareEstimator({ quotes: past, now: day * DAY })
      const posteriors = new Map<string, Posterior>()
      for (const quote of tests) out.push({ quote, p: forecast(model, posteriors, quote) })
    }
    past.push(...today)
  }
  return out
}

function forecast(model: Estimator, posteriors: Map<string, Posterior>, quote: LaneQuote): number {
  const { key } = quote.lane
  let posterior = posteriors.get(key)
  if (!posterior) {
    posterior = posteriorOf(model.lanes.get(key)?.knots ?? emptyKnots(), lanePrior(model, quote.lane))
    posteriors.set(key, posterior)
  }
  const reference = referenceRateCents(model, quote.lane, quote.miles)
  return winMean(
    posterior,
    reference === null
      ? 0
      : offerPosition(model, quote.lane, { rateCents: quote.rateCents, referenceCents: reference }),
  )
}
