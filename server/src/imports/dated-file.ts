import type { DateOrder } from '#contract/date-orders.ts'
import { datedFileBytesMax } from '#contract/limits.ts'
import { LocalClock } from '#engine/local-clock.ts'
import type { Steps } from '#engine/steps.ts'
import {
  cellText,
  dateColumns,
  matchFields,
  namedCandidates,
  noDates,
  orderConflict,
  quoted,
  readCell,
  seeDate,
  type Vocabulary,
} from '../csv/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import { type FileBytes, type Line, readTable, refused } from '../tables/index.ts'
import type { CellSettings } from './file-settings.ts'

const dated = ['day', 'value', 'series'] as const

/** A form of a file with a value for each day: the names of its columns, and how its values are read. */
interface DatedForm {
  readonly names: Readonly<Record<(typeof dated)[number], readonly string[]>>
  /** The only series that is read, if the file has a column of series. */
  readonly series?: string
  /** The lines between the names of the columns and the rows. */
  readonly linesBelow?: number
  /** Null for a value that is wrong. */
  readonly read: (written: string) => number | null
  /** What a value must be. */
  readonly must: string
}

export interface DatedTable {
  readonly vocabulary: Vocabulary
  readonly forms: readonly DatedForm[]
  /** What a file must have, worded to follow "The file must". */
  readonly needed: string
  /** The words for a day, a value and what a file has at least one of. */
  readonly words: { readonly day: string; readonly value: string; readonly one: string }
  /** The cells of days without a value. */
  readonly blank: RegExp
  readonly daysMax: number
}

/** The most cells of the file: ten times the largest file of the EIA with all its regions, and more than the Bank of Canada has. */
export const datedCellsMax = 250_000
const problemsMax = 20

/**
 * Reads a file with a value for each day, in the first of its forms that it has. Days without a value are left out.
 *
 * @returns the values, oldest day first
 * @throws ImportFileError with the line and the remedy, if the file has another form or a value or date that cannot be read
 */
export async function readDatedFile(
  file: FileBytes,
  table: DatedTable,
  { order, ...settings }: DatedSettings,
): Promise<DayValue[]> {
  const limits = { cellsMax: datedCellsMax, bytesMax: datedFileBytesMax }
  const { lines } = await readTable(file, { vocabulary: table.vocabulary, ...settings, ...limits })
  return yieldBetweenSteps(datedValues(lines, table, order))
}

/** How the cells of a file are read, and the order of day and month of the brokerage, which decides if the file does not show one. */
export interface DatedSettings extends CellSettings {
  readonly order: DateOrder
}

interface DayValue {
  readonly day: string
  readonly value: number
}

/** Lines per step: some milliseconds for the longest. */
const linesPerStep = 100

/**
 * The values of the lines of a file, oldest day first, in steps. The time grows with the cells, also if each line could be the header.
 *
 * @throws ImportFileError
 * @example finished(datedValues([{ line: 1, cells: ['date', 'usd_per_cad'] }, { line: 2, cells: ['2026-03-02', '0.73'] }], exchangeTable, 'month_first'))
 */
export function* datedValues(
  lines: readonly Line[],
  { forms, needed, words, blank, daysMax }: DatedTable,
  order: DateOrder,
): Steps<DayValue[]> {
  const found = yield* formOf(
    lines.map(({ cells }) => cells),
    forms,
  )
  if (found === null) throw refused('header', `The file must ${needed}.`)
  const rows = lines.slice(found.first)
  const readDay = yield* dayReader(rows, found, order)
  const values = new Map<string, number>()
  const problems: string[] = []
  for (const [nth, { line, cells }] of rows.entries()) {
    if (nth % linesPerStep === 0) yield
    const written = cellText(cells[found.valueAt]) ?? ''
    if (!found.isRead(cells) || blank.test(written)) continue
    if (problems.length >= problemsMax) break
    const wrong = (detail: string) => problems.push(`Line ${line}: ${detail}.`)
    const day = readCell(cellText(cells[found.dayAt]) ?? '', readDay)
    const value = found.form.read(written)
    if ('wrong' in day) {
      wrong(
        `the ${words.day} ${quoted(cells[found.dayAt] ?? '')} must be a date such as 2026-03-02 or Mar 02, 2026`,
      )
    } else if (value === null) wrong(`the ${words.value} ${quoted(written)} must be ${found.form.must}`)
    else if ((values.get(day.value) ?? value) !== value) {
      wrong(`the ${words.day} ${day.value} has another ${words.value} on an earlier line; keep one of them`)
    } else values.set(day.value, value)
  }
  if (problems.length > 0) throw refused('header', problems)
  if (values.size === 0) throw refused('header', `The file has no ${words.one}.`)
  if (values.size > daysMax) {
    throw refused('header', `The file must have at most ${daysMax.toLocaleString('en-US')} ${words.day}s.`)
  }
  return [...values]
    .map(([day, value]) => ({ day, value }))
    .sort((one, other) => (one.day < other.day ? -1 : 1))
}

/** Reads the days of a column in one order of day and month. @throws ImportFileError if they need both */
function* dayReader(
  rows: readonly Line[],
  { name, dayAt }: { readonly name: string; readonly dayAt: number },
  setting: DateOrder,
) {
  const seen = noDates()
  for (const [nth, { cells, line }] of rows.entries()) {
    if (nth % linesPerStep === 0) yield
    seeDate(seen, cellText(cells[dayAt]) ?? '', line)
  }
  const conflict = orderConflict(name, seen)
  if (conflict !== null) throw refused('header', conflict.detail, conflict.line)
  const { readers } = dateColumns([{ name, seen }], { chosen: null, setting }, new LocalClock('UTC'))
  return (text: string) => readers[0]?.day(text) ?? { wrong: 'a date' }
}

function* formOf(data: readonly (readonly string[])[], forms: readonly DatedForm[]) {
  for (const form of forms) {
    // Looked up once, because each of a hundred thousand lines can be a header.
    const columns = form.series === undefined ? null : yield* columnsWith(form.series, data)
    for (const [line, cells] of data.entries()) {
      if (line % linesPerStep === 0) yield
      const { of } = matchFields(namedCandidates(cells, form.names), 'first')
      const [dayAt, valueAt, seriesAt = -1] = dated.map((field) => of.get(field)?.at)
      if (dayAt === undefined || valueAt === undefined) continue
      const isRead = (row: readonly string[]) =>
        form.series === undefined || isSeries(row[seriesAt], form.series)
      const first = line + 1 + (form.linesBelow ?? 0)
      if (columns === null || columns.has(seriesAt)) {
        return { form, first, name: cells[dayAt]?.trim() ?? '', dayAt, valueAt, isRead }
      }
    }
  }
  return null
}

const isSeries = (cell: string | undefined, series: string) => cell?.trim().toUpperCase() === series

/** The columns that contain a series. */
function* columnsWith(series: string, data: readonly (readonly string[])[]): Steps<ReadonlySet<number>> {
  const found = new Set<number>()
  for (const [line, cells] of data.entries()) {
    if (line % linesPerStep === 0) yield
    for (const [at, cell] of cells.entries()) if (isSeries(cell, series)) found.add(at)
  }
  return found
}
