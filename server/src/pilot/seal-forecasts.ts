import { identityOf } from '#engine/book/quote-book.ts'
import { dayOf } from '#engine/estimate/day.ts'
import { laneInSteps, laneOf } from '#engine/estimate/estimator.ts'
import { expectedCost } from '#engine/estimate/expected-cost.ts'
import { type OfferForecast, offerForecaster } from '#engine/estimate/forecast-offer.ts'
import { isOwnCost } from '#engine/estimate/own-cost.ts'
import { isWeekend } from '#engine/estimate/weekend-pickup.ts'
import type { StoredOutcome } from '#engine/history.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import { permitsExperiment, suggestionOf } from '#engine/pilot/experiment.ts'
import type { ForecastBody } from '#engine/pilot/pilot-entries.ts'
import { forecastLateAfterMs, quotedAs } from '#engine/pilot/pilot-entries.ts'
import { comparableCents, ownChargesOnly } from '#engine/rate-basis.ts'
import { type AppliedRules, applyRules, ruledRate } from '#engine/rules/pricing-rules.ts'
import {
  asksForParties,
  conversionsOfQuote,
  factsOf,
  namedParties,
  needsConversion,
  type Pricing,
  partiesIn,
  type QuotedFor,
  type QuoteParties,
  termsOfQuote,
} from '../book/index.ts'
import {
  appendPilotEntries,
  type CostColumn,
  findPilot,
  type NewLane,
  type QuotedAmountColumn,
} from '../database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import { modelVersion } from './model-version.ts'

/** A quote that was just saved, or whose rate was just changed. */
export interface QuoteToForecast {
  readonly laneId: number
  readonly laneRef: string
  readonly externalId: string | null
  readonly rep: string | null
  /** When this rate was quoted. */
  readonly quotedAt: Date
  readonly outcome: StoredOutcome
  readonly lane: Pick<NewLane, CostColumn | QuotedAmountColumn | 'origin_market' | 'destination_market'>
  /** The day by whose fuel price and exchange rate its amounts are converted. */
  readonly createdAt: Date
  readonly quotedFor: QuotedFor
}

/** The rep of a quote, as the chain names them. A pushed quote has the name that the other system sent. */
export function repOf(repName: string | null, createdBy: number | null): string | null {
  return repName ?? (createdBy === null ? null : `user ${createdBy}`)
}

/** A saved quote as a quote to forecast. `quotedAt` is when its rate was quoted. */
export function quoteToForecast(lane: LaneRow, quotedAt = lane.created_at): QuoteToForecast {
  return {
    laneId: lane.lane_id,
    laneRef: lane.lane_ref,
    externalId: lane.external_id,
    rep: repOf(lane.rep_name, lane.created_by),
    quotedAt,
    outcome: lane.outcome,
    lane,
    createdAt: lane.created_at,
    quotedFor: {
      customerName: lane.quoted_customer_name,
      repId: lane.created_by,
      rateType: lane.rate_type,
    },
  }
}

/**
 * Records the forecast of each quote in the chain of the brokerage's pilot, if the pilot is on. Call it as the last statement of
 * the transaction that saves the quotes, so that no quote is saved without its forecast and no outcome can exist before it.
 */
export async function sealForecasts(
  transaction: TenantTransaction,
  tenant: TenantId,
  { pricing, now }: { readonly pricing: Pricing | null; readonly now: number },
  quotes: readonly QuoteToForecast[],
): Promise<void> {
  if (quotes.length === 0) return
  const pilot = await findPilot(transaction, tenant)
  if (pilot === null || !pilot.active) return
  const forecasters: Forecasters = new Map()
  const entries = []
  for (const quote of quotes) {
    const asked = pricing === null ? null : await askedRules(transaction, tenant, quote, pricing)
    const body = await forecastBody(quote, asked, { pricing, now, forecasters })
    entries.push({ kind: 'forecast' as const, laneId: quote.laneId, body })
  }
  await appendPilotEntries(transaction, tenant, now, entries)
}

/** What the forecast of a quote needs from the tables of its brokerage: its amounts as others are compared, and its parties. */
interface AskedRules {
  readonly rateCents: number | null
  readonly enteredCents: number | null
  readonly parties: QuoteParties
}

async function askedRules(
  transaction: TenantTransaction,
  tenant: TenantId,
  { lane, createdAt, quotedFor }: QuoteToForecast,
  { settings: { basis, rules } }: Pricing,
): Promise<AskedRules> {
  const { customerName } = quotedFor
  const by = needsConversion(lane.quoted_basis, lane.quoted_currency, basis)
    ? (
        await conversionsOfQuote(transaction, tenant, {
          customerName,
          at: createdAt,
          miles: lane.miles ?? null,
        })
      ).rates
    : ownChargesOnly
  const converted = (cents: number) => comparableCents({ cents, ...termsOfQuote(lane) }, basis, by)
  const entered = lane.estimated_cost_cents ?? null
  const enteredCents = entered === null ? null : converted(entered)
  return {
    rateCents: converted(lane.quoted_rate_cents),
    enteredCents: enteredCents !== null && enteredCents > 0 ? enteredCents : null,
    parties: asksForParties(rules)
      ? await partiesIn(transaction, tenant, rules, quotedFor)
      : namedParties(quotedFor),
  }
}

/** Probabilities are recorded with six decimals: the scores are computed from what is recorded. */
const six = (share: number) => Math.round(share * 1e6) / 1e6

/** Forecasters of lanes, by lane and miles: a push may have many quotes of a lane. */
type Forecasters = Map<string, ReturnType<typeof offerForecaster>>

async function forecastBody(
  quote: QuoteToForecast,
  asked: AskedRules | null,
  { pricing, now, forecasters }: { pricing: Pricing | null; now: number; forecasters: Forecasters },
): Promise<ForecastBody> {
  const { lane } = quote
  const identity = identityOf({
    originKey: lane.origin_key,
    destinationKey: lane.destination_key,
    originState: lane.origin_state,
    destinationState: lane.destination_state,
    equipmentCode: lane.equipment_code,
  })
  const miles = lane.miles ?? null
  const rateCents = asked === null ? lane.quoted_rate_cents : asked.rateCents
  const costs =
    pricing === null
      ? noCosts
      : costsOf(asked?.enteredCents ?? null, pricing, {
          costKeys: identity.costKeys,
          miles,
          weekendPickup: isWeekend(lane.pickup_date ?? null),
        })
  let forecast: OfferForecast | null = null
  let applied: AppliedRules | null = null
  if (pricing !== null && asked !== null && rateCents !== null) {
    const key = `${identity.key} ${miles}`
    let forecaster = forecasters.get(key)
    if (forecaster === undefined) {
      // A lane with many quotes takes long, so the work yields between steps.
      await yieldBetweenSteps(laneInSteps(pricing.estimator, identity.key))
      forecaster = offerForecaster({ estimator: pricing.estimator, lane: identity, miles })
      forecasters.set(key, forecaster)
    }
    const decided = laneOf(pricing.estimator, identity.key)?.decided ?? 0
    applied = applyRules(pricing.settings.rules, factsOf(lane, asked.parties, decided), { ...costs, miles })
    const floorCents = applied.minimum?.rateCents ?? null
    forecast = forecaster?.({ rateCents, costCents: costOf(costs).cents, floorCents }) ?? null
  }
  const cost = costOf(costs)
  const none = pricing === null ? 'not_computed' : rateCents === null ? 'other_basis' : 'no_quotes'
  return {
    lane_ref: quote.laneRef,
    external_id: quote.externalId,
    lane: identity.key,
    rep: quote.rep,
    quoted_at: quote.quotedAt.toISOString(),
    quoted_as: quotedAs(lane.quoted_rate_cents, termsOfQuote(lane)),
    basis: pricing?.settings.basis ?? null,
    rate: dollarsIfKnown(rateCents),
    cost: dollarsIfKnown(cost.cents),
    cost_from: cost.from,
    ...(forecast === null ? noNumbers : numbersOf(forecast, applied)),
    model: modelVersion,
    experiment: experimentOf(pricing, identity.key, forecast, now),
    late: lateness(quote, now),
    no_forecast: forecast === null ? none : null,
  }
}

/** The suggestion that the quote desk had for this lane today, if an experiment runs. */
function experimentOf(
  pricing: Pricing | null,
  lane: string,
  forecast: OfferForecast | null,
  now: number,
): NonNullable<ForecastBody['experiment']> | null {
  const experiment = pricing?.settings.experiment ?? null
  if (experiment === null || forecast === null || pricing === null) return null
  if (!permitsExperiment(pricing.settings.rules)) return null
  const day = dayOf(now)
  const suggested = suggestionOf(experiment, { lane, day, optimum: forecast.optimum })
  return suggested === null ? null : { arm: suggested.arm, rate: suggested.rateCents / 100, day }
}

function lateness({ outcome, quotedAt }: QuoteToForecast, now: number): ForecastBody['late'] {
  if (outcome !== 'pending') return 'decided_before'
  return now - quotedAt.getTime() > forecastLateAfterMs ? 'quoted_long_before' : null
}

interface ForecastCosts {
  readonly enteredCents: number | null
  readonly expectedCents: number | null
}
const noCosts: ForecastCosts = { enteredCents: null, expectedCents: null }

/** The cost that was entered with the quote, and the one expected from the brokerage's own loads. */
function costsOf(
  enteredCents: number | null,
  { costs }: Pricing,
  load: Parameters<typeof expectedCost>[1],
): ForecastCosts {
  const expected = expectedCost(costs, load)
  // The default curve is a shape of 2017, not a cost of this brokerage.
  return { enteredCents, expectedCents: isOwnCost(expected) ? Math.round(expected.costCents) : null }
}

/** The cost of the forecast: the entered one, else the expected one. */
function costOf({ enteredCents, expectedCents }: ForecastCosts): {
  readonly cents: number | null
  readonly from: ForecastBody['cost_from']
} {
  if (enteredCents !== null) return { cents: enteredCents, from: 'entered' }
  return { cents: expectedCents, from: expectedCents === null ? null : 'expected' }
}

const noNumbers = {
  probability: null,
  interval_80: null,
  interval_95: null,
  lane_won: null,
  lane_decided: null,
  all_won: null,
  all_decided: null,
  going_rate: null,
  probability_at_going: null,
  best_rate: null,
  probability_at_best: null,
} as const

/** `applied`: the rules of the quote, within whose limits its best rate is, as on the quote desk. */
function numbersOf(
  forecast: OfferForecast,
  applied: AppliedRules | null,
): Omit<ForecastBody, 'model'> extends infer Body
  ? Pick<ForecastBody, keyof typeof noNumbers & keyof Body>
  : never {
  const { interval80, interval95, lane, all, optimum } = forecast
  const best = optimum?.flooredRateCents ?? null
  const ruled = best === null || applied === null ? null : ruledRate({ ...applied, target: null }, best)
  const bestCents = best === null ? null : Math.round(ruled?.rateCents ?? best)
  return {
    probability: six(forecast.probability),
    interval_80: [six(interval80.low), six(interval80.high)],
    interval_95: [six(interval95.low), six(interval95.high)],
    lane_won: lane.won,
    lane_decided: lane.decided,
    all_won: all.won,
    all_decided: all.decided,
    going_rate: dollarsFromCents(forecast.referenceRateCents),
    probability_at_going: six(forecast.probabilityAtReference),
    best_rate: dollarsIfKnown(bestCents),
    probability_at_best: bestCents === null ? null : six(forecast.probabilityAt(bestCents)),
  }
}
