import { fuelOfMiles } from '#engine/fuel-surcharge.ts'
import type { RateToCompare } from '#engine/market-history.ts'
import type { MarketRate } from '#engine/market-rate.ts'
import {
  type AmountConversion,
  amountConversion,
  convertedCents,
  type RateBasis,
} from '#engine/rate-basis.ts'
import { conversions, type DatedMarketRate, people } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'

/** The brokerage's default basis, and for each day the fuel surcharge and exchange rate that convert market rates to it. */
export interface RateConversions {
  readonly basis: RateBasis
  readonly days: ReadonlyMap<string, conversions.ConversionsOfDay>
}

/** A market rate, converted to US dollars on the brokerage's basis if possible, and how it was converted. */
export type ComparableRate<Row> = MarketRate & {
  readonly row: Row
  /** The rate in US dollars on the basis of the brokerage; null if it cannot be converted. */
  readonly comparedCents: number | null
  readonly convertedBy: AmountConversion['by']
}

/** The data that converts these rates. Days are read only if a rate is on another basis or in Canadian dollars. */
export async function rateConversions(
  transaction: TenantTransaction,
  tenant: TenantId,
  rates: Iterable<{ readonly basis?: unknown; readonly currency?: unknown }>,
): Promise<RateConversions> {
  const basis = await people.defaultBasisOf(transaction, tenant)
  for (const rate of rates) {
    if (rate.basis === basis && rate.currency !== 'CAD') continue
    return { basis, days: await conversions.conversionsByDay(transaction, tenant) }
  }
  return { basis, days: new Map() }
}

type RateRow = Pick<
  DatedMarketRate,
  'scope' | 'source' | 'basis' | 'kind' | 'currency' | 'mid_cents' | 'as_of'
> & {
  readonly [Name in 'low_cents' | 'high_cents' | 'fuel_cents' | 'sample' | 'valid_until']?:
    | DatedMarketRate[Name]
    | undefined
}

/**
 * Converts a saved market rate for the engine: the currency by the exchange rate of its day, and the basis by its own fuel charge,
 * else by the brokerage's surcharge of its day. A rate that cannot be converted is unchanged.
 *
 * @param miles of the lane; null if they are not known
 */
export function comparableRate<Row extends RateRow>(
  row: Row,
  { basis, days }: RateConversions,
  miles: number | null,
): ComparableRate<Row> {
  const { usdPerCad = null, millsPerMile = null } = days.get(row.as_of.toISOString().slice(0, 10)) ?? {}
  const scheduledFuelCents = millsPerMile === null || miles === null ? null : fuelOfMiles(millsPerMile, miles)
  const { currency, fuel_cents: fuelCents = null } = row
  const terms = { basis: row.basis, fuelCents, accessorialCents: null }
  const conversion =
    currency === 'USD' || currency === 'CAD'
      ? amountConversion({ ...terms, currency }, basis, { scheduledFuelCents, usdPerCad })
      : null
  const converted = (cents: number | null | undefined) =>
    conversion === null || cents === null || cents === undefined ? null : convertedCents(conversion, cents)
  const mid = converted(row.mid_cents)
  const common = {
    row,
    scope: row.scope,
    source: row.source,
    kind: row.kind,
    sample: row.sample ?? null,
    asOf: row.as_of.getTime(),
    validUntil: row.valid_until?.getTime() ?? null,
  }
  if (conversion === null || mid === null) {
    return {
      ...common,
      basis: row.basis,
      currency,
      lowCents: row.low_cents ?? null,
      midCents: row.mid_cents,
      highCents: row.high_cents ?? null,
      comparedCents: null,
      convertedBy: null,
    }
  }
  return {
    ...common,
    basis,
    currency: 'USD',
    lowCents: converted(row.low_cents),
    midCents: mid,
    highCents: converted(row.high_cents),
    comparedCents: mid,
    convertedBy: conversion.by,
  }
}

/** A saved market rate for all lanes of its areas: converted, or with a function that converts it by a lane's miles. */
export function rateToCompare(row: DatedMarketRate, conversions: RateConversions): RateToCompare<MarketRate> {
  const rate = comparableRate(row, conversions, null)
  const needsMiles =
    rate.basis !== conversions.basis &&
    (conversions.days.get(row.as_of.toISOString().slice(0, 10))?.millsPerMile ?? null) !== null
  return { rate, ofMiles: needsMiles ? (miles) => comparableRate(row, conversions, miles) : null }
}
