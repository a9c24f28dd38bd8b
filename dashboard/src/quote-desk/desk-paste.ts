import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { pastedLengthMax } from '#contract/limits.ts'
import { type Answer, type CallFailed, useAnswer } from '../api/index.ts'
import { type DeskQuote, defaultEquipment } from './desk-draft.ts'

type Pasted = Answer<'read-pasted-quotes'>
type PastedColumn = Pasted['columns'][number]
export type PastedRow = Pasted['rows'][number]

export interface ReadPaste {
  /** The service's reading of the current text; null while it is loading. */
  readonly pasted: Pasted | null
  /**
   * The last reading, with the cells that were corrected since. It stays on the page while they are read again, so that no field loses
   * its focus. Null once another text is typed.
   */
  readonly shown: Pasted | null
  /** Corrects a cell of the reading that is shown, and returns the new text. */
  readonly correct: (row: PastedRow, column: number, cell: string) => string
  readonly failure: CallFailed | null
  readonly retry: () => void
  readonly isTooLong: boolean
}

const typingPauseMs = 250

/** What a person chose about the reading of pasted rows. */
export interface PasteChoices {
  /** The fields of columns, by column number. Null: the column is not read. */
  readonly columns: Readonly<Record<number, PastedColumn['field']>>
  /** The order of day and month, as in `day_first`; null for the order that the rows show, or else that of the brokerage. */
  readonly dates: 'day_first' | 'month_first' | null
}

export const noChoices: PasteChoices = { columns: {}, dates: null }

/** Sends all rows to the service in one call. The service reads them by the same rules as an import. */
export function usePaste(text: string, chosen: PasteChoices): ReadPaste {
  const [settled] = useDebouncedValue(text, typingPauseMs)
  const isTooLong = text.length > pastedLengthMax
  const isSettled = settled === text && !isTooLong && text.trim() !== ''
  const columns = Object.entries(chosen.columns).map(([column, field]) => ({
    column: Number(column),
    ...(field === null ? {} : { field }),
  }))
  const read = useAnswer(
    'read-pasted-quotes',
    { body: { text: settled, columns, ...(chosen.dates === null ? {} : { dates: chosen.dates }) } },
    { enabled: isSettled, staleMs: 60_000 },
  )
  const pasted = isSettled ? (read.data ?? null) : null
  const [last, setLast] = useState<{ readonly text: string; readonly pasted: Pasted } | null>(null)
  if (pasted !== null && last?.pasted !== pasted) setLast({ text, pasted })
  const shown = last?.text === text ? last.pasted : null
  return {
    pasted,
    shown,
    correct: (row, column, cell) => {
      if (shown === null) return text
      const rows = withCell(shown.rows, row, column, cell)
      const corrected = textOf(shown.header, rows)
      setLast({ text: corrected, pasted: { ...shown, rows } })
      return corrected
    },
    failure: isSettled ? read.error : null,
    retry: () => void read.refetch(),
    isTooLong,
  }
}

/** The quote of a row, with all fields as text. */
export function quoteOf({ quote }: PastedRow): Omit<DeskQuote, 'id'> {
  const text = (value: number | undefined) => (value === undefined ? '' : String(value))
  const charges = quote.quoted_charges?.map(({ name, amount }) => `${name} ${amount}`).join('; ')
  return {
    origin: quote.origin ?? '',
    destination: quote.destination ?? '',
    equipment: quote.equipment ?? defaultEquipment,
    rate: text(quote.quoted_rate),
    cost: text(quote.estimated_cost),
    market: text(quote.market_rate),
    miles: text(quote.miles),
    pickup: quote.pickup_date ?? '',
    rateType: quote.rate_type ?? '',
    mode: quote.mode === 'truckload' ? '' : (quote.mode ?? ''),
    stops: (quote.stops ?? []).join('; '),
    basis: quote.quoted_basis ?? '',
    fuel: text(quote.quoted_fuel),
    charges: charges ?? text(quote.quoted_accessorials),
    currency: quote.quoted_currency ?? '',
  }
}

/** The fields that a column can have, in words. */
export const fieldNames: Readonly<Record<NonNullable<PastedColumn['field']>, string>> = {
  origin: 'origin',
  origin_state: 'state of the origin',
  origin_zip: 'ZIP code of the origin',
  destination: 'destination',
  destination_state: 'state of the destination',
  destination_zip: 'ZIP code of the destination',
  equipment: 'equipment',
  quoted_rate: 'rate',
  quoted_basis: 'basis',
  quoted_fuel: 'fuel charge',
  quoted_accessorials: 'accessorial charges',
  quoted_charges: 'charges by name',
  quoted_currency: 'currency',
  estimated_cost: 'estimated cost',
  cost_basis: 'basis of the cost',
  cost_currency: 'currency of the cost',
  market_rate: 'market rate',
  miles: 'miles',
  pickup_date: 'pickup date',
  rate_type: 'rate type',
  mode: 'mode',
  stops: 'stops',
  customer_name: 'customer',
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

/** The rows with another text in one cell. @param column the number of the cell, from 1 */
function withCell(
  rows: readonly PastedRow[],
  { line }: PastedRow,
  column: number,
  text: string,
): PastedRow[] {
  return rows.map((row) =>
    row.line === line ? { ...row, cells: row.cells.toSpliced(column - 1, 1, text) } : row,
  )
}

/**
 * The rows that can be added now, and those for another customer. A request has one customer: the one that is typed, or else the one
 * of most rows.
 */
export function byCustomer(
  rows: readonly PastedRow[],
  typed: string,
): {
  readonly customer: string | null
  readonly own: readonly PastedRow[]
  readonly others: readonly PastedRow[]
} {
  const nameOf = ({ quote }: PastedRow) => quote.customer_name?.trim().toLowerCase() ?? ''
  const counts = Map.groupBy(
    rows.filter((row) => nameOf(row) !== ''),
    nameOf,
  )
  const most = [...counts.values()].toSorted((one, other) => other.length - one.length)[0]?.[0]
  const customer = typed.trim() === '' ? (most?.quote.customer_name ?? null) : typed.trim()
  const isOwn = (row: PastedRow) => ['', customer?.toLowerCase()].includes(nameOf(row))
  return { customer, own: rows.filter(isOwn), others: rows.filter((row) => !isOwn(row)) }
}
