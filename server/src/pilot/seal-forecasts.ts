import { identityOf } from '#engine/book/quote-book.ts'
import { dayOf } from '#engine/estimate/day.ts'
import { laneInSteps } from '#engine/estimate/estimator.ts'
import { expectedCost } from '#engine/estimate/expected-cost.ts'
import { type OfferForecast, offerForecaster } from '#engine/estimate/forecast-offer.ts'
import type { StoredOutcome } from '#engine/history.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import { permitsExperiment, suggestionOf } from '#engine/pilot/experiment.ts'
import type { ForecastBody } from '#engine/pilot/pilot-entries.ts'
import { forecastLateAfterMs } from '#engine/pilot/pilot-entries.ts'
import { centsOnBasis } from '#engine/rate-basis.ts'
import { minimumOfAll, minimumRateCents } from '#engine/rules/pricing-rules.ts'
import type { Pricing } from '../book/index.ts'
import { appendPilotEntries, findPilot, type NewLane } from '../database/queries/index.ts'
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
  readonly lane: Pick<
    NewLane,
    | 'origin_key'
    | 'destination_key'
    | 'origin_state'
    | 'destination_state'
    | 'equipment_code'
    | 'miles'
    | 'quoted_rate_cents'
    | 'estimated_cost_cents'
    | 'quoted_basis'
    | 'quoted_fuel_cents'
    | 'quoted_accessorials_cents'
    | 'quoted_currency'
  >
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
    const body = await forecastBody(quote, { pricing, now, forecasters })
    entries.push({ kind: 'forecast' as const, laneId: quote.laneId, body })
  }
  await appendPilotEntries(transaction, tenant, now, entries)
}

/** Probabilities are recorded with six decimals: the scores are computed from what is recorded. */
const six = (share: number) => Math.round(share * 1e6) / 1e6

/** Forecasters of lanes, by lane and miles: a push may have many quotes of a lane. */
type Forecasters = Map<string, ReturnType<typeof offerForecaster>>

async function forecastBody(
  quote: QuoteToForecast,
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
  const rateCents = pricing === null ? lane.quoted_rate_cents : onBasis(lane, lane.quoted_rate_cents, pricing)
  const cost = pricing === null ? noCost : costOf(lane, pricing, { costKeys: identity.costKeys, miles })
  let forecast: OfferForecast | null = null
  if (pricing !== null && rateCents !== null) {
    const key = `${identity.key} ${miles}`
    let forecaster = forecasters.get(key)
    if (forecaster === undefined) {
      // A lane with many quotes takes long, so the work yields between steps.
      await yieldBetweenSteps(laneInSteps(pricing.estimator, identity.key))
      forecaster = offerForecaster({ estimator: pricing.estimator, lane: identity, miles })
      forecasters.set(key, forecaster)
    }
    const minimum = minimumOfAll(pricing.settings.rules)
    const floorCents = minimumRateCents(minimum, { costCents: cost.cents, miles })
    forecast = forecaster?.({ rateCents, costCents: cost.cents, floorCents }) ?? null
  }
  const none = pricing === null ? 'not_computed' : rateCents === null ? 'other_basis' : 'no_quotes'
  return {
    lane_ref: quote.laneRef,
    external_id: quote.externalId,
    lane: identity.key,
    rep: quote.rep,
    quoted_at: quote.quotedAt.toISOString(),
    rate: dollarsIfKnown(rateCents),
    cost: dollarsIfKnown(cost.cents),
    cost_from: cost.from,
    ...(forecast === null ? noNumbers : numbersOf(forecast)),
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

function onBasis(lane: QuoteToForecast['lane'], cents: number, { settings }: Pricing): number | null {
  return centsOnBasis(
    {
      cents,
      basis: lane.quoted_basis ?? null,
      fuelCents: lane.quoted_fuel_cents ?? null,
      accessorialCents: lane.quoted_accessorials_cents ?? null,
      currency: lane.quoted_currency ?? null,
    },
    settings.basis,
  )
}

interface ForecastCost {
  readonly cents: number | null
  readonly from: ForecastBody['cost_from']
}
const noCost: ForecastCost = { cents: null, from: null }

/** The cost that was entered with the quote, else the one expected from the brokerage's own loads. */
function costOf(
  lane: QuoteToForecast['lane'],
  pricing: Pricing,
  place: Parameters<typeof expectedCost>[1],
): ForecastCost {
  const entered = lane.estimated_cost_cents ?? null
  const cents = entered === null ? null : onBasis(lane, entered, pricing)
  if (cents !== null && cents > 0) return { cents, from: 'entered' }
  const expected = expectedCost(pricing.costs, place)
  // The default curve is a shape of 2017, not a cost of this brokerage.
  if (expected === null || !(expected.ownCurve || expected.ownLoads > 0)) return noCost
  return { cents: Math.round(expected.costCents), from: 'expected' }
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

function numbersOf(
  forecast: OfferForecast,
): Omit<ForecastBody, 'model'> extends infer Body
  ? Pick<ForecastBody, keyof typeof noNumbers & keyof Body>
  : never {
  const { interval80, interval95, lane, all, optimum } = forecast
  const bestCents = optimum === null ? null : Math.round(optimum.flooredRateCents)
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
