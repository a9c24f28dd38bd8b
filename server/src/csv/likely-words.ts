import { knownEquipment } from '#engine/equipment.ts'
import { foldedWords } from './cells.ts'
import { cancelledForm } from './outcome-cells.ts'

/** Beginnings of words that hint at an outcome, in English, Spanish and French. */
const hints = [
  [
    'lost',
    /\b(lost|lose|loss|lostto|perd|reject|rechaz|rejet|declin|refus|competi|concurren|too high|outbid|beaten)/,
  ],
  [
    'won',
    /\b(won|win|winner|book|award|accept|acept|tender|cover|dispatch|deliver|entreg|livr|gan(a|o|e)|gagn|adjud|attrib|aprob|approv|confirm|transit|by carrier)/,
  ],
  ['pending', /\b(pend|wait|await|follow|working|review|open|sent|espera|attente|proces|cours|enviad|envoy)/],
  ['expired', /\b(expir|lapse|stale|venc|caduc|echu)/],
] as const
/** Words that turn an outcome around: "not won", "no ganado". */
const negations = /\b(not|never|no|non|un|pas|sin|didn t|wasn t)\b/

/**
 * What an unknown status may mean, to be confirmed by a person: `skip` for a cancelled load. Null without a hint, with two different ones,
 * or with a negation.
 *
 * @example likelyOutcome('Perdido - se fue con CHR') // 'lost'
 */
export function likelyOutcome(text: string): string | null {
  const folded = foldedWords(text)
  if (cancelledForm.test(folded)) return 'skip'
  const found = hints.filter(([, hint]) => hint.test(folded)).map(([outcome]) => outcome)
  const [outcome] = found
  if (outcome === undefined || found.length > 1) return null
  return negations.test(folded) && outcome !== 'lost' ? null : outcome
}

/** Vehicles that a known name does not describe: a sprinter van is no van. */
const otherVehicles = /\b(sprinter|cargo|box|straight|mini|moving|sea|ocean)\b/
/** The most words of a text that are searched. */
const wordsMax = 8

/**
 * The code of the only equipment that a text names, to be confirmed by a person; null if it names none, or several.
 *
 * @example likelyEquipment('53 RGN w/ tarp') // 'RGN'
 * @example likelyEquipment('Van or Reefer') // null
 */
export function likelyEquipment(text: string): string | null {
  const folded = foldedWords(text)
  if (otherVehicles.test(folded)) return null
  const words = folded.split(' ').slice(0, wordsMax)
  const codes = new Set<string>()
  for (let start = 0; start < words.length; ) {
    const phrase = [3, 2, 1]
      .map((length) => words.slice(start, start + length))
      .find((some) => some.join('').length > 1 && knownEquipment(some.join(' ')) !== null)
    if (phrase === undefined) start++
    else {
      codes.add(knownEquipment(phrase.join(' ')) ?? '')
      start += phrase.length
    }
  }
  const [code] = codes
  return codes.size === 1 ? (code ?? null) : null
}
