/** A typed distance is used if it differs from the measured one by at most this share of the measured one. */
export const TYPED_MILES_SHARE = 0.25

/** The loaded miles of a quote as somebody typed them, and as the service measures them. Null if unknown. */
export interface KnownMiles {
  readonly typed: number | null
  readonly measured: number | null
}

/**
 * The distance that decides conditions, limits, costs and conversions. A typed distance is often better than a measured one, but
 * one that is far from it would be a way around the rules: it counts only where nothing was measured.
 *
 * @example decidedMiles({ typed: 800, measured: 781 }) // 800
 * @example decidedMiles({ typed: 9000, measured: 781 }) // 781
 */
export function decidedMiles({ typed, measured }: KnownMiles): number | null {
  if (typed === null || measured === null) return measured ?? typed
  return Math.abs(typed - measured) <= TYPED_MILES_SHARE * measured ? typed : measured
}
