import Papa from 'papaparse'
import { datedFileBytesMax, dieselWeeksMax } from '#contract/limits.ts'
import type { DieselPrice } from '#engine/fuel-surcharge.ts'
import { cellText, quoted, readCell, readDay } from '../csv/index.ts'
import { type FileBytes, ImportFileError, readTable, refuseCells, unpacked } from '../tables/index.ts'
import type { CellSettings } from './file-settings.ts'

/** The EIA's series of the average U.S. retail price of No. 2 diesel. Fuel surcharges are customarily computed from it. */
const usDieselSeries = 'EMD_EPD2D_PTE_NUS_DPG'
const usDieselTitle = /weekly u\.?s\.? no\.? 2 diesel retail prices/i

/** Diesel never cost less than half a dollar per gallon in this survey; more than $20 is a price in cents or per barrel. */
const millsMin = 500
const millsMax = 20_000
const problemsMax = 20

/**
 * Reads the weekly diesel prices of the EIA, in each of the forms in which it publishes them:
 * - an answer of its API (`api.eia.gov/v2/petroleum/pri/gnd/data`), or its rows saved as CSV: period, series and value;
 * - the sheet "Data 1" of its Excel file, saved as .xlsx or CSV: a row "Sourcekey" with the series, then a row per week;
 * - the download of a series page: lines about the source, a header "Week of", then a row per week.
 *
 * A week without a price (an empty cell, NA, W, or -) is left out. Only the U.S. average is read.
 *
 * @returns the prices, oldest week first
 * @throws ImportFileError with the line and the remedy, if the file has another form or a price or date that cannot be read
 * @example await readDieselFile([Buffer.from('period,series,value\n2026-03-02,EMD_EPD2D_PTE_NUS_DPG,3.879')])
 *   // [{ week: '2026-03-02', mills: 3879 }]
 */
export async function readDieselFile(file: FileBytes, cells: CellSettings = {}): Promise<DieselPrice[]> {
  const { lines } = await readTable(await asCsv(file), {
    vocabulary: 'diesel prices',
    ...cells,
    cellsMax,
    bytesMax: datedFileBytesMax,
  })
  const data = lines.map(({ cells }) => cells)
  const form = apiForm(data) ?? sheetForm(data) ?? pageForm(data)
  if (form === null) {
    throw refused(
      `The file must contain the series ${usDieselSeries} as the EIA publishes it: rows with the columns period, series and value; the sheet "Data 1" with its row "Sourcekey"; or the download of the series page with its row "Week of".`,
    )
  }
  const prices = new Map<string, number>()
  const problems: string[] = []
  for (const [index, cells] of data.entries()) {
    if (index <= form.header || !form.isRead(cells)) continue
    if (problems.length >= problemsMax) break
    const line = lines[index]?.line
    const read = readWeek(cells[form.week] ?? '', cells[form.price] ?? '')
    if (read === null) continue
    if ('wrong' in read) problems.push(`Line ${line}: ${read.wrong}`)
    else if ((prices.get(read.week) ?? read.mills) !== read.mills) {
      problems.push(
        `Line ${line}: the week ${read.week} has another price on an earlier line; keep one of them.`,
      )
    } else prices.set(read.week, read.mills)
  }
  if (problems.length > 0) throw new ImportFileError(problems.map(fileProblem))
  if (prices.size > dieselWeeksMax) {
    throw refused(`The file must have at most ${dieselWeeksMax.toLocaleString('en-US')} weeks.`)
  }
  if (prices.size === 0) throw refused(`The file has no price of the series ${usDieselSeries}.`)
  return [...prices]
    .map(([week, mills]) => ({ week, mills }))
    .sort((one, other) => (one.week < other.week ? -1 : 1))
}

/** The most cells of the file: ten times the largest file of the EIA with all its regions. */
const cellsMax = 250_000

/** Converts an answer of the API to CSV. Returns any other file unchanged. */
async function asCsv(file: FileBytes): Promise<FileBytes> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of unpacked(file)) {
    if (length === 0) refuseXls(piece)
    pieces.push(piece)
    length += piece.length
    const isAnswer = /^\uFEFF?\s*\{/.test(pieces[0]?.subarray(0, 100).toString() ?? '')
    if (!isAnswer || length > datedFileBytesMax) return file
  }
  return [Buffer.from(csvOfAnswer(Buffer.concat(pieces).toString()))]
}

/** The EIA publishes a workbook of Excel 97, which is not read. */
function refuseXls(first: Buffer): void {
  if (first.subarray(0, 4).toString('latin1') === '\u00d0\u00cf\u0011\u00e0') {
    throw refused('The file is an Excel workbook (.xls). Save it as .xlsx and send that file.')
  }
}

function csvOfAnswer(text: string): string {
  let answer: { response?: { data?: unknown } }
  try {
    answer = JSON.parse(text)
  } catch {
    return text
  }
  const data = answer.response?.data
  const rows = Array.isArray(data) ? (data as (Record<string, unknown> | null)[]) : []
  const fields = ['period', 'series', 'value']
  refuseCells(rows.length * fields.length, cellsMax)
  return Papa.unparse({ fields, data: rows.map((row) => fields.map((field) => String(row?.[field] ?? ''))) })
}

/** Where the weeks and prices of a file are: the row of its header and two columns, from 0. */
interface DieselForm {
  readonly header: number
  readonly week: number
  readonly price: number
  readonly isRead: (cells: readonly string[]) => boolean
}

function apiForm(data: readonly (readonly string[])[]): DieselForm | null {
  const header = data.findIndex((cells) => cells.some((cell) => cell.trim().toLowerCase() === 'period'))
  const names = (data[header] ?? []).map((cell) => cell.trim().toLowerCase())
  const [week, series, price] = ['period', 'series', 'value'].map((name) => names.indexOf(name))
  if (week === undefined || series === undefined || price === undefined) return null
  if (week < 0 || series < 0 || price < 0) return null
  const isRead = (cells: readonly string[]) => cells[series]?.trim().toUpperCase() === usDieselSeries
  return data.some(isRead) ? { header, week, price, isRead } : null
}

const hasWeek = (cells: readonly string[]) => (cells[0] ?? '').trim() !== ''

function sheetForm(data: readonly (readonly string[])[]): DieselForm | null {
  const row = data.findIndex((cells) => cells[0]?.trim().toLowerCase() === 'sourcekey')
  const price = (data[row] ?? []).findIndex((cell) => cell.trim().toUpperCase() === usDieselSeries)
  // The row after the keys has the names of the columns.
  return price < 0 ? null : { header: row + 1, week: 0, price, isRead: hasWeek }
}

function pageForm(data: readonly (readonly string[])[]): DieselForm | null {
  const header = data.findIndex((cells) => /^week of$/i.test(cells[0]?.trim() ?? ''))
  const price = (data[header] ?? []).findIndex((cell) => usDieselTitle.test(cell))
  return price < 0 ? null : { header, week: 0, price, isRead: hasWeek }
}

function readWeek(
  weekCell: string,
  priceCell: string,
): { readonly week: string; readonly mills: number } | { readonly wrong: string } | null {
  const written = cellText(priceCell) ?? ''
  if (/^(na|w|-+)?$/i.test(written)) return null
  const week = readCell(cellText(weekCell) ?? '', readDay)
  if ('wrong' in week) {
    return {
      wrong: `the week ${quoted(weekCell)} must be a date such as 2026-03-02 or Mar 02, 2026.`,
    }
  }
  const match = /^\$?(\d+)(?:\.(\d{1,3})0*)?$/.exec(written)
  const mills =
    match === null ? Number.NaN : Number(match[1]) * 1000 + Number((match[2] ?? '').padEnd(3, '0'))
  if (mills >= millsMin && mills <= millsMax) return { week: week.value, mills }
  return {
    wrong: `the price ${quoted(priceCell)} must be dollars per gallon from 0.500 to 20.000, with at most three decimals.`,
  }
}

const fileProblem = (detail: string) => ({ code: 'header' as const, row: null, column: null, detail })
const refused = (detail: string) => new ImportFileError([fileProblem(detail)])
