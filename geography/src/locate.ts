import type { Coordinates } from '#engine/miles.ts'
import { foldCity, type Place, readState } from '#engine/place.ts'
import { regionOf } from '#engine/regions.ts'
import type { KnownPlace } from '#geography/gazetteer.ts'
import { marketOf, postalArea } from '#geography/markets.ts'
import { placeCalled, placeInCountry } from '#geography/other-names.ts'
import { statesMeantBy } from '#geography/state-codes.ts'

/**
 * The location of a place. `key` and `state` are those of the known place, so they are equal for all spellings of a
 * city.
 */
export interface LocatedPlace extends Coordinates {
  readonly key: string
  /** The display name of the city: `St. Louis`. */
  readonly city: string
  readonly state: string
  readonly country: 'US' | 'CA' | 'MX'
  /** The postal area: `752`, in Canada `M5H`; null in Mexico and Puerto Rico. */
  readonly zip3: string | null
  /** Population; 0 if unknown. */
  readonly population: number
  /** The market, named after its principal city: `Dallas, TX`. */
  readonly market: string
  readonly region: string | null
}

/**
 * The known place for an origin or destination, or null if no place or more than one matches. Other spellings of a
 * name are recognized (see `placeCalled`), but typing errors are not. The state is never changed. If a two-letter
 * code also stands for a Mexican state (CO, MI, MO, BC, NL, CH ...), the city decides the country: US and Canadian
 * places are tried first.
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
  return place.state === 'MX' ? inMexico(folded) : null
}

/** The place of a name, with its state as in `monterrey nl` or without, after which MX is the country and no state. */
function inMexico(folded: string): LocatedPlace | null {
  const alone = placeInCountry('MX', folded)
  if (alone !== null) return describe(alone)
  const words = folded.split(' ')
  const state = words.length < 2 ? null : readState(words.at(-1) ?? '')
  if (state === null || state === 'MX') return null
  const located = locate({ city: words.slice(0, -1).join(' '), state })
  return located?.country === 'MX' ? located : null
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
