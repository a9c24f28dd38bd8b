/**
 * The median: the middle value, or the mean of the middle two if the count is even. Null if there are no values.
 *
 * @example median([2200, 1800]) // 2000
 */
export function median(values: ArrayLike<number>): number | null {
  const sorted = Float64Array.from(values).sort()
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.ceil(sorted.length / 2) - 1]
  return upper === undefined || lower === undefined ? null : (lower + upper) / 2
}
