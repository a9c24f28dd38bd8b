import {
  type ConversionDays,
  type CountedAmounts,
  chargesOfDay,
  conversionDayOf,
  countedAmounts,
  type SentAmounts,
} from '#engine/counted-amounts.ts'
import { customerKey } from '#engine/customer-name.ts'
import type { AmountTerms, RateBasis } from '#engine/rate-basis.ts'
import type { QuoteRow } from '../../schema/index.ts'

/** The amounts of a quote that state what they include: the quoted rate (with the costs known then), AR, and AP. */
export const statedAmounts = ['quoted', 'customer', 'truck'] as const
export type StatedAmount = (typeof statedAmounts)[number]

/** The columns of an amount's basis, charges and currency. */
export type TermColumn<Of extends StatedAmount = StatedAmount> =
  `${Of}_${'basis' | 'fuel_cents' | 'accessorials_cents' | 'currency'}`

/** The columns of a quote with its amounts as they were sent, and with what they include. */
export const sentColumns = [
  ...statedAmounts.flatMap(
    (of) => [`${of}_basis`, `${of}_fuel_cents`, `${of}_accessorials_cents`, `${of}_currency`] as const,
  ),
  'quoted_rate_cents',
  'estimated_cost_cents',
  'expected_cost_cents',
  'expected_basis',
  'market_rate_cents',
  'customer_rate_cents',
  'truck_cost_cents',
] as const satisfies readonly (keyof QuoteRow)[]
export type SentColumn = (typeof sentColumns)[number]

/** The basis, charges and currency that an amount of a quote states. A column that the quote lacks counts as not stated. */
export function statedTerms<Of extends StatedAmount>(
  quote: { readonly [Column in TermColumn<Of>]?: QuoteRow[Column] | undefined },
  of: Of,
): AmountTerms {
  const columns: { readonly [Column in TermColumn]?: QuoteRow[Column] | undefined } = quote
  return {
    basis: columns[`${of}_basis`] ?? null,
    fuelCents: columns[`${of}_fuel_cents`] ?? null,
    accessorialCents: columns[`${of}_accessorials_cents`] ?? null,
    currency: columns[`${of}_currency`] ?? null,
  }
}

/** The amounts of a quote as they were sent. */
export function sentAmounts(quote: Pick<QuoteRow, SentColumn>): SentAmounts {
  return {
    quotedCents: quote.quoted_rate_cents,
    estimatedCents: quote.estimated_cost_cents,
    expectedCents: quote.expected_cost_cents,
    expectedBasis: quote.expected_basis ?? null,
    marketCents: quote.market_rate_cents,
    customerRateCents: quote.customer_rate_cents,
    truckCostCents: quote.truck_cost_cents,
    quoted: statedTerms(quote, 'quoted'),
    customer: statedTerms(quote, 'customer'),
    truck: statedTerms(quote, 'truck'),
  }
}

interface CountedBy {
  readonly basis: RateBasis
  readonly days: ConversionDays | null
  readonly miles: number | null
}

/** The columns of a quote that its amounts are converted from. */
export const countedColumns = [
  ...sentColumns,
  'quoted_customer_name',
  'origin_key',
  'destination_key',
  'miles',
  'created_at',
] as const
export type CountedColumn = (typeof countedColumns)[number]

/**
 * The amounts of a quote as statistics count them; null if one of them cannot be converted.
 *
 * @param miles the miles that count (see `decidedMiles`), not the stored ones; null if they are unknown
 */
export function countedQuote(
  quote: Pick<QuoteRow, CountedColumn>,
  { basis, days, miles }: CountedBy,
): CountedAmounts | null {
  return countedAmounts(sentAmounts(quote), basis, () =>
    chargesOfDay(days, {
      customerKey: customerKey(quote.quoted_customer_name),
      day: conversionDayOf(quote.created_at.getTime()),
      miles: miles ?? Number.NaN,
    }),
  )
}
