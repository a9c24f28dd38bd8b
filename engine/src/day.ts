const DAY_MILLISECONDS = 86_400_000

/**
 * The day of a time in epoch milliseconds: whole days since 1970 in UTC. The model has a resolution of one day, so all
 * estimates on the same day are equal, and a prepared model is valid until midnight.
 *
 * @example dayOf(Date.UTC(1970, 0, 2, 13)) // 1
 */
export function dayOf(moment: number): number {
  return Math.floor(moment / DAY_MILLISECONDS)
}
