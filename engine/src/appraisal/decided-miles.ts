/** A typed distance is used if it is within this share of the measured distance (25 % above or below). */
export const TYPED_MILES_SHARE = 0.25

/** The loaded miles of a quote as somebody typed them, and as the service measures them. Null if unknown. */
export interface KnownMiles {
  readonly typed: number | null
  readonly measured: number | null
}

/**
 * The distance that rule conditions, limits, costs and conversions use. A typed distance is often better than the measured one, but a typed
 * distance far from it could evade the rules. Such a distance counts only if none was measured.
 *
 * @example decidedMiles({ typed: 800, measured: 781 }) // 800
 * @example decidedMiles({ typed: 9000, measured: 781 }) // 781
 */
export function decidedMiles({ typed, measured }: KnownMiles): number | null {
  if (typed === null || measured === null) return measured ?? typed
  return Math.abs(typed - measured) <= TYPED_MILES_SHARE * measured ? typed : measured
}
