import { datedFileBytesMax, exchangeRatesMax } from '#contract/limits.ts'
import { type ExchangeRate, USD_PER_CAD } from '#engine/exchange-days.ts'
import { cellText, exchangeNames, isNamed, quoted, readCell, readDay } from '../csv/index.ts'
import { type FileBytes, ImportFileError, readTable } from '../tables/index.ts'
import type { CellSettings } from './file-settings.ts'

const problemsMax = 20
/** The most cells of the file. The Bank of Canada publishes 26 currencies, since 2017. */
const cellsMax = 250_000

/**
 * Reads exchange rates of the Canadian dollar from a table, such as a download of the Bank of Canada: lines about the source, a
 * header with the columns date and an exchange rate, then a row per day. A day without an exchange rate is left out.
 *
 * @returns the exchange rates, oldest day first
 * @throws ImportFileError with the line and the remedy, if the file has another form or a value that cannot be read
 * @example await readExchangeFile([Buffer.from('date,FXUSDCAD\n2026-03-02,1.25')]) // [{ day: '2026-03-02', usdPerCad: 0.8 }]
 */
export async function readExchangeFile(file: FileBytes, cells: CellSettings = {}): Promise<ExchangeRate[]> {
  const { lines } = await readTable(file, {
    vocabulary: 'exchange rates',
    ...cells,
    cellsMax,
    bytesMax: datedFileBytesMax,
  })
  const data = lines.map(({ cells }) => cells)
  const at = data.findIndex((cells) => cells.some(isNamed(exchangeNames.day)))
  const header = data[at] ?? []
  const dayAt = header.findIndex(isNamed(exchangeNames.day))
  const direct = header.findIndex(isNamed(exchangeNames.usdPerCad))
  const inverse = header.findIndex(isNamed(exchangeNames.cadPerUsd))
  if (dayAt < 0 || (direct < 0 && inverse < 0)) {
    throw refused(
      'The file must have a header with the columns date and usd_per_cad (or FXCADUSD), or cad_per_usd (or FXUSDCAD).',
    )
  }
  const rates = new Map<string, number>()
  const problems: string[] = []
  for (const [index, cells] of data.entries()) {
    if (index <= at) continue
    if (problems.length >= problemsMax) break
    const line = lines[index]?.line
    const written = cellText(cells[direct < 0 ? inverse : direct]) ?? ''
    if (cells.every((cell) => cell.trim() === '') || /^(na|n\/a|bank holiday|-)?$/i.test(written)) continue
    const day = readCell(cellText(cells[dayAt]) ?? '', readDay)
    const rate = /^\d(\.\d{1,6})?$/.test(written) ? Number(written) : Number.NaN
    const usdPerCad = direct < 0 ? Math.round(1e6 / rate) / 1e6 : rate
    if ('wrong' in day)
      problems.push(`Line ${line}: the date must be ${day.wrong}; it is ${quoted(cells[dayAt] ?? '')}.`)
    else if (!(usdPerCad >= USD_PER_CAD.least && usdPerCad <= USD_PER_CAD.most)) {
      problems.push(
        `Line ${line}: the exchange rate ${quoted(written)} must be ${direct < 0 ? 'Canadian per US dollar, from 0.91 to 2' : 'US dollars per Canadian dollar, from 0.5 to 1.1'}.`,
      )
    } else if ((rates.get(day.value) ?? usdPerCad) !== usdPerCad) {
      problems.push(
        `Line ${line}: ${day.value} has another exchange rate on an earlier line; keep one of them.`,
      )
    } else rates.set(day.value, usdPerCad)
  }
  if (problems.length > 0) throw new ImportFileError(problems.map(problemOf))
  if (rates.size === 0) throw refused('The file has no exchange rate.')
  if (rates.size > exchangeRatesMax) {
    throw refused(`The file must have at most ${exchangeRatesMax.toLocaleString('en-US')} days.`)
  }
  return [...rates]
    .map(([day, usdPerCad]) => ({ day, usdPerCad }))
    .sort((one, other) => (one.day < other.day ? -1 : 1))
}

const problemOf = (detail: string) => ({ code: 'header' as const, row: null, column: null, detail })
const refused = (detail: string) => new ImportFileError([problemOf(detail)])
