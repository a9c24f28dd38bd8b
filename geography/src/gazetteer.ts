import { type Coordinates, greatCircleMiles } from '#engine/miles.ts'
import { foldCity } from '#engine/place.ts'
import { type CityRow, readCities, readZips, type ZipRow } from '#geography/data-files.ts'
import { stateOfAdminCode } from '#geography/state-codes.ts'

/** A known place. `key` is the folded city and the state, as `readPlace` gives it. */
export interface KnownPlace extends Coordinates {
  readonly key: string
  readonly folded: string
  /** As people write it: `St. Louis`. */
  readonly city: string
  /** The city as its market is called. Lanes keep the names of their markets, so this never follows a change of `city`. */
  readonly marketCity: string
  readonly state: string
  readonly country: 'US' | 'CA' | 'MX'
  /** People, 0 where only the postal data knows the place. */
  readonly population: number
  /** The 3-digit ZIP area most of its ZIP codes are in; null where the postal data do not name the place. */
  readonly zip3: string | null
}

/** Every known place, by key and by folded name in order. */
export interface Gazetteer {
  readonly byKey: ReadonlyMap<string, KnownPlace>
  readonly byState: ReadonlyMap<string, readonly KnownPlace[]>
  /** In the order of their folded names, for looking up a beginning. */
  readonly byName: readonly KnownPlace[]
  /** US ZIP areas of each state, for places the postal data do not name. */
  readonly zipsByState: ReadonlyMap<string, readonly ZipRow[]>
}

/** A city of the same name this far from the postal place is another one. */
const samePlaceMiles = 30

/** Where the two sources disagree on a large city's name, the postal one is what freight people write. */
const renamed: Readonly<Record<string, string>> = {
  'New York City|US|NY': 'New York',
  'Washington, D.C.|US|DC': 'Washington',
  'Washington D.C.|US|DC': 'Washington',
}

let loaded: Gazetteer | undefined

/**
 * Every place of the United States, Canada and Mexico the packages know, some 44,000. Read on the first call, which takes
 * about half a second, and kept in about 26 MB: a server asks once before it listens.
 */
export function gazetteer(): Gazetteer {
  loaded ??= buildGazetteer(readZips(), readCities())
  return loaded
}

/** The places of a folded name, in every state. @example placesNamed('portland').length > 5 // true */
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
 * One place for each folded name and state. A US place takes its name and ZIP area from the postal data and its size
 * and position from the city of that name nearby; of two cities of one name in one state the larger is meant.
 */
function buildGazetteer(zips: readonly ZipRow[], cities: readonly CityRow[]): Gazetteer {
  const named = cities.filter(isTown).map(nameCity)
  const citiesByLetters = Map.groupBy(named, (city) => closedUp(city.key))
  const keyOfWritten = new Map<string, string>()
  const zipsByKey = Map.groupBy(zips, ({ city, state }) => {
    // A city is folded once, not once for each of its ZIP codes.
    const written = `${city}|${state}`
    const key = keyOfWritten.get(written) ?? `${foldCity(city)}|${state}`
    keyOfWritten.set(written, key)
    return key
  })
  const byKey = new Map<string, KnownPlace>()
  for (const [key, rows] of zipsByKey) {
    const place = postalPlace(key, rows, citiesByLetters.get(closedUp(key)) ?? [])
    if (place) byKey.set(key, place)
  }
  const postalByLetters = Map.groupBy(byKey.values(), (place) => closedUp(place.key))
  for (const [key, same] of Map.groupBy(named, (city) => city.key)) {
    const largest = largestOf(same)
    if (!largest || key.startsWith('|') || byKey.has(key)) continue
    // DuBois beside the postal Du Bois is the same town, written differently.
    const postal = postalByLetters.get(closedUp(key)) ?? []
    if (!postal.some((place) => greatCircleMiles(place, largest) <= samePlaceMiles)) byKey.set(key, largest)
  }
  const places = [...byKey.values()]
  return {
    byKey,
    byState: Map.groupBy(places, (place) => place.state),
    byName: places.sort((a, b) => (a.folded < b.folded ? -1 : a.folded > b.folded ? 1 : 0)),
    zipsByState: Map.groupBy(zips, (zip) => zip.state),
  }
}

/** A key without its spaces: Du Bois and DuBois are one name. */
function closedUp(key: string): string {
  return key.replaceAll(' ', '')
}

/** Not a historical quarter or a place that is gone. */
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
 * The postal data write no punctuation and capitalize by rule: Lees Summit, Wilkes Barre, Saint Louis. Where the other
 * source has the same name in letters that any keyboard has, its spelling is taken: Lee's Summit, Wilkes-Barre, St. Louis.
 */
function isBetterSpelling(city: KnownPlace, key: string): boolean {
  return city.key === key && /^[ -~]+$/.test(city.city)
}

/** Where only capitals and spaces differ from the postal name (Mcallen), the market takes the other source's McAllen. */
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

/** The middle of a place's ZIP codes, by the median so that one wrong row does not move it. */
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
