import { dayOf } from '#engine/day.ts'
import { laneOf } from '#engine/estimate/current-lane.ts'
import {
  type CustomerEffects,
  customerEffectsInSteps,
  customerShift,
  shiftedPosterior,
} from '#engine/estimate/customer-effect.ts'
import { type Estimator, prepareEstimator } from '#engine/estimate/estimator.ts'
import { type Interval, intervalCurve, intervalsAt } from '#engine/estimate/interval.ts'
import { emptyKnots } from '#engine/estimate/knots.ts'
import { lanePrior, posteriorWith } from '#engine/estimate/lane-posterior.ts'
import { referenceRateCents } from '#engine/estimate/lane-reference.ts'
import { winMean } from '#engine/estimate/posterior.ts'
import { relativeRate } from '#engine/estimate/price-response.ts'
import type { LaneIdentity } from '#engine/quotes/lane-identity.ts'
import type { LaneQuote } from '#engine/quotes/quoted-lanes.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import { finished } from '#engine/steps.ts'
import type { Bar } from './bar.ts'
import { normal } from './simulation.ts'
import {
  type GroupCoverage,
  type Grouped,
  groupCoverage,
  monthOf,
  orderCorrelations,
} from './walked-tables.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 0, 1)

/** The parameters of a simulated brokerage with customers. */
export interface CustomerPlan {
  readonly seed: number
  /** How much customers differ: the standard deviation of their effects, in log odds. */
  readonly spread: number
  readonly lanes: number
  readonly customers: number
  readonly quotes: number
  /** The share of a lane's quotes that are for its main customer; with 0, customers are drawn at random. */
  readonly loyalty: number
}

/** Estimates with and without the customer, compared with the true probabilities of offers. */
export interface CustomerResult {
  readonly offers: number
  /** How much customers differ, as estimated. */
  readonly spread: number
  /** The mean squared distance from the true probability. */
  readonly errorWithout: number
  readonly errorWith: number
  readonly within80Without: number
  readonly within80With: number
}

/** The estimate of an offer without and with the customer. */
function bothEstimates(
  model: Estimator,
  effects: CustomerEffects,
  asked: { identity: LaneIdentity; customer: number | null; rateCents: number },
) {
  const { identity, customer, rateCents } = asked
  const referenceCents = referenceRateCents(model, identity, null) ?? rateCents
  const lane = laneOf(model, identity.key)
  const prior = lanePrior(model, identity)
  const posterior = posteriorWith(model, lane?.knots ?? emptyKnots(), { prior, lane })
  const borrowedShare =
    lane !== null && lane.decided > 0
      ? Math.min(1, Math.max(0, posterior.belief.varianceA / prior.varianceA))
      : 1
  const number = model.quoted.laneOf(identity.key) ?? null
  const shift = customerShift(effects, { customer, lane: number, borrowedShare })
  const x = relativeRate(rateCents, referenceCents)
  const estimates = [posterior, shift === null ? posterior : shiftedPosterior(posterior, shift)].map(
    (one) => {
      const mean = winMean(one, x)
      // Computed only when needed, because it takes longer than all the rest.
      return { mean, interval: () => intervalsAt(intervalCurve(one), { x, mean }).interval80 }
    },
  )
  const [without, withCustomer] = estimates
  if (without === undefined || withCustomer === undefined) throw new Error('Two estimates were made.')
  return { without, withCustomer, posterior, x, shift }
}

const contains = ({ low, high }: Interval, value: number) => low <= value && value <= high

/** Simulates brokerages whose customers differ by known amounts, and compares both estimates with the truth. */
export function checkCustomers(plan: CustomerPlan): CustomerResult {
  const random = seededNumbers(plan.seed)
  const pick = (count: number) => Math.floor(random() * count)
  const customers = Array.from({ length: plan.customers }, () => plan.spread * normal(random))
  const lanes = Array.from({ length: plan.lanes }, (_, n) => ({
    identity: {
      key: `lane ${n}`,
      scopes: [{ name: 'state_pair', key: `pair ${n % 8}` }],
      costKeys: [],
    } satisfies LaneIdentity,
    level: 0.3 + 0.8 * normal(random),
    steepness: 8 * Math.exp(0.3 * normal(random)),
    logMarket: Math.log(200_000) + 0.4 * normal(random),
    main: pick(plan.customers),
  }))
  const truth = (lane: (typeof lanes)[number], customer: number, x: number) =>
    1 / (1 + Math.exp(-(lane.level + (customers[customer] ?? 0) - lane.steepness * x)))
  const quotes: LaneQuote[] = []
  const customerOf: number[] = []
  for (let n = 0; n < plan.quotes; n++) {
    const lane = lanes[pick(plan.lanes)] as (typeof lanes)[number]
    const customer = random() < plan.loyalty ? lane.main : pick(plan.customers)
    const x = 0.08 * normal(random)
    customerOf[n + 1] = customer
    quotes.push({
      quoteId: n + 1,
      rateCents: Math.round(Math.exp(lane.logMarket + x)),
      costCents: null,
      outcome: random() < truth(lane, customer, x) ? 'won' : 'lost',
      quotedAt: NOW - (1 + pick(90)) * DAY,
      miles: null,
      lane: lane.identity,
    })
  }
  const model = prepareEstimator({ quotes, now: NOW })
  const { columns } = model.quoted
  const effects = finished(
    customerEffectsInSteps(model, (row) => customerOf[columns.quoteId[row] as number] ?? -1),
  )
  const sums = { offers: 0, without: 0, with: 0, in80Without: 0, in80With: 0 }
  for (const lane of lanes) {
    for (let n = 0; n < 12; n++) {
      const customer = n % 3 === 0 ? lane.main : pick(plan.customers)
      const x = 0.06 * normal(random)
      const actual = truth(lane, customer, x)
      const { without, withCustomer } = bothEstimates(model, effects, {
        identity: lane.identity,
        customer: effects.effects.has(customer) ? customer : null,
        rateCents: Math.exp(lane.logMarket + x),
      })
      sums.offers++
      sums.without += (without.mean - actual) ** 2
      sums.with += (withCustomer.mean - actual) ** 2
      if (contains(without.interval(), actual)) sums.in80Without++
      if (contains(withCustomer.interval(), actual)) sums.in80With++
    }
  }
  return {
    offers: sums.offers,
    spread: effects.spread,
    errorWithout: sums.without / sums.offers,
    errorWith: sums.with / sums.offers,
    within80Without: sums.in80Without / sums.offers,
    within80With: sums.in80With / sums.offers,
  }
}

/** Forecasts of the same decided quotes without and with the customer. */
export interface CustomerForecasts {
  readonly count: number
  readonly brierWithout: number
  readonly brierWith: number
  readonly logLossWithout: number
  readonly logLossWith: number
  /** How much customers differ, as estimated on average. */
  readonly spread: number
  /** Each forecast with the customer. */
  readonly forecasts: readonly Grouped[]
}

/**
 * Every `everyDays` days, a model of all earlier quotes forecasts the decided quotes of the next `everyDays` days, without and with
 * the customer.
 */
export function forecastCustomers(
  quotes: readonly (LaneQuote & { readonly customer: number })[],
  { warmUpDays, everyDays }: { readonly warmUpDays: number; readonly everyDays: number },
): CustomerForecasts {
  const sorted = quotes.toSorted((one, other) => one.quotedAt - other.quotedAt)
  const first = sorted[0]?.quotedAt ?? 0
  const last = sorted.at(-1)?.quotedAt ?? 0
  const customerOf = new Map(quotes.map(({ quoteId, customer }) => [quoteId, customer]))
  const sums = { count: 0, brierWithout: 0, brierWith: 0, logLossWithout: 0, logLossWith: 0, spread: 0 }
  const forecasts: Grouped[] = []
  const loss = (p: number, won: boolean) => -Math.log(Math.max(1e-9, won ? p : 1 - p))
  for (let from = first + warmUpDays * DAY; from <= last; from += everyDays * DAY) {
    const past = sorted.filter(({ quotedAt }) => quotedAt < from)
    const next = sorted.filter(
      ({ quotedAt, outcome }) =>
        quotedAt >= from && quotedAt < from + everyDays * DAY && outcome !== 'pending',
    )
    if (next.length === 0) continue
    const model = prepareEstimator({ quotes: past, now: from })
    const { columns } = model.quoted
    const effects = finished(
      customerEffectsInSteps(model, (row) => customerOf.get(columns.quoteId[row] as number) ?? -1),
    )
    for (const quote of next) {
      const { lane: identity, customer, rateCents, outcome } = quote
      const won = outcome === 'won'
      const both = bothEstimates(model, effects, { identity, customer, rateCents })
      sums.count++
      sums.brierWithout += (both.without.mean - (won ? 1 : 0)) ** 2
      sums.brierWith += (both.withCustomer.mean - (won ? 1 : 0)) ** 2
      sums.logLossWithout += loss(both.without.mean, won)
      sums.logLossWith += loss(both.withCustomer.mean, won)
      sums.spread += effects.spread
      const { posterior, x, shift } = both
      forecasts.push({
        quote,
        day: dayOf(quote.quotedAt),
        won,
        x,
        posterior: { ...posterior, noise: Math.hypot(posterior.noise, shift?.swing ?? 0) },
        model: both.withCustomer.mean,
        customer:
          shift === null
            ? undefined
            : { number: customer, level: shift.level, sd: Math.sqrt(shift.variance) },
      })
    }
  }
  const { count } = sums
  return {
    count,
    brierWithout: sums.brierWithout / count,
    brierWith: sums.brierWith / count,
    logLossWithout: sums.logLossWithout / count,
    logLossWith: sums.logLossWith / count,
    spread: sums.spread / count,
    forecasts,
  }
}

/** Returns the metal trader's quotes with the product as the lane, and the country as the customer. */
export function countriesAsCustomers(quotes: readonly LaneQuote[]): (LaneQuote & { customer: number })[] {
  const numbers = new Map<string, number>()
  return quotes.map((quote) => {
    const country = quote.lane.scopes[0]?.key ?? ''
    const customer = numbers.get(country) ?? numbers.size
    numbers.set(country, customer)
    const key = quote.lane.key.split(' ')[0] ?? ''
    return { ...quote, customer, lane: { key, scopes: [], costKeys: [] } }
  })
}

/** The limits of the estimate with the customer: where customers differ it is better than without, elsewhere worse by noise at most. */
export function customerBars(copper: readonly LaneQuote[] | null, seed: number): Bar[] {
  const simulated = (spread: number, loyalty: number): Bar => {
    const found = checkCustomers({ seed, spread, loyalty, lanes: 40, customers: 25, quotes: 4_000 })
    return {
      check: `simulated customers, spread ${spread}, ${100 * loyalty} % of a lane by its main customer`,
      measure: 'mean squared error with the customer / without',
      value: found.errorWith / found.errorWithout,
      most: spread === 0 ? 1.02 : 0.8,
    }
  }
  const bars = [0, 0.7, 1.2].flatMap((spread) => [0, 0.8].map((loyalty) => simulated(spread, loyalty)))
  if (copper === null) return bars
  const found = forecastCustomers(countriesAsCustomers(copper), { warmUpDays: 30, everyDays: 14 })
  return [
    ...bars,
    {
      check: 'copper file, products as lanes and countries as customers',
      measure: 'Brier with the customer minus without',
      value: found.brierWith - found.brierWithout,
      most: 0.0005,
    },
  ]
}

/** How often the win rate of a customer was within the range that the estimate with the customer gives for it. */
export function customerCoverages(
  name: string,
  quotes: readonly (LaneQuote & { readonly customer: number })[],
): GroupCoverage[] {
  const { forecasts } = forecastCustomers(quotes, { warmUpDays: 30, everyDays: 14 })
  const customers = new Map(quotes.map(({ quoteId, customer }) => [quoteId, customer]))
  const customerOf = ({ quote }: Grouped) => `${customers.get(quote.quoteId)}`
  const correlations = orderCorrelations(forecasts)
  return [
    { group: 'customers', keyOf: customerOf },
    { group: 'customers by month', keyOf: (one: Grouped) => `${customerOf(one)} ${monthOf(one)}` },
  ].flatMap(({ group, keyOf }) => [
    groupCoverage(`${name}, ${group}`, forecasts, { keyOf, least: 5, correlations: new Map() }),
    groupCoverage(`${name}, ${group}, by orders`, forecasts, { keyOf, least: 5, correlations }),
  ])
}
