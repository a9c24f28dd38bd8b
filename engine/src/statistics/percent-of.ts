import { roundHalfAway } from './round-half-away.ts'

/**
 * A part as a share of a whole, in percent with one decimal, a half away from zero; null of a whole of nothing.
 *
 * @example percentOf(17, 26) // 65.4
 */
export function percentOf(part: number, whole: number): number | null {
  return whole === 0 ? null : roundHalfAway((1000 * part) / whole, 0) / 10
}
