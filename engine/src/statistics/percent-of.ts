import { roundHalfAway } from './round-half-away.ts'

/**
 * `part` as a percentage of `whole`, with one decimal. Halves round away from zero. Null if `whole` is 0.
 *
 * @example percentOf(17, 26) // 65.4
 */
export function percentOf(part: number, whole: number): number | null {
  return whole === 0 ? null : roundHalfAway((1000 * part) / whole, 0) / 10
}
