import type { ImportWord } from '../database/schema/index.ts'
import type { Columns } from './columns.ts'
import { howMany, type ImportNote } from './import-notes.ts'
import { likelyMeaning, type Word, wordKey, wordPair } from './word-meanings.ts'

/** The most words that are listed: as many as a person states, and as a map has room for. */
const wordsMax = 100
/** A longer text is a remark. */
const textMax = 100
/** The most words that a sentence shows. */
const shownMax = 3

interface CountedWord extends Word {
  rows: number
}

/** Counts the words of a file that are not known, and those whose meanings the map states. */
export class FileWords {
  readonly #columns: Columns
  readonly #counts = new Map<string, CountedWord>()
  /** Rows with words beyond `wordsMax`, or above `textMax`. */
  #otherRows = 0

  constructor(columns: Columns) {
    this.#columns = columns
  }

  add({ field, text, savedAs }: Word): void {
    const key = `${field} ${wordKey(text)}`
    const known = this.#counts.get(key)
    if (known !== undefined) known.rows++
    else if (text.length > textMax || this.#counts.size >= wordsMax) this.#otherRows++
    // A copy, because a part of a text holds the whole text in memory; without NULs, which the database cannot save.
    else {
      const own = savedAs === undefined ? {} : { savedAs }
      this.#counts.set(key, {
        field,
        text: Buffer.from(text.replaceAll('\0', '')).toString(),
        rows: 1,
        ...own,
      })
    }
  }

  /** The words, most frequent first. `rows` of an unknown word are refused, unless it is the code of an equipment. */
  list(): ImportWord[] {
    return [...this.#counts.values()]
      .toSorted((one, other) => other.rows - one.rows)
      .map((word) => ({
        field: word.field,
        column: this.#columns.names[word.field] ?? word.field,
        word: word.text,
        rows: word.rows,
        meaning: this.#columns.words[word.field]?.get(wordKey(word.text)) ?? null,
        likely: likelyMeaning(word),
        saved_as: word.savedAs ?? null,
        map: wordPair(word),
      }))
  }

  /** A sentence for each column with unknown words. */
  notes(): ImportNote[] {
    const unknown = this.list().filter(({ meaning }) => meaning === null)
    const groups = Map.groupBy(unknown, ({ column, saved_as }) => `${saved_as === null} ${column}`)
    const notes = [...groups.values()].flatMap((words) => wordsNote(words))
    if (this.#otherRows === 0) return notes
    const detail = `${howMany(this.#otherRows, 'row')} ${this.#otherRows === 1 ? 'has' : 'have'} further words that are not listed.`
    return [...notes, { code: 'words', column: null, detail, choices: [] }]
  }
}

/** A sentence for unknown words of one column, which are refused, or for its codes of equipment that are not known. */
function wordsNote(words: readonly ImportWord[]): ImportNote[] {
  const [first] = words
  if (first === undefined) return []
  const { column } = first
  const shown = words.slice(0, shownMax).map(({ word, rows }) => `"${word}" (${howMany(rows, 'row')})`)
  const all = `${shown.join(', ')}${words.length > shownMax ? ` and ${words.length - shownMax} more` : ''}`
  const detail =
    first.saved_as === null
      ? `${column}: words that are not known: ${all}. State what they mean in the map, such as ${first.map}=${first.likely ?? 'skip'}.`
      : `${column}: codes that are not known are saved as written, each as an equipment of its own: ${all}. If one means another equipment, state it in the map, such as ${first.map}=${first.likely ?? 'V'}.`
  return [{ code: 'words', column, detail, choices: [] }]
}
