import { repeatedStop, stopsOf } from '#engine/load-stops.ts'
import { arePlausibleMiles, greatCircleMiles, sumOfLegs } from '#engine/miles.ts'
import { foldCity, type Place, readPlace, readState } from '#engine/place.ts'
import { type PartsRead, readPlaceParts } from '#geography/read-place.ts'
import { quoted } from '../csv/index.ts'
import type { KnownCells } from './known-cells.ts'
import { readGivenPlace } from './place-cells.ts'
import type { RowReader } from './row-reader.ts'

/** Whether a row names a place. One with a lane_ref is otherwise the booking or the outcome of that quote. */
export function hasPlaces(row: RowReader): boolean {
  return (['origin', 'destination'] as const).some((end) =>
    ([end, `${end}_city`, `${end}_zip`] as const).some((field) => row.text(field) !== null),
  )
}

/** The places of a route as the service knows them; null if one of them is unknown. */
function located(route: readonly Place[], known: KnownCells) {
  const places = route.map((place) => known.locate(place)).filter((place) => place !== null)
  return places.length < route.length ? null : places
}

/** The miles of a straight line from place to place; null if a place is unknown. */
export function straightMiles(route: readonly Place[], known: KnownCells): number | null {
  const places = located(route, known)
  return places === null ? null : sumOfLegs(places, greatCircleMiles)
}

/** The given miles, or null if they are not plausible along the route. Unknown places accept any miles. */
export function plausibleMiles(
  miles: number | null,
  route: readonly Place[],
  known: KnownCells,
): number | null {
  const places = located(route, known)
  if (miles === null || places === null) return miles
  return arePlausibleMiles(miles, ...places) ? miles : null
}

/** The places of a row from its origin to its destination. Adds an error if a stop is on the route twice. */
export function routeOf(
  row: RowReader,
  ends: readonly [Place, Place],
  stops: string | null,
  known: KnownCells,
): readonly Place[] {
  if (stops === null) return ends
  const names = stopsOf(stops)
  const between = names.flatMap((name) => readPlace(name) ?? [])
  const route = [ends[0], ...between, ends[1]]
  const again = repeatedStop(route.map((place) => known.locate(place)?.key ?? place.key))
  if (again !== null) {
    row.wrong('stops', `must have each place of the route once; ${quoted(names[again] ?? '')} is there twice`)
  }
  return route
}

/** Reads the place of pickup or delivery, from one column or from city, state and ZIP code. */
export function readEndpoint(row: RowReader, end: 'origin' | 'destination'): Place | null {
  const [city, state, zip] = [`${end}_city`, `${end}_state`, `${end}_zip`] as const
  if (row.text(end) !== null) return row.readCached(end, readGivenPlace)
  const cityText = row.text(city)
  // A state for all rows completes the cities that are written without one.
  const hasOwnState = row.isForAllRows(state) && cityText !== null && readPlace(cityText) !== null
  const parts = { city: cityText, state: hasOwnState ? null : row.text(state), zip: row.text(zip) }
  if (parts.city === null && parts.zip === null) {
    row.missing([city, zip].find((field) => row.has(field)) ?? end)
    return null
  }
  const site = parts.zip === null ? readSite(parts.city, parts.state) : null
  if (site !== null) return site
  const texts = [parts.city, parts.state, parts.zip].map((part) => (part ?? '').replace(/\s+/g, ' '))
  const read = row.known(readParts, texts.join('\n'))
  if ('value' in read) return read.value
  if (parts.city !== null && parts.state === null && parts.zip === null) row.missing(state)
  else {
    const field = { city, state, zip }[read.part]
    const said = read.part === 'state' ? [parts.state] : [parts.city, parts.state, parts.zip]
    row.wrong(
      field,
      `must be ${read.wrong}; it is ${quoted(said.filter((part) => part !== null).join(', '))}`,
    )
  }
  return null
}

/** Reads the parts of a place from one text, which is the key of the cache. */
function readParts(text: string): PartsRead {
  const [city = '', state = '', zip = ''] = text.split('\n')
  return readPlaceParts({ city: city || null, state: state || null, zip: zip || null })
}

/** Reads the site number that some exports have in place of a city. Such a load counts for its state, and is found by no city. */
function readSite(city: string | null, state: string | null): Place | null {
  const code = state === null ? null : readState(state)
  return code !== null && city !== null && /^\d{1,10}$/.test(city)
    ? { key: `${foldCity(city)}|${code}`, city, state: code }
    : null
}
