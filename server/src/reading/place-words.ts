import { foldCity, readState } from '#engine/place.ts'
import { airports, nicknames } from '#geography/freight-names.ts'
import { placesNamed } from '#geography/gazetteer.ts'
import { locate } from '#geography/locate.ts'
import { nearestSpellings } from '#geography/nearest-spellings.ts'
import { placeNamedAlone } from '#geography/other-names.ts'
import { placeName, readAnyPlace } from '#geography/read-place.ts'
import { TakenText } from './taken-text.ts'

/** A place that a text names, or words that may name one. */
export interface PlaceMention {
  readonly at: number
  readonly end: number
  readonly text: string
  /** The known place, `Dallas, TX`; null if it is a question. */
  readonly place: string | null
  /** Why it is a question, with the possible places. */
  readonly ask: { readonly detail: string; readonly options: readonly string[] } | null
  /** A city with its state. Other words, such as a ZIP code or DFW, name a place only next to another or to `from`, `to`. */
  readonly isFirm: boolean
}

interface Token {
  readonly at: number
  readonly end: number
  readonly text: string
}

const tokensOf = (text: string): Token[] =>
  [...text.matchAll(/[\p{L}\p{M}][\p{L}\p{M}'’]*|\d+/gu)].map((one) => ({
    at: one.index,
    end: one.index + one[0].length,
    text: one[0],
  }))

/** Codes of states that are also words: without a comma they must be in capitals, with a place, a code or an end next to them. */
const wordCodes = new Set('in or me ok hi oh on de la al pa ma id co as so no'.split(' '))
/** Words that come before a city without being part of its name. */
const boundaryWords = new Set(
  `a an and any around at be between both by city deliver delivered delivering delivers delivery dest destination drop drops
  dropping ex final for from go goes going haul hauling in into is its area lane lanes leaving load loading loads located move
  moving my near need needs of off on or origin originating our out outside over per pick picking picks pickup pickups plus
  please point price pricing quote quotes quoting rate rates receiver route run running runs ship shipper shipping ships spot
  stop stops that the their then this through thru to truck trucks trucking unload unloading up via was we with within you your
  consignee cons shpr dst org orig orgn del dlvr pu dp rfq rfp re fw fwd van vans reefer reefers flatbed flatbeds flat dry hotshot
  stepdeck conestoga hot urgent asap today tomorrow inc llc ltd co corp company foods warehouse plant terminal logistics storage
  distribution center centre facility st street ave avenue rd road blvd drive dr way hwy highway pkwy parkway lane ln suite ste
  unit dock bldg building mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday am pm
  lbs pounds pallets plts skids de desde hasta hacia para a al en vers depuis jusqu von nach bis ab aus à mx us usa zip dba
  customer facility's store yard team solo expedited loads
  extra additional second first third last next also but have has get got are it do can could would should if when where`
    .split(/\s+/)
    .filter((word) => word !== ''),
)
const directions = new Set(
  `north south east west new old port fort lake mount saint san santa los las el la upper lower big little grand n s e w ft mt st
  northeast northwest southeast southwest central downtown greater metro`
    .split(/\s+/)
    .filter((word) => word !== ''),
)
const stateNames = new Set(
  'alabama alaska arizona arkansas california colorado connecticut delaware florida georgia idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington wisconsin wyoming ontario quebec manitoba mexico durango'
    .split(' ')
    .concat([
      'new york',
      'new mexico',
      'new jersey',
      'new hampshire',
      'north carolina',
      'south carolina',
      'north dakota',
      'south dakota',
      'west virginia',
      'rhode island',
    ]),
)

const isCapital = (word: string) => /^\p{Lu}/u.test(word)
const isUpper = (word: string) => word === word.toUpperCase() && /\p{L}/u.test(word)
const endOfLine = (text: string, at: number) => {
  const found = text.indexOf('\n', at)
  return found < 0 ? text.length : found
}

/** The state at a token, longest first: `West Virginia` before `Virginia`. */
function stateAt(
  text: string,
  tokens: readonly Token[],
  nth: number,
): { state: string; last: number } | null {
  for (const count of [3, 2, 1]) {
    const words = tokens.slice(nth, nth + count)
    const [first] = words
    const last = words.at(-1)
    if (words.length < count || first === undefined || last === undefined) continue
    const written = text.slice(first.at, last.end)
    if (/[\n\t,;\d]/.test(written) || written.length > 30) continue
    const isAbbreviated = count === 2 && /^\p{L}\. ?\p{L}$/u.test(written)
    if (count === 2 && first.text.length < 3 && !isAbbreviated && !/^(N|S|W)$/i.test(first.text)) continue
    const state = readState(written)
    if (state !== null) return { state, last: nth + count - 1 }
  }
  return null
}

/** Whether a state code without a full name is meant as a state where it stands. */
function isMeantAsState(text: string, gap: string, code: Token): boolean {
  if (code.text.length > 3) return true
  const lower = code.text.toLowerCase()
  const hasComma = gap.includes(',') || gap.includes('(')
  const isCode = isUpper(code.text)
  if (code.text.length === 3) return isCode && hasComma
  if (!wordCodes.has(lower)) return true
  const after = text.slice(code.end, code.end + 14)
  const isAtEnd =
    /^\.?\s*$|^\.?\s*(?:[\n\t,;:|>→)(/&+–—-]|\d{5}|to\b|into\b|thru\b|and\b|y\b|a\b|2\s)/iu.test(after)
  if (isCode && hasComma) return true
  if (isCode && !isUpper(text.slice(lineStart(text, code.at), code.at))) return true
  return isAtEnd && (isCode || hasComma || /^\s*(?:to\b|\d{5}|>|-|→)/.test(after))
}

const lineStart = (text: string, at: number) => text.lastIndexOf('\n', at - 1) + 1
const isInnerGap = (gap: string) => gap === ' ' || gap === '-' || gap === '. ' || gap === '.' || gap === '  '

/** Where the words before a state may begin, the nearest first. */
function cityStarts(text: string, tokens: readonly Token[], last: number): number[] {
  const starts: number[] = []
  for (let nth = last; nth >= 0 && nth > last - 5; nth--) {
    const token = tokens[nth]
    const next = tokens[nth + 1]
    if (token === undefined) break
    if (nth < last && next !== undefined && !isInnerGap(text.slice(token.end, next.at))) break
    starts.push(nth)
  }
  return starts
}

const zipAfter =
  /^(?: ?,? ?\(?|\t)(\d{5})(?:-\d{4})?\)?(?![\d$%]|[.,]\d| ?(?:lbs?|pounds|#|k\b|kgs?|miles|mi\b|pcs|pieces|cases|usd))/i
const canadianAfter = /^(?: ?,? ?\(?|\t)([ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d)\)?(?![\p{L}\d])/iu
const countryAfter = /^,? (?:USA|U\.S\.A\.|United States|Canada|M[eé]xico|MX)(?!\p{L})/iu

function asked(
  at: number,
  end: number,
  text: string,
  detail: string,
  options: readonly string[],
): PlaceMention {
  return { at, end, text: text.slice(at, end), place: null, ask: { detail, options }, isFirm: true }
}

/** The place of a city and a state, with a postal code after it. */
function withState(
  text: string,
  tokens: readonly Token[],
  nth: number,
  state: string,
  last: number,
  starts: readonly number[],
  spellings: (name: string) => readonly string[],
): PlaceMention | null {
  const stateEnd = tokens[last]?.end ?? 0
  const cityEnd = tokens[nth - 1]?.end ?? 0
  const begin = starts.findLast((start) => {
    const city = text.slice(tokens[start]?.at ?? 0, cityEnd)
    const isWord = boundaryWords.has(city.toLowerCase()) && (!isCapital(city) || /^to$/i.test(city))
    return /\p{L}/u.test(city) && !isWord && locate({ city, state }) !== null
  })
  const rest = text.slice(stateEnd, endOfLine(text, stateEnd)).slice(0, 40)
  const dot = rest.startsWith('.') && !/^\.\d/.test(rest) ? 1 : 0
  const code = zipAfter.exec(rest) ?? canadianAfter.exec(rest) ?? zipAfter.exec(rest.slice(dot))
  const codeEnd = code === null ? stateEnd : stateEnd + (rest.startsWith(code[0]) ? 0 : dot) + code[0].length
  const abroad = countryAfter.exec(text.slice(codeEnd, codeEnd + 20))
  const end = codeEnd + (abroad?.[0].length ?? 0)
  if (begin === undefined) return unknownPlace(text, tokens, nth, state, starts, end, spellings)
  const first = tokens[begin]
  if (first === undefined) return null
  const city = text.slice(first.at, cityEnd)
  const located = locate({ city, state })
  if (located === null) return null
  const name = placeName(located, located)
  if (code?.[1] !== undefined) {
    const read = readAnyPlace(`${city}, ${state} ${code[1]}`)
    if (!('value' in read)) {
      return asked(first.at, end, text, `The place must be ${read.wrong}`, [name])
    }
  }
  const before = tokens[begin - 1]
  const isNext = before !== undefined && isInnerGap(text.slice(before.end, first.at))
  if (isNext && mayBelongTo(before.text, first.text, text.slice(lineStart(text, first.at), end))) {
    return asked(
      first.at,
      end,
      text,
      `"${before.text} ${city}, ${state}" is not a known place; is it ${name}`,
      [name],
    )
  }
  const shorter = starts.find(
    (start) =>
      start > begin &&
      isCapital(tokens[start]?.text ?? '') &&
      locate({ city: text.slice(tokens[start]?.at ?? 0, cityEnd), state }) !== null,
  )
  if (shorter !== undefined && !isCapital(first.text)) {
    const other = locate({ city: text.slice(tokens[shorter]?.at ?? 0, cityEnd), state })
    return asked(first.at, end, text, `"${city}, ${state}" may be two places`, [
      name,
      ...(other === null ? [] : [placeName(other, other)]),
    ])
  }
  return { at: first.at, end, text: text.slice(first.at, end), place: name, ask: null, isFirm: true }
}

/** Whether the word before a city may be a part of its name. */
function mayBelongTo(before: string, first: string, line: string): boolean {
  const word = before.toLowerCase().replace(/['’]s$/, '')
  if (/^\d/.test(word)) return false
  if (directions.has(word) && !['st', 's', 'e', 'la', 'a'].includes(word)) return true
  if (boundaryWords.has(word)) return false
  const isSameCase = !/\p{Ll}/u.test(line) || !/\p{Lu}/u.test(line)
  return isSameCase || isCapital(before) === isCapital(first)
}

/** Longer than any name of a city. */
const cityLengthMax = 50
/** A search among all names takes up to a millisecond. */
const spellingsMax = 20

/** The known names like one that is unknown, for the first unknown ones of a text. */
function limitedSpellings(): (name: string) => readonly string[] {
  const known = new Map<string, readonly string[]>()
  return (name) => {
    const found = known.get(name) ?? (known.size < spellingsMax ? nearestSpellings(name) : [])
    if (known.size < spellingsMax) known.set(name, found)
    return found
  }
}

/** A city that no data contain, in a state: probably misspelled. */
function unknownPlace(
  text: string,
  tokens: readonly Token[],
  nth: number,
  state: string,
  starts: readonly number[],
  end: number,
  spellings: (name: string) => readonly string[],
): PlaceMention | null {
  const own: number[] = []
  for (const start of starts) {
    const word = tokens[start]?.text ?? ''
    if (/^\d/.test(word) || (own.length > 0 && boundaryWords.has(word.toLowerCase()))) break
    own.push(start)
    if (own.length === 3) break
  }
  const begin = tokens[own.at(-1) ?? -1]
  const code = tokens[nth]?.text ?? ''
  if (state.length > 2 || /^(?:dc|pu|no|so|as)$/i.test(code)) return null
  const city = text.slice(begin?.at ?? 0, tokens[nth - 1]?.end ?? 0)
  if (
    begin === undefined ||
    city.length < 3 ||
    city.length > cityLengthMax ||
    boundaryWords.has(city.toLowerCase())
  )
    return null
  const gap = text.slice(tokens[nth - 1]?.end ?? 0, tokens[nth]?.at ?? 0)
  const isWritten = gap.includes(',') || (isUpper(tokens[nth]?.text ?? '') && isCapital(begin.text))
  if (!isWritten || (tokens[nth]?.text.length ?? 0) > 3) return null
  const name = `${city}, ${state}`
  return asked(begin.at, end, text, `"${name}" is not a known place`, spellings(name))
}

function placesWithStates(text: string): PlaceMention[] {
  const tokens = tokensOf(text)
  const found: PlaceMention[] = []
  const spellings = limitedSpellings()
  for (let nth = 1; nth < tokens.length; nth++) {
    const token = tokens[nth]
    const before = tokens[nth - 1]
    if (
      token === undefined ||
      before === undefined ||
      /^\d/.test(token.text) ||
      before.at < (found.at(-1)?.end ?? 0)
    )
      continue
    const gap = text.slice(before.end, token.at)
    if (!/^(?:[ \t]{1,2}|\.? ?[,，] {0,2}|, ?\t|\t, ?| \(|\. )$/.test(gap)) continue
    const read = stateAt(text, tokens, nth)
    const following = tokens[(read?.last ?? nth) + 1]
    // "Ontario, CA" and "Kansas City, MO": the name of a state is a part of the city.
    const isInCity =
      read !== null &&
      token.text.length > 3 &&
      following !== undefined &&
      /^(?: City)?,? ?[A-Z]{2}(?![\p{L}])/u.test(text.slice(tokens[read.last]?.end ?? 0))
    if (isInCity) continue
    if (read === null || !isMeantAsState(text, gap, token)) continue
    if (read.last > nth && gap !== ', ' && gap.trim() !== ',' && gap !== ' ' && gap !== '\t') continue
    const starts = cityStarts(text, tokens, nth - 1)
    const mention = withState(text, tokens, nth, read.state, read.last, starts, spellings)
    if (mention === null || (mention.place === null && read.last === nth && token.text.length > 3)) continue
    // "Kansas City Missouri": a longer state at the next word may be meant.
    found.push(mention)
    nth = read.last
  }
  return found
}

/** Codes and nicknames that name several cities, or are words too often. */
const unclear: Readonly<Record<string, readonly string[]>> = {
  KC: ['Kansas City, MO', 'Kansas City, KS'],
  Nash: ['Nashville, TN'],
  Jville: ['Jacksonville, FL', 'Jacksonville, NC'],
  Bham: ['Birmingham, AL', 'Bellingham, WA'],
  Lville: ['Louisville, KY'],
  Corpus: ['Corpus Christi, TX'],
  Pitt: ['Pittsburgh, PA'],
  Clev: ['Cleveland, OH'],
  ONT: ['Ontario, CA'],
  TO: ['Toronto, ON'],
}
/** Codes that are days or words: they name a place only between two ends of a route. */
export const wordLikeCodes = new Set([
  'SAT',
  'DAY',
  'FAT',
  'MOB',
  'SAN',
  'DEN',
  'LIT',
  'IND',
  'AUS',
  'JAN',
  'DAL',
  'CHI',
  'LA',
  'SF',
  'TJ',
  'MEX',
  'ATX',
  'SAC',
  'SAV',
  'RIC',
  'PIT',
  'MFE',
])

function codesOf(text: string): PlaceMention[] {
  const found: PlaceMention[] = []
  for (const one of text.matchAll(
    /(?<![\p{L}\d$#./&-])(?:[A-Z]{2,4}|[A-Z][a-z]+)(?![\p{L}\d&]|['’]\p{L})/gu,
  )) {
    const code = one[0]
    // "Our Atlanta DC" is a distribution center.
    if (code === 'DC') continue
    if (!Object.hasOwn(airports, code) && !Object.hasOwn(nicknames, code) && !Object.hasOwn(unclear, code))
      continue
    const known = placeNamedAlone(foldCity(code))
    const place = known === null ? null : `${known.city}, ${known.state}`
    const options = Object.hasOwn(unclear, code) ? (unclear[code] ?? []) : null
    const ask = options === null ? null : { detail: `"${code}" may be more than one place`, options }
    found.push({
      at: one.index,
      end: one.index + code.length,
      text: code,
      place: ask === null ? place : null,
      ask,
      isFirm: false,
    })
  }
  return found
}

const bareCode =
  /(?<![\d$#.,:/+(-]|\d )(?:\d{5}(?:-\d{4})?|[ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d)(?![\d%\p{L}]|[.,:/]\d| ?(?:lbs?|pounds|#|k\b|kgs?|miles|mi\b|pcs|pieces|cases|usd|pallets|sq)\b| ?#)/giu

function postalCodesOf(text: string): PlaceMention[] {
  const found: PlaceMention[] = []
  for (const one of text.matchAll(bareCode)) {
    const end = one.index + one[0].length
    const named =
      /(?:\b(?:po|ref|load|order|bol|pro|invoice|number|no|id|wt|weight|suite|box|ext|phone|tel|fax|mc|dot|usdot)\b\.?|#) ?(?:number|no|#)?[.:]? ?#?$/i
    if (named.test(text.slice(Math.max(0, one.index - 24), one.index))) continue
    const read = readAnyPlace(one[0])
    if (!('value' in read)) {
      found.push({
        at: one.index,
        end,
        text: one[0],
        place: null,
        ask: { detail: `The place must be ${read.wrong}`, options: [] },
        isFirm: false,
      })
      continue
    }
    found.push({ at: one.index, end, text: one[0], place: placeName(read.value), ask: null, isFirm: false })
  }
  return found
}

/**
 * A city without its state. If only one known place has the name, it is that one; else it is a question.
 *
 * @param written the words as they stand in the text
 */
export function cityAlone(written: string, at: number): PlaceMention | null {
  const folded = foldCity(written)
  const nickname = isCapital(written) && !Object.hasOwn(unclear, written) ? placeNamedAlone(folded) : null
  const named = [...placesNamed(folded)].sort((a, b) => b.population - a.population)
  if (named.length === 0 && nickname === null) return null
  const base = { at, end: at + written.length, text: written, isFirm: false }
  const names = named.map(({ city, state }) => `${city}, ${state}`)
  const isState = readState(written) !== null || stateNames.has(folded)
  if (nickname !== null && named.length === 0 && !isState) {
    return { ...base, place: `${nickname.city}, ${nickname.state}`, ask: null }
  }
  const [only] = names
  if (
    only !== undefined &&
    names.length === 1 &&
    !isState &&
    isCapital(written) &&
    (named[0]?.population ?? 0) >= 2_000
  ) {
    return { ...base, place: only, ask: null }
  }
  const detail = isState ? `"${written}" may be a state or a city` : `"${written}" has no state`
  return {
    ...base,
    place: null,
    ask: { detail: `${detail}: which place is meant`, options: names.slice(0, 8) },
  }
}

const unlikely = new Set(
  'the a an our your this that my it be in on at we you and or for of with is are see load rate quote need want get move ship go all any best thanks please ready price reading mobile today tomorrow monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december van reefer flatbed dry power only pick up pickup delivery deliver drop fuel all-in target rates lanes loads truck trucks full week day date'.split(
    ' ',
  ),
)

/** The longest city name that begins at an offset. */
function cityFrom(text: string, at: number, needsCapital: boolean): PlaceMention | null {
  const rest = text.slice(at, Math.min(endOfLine(text, at), at + 60))
  const words = tokensOf(rest)
  const isJoined = (nth: number) =>
    /^(?: |-|\. ?)$/.test(rest.slice(words[nth - 1]?.end ?? 0, words[nth]?.at ?? 0))
  for (const count of [4, 3, 2, 1]) {
    const last = words[count - 1]
    if (last === undefined || words[0]?.at !== 0) continue
    if (Array.from({ length: count - 1 }, (_, nth) => isJoined(nth + 1)).includes(false)) continue
    const written = rest.slice(0, last.end)
    if (/\d/.test(written)) continue
    if (needsCapital && !isCapital(written)) continue
    if (unlikely.has(written.toLowerCase()) || written.length < 3) continue
    const found = cityAlone(written, at)
    if (found !== null) return found
  }
  return null
}

/** The longest city name that ends at an offset. */
function cityUpTo(text: string, end: number): PlaceMention | null {
  const begin = Math.max(lineStart(text, end), end - 60)
  const words = tokensOf(text.slice(begin, end))
  if (words.at(-1)?.end !== end - begin) return null
  for (const count of [4, 3, 2, 1]) {
    const first = words.at(-count)
    if (first === undefined) continue
    const written = text.slice(begin + first.at, end)
    if (
      !isCapital(written) ||
      /[\t,;|:\d]/.test(written) ||
      written.length < 3 ||
      unlikely.has(written.toLowerCase())
    )
      continue
    const found = cityAlone(written, begin + first.at)
    if (found === null) continue
    const before = words.at(-count - 1)
    const gap = before === undefined ? '' : text.slice(begin + before.end, begin + first.at)
    const isLonger =
      before !== undefined &&
      isInnerGap(gap) &&
      isCapital(before.text) &&
      !boundaryWords.has(before.text.toLowerCase()) &&
      !/^\d/.test(before.text)
    if (isLonger && found.place !== null) {
      return {
        ...found,
        place: null,
        ask: { detail: `"${before.text} ${written}" is not a known place`, options: [found.place] },
      }
    }
    return found
  }
  return null
}

const joints =
  /[ \t](?:to|into|2|-{1,2}>?|–|—|>{1,2}|=>|→|➔|⇒|\/{1,2}|a|à|nach|hasta)[ \t]+(?=\p{L})|[ \t]?(?:->|→|>|➔)[ \t]?(?=\p{L})/giu
const cues =
  /(?:\b(?:from|to|out of|origin|destination|dest|orig|pick(?:ing)?[ -]?up(?: in| at| from)?|pu|p\/u|deliver(?:y|ing|s)?(?: to| in| at)?|drop(?: in| at)?|consignee|shipper|stop(?: in| at)?|via|o|d|desde|hasta|de|hacia)\b[ \t]{0,9}(?:[:=-][ \t]{0,9}|\t)?[ \t]{0,9})(?=\p{L})/giu

/** Cities without states: next to `to`, an arrow or a dash with another place, or after `from`, `origin:` and the like. */
function citiesAlone(text: string, known: readonly PlaceMention[]): PlaceMention[] {
  const found: PlaceMention[] = []
  const taken = new TakenText(text, known)
  const add = (one: PlaceMention | null) => {
    if (one !== null && taken.take(one)) found.push(one)
  }
  const endsAt = new Set(known.map(({ end }) => end))
  const startsAt = new Set(known.map(({ at }) => at))
  for (const one of text.matchAll(joints)) {
    const after = one.index + one[0].length
    const left = endsAt.has(one.index) ? null : cityUpTo(text, one.index)
    const right = startsAt.has(after) ? null : cityFrom(text, after, true)
    const hasLeft = endsAt.has(one.index) || left !== null
    const hasRight = startsAt.has(after) || right !== null
    if (!hasLeft || !hasRight) continue
    add(left)
    add(right)
    if (right !== null) endsAt.add(right.end)
  }
  for (const one of text.matchAll(cues)) {
    const after = one.index + one[0].length
    const word = one[0].toLowerCase()
    const isLoose = word.startsWith('from') || /[:=\t]/.test(word)
    const city = startsAt.has(after) ? null : cityFrom(text, after, !isLoose)
    if (city === null || /^\s*(?:[,.]? ?[A-Z]{2}\b)/.test(text.slice(city.end, city.end + 5))) continue
    add(city)
  }
  return found
}

/**
 * All places that a text names, in order, none twice.
 *
 * @example placesIn('Dallas, TX to Portland').map(({ place }) => place) // ['Dallas, TX', null]
 */
export function placesIn(text: string): PlaceMention[] {
  const found = placesWithStates(text)
  const taken = new TakenText(text, found)
  const add = (more: readonly PlaceMention[]) => {
    for (const one of more) if (taken.take(one)) found.push(one)
  }
  const byAt = (a: PlaceMention, b: PlaceMention) => a.at - b.at
  add(postalCodesOf(text))
  found.sort(byAt)
  add(
    citiesAlone(text, found).filter(
      ({ text: written }) => !/^[A-Z]{2,4}$/.test(written) || !Object.hasOwn(airports, written),
    ),
  )
  add(codesOf(text))
  return found.sort(byAt)
}
