import { formatDollars } from '#engine/money.ts'
import { type ImportFieldName, quoted } from '../csv/index.ts'
import { databaseNow, defaultBasisOf, differencesForApi, quotesById } from '../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../database/schema/index.ts'
import type { Database } from '../database/session/index.ts'
import { type Draft, enter } from '../entering/index.ts'
import type { Columns } from './columns.ts'
import type { MadeQuotes } from './made-quotes.ts'
import { type MergedRow, type MergeOptions, mergeRow, otherLane } from './merge-row.ts'
import type { RowNotApplied } from './not-applied.ts'
import type { CellError } from './row-reader.ts'
import type { ReportedRow } from './row-values.ts'
import type { ImportedQuote } from './rows.ts'
import { isOtherLoad, otherLoadWords } from './same-load.ts'
import {
  countOutcome,
  type Job,
  type KnownRow,
  refuse,
  type SavedRows,
  type SettledQuote,
} from './saved-rows.ts'

/** Columns that the list of changes leaves out, because they follow from others. */
const derivedFields = new Set(['outcome_source', 'truck_cost_source'])

interface Updating {
  readonly known: readonly KnownRow[]
  readonly made: MadeQuotes
  readonly rows: SavedRows
}

/** Applies rows to their quotes, and returns the values that were not applied. A quote that the batch makes is only changed in memory. */
export async function updateQuotes(
  transaction: TenantTransaction,
  database: Database,
  job: Job,
  { known, made, rows }: Updating,
): Promise<RowNotApplied[]> {
  const now = await databaseNow(transaction)
  const { tenant, dryRun } = job
  const assumed = await defaultBasisOf(transaction, tenant)
  const quoteIds = [...new Set(known.map(({ quoteId }) => quoteId))]
  const found = await quotesById(
    transaction,
    tenant,
    quoteIds.filter((id) => id > 0),
    { lock: !dryRun },
  )
  const quotes = new Map(found.map((quote) => [quote.lane_id, quote]))
  const changing: ChangeEntry[] = []
  const notApplied: RowNotApplied[] = []
  async function write(): Promise<void> {
    const by = { tenant, identifiers: database.identifiers, changedAt: now }
    for (const { row } of await enter(transaction, changing.splice(0), by)) {
      if (row !== null) quotes.set(row.lane_id, row)
    }
  }
  for (const row of inRounds(known)) {
    const { line, quoteId, said, quote } = row
    // A second row of the same quote must see the changes of the first.
    if (changing.some((one) => one.quote.lane_id === quoteId)) await write()
    const saved = quotes.get(quoteId) ?? made.saved(quoteId)
    if (saved === undefined) throw new Error('A quote that was found is not there.')
    const decidedAt = quote === null ? now.getTime() : saved.created_at.getTime()
    const merged = applied(saved, row, { job, rows, assumed, decidedAt })
    if (merged === null) continue
    notApplied.push(...merged.notApplied.map((field) => ({ line, quote: saved, field })))
    const next = { ...merged.values, ...(said === null ? {} : { import_said: said }) }
    const own = made.at(quoteId)
    if (own !== undefined) own.values = { ...own.values, ...next }
    else if (dryRun) quotes.set(quoteId, { ...saved, ...next })
    else changing.push(changeOf(job, saved, next, merged.rule))
  }
  await write()
  rows.changes.sort((one, other) => one.row - other.row)
  return notApplied
}

/** Rows in the order of their turns, but all first rows of a quote before all second ones, so that a round is one statement. */
function inRounds(known: readonly KnownRow[]): KnownRow[] {
  const rounds = new Map<number, number>()
  return known
    .toSorted((a, b) => a.turn - b.turn)
    .map((row) => {
      const round = (rounds.get(row.quoteId) ?? 0) + 1
      rounds.set(row.quoteId, round)
      return { row, round }
    })
    .toSorted((a, b) => a.round - b.round)
    .map(({ row }) => row)
}

/** What a row changes in its quote; null if it is refused or says nothing new. Counts the row. */
function applied(
  saved: QuoteRow,
  row: KnownRow,
  {
    job,
    rows,
    assumed,
    decidedAt,
  }: { readonly job: Job; readonly rows: SavedRows } & Pick<MergeOptions, 'assumed' | 'decidedAt'>,
): MergedRow | null {
  const { line, after, said, reported, quote } = row
  const isMade = saved.lane_id < 0
  const isRepeated = after === null && said !== null && said === saved.import_said
  if (quote !== null && !isRepeated && isRefused(saved, { line, after, quote }, { job, rows })) {
    if (after === null) countOutcome(rows.outcomes, quote.columns.outcome ?? 'pending', -1)
    return null
  }
  if (isRepeated) {
    rows.rowsRepeated++
    return null
  }
  if (after !== null) rows.rowsOfSharedIds++
  const merged = mergeRow(saved, reported, { decidedAt, assumed, isEdit: said === null })
  const isChanged = Object.keys(merged.values).length > 0
  if (!isChanged && merged.notApplied.length === 0) {
    rows.rowsRepeated++
    return null
  }
  if (!isChanged) rows.rowsNotApplied++
  else {
    rows.rowsUpdated++
    const fields = differencesForApi(saved, merged.values).filter(({ field }) => !derivedFields.has(field))
    if (!isMade) {
      const { quoted_currency, customer_currency, truck_currency } = { ...saved, ...merged.values }
      const currencies = { quoted_currency, customer_currency, truck_currency }
      rows.changes.push({ row: line, lane_ref: saved.lane_ref, fields, currencies })
    } else {
      countOutcome(rows.outcomes, saved.outcome, -1)
      countOutcome(rows.outcomes, merged.values.outcome ?? saved.outcome, 1)
    }
  }
  return merged
}

/** Refuses a row that is not of the quote with its id. */
function isRefused(
  saved: QuoteRow,
  { line, after, quote }: Pick<SettledQuote, 'line' | 'after' | 'quote'>,
  { job, rows }: { readonly job: Job; readonly rows: SavedRows },
): boolean {
  const { columns } = job.context
  const other =
    otherQuote(saved, quote, columns, after) ?? afterCharge(quote, { charges: rows.charges, columns, after })
  if (other === null) return false
  if (other.isOtherLoad) rows.rowsOfOtherLoads++
  if (other.isCharge) rows.charges.set(quote.reference ?? '', line)
  refuse(rows, line, other.errors)
  return true
}

/**
 * Counts a later row of an id whose rows the file had before. It is compared with the rows before it, as when they were new: the quote
 * has the values of the last row, and a load moves on from row to row.
 *
 * @param repeated the quotes that these rows would make
 */
export function repeatRow(
  repeated: MadeQuotes,
  row: SettledQuote,
  { job, rows }: { readonly job: Job; readonly rows: SavedRows },
): void {
  const quoteId = repeated.idOf(row.fingerprint.toString('hex')) ?? 0
  const [own, saved] = [repeated.at(quoteId), repeated.saved(quoteId)]
  if (own === undefined || saved === undefined) throw new Error('The first row of an id comes first.')
  if (isRefused(saved, row, { job, rows })) return
  rows.rowsRepeated++
  const decidedAt = saved.created_at.getTime()
  const options = { decidedAt, assumed: job.context.assumed, isEdit: false }
  own.values = { ...own.values, ...mergeRow(saved, row.quote.reported, options).values }
}

interface OtherQuote {
  readonly errors: readonly CellError[]
  readonly isOtherLoad: boolean
  /** Whether the row may be a charge of its load. */
  readonly isCharge?: true
}

/**
 * The errors of a row that is not of the quote with its id: its lane, or both its customer and its day, are others. Null if it is.
 * `after` is as in `SettledQuote`.
 */
function otherQuote(
  saved: QuoteRow,
  quote: ImportedQuote,
  { names, sameIds }: Columns,
  after: number | null,
): OtherQuote | null {
  const nameOf = (field: ImportFieldName) => names[field] ?? field
  const other = otherLane(saved, quote.columns)
  if (other.length > 0) {
    const where = saved.lane_id < 0 ? `line ${after}` : 'the quote'
    return { errors: other.map((one) => otherLaneError(one, nameOf, where)), isOtherLoad: false }
  }
  if (sameIds === 'update') return null
  const charge = after === null ? null : chargeLine(saved, quote.reported, { nameOf, after })
  if (charge !== null) return { errors: [charge], isOtherLoad: false, isCharge: true }
  if (!isOtherLoad(saved, quote)) return null
  const column = nameOf('reference')
  const where = saved.lane_id < 0 ? `line ${after}` : `the quote ${saved.lane_ref}`
  const detail = `${quoted(quote.reference ?? '')} ${otherLoadWords(saved, quote, column, where)}.`
  return { errors: [{ column, detail }], isOtherLoad: true }
}

/** What a person can do with rows that may be charges. */
const ofCharges =
  'If the rows are charges of one load, keep one row with their sum. If the later amount is right, import the file with the map same_ids=update.'

/**
 * The error of a row of an id of which an earlier row was refused because it may be a charge: then this one may be another charge, also if
 * its amount is near that of the first row. Null if none was.
 */
function afterCharge(
  { reference }: ImportedQuote,
  {
    charges,
    columns,
    after,
  }: Pick<SavedRows, 'charges'> & Pick<SettledQuote, 'after'> & { readonly columns: Columns },
): OtherQuote | null {
  const line = after === null || columns.sameIds === 'update' ? undefined : charges.get(reference ?? '')
  if (line === undefined) return null
  const column = columns.names.reference ?? 'reference'
  const detail = `${column} is that of line ${line}, which may be a charge of the load. ${ofCharges}`
  return { errors: [{ column, detail }], isOtherLoad: false }
}

/** Two amounts of one load that differ by more than this factor may be two charges of it. */
const chargeFactorMax = 2

/** The error of a row that may be a charge of the load of the row before it, as in a file with a row for each charge; null if it is none. */
function chargeLine(
  saved: QuoteRow,
  { quote, booking }: ReportedRow,
  { nameOf, after }: { readonly nameOf: (field: ImportFieldName) => string; readonly after: number },
): CellError | null {
  const amounts = [
    [
      'quoted_rate',
      quote.quotedRateCents,
      saved.quoted_rate_cents,
      quote.quotedCurrency,
      saved.quoted_currency,
    ],
    [
      'customer_rate',
      booking.customerRateCents,
      saved.customer_rate_cents,
      booking.customerCurrency,
      saved.customer_currency,
    ],
    [
      'truck_cost',
      booking.truckCostCents,
      saved.truck_cost_cents,
      booking.truckCurrency,
      saved.truck_currency,
    ],
  ] as const
  for (const [field, cents = null, before, currency, currencyBefore] of amounts) {
    if (cents === null || before === null || (currency ?? 'USD') !== (currencyBefore ?? 'USD')) continue
    if (cents < chargeFactorMax * before && before < chargeFactorMax * cents) continue
    const column = nameOf(field)
    const where = saved.lane_id < 0 ? `line ${after}` : `the quote ${saved.lane_ref}`
    const detail = `${column} is ${formatDollars(cents)}, and ${formatDollars(before)} before it, in ${where}, with the same ${nameOf('reference')}. ${ofCharges}`
    return { column, detail }
  }
  return null
}

type ChangeEntry = Extract<Draft, { kind: 'change' }>

function changeOf(
  { importId, createdBy }: Job,
  quote: QuoteRow,
  next: ChangeEntry['next'],
  rule: MergedRow['rule'],
): ChangeEntry {
  const by = createdBy === null ? {} : { userId: createdBy }
  return { kind: 'change', quote, next, origin: { source: 'import', importId, rule, ...by } }
}

/** The error of a row with the id of a quote of another lane. */
export function otherLaneError(
  { field, is, was }: ReturnType<typeof otherLane>[number],
  nameOf: (field: ImportFieldName) => string,
  where = 'the quote',
): CellError {
  const column = nameOf(field)
  const id = nameOf('reference')
  const detail = `${column} must be "${was}", as in ${where} that has this ${id}; it is "${is}". A quote of another lane needs its own ${id}.`
  return { column, detail }
}
