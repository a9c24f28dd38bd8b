import type { Coordinates } from '#engine/miles.ts'
import { foldCity, type Place } from '#engine/place.ts'
import { regionOf } from '#engine/regions.ts'
import type { KnownPlace } from '#geography/gazetteer.ts'
import { marketOf, postalArea } from '#geography/markets.ts'
import { placeCalled } from '#geography/other-names.ts'
import { statesMeantBy } from '#geography/state-codes.ts'

/** Where a place is. `key` and `state` are the known place's own, so that two spellings of one city agree on them. */
export interface LocatedPlace extends Coordinates {
  readonly key: string
  /** The city as people write it: `St. Louis`. */
  readonly city: string
  readonly state: string
  readonly country: 'US' | 'CA' | 'MX'
  /** `752`, in Canada `M5H`; null in Mexico and Puerto Rico. */
  readonly zip3: string | null
  /** People; 0 where unknown. */
  readonly population: number
  /** The market, named by its principal city: `Dallas, TX`. */
  readonly market: string
  readonly region: string | null
}

/**
 * The known place that a lane's end names, or null when none or more than one does. Other spellings of the same name are
 * understood (see `placeCalled`), typing errors are not, and the state is never left for another: only where two letters
 * stand for a state of Mexico as well (CO, MI, MO, BC, NL, CH ...) does the city decide between countries, and the United
 * States and Canada come first.
 *
 * @example locate(readPlace('saint louis, mo'))?.city // 'St. Louis'
 * @example locate(readPlace('Monterrey, NL'))?.state // 'NLE'
 * @example locate(readPlace('Dalas, TX')) // null
 */
export function locate(place: Pick<Place, 'city' | 'state'>): LocatedPlace | null {
  const folded = foldCity(place.city)
  for (const states of statesMeantBy(place.state)) {
    const found = states.flatMap((state) => placeCalled(folded, state) ?? [])
    if (found.length > 1) return null
    if (found[0]) return describe(found[0])
  }
  return null
}

const described = new WeakMap<KnownPlace, LocatedPlace>()

function describe(place: KnownPlace): LocatedPlace {
  const before = described.get(place)
  if (before) return before
  const { key, city, state, country, population, latitude, longitude } = place
  const located: LocatedPlace = {
    key,
    city,
    state,
    country,
    latitude,
    longitude,
    population,
    zip3: postalArea(place),
    market: marketOf(place),
    region: regionOf(state),
  }
  described.set(place, located)
  return located
}
