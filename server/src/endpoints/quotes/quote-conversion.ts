import {
  type AmountConversion,
  amountConversion,
  convertedCents,
  ownChargesOnly,
  type RateBasis,
} from '#engine/rate-basis.ts'
import { conversionsOfQuote, needsConversion, type QuotedOn, termsOfQuote } from '../../book/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import type { Parts } from '../parts.ts'

interface QuoteToConvert {
  readonly quoted?: QuotedOn | undefined
  readonly miles: number | null
  /** The customer, whose fuel schedule may apply. */
  readonly customerName: string | null
}

/**
 * How any amount of a quote becomes one on the basis of the brokerage in US dollars.
 *
 * @returns null if the amounts cannot be converted: the fuel charge or the exchange rate of the day is not known
 */
export async function quoteConversion(
  { quoted = {}, customerName, miles }: QuoteToConvert,
  wanted: RateBasis,
  { tenant, now }: { readonly tenant: TenantId; readonly now: number },
  { database }: Pick<Parts, 'database'>,
): Promise<AmountConversion | null> {
  const terms = termsOfQuote(quoted)
  const day = { customerName, miles, at: new Date(now) }
  const rates = needsConversion(terms.basis, terms.currency, wanted)
    ? (await database.inTenant(tenant, (transaction) => conversionsOfQuote(transaction, tenant, day))).rates
    : ownChargesOnly
  return amountConversion(terms, wanted, rates)
}

/** An amount after the conversion; null if it cannot be converted. */
export function inUsdOnBasis(conversion: AmountConversion | null, cents: number): number | null {
  return conversion === null ? null : convertedCents(conversion, cents)
}
