import { exchangeRatesMax } from '#contract/limits.ts'
import { type ExchangeRate, USD_PER_CAD } from '#engine/exchange-days.ts'
import { exchangeNames } from '../csv/index.ts'
import type { FileBytes } from '../tables/index.ts'
import { type DatedSettings, type DatedTable, readDatedFile } from './dated-file.ts'

const { day, usdPerCad, cadPerUsd } = exchangeNames
const inRange = (rate: number) => (rate >= USD_PER_CAD.least && rate <= USD_PER_CAD.most ? rate : null)
const numberOf = (written: string) => (/^\d(\.\d{1,6})?$/.test(written) ? Number(written) : Number.NaN)

/** Files of exchange rates, in each direction. */
const exchangeTable: DatedTable = {
  vocabulary: 'exchange rates',
  forms: [
    {
      names: { day, value: usdPerCad, series: [] },
      read: (written) => inRange(numberOf(written)),
      must: 'US dollars per Canadian dollar, from 0.5 to 1.1',
    },
    {
      names: { day, value: cadPerUsd, series: [] },
      read: (written) => inRange(Math.round(1e6 / numberOf(written)) / 1e6),
      must: 'Canadian per US dollar, from 0.91 to 2',
    },
  ],
  needed: 'have a header with the columns date and usd_per_cad (or FXCADUSD), or cad_per_usd (or FXUSDCAD)',
  words: { day: 'day', value: 'exchange rate', one: 'exchange rate' },
  blank: /^(na|n\/a|bank holiday|-)?$/i,
  daysMax: exchangeRatesMax,
}

/**
 * Reads exchange rates of the Canadian dollar from a table, such as a download of the Bank of Canada: lines about the source, a
 * header with the columns date and an exchange rate, then a row per day. A day without an exchange rate is left out.
 *
 * @returns the exchange rates, oldest day first
 * @throws ImportFileError with the line and the remedy, if the file has another form or a value that cannot be read
 * @example await readExchangeFile([Buffer.from('date,FXUSDCAD\n2026-03-02,1.25')], { order: 'month_first' }) // [{ day: '2026-03-02', usdPerCad: 0.8 }]
 */
export async function readExchangeFile(file: FileBytes, settings: DatedSettings): Promise<ExchangeRate[]> {
  const rates = await readDatedFile(file, exchangeTable, settings)
  return rates.map(({ day, value }) => ({ day, usdPerCad: value }))
}
