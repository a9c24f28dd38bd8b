import { knownNames } from './guessed-columns.ts'
import { marketMeaning } from './market-names.ts'
import { isNamed } from './match-columns.ts'

/** What a table is about. The names of its columns follow from it. */
export type Vocabulary = 'quotes' | 'market rates' | 'diesel prices' | 'exchange rates'

interface KnownNames {
  /** The number of different known names of columns among cells. */
  readonly count: (cells: readonly string[]) => number
  /** The known names that a line needs, for its sheet of a workbook to be taken for the table. */
  readonly least: number
}

/** The names of columns with the day of an exchange rate, and with its value in each direction. The Bank of Canada publishes FXCADUSD and FXUSDCAD. */
export const exchangeNames = {
  day: ['date', 'day'],
  usdPerCad: ['usdpercad', 'fxcadusd', 'cadusd'],
  cadPerUsd: ['cadperusd', 'fxusdcad', 'usdcad'],
} as const

/** The names of columns of the forms in which the EIA publishes diesel prices. */
const dieselNames = ['period', 'series', 'value', 'sourcekey', 'weekof']

const among = (names: readonly string[]) => (cells: readonly string[]) => cells.filter(isNamed(names)).length

export const vocabularies: Readonly<Record<Vocabulary, KnownNames>> = {
  quotes: { count: knownNames, least: 2 },
  'market rates': {
    count: (cells) => new Set(cells.flatMap((cell) => marketMeaning(cell)?.field ?? [])).size,
    least: 3,
  },
  'diesel prices': { count: among(dieselNames), least: 1 },
  'exchange rates': { count: among(Object.values(exchangeNames).flat()), least: 2 },
}
