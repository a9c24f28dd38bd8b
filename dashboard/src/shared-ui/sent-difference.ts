import type { Lane } from '#contract/lane.ts'

interface SentAmount {
  readonly amount: number | null
  readonly basis: Lane['quoted_basis']
  readonly currency: Lane['quoted_currency']
}

/**
 * The second amount minus the first one, in dollars; null if one is not known, or if they do not say the same basis and
 * currency.
 *
 * @example sentDifference({ amount: 2150, basis: null, currency: null }, { amount: 2070, basis: null, currency: 'USD' }) // -80
 */
export function sentDifference(before: SentAmount, after: SentAmount): number | null {
  if (before.amount === null || after.amount === null) return null
  const isSame = before.basis === after.basis && (before.currency ?? 'USD') === (after.currency ?? 'USD')
  return isSame ? Math.round((after.amount - before.amount) * 100) / 100 : null
}

/** Booked AR minus the quoted rate. @example bookedAgainstQuoted(lane) // -80 */
export function bookedAgainstQuoted(lane: Lane): number | null {
  return sentDifference(
    { amount: lane.quoted_rate, basis: lane.quoted_basis, currency: lane.quoted_currency },
    { amount: lane.customer_rate, basis: lane.customer_basis, currency: lane.customer_currency },
  )
}
