import { quoted } from '../csv/index.ts'
import { ImportFileError } from '../tables/index.ts'
import { howMany, type ImportNote } from './import-notes.ts'
import { idKey, type SharedId } from './row-fingerprint.ts'

/** The ids that several rows of a file have, by the line of each of these rows. */
export type SharedIds = ReadonlyMap<number, SharedId>

/** From this many rows, an id that all rows have names no single load. */
const rowsOfAllMin = 5
/** The most rows of one load: more changes than a load has until it is paid. */
const rowsOfLoadMax = 50
/** The most bytes of rows that wait for the last row of their id. */
const waitingBytesMax = 32 * 1024 * 1024

type Growing = { -readonly [name in keyof SharedId]: SharedId[name] }

/** Looks for ids that several rows have. Of all other ids, only a digest and a line are held until `shared` is called. */
export class FileIds {
  readonly #lines = new Map<string, number>()
  readonly #groups = new Map<string, Growing>()
  readonly #byLine = new Map<number, Growing>()
  #rows = 0

  add(id: string, line: number): void {
    this.#rows++
    const key = idKey(id)
    const first = this.#lines.get(key)
    if (first === undefined) {
      this.#lines.set(key, line)
      return
    }
    // A copy of the id, because a part of a text holds the whole text in memory.
    const group = this.#groups.get(key) ?? {
      id: Buffer.from(id).toString(),
      first,
      last: line,
      rows: 1,
      namesNone: false,
    }
    if (group.rows === 1) this.#groups.set(key, group)
    group.rows++
    group.last = line
    this.#byLine.set(first, group).set(line, group)
  }

  /**
   * The ids that several rows have, after the last row.
   *
   * @param rowBytes the bytes of a row
   * @param column the column of the ids
   * @throws ImportFileError if too many rows would wait for the last row of their id
   */
  shared(rowBytes: number, column: string): SharedIds {
    const [only] = this.#lines.size === 1 ? this.#groups.values() : []
    for (const group of this.#groups.values()) {
      group.namesNone = group.rows > rowsOfLoadMax || (group === only && this.#rows >= rowsOfAllMin)
    }
    const waiting = mostWaiting([...this.#groups.values()].filter(({ namesNone }) => !namesNone))
    if (waiting * rowBytes > waitingBytesMax) {
      const detail = `${howMany(waiting, 'row')} repeat the ${column} of a row far above or below. Sort the file by ${column}, or import it in parts.`
      throw new ImportFileError([{ code: 'file', row: null, column, detail }])
    }
    return this.#byLine
  }
}

/** The most rows that wait at the same time for the last row of their id. */
function mostWaiting(ids: readonly SharedId[]): number {
  const steps = ids
    .flatMap(({ first, last, rows }) => [
      { line: first, rows: rows - 1 },
      { line: last, rows: 1 - rows },
    ])
    .sort((one, other) => one.line - other.line)
  let [most, now] = [0, 0]
  for (const { rows } of steps) {
    now += rows
    most = Math.max(most, now)
  }
  return most
}

/** Rows that wait for the last row of their id, as compact bytes. */
export class WaitingRows<Row> {
  readonly #rows = new Map<SharedId, Buffer[]>()

  add(id: SharedId, row: Row): void {
    const rows = this.#rows.get(id) ?? []
    this.#rows.set(id, rows)
    rows.push(Buffer.from(JSON.stringify(row)))
  }

  take(id: SharedId): Row[] {
    const rows = this.#rows.get(id) ?? []
    this.#rows.delete(id)
    return rows.map((row) => JSON.parse(row.toString()) as Row)
  }
}

/**
 * Sentences about ids that several rows have.
 *
 * @param later the number of rows whose values count instead of those of earlier rows
 * @param which which of the rows counts, in words
 */
export function sharedIdNotes(ids: SharedIds, later: number, column: string, which: string): ImportNote[] {
  const choices = [{ map: 'reference=', detail: `${column} is not read: each row is a quote of its own` }]
  const groups = [...new Set(ids.values())]
  const example = groups.find(({ namesNone }) => !namesNone)
  const none = groups.filter(({ namesNone }) => namesNone)
  return [
    ...(later === 0 || example === undefined
      ? []
      : [
          {
            code: 'same_ids' as const,
            column,
            detail: `${howMany(later, 'row')} ${later === 1 ? 'repeats' : 'repeat'} an id of this file, such as ${quoted(example.id)} (lines ${example.first} and ${example.last}): ${which}.`,
            choices,
          },
        ]),
    ...none.slice(0, 1).map(({ id, rows }) => ({
      code: 'content' as const,
      column,
      detail: `${column} is ${quoted(id)} in ${howMany(rows, 'row')}, so it names no single load, and only one row can have it.`,
      choices,
    })),
  ]
}
