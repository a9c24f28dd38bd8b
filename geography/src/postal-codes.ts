import { greatCircleMiles } from '#engine/miles.ts'
import { foldCity, readState } from '#engine/place.ts'
import { type PrefixRow, readCanadianPrefixes } from '#geography/data-files.ts'
import { gazetteer, type KnownPlace } from '#geography/gazetteer.ts'

/** A postal code in a text, and the text without it. */
export interface PostalCode {
  /** `75201`, or in Canada the first three characters: `M5H`. */
  readonly code: string
  readonly country: 'US' | 'CA'
  readonly rest: string
}

const zip = String.raw`(\d{5})(?:-?\d{4})?`
const canadian = String.raw`([ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z])(?:[ -]?\d[ABCEGHJ-NPRSTV-Z]\d)?`
const forms = [
  { country: 'US', form: new RegExp(`(?:^|[\\s,;/(])${zip}\\)?$`) },
  { country: 'US', form: new RegExp(`^${zip}[\\s,;/]+(?<after>[^\\s,;/].*)$`) },
  { country: 'CA', form: new RegExp(`(?:^|[\\s,;/(])${canadian}\\)?$`, 'i') },
  { country: 'CA', form: new RegExp(`^${canadian}[\\s,;/]+(?<after>[^\\s,;/].*)$`, 'i') },
] as const

/**
 * Extracts a ZIP code or Canadian postal code from the end or the start of a text. Null if there is none.
 *
 * @example postalCodeIn('Dallas, TX 75201-1234') // { code: '75201', country: 'US', rest: 'Dallas, TX' }
 */
export function postalCodeIn(text: string): PostalCode | null {
  for (const { country, form } of forms) {
    const found = form.exec(text)
    const code = found?.[1]?.toUpperCase()
    if (!found || code === undefined) continue
    const rest = found.groups?.after ?? text.slice(0, found.index).replace(/(?<![\s,;/(])[\s,;/(]+$/, '')
    return { code, country, rest: rest.trim() }
  }
  return null
}

let placesOfZips: ReadonlyMap<string, KnownPlace> | undefined
let prefixes: ReadonlyMap<string, PrefixRow> | undefined

/** The place of a ZIP code, or null if the data do not contain it. */
function placeOfZip(code: string): KnownPlace | null {
  if (placesOfZips === undefined) {
    const { byKey, zipsByState } = gazetteer()
    const places = new Map<string, KnownPlace>()
    for (const [state, rows] of zipsByState) {
      for (const row of rows) {
        const place = byKey.get(`${foldCity(row.city)}|${state}`)
        if (place && readState(state) === state) places.set(row.zip, place)
      }
    }
    placesOfZips = places
  }
  return placesOfZips.get(code) ?? null
}

/** A place further than this from the center of a postal area with its name is a different place. */
const areaMiles = 40

/** The province by the first letter of a postal code. X is both Nunavut and the Northwest Territories. */
const provinceOfLetter: Readonly<Record<string, string>> = {
  A: 'NL',
  B: 'NS',
  C: 'PE',
  E: 'NB',
  G: 'QC',
  H: 'QC',
  J: 'QC',
  K: 'ON',
  L: 'ON',
  M: 'ON',
  N: 'ON',
  P: 'ON',
  R: 'MB',
  S: 'SK',
  T: 'AB',
  V: 'BC',
  Y: 'YT',
}

/**
 * The city that a Canadian postal area is named after: the longest sequence of words in the area's description that
 * is a nearby place. Null if there is none, as in rural areas, where one prefix covers many towns.
 */
function placeOfPrefix(code: string): KnownPlace | null {
  prefixes ??= new Map(readCanadianPrefixes().map((row) => [row.prefix, row]))
  const row = prefixes.get(code)
  const state = provinceOfLetter[code[0] ?? '']
  if (row === undefined || state === undefined) return null
  const words = foldCity(row.area.split('(', 1)[0] ?? '').split(' ')
  const { byKey } = gazetteer()
  for (let count = words.length; count > 0; count--) {
    const found = words
      .flatMap((_, from) => byKey.get(`${words.slice(from, from + count).join(' ')}|${state}`) ?? [])
      .filter((place) => greatCircleMiles(place, row) <= areaMiles)
      .sort((a, b) => b.population - a.population)[0]
    if (found) return found
  }
  return null
}

/** The place of a postal code, or null if unknown. @example placeOfPostalCode('75201')?.city // 'Dallas' */
export function placeOfPostalCode({
  code,
  country,
}: Pick<PostalCode, 'code' | 'country'>): KnownPlace | null {
  return country === 'US' ? placeOfZip(code) : placeOfPrefix(code)
}

/** The state or province of a postal code, or null if unknown. */
export function stateOfPostalCode(postal: Pick<PostalCode, 'code' | 'country'>): string | null {
  const ofLetter = postal.country === 'CA' ? provinceOfLetter[postal.code[0] ?? ''] : undefined
  return ofLetter ?? placeOfPostalCode(postal)?.state ?? null
}
