import type { TableRow } from '../tables/index.ts'
import type { Columns } from './columns.ts'
import { type RowContext, RowReader } from './row-reader.ts'

/** A row, and the line whose turn it takes: the rows of one id take turns in the order of their changes. */
export interface RowInTurn {
  readonly row: TableRow
  readonly turn: number
}

/** The fields that say when a row changed, each set alone: when the row was changed, or else what happened to the load last. */
const changeFields = [['updated_at'], ['decided_at', 'booked_at']] as const

/** When a row changed, in epoch milliseconds; null if its cells do not say. */
function changeOf(row: RowReader, fields: (typeof changeFields)[number], now: number): number | null {
  const times = fields.flatMap((field) => row.past(field, now) ?? [])
  return times.length === 0 ? null : Math.max(...times)
}

/** Puts the rows of one id in the order of their changes, and remembers what decided. */
export class ChangeOrder {
  #byDate = 0
  #byLine = 0
  readonly #fields = new Set<keyof Columns['names']>()

  /** The rows of one id, by their dates of change if each row has one, else as they are in the file. */
  sorted(rows: readonly TableRow[], { onNotGiven: _, ...context }: RowContext): RowInTurn[] {
    for (const fields of changeFields) {
      const dated = rows.map((row) => ({
        row,
        at: changeOf(new RowReader(row.cells, context), fields, context.now),
      }))
      if (new Set(dated.map(({ at }) => at)).size < 2 || dated.some(({ at }) => at === null)) continue
      this.#byDate++
      for (const field of fields) if (context.columns.names[field] !== undefined) this.#fields.add(field)
      const sorted = dated.toSorted((one, other) => (one.at ?? 0) - (other.at ?? 0))
      return sorted.map(({ row }, nth) => ({ row, turn: rows[nth]?.line ?? row.line }))
    }
    this.#byLine++
    return rows.map((row) => ({ row, turn: row.line }))
  }

  /** Completes "2 rows repeat an id:" with which of them counts. */
  words({ names }: Pick<Columns, 'names'>): string {
    const dates = [...this.#fields].map((field) => names[field]).join(' or ')
    const inLines = 'the later row counts, and its empty cells keep what the earlier row says'
    if (this.#byDate === 0) return inLines
    const lacking = this.#byLine === 0 ? '' : `; where rows have none, or the same, ${inLines}`
    return `the row with the later ${dates} counts, and its empty cells keep what the other rows say${lacking}`
  }
}
