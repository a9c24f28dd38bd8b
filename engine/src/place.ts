import { stateCode } from './states.ts'

/** The origin or destination of a lane. */
export interface Place {
  /** The normalized city and the state, such as `saint louis|MO`. All spellings of a city have the same key. */
  readonly key: string
  /** The city as entered, with white space normalized. */
  readonly city: string
  /** The state's code, upper case. */
  readonly state: string
}

/** Maximum length of a place's text in code points. The longest real names have fewer than 60. */
export const PLACE_CODE_POINTS_MAX = 100

/**
 * Parses `City, ST`. Ignores case, white space, accents and punctuation, and expands common abbreviations (see
 * `foldCity`). A state may be a code or a name. The city may be unknown: it is never corrected or replaced.
 *
 * Returns null if the text is not one city, one comma and one state: no comma or several, no letter in the city, an
 * unknown state, more than 100 code points, or an invisible character (a control character or a direction mark).
 *
 * @example readPlace(' st.  louis , mo') // { key: 'saint louis|MO', city: 'st. louis', state: 'MO' }
 * @example readPlace('Dallas') // null
 */
export function readPlace(text: string): Place | null {
  const tidy = tidyPlaceText(text)
  if (tidy === null) return null
  const parts = tidy.split(/[,，]/)
  const [cityText, stateText] = parts
  if (parts.length !== 2 || cityText === undefined || stateText === undefined) return null
  const city = cityText.trim()
  const folded = foldCity(city)
  if (!/\p{L}/u.test(folded)) return null
  const state = readState(stateText)
  return state === null ? null : { key: `${folded}|${state}`, city, state }
}

/** Replaces white space by single spaces. Null if the text is too long or contains an invisible character. */
export function tidyPlaceText(text: string): string | null {
  if (text.length > 2 * PLACE_CODE_POINTS_MAX || [...text].length > PLACE_CODE_POINTS_MAX) return null
  const tidy = text.normalize('NFC').replace(/\s+/g, ' ')
  return HIDDEN_CHARACTER.test(tidy) ? null : tidy
}

/** Control, format, surrogate, private-use and unassigned characters. No city name contains them. */
const HIDDEN_CHARACTER = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/u

/**
 * Normalizes a city name for comparison: lower case, no accents, single spaces between words. Abbreviations are
 * expanded in whole words only: St to Saint, Ste to Sainte, Ft to Fort, Mt to Mount, and N/S/E/W to the direction.
 * Split prefixes are joined ("Mc Allen" to McAllen, "O Fallon" to O'Fallon). A leading "City of" is removed.
 *
 * @example foldCity("Coeur d'Alene") // 'coeur dalene'
 * @example foldCity('City of N. Saint Paul') // 'north saint paul'
 */
export function foldCity(text: string): string {
  const words = wordsOf(text).map((word) => LONG_FORM.get(word) ?? word)
  const named = words.length > 2 && words[0] === 'city' && words[1] === 'of' ? words.slice(2) : words
  const joined: string[] = []
  let prefix = ''
  for (const [at, word] of named.entries()) {
    if (JOINED_TO_NEXT.has(word) && at < named.length - 1) prefix += word
    else {
      joined.push(prefix + word)
      prefix = ''
    }
  }
  return joined.join(' ')
}

const LONG_FORM: ReadonlyMap<string, string> = new Map([
  ['st', 'saint'],
  ['ste', 'sainte'],
  ['ft', 'fort'],
  ['mt', 'mount'],
  ['n', 'north'],
  ['s', 'south'],
  ['e', 'east'],
  ['w', 'west'],
])

/** Prefixes that are sometimes written as a separate word: Mc Allen, O'Fallon, Coeur d'Alene, L'Anse. */
const JOINED_TO_NEXT: ReadonlySet<string> = new Set(['mc', 'o', 'd', 'l'])

/** Letters that Unicode decomposition does not reduce to ASCII letters. */
const PLAIN_LETTERS: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ø', 'o'],
  ['ł', 'l'],
  ['đ', 'd'],
  ['ð', 'd'],
  ['þ', 'th'],
  ['ı', 'i'],
])

/**
 * Splits a text at any character that is not a letter or a digit. Apostrophes are removed first (Lee's becomes Lees).
 */
function wordsOf(text: string): string[] {
  return text
    .replace(/['’‘ʼʻ`´]/g, '')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[ßæœøłđðþı]/g, (letter) => PLAIN_LETTERS.get(letter) ?? letter)
    .replace(/\p{M}/gu, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

/**
 * The code of a state given as a code or a name, or null if it is unknown. First the words are joined ("N.Y." is read
 * as ny, "New York" as newyork). If that is unknown, abbreviations are expanded ("N Dakota").
 *
 * @example readState('Texas') // 'TX'
 */
export function readState(text: string): string | null {
  const words = wordsOf(text)
  return stateCode(words.join('')) ?? stateCode(words.map((word) => LONG_FORM.get(word) ?? word).join(''))
}
