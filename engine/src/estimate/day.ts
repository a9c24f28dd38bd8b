const DAY_MILLISECONDS = 86_400_000

/**
 * The model's day of a moment: whole days since 1970 in UTC. The estimate knows days, not hours, so every answer of one
 * day is the same and a prepared model serves until midnight.
 *
 * @example dayOf(Date.UTC(1970, 0, 2, 13)) // 1
 */
export function dayOf(moment: number): number {
  return Math.floor(moment / DAY_MILLISECONDS)
}
