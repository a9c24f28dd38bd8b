import { usdCents } from './exchange-days.ts'
import { fuelOfMiles } from './fuel-surcharge.ts'
import {
  type AmountTerms,
  comparableCents,
  type FuelAndExchange,
  ownChargesOnly,
  type RateBasis,
} from './rate-basis.ts'

/** The amounts of a quote as they were sent, in whole cents, with their terms. Null if unknown. */
export interface SentAmounts {
  readonly quotedCents: number
  readonly estimatedCents: number | null
  /** The truck cost expected from history, in US dollars. It is converted with the charges of the quote. */
  readonly expectedCents: number | null
  readonly expectedBasis: RateBasis | null
  readonly marketCents: number | null
  readonly customerRateCents: number | null
  readonly truckCostCents: number | null
  /**
   * The terms of the quoted rate and of the costs known then; `customer` and `truck`: those of AR (the customer rate) and AP (the truck
   * cost).
   */
  readonly quoted: AmountTerms
  readonly customer: AmountTerms
  readonly truck: AmountTerms
}

/** The amounts of a quote in US dollars on one basis, in whole cents. */
export interface CountedAmounts {
  readonly quotedCents: number
  /** The truck cost that the rep estimated. Null if it is unknown or cannot be converted. */
  readonly estimatedCents: number | null
  readonly expectedCents: number | null
  readonly marketCents: number | null
  readonly customerRateCents: number | null
  readonly truckCostCents: number | null
  readonly convertedBy: 'charges' | 'schedule' | 'exchange' | null
}

/** The scheduled fuel surcharges for the miles of a quote on its day, and the exchange rate of that day. */
export interface ChargesOfDay {
  /** For rates: the surcharge by the customer's schedule, else by the brokerage's. */
  readonly rates: FuelAndExchange
  /** For costs: the surcharge by the brokerage's schedule. */
  readonly costs: FuelAndExchange
}

/** Fuel surcharges and exchange rates by day (days since 1970), to convert amounts with. */
export interface ConversionDays {
  /** By the key of a customer: its fuel surcharges by day, in mills per mile. The key `''` has those of the brokerage. */
  readonly fuel: ReadonlyMap<string, ReadonlyMap<number, number>>
  /** US dollars per Canadian dollar. */
  readonly exchange: ReadonlyMap<number, number>
}

/** The day number of a quote, as in `ConversionDays`. @example conversionDayOf(86_400_000) // 1 */
export function conversionDayOf(quotedAt: number): number {
  return Math.floor(quotedAt / DAY_MS)
}
const DAY_MS = 86_400_000

/**
 * The scheduled surcharges and the exchange rate that convert the amounts of a quote. Without miles, there is no surcharge.
 *
 * @param quote `day` is a number of `conversionDayOf`, and unknown miles are NaN
 */
export function chargesOfDay(
  days: ConversionDays | null,
  { customerKey, day, miles }: { readonly customerKey: string; readonly day: number; readonly miles: number },
): ChargesOfDay {
  const millsOf = (key: string) => days?.fuel.get(key)?.get(day) ?? null
  return chargesOf(
    {
      fuelMillsPerMile: millsOf(customerKey) ?? millsOf(''),
      costMillsPerMile: millsOf(''),
      usdPerCad: days?.exchange.get(day) ?? null,
    },
    miles,
  )
}

/** The fuel surcharges and the exchange rate that apply to a quote on its day. Null where one is not known. */
export interface ConversionFactors {
  /** The surcharge of the customer's schedule, else of the brokerage's. */
  readonly fuelMillsPerMile: number | null
  /** The surcharge of the brokerage's schedule. */
  readonly costMillsPerMile: number | null
  readonly usdPerCad: number | null
}

/** @example chargesOf({ fuelMillsPerMile: 400, costMillsPerMile: null, usdPerCad: null }, 780).rates.scheduledFuelCents // 31200 */
export function chargesOf(
  { fuelMillsPerMile, costMillsPerMile, usdPerCad }: ConversionFactors,
  miles: number,
): ChargesOfDay {
  const charge = (mills: number | null) =>
    mills === null || Number.isNaN(miles) ? null : fuelOfMiles(mills, miles)
  return {
    rates: { scheduledFuelCents: charge(fuelMillsPerMile), usdPerCad },
    costs: { scheduledFuelCents: charge(costMillsPerMile), usdPerCad },
  }
}

/**
 * The amounts of a quote as statistics count them. Null if its quoted rate, its AR or its AP cannot be converted. The fuel schedule
 * and the exchange rate are only looked up if an amount needs them.
 */
export function countedAmounts(
  sent: SentAmounts,
  wanted: RateBasis,
  dayOf: () => ChargesOfDay,
): CountedAmounts | null {
  const { quoted, customer, truck } = sent
  const isOther = ({ basis }: AmountTerms) => basis !== null && basis !== wanted
  const lacksFuel = (terms: AmountTerms) => isOther(terms) && terms.fuelCents === null
  const isCad = ({ currency }: AmountTerms) => currency === 'CAD'
  const has = { customer: sent.customerRateCents !== null, truck: sent.truckCostCents !== null }
  const needsFuel =
    lacksFuel(quoted) || (lacksFuel(customer) && has.customer) || (lacksFuel(truck) && has.truck)
  const needsExchange = isCad(quoted) || (isCad(customer) && has.customer) || (isCad(truck) && has.truck)
  const day = needsFuel || needsExchange ? dayOf() : null
  const usdPerCad = needsExchange ? (day?.rates.usdPerCad ?? null) : null
  const charges = (of: FuelAndExchange | undefined): FuelAndExchange => ({
    scheduledFuelCents: needsFuel ? (of?.scheduledFuelCents ?? null) : null,
    usdPerCad,
  })
  const [rates, costs] =
    day === null ? [ownChargesOnly, ownChargesOnly] : [charges(day.rates), charges(day.costs)]
  const converted = (cents: number | null, terms: AmountTerms, of: FuelAndExchange) =>
    cents === null ? null : comparableCents({ ...terms, cents }, wanted, of)
  const quotedCents = converted(sent.quotedCents, quoted, rates)
  const customerRateCents = converted(sent.customerRateCents, customer, rates)
  const truckCostCents = converted(sent.truckCostCents, truck, costs)
  if (
    quotedCents === null ||
    (has.customer && customerRateCents === null) ||
    (has.truck && truckCostCents === null)
  ) {
    return null
  }
  return {
    quotedCents,
    estimatedCents: converted(sent.estimatedCents, quoted, rates),
    expectedCents: expectedOnBasis(sent, wanted, costs),
    marketCents: converted(sent.marketCents, { ...quoted, basis: null }, rates),
    customerRateCents,
    truckCostCents,
    convertedBy: needsExchange
      ? 'exchange'
      : needsFuel
        ? 'schedule'
        : isOther(quoted) || isOther(customer) || isOther(truck)
          ? 'charges'
          : null,
  }
}

/** Converts an expected cost (US dollars) with the charges of the quote. If the quote states no basis, the cost is unchanged. */
function expectedOnBasis(
  { expectedCents, expectedBasis, quoted }: SentAmounts,
  wanted: RateBasis,
  costs: FuelAndExchange,
): number | null {
  if (expectedCents === null || quoted.basis === null || expectedBasis === null) return expectedCents
  const inUsd = (cents: number | null) =>
    cents === null || quoted.currency !== 'CAD'
      ? cents
      : costs.usdPerCad === null
        ? null
        : usdCents(cents, costs.usdPerCad)
  const terms = {
    cents: expectedCents,
    basis: expectedBasis,
    fuelCents: inUsd(quoted.fuelCents),
    accessorialCents: inUsd(quoted.accessorialCents),
  }
  return comparableCents(terms, wanted, costs)
}
