import { fuelOfMiles } from '#engine/fuel-surcharge.ts'
import type { AmountConversions, RateBasis } from '#engine/rate-basis.ts'
import { conversions, fuel, type NewLane } from '../database/queries/index.ts'
import type { TenantId } from '../database/session/index.ts'
import type { Parts } from './parts.ts'

/** What the amounts of a quote include and their currency. Absent or null: what the brokerage assumes, and US dollars. */
export type QuotedOn = Pick<
  NewLane,
  'quoted_basis' | 'quoted_fuel_cents' | 'quoted_accessorials_cents' | 'quoted_currency'
>

interface QuoteToConvert {
  readonly quoted?: QuotedOn | undefined
  readonly miles: number | null
  /** The customer, whose fuel schedule may apply. */
  readonly customerName: string | null
}

const nothingKnown: AmountConversions = { scheduledFuelCents: null, usdPerCad: null }

/** Whether the amounts of a quote are on the other basis or in Canadian dollars. */
function isOnOtherTerms({ quoted }: QuoteToConvert, wanted: RateBasis): boolean {
  return (quoted?.quoted_basis ?? wanted) !== wanted || quoted?.quoted_currency === 'CAD'
}

/** What the amounts of a quote are converted with today. Nothing is read for a quote that needs no conversion. */
export async function conversionsFor(
  quote: QuoteToConvert,
  wanted: RateBasis,
  { tenant, now }: { readonly tenant: TenantId; readonly now: number },
  { database }: Pick<Parts, 'database'>,
): Promise<AmountConversions> {
  if (!isOnOtherTerms(quote, wanted)) return nothingKnown
  const { customerName, miles } = quote
  return database.inTenant(tenant, async (transaction) => {
    const day = new Date(now).toISOString().slice(0, 10)
    const { rate: mills } = await fuel.fuelOfDay(transaction, tenant, customerName, day)
    return {
      scheduledFuelCents: mills === null || miles === null ? null : fuelOfMiles(mills, miles),
      usdPerCad: await conversions.usdPerCadOn(transaction, tenant, day),
    }
  })
}

/**
 * How any amount of a quote becomes one on the basis of the brokerage in US dollars, as `comparableCents` converts it: `times`
 * the amount, `plusCents`.
 */
export interface QuoteConversion {
  readonly times: number
  readonly plusCents: number
  readonly by: 'charges' | 'schedule' | 'exchange' | null
}

/** @returns null if the amounts cannot be converted: the fuel charge or the exchange rate of the day is not known */
export async function quoteConversion(
  quote: QuoteToConvert,
  wanted: RateBasis,
  at: { readonly tenant: TenantId; readonly now: number },
  parts: Pick<Parts, 'database'>,
): Promise<QuoteConversion | null> {
  const { scheduledFuelCents, usdPerCad } = await conversionsFor(quote, wanted, at, parts)
  const { quoted_basis: basis = null, quoted_fuel_cents: own = null } = quote.quoted ?? {}
  const isCad = quote.quoted?.quoted_currency === 'CAD'
  if (isCad && usdPerCad === null) return null
  const times = isCad ? (usdPerCad ?? 1) : 1
  if (basis === null || basis === wanted) return { times, plusCents: 0, by: isCad ? 'exchange' : null }
  const fuelCents = own === null ? scheduledFuelCents : own * times
  if (fuelCents === null) return null
  const charges = Math.round(fuelCents + (quote.quoted?.quoted_accessorials_cents ?? 0) * times)
  return {
    times,
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
