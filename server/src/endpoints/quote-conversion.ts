import { fuelOfMiles } from '#engine/fuel-surcharge.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import { conversions, fuel, type NewLane } from '../database/queries/index.ts'
import type { TenantId } from '../database/session/index.ts'
import type { Parts } from './parts.ts'

/** What the amounts of a quote include and their currency. Absent or null: what the brokerage assumes, and US dollars. */
export type QuotedOn = Pick<
  NewLane,
  'quoted_basis' | 'quoted_fuel_cents' | 'quoted_accessorials_cents' | 'quoted_currency'
>

/**
 * How amounts of a quote become amounts on the basis of the brokerage in US dollars: `times` the amount, `plusCents`. It is that
 * of today, because a quote that is being made has no other day.
 */
export interface QuoteConversion {
  readonly times: number
  readonly plusCents: number
  readonly by: 'charges' | 'schedule' | 'exchange' | null
}

const asItIs: QuoteConversion = { times: 1, plusCents: 0, by: null }

/** @returns null if the amounts cannot be converted: the fuel charge or the exchange rate of the day is not known */
export async function quoteConversion(
  {
    quoted,
    miles,
    customerName,
  }: { readonly quoted?: QuotedOn; readonly miles: number | null; readonly customerName: string | null },
  wanted: RateBasis,
  { tenant, now }: { readonly tenant: TenantId; readonly now: number },
  { database }: Pick<Parts, 'database'>,
): Promise<QuoteConversion | null> {
  const { quoted_basis: basis = null, quoted_fuel_cents: own = null } = quoted ?? {}
  const isOther = basis !== null && basis !== wanted
  const isCad = quoted?.quoted_currency === 'CAD'
  if (!isOther && !isCad) return asItIs
  const day = new Date(now).toISOString().slice(0, 10)
  const { usdPerCad, millsPerMile } = await database.inTenant(tenant, async (transaction) => ({
    usdPerCad: isCad ? await conversions.usdPerCadOn(transaction, tenant, day) : 1,
    millsPerMile:
      isOther && own === null ? (await fuel.fuelOfDay(transaction, tenant, customerName, day)).rate : null,
  }))
  if (usdPerCad === null) return null
  if (!isOther) return { times: usdPerCad, plusCents: 0, by: 'exchange' }
  // A charge is in the currency of the quote, and a schedule in US dollars.
  const fuelCents =
    own !== null
      ? own * usdPerCad
      : millsPerMile === null || miles === null
        ? null
        : fuelOfMiles(millsPerMile, miles)
  if (fuelCents === null) return null
  const charges = Math.round(fuelCents + (quoted?.quoted_accessorials_cents ?? 0) * usdPerCad)
  return {
    times: usdPerCad,
    plusCents: wanted === 'all_in' ? charges : -charges,
    by: isCad ? 'exchange' : own === null ? 'schedule' : 'charges',
  }
}

/** An amount after the conversion; null if there is none, or if nothing would be left. */
export function convertedCents(conversion: QuoteConversion | null, cents: number): number | null {
  if (conversion === null) return null
  const converted = Math.round(cents * conversion.times) + conversion.plusCents
  return converted > 0 ? converted : null
}

/** The amount that the conversion turns into `cents`. */
export function unconvertedCents({ times, plusCents }: QuoteConversion, cents: number): number {
  return (cents - plusCents) / times
}
