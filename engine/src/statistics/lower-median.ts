/**
 * The value in the middle, the lower of the middle two when the count is even, or null for no values. Unlike the plain
 * median it is always one of the values: a rate somebody was really quoted.
 *
 * @example lowerMedian([2200, 1800]) // 1800
 */
export function lowerMedian(values: readonly number[]): number | null {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.ceil(sorted.length / 2) - 1] ?? null
}
