import { arePlausibleMiles, greatCircleMiles } from '#engine/miles.ts'
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

/** The miles of a straight line; null if a place is unknown. */
export function milesBetween(
  [origin, destination]: readonly [Place, Place],
  known: KnownCells,
): number | null {
  const [from, to] = [known.locate(origin), known.locate(destination)]
  return from === null || to === null ? null : greatCircleMiles(from, to)
}

/** The given miles, or null if they are not plausible between the places. Unknown places accept any miles. */
export function plausibleMiles(
  miles: number | null,
  [origin, destination]: readonly [Place, Place],
  known: KnownCells,
): number | null {
  const [from, to] = [known.locate(origin), known.locate(destination)]
  if (miles === null || from === null || to === null) return miles
  return arePlausibleMiles(miles, from, to) ? miles : null
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
