import Papa from 'papaparse'
import { datedFileBytesMax, dieselWeeksMax } from '#contract/limits.ts'
import type { DieselPrice } from '#engine/fuel-surcharge.ts'
import { type FileBytes, refuseCells, refused, unpacked } from '../tables/index.ts'
import { type DatedSettings, type DatedTable, datedCellsMax, readDatedFile } from './dated-file.ts'

/** The EIA's series of the average U.S. retail price of No. 2 diesel. Fuel surcharges are customarily computed from it. */
const usDieselSeries = 'EMD_EPD2D_PTE_NUS_DPG'
const usDieselTitle = 'weeklyusnodieselretailprices'

/** Diesel never cost less than half a dollar per gallon in this survey; more than $20 is a price in cents or per barrel. */
const millsMin = 500
const millsMax = 20_000

function millsOf(written: string): number | null {
  const [, dollars, decimals = ''] = /^\$?(\d+)(?:\.(\d{1,3})0*)?$/.exec(written) ?? []
  const mills = Number(dollars ?? Number.NaN) * 1000 + Number(decimals.padEnd(3, '0'))
  return mills >= millsMin && mills <= millsMax ? mills : null
}

const price = {
  read: millsOf,
  must: 'dollars per gallon from 0.500 to 20.000, with at most three decimals',
} as const

/** The forms in which the EIA publishes diesel prices: by its API, as a sheet, and as a page. */
const dieselTable: DatedTable = {
  vocabulary: 'diesel prices',
  forms: [
    { ...price, names: { day: ['period'], series: ['series'], value: ['value'] }, series: usDieselSeries },
    // The row after the keys has the names of the columns.
    { ...price, names: { day: ['sourcekey'], series: [], value: ['emdepddptenusdpg'] }, linesBelow: 1 },
    {
      ...price,
      names: { day: ['weekof'], series: [], value: [usDieselTitle, `${usDieselTitle}dollarspergallon`] },
    },
  ],
  needed: `contain the series ${usDieselSeries} as the EIA publishes it: rows with the columns period, series and value; the sheet "Data 1" with its row "Sourcekey"; or the download of the series page with its row "Week of"`,
  words: { day: 'week', value: 'price', one: `price of the series ${usDieselSeries}` },
  blank: /^(na|w|-+)?$/i,
  daysMax: dieselWeeksMax,
}

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
 * @example await readDieselFile([Buffer.from('period,series,value\n2026-03-02,EMD_EPD2D_PTE_NUS_DPG,3.879')], { order: 'month_first' })
 *   // [{ week: '2026-03-02', mills: 3879 }]
 */
export async function readDieselFile(file: FileBytes, settings: DatedSettings): Promise<DieselPrice[]> {
  const prices = await readDatedFile(await asCsv(file), dieselTable, settings)
  return prices.map(({ day, value }) => ({ week: day, mills: value }))
}

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
    throw refused('header', 'The file is an Excel workbook (.xls). Save it as .xlsx and send that file.')
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
  refuseCells(rows.length * fields.length, datedCellsMax)
  return Papa.unparse({ fields, data: rows.map((row) => fields.map((field) => String(row?.[field] ?? ''))) })
}
