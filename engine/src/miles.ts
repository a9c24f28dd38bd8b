/** A point on the map, in decimal degrees. */
export interface Coordinates {
  readonly latitude: number
  readonly longitude: number
}

/** The mean radius of the earth, in statute miles. */
const earthRadiusMiles = 3958.7613

/** What a haul within one city is taken to drive. */
export const sameCityMiles = 15

/**
 * Great-circle distance in statute miles, by the haversine formula.
 *
 * @example greatCircleMiles(dallas, atlanta) // 720.099739, with 32.7831, -96.8067 and 33.7490, -84.3880
 */
export function greatCircleMiles(a: Coordinates, b: Coordinates): number {
  const radians = Math.PI / 180
  const halfLatitude = ((b.latitude - a.latitude) * radians) / 2
  const halfLongitude = ((b.longitude - a.longitude) * radians) / 2
  const h =
    Math.sin(halfLatitude) ** 2 +
    Math.cos(a.latitude * radians) * Math.cos(b.latitude * radians) * Math.sin(halfLongitude) ** 2
  return 2 * earthRadiusMiles * Math.asin(Math.min(1, Math.sqrt(h)))
}

/**
 * Loaded road miles between two places, estimated from their great-circle distance.
 *
 * Roads wind more on short hauls: miles = gc (1.19 + 0.15 exp(-gc / 80)), see `docs/model.md`. The same point twice is a
 * haul within one city, taken as 15 miles. A mileage given with a quote is better than this and wins over it.
 *
 * @example roadMiles(dallas, atlanta) // 856.932003, with 32.7831, -96.8067 and 33.7490, -84.3880
 */
export function roadMiles(a: Coordinates, b: Coordinates): number {
  const direct = greatCircleMiles(a, b)
  if (direct === 0) return sameCityMiles
  return direct * (1.19 + 0.15 * Math.exp(-direct / 80))
}
