import type { Outcome, SavedOutcome } from '#engine/history.ts'
import { formatDollars } from '#engine/money.ts'
import { type ImportFieldName, quoted } from '../csv/index.ts'
import {
  databaseNow,
  defaultBasisOf,
  differencesForApi,
  findImported,
  findPushed,
  findQuoteIds,
  lockImports,
  lockPushes,
  type NewQuote,
  type NextValues,
  people,
  pushedQuotes,
  quotesById,
  type Setter,
  settersOf,
} from '../database/queries/index.ts'
import type {
  NotAppliedValue,
  QuoteRow,
  RowChange,
  RowError,
  TenantTransaction,
} from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'
import { type Entry, enter } from '../entering/index.ts'
import { quoteAnswers, quoteCsvCells } from '../quotes/index.ts'
import type { Columns } from './columns.ts'
import type { LeftOut } from './import-notes.ts'
import { type MergedRow, type MergeOptions, mergeRow, type NotAppliedField, otherLane } from './merge-row.ts'
import { editedRow, type ReturnedRow } from './returned-rows.ts'
import { formerIdentity } from './row-fingerprint.ts'
import type { CellError, RowContext } from './row-reader.ts'
import type { ReportedRow } from './row-values.ts'
import type { ImportedBooking, ImportedQuote } from './rows.ts'
import { isOtherLoad, otherLoadWords } from './same-load.ts'
import { type Word, wordsOf } from './word-meanings.ts'

export interface SettledQuote {
  readonly line: number
  readonly quote: ImportedQuote
  readonly fingerprint: Buffer
  readonly said: string | null
  /** The line of the row before it in the file with the same id; null if it is the first. */
  readonly after: number | null
}

export interface SettledBooking {
  readonly line: number
  readonly booking: ImportedBooking
  readonly said: string
}

/** A row with the lane_ref of a quote, perhaps of another brokerage. */
export interface SettledReturn {
  readonly line: number
  readonly row: ReturnedRow
  /** The row as a new quote; null if it cannot be one, because of `errors`. */
  readonly quote: SettledQuote | null
  readonly errors: readonly CellError[]
  readonly leftOut: LeftOut | null
}

/** The valid rows of a batch, and the returned rows, also those that are valid only for a known quote. */
export interface SettledRows {
  readonly quotes: readonly SettledQuote[]
  readonly bookings: readonly SettledBooking[]
  readonly returned: readonly SettledReturn[]
}

/** The result of saving the valid rows of a batch. */
export interface SavedRows {
  /** Rows that make no new quote. They are in no other count. */
  readonly leftOut: Record<LeftOut, number>
  rowsAdded: number
  rowsUpdated: number
  rowsRepeated: number
  rowsRefused: number
  rowsNotApplied: number
  /** Refused rows with the id of a quote of another customer and another day. */
  rowsOfOtherLoads: number
  /** Rows that count instead of an earlier row of the file with the same id. */
  rowsOfSharedIds: number
  readonly refused: RowError[]
  /** The outcomes of the accepted rows. */
  readonly outcomes: Record<Outcome, number>
  readonly changes: RowChange[]
  readonly notApplied: NotAppliedValue[]
  /** Words of refused rows that are not known. */
  readonly unknownWords: Word[]
}

/** Adds a row to the counts of outcomes, or with -1 removes it. An expired quote counts as pending. A booking may have no outcome. */
function count(outcomes: SavedRows['outcomes'], row: Pick<KnownRow, 'quote' | 'reported'>, by: 1 | -1): void {
  const outcome = row.quote === null ? row.reported.outcome : (row.quote.columns.outcome ?? 'pending')
  if (outcome !== null) countOutcome(outcomes, outcome, by)
}

function countOutcome(outcomes: SavedRows['outcomes'], outcome: SavedOutcome, by: 1 | -1): void {
  outcomes[outcome === 'expired' ? 'pending' : outcome] += by
}

interface Job {
  readonly tenant: TenantId
  readonly importId: number
  readonly createdBy: number | null
  readonly dryRun: boolean
  readonly context: RowContext
}

/** A row of an existing quote, or of one that an earlier row of the batch makes. */
interface KnownRow {
  readonly line: number
  /** As in `SettledQuote`. */
  readonly after: number | null
  /** Of a quote that the batch makes, the negative number of its row in `MadeQuotes`. */
  readonly quoteId: number
  /** The digest of the row; null for an edited row, so that the row of another system that the quote has keeps its digest. */
  readonly said: string | null
  /** Whether the quote has the digest of the last of several rows with its id. */
  readonly isRepeated: boolean
  readonly reported: ReportedRow
  /** The row as a quote, when it has no lane_ref. */
  readonly quote: ImportedQuote | null
}

/** Columns that the list of changes leaves out, because they follow from others. */
const derivedFields = new Set(['outcome_source', 'truck_cost_source'])

/**
 * Saves the valid rows of a batch: inserts new quotes and updates existing ones. A dry run returns the same result and
 * writes nothing.
 */
export async function saveRows(
  transaction: TenantTransaction,
  database: Database,
  job: Job,
  { quotes: ownQuotes, bookings, returned }: SettledRows,
): Promise<SavedRows> {
  const { tenant } = job
  const rows: SavedRows = {
    leftOut: { superseded: 0, void: 0, skipped: 0 },
    rowsAdded: 0,
    rowsUpdated: 0,
    rowsRepeated: 0,
    rowsRefused: 0,
    rowsNotApplied: 0,
    rowsOfOtherLoads: 0,
    rowsOfSharedIds: 0,
    refused: [],
    outcomes: { won: 0, lost: 0, pending: 0 },
    changes: [],
    notApplied: [],
    unknownWords: [],
  }
  if (!job.dryRun) {
    await lockImports(transaction, tenant)
    // A push of the same load must not create a second quote meanwhile.
    await lockPushes(transaction, tenant)
  }
  const { edits, others } = await returnedRows(transaction, job, returned, rows)
  const quotes = [...ownQuotes, ...others]
  const here = await findImported(
    transaction,
    tenant,
    quotes.map((row) => row.fingerprint),
  )
  // A load that another system pushed before is the same load.
  const pushed = await findPushed(
    transaction,
    tenant,
    quotes.flatMap(({ fingerprint, quote }) =>
      quote.reference === null || here.has(fingerprint.toString('hex')) ? [] : quote.reference,
    ),
  )
  const isFormer = await formerRows(transaction, tenant, quotes)
  const lastSaid = new Map(
    quotes.flatMap(({ fingerprint, said, after }) =>
      after === null ? [] : [[fingerprint.toString('hex'), said]],
    ),
  )
  const made = new MadeQuotes(job.importId)
  const known: KnownRow[] = []
  for (const row of quotes) {
    const key = row.fingerprint.toString('hex')
    const before = here.get(key) ?? pushed.get(row.quote.reference ?? '')
    const quoteId = before?.quoteId ?? made.idOf(key)
    // Of several rows with one id, the first counts, with what the later ones change in it.
    if (made.idOf(key) === undefined && (before === undefined || row.after === null)) {
      count(rows.outcomes, { quote: row.quote, reported: row.quote.reported }, 1)
    }
    if (quoteId === undefined && isFormer(row)) rows.rowsRepeated++
    else if (quoteId === undefined) made.add(key, { ...row, said: lastSaid.get(key) ?? row.said })
    // A row without an id is identified by all its values.
    else if (row.said === null) rows.rowsRepeated++
    else {
      const { line, after, quote } = row
      // Of several rows with one id, the quote has the digest of the last. Then each was applied before, or refused.
      const said = lastSaid.get(key) ?? row.said
      const isRepeated = said === before?.said
      if (isRepeated && after === null) rows.rowsRepeated++
      else known.push({ line, after, quoteId, said, isRepeated, reported: quote.reported, quote })
    }
  }
  rows.rowsAdded += made.rows.length
  known.push(...(await bookedRows(transaction, job, bookings, rows)), ...edits)
  const notApplied =
    known.length > 0 ? await updateQuotes(transaction, database, job, { known, made, rows }) : []
  if (!job.dryRun) await insertQuotes(transaction, database, job, made)
  rows.notApplied.push(...(await notAppliedValues(transaction, job, notApplied, made)))
  return rows
}

/** The quotes that a batch makes, each as it is after the rows of the batch with its id until now. */
class MadeQuotes {
  readonly #importId: number
  readonly #ids = new Map<string, number>()
  readonly rows: { readonly row: SettledQuote; values: NextValues; laneRef: string | null }[] = []

  constructor(importId: number) {
    this.#importId = importId
  }

  /** @param key the fingerprint of the row, in hex */
  add(key: string, row: SettledQuote): void {
    this.rows.push({ row, values: {}, laneRef: null })
    this.#ids.set(key, -this.rows.length)
  }

  idOf(key: string): number | undefined {
    return this.#ids.get(key)
  }

  at(quoteId: number): (typeof this.rows)[number] | undefined {
    return this.rows[-quoteId - 1]
  }

  /** A quote as `mergeRow` needs it, with the values that its request will have. */
  saved(quoteId: number): QuoteRow | undefined {
    const made = this.at(quoteId)
    if (made === undefined) return undefined
    const { quote } = made.row
    const saved = {
      ...quote.columns,
      lane_id: quoteId,
      quoted_customer_name: quote.customerName,
      created_at: new Date(quote.quotedAt),
      import_id: this.#importId,
      signed_at: {},
      quote_signed_at: {},
      cancelled_at: null,
      outcome_before_booking: null,
      ...made.values,
    }
    return saved as unknown as QuoteRow
  }
}

async function insertQuotes(
  transaction: TenantTransaction,
  database: Database,
  job: Job,
  made: MadeQuotes,
): Promise<void> {
  const quotes = made.rows.map(({ row, values }) => {
    const {
      created_at: createdAt = new Date(row.quote.quotedAt),
      outcome_before_booking: facts,
      ...others
    } = values
    const columns: NewQuote = {
      ...row.quote.columns,
      import_said: row.said,
      ...others,
      ...(facts == null ? {} : { outcome_before_booking: JSON.stringify(facts) }),
      import_fingerprint: row.fingerprint,
    }
    return { row, createdAt, columns }
  })
  const reps = await repsOf(
    transaction,
    job.tenant,
    quotes.map(({ columns }) => columns.rep_name),
  )
  const entries = quotes.map(({ row: { quote }, createdAt, columns }): Entry => {
    const request = {
      customerName: quote.customerName,
      reference: quote.reference,
      createdBy: reps(columns.rep_name) ?? (columns.rep_name == null ? job.createdBy : null),
      createdAt,
      importId: job.importId,
      quotes: [columns],
    }
    return { kind: 'create', request }
  })
  const entered = await enter(transaction, entries, { ...job, identifiers: database.identifiers })
  for (const [nth, { quotes }] of entered.entries()) {
    const one = made.rows[nth]
    if (one !== undefined) one.laneRef = quotes[0]?.laneRef ?? null
  }
}

/** Finds the rows that an earlier version imported with a text such as N/A as their id. */
async function formerRows(
  transaction: TenantTransaction,
  tenant: TenantId,
  quotes: readonly SettledQuote[],
): Promise<(row: SettledQuote) => boolean> {
  const former = new Map(
    quotes.flatMap((row) => {
      const identity = formerIdentity(row.quote)
      return identity === null ? [] : [[row, identity] as const]
    }),
  )
  const found = await findImported(
    transaction,
    tenant,
    [...former.values()].map(({ fingerprint }) => fingerprint),
  )
  return (row) => {
    const identity = former.get(row)
    return identity !== undefined && found.get(identity.fingerprint.toString('hex'))?.said === identity.said
  }
}

/** Returns a function from the name of a rep to the person of the brokerage with that name or e-mail address; null if there is none. */
async function repsOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  names: readonly (string | null | undefined)[],
): Promise<(name: string | null | undefined) => number | null> {
  const people = await pushedQuotes.findReps(
    transaction,
    tenant,
    names.flatMap((name) => name ?? []),
  )
  return (name) => people.get(name ?? '') ?? null
}

/** The bookings of quotes that exist. The others are rejected. */
async function bookedRows(
  transaction: TenantTransaction,
  { tenant, context }: Job,
  bookings: readonly SettledBooking[],
  rows: SavedRows,
): Promise<KnownRow[]> {
  const refs = await findQuoteIds(
    transaction,
    tenant,
    bookings.map(({ booking }) => booking.laneRef),
  )
  return bookings.flatMap(({ line, booking: { laneRef, reported }, said }) => {
    const quoteId = refs.get(laneRef)
    if (quoteId !== undefined) {
      count(rows.outcomes, { quote: null, reported }, 1)
      return [{ line, after: null, quoteId, said, isRepeated: false, reported, quote: null }]
    }
    refuse(rows, line, [unknownRef(laneRef, context)])
    return []
  })
}

function unknownRef(laneRef: string, { columns }: RowContext): CellError {
  const column = columns.names.lane_ref ?? 'lane_ref'
  return {
    column,
    detail: `${column} must be a quote of this brokerage; no quote was found for "${laneRef}".`,
  }
}

function refuse(rows: SavedRows, row: number, errors: readonly CellError[]): void {
  rows.rowsRefused++
  rows.unknownWords.push(...wordsOf(errors))
  rows.refused.push(
    ...errors.map(({ column, detail }) => ({ row, column: column === '' ? null : column, detail })),
  )
}

/** The edits of quotes that came back, and the rows that are quotes of another brokerage. The others are counted here. */
async function returnedRows(
  transaction: TenantTransaction,
  { tenant, context }: Job,
  returned: readonly SettledReturn[],
  rows: SavedRows,
): Promise<{ readonly edits: readonly KnownRow[]; readonly others: readonly SettledQuote[] }> {
  const edits: KnownRow[] = []
  const others: SettledQuote[] = []
  if (returned.length === 0) return { edits, others }
  const refs = returned.map(({ row }) => row.laneRef)
  const quoteIds = await findQuoteIds(transaction, tenant, refs)
  const found = await quotesById(transaction, tenant, [...new Set(quoteIds.values())], { lock: false })
  const defaults = await people.defaultsOf(transaction, tenant)
  const answers = await quoteAnswers(transaction, tenant, found)
  const held = new Map(
    found.map((quote, nth) => {
      const answer = answers[nth]
      if (answer === undefined) throw new Error('Each quote has an answer.')
      return [quote.lane_ref, { quote, cells: quoteCsvCells(answer, defaults) }]
    }),
  )
  for (const { line, row, quote, errors, leftOut } of returned) {
    const known = held.get(row.laneRef)
    if (known === undefined) {
      if (row.isStated) refuse(rows, line, [unknownRef(row.laneRef, context)])
      else if (leftOut !== null) rows.leftOut[leftOut]++
      else if (quote === null) refuse(rows, line, errors)
      else others.push(quote)
      continue
    }
    const edit = editedRow(
      { cells: row.cells, quote: quote?.quote ?? null, errors },
      known.quote,
      known.cells,
      context,
    )
    if (edit.kind !== 'edited') {
      const nameOf = (field: ImportFieldName) => context.columns.names[field] ?? field
      const errors =
        edit.kind === 'refused' ? edit.errors : edit.others.map((one) => otherLaneError(one, nameOf))
      refuse(rows, line, errors)
      continue
    }
    const { quote: edited, booking, outcome } = edit.reported
    const counts = known.quote.superseded_by === null && known.quote.voided_at === null
    if (counts) countOutcome(rows.outcomes, edit.outcome ?? known.quote.outcome, 1)
    if (outcome === null && Object.keys({ ...edited, ...booking }).length === 0) rows.rowsRepeated++
    else {
      const quoteId = known.quote.lane_id
      edits.push({
        line,
        after: null,
        quoteId,
        said: null,
        isRepeated: false,
        reported: edit.reported,
        quote: null,
      })
    }
  }
  return { edits, others }
}

/** A value of a row that did not change its quote, because a newer or a signed value is there. */
interface RowNotApplied {
  readonly line: number
  readonly quote: QuoteRow
  readonly field: NotAppliedField
}

interface Updating {
  readonly known: readonly KnownRow[]
  readonly made: MadeQuotes
  readonly rows: SavedRows
}

/** Applies rows to their quotes, and returns the values that were not applied. A quote that the batch makes is only changed in memory. */
async function updateQuotes(
  transaction: TenantTransaction,
  database: Database,
  job: Job,
  { known, made, rows }: Updating,
): Promise<RowNotApplied[]> {
  const now = await databaseNow(transaction)
  const { tenant, dryRun } = job
  const assumed = await defaultBasisOf(transaction, tenant)
  const reps = await repsOf(
    transaction,
    tenant,
    known.map(({ reported }) => reported.quote.repName),
  )
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
    const { rep_name: rep } = merged.values
    const credited = rep === undefined ? {} : { created_by: reps(rep) }
    const next = { ...merged.values, ...credited, ...(said === null ? {} : { import_said: said }) }
    const own = made.at(quoteId)
    if (own !== undefined) {
      const { created_by: _, ...values } = next
      own.values = { ...own.values, ...values }
    } else if (dryRun) quotes.set(quoteId, { ...saved, ...next })
    else changing.push(changeOf(job, saved, next, merged.rule))
  }
  await write()
  rows.changes.sort((one, other) => one.row - other.row)
  return notApplied
}

/** Rows in the order of their lines, but all first rows of a quote before all second ones, so that a round is one statement. */
function inRounds(known: readonly KnownRow[]): KnownRow[] {
  const rounds = new Map<number, number>()
  return known
    .toSorted((a, b) => a.line - b.line)
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
  const isRepeated = row.isRepeated || (after === null && said !== null && said === saved.import_said)
  const other =
    quote === null || (isRepeated && after === null)
      ? null
      : otherQuote(saved, quote, job.context.columns, after)
  if (other !== null) {
    if (after === null) count(rows.outcomes, { quote, reported }, -1)
    if (other.isOtherLoad) rows.rowsOfOtherLoads++
    refuse(rows, line, other.errors)
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
    if (!isMade) rows.changes.push({ row: line, lane_ref: saved.lane_ref, fields })
    else {
      countOutcome(rows.outcomes, saved.outcome, -1)
      countOutcome(rows.outcomes, merged.values.outcome ?? saved.outcome, 1)
    }
  }
  return merged
}

interface OtherQuote {
  readonly errors: readonly CellError[]
  readonly isOtherLoad: boolean
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
  if (sameIds === 'update' || !isOtherLoad(saved, quote)) return null
  const column = nameOf('reference')
  const where = saved.lane_id < 0 ? `line ${after}` : `the quote ${saved.lane_ref}`
  const detail = `${quoted(quote.reference ?? '')} ${otherLoadWords(saved, quote, column, where)}.`
  return { errors: [{ column, detail }], isOtherLoad: true }
}

type ChangeEntry = Extract<Entry, { kind: 'change' }>

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
function otherLaneError(
  { field, is, was }: ReturnType<typeof otherLane>[number],
  nameOf: (field: ImportFieldName) => string,
  where = 'the quote',
): CellError {
  const column = nameOf(field)
  const id = nameOf('reference')
  const detail = `${column} must be "${was}", as in ${where} that has this ${id}; it is "${is}". A quote of another lane needs its own ${id}.`
  return { column, detail }
}

/** The values of the file that were not applied, each with the source of the quote's value. */
async function notAppliedValues(
  transaction: TenantTransaction,
  { tenant, context }: Job,
  all: readonly RowNotApplied[],
  made: MadeQuotes,
): Promise<NotAppliedValue[]> {
  // A check makes no quotes, so values of theirs are counted, but have no lane_ref to be listed under.
  const notApplied = all.flatMap((one) => {
    const laneRef = one.quote.lane_id < 0 ? made.at(one.quote.lane_id)?.laneRef : one.quote.lane_ref
    return laneRef == null ? [] : [{ ...one, laneRef }]
  })
  if (notApplied.length === 0) return []
  const setters = await settersOf(
    transaction,
    tenant,
    notApplied.map(({ quote, field }) => ({ quoteId: quote.lane_id, column: field.column })),
  )
  return notApplied.map(({ line, quote, laneRef, field }, index) => {
    const { column, fileValue, currentValue, because } = field
    const name = context.columns.names[field.field] ?? field.field
    const set_by = setterOf(quote, field, setters[index] ?? null)
    const who = set_by.source === 'tms' ? 'the TMS' : (set_by.name ?? 'a person')
    const stands = quote.cancelled_at === null ? `which ${who} set` : 'because the TMS cancelled the booking'
    const money = column.endsWith('_cents')
    const text = (value: string | number | null) =>
      value === null ? 'empty' : money ? formatDollars(Math.round(Number(value) * 100)) : `"${value}"`
    return {
      row: line,
      lane_ref: laneRef,
      column: name,
      file_value: fileValue,
      kept_value: currentValue,
      set_by,
      detail: `${name} stays ${text(currentValue)}, ${because ?? stands}; the file has ${text(fileValue)}.`,
    }
  })
}

/** Who set the quote's value that a file did not replace: a person, the TMS or an import. */
function setterOf(
  quote: QuoteRow,
  { column, because }: NotAppliedField,
  setter: Setter | null,
): NotAppliedValue['set_by'] {
  if (because !== undefined) {
    const quotedIn = quote.import_id !== null ? 'import' : quote.external_id !== null ? 'tms' : 'dashboard'
    return setter ?? { source: quotedIn, name: null }
  }
  const isOutcome = column === 'outcome' || column === 'outcome_reason'
  const source = isOutcome ? (quote.outcome_source ?? 'tms') : 'tms'
  // A person's change is the last one on record even if the TMS confirmed the value later, because that records no change.
  const isPersons = setter?.source === 'dashboard' && (!isOutcome || source === 'dashboard')
  return isPersons ? setter : { source, name: null }
}
