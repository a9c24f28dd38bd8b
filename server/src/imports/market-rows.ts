import type { DateOrder } from '#contract/date-orders.ts'
import type { FieldError } from '#contract/errors.ts'
import { marketCurrencies } from '#contract/market-reference.ts'
import { areMilesOf, MARKET_RATE_RULE, type MarketScope } from '#engine/market-rate.ts'
import type { GivenKind } from '#engine/not-given.ts'
import {
  type DateReader,
  givenText,
  type MarketFileField,
  quoted,
  readCell,
  readCurrencyIn,
  readMiles,
  readMoney,
  roundedAmount,
  StatedCurrencies,
} from '../csv/index.ts'
import { readMarketEnds } from '../quotes/index.ts'
import type { Line } from '../tables/index.ts'
import {
  isNoAmount,
  type MarketCurrency,
  marketAmount,
  rangeOf,
  readPerMile,
  readPublished,
  readRate,
  scopeOfAreas,
  zipAreaOf,
} from './market-cells.ts'
import type { ChosenColumns, RateColumns } from './market-columns.ts'

/** The values for rows and columns that do not state their own. */
export interface MarketFileDefaults {
  readonly source?: string
  readonly basis?: string
  readonly kind?: string
  readonly as_of?: string
  readonly equipment?: string
  readonly unit?: 'per_load' | 'per_mile'
  /** The order of day and month that a person chose. */
  readonly dates?: DateOrder | null
}

/** A row in the form of a pushed rate, not yet validated, with the errors of unreadable cells. */
export interface MarketFileRow {
  readonly line: number
  readonly item: Readonly<Record<string, unknown>>
  readonly errors: readonly { readonly field: string; readonly detail: string }[]
}

export const marketDateFields = ['as_of', 'valid_until'] as const
export type MarketDateField = (typeof marketDateFields)[number]

export const ends = ['origin', 'destination'] as const
export const endFields = (end: (typeof ends)[number]): MarketFileField[] => [
  end,
  `${end}_zip`,
  `${end}_market`,
  `${end}_state`,
]

export interface Reading {
  readonly header: readonly string[]
  readonly chosen: ChosenColumns
  readonly defaults: MarketFileDefaults
  readonly now: number
  readonly dates: Readonly<Record<MarketDateField, DateReader>>
  /** The currency that the lines above the header state. */
  readonly above?: MarketCurrency | null
  /** Whether the file is a workbook, whose amounts per load are rounded to cents. */
  readonly isWorkbook?: boolean
}

export const isPerMile = (field: MarketFileField, { units }: RateColumns, { unit }: MarketFileDefaults) =>
  (units.get(field) ?? (unit === 'per_mile' ? 'per mile' : 'per load')) === 'per mile'

/** What the cells of a field contain, for the words that mean that there is no value. The other fields are needed, or are amounts. */
const givenKinds: Readonly<Partial<Record<MarketFileField, GivenKind>>> = {
  valid_until: 'time',
  sample: 'miles',
  miles: 'miles',
}

/** Reads the rate of a line in the columns `of`, in the form of a pushed rate: in dollars per load. */
export function marketRow(
  { line, cells }: Line,
  of: RateColumns,
  { header, defaults, now, dates, above = null, isWorkbook = false }: Reading,
): MarketFileRow {
  const errors: { field: string; detail: string }[] = []
  const text = (field: MarketFileField) => givenText(cells[of.at.get(field) ?? -1], givenKinds[field] ?? null)
  const wrong = (field: MarketFileField, must: string) => {
    const name = header[of.at.get(field) ?? -1]?.trim() ?? field
    errors.push({
      field,
      detail: `${name} must be ${must}; it is ${quoted(text(field) ?? '')}.`,
    })
  }
  for (const field of of.at.keys()) {
    const cell = readCell(text(field) ?? '', (value) => ({ value }))
    if ('wrong' in cell) wrong(field, cell.wrong)
  }
  if (errors.length > 0) return { line, errors, item: {} }
  const { source, basis, kind, as_of, equipment } = defaults
  const item: Record<string, unknown> = {
    ...Object.fromEntries(
      Object.entries({ source, kind, as_of, equipment }).filter(([, value]) => value !== undefined),
    ),
    ...(of.basis === null && basis === undefined ? {} : { basis: of.basis ?? basis }),
    ...(of.equipment === null ? {} : { equipment: of.equipment }),
    ...areasOf(text),
  }
  for (const field of ['equipment', 'source'] as const) {
    const said = text(field)
    if (said !== null) item[field] = said
  }
  for (const field of marketDateFields) {
    const said = text(field)
    if (said === null) continue
    const read = readPublished(said, now, dates[field])
    if ('value' in read) item[field] = new Date(read.value).toISOString()
    else wrong(field, read.wrong)
  }
  const sample = text('sample')
  if (sample !== null) item.sample = Number(sample.replaceAll(',', ''))
  for (const [field, read] of [
    ['basis', basisOf],
    ['kind', kindOf],
  ] as const) {
    const said = text(field)
    if (said !== null) item[field] = read(said)
  }
  const currencies = new StatedCurrencies<MarketCurrency>()
  const nameAt = (field: MarketFileField) => header[of.at.get(field) ?? -1]?.trim() ?? field
  currencies.say(above, 'a line above the header')
  const ofName = marketCurrencies.find((one) => one === of.currency) ?? null
  currencies.say(ofName, `the name of the column ${nameAt('mid')}`)
  const word = text('currency')
  const stated = word === null ? null : readCurrencyIn(word, marketCurrencies)
  if (stated !== null && 'wrong' in stated) wrong('currency', stated.wrong)
  else if (stated !== null) currencies.say(stated.value, `the column ${nameAt('currency')}`)
  const sayCell = (currency: MarketCurrency, field: MarketFileField) =>
    currencies.say(currency, `the cell of ${nameAt(field)}`)
  Object.assign(item, amountsOf({ text, wrong, say: sayCell, errors, of, defaults, item, isWorkbook }))
  const { currency, contradiction } = currencies
  if (contradiction !== null) {
    errors.push({ field: 'currency', detail: `The rate must be ${contradiction.detail}.` })
  } else if (currency !== null) item.currency = currency
  return { line, errors, item }
}

/** Both areas, with the scope that the row states, or that their columns or form imply. Without a scope, they are a city pair. */
function areasOf(text: (field: MarketFileField) => string | null): Record<string, string> {
  const stated = text('scope')?.toLowerCase() ?? null
  const scope = stated === null ? {} : { scope: scopeWords[stated.replaceAll(/[^a-z0-9]/g, '')] ?? stated }
  const states = ends.map((end) => text(`${end}_state`))
  for (const column of ['', '_zip', '_market', '_state'] as const) {
    const [origin, destination] = ends.map((end) => text(`${end}${column}`))
    if (!origin || !destination) continue
    const named = [origin, destination].map((place, end) => {
      const state = states[end]
      return (column === '' || column === '_market') && state && !place.includes(',')
        ? `${place}, ${state}`
        : place
    })
    const implied =
      scopeOfAreas(origin, destination) ??
      (column === '_market' ? 'market' : column === '_state' ? 'state_pair' : null)
    const said = (scope.scope ?? implied) === 'zip3' ? named.map((area) => zipAreaOf(area) ?? area) : named
    return {
      origin: said[0] ?? '',
      destination: said[1] ?? '',
      ...(implied === null ? {} : { scope: implied }),
      ...scope,
    }
  }
  const any = (end: (typeof ends)[number]) =>
    endFields(end)
      .map(text)
      .find((value) => value !== null)
  const [origin, destination] = ends.map(any)
  return { ...(origin == null ? {} : { origin }), ...(destination == null ? {} : { destination }), ...scope }
}

const scopeWords: Readonly<Record<string, MarketScope>> = {
  lane: 'lane',
  city: 'lane',
  citypair: 'lane',
  zip3: 'zip3',
  '3zip': 'zip3',
  '3digitzip': 'zip3',
  market: 'market',
  marketarea: 'market',
  kma: 'market',
  state: 'state_pair',
  statepair: 'state_pair',
  region: 'region',
}

interface RowParts {
  readonly text: (field: MarketFileField) => string | null
  /** Adds an error of a cell: what it must be. */
  readonly wrong: (field: MarketFileField, must: string) => void
  /** Notes the currency that the cell of an amount states. */
  readonly say: (currency: MarketCurrency, field: MarketFileField) => void
  readonly isWorkbook: boolean
  readonly errors: { field: string; detail: string }[]
  readonly of: RateColumns
  readonly defaults: MarketFileDefaults
  readonly item: Readonly<Record<string, unknown>>
}

/** The amounts of a row in dollars per load. */
function amountsOf(row: RowParts): Record<string, number> {
  const { text, wrong, say, of, defaults, isWorkbook } = row
  const amounts: Record<string, number> = {}
  const miles = once(() => milesOf(row))
  const put = (field: 'low' | 'mid' | 'high' | 'fuel', cell: string, from: MarketFileField = field) => {
    const perMile = isPerMile(from, of, defaults)
    const bare = perMile
      ? cell.replace(/(?<!\s)\s*\/ ?mi(?:les?)?$/i, '')
      : isWorkbook
        ? roundedAmount(cell)
        : cell
    const { text: said, currency, wrong: fault } = marketAmount(bare)
    if (currency !== null) say(currency, from)
    if (fault !== null) {
      wrong(from, fault)
      return
    }
    const read = !perMile ? (field === 'mid' ? readRate(said) : readMoney(said)) : readPerMile(said)
    if ('wrong' in read) wrong(from, read.wrong)
    else if (!perMile) amounts[field] = read.value / 100
    else if (read.value > MARKET_RATE_RULE.mostPerMileCents * 100) {
      wrong(from, 'dollars per mile, at most $20; it looks like dollars per load')
    } else {
      const by = miles()
      if (by !== null) amounts[field] = Math.round((read.value * by) / 100) / 100
    }
  }
  for (const field of ['low', 'mid', 'high', 'fuel'] as const) {
    const said = text(field)
    if (said !== null && (field === 'mid' || !isNoAmount(said))) put(field, said)
  }
  const range = text('range')
  if (range !== null && !isNoAmount(range)) {
    const both = rangeOf(range)
    if (both === null) wrong('range', 'two amounts such as 1790 - 2140')
    else {
      put('low', both.low, 'range')
      put('high', both.high, 'range')
    }
  }
  return amounts
}

function once<Value>(compute: () => Value): () => Value {
  let known: { readonly value: Value } | undefined
  return () => {
    known ??= { value: compute() }
    return known.value
  }
}

/**
 * The miles that the row states, else the miles between its places. An error if the two differ much: they are kilometers, or of
 * another lane.
 */
function milesOf({ text, wrong, errors, item }: RowParts): number | null {
  const { scope = 'lane', origin, destination } = item
  const isBetweenPlaces = scope === 'lane' || scope === 'market'
  const unknown: FieldError[] = []
  const between =
    isBetweenPlaces && typeof origin === 'string' && typeof destination === 'string'
      ? (readMarketEnds(scope, { origin, destination }, (field) => ({ pointer: field }), unknown)?.miles ??
        null)
      : null
  const said = text('miles')
  const read = said === null ? { value: null } : readMiles(said)
  if ('wrong' in read) wrong('miles', read.wrong)
  else if (unknown.length > 0) {
    errors.push(...unknown.map(({ pointer = '', detail }) => ({ field: pointer, detail })))
  } else if (read.value === null && between === null) {
    wrong('mid', 'dollars per load, or have a column Miles, because the miles of this row are not known')
  } else if (read.value !== null && between !== null && !areMilesOf(read.value, between)) {
    wrong('miles', `the miles of the lane, about ${Math.round(between)}`)
  } else return read.value ?? between
  return null
}

/** @example kindOf('Shipper') // 'sell' */
function kindOf(text: string): string {
  const word = text.toLowerCase().replaceAll(/[^a-z]/g, '')
  if (/^(buy|carrier|brokertocarrier|cost|spotbuy|spot)$/.test(word)) return 'buy'
  return /^(sell|shipper|shippertobroker|shippertocarrier|customer|contract)$/.test(word) ? 'sell' : text
}

/** @example basisOf('All-in') // 'all_in' */
function basisOf(text: string): string {
  const word = text.toLowerCase().replaceAll(/[^a-z]/g, '')
  return word === 'allin' ? 'all_in' : word === 'linehaul' ? 'linehaul' : text
}
