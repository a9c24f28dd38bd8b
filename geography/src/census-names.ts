import { foldCity } from '#engine/place.ts'
import { gazetteer, type KnownPlace, placesNamed } from '#geography/gazetteer.ts'

/** The known place with a normalized name and a state, or null. */
type Called = (folded: string, state: string) => KnownPlace | null

/**
 * What the Census Bureau writes after a name: the kind of government or of statistical area. Source: Legal/Statistical Area
 * Descriptions of places and county subdivisions.
 */
const described =
  / (balance|city and borough|municipality|city|town|village|borough|charter township|township|plantation|cdp|census designated place|urban county|metro township|(?:metro|metropolitan|unified|consolidated|urban county) government|comunidad|zona urbana)$/

/** Descriptions that are also the last word of names, such as Kansas City. Two of them follow a name only as in Amherst Town city. */
const isInNames: ReadonlySet<string> = new Set(['city', 'town', 'village', 'borough'])

/** "X City" in one state means X only if every place named X City elsewhere is this many times smaller than X. */
const muchLarger = 5

/**
 * The place that the Census Bureau calls by a name that is not known. The name may have its description (Boise City city, Skokie
 * village, East Los Angeles CDP), the county of a consolidated city (Louisville/Jefferson County metro government (balance)), or two
 * names of one place (San Buenaventura (Ventura)). "Kansas City, OK" is not Kansas, OK, because another state has a larger Kansas City.
 *
 * @param called finds a place by its own names
 * @example placeOfCensusName('indianapolis city balance', 'IN', called)?.city // 'Indianapolis'
 */
export function placeOfCensusName(folded: string, state: string, called: Called): KnownPlace | null {
  let name = folded
  let word: string | null = null
  let elsewhere = 0
  for (;;) {
    const found = called(name, state) ?? cityOfTwoNames(name, state, called)
    if (found !== null) return elsewhere * muchLarger > found.population ? null : found
    const [, description = ''] = described.exec(name) ?? []
    if (description === '') return null
    if (isInNames.has(description)) {
      if (word !== null && !(word === 'city' && description === 'town')) return null
      word = description
      elsewhere = Math.max(elsewhere, ...placesNamed(name).map(({ population }) => population))
    }
    name = name.slice(0, -description.length - 1)
  }
}

let placesOfCounties: ReadonlyMap<string, ReadonlySet<string>> | undefined

/** The keys of the places that have a ZIP code in a county, by its normalized name and state. */
function placesOfCounty(county: string, state: string): ReadonlySet<string> | undefined {
  placesOfCounties ??= new Map(
    [...gazetteer().zipsByState].flatMap(([code, zips]) =>
      [...Map.groupBy(zips, (zip) => zip.county)].map(([name, same]): [string, Set<string>] => [
        `${foldCity(name)}|${code}`,
        new Set([...new Set(same.map(({ city }) => city))].map((city) => `${foldCity(city)}|${code}`)),
      ]),
    ),
  )
  return placesOfCounties.get(`${county}|${state}`)
}

/** Names of more words are not looked for in parts: the longest have six, such as Louisville and Jefferson County Metro Government. */
const wordsMax = 10

/**
 * A city that is written with its own county, as consolidated governments are (Nashville-Davidson, Augusta-Richmond County), or with its
 * official and its usual name (San Buenaventura (Ventura)).
 */
function cityOfTwoNames(name: string, state: string, called: Called): KnownPlace | null {
  const words = name.split(' ')
  if (words.length > wordsMax) return null
  for (let at = words.length - 1; at > 0; at--) {
    const [first, second] = [words.slice(0, at).join(' '), words.slice(at).join(' ')]
    const city = called(first, state)
    if (city === null) continue
    const inCounty = placesOfCounty(second.replace(/ county$/, ''), state)
    if (inCounty?.has(city.key) === true || called(second, state) === city) return city
  }
  return null
}
