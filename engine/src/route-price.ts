/** A leg of a route: a direct lane between two of its stops. Null if it is not known. */
export interface RouteLeg {
  readonly miles: number | null
  /** What a direct truckload on it is quoted at, in whole cents. */
  readonly rateCents: number | null
}

/** An amount of a price: `times` times `eachCents`, in whole cents. `leg` is the number of the leg, from 0; null for the stop fee. */
export interface RoutePart {
  readonly leg: number | null
  readonly times: number
  readonly eachCents: number
  readonly cents: number
}

/**
 * How a load with stops is priced. `sum_of_legs`: what its legs are quoted at as direct loads. `longest_leg_plus_stop_fee`: what its
 * longest leg is quoted at, and a fee for each stop between origin and destination, for a load whose other legs are short.
 */
export type RouteMethod = 'sum_of_legs' | 'longest_leg_plus_stop_fee'

export interface RoutePrice {
  readonly method: RouteMethod
  readonly parts: readonly RoutePart[]
  /** The sum of the parts, to the cent. */
  readonly totalCents: number
}

const part = (leg: number | null, times: number, eachCents: number): RoutePart => ({
  leg,
  times,
  eachCents,
  cents: times * eachCents,
})

function priced(method: RouteMethod, parts: readonly RoutePart[]): RoutePrice {
  return { method, parts, totalCents: parts.reduce((sum, { cents }) => sum + cents, 0) }
}

/**
 * The prices of a load with stops, by each method that can price it: the sum of legs needs the rate of every leg, and the other one the
 * miles of every leg and the rate of the longest. Of legs with the same miles, the dearest is the longest.
 *
 * @param stopFeeCents for each stop between origin and destination: one less than there are legs. Null if it is not known: then there
 * is no price with it
 * @example
 * routePrices([{ miles: 450, rateCents: 120000 }, { miles: 210, rateCents: 80050 }], 7500).map(({ totalCents }) => totalCents)
 * // [200050, 127500]
 */
export function routePrices(legs: readonly RouteLeg[], stopFeeCents: number | null): RoutePrice[] {
  const rates = legs.flatMap(({ rateCents }, leg) => (rateCents === null ? [] : [part(leg, 1, rateCents)]))
  const sum = rates.length === legs.length ? [priced('sum_of_legs', rates)] : []
  const longest = longestOf(legs)
  const rate = rates.find(({ leg }) => leg === longest)
  if (rate === undefined || stopFeeCents === null) return sum
  return [...sum, priced('longest_leg_plus_stop_fee', [rate, part(null, legs.length - 1, stopFeeCents)])]
}

/** The number of the longest leg; null if the miles of a leg are not known. */
function longestOf(legs: readonly RouteLeg[]): number | null {
  let longest = 0
  for (const [leg, { miles, rateCents }] of legs.entries()) {
    const best = legs[longest]
    if (miles === null || best === undefined || best.miles === null) return null
    if (miles > best.miles || (miles === best.miles && (rateCents ?? 0) > (best.rateCents ?? 0)))
      longest = leg
  }
  return longest
}
