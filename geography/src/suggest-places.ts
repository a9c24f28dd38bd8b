import { foldCity, type Place, readPlace } from '#engine/place.ts'
import { prefixEditDistance } from '#geography/edit-distance.ts'
import { gazetteer, type KnownPlace } from '#geography/gazetteer.ts'
import { locate } from '#geography/locate.ts'

/** An autocomplete suggestion for a place. */
export interface PlaceSuggestion {
  /** The value for an origin or destination: `Dallas, TX`. */
  readonly place: string
  readonly city: string
  readonly state: string
  readonly population: number
}

export interface PlaceSuggestions {
  /** Known places that match the text, best first. */
  readonly places: readonly PlaceSuggestion[]
  /**
   * The text itself as a place, if it names a city and a state that are not a known place: `Smallville, TX`. It may
   * be a small village or a misspelling; only the person who typed it knows. Null for any other text.
   */
  readonly asTyped: string | null
}

/** Longer than any place name. Further characters are ignored. */
const typedLengthMax = 60

/**
 * If a city's name is a prefix of the name of a city this many times larger, the text may be unfinished: "orland" means
 * Orlando rather than Orland, CA.
 */
const muchLarger = 20

/** How well a place matches the text. Lower ranks come first. */
const rank = {
  /** The text is the city and the state, with or without a comma. */
  cityAndState: 0,
  /** The text is the city, without a state or with a partial state. */
  city: 1,
  /** The text is a prefix of the name. */
  beginning: 2,
  /** Without a comma: the last word is a prefix of the state, and the other words are a prefix of the name. */
  beginningAndState: 3,
} as const

/**
 * Suggests known places for the text in a field, best first: by `rank`, then the most quoted, then the most populous.
 * If there are fewer than `limit` and no full match of city and state, places follow whose names start almost as
 * typed (one typing error from four letters on, two from eight). For an empty text, suggests the places in `uses`.
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

/** One interpretation of the text as a city and a state. */
interface Reading {
  /** The normalized names that the city text may mean. */
  readonly names: readonly string[]
  /** The text of the state in upper case: possibly partial or empty. */
  readonly state: string
  /** The city and the state, if the state is complete. */
  readonly place: Place | null
  /** Whether the state was split off at a space: the whole text may then also be a prefix of a city name. */
  readonly isGuess: boolean
}

/**
 * Interprets the text. With a comma there is one interpretation. Without a comma, the last words may be a state
 * ("dallas tx", "santa fe new mexico") or part of the city ("el pa" is El Paso).
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

/** The places that match any of the interpretations, each with its best rank. */
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
    // "fort la" is more likely a prefix of Fort Lauderdale than a place named Fort in Louisiana.
    if (!isGuess || best > rank.beginning) return `${place.city}, ${place.state}`
  }
  return null
}

/**
 * The normalized names that the typed text may mean. The last word may be partial: "st" means Saint, but is also a
 * prefix of Stockton.
 */
function typedNames(text: string): string[] {
  const whole = foldCity(text)
  const words = text.trim().split(/\s+/)
  const last = (words.pop() ?? '').toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
  const unfinished = [foldCity(words.join(' ')), last].filter((part) => part !== '').join(' ')
  return [...new Set([whole, unfinished])].filter((name) => name !== '')
}

/** The places whose normalized name starts with `name`, by binary search in the sorted `byName`. */
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
    // Only names with the same first letter are compared, for speed. The first letter is rarely mistyped.
    if (place.folded[0] !== name[0] || !inState(place, reading)) continue
    const errors = prefixEditDistance(name, place.folded, most)
    if (errors <= most) near.push({ place, errors })
  }
  return near.sort((a, b) => a.errors - b.errors || byPopulation(a.place, b.place)).map(({ place }) => place)
}

/** Whether a place is in the typed state, which may be a prefix of a code or a full name. */
function inState(known: KnownPlace, { state, place }: Reading): boolean {
  return known.state.startsWith(state) || known.state === place?.state
}

function byPopulation(a: KnownPlace, b: KnownPlace): number {
  return b.population - a.population || (a.key < b.key ? -1 : 1)
}
