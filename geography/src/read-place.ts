import { greatCircleMiles } from '#engine/miles.ts'
import { foldCity, type Place, readPlace, readState, tidyPlaceText } from '#engine/place.ts'
import { type KnownPlace, placesNamed } from '#geography/gazetteer.ts'
import { locate } from '#geography/locate.ts'
import { placeInCountry, placeNamedAlone, placesCalledIn } from '#geography/other-names.ts'
import {
  type PostalCode,
  placeOfPostalCode,
  postalCodeIn,
  stateOfPostalCode,
} from '#geography/postal-codes.ts'
import { statesMeantBy } from '#geography/state-codes.ts'

/** The place that a text names, or `wrong`: the expected form, in words after "must be". */
export type PlaceRead = { readonly value: Place } | { readonly wrong: string }

const notAPlace = 'a city and a state of the US, Canada or Mexico, such as "Dallas, TX"'
const noState = 'a city with its state, such as "Portland, OR"'

/**
 * Parses a place in any form that is common in freight. All endpoints, imports and pages use this function.
 *
 * `City, ST` is parsed by `readPlace`, and the city may be unknown. Also accepted: a missing comma ("Dallas TX",
 * "Dallas Texas"), a ZIP code or Canadian postal code after or instead of the place ("Dallas, TX 75201", "75201",
 * "M5H 2N2"), a country after the place, and airport codes and nicknames without a state (DFW, NYC, LA). A city is
 * never replaced by another: a city without a state is rejected, and so is a ZIP code outside the given state.
 *
 * @example readAnyPlace('dallas tx 75201') // { value: { key: 'dallas|TX', city: 'dallas', state: 'TX' } }
 * @example readAnyPlace('OKC') // { value: { key: 'oklahoma city|OK', city: 'Oklahoma City', state: 'OK' } }
 * @example readAnyPlace('Portland') // { wrong: 'a city with its state, such as "Portland, OR"' }
 */
export function readAnyPlace(text: string): PlaceRead {
  const place = readPlace(text)
  if (place !== null) return { value: place }
  const tidy = tidyPlaceText(text)?.trim()
  if (!tidy) return { wrong: notAPlace }
  const read = readWithoutCountry(tidy)
  if ('value' in read) return read
  const abroad = countryAtEnd.exec(tidy)
  if (abroad === null) return read
  const country = countryCode(abroad[0])
  const rest = tidy.slice(0, abroad.index).replace(/(?<![\s,])[\s,]+$/, '')
  if (rest === '') return read
  const named = readPlace(rest)
  const inCountry = named === null ? readWithoutCountry(rest) : { value: named }
  if ('value' in inCountry && locate(inCountry.value)?.country === country) return inCountry
  return rest.includes(',') ? read : (readInCountry(rest, country) ?? read)
}

const countryName = '(?:USA|U\\.S\\.A\\.|US|U\\.S\\.|United States|Canada|M[eé]xico|MX)'
const countryAtEnd = new RegExp(`(?<=[,\\s])${countryName}$`, 'iu')
const countryAlone = new RegExp(`^${countryName}$`, 'iu')

function countryCode(name: string): KnownPlace['country'] {
  const [letter = ''] = name.toUpperCase()
  return letter === 'U' ? 'US' : letter === 'C' ? 'CA' : 'MX'
}

/** Parses a city of which only the country is named. Null if the country has no such city. */
function readInCountry(city: string, country: KnownPlace['country']): PlaceRead | null {
  const folded = foldCity(city)
  const only = placeInCountry(country, folded)
  if (only !== null) return { value: placeOf(only) }
  const choices = placesCalledIn(country, folded)
    .slice(0, choicesMax)
    .map((place) => `"${nameOf(place)}"`)
  return choices.length === 0 ? null : { wrong: `a city with its state, such as ${choices.join(' or ')}` }
}

/** The most places of one name that an error lists, the largest first. */
const choicesMax = 3

/** Like `PlaceRead`, with the name of the wrong part. */
export type PartsRead =
  | { readonly value: Place }
  | { readonly wrong: string; readonly part: 'city' | 'state' | 'zip' }

/**
 * Parses a place from separate cells, some of which may be missing. The city cell may contain the whole place if the
 * other cells agree with it.
 *
 * @example readPlaceParts({ city: 'Dallas', state: 'TX', zip: '75201' }) // { value: { key: 'dallas|TX', ... } }
 */
export function readPlaceParts({
  city,
  state,
  zip,
}: {
  readonly city: string | null
  readonly state: string | null
  readonly zip: string | null
}): PartsRead {
  const code = state === null ? null : readState(state)
  const isCountry = state !== null && code === null && countryAlone.test(state.trim())
  if (state !== null && code === null && !isCountry) {
    return { wrong: 'a state of the US, Canada or Mexico such as TX', part: 'state' }
  }
  const whole = city === null ? null : readPlace(city)
  if (whole !== null && code !== null && whole.state !== code) {
    return { wrong: `the state of "${city}"`, part: 'state' }
  }
  const within = isCountry ? state.trim() : code
  const named = whole !== null || within === null ? (city ?? '') : `${city ?? ''}, ${within}`
  // Spreadsheets drop the leading zero of a ZIP code such as 07030.
  const postal = zip === null ? '' : /^\d{4}$/.test(zip) ? `0${zip}` : zip
  const read = readAnyPlace(`${named} ${postal}`.replace(/^[\s,]+/, ''))
  return 'value' in read ? read : { ...read, part: city === null ? 'zip' : 'city' }
}

/**
 * The name of a place as it is saved and shown: that of the known place, else the city as entered.
 *
 * @example placeName(place) // 'St. Louis, MO'
 */
export function placeName(
  place: Place,
  located: Pick<Place, 'city' | 'state'> | null = locate(place),
): string {
  return nameOf(located ?? place)
}

function nameOf({ city, state }: Pick<Place, 'city' | 'state'>): string {
  return `${city}, ${state}`
}

function readWithoutCountry(text: string): PlaceRead {
  const postal = postalCodeIn(text)
  return postal === null ? readNamed(text) : readWithCode(postal)
}

/** Parses a place without a postal code that is not in the form `City, ST`. */
function readNamed(text: string): PlaceRead {
  const alone = placeNamedAlone(foldCity(text))
  if (alone) return { value: placeOf(alone) }
  const place = readWithoutComma(text)
  if (place !== null) return { value: place }
  return { wrong: text.includes(',') || !/\p{L}/u.test(text) ? notAPlace : noState }
}

/** Parses a postal code with an optional city and state. All parts must agree. */
function readWithCode(postal: PostalCode): PlaceRead {
  const { code, rest } = postal
  const named = rest.replace(/(?<![\s,;/(-])[\s,;/(-]+$/, '')
  const what = postal.country === 'US' ? 'ZIP code' : 'postal code'
  const ofCode = placeOfPostalCode(postal)
  const stateOfCode = stateOfPostalCode(postal)
  const state = readState(named)
  if (named === '' || state !== null) {
    if (ofCode === null) return { wrong: `a city and a state: we know no city for the ${what} ${code}` }
    if (state !== null && state !== ofCode.state) return { wrong: elsewhere(code, ofCode.state, state) }
    return { value: placeOf(ofCode) }
  }
  const place =
    readPlace(named) ??
    readWithoutComma(named) ??
    (named.includes(',') || stateOfCode === null ? null : knownPlace(`${named}, ${stateOfCode}`))
  if (place === null) {
    const inState = `a city with its state: the ${what} ${code} is in ${stateOfCode}, where we know no such city`
    return { wrong: stateOfCode === null || named.includes(',') ? notAPlace : inState }
  }
  const located = locate(place)
  // After a Mexican place, the code is a Mexican one. Unknown codes are ignored.
  if (located?.country === 'MX' || isMexicanState(place.state) || stateOfCode === null)
    return { value: place }
  if (!statesMeantBy(place.state)[0]?.includes(stateOfCode)) {
    return { wrong: elsewhere(code, stateOfCode, place.state) }
  }
  if (located && ofCode && greatCircleMiles(located, ofCode) > codeMilesMax) {
    return { wrong: elsewhere(code, nameOf(ofCode), nameOf(located)) }
  }
  return { value: place }
}

/**
 * The text may name a suburb, and the postal code the city, or vice versa. If the two are further apart than this, one
 * is wrong.
 */
const codeMilesMax = 100

function knownPlace(text: string): Place | null {
  const place = readPlace(text)
  return place !== null && locate(place) !== null ? place : null
}

function elsewhere(code: string, isIn: string, written: string): string {
  return `one place: ${code} is in ${isIn}, not in ${written}`
}

/**
 * Parses a city and a state without a comma: "Dallas TX", "Charleston West Virginia", "Washington D.C.". The longest
 * state at the end is used. "Port Washington" is read as a city name, not as a city in Washington. Before a state
 * name that is written out, the city must be known, because many city names end in a state name.
 */
function readWithoutComma(text: string): Place | null {
  const words = [...text.matchAll(/[^\s,;/|().–—-]+/g)]
  const isCity = placesNamed(foldCity(text)).length > 0
  for (let count = Math.min(stateWordsMax, words.length - 1); count > 0; count--) {
    const at = words.at(-count)?.index ?? 0
    const state = readState(text.slice(at))
    if (state === null) continue
    const place = readPlace(
      `${text.slice(0, at).replace(/(?<![\s,;/|(.–—-])[\s,;/|(.–—-]+$/u, '')}, ${state}`,
    )
    if (place === null) continue
    const isCode = count === 1 && /^\p{L}{2}$/u.test(words.at(-1)?.[0] ?? '')
    if (isCity ? isCode && locate(place) !== null : isCode || locate(place) !== null) return place
  }
  return null
}

/** The most words in a state name, as in Coahuila de Zaragoza or Newfoundland and Labrador. */
const stateWordsMax = 3

function placeOf({ key, city, state }: KnownPlace): Place {
  return { key, city, state }
}

/** Mexican states have three-letter codes. */
function isMexicanState(state: string): boolean {
  return state.length === 3
}
