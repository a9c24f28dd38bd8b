import { type Coordinates, greatCircleMiles } from '#engine/miles.ts'
import { foldCity } from '#engine/place.ts'
import {
  type CityRow,
  type PrefixRow,
  readCanadianPrefixes,
  readCities,
  readZips,
  type ZipRow,
} from '#geography/data-files.ts'
import { industrialPlaces } from '#geography/industrial-places.ts'
import { stateOfAdminCode } from '#geography/state-codes.ts'

/** A known place. `key` is the normalized city and the state, as in `Place` of the engine. */
export interface KnownPlace extends Coordinates {
  readonly key: string
  readonly folded: string
  /** The display name: `St. Louis`. */
  readonly city: string
  /** The city as it is in market names. Quotes are saved with market names, so this name does not change when `city` does. */
  readonly marketCity: string
  readonly state: string
  readonly country: 'US' | 'CA' | 'MX'
  /** Population; 0 if only the postal data contain the place. */
  readonly population: number
  /** The 3-digit ZIP area of most ZIP codes of the place; null if the postal data do not contain it. */
  readonly zip3: string | null
}

/** All known places, indexed by key, by state and by normalized name. */
export interface Gazetteer {
  readonly byKey: ReadonlyMap<string, KnownPlace>
  readonly byState: ReadonlyMap<string, readonly KnownPlace[]>
  /** Sorted by normalized name, for prefix searches. */
  readonly byName: readonly KnownPlace[]
  /** US ZIP codes by state, for the areas of places that the postal data do not contain. */
  readonly zipsByState: ReadonlyMap<string, readonly ZipRow[]>
}

/** A city with the same name but more than this many miles from the postal place is a different place. */
const samePlaceMiles = 30

/** The postal names of large cities that the city data name differently. Freight uses the postal name. */
const renamed: Readonly<Record<string, string>> = {
  'New York City|US|NY': 'New York',
  'Washington, D.C.|US|DC': 'Washington',
  'Washington D.C.|US|DC': 'Washington',
}

let loaded: Gazetteer | undefined

/**
 * All known places of the United States, Canada and Mexico, about 44,000. The first call loads them in about half a
 * second; they use about 26 MB. The server loads them before it accepts requests.
 */
export function gazetteer(): Gazetteer {
  loaded ??= buildGazetteer(readZips(), readCities(), readCanadianPrefixes())
  return loaded
}

/** The places with a normalized name, in all states. @example placesNamed('portland').length > 5 // true */
export function placesNamed(folded: string): readonly KnownPlace[] {
  const { byName } = gazetteer()
  let low = 0
  let high = byName.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((byName[middle]?.folded ?? '') < folded) low = middle + 1
    else high = middle
  }
  let end = low
  while (byName[end]?.folded === folded) end++
  return byName.slice(low, end)
}

/**
 * Builds one place per normalized name and state. A US place gets its name and ZIP area from the postal data, and its
 * population and position from a nearby city with the same name. Of two cities with the same name in a state, the
 * larger is used.
 */
function buildGazetteer(
  zips: readonly ZipRow[],
  cities: readonly CityRow[],
  prefixes: readonly PrefixRow[],
): Gazetteer {
  const named = cities.filter(isTown).map(nameCity)
  const citiesByLetters = Map.groupBy(named, (city) => withoutSpaces(city.key))
  const keyOfWritten = new Map<string, string>()
  const zipsByKey = Map.groupBy(zips, ({ city, state }) => {
    // Cached, so that a city is normalized once and not for each of its ZIP codes.
    const written = `${city}|${state}`
    const key = keyOfWritten.get(written) ?? `${foldCity(city)}|${state}`
    keyOfWritten.set(written, key)
    return key
  })
  const byKey = new Map<string, KnownPlace>()
  for (const [key, rows] of zipsByKey) {
    const place = postalPlace(key, rows, citiesByLetters.get(withoutSpaces(key)) ?? [])
    if (place) byKey.set(key, place)
  }
  const postalByLetters = Map.groupBy(byKey.values(), (place) => withoutSpaces(place.key))
  for (const [key, same] of Map.groupBy(named, (city) => city.key)) {
    const largest = largestOf(same)
    if (!largest || key.startsWith('|') || byKey.has(key)) continue
    // Near each other, names with the same letters are one place, such as DuBois and Du Bois.
    const postal = postalByLetters.get(withoutSpaces(key)) ?? []
    if (!postal.some((place) => greatCircleMiles(place, largest) <= samePlaceMiles)) byKey.set(key, largest)
  }
  for (const place of smallPlaces(zips, prefixes)) if (!byKey.has(place.key)) byKey.set(place.key, place)
  const places = [...byKey.values()]
  return {
    byKey,
    byState: Map.groupBy(places, (place) => place.state),
    byName: places.sort((a, b) => (a.folded < b.folded ? -1 : a.folded > b.folded ? 1 : 0)),
    zipsByState: Map.groupBy(zips, (zip) => zip.state),
  }
}

/** The places of `industrialPlaces`, each at the middle of its postal area. */
function smallPlaces(zips: readonly ZipRow[], prefixes: readonly PrefixRow[]): KnownPlace[] {
  const zipRows = new Map(zips.map((row) => [row.zip, row]))
  const prefixRows = new Map(prefixes.map((row) => [row.prefix, row]))
  return industrialPlaces.flatMap(([city, state, code]) => {
    const isZip = /^\d/.test(code)
    const area = isZip ? zipRows.get(code) : prefixRows.get(code)
    if (area === undefined) return []
    const { latitude, longitude } = area
    const folded = foldCity(city)
    const zip3 = isZip ? code.slice(0, 3) : null
    const country = isZip ? 'US' : 'CA'
    const key = `${folded}|${state}`
    return [{ key, folded, city, marketCity: city, state, country, population: 0, latitude, longitude, zip3 }]
  })
}

/** A key without spaces, which is equal for Du Bois and DuBois. */
function withoutSpaces(key: string): string {
  return key.replaceAll(' ', '')
}

/** False for abandoned places, and for places without a known state. */
function isTown(city: CityRow): boolean {
  return city.featureCode !== 'PPLQ' && stateOfAdminCode(city.country, city.adminCode) !== null
}

function nameCity(row: CityRow): KnownPlace {
  const city = renamed[`${row.name}|${row.country}|${row.adminCode}`] ?? row.name
  const state = stateOfAdminCode(row.country, row.adminCode) ?? ''
  const folded = foldCity(city)
  const country = row.country === 'PR' ? 'US' : row.country
  const { latitude, longitude, population } = row
  return {
    key: `${folded}|${state}`,
    folded,
    city,
    marketCity: city,
    state,
    country,
    population,
    latitude,
    longitude,
    zip3: null,
  }
}

function postalPlace(
  key: string,
  rows: readonly ZipRow[],
  named: readonly KnownPlace[],
): KnownPlace | undefined {
  const first = rows[0]
  if (!first) return undefined
  const middle = middleOf(rows)
  const city = largestOf(named.filter((each) => greatCircleMiles(each, middle) <= samePlaceMiles))
  const marketCity = city && sameLetters(city.city, first.city) ? city.city : first.city
  return {
    key,
    folded: key.slice(0, key.indexOf('|')),
    city: city && isBetterSpelling(city, key) ? city.city : marketCity,
    marketCity,
    state: first.state,
    country: 'US',
    population: city?.population ?? 0,
    latitude: city?.latitude ?? middle.latitude,
    longitude: city?.longitude ?? middle.longitude,
    zip3: commonZip3(rows),
  }
}

/**
 * Whether the city data have a place's name in ASCII. Their spelling (Lee's Summit, Wilkes-Barre, St. Louis) then
 * replaces the postal one, which has no punctuation (Lees Summit, Wilkes Barre, Saint Louis).
 */
function isBetterSpelling(city: KnownPlace, key: string): boolean {
  return city.key === key && /^[ -~]+$/.test(city.city)
}

/**
 * Whether two names differ only in case and spaces. The market then uses the city data's spelling (McAllen, not Mcallen).
 */
function sameLetters(a: string, b: string): boolean {
  const letters = (text: string) => text.toLowerCase().replaceAll(' ', '')
  return letters(a) === letters(b)
}

function largestOf(places: readonly KnownPlace[]): KnownPlace | undefined {
  return places.reduce<KnownPlace | undefined>(
    (largest, place) => (largest && largest.population >= place.population ? largest : place),
    undefined,
  )
}

/** The median position of a place's ZIP codes, which one wrong row hardly changes. */
function middleOf(rows: readonly Coordinates[]): Coordinates {
  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0
  return {
    latitude: median(rows.map((row) => row.latitude)),
    longitude: median(rows.map((row) => row.longitude)),
  }
}

function commonZip3(rows: readonly ZipRow[]): string | null {
  let best: string | null = null
  let most = 0
  for (const [zip3, same] of Map.groupBy(rows, (row) => row.zip.slice(0, 3))) {
    if (same.length > most) {
      best = zip3
      most = same.length
    }
  }
  return best
}
