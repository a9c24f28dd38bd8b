import { foldCity, readPlace, readState } from '#engine/place.ts'
import { placeOfCensusName } from '#geography/census-names.ts'
import { airports, nicknames } from '#geography/freight-names.ts'
import { gazetteer, type KnownPlace } from '#geography/gazetteer.ts'

/**
 * Abbreviations of words in city names, most of them from appendix C1 of Publication 28 of the United States Postal Service. If an
 * abbreviation has two meanings, the one that names a known place is used.
 */
const longForms: Readonly<Record<string, readonly string[]>> = {
  bch: ['beach'],
  blf: ['bluff'],
  blfs: ['bluffs'],
  boro: ['borough'],
  cd: ['ciudad'],
  cdad: ['ciudad'],
  centre: ['center'],
  center: ['centre'],
  ctr: ['center', 'centre'],
  crk: ['creek'],
  cty: ['city'],
  cy: ['city'],
  cyn: ['canyon'],
  fls: ['falls'],
  frk: ['fork'],
  frst: ['forest'],
  gdn: ['garden'],
  gdns: ['gardens'],
  gln: ['glen'],
  gr: ['grand', 'grove'],
  gral: ['general'],
  grd: ['grand'],
  grv: ['grove'],
  harbour: ['harbor'],
  harbor: ['harbour'],
  hbr: ['harbor'],
  hgts: ['heights'],
  hts: ['heights'],
  hl: ['hill'],
  hls: ['hills'],
  is: ['island'],
  isl: ['island'],
  jct: ['junction'],
  lk: ['lake'],
  lks: ['lakes'],
  lndg: ['landing'],
  mdws: ['meadows'],
  mls: ['mills'],
  mnr: ['manor'],
  mount: ['mountain'],
  mtn: ['mountain'],
  mtns: ['mountains'],
  no: ['north'],
  pete: ['petersburg'],
  pk: ['park'],
  pln: ['plain'],
  plns: ['plains'],
  prt: ['port'],
  pt: ['port', 'point'],
  pto: ['puerto'],
  rch: ['ranch', 'rancho'],
  rdg: ['ridge'],
  riv: ['river'],
  rpds: ['rapids'],
  sn: ['san'],
  so: ['south'],
  spg: ['spring'],
  spgs: ['springs'],
  spr: ['spring', 'springs'],
  sprgs: ['springs'],
  sq: ['square'],
  sta: ['station', 'santa'],
  sto: ['santo'],
  trl: ['trail'],
  twp: ['township'],
  twnshp: ['township'],
  vl: ['ville'],
  vlg: ['village'],
  vly: ['valley'],
  vw: ['view'],
}

/** Types of municipality after or before a name. */
const municipalitySuffix = / (charter township|township|borough|municipality)$/
const municipalityPrefix =
  /^(charter township|township|borough|town|village|ville|municipality|municipio) (of|de) /

/** Nicknames that name a city only with a state. The others are in `nicknames`. */
const calledByMany: readonly (readonly [string, string, string])[] = [
  ['Manhattan', 'NY', 'New York'],
  ['Greenwich Village', 'NY', 'New York'],
  ['South SF', 'CA', 'South San Francisco'],
  ['KC', 'KS', 'Kansas City'],
  ['Wash', 'DC', 'Washington'],
  ['29 Palms', 'CA', 'Twentynine Palms'],
  ['Twenty Nine Palms', 'CA', 'Twentynine Palms'],
  ['San Buenaventura', 'CA', 'Ventura'],
  ['El Paso de Robles', 'CA', 'Paso Robles'],
  ['Urban Honolulu', 'HI', 'Honolulu'],
  ['Boise City', 'ID', 'Boise'],
  ['96', 'SC', 'Ninety Six'],
  ['W Sacto', 'CA', 'West Sacramento'],
  ['Ville de Québec', 'QC', 'Québec'],
  ['Ville de Montréal', 'QC', 'Montréal'],
  ['TO', 'ON', 'Toronto'],
  ['Sault Sainte Marie', 'ON', 'Sault Ste. Marie'],
  ['Querétaro', 'QUE', 'Santiago de Querétaro'],
  ['Durango', 'DUR', 'Victoria de Durango'],
  ['Tuxtla Gutiérrez', 'CHP', 'Tuxtla'],
  ['Oaxaca de Juárez', 'OAX', 'Oaxaca'],
  ['Puebla de Zaragoza', 'PUE', 'Puebla'],
  ['Culiacán Rosales', 'SIN', 'Culiacán'],
  ['México', 'CMX', 'Mexico City'],
  ['Nezahualcóyotl', 'MEX', 'Ciudad Nezahualcoyotl'],
  ['San Nicolás', 'NLE', 'San Nicolás de los Garza'],
  ['San Pedro', 'NLE', 'San Pedro Garza García'],
  ['Escobedo', 'NLE', 'Ciudad General Escobedo'],
  ['General Escobedo', 'NLE', 'Ciudad General Escobedo'],
]

/** Mexican cities with at least this population are also known by their name without "Nuevo" or "de ...". */
const shortenedPopulationMin = 100_000
const neverShortened = /^(san|santa|santo|santiago|playa|ciudad|puerto|valle|villa|ojo|delegacion|colonia)$/

/** Maps an alternative normalized name and state to a place's key, or to null if two places share the name. */
let otherNames: ReadonlyMap<string, string | null> | undefined
let keysWithoutSpaces: ReadonlyMap<string, string | null> | undefined

/**
 * The place with a normalized city name and a state, by its name or by another spelling of it. Null if no place or
 * more than one matches. Tried in this order: the name itself; alternative names (NYC, Querétaro, Juarez for Ciudad
 * Juárez); abbreviations (Hts, Spgs, Twp, Pt); the name without the type of municipality (Hillsborough Township); the
 * name without spaces (La Vergne, Lavergne); the name as the Census Bureau writes it (see `placeOfCensusName`). Typing
 * errors are not corrected.
 *
 * @example placeCalled('arlington hts', 'IL')?.city // 'Arlington Heights'
 */
export function placeCalled(folded: string, state: string): KnownPlace | null {
  return placeSpelled(folded, state) ?? placeOfCensusName(folded, state, placeSpelled)
}

/**
 * The places with a normalized name in a country, the largest first.
 *
 * @example placesCalledIn('CA', 'toronto').map((place) => place.state) // ['ON']
 */
export function placesCalledIn(country: KnownPlace['country'], folded: string): KnownPlace[] {
  const { byState } = gazetteer()
  const states = [...byState].flatMap(([state, [first]]) => (first?.country === country ? [state] : []))
  const places = new Set(states.flatMap((state) => placeCalled(folded, state) ?? []))
  return [...places].sort((a, b) => b.population - a.population || (a.key < b.key ? -1 : 1))
}

/** A city that has this many times the people of the next one of its name is meant, if only the country is named. */
const muchLarger = 100

/**
 * The place that a name and a country mean: the only one of this name, or the city among hamlets. Null if there is none or more than
 * one, and for a name that is a state's, too: "Quebec, Canada" may mean the province.
 *
 * @example placeInCountry('MX', 'monterrey')?.state // 'NLE': the other one, in Chiapas, has 1,086 people
 */
export function placeInCountry(country: KnownPlace['country'], folded: string): KnownPlace | null {
  if (readState(folded) !== null) return null
  const [largest, next] = placesCalledIn(country, folded)
  if (largest === undefined || next === undefined) return largest ?? null
  return largest.population > Math.max(1, next.population) * muchLarger ? largest : null
}

function placeSpelled(folded: string, state: string): KnownPlace | null {
  const { byKey } = gazetteer()
  const exact = byKey.get(`${folded}|${state}`)
  if (exact) return exact
  otherNames ??= indexOtherNames()
  const called = otherNames.get(`${folded}|${state}`)
  if (called !== undefined) return called === null ? null : (byKey.get(called) ?? null)

  const spelled = longerSpellings(folded)
  const bare = spelled.map(withoutMunicipality)
  for (const names of [spelled, bare]) {
    const found = placesNamed(names, state)
    if (found.length > 0) return found.length === 1 ? (found[0] ?? null) : null
  }
  keysWithoutSpaces ??= indexWithoutSpaces()
  const key = keysWithoutSpaces.get(`${withoutSpaces(folded)}|${state}`)
  return key ? (byKey.get(key) ?? null) : null
}

function placesNamed(names: readonly string[], state: string): KnownPlace[] {
  const { byKey } = gazetteer()
  const found = new Set<KnownPlace>()
  for (const name of names) {
    const other = otherNames?.get(`${name}|${state}`)
    const place = byKey.get(`${name}|${state}`) ?? (other ? byKey.get(other) : undefined)
    if (place) found.add(place)
  }
  return [...found]
}

/** The name with abbreviations expanded in all possible ways. The unchanged name comes first. */
function longerSpellings(folded: string): string[] {
  return folded.split(' ').reduce<string[]>(
    (spellings, word) => {
      const meant = [word, ...(Object.hasOwn(longForms, word) ? (longForms[word] ?? []) : [])]
      // Beyond eight spellings, only the first meaning counts: no real name has three ambiguous words.
      const kept = spellings.length > 8 ? meant.slice(0, 1) : meant
      return spellings.flatMap((spelling) => kept.map((each) => (spelling ? `${spelling} ${each}` : each)))
    },
    [''],
  )
}

function withoutMunicipality(name: string): string {
  return name.replace(municipalityPrefix, '').replace(municipalitySuffix, '')
}

function withoutSpaces(name: string): string {
  return name.replaceAll(' ', '')
}

function indexOtherNames(): Map<string, string | null> {
  const names = new Map<string, string | null>()
  const { byKey, byState } = gazetteer()
  const add = (name: string, place: KnownPlace) => {
    const other = `${name}|${place.state}`
    if (!byKey.has(other))
      names.set(other, names.has(other) && names.get(other) !== place.key ? null : place.key)
  }
  for (const place of [...byState.values()].flat()) {
    if (place.country !== 'MX') continue
    for (const name of mexicanNames(place)) add(name, place)
  }
  for (const [called, place] of namedAlone()) names.set(`${called}|${place.state}`, place.key)
  for (const [called, state, city] of calledByMany) {
    const place = byKey.get(`${foldCity(city)}|${state}`)
    if (place) names.set(`${foldCity(called)}|${state}`, place.key)
  }
  return names
}

let placesNamedAlone: ReadonlyMap<string, KnownPlace> | undefined

function namedAlone(): ReadonlyMap<string, KnownPlace> {
  const { byKey } = gazetteer()
  // Nicknames are added last, to override airport codes with the same letters.
  placesNamedAlone ??= new Map(
    [...Object.entries(airports), ...Object.entries(nicknames)].flatMap(([called, text]) => {
      const place = byKey.get(readPlace(text)?.key ?? '')
      return place ? [[foldCity(called), place]] : []
    }),
  )
  return placesNamedAlone
}

/**
 * The place of a nickname or an airport code without a state, or null.
 *
 * @example placeNamedAlone('okc')?.city // 'Oklahoma City'
 */
export function placeNamedAlone(folded: string): KnownPlace | null {
  return namedAlone().get(folded) ?? null
}

/**
 * Alternative names with and without "Ciudad" and "Heroica", without "Nuevo" (Laredo in Tamaulipas is Nuevo Laredo), and without an
 * honorary suffix (León de los Aldama is León).
 */
function mexicanNames(place: KnownPlace): string[] {
  const plain = place.folded.replace(/^(ciudad|heroica) /, '')
  const short = plain.replace(/ (de|del) .*$/, '')
  const names = [plain, `ciudad ${plain}`]
  if (place.population >= shortenedPopulationMin) {
    names.push(`heroica ${plain}`, plain.replace(/^nuev[ao] /, ''))
    if (!neverShortened.test(short)) names.push(short)
  }
  return names.filter((name) => name !== place.folded && name !== '')
}

function indexWithoutSpaces(): Map<string, string | null> {
  const names = new Map<string, string | null>()
  for (const place of gazetteer().byName) {
    const closed = `${withoutSpaces(place.folded)}|${place.state}`
    names.set(closed, names.has(closed) ? null : place.key)
  }
  return names
}
