/**
 * Rounds to the given number of decimals. Halves round away from zero. Never returns minus zero.
 *
 * @example roundHalfAway(-1.25, 1) // -1.3
 */
export function roundHalfAway(value: number, decimals: number): number {
  const scale = 10 ** decimals
  const size = Math.round(Math.abs(value) * scale) / scale
  return value < 0 && size > 0 ? -size : size
}
