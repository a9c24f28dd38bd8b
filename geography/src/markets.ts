import { greatCircleMiles } from '#engine/miles.ts'
import { readCanadianPrefixes } from '#geography/data-files.ts'
import { gazetteer, type KnownPlace } from '#geography/gazetteer.ts'

/** Places within this many miles of a market's principal city belong to it. */
export const marketMiles = 50

/** A degree of latitude is about 69 miles: anything further north or south than this is out of a market's reach. */
const marketLatitudeDegrees = marketMiles / 68

let marketOfArea: ReadonlyMap<string, string> | undefined
let principalsAbroad: readonly KnownPlace[] | undefined
let prefixes: ReturnType<typeof readCanadianPrefixes> | undefined

/**
 * The postal area of a place: the 3-digit ZIP area in the United States ("752"), the three-character prefix in Canada
 * ("M5H"); null in Mexico and Puerto Rico. A place the postal data do not name takes its nearest neighbour's area.
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

/**
 * The market a place belongs to, named by its principal city ("Dallas, TX").
 *
 * The United States are divided by 3-digit ZIP areas, each standing where its largest city is. From the largest city
 * down, an area within 50 miles of a principal city joins it (the largest such), any other becomes a market of its own. Places of Canada,
 * Mexico and Puerto Rico, where no such areas are at hand, are gathered round their principal cities in the same way.
 * A market never crosses a national border.
 */
export function marketOf(place: KnownPlace): string {
  const area = place.country === 'US' ? postalArea(place) : null
  if (area !== null) {
    marketOfArea ??= marketsOfAreas()
    return marketOfArea.get(area) ?? nameOf(place)
  }
  principalsAbroad ??= choosePrincipals(gazetteer().byName.filter((each) => !hasZips(each)))
  return nameOf(principalOf(place, principalsAbroad))
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

/** The largest principal city within reach: Joliet is Chicago's, though Kankakee is as near. */
function principalOf(place: KnownPlace, principals: readonly KnownPlace[]): KnownPlace {
  return principals.find((each) => each.country === place.country && isNear(each, place)) ?? place
}

/** From the largest down: a city further than a market's reach from every principal city so far is one itself. */
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
