import { amountOrNull, type RateBasis } from '#engine/rate-basis.ts'
import { conversionsOfQuote, needsConversion, ownChargesOnly } from '../book/index.ts'
import type { NewLane } from '../database/queries/index.ts'
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
  { tenant, now }: { readonly tenant: TenantId; readonly now: number },
  { database }: Pick<Parts, 'database'>,
): Promise<QuoteConversion | null> {
  const { quoted_basis: basis = null, quoted_fuel_cents: own = null } = quote.quoted ?? {}
  const { customerName, miles } = quote
  const day = { customerName, miles, at: new Date(now) }
  const { scheduledFuelCents, usdPerCad } = needsConversion(basis, quote.quoted?.quoted_currency, wanted)
    ? (await database.inTenant(tenant, (transaction) => conversionsOfQuote(transaction, tenant, day))).rates
    : ownChargesOnly
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

/** An amount after the conversion; null if there is none, or as `amountOrNull` says. */
export function convertedCents(conversion: QuoteConversion | null, cents: number): number | null {
  if (conversion === null) return null
  return amountOrNull(Math.round(cents * conversion.times) + conversion.plusCents)
}

/** The amount that the conversion turns into `cents`. */
export function unconvertedCents({ times, plusCents }: QuoteConversion, cents: number): number {
  return (cents - plusCents) / times
}
