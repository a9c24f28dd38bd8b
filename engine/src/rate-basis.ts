import { usdCents } from './exchange-days.ts'
import { AMOUNT_CENTS_MAX, formatDollars } from './money.ts'

/**
 * Rates on one basis. A linehaul rate is the move alone; an all-in rate also contains fuel and accessorials. The two cannot
 * be compared as they are.
 */

export type RateBasis = 'linehaul' | 'all_in'
/** The bases in words. */
export const basisWords: Readonly<Record<RateBasis, string>> = { linehaul: 'linehaul', all_in: 'all-in' }
/** The currencies of amounts. Statistics are in US dollars. */
export type Currency = 'USD' | 'CAD'

/** What an amount includes, with its charges in whole cents. */
export interface AmountTerms {
  /** Null if it was not stated: the default basis is assumed. */
  readonly basis: RateBasis | null
  /** Null if it is not known. */
  readonly fuelCents: number | null
  /** Null if none are known. */
  readonly accessorialCents: number | null
  /** Null or absent: US dollars. */
  readonly currency?: Currency | null
}

export interface AmountOnBasis extends AmountTerms {
  readonly cents: number
}

/** The scheduled fuel surcharge and the exchange rate of a day, for amounts that do not state their own. Null if not known. */
export interface FuelAndExchange {
  /** The fuel surcharge for the quote's miles by the schedule. */
  readonly scheduledFuelCents: number | null
  readonly usdPerCad: number | null
}

/** For conversions by an amount's own charges only. */
export const ownChargesOnly: FuelAndExchange = { scheduledFuelCents: null, usdPerCad: null }

/** Converts amounts on the same terms to US dollars on another basis: the amount, times `times`, plus `plusCents`. */
export interface AmountConversion {
  readonly times: number
  /** The charges to add; negative if the wanted basis does not include them. Null if the amounts are on the wanted basis. */
  readonly plusCents: number | null
  readonly by: 'charges' | 'schedule' | 'exchange' | null
}

/**
 * The conversion of amounts to US dollars on the `wanted` basis: Canadian dollars by the exchange rate, and another basis by
 * the amount's own fuel charge, else by that of the schedule. Null if a needed charge or exchange rate is not known.
 *
 * @example amountConversion({ basis: 'linehaul', fuelCents: 30000, accessorialCents: null }, 'all_in')
 * // { times: 1, plusCents: 30000, by: 'charges' }
 */
export function amountConversion(
  { basis, fuelCents, accessorialCents, currency }: AmountTerms,
  wanted: RateBasis,
  { scheduledFuelCents, usdPerCad }: FuelAndExchange = ownChargesOnly,
): AmountConversion | null {
  const isCad = currency === 'CAD'
  const times = isCad ? usdPerCad : 1
  if (times === null) return null
  if (basis === null || basis === wanted) return { times, plusCents: null, by: isCad ? 'exchange' : null }
  const fuel = fuelCents === null ? scheduledFuelCents : usdCents(fuelCents, times)
  if (fuel === null) return null
  const charges = fuel + usdCents(accessorialCents ?? 0, times)
  return {
    times,
    plusCents: wanted === 'all_in' ? charges : -charges,
    by: isCad ? 'exchange' : fuelCents === null ? 'schedule' : 'charges',
  }
}

/** An amount after the conversion. Null if another basis would leave nothing of it, or more than the largest amount. */
export function convertedCents({ times, plusCents }: AmountConversion, cents: number): number | null {
  const converted = usdCents(cents, times) + (plusCents ?? 0)
  if (plusCents === null) return converted
  return converted > 0 && converted <= AMOUNT_CENTS_MAX ? converted : null
}

/** The amount that the conversion turns into `cents`. */
export function unconvertedCents({ times, plusCents }: AmountConversion, cents: number): number {
  return (cents - (plusCents ?? 0)) / times
}

/**
 * An amount in US dollars on the `wanted` basis, in whole cents. Null if it cannot be converted.
 *
 * @example comparableCents({ cents: 185000, basis: 'linehaul', fuelCents: 30000, accessorialCents: null }, 'all_in') // 215000
 * @example comparableCents({ cents: 185000, basis: 'linehaul', fuelCents: null, accessorialCents: null }, 'all_in') // null
 */
export function comparableCents(
  amount: AmountOnBasis,
  wanted: RateBasis,
  day: FuelAndExchange = ownChargesOnly,
): number | null {
  const conversion = amountConversion(amount, wanted, day)
  return conversion === null ? null : convertedCents(conversion, amount.cents)
}

/** The basis and the currency of the quoted rate, the estimated cost and their charges; null if not stated. */
export interface QuotedTerms {
  readonly basis: RateBasis | null
  readonly currency: Currency | null
}

/**
 * Terms to write behind an amount. Nothing for US dollars, or for a basis that was not stated.
 *
 * @example termsBehind({ basis: 'linehaul', currency: 'CAD' }) // ' CAD linehaul'
 * @example termsBehind({ basis: null, currency: null }) // ''
 */
export function termsBehind({ basis, currency }: QuotedTerms): string {
  const said = basis === null ? '' : { linehaul: ' linehaul', all_in: ' all-in' }[basis]
  return `${currency === 'CAD' ? ' CAD' : ''}${said}`
}

/** Whether an amount means the same on both terms. */
export function sameTerms(one: QuotedTerms, other: QuotedTerms, assumed: RateBasis): boolean {
  return (
    (one.basis ?? assumed) === (other.basis ?? assumed) &&
    (one.currency ?? 'USD') === (other.currency ?? 'USD')
  )
}

/** Whether charges fit their amount: the charges of an all-in amount are a part of it, so they must be smaller. */
export function chargesFit(amount: AmountOnBasis, assumed: RateBasis): boolean {
  const charges = (amount.fuelCents ?? 0) + (amount.accessorialCents ?? 0)
  return (amount.basis ?? assumed) === 'linehaul' || charges === 0 || charges < amount.cents
}

/** A fuel charge below `leastCents` is per mile, not per load. One above `mostTimesLinehaul` times the linehaul amount is in cents. */
export const FUEL_CHARGE_RULE = { leastCents: 200, mostTimesLinehaul: 5 } as const

/**
 * Why a fuel charge is in another unit than dollars per load; null if it is plausible. An amount that is converted with such a charge would
 * be wrong and look plausible.
 *
 * @param linehaulCents the amount without fuel; null if it is not known
 * @example fuelUnitFault(42, 170000) // 'must be dollars per load; $0.42 looks like dollars per mile'
 */
export function fuelUnitFault(fuelCents: number | null, linehaulCents: number | null): string | null {
  if (fuelCents === null || fuelCents === 0) return null
  const fuel = formatDollars(fuelCents)
  if (fuelCents < FUEL_CHARGE_RULE.leastCents) {
    return `must be dollars per load; ${fuel} looks like dollars per mile`
  }
  if (linehaulCents === null || fuelCents <= FUEL_CHARGE_RULE.mostTimesLinehaul * linehaulCents) return null
  return `must be dollars per load; ${fuel} looks like cents, because the linehaul amount is ${formatDollars(linehaulCents)}`
}

/** AR and AP in whole cents on one basis. */
export interface LandedAmounts {
  readonly revenueCents: number
  readonly costCents: number
  readonly basis: RateBasis
  readonly currency: Currency
}

/**
 * AR and AP: unconverted if they are on the same basis, else both on the default basis. Null if one of them cannot be converted, or
 * if their currencies differ.
 *
 * @example landedOnOneBasis(allIn(215000), allIn(179050), 'all_in')
 * // { revenueCents: 215000, costCents: 179050, basis: 'all_in', currency: 'USD' }
 */
export function landedOnOneBasis(
  revenue: AmountOnBasis,
  cost: AmountOnBasis,
  assumed: RateBasis,
): LandedAmounts | null {
  const currency = revenue.currency ?? 'USD'
  if (currency !== (cost.currency ?? 'USD')) return null
  const basis = revenue.basis ?? assumed
  if (basis === (cost.basis ?? assumed)) {
    return { revenueCents: revenue.cents, costCents: cost.cents, basis, currency }
  }
  const [revenueCents, costCents] = [comparableCents(revenue, assumed), comparableCents(cost, assumed)]
  return revenueCents === null || costCents === null
    ? null
    : { revenueCents, costCents, basis: assumed, currency }
}
