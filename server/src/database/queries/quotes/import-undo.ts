import { type Selectable, sql } from 'kysely'
import type { QuoteRow, Tables, TenantTransaction } from '../../schema/index.ts'
import { quotesChanged, type TenantId, tenantId } from '../../session/index.ts'
import { databaseClock, lockImports, type NewImportRow, silentSince } from './imports.ts'
import { changeQuote, databaseNow, valuesBefore } from './quote-changes.ts'
import { quotesById } from './saved-quotes.ts'
import { inShipments } from './shipment-lists.ts'

/** The import of one brokerage. */
export interface OneImport {
  readonly tenant: TenantId
  readonly importId: number
}

/**
 * Sets an import to `undoing`. The caller holds the lock of imports and has checked that no import or undo of the brokerage
 * runs.
 */
export async function setUndoing(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
  by: { readonly userId: number | null },
): Promise<void> {
  await transaction
    .updateTable('imports')
    .set({
      status: 'undoing',
      failure: null,
      undo_by: by.userId,
      undo_started_at: databaseClock,
      progress_at: databaseClock,
    })
    .where('tenant_id', '=', tenant)
    .where('import_id', '=', importId)
    .execute()
}

function undoing(transaction: TenantTransaction, tenant: TenantId, importId: number) {
  return transaction
    .updateTable('imports')
    .where('tenant_id', '=', tenant)
    .where('import_id', '=', importId)
    .where('status', '=', 'undoing')
}

/** The undos of all brokerages whose heartbeat is too old: their process was lost. */
export async function silentUndos(transaction: TenantTransaction): Promise<OneImport[]> {
  const { rows } = await sql<{ tenant_id: number; import_id: number }>`
    select * from stalled_undos(${silentSince})
  `.execute(transaction)
  return rows.map((row) => ({ tenant: tenantId(row.tenant_id), importId: row.import_id }))
}

/** Takes over an undo whose process was lost. Returns false if another process took it over, or it has ended. */
export async function takeOverUndo(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
): Promise<boolean> {
  const { numUpdatedRows } = await undoing(transaction, tenant, importId)
    .set({ progress_at: databaseClock })
    .where('progress_at', '<', silentSince)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Lets another process take over an undo at once. */
export async function releaseUndo(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
): Promise<void> {
  await undoing(transaction, tenant, importId)
    .set({ progress_at: new Date(0) })
    .execute()
}

/** Records why an undo is paused. It stays `undoing`, and resumes like one whose process was lost. */
export async function noteUndoFailure(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
  failure: string,
): Promise<void> {
  await undoing(transaction, tenant, importId).set({ failure }).execute()
}

/** Quotes per transaction: few enough to stay well below the statement timeout and to hold locks only briefly. */
const ownQuotesPerBatch = 500
/** Restoring a quote takes one statement per change. */
const changedQuotesPerBatch = 100

/**
 * Undoes the next quotes of an import, in the order of lane_id, and writes the progress with them. Quotes that the import
 * made are removed. Quotes that it changed get their previous values back, each change as a new change in the name of the
 * person who requested the undo. A quote that was changed, booked or quoted again since is kept and counted.
 *
 * The import's row contains everything that a batch needs, so any process can run the next one. Concurrent batches run one
 * after another.
 *
 * @returns the updated import, or null if it is not being undone
 */
export async function undoBatch(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
): Promise<NewImportRow | null> {
  await lockImports(transaction, tenant)
  const undo = await transaction
    .selectFrom('imports')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('import_id', '=', importId)
    .where('status', '=', 'undoing')
    .forUpdate()
    .executeTakeFirst()
  if (undo === undefined) return null
  const { ids, last } = await nextQuotes(transaction, tenant, importId, undo.undo_after)
  // The database's time, because it is compared with the times of signed updates, which are also the database's.
  const now = await databaseNow(transaction)
  // Lock first and read in later statements, which see rows that were committed during the wait.
  const quotes = await quotesById(transaction, tenant, ids, { lock: true })
  const own = quotes.filter((quote) => quote.import_id === importId)
  const others = quotes.filter((quote) => quote.import_id !== importId)
  const restored = await restoreQuotes(transaction, tenant, importId, others, { userId: undo.undo_by, now })
  const removed = await removeQuotes(transaction, tenant, importId, own)
  return undoing(transaction, tenant, importId)
    .set((columns) => ({
      undo_rows_done: columns('undo_rows_done', '+', ids.length),
      lanes_removed: columns('lanes_removed', '+', removed),
      lanes_restored: columns('lanes_restored', '+', restored.restored),
      lanes_kept: columns('lanes_kept', '+', own.length - removed + restored.kept),
      progress_at: now,
      failure: null,
      ...(last === null ? { status: 'undone', undo_finished_at: now } : { undo_after: last }),
    }))
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The next quotes that an import created or changed, and the quote to continue after; null after the last ones. */
async function nextQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
  after: number,
): Promise<{ ids: number[]; last: number | null }> {
  const { rows: own } = await sql<{ lane_id: number }>`
    select lane_id from quotes
    where tenant_id = ${tenant} and import_id = ${importId} and lane_id > ${after}
    order by lane_id limit ${ownQuotesPerBatch}
  `.execute(transaction)
  const { rows: changed } = await sql<{ lane_id: number }>`
    select distinct lane_id from quote_changes
    where tenant_id = ${tenant} and import_id = ${importId} and lane_id > ${after}
    order by lane_id limit ${changedQuotesPerBatch}
  `.execute(transaction)
  // A list at its limit may lack later quotes, which belong to the next batch.
  const ends = [
    ...(own.length < ownQuotesPerBatch ? [] : [own.at(-1)?.lane_id ?? after]),
    ...(changed.length < changedQuotesPerBatch ? [] : [changed.at(-1)?.lane_id ?? after]),
  ]
  const last = ends.length === 0 ? null : Math.min(...ends)
  const ids = [...new Set([...own, ...changed].map(({ lane_id }) => lane_id))]
  return { ids: last === null ? ids : ids.filter((id) => id <= last), last }
}

/** Deletes the quotes that are unchanged since the import created them, and returns how many. */
async function removeQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
  quotes: readonly QuoteRow[],
): Promise<number> {
  if (quotes.length === 0) return 0
  const ids = quotes.map((quote) => quote.lane_id)
  const requests = quotes.map((quote) => quote.request_id)
  await sql`
    select from quote_requests where tenant_id = ${tenant} and request_id = any(${requests}::bigint[])
    order by request_id for update
  `.execute(transaction)
  // Query one table at a time, by id. Right after a large import, the planner still believes that the tables are small, and
  // would read them whole for a join.
  const { rows: changed } = await sql<{ lane_id: number }>`
    select lane_id from quote_changes where tenant_id = ${tenant} and lane_id = any(${ids}::bigint[])
    union
    select lane_id from shipment_updates where tenant_id = ${tenant} and lane_id = any(${ids}::bigint[])
  `.execute(transaction)
  // For the same reason, "offset 0" makes the planner look up each request in the index.
  const { rows: quotedAgain } = await sql<{ request_id: number }>`
    select request_id from unnest(${requests}::bigint[]) as request (request_id)
    where exists (
      select from quotes
      where tenant_id = ${tenant} and quotes.request_id = request.request_id
        and import_id is distinct from ${importId}
      offset 0
    )
  `.execute(transaction)
  const changedIds = new Set(changed.map((row) => row.lane_id))
  const keptRequests = new Set(quotedAgain.map((row) => row.request_id))
  // A quote with an external_id stays: another system pushes it, too, even if its values are those of the file.
  const gone = quotes.filter(
    (quote) =>
      quote.external_id === null && !changedIds.has(quote.lane_id) && !keptRequests.has(quote.request_id),
  )
  const goneIds = gone.map((quote) => quote.lane_id)
  quotesChanged(transaction, goneIds)
  // Saves the names by which readers of changes know the deleted quotes.
  await sql`
    update quote_versions as known set removed_ref = quotes.lane_ref, removed_external_id = quotes.external_id,
      removed_shipment = ${inShipments}
    from quotes
    where known.tenant_id = ${tenant} and quotes.tenant_id = known.tenant_id and quotes.lane_id = known.lane_id
      and known.lane_id = any(${goneIds}::bigint[])
  `.execute(transaction)
  // An imported request has one quote, and a request that was quoted again is kept, so these requests are empty now.
  await sql`
    delete from quotes where tenant_id = ${tenant} and lane_id = any(${goneIds}::bigint[])
  `.execute(transaction)
  await sql`
    delete from quote_requests
    where tenant_id = ${tenant} and request_id = any(${gone.map((quote) => quote.request_id)}::bigint[])
  `.execute(transaction)
  return gone.length
}

type Change = Selectable<Tables['quote_changes']>

/** Restores locked quotes that an import has changed, unless they were changed again later. */
async function restoreQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
  quotes: readonly QuoteRow[],
  by: { readonly userId: number | null; readonly now: Date },
): Promise<{ restored: number; kept: number }> {
  if (quotes.length === 0) return { restored: 0, kept: 0 }
  const ids = quotes.map((quote) => quote.lane_id)
  const changes = await transaction
    .selectFrom('quote_changes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`lane_id = any(${ids}::bigint[])`)
    .orderBy('change_number', 'desc')
    .execute()
  const { rows: updates } = await sql<{ lane_id: number; received_at: Date }>`
    select lane_id, max(received_at) as received_at from shipment_updates
    where tenant_id = ${tenant} and lane_id = any(${ids}::bigint[])
    group by lane_id
  `.execute(transaction)
  const updatedAt = new Map(updates.map((update) => [update.lane_id, update.received_at.getTime()]))
  const changesOf = Map.groupBy(changes, (change) => change.lane_id)
  let restored = 0
  let kept = 0
  for (const quote of quotes) {
    const standing = changesInForce(changesOf.get(quote.lane_id) ?? [])
    const ours = standing.filter((change) => change.import_id === importId)
    const first = ours.at(-1)
    // All changes of the import were rolled back already.
    if (first === undefined) continue
    // A signed update that confirmed the values of the file left no change, but its values must stay.
    const isConfirmed = (updatedAt.get(quote.lane_id) ?? -1) >= first.changed_at.getTime()
    const firstOther = standing.findIndex((change) => change.import_id !== importId)
    const undone = isConfirmed ? [] : standing.slice(0, firstOther < 0 ? standing.length : firstOther)
    let now = quote
    for (const change of undone) {
      now = await changeQuote(
        transaction,
        tenant,
        now,
        // The values of a file are unsigned, so the undo does not touch the signing times of fields.
        {
          ...valuesBefore(change.before),
          // Without the file's booking, the restored outcome is also the outcome apart from a booking.
          ...(change.rule === 'booking_is_a_win' ? { outcome_before_booking: null } : {}),
        },
        {
          source: 'dashboard',
          ...(by.userId === null ? {} : { userId: by.userId }),
          rolledBackChange: change.change_number,
        },
        by.now,
      )
    }
    if (undone.length > 0) restored++
    if (undone.length < ours.length) kept++
  }
  return { restored, kept }
}

/** The changes of one quote, newest first, without rolled-back changes and the rollbacks themselves. */
function changesInForce(changes: readonly Change[]): Change[] {
  const undone = new Set<number>()
  return changes.filter((change) => {
    if (undone.has(change.change_number)) return false
    if (change.rolled_back_change === null) return true
    undone.add(change.rolled_back_change)
    return false
  })
}
