import {
  amountFields,
  cellText,
  foldedHeader,
  givenText,
  type ImportFieldName,
  isCurrency,
  quoted,
  readMoney,
  roundedAmount,
  shortened,
  statedAmount,
  statusLike,
} from '../csv/index.ts'
import { ImportFileError, type TableFile, tablePieces } from '../tables/index.ts'
import type { Columns } from './columns.ts'
import type { ImportNote } from './import-notes.ts'

/** The first rows that are compared. */
const rowsMax = 50
/** From this many rows, numbers that count by one are ids; those that count by up to three, from twice as many. */
const rowsMin = 5
const stepMax = 3

/**
 * Whether the cells of a column count up or down, as ids do and amounts do not: whole numbers, each one more than the one before, or in
 * ten rows or more up to three more.
 *
 * @example countsLikeIds(['4100', '4101', '4102', '4103', '4104']) // true
 * @example countsLikeIds(['1800', '2450', '1750', '2100', '1990']) // false
 */
export function countsLikeIds(cells: readonly string[]): boolean {
  if (cells.length < rowsMin || !cells.every((cell) => /^\d{1,9}$/.test(cell))) return false
  const numbers = cells.map(Number)
  const steps = numbers.slice(1).map((number, at) => number - (numbers[at] ?? 0))
  const max = cells.length < 2 * rowsMin ? 1 : stepMax
  return steps.every((step) => step >= 1 && step <= max) || steps.every((step) => step <= -1 && step >= -max)
}

/** The most of a percentage, and of its share of an amount in dollars. Fuel charges of most loads are above one of them. */
const [percentMax, percentShareMax] = [100, 0.05] as const
const fuelFields = ['quoted_fuel', 'customer_fuel', 'truck_fuel'] as const
const rateFields = ['quoted_rate', 'customer_rate', 'truck_cost'] as const

/** Dollars; null for a cell without an amount above 0. */
function dollarsOf(cell: string | undefined): number | null {
  const read = readMoney(roundedAmount(statedAmount(cellText(cell) ?? '').text))
  return 'value' in read && read.value > 0 ? read.value / 100 : null
}

/**
 * The cells of a column of fuel charges, if they look like percentages without their sign: none is larger than one, and most are a small
 * part of the amount in their row.
 *
 * @example percentsOf([['1800', '18.5'], ['1500', '18.5']], 1, [0]) // ['18.5', '18.5']
 */
function percentsOf(rows: Rows, fuelAt: number, amountsAt: readonly number[]): string[] {
  const charges = rows.flatMap((cells) => {
    const fuel = dollarsOf(cells[fuelAt])
    const amount = Math.max(...amountsAt.map((at) => dollarsOf(cells[at]) ?? 0))
    return fuel === null || amount === 0 ? [] : [{ cell: cellText(cells[fuelAt]) ?? '', fuel, amount }]
  })
  const small = charges.filter(({ fuel, amount }) => fuel <= percentShareMax * amount)
  const arePercents = charges.every(({ fuel }) => fuel <= percentMax) && small.length * 2 > charges.length
  // Less than a dollar is refused by row, as a charge per mile.
  return arePercents && small.some(({ fuel }) => fuel >= 1) ? charges.map(({ cell }) => cell) : []
}

/** Why a column of fuel charges is in doubt, by the cells of rows and the columns of the amounts; null if it is not. */
function percentDetail(rows: Rows, fuelAt: number, amountsAt: readonly number[]): string | null {
  const cells = percentsOf(rows, fuelAt, amountsAt)
  return cells.length === 0
    ? null
    : `its cells look like percentages: ${cells.slice(0, 3).join(', ')}, and fuel charges are dollars per load`
}

const percentRemedy = 'If they are percentages, convert them, or leave the column out.'

/** As the doubt about a column of fuel charges of a file of quotes, in a sentence for a file of market rates. */
export function percentNote(
  rows: Rows,
  name: string,
  { fuelAt, amountsAt }: { readonly fuelAt: number; readonly amountsAt: readonly number[] },
): string | null {
  const detail = percentDetail(rows, fuelAt, amountsAt)
  return detail === null ? null : `${shortened(name)} is read as fuel, but ${detail}. ${percentRemedy}`
}

interface Doubt {
  readonly field: ImportFieldName
  readonly name: string
  readonly detail: string
  /** What a person can do, for a column that was found by its name. */
  readonly remedy: string
  /** What the map chooses instead, for a column that the map chooses. */
  readonly otherwise: string
}

type NamedColumns = Pick<Columns, 'names' | 'positions'>

function doubtOfIds([field, name]: readonly [ImportFieldName, string], rows: Rows, at: number): Doubt[] {
  const cells = rows.flatMap((one) => cellText(one[at]) ?? [])
  if (!countsLikeIds(cells)) return []
  return [
    {
      field,
      name,
      detail: `its cells look like ids: ${cells.slice(0, 3).join(', ')}, each next to the one before`,
      remedy: `If they are ids, use the map reference=${name},${field}=COLUMN with the column of the amounts; if they are amounts, use the map ${field}=${name}.`,
      otherwise: `If they are ids, choose another column for ${field}.`,
    },
  ]
}

/** The columns of fuel charges whose cells look like percentages. */
export function doubtsOfPercents(rows: Rows, { names, positions }: NamedColumns): Doubt[] {
  const amountsAt = rateFields.flatMap((field) => positions[field] ?? [])
  return fuelFields.flatMap((field) => {
    const [name, at] = [names[field], positions[field]]
    if (name === undefined || at === undefined || amountsAt.length === 0) return []
    const detail = percentDetail(rows, at, amountsAt)
    if (detail === null) return []
    return [
      {
        field,
        name,
        detail,
        remedy: `If they are percentages, convert them, or leave the column out with the map ${field}=; if they are dollars, use the map ${field}=${name}.`,
        otherwise: percentRemedy,
      },
    ]
  })
}

/**
 * The columns of amounts whose cells look like ids or percentages, by the first rows. A column with the name of its field is not in doubt.
 *
 * @returns sentences for columns that the map chooses, because the person who chose them may not have looked at their cells
 * @throws ImportFileError about columns that were found by their names
 */
export function doubtedAmounts(
  rows: Rows,
  { headerLine }: Pick<TableFile, 'headerLine'>,
  columns: Columns,
): ImportNote[] {
  const named = (Object.entries(columns.names) as [ImportFieldName, string][]).filter(([field]) =>
    amountFields.has(field),
  )
  const doubts = [
    ...named.flatMap((one) => doubtOfIds(one, rows, columns.positions[one[0]] ?? 0)),
    ...doubtsOfPercents(rows, columns),
  ].filter(({ field, name }) => foldedHeader(name) !== foldedHeader(field))
  const unasked = doubts.filter(({ field }) => !columns.chosen.has(field))
  if (unasked.length > 0) {
    throw new ImportFileError(
      unasked.map(({ field, name, detail, remedy }) => ({
        code: 'header',
        row: headerLine,
        column: shortened(name),
        detail: `The column ${quoted(name)} would be ${field}, but ${detail}. ${remedy}`,
      })),
    )
  }
  return doubts.map(doubtNote)
}

/** A doubt about a column as a sentence of an import. */
export function doubtNote({ field, name, detail, otherwise }: Doubt): ImportNote {
  const words = `${name} is read as ${field}, but ${detail}. ${otherwise}`
  return { code: 'content', column: name, detail: words, choices: [] }
}

/**
 * Sentences about columns that are not read and may say what became of the quotes: with them, quotes that were cancelled count as they
 * would not.
 */
export function unreadStatuses(
  rows: Rows,
  { header }: Pick<TableFile, 'header'>,
  columns: Columns,
): ImportNote[] {
  const read = new Set(Object.values(columns.positions))
  return header.flatMap((name, at) => {
    const field = read.has(at) ? null : statusLike(name)
    // The map can say that the field is not read.
    if (field === null || columns.names[field] !== undefined || columns.chosen.has(field)) return []
    if (!rows.some((cells) => givenText(cells[at], 'name') !== null)) return []
    const [what, detail] = unreadWords[field]
    return [
      {
        code: 'columns' as const,
        column: name,
        detail: `${shortened(name)} is not read. If it says ${what}, choose it for ${field}.`,
        choices: [{ map: `${field}=#${at + 1}`, detail }],
      },
    ]
  })
}

/**
 * A sentence about a column of outcomes in which 1 and 0, which are read as won and lost, stand beside other numbers: then all of them may be
 * codes of a system. Empty if there is none, or the map says what 1 and 0 mean.
 */
export function codedOutcomes(rows: Rows, columns: Columns): ImportNote[] {
  const { positions, names, words } = columns
  const at = positions.outcome ?? -1
  const numbers = new Set(rows.flatMap((cells) => cellText(cells[at])?.match(/^\d{1,4}$/) ?? []))
  const binary = ['1', '0'].filter((code) => numbers.has(code) && words.outcome?.has(code) !== true)
  const others = [...numbers].filter((code) => code !== '1' && code !== '0')
  if (binary.length === 0 || others.length === 0) return []
  const column = names.outcome ?? 'outcome'
  const read = binary.map((code) => `${code} is read as ${code === '1' ? 'won' : 'lost'}`).join(' and ')
  const detail = `${shortened(column)}: ${read}, but the column has other numbers, such as ${others.slice(0, 3).join(', ')}. If they are codes, state what ${binary.join(' and ')} mean in the map, such as outcome:${binary[0]}=pending.`
  return [{ code: 'words', column, detail, choices: [] }]
}

const unreadWords = {
  cancelled: ['which loads were cancelled', 'Rows with yes are left out.'],
  outcome: ['which quotes were won or lost', 'Its words are the outcomes.'],
} as const

/**
 * Refuses a file with a column of currencies whose name is not known: its amounts would be stored in US dollars.
 *
 * @throws ImportFileError unless the file has a known column of currencies, or the map states the currency
 */
export function refuseUnreadCurrencies(
  rows: Rows,
  { header, headerLine }: TableFile,
  columns: Columns,
): void {
  if (columns.names.quoted_currency !== undefined || columns.fileCurrency?.from === 'map') return
  const at = currencyColumn(rows, header, new Set(Object.values(columns.positions)))
  if (at === null) return
  const name = header[at]?.trim() || `#${at + 1}`
  throw new ImportFileError([
    {
      code: 'header',
      row: headerLine,
      column: shortened(name),
      detail: `The column ${quoted(name)} has currencies, and is not read. If they are those of the amounts, use the map quoted_currency=${name}; if not, state the currency of the amounts, as in currency=USD.`,
    },
  ])
}

/** The position of the first column that is not read and has currencies only; null if there is none. */
export function currencyColumn(
  rows: Rows,
  header: readonly string[],
  read: ReadonlySet<number>,
): number | null {
  const found = header.findIndex((_, at) => {
    if (read.has(at)) return false
    const given = rows.flatMap((cells) => givenText(cells[at], 'name') ?? [])
    return given.length > 0 && given.every(isCurrency)
  })
  return found < 0 ? null : found
}

type Rows = readonly (readonly string[])[]

/** The first rows of a file, by which the content of its columns is judged. */
export async function firstRows(csv: TableFile): Promise<Rows> {
  const found: (readonly string[])[] = []
  for await (const { rows } of tablePieces(csv)) {
    found.push(...rows.flatMap(({ cells, malformed }) => (malformed ? [] : [cells])))
    if (found.length >= rowsMax) break
  }
  return found.slice(0, rowsMax)
}
