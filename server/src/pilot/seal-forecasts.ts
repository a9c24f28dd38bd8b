import type { Appraisal } from '#engine/appraisal/appraisal.ts'
import { identityOf } from '#engine/book/quote-book.ts'
import { dayOf } from '#engine/estimate/day.ts'
import { chanceOn } from '#engine/estimate/optimum.ts'
import { outcomesBehind } from '#engine/estimate/outcomes-behind.ts'
import type { StoredOutcome } from '#engine/history.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import type { ForecastBody } from '#engine/pilot/pilot-entries.ts'
import { forecastLateAfterMs, quotedAs } from '#engine/pilot/pilot-entries.ts'
import {
  appraiser,
  type LaneToAppraise,
  namedCustomer,
  type Pricing,
  placedAs,
  type QuotedFor,
  termsOfQuote,
} from '../book/index.ts'
import {
  appendPilotEntries,
  findPilot,
  type NewLane,
  type QuotedAmountColumn,
} from '../database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
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
  readonly lane: LaneToAppraise & Pick<NewLane, QuotedAmountColumn>
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
  const appraisals = await appraisalsOf(transaction, tenant, { pricing, now }, quotes)
  const entries = quotes.map((quote, index) => ({
    kind: 'forecast' as const,
    laneId: quote.laneId,
    body: forecastBody(quote, appraisals[index] ?? null, { pricing, now }),
  }))
  await appendPilotEntries(transaction, tenant, now, entries)
}

/** The appraisals of quotes, as the quote desk has them; null without the book. */
async function appraisalsOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  { pricing, now }: { readonly pricing: Pricing | null; readonly now: number },
  quotes: readonly QuoteToForecast[],
): Promise<(Appraisal | null)[]> {
  if (pricing === null || pricing.book === null) return quotes.map(() => null)
  const read = <Value>(work: (inside: TenantTransaction) => Promise<Value>) => work(transaction)
  const appraisalOf = appraiser(pricing, { tenant, now, read })
  const customers = new Map<string | null, Awaited<ReturnType<typeof namedCustomer>>>()
  const appraisals = []
  for (const { lane, createdAt, quotedFor } of quotes) {
    const { customerName: name } = quotedFor
    if (!customers.has(name)) customers.set(name, await namedCustomer(name, pricing, tenant, read))
    appraisals.push(
      await appraisalOf({
        lane,
        quotedFor,
        quoted: lane,
        enteredCents: lane.estimated_cost_cents ?? null,
        at: createdAt,
        customer: customers.get(name) ?? null,
      }),
    )
  }
  return appraisals
}

/** Probabilities are recorded with six decimals: the scores are computed from what is recorded. */
const six = (share: number) => Math.round(share * 1e6) / 1e6

function forecastBody(
  quote: QuoteToForecast,
  appraisal: Appraisal | null,
  { pricing, now }: { readonly pricing: Pricing | null; readonly now: number },
): ForecastBody {
  const { lane } = quote
  const offer = appraisal?.at(lane.quoted_rate_cents) ?? null
  const rateCents = appraisal === null ? lane.quoted_rate_cents : (offer?.rateCents ?? null)
  const isKnown = appraisal !== null && offer !== null && offer.chance !== null
  const none = appraisal === null ? 'not_computed' : rateCents === null ? 'other_basis' : 'no_quotes'
  return {
    lane_ref: quote.laneRef,
    external_id: quote.externalId,
    lane: identityOf(placedAs(lane).lane).key,
    rep: quote.rep,
    quoted_at: quote.quotedAt.toISOString(),
    quoted_as: quotedAs(lane.quoted_rate_cents, termsOfQuote(lane)),
    basis: appraisal === null ? null : (pricing?.settings.basis ?? null),
    rate: dollarsIfKnown(rateCents),
    cost: dollarsIfKnown(appraisal?.cost?.cents ?? null),
    cost_from: appraisal?.cost?.source ?? null,
    ...(isKnown ? numbersOf(appraisal, offer.chance) : noNumbers),
    model: modelVersion,
    experiment: isKnown ? experimentOf(appraisal, now) : null,
    late: lateness(quote, now),
    no_forecast: isKnown ? null : none,
  }
}

/** The suggestion that the quote desk had for this lane today, if an experiment runs. */
function experimentOf(
  { suggestion }: Appraisal,
  now: number,
): NonNullable<ForecastBody['experiment']> | null {
  return suggestion === null
    ? null
    : { arm: suggestion.arm, rate: suggestion.rateCents / 100, day: dayOf(now) }
}

function lateness({ outcome, quotedAt }: QuoteToForecast, now: number): ForecastBody['late'] {
  if (outcome !== 'pending') return 'decided_before'
  return now - quotedAt.getTime() > forecastLateAfterMs ? 'quoted_long_before' : null
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

type Numbers =
  Omit<ForecastBody, 'model'> extends infer Body
    ? Pick<ForecastBody, keyof typeof noNumbers & keyof Body>
    : never

/** The numbers of a forecast. The best rate is within the rules, without their target, as on the quote desk. */
function numbersOf(
  { lane, models, belief, rates }: Appraisal,
  { probability, interval80, interval95 }: NonNullable<ReturnType<Appraisal['at']>['chance']>,
): Numbers {
  if (belief === null || models === null) return noNumbers
  const behind = outcomesBehind(models.estimator, lane)
  const chanceAt = chanceOn(belief)
  const bestCents = rates.best?.rateCents ?? null
  return {
    probability: six(probability),
    interval_80: [six(interval80.low), six(interval80.high)],
    interval_95: [six(interval95.low), six(interval95.high)],
    lane_won: behind.lane.won,
    lane_decided: behind.lane.decided,
    all_won: behind.all.won,
    all_decided: behind.all.decided,
    going_rate: dollarsFromCents(belief.referenceCents),
    probability_at_going: six(chanceAt(belief.referenceCents)),
    best_rate: dollarsIfKnown(bestCents),
    probability_at_best: bestCents === null ? null : six(chanceAt(bestCents)),
  }
}
