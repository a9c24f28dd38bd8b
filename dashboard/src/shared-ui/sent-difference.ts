import type { Quote } from '#contract/quote.ts'
import { type QuotedTerms, type RateBasis, sameTerms } from '#engine/rate-basis.ts'

interface SentAmount extends QuotedTerms {
  readonly amount: number | null
}

/**
 * The second amount minus the first one, in dollars; null if one is not known, or if they are on different bases or in different
 * currencies. `assumed` is the basis of an amount that does not state one.
 *
 * @example sentDifference(
 *   { amount: 2150, basis: null, currency: null }, { amount: 2070, basis: 'all_in', currency: 'USD' }, 'all_in') // -80
 */
export function sentDifference(before: SentAmount, after: SentAmount, assumed: RateBasis): number | null {
  if (before.amount === null || after.amount === null || !sameTerms(before, after, assumed)) return null
  return Math.round((after.amount - before.amount) * 100) / 100
}

/** Booked AR minus the quoted rate. @example bookedAgainstQuoted(lane, 'all_in') // -80 */
export function bookedAgainstQuoted(quote: Quote, assumed: RateBasis): number | null {
  return sentDifference(
    { amount: quote.quoted_rate, basis: quote.quoted_basis, currency: quote.quoted_currency },
    { amount: quote.customer_rate, basis: quote.customer_basis, currency: quote.customer_currency },
    assumed,
  )
}
