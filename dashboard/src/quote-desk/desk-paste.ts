import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { pastedLengthMax, quotesPerRequestMax } from '#contract/limits.ts'
import { type Answer, type CallFailed, useAnswer } from '../api/index.ts'
import { labelsReadAs, type TypedQuote, typedAs } from '../shared-ui/index.ts'
import { defaultEquipment } from './desk-draft.ts'

type Pasted = Answer<'read-pasted-quotes'>
type PastedColumn = Pasted['columns'][number]
export type PastedRow = Pasted['rows'][number]

export type PastedError = PastedRow['errors'][number]
export type PastedField = PastedColumn['field']

export interface ReadPaste {
  /** The service's reading of the current text; null while it is loading. */
  readonly pasted: Pasted | null
  /**
   * The last reading, with the cells that were corrected since. It stays on the page while they are read again, so that no field loses
   * its focus. Null once another text is typed.
   */
  readonly shown: Pasted | null
  /** Shows other rows than those that were read, and returns their text. */
  readonly show: (rows: readonly PastedRow[]) => string
  readonly failure: CallFailed | null
  readonly retry: () => void
  readonly isTooLong: boolean
}

const typingPauseMs = 250

/** What a person chose about the reading of pasted rows. */
export interface PasteChoices {
  /** The fields of columns, by column number. Null: the column is not read. */
  readonly columns: Readonly<Record<number, PastedField>>
  /** The order of day and month, as in `day_first`; null for the order that the rows show, or else that of the brokerage. */
  readonly dates: 'day_first' | 'month_first' | null
  /** Cells that are right although their place or equipment is not known. */
  readonly confirmed: readonly string[]
  /** Whether the first line names the columns; null if the service decides. */
  readonly hasHeader: boolean | null
}

export const noChoices: PasteChoices = { columns: {}, dates: null, confirmed: [], hasHeader: null }

/** Sends all rows to the service in one call. The service reads them by the same rules as an import. */
export function usePaste(
  text: string,
  { columns: chosen, dates, confirmed, hasHeader }: PasteChoices,
): ReadPaste {
  const [settled] = useDebouncedValue(text, typingPauseMs)
  const isTooLong = text.length > pastedLengthMax
  const isSettled = settled === text && !isTooLong && text.trim() !== ''
  const columns = Object.entries(chosen).map(([column, field]) => ({
    column: Number(column),
    ...(field === null ? {} : { field }),
  }))
  const read = useAnswer(
    'read-pasted-quotes',
    {
      body: {
        text: settled,
        columns,
        confirmed,
        ...(dates === null ? {} : { dates }),
        ...(hasHeader === null ? {} : { has_header: hasHeader }),
      },
    },
    { enabled: isSettled, staleMs: 60_000 },
  )
  const pasted = isSettled ? (read.data ?? null) : null
  const [last, setLast] = useState<{ readonly text: string; readonly pasted: Pasted } | null>(null)
  if (pasted !== null && last?.pasted !== pasted) setLast({ text, pasted })
  const shown = last?.text === text ? last.pasted : null
  return {
    pasted,
    shown,
    show: (rows) => {
      if (shown === null) return text
      const written = textOf(shown.header, rows)
      setLast({ text: written, pasted: { ...shown, rows: [...rows] } })
      return written
    },
    failure: isSettled ? read.error : null,
    retry: () => void read.refetch(),
    isTooLong,
  }
}

/** The quote of a row, with all fields as text. */
export function quoteOf({ quote }: PastedRow): TypedQuote {
  const typed = typedAs(quote)
  return {
    ...typed,
    equipment: typed.equipment || defaultEquipment,
    // The choice of a truckload is the empty one.
    mode: typed.mode === 'truckload' ? '' : typed.mode,
  }
}

/** The fields that a column can have, in words. */
export const fieldNames: Readonly<Record<NonNullable<PastedColumn['field']>, string>> = {
  ...labelsReadAs,
  origin_state: 'State of the origin',
  origin_zip: 'ZIP code of the origin',
  destination_state: 'State of the destination',
  destination_zip: 'ZIP code of the destination',
  quoted_basis: 'Basis of the rate',
  quoted_charges: 'Charges by name',
  cost_basis: 'Basis of the cost',
  cost_currency: 'Currency of the cost',
  customer_name: 'Customer',
}

/** @example columnName({ column: 4, name: null, field: 'quoted_rate' }) // 'Column 4' */
export function columnName({ column, name }: PastedColumn): string {
  return name ?? `Column ${column}`
}

/** A cell as it is pasted between tabs. A double quote at its start would otherwise begin a quoted cell. */
const written = (cell: string) => (cell.startsWith('"') ? `"${cell.replaceAll('"', '""')}"` : cell)

/** The rows as text with tabs between cells, below their header. */
export function textOf(header: string | null, rows: readonly PastedRow[]): string {
  const lines = rows.map(({ cells }) => cells.map(written).join('\t'))
  return [...(header === null ? [] : [header]), ...lines].join('\n')
}

/** A cell by the index of its row and the number of its column, from 1. */
export interface CellAt {
  readonly row: number
  readonly column: number
}

export const errorAt = (row: PastedRow | undefined, column: number): PastedError | undefined =>
  row?.errors.find((error) => error.column === column)

/** The wrong cells with the same text and the same kind of column as a wrong cell, which is one of them. */
export function sameCells(
  { rows, columns }: Pick<Pasted, 'rows' | 'columns'>,
  { row, column }: CellAt,
): CellAt[] {
  const kindOf = (at: number) => columns[at - 1]?.field?.replace('destination', 'origin') ?? null
  const text = rows[row]?.cells[column - 1]
  return rows.flatMap((other, at) =>
    other.errors.flatMap((error) =>
      error.column !== null &&
      other.cells[error.column - 1] === text &&
      kindOf(error.column) === kindOf(column)
        ? [{ row: at, column: error.column }]
        : [],
    ),
  )
}

/** The rows with another text in some cells. Their errors go: the cells are read again. */
export function withCells(
  rows: readonly PastedRow[],
  cells: readonly CellAt[],
  text: string | null,
): PastedRow[] {
  const changed = [...rows]
  for (const { row: at, column } of cells) {
    const row = changed[at]
    if (row === undefined) continue
    changed[at] = {
      ...row,
      cells: text === null ? row.cells : row.cells.with(column - 1, text),
      errors: row.errors.filter((error) => error.column !== column),
    }
  }
  return changed
}

/** Rows for one request: those of one customer, as many as it has room for. */
export interface PastePart {
  /** The customer that the rows name; null if they name none. */
  readonly customer: string | null
  readonly rows: readonly PastedRow[]
}

/**
 * Splits rows by customer, because a request has one: first the rows for the open request, with its customer or else the one of most rows,
 * then a part for each other customer, and for what does not fit.
 *
 * @param room the number of quotes that the open request still has room for
 */
export function splitByCustomer(rows: readonly PastedRow[], typed: string, room: number): PastePart[] {
  const nameOf = ({ quote }: PastedRow) => quote.customer_name?.trim().toLowerCase() ?? ''
  const named = [...Map.groupBy(rows, nameOf)]
    .filter(([name]) => name !== '')
    .toSorted(([, one], [, other]) => other.length - one.length)
  const own = typed.trim() === '' ? (named[0]?.[0] ?? '') : typed.trim().toLowerCase()
  const groups = [
    rows.filter((row) => ['', own].includes(nameOf(row))),
    ...named.flatMap(([name, some]) => (name === own ? [] : [some])),
  ]
  return groups.flatMap((group, nth) => {
    const customer = group.find((row) => nameOf(row) !== '')?.quote.customer_name?.trim() ?? null
    const first = nth === 0 ? Math.min(room, group.length) : Math.min(quotesPerRequestMax, group.length)
    const parts: PastePart[] = nth === 0 || first > 0 ? [{ customer, rows: group.slice(0, first) }] : []
    for (let at = first; at < group.length; at += quotesPerRequestMax) {
      parts.push({ customer, rows: group.slice(at, at + quotesPerRequestMax) })
    }
    return parts
  })
}
