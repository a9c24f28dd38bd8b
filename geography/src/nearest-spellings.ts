import { foldCity, type Place } from '#engine/place.ts'
import { editDistance } from '#geography/edit-distance.ts'
import { gazetteer, type KnownPlace, placesNamed } from '#geography/gazetteer.ts'
import { type LocatedPlace, locate } from '#geography/locate.ts'
import { readAnyPlace } from '#geography/read-place.ts'
import { statesMeantBy } from '#geography/state-codes.ts'

/** Maximum number of suggestions in an error message. */
const spellingsMax = 5

/** Longer than any place name. Further characters are ignored. */
const textLengthMax = 100

/**
 * Known places with a spelling similar to a text that names no known place, best first, for error messages. Cities in
 * the same state with one typing error come first, then the same name in other states, then names with more errors.
 * Empty if there is none. Callers must not replace the text without confirmation.
 *
 * @example nearestSpellings('Dalas, TX')[0] // 'Dallas, TX'
 */
export function nearestSpellings(text: string): string[] {
  const short = text.slice(0, textLengthMax)
  const read = readAnyPlace(short)
  const place = 'value' in read ? read.value : null
  // The place may follow a street: "1 Main St, Dallas, TX 75201".
  const located = (place && locate(place)) ?? placeAfterComma(short)
  return located ? [nameOf(located)] : placesNear(place?.city ?? short.split(',')[0] ?? '', place)
}

function placeAfterComma(text: string): LocatedPlace | null {
  const rest = text.includes(',') ? text.slice(text.indexOf(',') + 1) : ''
  const read = rest.slice(1, -1).includes(',') ? readAnyPlace(rest) : null
  return read !== null && 'value' in read ? locate(read.value) : null
}

function placesNear(city: string, place: Place | null): string[] {
  const folded = foldCity(city)
  if (folded === '') return []
  const states = place === null ? [] : statesMeantBy(place.state).flat()
  const { byName, byState } = gazetteer()
  const spelledNearly = states.length === 0 ? byName : states.flatMap((state) => byState.get(state) ?? [])
  const letters = lettersOf(folded)
  const most = Math.min(3, Math.max(1, Math.floor(folded.length / 4)))
  const near = spelledNearly.flatMap((known) => {
    const difference = Math.abs(known.folded.length - folded.length)
    if (difference > most) return []
    // Exchanged letters, as in Chigaco, are two errors at once.
    const isExchange = difference === 0 && lettersOf(known.folded) === letters
    const rank = editDistance(folded, known.folded, isExchange ? most + 1 : most)
    return rank <= (isExchange ? most + 1 : most) ? [{ known, rank }] : []
  })
  const sameName = states.length === 0 ? [] : placesNamed(folded)
  return [...near, ...sameName.map((known) => ({ known, rank: sameNameRank }))]
    .sort((a, b) => a.rank - b.rank || b.known.population - a.known.population)
    .slice(0, spellingsMax)
    .map(({ known }) => nameOf(known))
}

/** The letters of a name in the order of the alphabet. */
const lettersOf = (name: string) => [...name].sort().join('')

/** The rank of the same name in another state: after one typing error in this state, before two. */
const sameNameRank = 1.5

function nameOf({ city, state }: Pick<KnownPlace, 'city' | 'state'>): string {
  return `${city}, ${state}`
}
