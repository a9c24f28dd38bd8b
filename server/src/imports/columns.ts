import type { DateOrder } from '#contract/date-orders.ts'
import { quoteTable } from '#engine/quote-fields.ts'
import type { Currency, RateBasis } from '#engine/rate-basis.ts'
import { finished, type Steps } from '#engine/steps.ts'
import {
  ambiguousHeaders,
  amountFields,
  fieldOfHeader,
  foldedHeader,
  guessedHeaders,
  headerFault,
  headerTerms,
  type ImportFieldName,
  isGuess,
  isStored,
  matchFields,
  quoteCandidates,
  quoteCurrencies,
  quoted,
  shortened,
  statusLike,
} from '../csv/index.ts'
import { withCarried } from './carried-map.ts'
import { type ColumnNeed, columnNeeds, ends, type FreeColumn, missing } from './column-needs.ts'
import { type ColumnProblem, closestField, shownProblems, twoColumns } from './column-problems.ts'
import { currencyAbove, type FileCurrency } from './column-terms.ts'
import type { MapSettings } from './map-settings.ts'
import { type Names, namesOf, type ReadMap, readMap } from './read-map.ts'
import type { WordMeanings } from './word-meanings.ts'

export interface Columns {
  /** The position of each field's column in a row, from 0. That of a value for all rows is after the last column. */
  readonly positions: Readonly<Partial<Record<ImportFieldName, number>>>
  /** The name of each field's column in the file; of a value for all rows, the field. */
  readonly names: Readonly<Partial<Record<ImportFieldName, string>>>
  /** The values that the map states for all rows, as if each row had such a cell. */
  readonly constants: Readonly<Partial<Record<ImportFieldName, string>>>
  /** The basis of amounts, if the map or the name of their column states it. A row can state another one. */
  readonly bases: Readonly<Partial<Record<FieldWithBasis, AssumedBasis>>>
  /** The currencies that the names of columns state. */
  readonly currencies: Readonly<Partial<Record<ImportFieldName, Currency>>>
  /** The currency of the whole file, if the map or a line above the header states it. */
  readonly fileCurrency: FileCurrency | null
  /** What happens to a row whose id is that of a quote of another day: it is refused, or updates the quote. */
  readonly sameIds: SameIds
  /** The order of day and month that the map chooses, as in `dates=day_first`; null if it chooses none. */
  readonly dates: DateOrder | null
  /** What the map says that words of columns mean, as in `outcome:Lost to CHR=lost`. */
  readonly words: WordMeanings
  /** The fields whose columns the map chooses. */
  readonly chosen: ReadonlySet<ImportFieldName>
  /** Columns that are not read. */
  readonly ignored: readonly string[]
  /** The position of the column by which an export says until when a rate is valid. It is not read, so a row in which it was edited is refused. */
  readonly validUntil: number | null
  /** The number of columns of the header. A row with more columns is an error. */
  readonly width: number
}

export type SameIds = 'ask' | 'update'

/** The fields whose amounts have a basis. */
export type FieldWithBasis = 'quoted_rate' | 'customer_rate' | 'truck_cost'

export interface AssumedBasis {
  readonly basis: RateBasis
  /** `map`: the person who imports the file chose it. `name`: it was guessed from the name of the column. */
  readonly from: 'map' | 'name'
}

export type ReadColumns = { readonly columns: Columns } | { readonly problems: readonly ColumnProblem[] }

/**
 * Reads the header of a file. `map` (`field=column` pairs separated by commas) takes precedence over the known names. A pair without
 * a column, `outcome=`, leaves that field unread; `outcome=#3` reads the third column; `equipment==Van` states a value for all rows. All problems are reported at once.
 * `basis=linehaul` states the basis of all rates in the file, `cost_basis=all_in` that of all truck costs, and `currency=CAD` the
 * currency of all amounts without a currency of their own. With `same_ids=update`, rows with the id of a quote update it even if the day
 * is another one. `dates=day_first` chooses the order of day and month. `outcome:Lost to CHR=lost` states what a word means.
 *
 * @example readColumns(['Ship From', 'Ship To', 'Equip', 'Sell Rate', 'Quote Date'])
 *   // { columns: { names: { origin: 'Ship From', destination: 'Ship To', equipment: 'Equip', ... }, ... } }
 */
export function readColumns(header: readonly string[], map = ''): ReadColumns {
  const { columns, problems } = finished(matchColumns(header, map))
  return problems.length > 0 ? { problems } : { columns }
}

/**
 * The columns with the currency that the lines above the header state, unless the map states one. A problem if the lines state two
 * currencies, one that is not stored, or another one than the name of a column.
 */
export function withCurrencyAbove(columns: Columns, lines: Parameters<typeof currencyAbove>[0]): ReadColumns {
  const above = columns.fileCurrency === null ? currencyAbove(lines, quoteCurrencies) : null
  if (above === null) return { columns }
  const choose = 'choose with the map currency=USD or currency=CAD'
  if ('fault' in above) {
    return {
      problems: [
        {
          code: 'header',
          column: null,
          detail: `The lines above the header ${above.fault}. If the amounts are in dollars, ${choose}.`,
        },
      ],
    }
  }
  const { currency, from } = above.stated
  const other = Object.entries(columns.currencies).find(([, one]) => one !== currency)
  if (other === undefined) return { columns: { ...columns, fileCurrency: above.stated } }
  const name = columns.names[other[0] as ImportFieldName] ?? ''
  const detail = `The column ${quoted(name)} says ${other[1]}, and a line above the header says ${currency}: ${quoted(from.line)}. For the amounts without a currency of their own, ${choose}.`
  return { problems: [{ code: 'header', column: shortened(name), detail }] }
}

/** The match of a header with the fields, before a person has chosen columns. */
export interface ColumnMatch {
  readonly columns: Columns
  readonly problems: readonly ColumnProblem[]
  /** Candidate columns, from 0, for each field without a match. */
  readonly mayBe: Readonly<Partial<Record<ImportFieldName, readonly number[]>>>
  /** Fields whose column was guessed from an ambiguous name. */
  readonly guessed: ReadonlySet<ImportFieldName>
  readonly needs: readonly ColumnNeed[]
}

/**
 * Reads a header as `readColumns` does, and reports a partial result for an invalid one: the matched fields, the
 * candidate columns of the others, and the fields that are still required.
 *
 * @example finished(matchColumns(['Ship From', 'Ship To', 'Equip', 'Rate', 'Quote Date'])).mayBe
 *   // { quoted_rate: [3], customer_rate: [3], truck_cost: [3] }
 */
export function* matchColumns(header: readonly string[], map = ''): Steps<ColumnMatch> {
  const matched = yield* matchHeaders(header, map)
  const { positions, doubtful } = matched
  const mayBe: Partial<Record<ImportFieldName, readonly number[]>> = Object.fromEntries(doubtful)
  const free = yield* freeColumns(matched)
  for (const { position, fields } of free) {
    for (const field of fields) {
      if (positions[field] !== undefined || doubtful.has(field)) continue
      mayBe[field] = [...(mayBe[field] ?? []), position]
    }
  }
  return {
    columns: columnsOf(matched),
    problems: problemsOf(matched, free),
    mayBe,
    guessed: matched.guessed,
    needs: columnNeeds((field) => positions[field] !== undefined),
  }
}

type Positions = Readonly<Partial<Record<ImportFieldName, number>>>

interface MatchedHeaders extends Names {
  readonly positions: Positions
  readonly constants: ReadonlyMap<ImportFieldName, string>
  /** Fields that two columns match. */
  readonly doubtful: ReadonlyMap<ImportFieldName, readonly number[]>
  readonly guessed: ReadonlySet<ImportFieldName>
  readonly chosen: ReadonlySet<ImportFieldName>
  readonly problems: readonly ColumnProblem[]
  readonly settings: MapSettings
}

function* matchHeaders(header: readonly string[], map: string): Steps<MatchedHeaders> {
  const names = yield* namesOf(header)
  const { headers } = names
  const problems: ColumnProblem[] = []
  const settings: MapSettings = {}
  const { mapped, constants } = readMap(withCarried(header, map), names, problems, settings)
  const positions: Partial<Record<ImportFieldName, number>> = {}
  for (const [field, at] of mapped) if (at !== null) positions[field] = at
  for (const [nth, field] of [...constants.keys()].entries()) positions[field] = headers.length + nth
  const taken = new Set(mapped.values())
  const named = yield* quoteCandidates(names, { fieldOf: (field) => field, guesses: guessedHeaders })
  const candidates = named.filter(({ field, at }) => !mapped.has(field) && !taken.has(at))
  const given = Object.keys(positions) as ImportFieldName[]
  const { of, doubtful } = matchFields(candidates, 'ask', given, (field) => sameMeaning[field] ?? [])
  for (const [field, { at }] of of) positions[field] = at
  // Two columns with times of changes are no reason to refuse a file: neither is read.
  for (const [field, several] of doubtful) {
    if (field !== 'updated_at') problems.push(twoColumns(field, several, headers))
  }
  problems.push(...otherTerms(headers, positions))
  for (const end of ends) {
    settlePlace(positions, end, constants)
    problems.push(...partsOfWhole(positions, end, constants))
  }
  const guessed = new Set([...of].flatMap(([field, one]) => (isGuess(one) ? field : [])))
  const chosen = new Set(mapped.keys())
  return { ...names, positions, constants, doubtful, guessed, chosen, problems, settings }
}

/** The problems of columns whose name says that their amounts are not US or Canadian dollars per load. */
function otherTerms(headers: readonly string[], positions: Positions): ColumnProblem[] {
  return (Object.entries(positions) as [ImportFieldName, number][]).flatMap(([field, position]) => {
    const name = headers[position] ?? ''
    const fault = amountFields.has(field) ? headerFault(name) : null
    if (fault === null) return []
    const detail = `The column ${quoted(name)} ${fault}. Convert them, choose another column for ${field}, or leave the field out with the map ${field}=.`
    return [{ code: 'header', column: shortened(name), detail }]
  })
}

/** Other fields with the same meaning. If one of them has a column, no column is guessed for the field. */
const sameMeaning: Partial<Record<ImportFieldName, readonly ImportFieldName[]>> = {
  origin: ['origin_city', 'origin_zip'],
  destination: ['destination_city', 'destination_zip'],
  quoted_rate: ['customer_rate'],
}

const COLUMNS_PER_STEP = 20

function* freeColumns({ headers, folded: names, positions }: MatchedHeaders): Steps<FreeColumn[]> {
  const used = new Set(Object.values(positions))
  const free: FreeColumn[] = []
  for (const [position, name] of headers.entries()) {
    if (position % COLUMNS_PER_STEP === 0) yield
    if (used.has(position)) continue
    const folded = names[position] ?? ''
    const status = statusLike(name)
    const fields = status === null ? perhaps(name, folded) : [status]
    free.push({ name, position, fields: [fields ?? []].flat() })
  }
  return free
}

/** What a column may be whose name is not known: by a name like its own, by its name without what is in brackets, or by its dollar sign. */
function perhaps(name: string, folded: string) {
  return (
    ambiguousHeaders.get(folded) ??
    closestField(folded) ??
    fieldOfHeader.get(foldedHeader(name.replaceAll(/\([^()]*\)/g, ''))) ??
    (name.includes('$') ? ambiguousHeaders.get('amount') : null)
  )
}

/** The problems of a header: two columns for one field, an invalid map, or missing fields. */
function problemsOf(matched: MatchedHeaders, free: readonly FreeColumn[]): readonly ColumnProblem[] {
  const { positions, problems } = matched
  if (problems.length > 0) return shownProblems(problems)
  const missed = columnNeeds((field) => positions[field] !== undefined).filter(
    ({ isMet, assumed }) => !isMet && assumed === null,
  )
  return missed.map((need) => missing(need, free))
}

/** The basis of each amount: as the map states, else as the name of its column does. */
function basesOf({ headers, positions, settings }: MatchedHeaders): Columns['bases'] {
  const words = { quoted_rate: 'basis', customer_rate: 'basis', truck_cost: 'cost_basis' } as const
  return Object.fromEntries(
    (Object.keys(words) as FieldWithBasis[]).flatMap((field): [string, AssumedBasis][] => {
      const position = positions[field]
      if (position === undefined) return []
      const said = settings[words[field]]
      if (said !== undefined) return [[field, { basis: said, from: 'map' }]]
      const named = headerTerms(headers[position] ?? '').basis
      return named === null ? [] : [[field, { basis: named, from: 'name' }]]
    }),
  )
}

function currenciesOf({ headers, positions }: MatchedHeaders): Columns['currencies'] {
  return Object.fromEntries(
    (Object.entries(positions) as [ImportFieldName, number][]).flatMap(([field, position]) => {
      const [currency] = amountFields.has(field) ? headerTerms(headers[position] ?? '').currencies : []
      return currency !== undefined && isStored(currency) ? [[field, currency]] : []
    }),
  )
}

function columnsOf(matched: MatchedHeaders): Columns {
  const { headers, positions, constants, settings } = matched
  const used = new Set(Object.values(positions))
  return {
    positions,
    names: Object.fromEntries(
      Object.entries(positions).map(([field, position]) => [field, headers[position] ?? field]),
    ),
    constants: Object.fromEntries(constants),
    bases: basesOf(matched),
    currencies: currenciesOf(matched),
    fileCurrency: settings.currency === undefined ? null : { currency: settings.currency, from: 'map' },
    sameIds: settings.same_ids ?? 'ask',
    dates: settings.dates ?? null,
    words: settings.words ?? {},
    chosen: matched.chosen,
    ignored: headers.filter((name, position) => !used.has(position) && name !== ''),
    validUntil: headers.includes(quoteTable.validUntil.csv)
      ? headers.indexOf(quoteTable.validUntil.csv)
      : null,
    width: headers.length,
  }
}

/**
 * Separate city and state columns take precedence over one column for both. "Origin" next to "Origin State" is a city. A place that the
 * map states for all rows takes precedence over all columns.
 */
function settlePlace(
  positions: Partial<Record<ImportFieldName, number>>,
  { both, city, state, zip }: (typeof ends)[number],
  constants: ReadMap['constants'],
): void {
  if (constants.has(both)) {
    for (const part of [city, state, zip]) if (!constants.has(part)) delete positions[part]
    return
  }
  if (positions[both] === undefined || positions[state] === undefined) return
  if (positions[city] === undefined) positions[city] = positions[both]
  delete positions[both]
}

/** The problems of parts of a place that the map states for all rows while the whole place is given: they would count in no row. */
function partsOfWhole(
  positions: Positions,
  { both, city, state, zip }: (typeof ends)[number],
  constants: ReadMap['constants'],
): ColumnProblem[] {
  if (positions[both] === undefined) return []
  return [city, state, zip].flatMap((part) =>
    constants.has(part)
      ? [
          {
            code: 'map',
            column: part,
            detail: `The map says ${part}==${shortened(constants.get(part) ?? '')}, but ${both} is the whole place; leave one of them out.`,
          },
        ]
      : [],
  )
}
