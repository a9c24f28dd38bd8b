/**
 * One number of a list whose index the caller's loop has already shown to be inside it.
 *
 * The compiler cannot see loop bounds; this says in one place that they were looked at, instead of a made-up default
 * at every read.
 *
 * @example at(new Float64Array([3, 4]), 1) // 4
 */
export function at(values: Float64Array | Uint16Array | readonly number[], index: number): number {
  return values[index] as number
}

/** A number pushed into a range. NaN stays NaN. @example clip(7, 0, 1) // 1 */
export function clip(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value))
}

/** Adds one list to another, element by element, in place. */
export function addInto(target: Float64Array, term: Float64Array): void {
  for (let i = 0; i < target.length; i++) target[i] = at(target, i) + at(term, i)
}

/** One list less another, as a new list. */
export function difference(from: Float64Array, term: Float64Array): Float64Array {
  const out = new Float64Array(from.length)
  for (let i = 0; i < out.length; i++) out[i] = at(from, i) - at(term, i)
  return out
}
