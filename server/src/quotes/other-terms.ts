import { type QuotedTerms, type RateBasis, sameTerms } from '#engine/rate-basis.ts'
import type { NextValues } from '../database/queries/index.ts'
import type { QuoteRow } from '../database/schema/index.ts'

/** The basis and the currency of the quoted rate and the estimated cost of a quote. */
export function termsOf(quote: Pick<QuoteRow, 'quoted_basis' | 'quoted_currency'>): QuotedTerms {
  return { basis: quote.quoted_basis, currency: quote.quoted_currency }
}

/**
 * The columns that a new rate sets to null, because they were not sent with it and would be wrong on its terms: the estimated cost if
 * the basis or the currency is new; the rate's charges and the market rate if the currency is new. A change of the terms alone
 * removes nothing: it corrects the terms of the same amounts.
 *
 * @example removedByTerms(allInQuote, { quoted_rate_cents: 170000, quoted_basis: 'linehaul' }, 'all_in') // { estimated_cost_cents: null }
 */
export function removedByTerms(quote: QuoteRow, next: NextValues, assumed: RateBasis): NextValues {
  const rate = next.quoted_rate_cents
  if (rate === undefined || rate === quote.quoted_rate_cents) return {}
  const [before, after] = [termsOf(quote), termsOf({ ...quote, ...next } as QuoteRow)]
  if (sameTerms(before, after, assumed)) return {}
  const isOtherCurrency = !sameTerms({ ...before, basis: null }, { ...after, basis: null }, assumed)
  return {
    ...(next.estimated_cost_cents === undefined && quote.estimated_cost_cents !== null
      ? { estimated_cost_cents: null }
      : {}),
    ...(isOtherCurrency && next.market_rate_cents === undefined && quote.market_rate_cents !== null
      ? { market_rate_cents: null }
      : {}),
    ...(isOtherCurrency ? chargesNotSent(quote, next, 'quoted') : {}),
  }
}

const chargesOf = (of: 'quoted' | 'customer' | 'truck') =>
  [`${of}_fuel_cents`, `${of}_accessorials_cents`, `${of}_charges`] as const

/** Nulls for the charges of an amount that were not sent with it. */
function chargesNotSent(
  quote: QuoteRow,
  next: NextValues,
  of: 'quoted' | 'customer' | 'truck',
): Partial<Record<ReturnType<typeof chargesOf>[number], null>> {
  const [fuel, ...accessorials] = chargesOf(of)
  const absent = [
    ...(next[fuel] === undefined ? [fuel] : []),
    // Charges by name and their sum are replaced together.
    ...(accessorials.every((column) => next[column] === undefined) ? accessorials : []),
  ]
  return Object.fromEntries(absent.filter((column) => quote[column] !== null).map((column) => [column, null]))
}

/** Nulls for the charges that were not sent with a booked amount in a new currency. */
export function chargesInOtherCurrency(quote: QuoteRow, next: NextValues): NextValues {
  return Object.assign(
    {},
    ...(['customer', 'truck'] as const).map((of) => {
      const [amount, currency] = [
        of === 'customer' ? ('customer_rate_cents' as const) : ('truck_cost_cents' as const),
        `${of}_currency` as const,
      ]
      const isOther = (next[currency] ?? quote[currency] ?? 'USD') !== (quote[currency] ?? 'USD')
      return next[amount] !== undefined && isOther ? chargesNotSent(quote, next, of) : {}
    }),
  )
}
