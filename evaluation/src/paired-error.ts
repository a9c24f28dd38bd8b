/** The error of a forecast, the error of a reference forecast, and the week in which both were made. */
export interface PairedError {
  readonly week: number
  readonly error: number
  readonly reference: number
}

/**
 * Whether a forecast is better than the reference: the mean difference of absolute errors, and its standard error. The forecasts of
 * a week share the market, so a week is one observation. Neighboring weeks share days, so `overlap` later weeks get Bartlett weights
 * (the test of Diebold and Mariano with the variance of Newey and West).
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
