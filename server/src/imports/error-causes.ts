import type { ImportCause, RowError } from '../database/schema/index.ts'

/** The most causes that are listed: a file has few, and a page shows as many. */
const causesMax = 50
const linesMax = 8

/** Counts the errors of a file by cause: the same column, and the same sentence except for its values. */
export class ErrorCauses {
  readonly #causes = new Map<
    string,
    { column: string | null; detail: string; rows: number; lines: number[] }
  >()

  add({ row, column, detail }: RowError): void {
    const key = JSON.stringify([column, detail.replaceAll(/"[^"]*"/g, '""').replaceAll(/\d+/g, '0')])
    const known = this.#causes.get(key)
    if (known === undefined) {
      if (this.#causes.size < causesMax) this.#causes.set(key, { column, detail, rows: 1, lines: [row] })
      return
    }
    known.rows++
    if (known.lines.length < linesMax) known.lines.push(row)
  }

  /** The causes with their first lines, most frequent first. */
  list(): ImportCause[] {
    return [...this.#causes.values()].toSorted((one, other) => other.rows - one.rows)
  }
}
