/** The stops between origin and destination. With these two, a load has 2 to 12 stops. */
export const STOPS_MAX = 10

/**
 * Stops as they are saved: places in the order of the route. Null if there are none.
 *
 * @example stopsText(['Memphis, TN', 'Nashville, TN']) // 'Memphis, TN; Nashville, TN'
 */
export function stopsText(places: readonly string[]): string | null {
  return places.length === 0 ? null : places.join('; ')
}

/** The places of saved stops. @example stopsOf('Memphis, TN; Nashville, TN') // ['Memphis, TN', 'Nashville, TN'] */
export function stopsOf(text: string | null | undefined): string[] {
  return text == null ? [] : text.split('; ')
}

/**
 * The number of the first stop that is also an earlier stop, the origin or the destination, from 0; null if each place is there once.
 * Two stops in one city are one stop: a route is a list of cities. Origin and destination may be the same city.
 *
 * @param keys of the origin, the stops and the destination
 * @example repeatedStop(['dallas|TX', 'memphis|TN', 'memphis|TN', 'atlanta|GA']) // 1
 */
export function repeatedStop(keys: readonly string[]): number | null {
  const stops = keys.slice(1, -1)
  const at = stops.findIndex((key, nth) => key === keys[0] || key === keys.at(-1) || stops.indexOf(key) < nth)
  return at < 0 ? null : at
}
