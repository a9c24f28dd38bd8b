import type { ImportFieldName } from '../csv/index.ts'
import {
  findImported,
  findPushed,
  findQuoteIds,
  lockImports,
  lockPushes,
  people,
  quotesById,
} from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'
import { quoteAnswers, quoteCsvCells } from '../quotes/index.ts'
import { insertQuotes, MadeQuotes } from './made-quotes.ts'
import { notAppliedValues } from './not-applied.ts'
import { editedRow } from './returned-rows.ts'
import { formerIdentity } from './row-fingerprint.ts'
import type { CellError, RowContext } from './row-reader.ts'
import {
  countOutcome,
  type Job,
  type KnownRow,
  refuse,
  type SavedRows,
  type SettledBooking,
  type SettledQuote,
  type SettledReturn,
  type SettledRows,
} from './saved-rows.ts'
import { otherLaneError, repeatRow, updateQuotes } from './update-quotes.ts'

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
    charges: new Map(),
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
  const repeated = new MadeQuotes(job.importId)
  for (const row of quotes) {
    const key = row.fingerprint.toString('hex')
    const before = here.get(key) ?? pushed.get(row.quote.reference ?? '')
    const quoteId = before?.quoteId ?? made.idOf(key)
    // Of several rows with one id, the first counts, with what the later ones change in it.
    if (made.idOf(key) === undefined && (before === undefined || row.after === null)) {
      countOutcome(rows.outcomes, row.quote.columns.outcome ?? 'pending', 1)
    }
    if (quoteId === undefined && isFormer(row)) rows.rowsRepeated++
    else if (quoteId === undefined) made.add(key, { ...row, said: lastSaid.get(key) ?? row.said })
    // A row without an id is identified by all its values.
    else if (row.said === null) rows.rowsRepeated++
    else {
      const { line, turn, after, quote } = row
      // Of several rows with one id, the quote has the digest of the last. Then each was applied before, or refused.
      const said = lastSaid.get(key) ?? row.said
      if (said !== before?.said)
        known.push({ line, turn, after, quoteId, said, reported: quote.reported, quote })
      else if (repeated.idOf(key) !== undefined) repeatRow(repeated, row, { job, rows })
      else {
        rows.rowsRepeated++
        if (lastSaid.has(key)) repeated.add(key, row)
      }
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
      if (reported.outcome !== null) countOutcome(rows.outcomes, reported.outcome, 1)
      return [{ line, turn: line, after: null, quoteId, said, reported, quote: null }]
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
  for (const { line, turn, row, quote, errors, leftOut } of returned) {
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
        turn,
        after: null,
        quoteId,
        said: null,
        reported: edit.reported,
        quote: null,
      })
    }
  }
  return { edits, others }
}
