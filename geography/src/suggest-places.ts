import { foldCity } from '#engine/place.ts'
import { prefixEditDistance } from '#geography/edit-distance.ts'
import { gazetteer, type KnownPlace } from '#geography/gazetteer.ts'

/** A place offered while somebody types. */
export interface PlaceSuggestion {
  /** As a lane's end is written: `Dallas, TX`. */
  readonly place: string
  readonly city: string
  readonly state: string
  readonly population: number
}

/** No name is longer; more is not worth comparing. */
const typedLengthMax = 60

/**
 * Places whose names begin as typed: those in use first, the most used before the others, then the most populous; where
 * these are too few, places whose names begin nearly so (one typing error from four letters on, two from eight).
 * `dallas, t` keeps to states that begin with T. An offer to choose from, never a choice made. Nothing typed: the places
 * in use alone.
 *
 * @param limit at most this many, best first
 * @param uses how often each place is quoted, by its key; keys of no known place are passed over
 * @example suggestPlaces('fort w', 1)[0]?.place // 'Fort Worth, TX'
 * @example suggestPlaces('dal', 1, new Map([['dalton|GA', 3]]))[0]?.place // 'Dalton, GA'
 */
export function suggestPlaces(
  text: string,
  limit: number,
  uses: ReadonlyMap<string, number> = new Map(),
): PlaceSuggestion[] {
  const [cityText = '', stateText = ''] = text.slice(0, typedLengthMax).split(',')
  const typed = typedNames(cityText)
  const state = stateText.trim().toUpperCase()
  if (limit < 1) return []

  const begun = new Set(
    (typed.length === 0 ? placesCalled(uses.keys()) : typed.flatMap((name) => placesBeginning(name))).filter(
      (place) => inState(place, state),
    ),
  )
  const exact = new Set(typed)
  const used = (place: KnownPlace) => uses.get(place.key) ?? 0
  const suggestions = [...begun].sort(
    (a, b) =>
      used(b) - used(a) ||
      Number(exact.has(b.folded)) * b.population - Number(exact.has(a.folded)) * a.population ||
      byPopulation(a, b),
  )
  if (suggestions.length < limit && typed.length > 0) {
    const name = typed[0] ?? ''
    suggestions.push(...placesNearlyBeginning(name, state).filter((place) => !begun.has(place)))
  }
  return suggestions.slice(0, limit).map(({ city, state: code, population }) => ({
    place: `${city}, ${code}`,
    city,
    state: code,
    population,
  }))
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

function placesCalled(keys: Iterable<string>): KnownPlace[] {
  const { byKey } = gazetteer()
  return [...keys].flatMap((key) => byKey.get(key) ?? [])
}

/** By bisection in the names' order. */
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

function placesNearlyBeginning(name: string, state: string): KnownPlace[] {
  const most = name.length >= 8 ? 2 : name.length >= 4 ? 1 : 0
  if (most === 0) return []
  const near: { place: KnownPlace; errors: number }[] = []
  for (const place of gazetteer().byName) {
    // Nobody mistypes the first letter often, and looking only there keeps typing quick.
    if (place.folded[0] !== name[0] || !inState(place, state)) continue
    const errors = prefixEditDistance(name, place.folded, most)
    if (errors <= most) near.push({ place, errors })
  }
  return near.sort((a, b) => a.errors - b.errors || byPopulation(a.place, b.place)).map(({ place }) => place)
}

function inState(place: KnownPlace, state: string): boolean {
  return place.state.startsWith(state)
}

function byPopulation(a: KnownPlace, b: KnownPlace): number {
  return b.population - a.population || (a.key < b.key ? -1 : 1)
}
