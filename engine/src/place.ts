import { stateCode } from './states.ts'

/** A place as a lane names it. */
export interface Place {
  /** The folded city and the state: two spellings of one city have the same key. `saint louis|MO`. */
  readonly key: string
  /** The city as written, with its white space tidied. */
  readonly city: string
  /** The state's code, upper case. */
  readonly state: string
}

/** A place's text is at most this many code points: the longest real names stay under 60. */
export const PLACE_CODE_POINTS_MAX = 100

/**
 * Reads `City, ST`. Case, white space, accents and punctuation do not matter, nor do the usual short forms (see
 * `foldCity`); a state may be written as its code or its name. The city need not be a known one: nothing is guessed and
 * no other city is put in its place.
 *
 * Null when it is not one city, one comma and one state: no comma or two, no letter in the city, a state nobody uses,
 * over 100 code points, or a character that cannot be seen (a control or a direction mark).
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

/** The text with single spaces. Null when it is too long for a place or has a character that cannot be seen. */
export function tidyPlaceText(text: string): string | null {
  if (text.length > 2 * PLACE_CODE_POINTS_MAX || [...text].length > PLACE_CODE_POINTS_MAX) return null
  const tidy = text.normalize('NFC').replace(/\s+/g, ' ')
  return HIDDEN_CHARACTER.test(tidy) ? null : tidy
}

/** Control, format, surrogate, private and unassigned characters: none of them is part of a city's name. */
const HIDDEN_CHARACTER = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/u

/**
 * A city's name reduced to what tells cities apart: lower case, no accents, words with one space between. On whole words
 * only: St is Saint, Ste Sainte, Ft Fort, Mt Mount, N/S/E/W the direction; "Mc Allen" is McAllen and "O Fallon"
 * O'Fallon; a leading "City of" goes. SAINTES stays what it is.
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

/** Beginnings of a name that some write apart: Mc Allen, O'Fallon, Coeur d'Alene, L'Anse. */
const JOINED_TO_NEXT: ReadonlySet<string> = new Set(['mc', 'o', 'd', 'l'])

/** Letters that no decomposition turns into a plain one. */
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

/** Words of a text: an apostrophe joins (Lee's is Lees), anything else that is neither letter nor digit parts. */
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
 * The code of a state written as its code or its name, or null. It is read as one run of letters first ("N.Y." is ny,
 * "New York" newyork), then with its short forms written out ("N Dakota").
 *
 * @example readState('Texas') // 'TX'
 */
export function readState(text: string): string | null {
  const words = wordsOf(text)
  return stateCode(words.join('')) ?? stateCode(words.map((word) => LONG_FORM.get(word) ?? word).join(''))
}
