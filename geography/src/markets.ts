import { greatCircleMiles } from '#engine/miles.ts'
import { foldCity } from '#engine/place.ts'
import { readCanadianPrefixes } from '#geography/data-files.ts'
import { gazetteer, type KnownPlace } from '#geography/gazetteer.ts'

/** Places within this many miles of a market's principal city belong to it. */
export const marketMiles = 50

/**
 * `marketMiles` in degrees of latitude, rounded up (a degree is about 69 miles). A fast filter before the exact
 * distance.
 */
const marketLatitudeDegrees = marketMiles / 68

let marketOfArea: ReadonlyMap<string, string> | undefined
let nonZipPrincipals: readonly KnownPlace[] | undefined
let prefixes: ReturnType<typeof readCanadianPrefixes> | undefined

/**
 * The postal area of a place: the 3-digit ZIP area in the United States ("752"), the three-character prefix in Canada
 * ("M5H"); null in Mexico and Puerto Rico. A place that the postal data do not contain gets the area of the nearest
 * postal place.
 */
export function postalArea(place: KnownPlace): string | null {
  if (place.zip3 !== null) return place.zip3
  if (place.country === 'MX') return null
  if (place.country === 'US') {
    const zips = gazetteer().zipsByState.get(place.state) ?? []
    return nearest(place, zips)?.zip.slice(0, 3) ?? null
  }
  prefixes ??= readCanadianPrefixes()
  return nearest(place, prefixes)?.prefix ?? null
}

let postalAreas: ReadonlySet<string> | undefined

/** True for a 3-digit ZIP area of the United States, or a three-character prefix of Canada. @example isPostalArea('752') // true */
export function isPostalArea(code: string): boolean {
  prefixes ??= readCanadianPrefixes()
  postalAreas ??= new Set([
    ...[...gazetteer().zipsByState.values()].flatMap((zips) => zips.map(({ zip }) => zip.slice(0, 3))),
    ...prefixes.map(({ prefix }) => prefix),
  ])
  return postalAreas.has(code)
}

/**
 * The market of a place, named after its principal city ("Dallas, TX").
 *
 * US markets are groups of 3-digit ZIP areas, each located at its largest city. In order of city size, an area within
 * 50 miles of a principal city joins the market of the largest such city; any other area begins a market with its own
 * city as the principal. In Canada, Mexico and Puerto Rico, without such areas in the data, places are grouped in the
 * same way. A market never crosses a national border.
 */
export function marketOf(place: KnownPlace): string {
  const area = place.country === 'US' ? postalArea(place) : null
  if (area !== null) {
    marketOfArea ??= marketsOfAreas()
    return marketOfArea.get(area) ?? nameOf(place)
  }
  nonZipPrincipals ??= choosePrincipals(gazetteer().byName.filter((each) => !hasZips(each)))
  return nameOf(principalOf(place, nonZipPrincipals))
}

let marketsOfCity: ReadonlyMap<string, readonly string[]> | undefined

/**
 * The US markets whose principal city has this name, without its state, as load boards write them.
 *
 * @example marketsNamed('Dallas') // ['Dallas, TX']
 */
export function marketsNamed(city: string): readonly string[] {
  marketOfArea ??= marketsOfAreas()
  marketsOfCity ??= Map.groupBy(new Set(marketOfArea.values()), (name) => foldCity(name.replace(/, ..$/, '')))
  return marketsOfCity.get(foldCity(city)) ?? []
}

function hasZips(place: KnownPlace): boolean {
  return place.country === 'US' && place.state !== 'PR'
}

function marketsOfAreas(): Map<string, string> {
  const largest = new Map<string, KnownPlace>()
  for (const place of gazetteer().byName) {
    if (place.zip3 === null) continue
    const before = largest.get(place.zip3)
    if (!before || place.population > before.population) largest.set(place.zip3, place)
  }
  const principals = choosePrincipals([...new Set(largest.values())])
  return new Map(
    [...largest].map(([area, city]): [string, string] => [area, nameOf(principalOf(city, principals))]),
  )
}

/** The largest principal city within 50 miles: Chicago for Joliet, although Kankakee is equally near. */
function principalOf(place: KnownPlace, principals: readonly KnownPlace[]): KnownPlace {
  return principals.find((each) => each.country === place.country && isNear(each, place)) ?? place
}

/** Visits cities by size. A city more than 50 miles from all principal cities so far becomes a principal city. */
function choosePrincipals(places: readonly KnownPlace[]): KnownPlace[] {
  const principals: KnownPlace[] = []
  for (const place of [...places].sort((a, b) => b.population - a.population || (a.key < b.key ? -1 : 1))) {
    if (!principals.some((each) => each.country === place.country && isNear(each, place)))
      principals.push(place)
  }
  return principals
}

function isNear(a: KnownPlace, b: KnownPlace): boolean {
  return Math.abs(a.latitude - b.latitude) <= marketLatitudeDegrees && greatCircleMiles(a, b) <= marketMiles
}

function nameOf(place: KnownPlace): string {
  return `${place.marketCity}, ${place.state}`
}

function nearest<T extends { latitude: number; longitude: number }>(
  place: KnownPlace,
  others: readonly T[],
): T | undefined {
  const shrink = Math.cos((place.latitude * Math.PI) / 180)
  let best: T | undefined
  let least = Number.POSITIVE_INFINITY
  for (const other of others) {
    const distance =
      (other.latitude - place.latitude) ** 2 + ((other.longitude - place.longitude) * shrink) ** 2
    if (distance < least) {
      least = distance
      best = other
    }
  }
  return best
}
