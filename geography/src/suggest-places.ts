import { foldCity, type Place, readPlace } from '#engine/place.ts'
import { prefixEditDistance } from '#geography/edit-distance.ts'
import { gazetteer, type KnownPlace } from '#geography/gazetteer.ts'
import { locate } from '#geography/locate.ts'

/** A place offered while somebody types. */
export interface PlaceSuggestion {
  /** As a lane's end is written: `Dallas, TX`. */
  readonly place: string
  readonly city: string
  readonly state: string
  readonly population: number
}

export interface PlaceSuggestions {
  /** Known places that the text may mean, best first. */
  readonly places: readonly PlaceSuggestion[]
  /**
   * The text itself, written as a place, where it names a city and a state that are no known place: `Smallville, TX`. It
   * is a village or a misspelling, and only the person who typed it knows which. Null for any other text.
   */
  readonly asTyped: string | null
}

/** No place name is longer, and comparing more would be a waste. */
const typedLengthMax = 60

/**
 * A name that is also the beginning of a city this many times larger may be unfinished: "orland" is Orlando before it is
 * Orland, CA.
 */
const muchLarger = 20

/** How well a place answers the text. Lower ranks come first. */
const rank = {
  /** Its city and its state are typed, with or without a comma. */
  cityAndState: 0,
  /** Its city is typed, without a state or with an unfinished one. */
  city: 1,
  /** Its name begins with the typed text. */
  beginning: 2,
  /** Without a comma: its name begins with all but the last word, and its state with the last word. */
  beginningAndState: 3,
} as const

/**
 * Suggests known places for the text in a field, best first: by `rank`, then the most quoted, then the most populous. Where
 * they are too few and none is named in full with its state, places follow whose names begin nearly as typed (one typing
 * error from four letters on, two from eight). An empty text suggests the places in use.
 *
 * @param limit the maximum number of places
 * @param uses how often each place is quoted, by its key; keys of unknown places are ignored
 * @example suggestPlaces('fort w', 1).places[0]?.place // 'Fort Worth, TX'
 * @example suggestPlaces('dallas tx', 1).places[0]?.place // 'Dallas, TX'
 * @example suggestPlaces('dal', 1, new Map([['dalton|GA', 3]])).places[0]?.place // 'Dalton, GA'
 * @example suggestPlaces('Smallville tx', 1).asTyped // 'Smallville, TX'
 */
export function suggestPlaces(
  text: string,
  limit: number,
  uses: ReadonlyMap<string, number> = new Map(),
): PlaceSuggestions {
  const readings = readingsOf(text.slice(0, typedLengthMax))
  const used = (place: KnownPlace) => uses.get(place.key) ?? 0
  const ranks = text.trim() === '' ? usedPlaces(uses) : rankedPlaces(readings, used)
  const found = [...ranks]
    .sort(([a, rankA], [b, rankB]) => rankA - rankB || used(b) - used(a) || byPopulation(a, b))
    .map(([place]) => place)
  if (found.length < limit && Math.min(...ranks.values()) > rank.cityAndState) {
    const near = new Set(readings.flatMap((reading) => placesNearlyBeginning(reading)))
    found.push(...[...near].filter((place) => !ranks.has(place)))
  }
  return {
    places: found.slice(0, Math.max(0, limit)).map(({ city, state, population }) => ({
      place: `${city}, ${state}`,
      city,
      state,
      population,
    })),
    asTyped: placeAsTyped(readings, ranks),
  }
}

/** A city and a state as the text may mean them. */
interface Reading {
  /** The names that the city may mean, folded. */
  readonly names: readonly string[]
  /** The letters of the state, upper case. They may be the beginning of a code, or empty. */
  readonly state: string
  /** The city and the state, where the state is complete. */
  readonly place: Place | null
  /** The state was split off at a space, where the whole text may as well be the beginning of a city. */
  readonly isGuess: boolean
}

/**
 * With a comma there is one reading. Without one, the last words may be a state ("dallas tx", "santa fe new mexico") or
 * belong to the city ("el pa" is El Paso).
 */
function readingsOf(text: string): Reading[] {
  const [city = '', state] = text.split(',')
  if (state !== undefined) return withNames([readingOf(city, state, false)])
  const words = text.trim().split(/\s+/)
  const guesses = [3, 2, 1].flatMap((length) =>
    length < words.length
      ? [readingOf(words.slice(0, -length).join(' '), words.slice(-length).join(' '), true)]
      : [],
  )
  const guess = guesses.find(({ place }) => place !== null) ?? guesses.at(-1)
  return withNames([...(guess === undefined ? [] : [guess]), readingOf(text, '', false)])
}

function readingOf(city: string, state: string, isGuess: boolean): Reading {
  return {
    names: typedNames(city),
    state: state.trim().toUpperCase(),
    place: readPlace(`${city}, ${state}`),
    isGuess,
  }
}

function withNames(readings: readonly Reading[]): Reading[] {
  return readings.filter(({ names }) => names.length > 0)
}

function usedPlaces(uses: ReadonlyMap<string, number>): Map<KnownPlace, number> {
  const { byKey } = gazetteer()
  return new Map(
    [...uses.keys()].flatMap((key) => byKey.get(key) ?? []).map((place) => [place, rank.beginning]),
  )
}

/** The places that answer any of the readings, each with its best rank. */
function rankedPlaces(
  readings: readonly Reading[],
  used: (place: KnownPlace) => number,
): Map<KnownPlace, number> {
  const ranks = new Map<KnownPlace, number>()
  const add = (place: KnownPlace, reached: number) =>
    ranks.set(place, Math.min(reached, ranks.get(place) ?? reached))
  for (const reading of readings) {
    const { names, place, isGuess } = reading
    const named = place === null ? null : locate(place)
    const known = named === null ? undefined : gazetteer().byKey.get(named.key)
    if (known !== undefined) add(known, rank.cityAndState)
    const begun = names.flatMap(placesBeginning).filter((one) => inState(one, reading))
    const largest = begun.reduce((most, { population }) => Math.max(most, population), 0)
    const isFinished = (one: KnownPlace) =>
      names.includes(one.folded) && (used(one) > 0 || one.population * muchLarger >= largest)
    for (const one of begun) {
      add(one, isGuess ? rank.beginningAndState : isFinished(one) ? rank.city : rank.beginning)
    }
  }
  return ranks
}

function placeAsTyped(readings: readonly Reading[], ranks: ReadonlyMap<KnownPlace, number>): string | null {
  const best = Math.min(...ranks.values())
  for (const { place, isGuess } of readings) {
    if (place === null || best === rank.cityAndState) continue
    // "fort la" is more likely the beginning of Fort Lauderdale than a Fort in Louisiana.
    if (!isGuess || best > rank.beginning) return `${place.city}, ${place.state}`
  }
  return null
}

/**
 * What the typed beginning may mean, folded. The last word may be unfinished: "st" is Saint, and also the beginning of
 * Stockton.
 */
function typedNames(text: string): string[] {
  const whole = foldCity(text)
  const words = text.trim().split(/\s+/)
  const last = (words.pop() ?? '').toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
  const unfinished = [foldCity(words.join(' ')), last].filter((part) => part !== '').join(' ')
  return [...new Set([whole, unfinished])].filter((name) => name !== '')
}

/** By bisection, because `byName` is sorted. */
function placesBeginning(name: string): KnownPlace[] {
  const { byName } = gazetteer()
  let low = 0
  let high = byName.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((byName[middle]?.folded ?? '') < name) low = middle + 1
    else high = middle
  }
  let end = low
  while (byName[end]?.folded.startsWith(name)) end++
  return byName.slice(low, end)
}

function placesNearlyBeginning(reading: Reading): KnownPlace[] {
  const name = reading.names[0] ?? ''
  const most = name.length >= 8 ? 2 : name.length >= 4 ? 1 : 0
  if (most === 0) return []
  const near: { place: KnownPlace; errors: number }[] = []
  for (const place of gazetteer().byName) {
    // The first letter is rarely mistyped, and comparing only those names keeps the answer fast.
    if (place.folded[0] !== name[0] || !inState(place, reading)) continue
    const errors = prefixEditDistance(name, place.folded, most)
    if (errors <= most) near.push({ place, errors })
  }
  return near.sort((a, b) => a.errors - b.errors || byPopulation(a.place, b.place)).map(({ place }) => place)
}

/** A state may be typed as the beginning of its code or as its whole name. */
function inState(known: KnownPlace, { state, place }: Reading): boolean {
  return known.state.startsWith(state) || known.state === place?.state
}

function byPopulation(a: KnownPlace, b: KnownPlace): number {
  return b.population - a.population || (a.key < b.key ? -1 : 1)
}
