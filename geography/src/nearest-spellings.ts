import { foldCity, readPlace } from '#engine/place.ts'
import { editDistance } from '#geography/edit-distance.ts'
import { gazetteer, type KnownPlace } from '#geography/gazetteer.ts'
import { locate } from '#geography/locate.ts'
import { statesMeantBy } from '#geography/state-codes.ts'

/** How many spellings an error message can usefully carry. */
const spellingsMax = 5

/** No name is longer; more is not worth comparing. */
const textLengthMax = 100

/**
 * Known places spelled much like a text that names none, best first, for the answer that refuses it. A city of the same
 * state within a typing error or two comes first, then the same name in other states, then names further off. A missing
 * comma is put in ("Dallas TX"). Empty where nothing is near. The caller never takes one of these by itself.
 *
 * @example nearestSpellings('Dalas, TX')[0] // 'Dallas, TX'
 */
export function nearestSpellings(text: string): string[] {
  const short = text.slice(0, textLengthMax)
  const place = readPlace(short) ?? readPlace(withComma(short))
  const located = place && locate(place)
  if (located) return [`${located.city}, ${located.state}`]

  const folded = foldCity(place?.city ?? short.split(',')[0] ?? '')
  if (folded === '') return []
  const states = new Set(place ? statesMeantBy(place.state).flat() : [])
  const most = Math.min(3, Math.max(1, Math.floor(folded.length / 4)))
  const near: { known: KnownPlace; rank: number }[] = []
  for (const known of gazetteer().byName) {
    const inState = states.has(known.state)
    if (!inState && states.size > 0 && known.folded !== folded) continue
    if (Math.abs(known.folded.length - folded.length) > most) continue
    const errors = editDistance(folded, known.folded, most)
    if (errors <= most) near.push({ known, rank: inState ? errors : errors + 1.5 })
  }
  return near
    .sort((a, b) => a.rank - b.rank || b.known.population - a.known.population)
    .slice(0, spellingsMax)
    .map(({ known }) => `${known.city}, ${known.state}`)
}

/** "Dallas TX" with the comma people forget; a text with a comma stays as it is. */
function withComma(text: string): string {
  return text.includes(',') ? text : text.trim().replace(/[\s.;/|-]+(\p{L}{2,3})$/u, ', $1')
}
