/**
 * The arithmetic mean, or null for no values.
 *
 * @example mean([2000, 2100, 2200]) // 2100
 */
export function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null
  let sum = 0
  for (const value of values) sum += value
  return sum / values.length
}
