import { type Insertable, type Selectable, sql } from 'kysely'
import { appendAudit } from './audit-log.ts'
import { changeLane, rollbackValues } from './lane-changes.ts'
import { lockLane } from './lanes.ts'
import { type Database, factsChanged, type TenantId, type TenantTransaction } from './open-database.ts'
import { nextTenantNumber } from './people.ts'
import { countedColumns } from './quote-counts.ts'
import type { RowError, Tables } from './tables.ts'

export type NewImportRow = Selectable<Tables['imports']>
export type ImportRow = NewImportRow & { readonly created_by_name: string | null }

/** An import that has not been heard of for this long was ended with its process. */
export const importSilenceMsMax = 30_000

/** How far an import is. The counts are of rows whose fate is settled: kept, known already, or refused. */
export interface ImportProgress {
  readonly rowsRead: number
  readonly rowsAdded: number
  readonly rowsUpdated: number
  readonly rowsRepeated: number
  readonly rowsRefused: number
  readonly bytesRead: number
}

export async function insertImport(
  transaction: TenantTransaction,
  tenant: TenantId,
  given: Pick<
    Insertable<Tables['imports']>,
    'file_name' | 'dry_run' | 'bytes_total' | 'created_by' | 'created_at'
  > & {
    columns: Readonly<Record<string, string>>
    ignoredColumns: readonly string[]
  },
): Promise<NewImportRow> {
  const { columns, ignoredColumns, ...rest } = given
  return transaction
    .insertInto('imports')
    .values({
      ...rest,
      tenant_id: tenant,
      import_id: await nextTenantNumber(transaction, tenant, 'import'),
      status: 'running',
      columns: JSON.stringify(columns),
      ignored_columns: JSON.stringify(ignoredColumns),
      progress_at: given.created_at,
      finished_at: null,
      failure: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Ends the imports whose process was killed: they say `running`, but nobody has heard of them for a while. */
async function stopAbandonedImports(
  transaction: TenantTransaction,
  tenant: TenantId,
  now: Date,
): Promise<void> {
  await transaction
    .updateTable('imports')
    .set({
      status: 'stopped',
      finished_at: now,
      failure: 'The program ended before the file did. Import the file again to go on where it stopped.',
    })
    .where('tenant_id', '=', tenant)
    .where('status', '=', 'running')
    .where('progress_at', '<', new Date(now.getTime() - importSilenceMsMax))
    .execute()
}

/** Whoever sent the file; null where a command brought it. A person who was removed keeps their name. */
const createdByName = sql<string | null>`(
  select users.name from users
  where users.tenant_id = imports.tenant_id and users.user_id = imports.created_by
)`.as('created_by_name')

export async function findImport(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
  now: Date,
): Promise<ImportRow | null> {
  await stopAbandonedImports(transaction, tenant, now)
  return (
    (await transaction
      .selectFrom('imports')
      .selectAll()
      .select(createdByName)
      .where('tenant_id', '=', tenant)
      .where('import_id', '=', importId)
      .executeTakeFirst()) ?? null
  )
}

const importsListed = 200

/** The last imports, newest first, without their row errors. */
export async function listImports(
  transaction: TenantTransaction,
  tenant: TenantId,
  now: Date,
): Promise<ImportRow[]> {
  await stopAbandonedImports(transaction, tenant, now)
  const rows = await transaction
    .selectFrom('imports')
    .select([
      'tenant_id',
      'import_id',
      'file_name',
      'status',
      'dry_run',
      'columns',
      'ignored_columns',
      'rows_read',
      'rows_added',
      'rows_updated',
      'rows_repeated',
      'rows_refused',
      'bytes_read',
      'bytes_total',
      'created_by',
      'created_at',
      'progress_at',
      'finished_at',
      'stop_requested',
      'failure',
      createdByName,
    ])
    .where('tenant_id', '=', tenant)
    .orderBy('import_id', 'desc')
    .limit(importsListed)
    .execute()
  return rows.map((row) => ({ ...row, errors: [] }))
}

/** The import of this tenant that is still running, or null. */
export async function findRunningImport(
  transaction: TenantTransaction,
  tenant: TenantId,
  now: Date,
): Promise<number | null> {
  await stopAbandonedImports(transaction, tenant, now)
  const row = await transaction
    .selectFrom('imports')
    .select('import_id')
    .where('tenant_id', '=', tenant)
    .where('status', '=', 'running')
    .executeTakeFirst()
  return row?.import_id ?? null
}

/** Asks a running import to stop after its present batch, and does nothing to one that has ended. */
export async function requestStop(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
): Promise<void> {
  await transaction
    .updateTable('imports')
    .set({ stop_requested: true })
    .where('tenant_id', '=', tenant)
    .where('import_id', '=', importId)
    .where('status', '=', 'running')
    .execute()
}

/** Says that an import is alive while it has no progress to report. */
export async function touchImport(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
  now: Date,
): Promise<void> {
  await transaction
    .updateTable('imports')
    .set({ progress_at: now })
    .where('tenant_id', '=', tenant)
    .where('import_id', '=', importId)
    .where('status', '=', 'running')
    .execute()
}

/**
 * Writes how far an import is, in the transaction of the rows themselves: what it says was added is there. `errors`
 * is null when there are no new ones. Answers what to do next; `ended` when somebody else has ended the import.
 */
export async function saveProgress(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
  progress: ImportProgress & { errors: readonly RowError[] | null; now: Date },
): Promise<'go on' | 'stop' | 'ended'> {
  const row = await transaction
    .updateTable('imports')
    .set({ ...progressColumns(progress), progress_at: progress.now })
    .where('tenant_id', '=', tenant)
    .where('import_id', '=', importId)
    .where('status', '=', 'running')
    .returning('stop_requested')
    .executeTakeFirst()
  if (row === undefined) return 'ended'
  return row.stop_requested ? 'stop' : 'go on'
}

export async function finishImport(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
  end: ImportProgress & {
    errors: readonly RowError[] | null
    status: 'done' | 'stopped' | 'failed'
    failure: string | null
    now: Date
  },
): Promise<void> {
  await transaction
    .updateTable('imports')
    .set({
      ...progressColumns(end),
      status: end.status,
      failure: end.failure,
      progress_at: end.now,
      finished_at: end.now,
    })
    .where('tenant_id', '=', tenant)
    .where('import_id', '=', importId)
    .where('status', '=', 'running')
    .execute()
}

function progressColumns(progress: ImportProgress & { errors: readonly RowError[] | null }) {
  return {
    rows_read: progress.rowsRead,
    rows_added: progress.rowsAdded,
    rows_updated: progress.rowsUpdated,
    rows_repeated: progress.rowsRepeated,
    rows_refused: progress.rowsRefused,
    bytes_read: progress.bytesRead,
    ...(progress.errors === null ? {} : { errors: JSON.stringify(progress.errors) }),
  }
}

/** Any fixed number, so that these locks are of imports. */
const importLock = 0x6c616e65

/**
 * Makes what a brokerage's imports do take turns until the end of the transaction: between looking for a row and adding
 * it, no other import can add it, and an undo does not lock the lanes of a batch in another order.
 */
export async function lockImports(transaction: TenantTransaction, tenant: TenantId): Promise<void> {
  await sql`select pg_advisory_xact_lock((${importLock}::bigint << 32) + ${tenant}::bigint)`.execute(
    transaction,
  )
}

export interface UndoneImport {
  readonly lanesRemoved: number
  readonly lanesKept: number
  readonly bookingsRolledBack: number
}

/** Lanes taken out in one transaction: well under the statement time-out, and locks are held for a blink. */
const lanesPerUndo = 500
const bookingsPerUndo = 50

/**
 * Undoes an import that is not running. Its bookings of lanes that were here before are rolled back, each as a new change
 * by `userId`; its own lanes are taken out. A lane that anybody changed, pushed or quoted again since is kept and
 * counted. Works in small transactions: when one fails, the same call again goes on. Undoing twice changes nothing more.
 */
export async function undoImport(
  database: Database,
  tenant: TenantId,
  importId: number,
  by: { userId: number | null; now: Date; network?: string; requestId?: string },
): Promise<UndoneImport> {
  const bookings = await rollBackBookings(database, tenant, importId, by)
  let removed = 0
  let kept = bookings.kept
  for (let after: number | null = -1; after !== null; ) {
    const from: number = after
    const chunk = await database.inTenant(tenant, (transaction) =>
      removeLanes(transaction, tenant, importId, from),
    )
    removed += chunk.removed
    kept += chunk.kept
    after = chunk.last
  }
  await database.inTenant(tenant, async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('imports')
      .set({ status: 'undone', finished_at: by.now })
      .where('tenant_id', '=', tenant)
      .where('import_id', '=', importId)
      .where('status', '!=', 'undone')
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return
    await appendAudit(transaction, tenant, {
      at: by.now,
      kind: 'import-undone',
      userId: by.userId,
      subjectUserId: null,
      about: { import_id: importId },
      count: 1,
      network: by.network ?? null,
      requestId: by.requestId ?? null,
    })
  })
  return { lanesRemoved: removed, lanesKept: kept, bookingsRolledBack: bookings.rolledBack }
}

async function removeLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
  after: number,
): Promise<{ removed: number; kept: number; last: number | null }> {
  await lockImports(transaction, tenant)
  // Locked first, and looked at in later statements: what was written while we waited for a lock is seen there.
  const lanes = await transaction
    .selectFrom('lanes')
    .select(['lane_id', 'request_id', ...countedColumns])
    .where('tenant_id', '=', tenant)
    .where('import_id', '=', importId)
    .where('lane_id', '>', after)
    .orderBy('lane_id')
    .limit(lanesPerUndo)
    .forUpdate()
    .execute()
  const ids = lanes.map((lane) => lane.lane_id)
  const requests = lanes.map((lane) => lane.request_id)
  await sql`
    select from quote_requests where tenant_id = ${tenant} and request_id = any(${requests}::bigint[])
    order by request_id for update
  `.execute(transaction)
  // Asked by id one table at a time. One statement that joins them reads whole tables right after a large import, while
  // the planner still believes that they are small.
  const { rows: changed } = await sql<{ lane_id: number }>`
    select lane_id from lane_changes where tenant_id = ${tenant} and lane_id = any(${ids}::bigint[])
    union
    select lane_id from shipment_updates where tenant_id = ${tenant} and lane_id = any(${ids}::bigint[])
  `.execute(transaction)
  // "offset 0" keeps this a question for each request, answered from its index, for the same reason.
  const { rows: quotedAgain } = await sql<{ request_id: number }>`
    select request_id from unnest(${requests}::bigint[]) as request (request_id)
    where exists (
      select from lanes
      where tenant_id = ${tenant} and lanes.request_id = request.request_id
        and import_id is distinct from ${importId}
      offset 0
    )
  `.execute(transaction)
  const changedIds = new Set(changed.map((row) => row.lane_id))
  const keptRequests = new Set(quotedAgain.map((row) => row.request_id))
  const gone = lanes.filter((lane) => !changedIds.has(lane.lane_id) && !keptRequests.has(lane.request_id))
  factsChanged(transaction, tenant, { before: gone, after: [] })
  // An imported request has one lane, and a request that was quoted again is kept: these are empty now.
  await sql`
    delete from lanes where tenant_id = ${tenant} and lane_id = any(${gone.map((lane) => lane.lane_id)}::bigint[])
  `.execute(transaction)
  await sql`
    delete from quote_requests
    where tenant_id = ${tenant} and request_id = any(${gone.map((lane) => lane.request_id)}::bigint[])
  `.execute(transaction)
  return {
    removed: gone.length,
    kept: lanes.length - gone.length,
    last: lanes.length < lanesPerUndo ? null : (ids.at(-1) ?? null),
  }
}

async function rollBackBookings(
  database: Database,
  tenant: TenantId,
  importId: number,
  by: { userId: number | null; now: Date },
): Promise<{ rolledBack: number; kept: number }> {
  const refs = await database.inTenant(tenant, (transaction) =>
    transaction
      .selectFrom('lane_changes as change')
      .innerJoin('lanes', (join) =>
        join.onRef('lanes.tenant_id', '=', 'change.tenant_id').onRef('lanes.lane_id', '=', 'change.lane_id'),
      )
      .select('lane_ref')
      .distinct()
      .where('change.tenant_id', '=', tenant)
      .where('change.import_id', '=', importId)
      .orderBy('lane_ref')
      .execute(),
  )
  let rolledBack = 0
  let kept = 0
  for (let start = 0; start < refs.length; start += bookingsPerUndo) {
    const chunk = refs.slice(start, start + bookingsPerUndo)
    await database.inTenant(tenant, async (transaction) => {
      await lockImports(transaction, tenant)
      for (const { lane_ref } of chunk) {
        const result = await rollBackLane(transaction, tenant, importId, lane_ref, by)
        rolledBack += result.rolledBack
        kept += result.kept
      }
    })
  }
  return { rolledBack, kept }
}

/**
 * Rolls back what an import changed on one lane, newest change first, as long as nothing else came after it. A change
 * that was rolled back already, and the change that did so, count as nothing.
 */
async function rollBackLane(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
  laneRef: string,
  by: { userId: number | null; now: Date },
): Promise<{ rolledBack: number; kept: 0 | 1 }> {
  let lane = await lockLane(transaction, tenant, laneRef)
  if (lane === null) return { rolledBack: 0, kept: 0 }
  const changes = await transaction
    .selectFrom('lane_changes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('lane_id', '=', lane.lane_id)
    .orderBy('change_number', 'desc')
    .execute()
  const undone = new Set<number>()
  const standing = changes.filter((change) => {
    if (undone.has(change.change_number)) return false
    if (change.rolled_back_change === null) return true
    undone.add(change.rolled_back_change)
    return false
  })
  const ours = standing.filter((change) => change.import_id === importId)
  const first = ours.at(-1)
  if (first === undefined) return { rolledBack: 0, kept: 0 }
  // A signed push that only confirmed what the file said left no change, but it did say it.
  const pushed = await transaction
    .selectFrom('shipment_updates')
    .select('lane_id')
    .where('tenant_id', '=', tenant)
    .where('lane_id', '=', lane.lane_id)
    .where('received_at', '>=', first.changed_at)
    .limit(1)
    .executeTakeFirst()
  if (pushed !== undefined) return { rolledBack: 0, kept: 1 }
  let rolledBack = 0
  for (const change of standing) {
    if (change.import_id !== importId) break
    lane = await changeLane(
      transaction,
      tenant,
      lane,
      rollbackValues(lane, change.before, by.now),
      {
        source: 'dashboard',
        ...(by.userId === null ? {} : { userId: by.userId }),
        rolledBackChange: change.change_number,
      },
      by.now,
    )
    rolledBack++
  }
  return { rolledBack, kept: rolledBack < ours.length ? 1 : 0 }
}
