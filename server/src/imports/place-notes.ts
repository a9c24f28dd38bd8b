import { setImmediate } from 'node:timers/promises'
import { unknownPlacesLookedUpMax } from '#contract/limits.ts'
import { nearestSpellings } from '#geography/nearest-spellings.ts'
import { quoted } from '../csv/index.ts'
import type { NewQuote } from '../database/queries/index.ts'
import { howMany, type ImportNote } from './import-notes.ts'

/** A place that is not known. */
interface UnknownPlace {
  /** As it is stored: `Chigaco, IL`. */
  readonly name: string
  /** The line of its first row. */
  readonly line: number
  rows: number
  /** Known places with a similar spelling, closest first. */
  closest: readonly string[]
}

/** Different places that are counted. A file of more is not one of quotes; their keys take some megabytes. */
const countedMax = 20_000
/** Places that the sentences name: as many as can be read at a glance. */
const namedMax = 5
/** Similar places that a sentence offers for one name. */
const offeredMax = 2

/** Counts the places of a file that are not known, and names the first ones, with known places of a similar spelling. */
export class UnknownPlaces {
  readonly #first = new Map<string, UnknownPlace>()
  readonly #others = new Set<string>()
  #rows = 0

  /** Adds the places of a row. A place without a market is not known. */
  add(line: number, quote: NewQuote): void {
    const ends = [
      { name: quote.origin, key: quote.origin_key, market: quote.origin_market },
      { name: quote.destination, key: quote.destination_key, market: quote.destination_market },
    ].filter(({ market }) => market === null)
    if (ends.length > 0) this.#rows++
    for (const { name, key } of ends) {
      const known = this.#first.get(key)
      if (known !== undefined) known.rows++
      else if (this.#first.size < unknownPlacesLookedUpMax) {
        this.#first.set(key, { name, line, rows: 1, closest: [] })
      } else if (this.#others.size < countedMax) this.#others.add(key)
    }
  }

  /** Looks for similar known places, for the first places only, because each takes some milliseconds. */
  async lookUp(): Promise<void> {
    for (const place of this.#first.values()) {
      // A number is that of a site.
      if (/^\d+,/.test(place.name)) continue
      place.closest = nearestSpellings(place.name).slice(0, offeredMax)
      // Requests run before the next place.
      await setImmediate()
    }
  }

  /** How many places are not known, and what the first ones may mean. None if all are known. */
  get notes(): ImportNote[] {
    const count = this.#first.size + this.#others.size
    if (count === 0) return []
    const meant = [...this.#first.values()].filter(({ closest }) => closest.length > 0)
    const other = [...this.#first.values()].filter(({ closest }) => closest.length === 0)
    const such = other.slice(0, namedMax).map(({ name, line }) => `${quoted(name)} (line ${line})`)
    const are = count === 1 ? 'is not known and is' : 'are not known and are'
    const named = such.length === 0 ? '' : `, such as ${such.join(', ')}`
    const all = `${howMany(count, 'place')} in ${howMany(this.#rows, 'row')} ${are} stored as written${named}.`
    const more = meant.length - namedMax
    return [
      noteOf(all),
      ...meant.slice(0, namedMax).map((place) => noteOf(question(place))),
      ...(more > 0 ? [noteOf(`${howMany(more, 'more place')} may be misspelled, too.`)] : []),
    ]
  }
}

function question({ name, line, rows, closest }: UnknownPlace): string {
  const others = rows === 1 ? '' : ` and ${howMany(rows - 1, 'more row')}`
  return `${quoted(name)} (line ${line}${others}) is not known. Did you mean ${closest.join(' or ')}?`
}

const noteOf = (detail: string): ImportNote => ({
  code: 'unknown_places',
  column: null,
  detail,
  choices: [],
})
