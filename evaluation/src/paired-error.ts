/** The absolute error of a forecast beside that of a reference, and the week in which both were made. */
export interface PairedError {
  readonly week: number
  readonly error: number
  readonly reference: number
}

/**
 * The mean difference of absolute errors, and its standard error. Forecasts of one week share the market, and those of
 * neighboring weeks share days, so weeks count as one observation each, with Bartlett weights for `overlap` later weeks (the
 * test of Diebold and Mariano with the variance of Newey and West).
 *
 * @example pairedDifference([{ week: 0, error: 0.1, reference: 0.2 }], 1).difference // -0.1
 */
export function pairedDifference(
  pairs: readonly PairedError[],
  overlap: number,
): { difference: number; standardError: number } {
  const gains = pairs.map(({ week, error, reference }) => ({
    week,
    gain: Math.abs(error) - Math.abs(reference),
  }))
  const difference = gains.reduce((sum, { gain }) => sum + gain, 0) / gains.length
  const weeks = new Map<number, number>()
  for (const { week, gain } of gains) weeks.set(week, (weeks.get(week) ?? 0) + gain - difference)
  let variance = 0
  for (const [week, sum] of weeks) {
    variance += sum * sum
    for (let later = 1; later <= overlap; later++)
      variance += 2 * (1 - later / (overlap + 1)) * sum * (weeks.get(week + later) ?? 0)
  }
  return { difference, standardError: Math.sqrt(Math.max(0, variance)) / gains.length }
}
