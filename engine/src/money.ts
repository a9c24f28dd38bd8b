/**
 * The largest amount the service accepts, in cents: $9,999,999.99. No truckload costs more; a larger amount is a
 * typo.
 */
export const AMOUNT_CENTS_MAX = 999_999_999

/**
 * Converts dollars to whole cents. Returns null if the amount is invalid: not finite, negative (including minus
 * zero), above $9,999,999.99, or with more than two decimals.
 *
 * The test for decimals is exact. A double with at most two decimals is the double nearest to a whole number of cents
 * divided by 100, so the division returns the same double.
 *
 * @example centsFromDollars(2140.5) // 214050
 * @example centsFromDollars(1.005) // null
 */
export function centsFromDollars(dollars: number): number | null {
  if (!Number.isFinite(dollars) || dollars < 0 || Object.is(dollars, -0)) return null
  const cents = Math.round(dollars * 100)
  if (cents > AMOUNT_CENTS_MAX || cents / 100 !== dollars) return null
  return cents
}

/**
 * Converts cents to dollars for API responses. A fraction of a cent, as in an average, is rounded here and nowhere
 * else (half a cent rounds away from zero).
 *
 * @example dollarsFromCents(191000) // 1910
 * @example dollarsFromCents(206780.5) // 2067.81
 */
export function dollarsFromCents(cents: number): number {
  return roundToCent(cents) / 100
}

/** Like `dollarsFromCents`, but null for an unknown amount. @example dollarsIfKnown(null) // null */
export function dollarsIfKnown(cents: number | null): number | null {
  return cents === null ? null : dollarsFromCents(cents)
}

/**
 * Formats cents as dollars for display: with thousands separators, and with cents only if the amount has any.
 *
 * @example formatDollars(214000) // '$2,140'
 * @example formatDollars(214050) // '$2,140.50'
 */
export function formatDollars(cents: number): string {
  const wholeCents = roundToCent(cents)
  const size = Math.abs(wholeCents)
  let dollars = Math.floor(size / 100)
  let thousands = ''
  while (dollars >= 1000) {
    thousands = `,${String(dollars % 1000).padStart(3, '0')}${thousands}`
    dollars = Math.floor(dollars / 1000)
  }
  const rest = size % 100
  const fraction = rest === 0 ? '' : `.${String(rest).padStart(2, '0')}`
  return `${wholeCents < 0 ? '-' : ''}$${dollars}${thousands}${fraction}`
}

/**
 * Rounds to the nearest whole cent. Half a cent rounds away from zero. Never returns minus zero.
 *
 * @example roundToCent(-0.4) // 0
 */
export function roundToCent(cents: number): number {
  const size = Math.round(Math.abs(cents))
  return cents < 0 && size > 0 ? -size : size
}
