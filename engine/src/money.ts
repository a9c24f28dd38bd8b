/** The largest amount the service takes, in cents: $9,999,999.99. No truckload costs more; a larger figure is a slip. */
export const AMOUNT_CENTS_MAX = 999_999_999

/**
 * Whole cents of an amount in dollars, or null when it is not an amount of money: not finite, negative (minus zero
 * included), above $9,999,999.99, or with more than two decimals.
 *
 * The test is exact. A double with at most two decimals is the double nearest to some whole number of cents divided
 * by 100, so dividing back must give the very same double.
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
 * Dollars for the wire. Averages may carry a fraction of a cent: this is the one place where it is rounded away
 * (half a cent goes away from zero).
 *
 * @example dollarsFromCents(191000) // 1910
 * @example dollarsFromCents(206780.5) // 2067.81
 */
export function dollarsFromCents(cents: number): number {
  return roundToCent(cents) / 100
}

/** As `dollarsFromCents`; an amount nobody knows stays null. @example dollarsIfKnown(null) // null */
export function dollarsIfKnown(cents: number | null): number | null {
  return cents === null ? null : dollarsFromCents(cents)
}

/**
 * Dollars as a person reads them: thousands separated, cents only where there are some.
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
 * The nearest whole cent, half a cent away from zero, and never minus zero.
 *
 * @example roundToCent(-0.4) // 0
 */
export function roundToCent(cents: number): number {
  const size = Math.round(Math.abs(cents))
  return cents < 0 && size > 0 ? -size : size
}
