/** Clamps a number to a range. NaN stays NaN. @example clip(7, 0, 1) // 1 */
export function clip(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value))
}

/** Adds one array to another in place. */
export function addInto(target: Float64Array, term: Float64Array): void {
  for (let i = 0; i < target.length; i++) target[i]! += term[i]!
}

/** Returns the difference of two arrays as a new array. */
export function difference(from: Float64Array, term: Float64Array): Float64Array {
  const out = new Float64Array(from.length)
  for (let i = 0; i < out.length; i++) out[i] = from[i]! - term[i]!
  return out
}
