import { Problem } from '#contract/errors.ts'
import {
  type Appraisal,
  type AppraisalSettings,
  appraise,
  expectedOf,
  type QuoteToAppraise,
} from '#engine/appraisal/appraisal.ts'
import type { DayCharges, ShownAppraisal } from '#engine/appraisal/shown-appraisal.ts'
import type { ExpectedCost } from '#engine/estimate/expected-cost.ts'
import type { OfferCustomer } from '#engine/estimate/lane-win-curve.ts'
import { isOwnCost } from '#engine/estimate/own-cost.ts'
import type { ModelsByType } from '#engine/estimate/prepared-models.ts'
import { isDirect } from '#engine/load-mode.ts'
import { AMOUNT_CENTS_MAX } from '#engine/money.ts'
import type { RateType } from '#engine/rate-type.ts'
import {
  type CostColumn,
  customers,
  defaultsOf,
  type ExpectedColumn,
  type NewQuote,
  pricingRules,
} from '../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'
import { milesBetweenKeys } from '../quotes/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import type { Books } from './books.ts'
import type { BrokerageBook, EffectsByType } from './brokerage-book.ts'
import { dayRatesOf, needsConversion, type QuotedOn, termsOfQuote } from './quote-conversions.ts'
import { asksForParties, namedParties, partiesIn, type QuotedFor } from './quote-facts.ts'

/** The book and the settings of a brokerage, read at one moment, from which quotes are appraised. */
export interface Pricing {
  /** Null if the book does not fit into memory: quotes then have no expected cost, no warnings and no forecast. */
  readonly book: (ModelsByType & { readonly quotes: BrokerageBook }) | null
  readonly settings: AppraisalSettings
}

/** Reads the book and the settings. If the book does not fit into memory, the settings come from the database. */
export async function pricingOf(
  { books, database }: { readonly books: Books<BrokerageBook>; readonly database: Database },
  tenant: TenantId,
  now: number,
): Promise<Pricing> {
  const open = await books.read(tenant).catch((error: unknown) => {
    if (error instanceof Problem) return null
    throw error
  })
  if (open !== null) {
    return { book: { ...(await open.quotes.advice(now)), quotes: open.quotes }, settings: open.settings }
  }
  return database.inTenant(tenant, async (transaction) => ({
    book: null,
    settings: {
      rules: pricingRules.rulesInForce(await pricingRules.readRules(transaction, tenant)),
      ...(await defaultsOf(transaction, tenant)),
    },
  }))
}

/** Reads from the brokerage's tables: in a transaction of its own, or in the one that saves the quotes. */
export type Reader = <Value>(read: (transaction: TenantTransaction) => Promise<Value>) => Promise<Value>

/** The lane of a quote to appraise, as columns of the database. */
export type LaneInColumns = Pick<
  NewQuote,
  'origin_market' | 'destination_market' | Exclude<CostColumn, 'equipment_code'>
> &
  Partial<Pick<QuoteRow, 'mode' | 'stops'>> & { readonly equipment_code: string | null }

/** A quote to appraise, in the form of the database: `appraiser` makes a `QuoteToAppraise` of it. */
interface QuoteInColumns {
  readonly lane: LaneInColumns
  readonly quotedFor: QuotedFor
  /** Its miles as the service measures them; absent if they were not measured yet. */
  readonly measured?: number | null
  /** The basis, charges and currency of its amounts; absent if none was stated. */
  readonly quoted?: QuotedOn | undefined
  readonly enteredCents: number | null
  /** The day by whose fuel price and exchange rate its amounts are converted; absent: today. */
  readonly at?: Date | undefined
  /** Null: the appraisal is for no particular customer. */
  readonly customer: NamedCustomer | null
  /** The appraisal that a person saw, to judge the quote by it; absent: by current quotes and rules. */
  readonly shown?: ShownAppraisal | undefined
}

/**
 * Returns a function that appraises quotes of a brokerage. It reads tables only with `read`, and most quotes need none. A load that is
 * no direct truckload is appraised without a book, because no lane's history is that of such loads: it has the limits of the rules.
 */
export function appraiser(
  pricing: Pricing,
  { tenant, now, read }: { readonly tenant: TenantId; readonly now: number; readonly read: Reader },
): (quote: QuoteInColumns) => Promise<Appraisal> {
  const { book, settings } = pricing
  return async (quote) => {
    const { lane, measured, quotedFor, quoted = {}, enteredCents, at = new Date(now), customer } = quote
    const terms = termsOfQuote(quoted)
    const input: QuoteToAppraise = {
      ...placedAs(lane, measured),
      parties: asksForParties(settings.rules)
        ? await read((transaction) => partiesIn(transaction, tenant, settings.rules, quotedFor))
        : namedParties(quotedFor),
      customer: customerFor(customer, quotedFor.rateType ?? settings.rateType),
      terms,
      day: needsConversion(terms.basis, terms.currency, settings.basis)
        ? await read((transaction) =>
            dayRatesOf(transaction, tenant, { customerName: quotedFor.customerName, at }),
          )
        : noDayRates,
      enteredCents,
      shown: quote.shown ?? null,
      now,
    }
    // A lane with many quotes takes long, so the work yields between steps.
    return yieldBetweenSteps(appraise(isDirect(lane) ? book : null, settings, input))
  }
}

const noDayRates: DayCharges = { fuelMillsPerMile: null, usdPerCad: null }

/** The lane and the miles of a quote to appraise, from its columns. */
export function placedAs(
  lane: LaneInColumns,
  measured: number | null = milesBetweenKeys(lane.origin_key, lane.destination_key, lane.stops),
): Pick<QuoteToAppraise, 'lane' | 'miles'> {
  return {
    lane: {
      originKey: lane.origin_key,
      destinationKey: lane.destination_key,
      originState: lane.origin_state,
      destinationState: lane.destination_state,
      originMarket: lane.origin_market ?? null,
      destinationMarket: lane.destination_market ?? null,
      equipmentCode: lane.equipment_code,
    },
    miles: { typed: lane.miles ?? null, measured },
  }
}

/** The customer of a quote, and every customer's effect on the win probability. */
export interface NamedCustomer {
  readonly name: string
  /** Null for an unknown customer. */
  readonly hash: number | null
  /** True if the customer is hidden from the current person. Then it is treated as unknown. */
  readonly isHidden: boolean
  /** Null without a book. */
  readonly effects: EffectsByType | null
}

/** The customer with the effects for one rate type; null if the offer is for no particular customer. */
function customerFor(customer: NamedCustomer | null, rateType: RateType): OfferCustomer | null {
  if (customer === null || customer.effects === null) return null
  return { hash: customer.hash, effects: customer.effects[rateType] }
}

/** The customer of a quote. Null if none is named. */
export async function namedCustomer(
  name: string | null | undefined,
  { book }: Pick<Pricing, 'book'>,
  tenant: TenantId,
  read: Reader,
): Promise<NamedCustomer | null> {
  if (name === undefined || name === null) return null
  const found = await read((transaction) => customers.hashedCustomer(transaction, tenant, name))
  const { isHidden } = found
  return {
    name: isHidden ? name.trim() : (found.name ?? name.trim()),
    hash: isHidden ? null : found.hash,
    isHidden,
    effects: book === null ? null : await book.quotes.customerEffects(book, new Map(found.merged)),
  }
}

type CostExpected = Pick<NewQuote, ExpectedColumn>

/** The expected truck cost of a quote, from its appraisal, in the columns of the quote. */
export function costColumns(
  expected: ExpectedCost | null,
  { settings }: Pick<Pricing, 'settings'>,
): CostExpected {
  if (!isOwnCost(expected)) return {}
  const kept = (cents: number) => Math.min(AMOUNT_CENTS_MAX, cents)
  return {
    expected_cost_cents: kept(expected.costCents),
    expected_cost_low_cents: kept(expected.lowCents),
    expected_cost_high_cents: kept(expected.highCents),
    expected_basis: settings.basis,
  }
}

/** The expected truck cost of a quote that is not appraised. A load that is no direct truckload has none. */
export function costExpected(
  pricing: Pricing | null,
  lane: LaneInColumns & Pick<NewQuote, 'rate_type'>,
): CostExpected {
  if (pricing === null) return {}
  const { book, settings } = pricing
  if (book === null || !isDirect(lane)) return {}
  const quote = { ...placedAs(lane), rateType: lane.rate_type ?? settings.rateType }
  return costColumns(expectedOf(book, quote), pricing)
}
