import { marketFileBytesMax, marketFileRowsMax } from '#contract/limits.ts'
import { marketCurrencies } from '#contract/market-reference.ts'
import { MARKET_RATE_RULE } from '#engine/market-rate.ts'
import type { Steps } from '#engine/steps.ts'
import { cellText, currencyWords, type MarketFileField, quoted, shortened } from '../csv/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import { type FileBytes, type Line, readTable, refused } from '../tables/index.ts'
import { currencyColumn, percentNote } from './column-content.ts'
import { currencyAbove } from './column-terms.ts'
import type { DateSettings } from './file-dates.ts'
import type { CellSettings } from './file-settings.ts'
import { formNotes, type ImportNote, noteOf } from './import-notes.ts'
import { isNoAmount, marketAmount, readPerMile } from './market-cells.ts'
import { type ChosenColumns, chooseColumns, type RateColumns } from './market-columns.ts'
import { marketDates } from './market-dates.ts'
import {
  endFields,
  ends,
  isPerMile,
  type MarketFileDefaults,
  type MarketFileRow,
  marketRow,
  type Reading,
} from './market-rows.ts'
import { workbookNotes } from './workbook-notes.ts'

export interface MarketFile {
  readonly columns: ChosenColumns['columns']
  readonly rows: readonly MarketFileRow[]
  /** How the file was read: its encoding, assumptions, and lines that were not read. */
  readonly understood: readonly ImportNote[]
}

/** Maximum columns of a file: the comparison of more names would block other requests. The multi-lane output of DAT has 35. */
const columnsMax = 200
/** Maximum lines of a file, including those without a rate. */
const linesMax = 4 * marketFileRowsMax

/** The time of the reading in epoch milliseconds, how the brokerage writes dates, and how a person chose to read the cells. */
interface FileSurroundings {
  readonly now: number
  readonly dates: DateSettings
  readonly cells?: CellSettings
}

/**
 * Reads a file of market rates: a header line, then the rates of a lane in each line. Lines above the header, totals, remarks,
 * lanes without a rate and repeated lines are left out, and `understood` lists them. The name of a column of rates can state their
 * basis.
 *
 * @throws ImportFileError if the file has no header with the necessary columns, or too many rows
 */
export async function readMarketFile(
  bytes: FileBytes,
  defaults: MarketFileDefaults,
  { now, dates, cells }: FileSurroundings,
): Promise<MarketFile> {
  const table = await readTable(bytes, {
    vocabulary: 'market rates',
    ...cells,
    columnsMax,
    linesMax,
    lengthMax: lineLengthMax,
    bytesMax: marketFileBytesMax,
  })
  return yieldBetweenSteps(readInSteps(table, defaults, { now, dates }))
}

function* readInSteps(
  { file, rows, leftOut, malformed }: Awaited<ReturnType<typeof readTable>>,
  defaults: MarketFileDefaults,
  { now, dates: settings }: FileSurroundings,
): Steps<MarketFile> {
  const { header, aboveHeader: above, workbook } = file
  const chosen = chooseColumns(header, defaults.kind)
  refuseHeader(chosen, header, defaults)
  const { rateLines, text, without } = yield* splitLines(rows, chosen)
  refuseUnreadCurrencies(rateLines, chosen, header)
  const said = currencyAbove(above, marketCurrencies)
  if (said !== null && 'fault' in said) {
    throw refused(
      'header',
      `The lines above the header must name one currency, USD, CAD or MXN; they ${said.fault}.`,
    )
  }
  const dates = marketDates(rateLines, { header, chosen, defaults, now }, settings)
  if (dates.conflicts.length > 0) throw refused('header', dates.conflicts.join(' '))
  const read: Reading = {
    header,
    chosen,
    defaults,
    now,
    dates: dates.readers,
    above: said?.stated.currency ?? null,
    isWorkbook: workbook !== null,
  }
  refuseUnstatedUnit(rateLines, read)
  const found = rateLines.flatMap(({ rates, ...line }) => rates.map((of) => ({ line, of })))
  if (found.length > marketFileRowsMax) {
    throw refused(
      'header',
      `The file must have at most ${marketFileRowsMax.toLocaleString('en-US')} rows; it has ${found.length.toLocaleString('en-US')}. Split it.`,
    )
  }
  const { single, repeated } = yield* rowsInSteps(found, read)
  const numbers = (lines: readonly { readonly line: number }[]) => lines.map(({ line }) => line)
  return {
    // A column that is not read may have a name of any length.
    columns: chosen.columns.map((column) => ({ ...column, name: shortened(column.name) })),
    rows: single,
    understood: [
      ...formNotes(file),
      ...(workbook === null ? [] : workbookNotes(workbook)),
      ...listed(numbers(above), 'above the header'),
      ...chosen.notes.map((detail) => noteOf('columns', detail)),
      ...dates.notes,
      ...unitNotes(rateLines, read).map((detail) => noteOf('unit', detail)),
      ...percentNotes(rateLines, read).map((detail) => noteOf('content', detail)),
      ...currencyNotes(read).map((detail) => noteOf('currency', detail)),
      ...listed(numbers([...text, ...leftOut].sort((one, other) => one.line - other.line)), 'text or totals'),
      ...listed(numbers(without), 'without a rate'),
      ...listed(numbers(malformed), 'with a misplaced double quote'),
      ...listed(repeated, 'the same as an earlier line'),
    ],
  }
}

/** The rates of the lines, and the numbers of lines that repeat a rate of an earlier line. */
function* rowsInSteps(
  found: readonly { readonly line: Line; readonly of: RateColumns }[],
  read: Reading,
): Steps<{ single: MarketFileRow[]; repeated: number[] }> {
  const seen = new Set<string>()
  const single: MarketFileRow[] = []
  const repeated: number[] = []
  for (const { line, of } of found) {
    const row = marketRow(line, of, read)
    const key = JSON.stringify(row.item)
    if (row.errors.length > 0 || !seen.has(key)) {
      seen.add(key)
      single.push(row)
    } else repeated.push(line.line)
    yield
  }
  return { single, repeated }
}

/** A longer line has more columns than are read, longer cells, or a double quote that is never closed. */
const lineLengthMax = 512_000

/** Fields for which the person can choose one value for the whole file. */
const fieldsWithDefault = ['equipment', 'source', 'basis', 'as_of'] as const

function refuseHeader(chosen: ChosenColumns, header: readonly string[], defaults: MarketFileDefaults): void {
  if (chosen.isContractOnly) {
    throw refused(
      'header',
      'kind must be sell (what customers pay), because the rates of the file are contract rates. Rename the column if they are what carriers are paid.',
    )
  }
  const [first] = chosen.rates
  const has = (field: MarketFileField) => first?.at.has(field) ?? false
  const missing = [
    ...ends.filter((end) => !endFields(end).some(has)),
    ...(has('mid')
      ? []
      : has('low') && has('high')
        ? ['the rate (which is not always the middle of low and high)']
        : ['the rate']),
    ...fieldsWithDefault
      .filter(
        (field) =>
          !has(field) &&
          defaults[field] === undefined &&
          !(field === 'basis' && chosen.rates.every(({ basis }) => basis !== null)) &&
          !(field === 'equipment' && first?.equipment !== null),
      )
      .map((field) => `${field} (or choose one for the whole file)`),
  ]
  if (missing.length > 0) {
    throw refused(
      'header',
      `The header must name columns for ${missing.join(', ')}; it is ${header.slice(0, 30).map(quoted).join(', ')}.`,
    )
  }
  for (const { currency, at } of chosen.rates) {
    if (currency === null || marketCurrencies.some((one) => one === currency)) continue
    throw refused(
      'header',
      `The column ${quoted(header[at.get('mid') ?? 0]?.trim() ?? '')} has amounts in ${currency}. Only US and Canadian dollars and Mexican pesos are stored; convert the amounts.`,
    )
  }
  for (const { basis, at } of chosen.rates) {
    if (basis === null || has('basis') || defaults.basis === undefined || defaults.basis === basis) continue
    const name = header[at.get('mid') ?? 0]?.trim()
    throw refused(
      'header',
      `basis must be ${basis}, because the column ${JSON.stringify(name)} says so; it is ${defaults.basis}.`,
    )
  }
}

/** The first lines whose cells are looked at. */
const comparedLines = 50

/** Refuses a file with a column of currencies whose name is not known: its rates would be stored in US dollars. */
function refuseUnreadCurrencies(
  lines: readonly Line[],
  { columns, rates }: ChosenColumns,
  header: readonly string[],
): void {
  if (rates.some(({ at }) => at.has('currency'))) return
  const read = new Set(columns.flatMap(({ field }, at) => (field === null ? [] : [at])))
  const compared = lines.slice(0, comparedLines).map(({ cells }) => cells)
  const at = currencyColumn(compared, header, read)
  if (at === null) return
  throw refused(
    'header',
    `The column ${quoted(header[at]?.trim() || `#${at + 1}`)} has currencies, and is not read. Rename it Currency, or remove it if they are not those of the rates.`,
  )
}

interface RateLine extends Line {
  /** The rates that the line has. */
  readonly rates: readonly RateColumns[]
}

const total = /^\W*(grand |sub ?)?(totals?|averages?|avg|mean|median|count|sum)\b/i

/** The lines with a rate, and the other lines: text, such as totals and remarks, and lines without a rate. */
function* splitLines(
  lines: readonly Line[],
  { rates, columns }: ChosenColumns,
): Steps<{ rateLines: RateLine[]; text: Line[]; without: Line[] }> {
  const text: Line[] = []
  const without: Line[] = []
  const rateLines: RateLine[] = []
  for (const { line, cells } of lines) {
    const value = (field: MarketFileField) => cellText(cells[rates[0]?.at.get(field) ?? -1])
    const withRate = rates.filter(({ at }) => !isNoAmount(cellText(cells[at.get('mid') ?? -1])))
    const places = ends.filter((end) => endFields(end).some((field) => value(field) !== null))
    const isTotal = total.test(cells.find((cell) => cell.trim() !== '') ?? '') && places.length < 2
    if (isTotal || (places.length < 2 && withRate.length === 0)) text.push({ line, cells })
    else if (withRate.length === 0) without.push({ line, cells })
    else rateLines.push({ line, cells, rates: withRate })
    yield
  }
  if (rateLines.length === 0) {
    const names = columns.filter(({ field }) => field === 'mid').map(({ name }) => JSON.stringify(name))
    throw refused('header', `The file must have a rate; no line has an amount in ${names.join(' or ')}.`)
  }
  return { rateLines, text, without }
}

/** @example listed([2, 3], 'without a rate')[0]?.detail // '2 lines are without a rate and were not read: 2, 3.' */
function listed(lines: readonly number[], what: string): ImportNote[] {
  if (lines.length === 0) return []
  const shown = lines.slice(0, 10).join(', ')
  const more = lines.length > 10 ? ` and ${lines.length - 10} more` : ''
  return [
    noteOf(
      'lines_left_out',
      `${lines.length === 1 ? '1 line is' : `${lines.length.toLocaleString('en-US')} lines are`} ${what} and ${lines.length === 1 ? 'was' : 'were'} not read: ${shown}${more}.`,
    ),
  ]
}

/** Refuses a column whose amounts are all of the size of dollars per mile, if neither its name nor the person says the unit. */
function refuseUnstatedUnit(lines: readonly RateLine[], { header, chosen, defaults }: Reading): void {
  if (defaults.unit !== undefined) return
  for (const of of chosen.rates) {
    if (of.units.has('mid')) continue
    const column = of.at.get('mid') ?? -1
    const cells = lines.flatMap(({ cells: row, rates }) =>
      rates.includes(of) ? (cellText(row[column]) ?? []) : [],
    )
    const isSmall = (text: string) => {
      const read = readPerMile(marketAmount(text).text)
      return 'value' in read && read.value < MARKET_RATE_RULE.leastCents * 100
    }
    if (cells.length === 0 || !cells.every(isSmall)) continue
    throw refused(
      'header',
      `unit must be chosen, because every amount of the column ${JSON.stringify(header[column]?.trim())} is below $10, and no load costs that. If they are dollars per mile, choose per_mile.`,
    )
  }
}

/** The currency that the names of the columns or the lines above the header state. */
function currencyNotes({ header, chosen, above }: Reading): string[] {
  const named = chosen.rates.flatMap(({ currency, at }) =>
    currency === null ? [] : `${header[at.get('mid') ?? 0]?.trim()}: ${currencyWords(currency)}.`,
  )
  if (named.length > 0 || above == null) return named
  return [`Rates: ${currencyWords(above)}, because a line above the header says so.`]
}

function percentNotes(lines: readonly RateLine[], { header, chosen, defaults }: Reading): string[] {
  const rows = lines.map(({ cells }) => cells)
  return chosen.rates.flatMap((of) => {
    const fuelAt = of.at.get('fuel')
    if (fuelAt === undefined || isPerMile('fuel', of, defaults) || isPerMile('mid', of, defaults)) return []
    const amountsAt = (['low', 'mid', 'high'] as const).flatMap((field) => of.at.get(field) ?? [])
    return percentNote(rows, header[fuelAt] ?? '', { fuelAt, amountsAt }) ?? []
  })
}

function unitNotes(lines: readonly RateLine[], { header, chosen, defaults }: Reading): string[] {
  const perMile = chosen.rates.flatMap((of) =>
    [...of.at].flatMap(([field, index]) =>
      (['low', 'mid', 'high', 'range', 'fuel'] as MarketFileField[]).includes(field) &&
      isPerMile(field, of, defaults)
        ? (header[index]?.trim() ?? '')
        : [],
    ),
  )
  if (perMile.length === 0) return []
  const at = chosen.rates[0]?.at.get('miles')
  const stated = lines.filter(({ cells }) => at !== undefined && cellText(cells[at]) !== null).length
  const computed = 'the road miles that Lanewise computes'
  const by =
    stated === 0
      ? `${computed}, because the file has no miles`
      : `the miles in the column ${header[at ?? 0]?.trim()}${stated < lines.length ? `, or where it is blank by ${computed}` : ''}`
  return [`${perMile.join(', ')}: dollars per mile, multiplied by ${by}.`]
}
