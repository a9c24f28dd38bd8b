import { type Insertable, type Selectable, sql } from 'kysely'
import type {
  ImportCause,
  ImportNote,
  ImportWord,
  NotAppliedValue,
  RowChange,
  RowError,
  Tables,
  TenantTransaction,
} from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { nextTenantNumber } from '../people/people.ts'

export type NewImportRow = Selectable<Tables['imports']>
export type ImportRow = NewImportRow & {
  readonly created_by_name: string | null
  readonly undo_by_name: string | null
}

/**
 * The start of the transaction by the database's clock. Heartbeats are written and compared with it only, because clocks of
 * instances differ, and an instance with a fast clock would take over the imports of the others.
 */
export const databaseClock = sql<Date>`now()`

/** An import or undo without a heartbeat since then has lost its process. */
export const silentSince = sql<Date>`now() - interval '30 seconds'`

/** The progress of an import. Each row that was read is added, updated, repeated, not applied, or refused. */
export interface ImportProgress {
  readonly rowsRead: number
  readonly rowsAdded: number
  readonly rowsUpdated: number
  readonly rowsRepeated: number
  readonly rowsRefused: number
  /** Rows that were not applied, because the quote has newer values. */
  readonly rowsNotApplied: number
  /** The outcomes of the accepted rows. */
  readonly rowsWon: number
  readonly rowsLost: number
  readonly rowsPending: number
  readonly bytesRead: number
}

/** New lists of an import, which replace the saved ones. An absent list is not changed. */
export interface ImportLists {
  readonly errors?: readonly RowError[]
  readonly changes?: readonly RowChange[]
  readonly kept?: readonly NotAppliedValue[]
}

export async function insertImport(
  transaction: TenantTransaction,
  tenant: TenantId,
  given: Pick<
    Insertable<Tables['imports']>,
    'file_name' | 'dry_run' | 'bytes_total' | 'created_by' | 'request_digest'
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
      created_at: databaseClock,
      progress_at: databaseClock,
      finished_at: null,
      failure: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The import that a signed request began; null if there is none. */
export async function findImportOfRequest(
  transaction: TenantTransaction,
  tenant: TenantId,
  digest: Buffer,
): Promise<ImportRow | null> {
  const found = await transaction
    .selectFrom('imports')
    .select('import_id')
    .where('tenant_id', '=', tenant)
    .where('request_digest', '=', digest)
    .executeTakeFirst()
  return found === undefined ? null : findImport(transaction, tenant, found.import_id)
}

/** Ends the imports whose process was lost: they are `running`, but their heartbeat is too old. */
async function stopAbandonedImports(transaction: TenantTransaction, tenant: TenantId): Promise<void> {
  await transaction
    .updateTable('imports')
    .set({
      status: 'stopped',
      finished_at: databaseClock,
      failure: 'The program ended before the file did. Import the file again to continue where it stopped.',
    })
    .where('tenant_id', '=', tenant)
    .where('status', '=', 'running')
    .where('progress_at', '<', silentSince)
    .execute()
}

/** The names of the users who uploaded the file and who undo it; null for a command. Removed users keep their names. */
const names = [
  sql<string | null>`(
    select users.name from users
    where users.tenant_id = imports.tenant_id and users.user_id = imports.created_by
  )`.as('created_by_name'),
  sql<string | null>`(
    select users.name from users
    where users.tenant_id = imports.tenant_id and users.user_id = imports.undo_by
  )`.as('undo_by_name'),
]

export async function findImport(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
): Promise<ImportRow | null> {
  await stopAbandonedImports(transaction, tenant)
  return (
    (await transaction
      .selectFrom('imports')
      .selectAll()
      .select(names)
      .where('tenant_id', '=', tenant)
      .where('import_id', '=', importId)
      .executeTakeFirst()) ?? null
  )
}

const importsListed = 200

/** The latest imports, newest first, without their lists of rows. */
export async function listImports(transaction: TenantTransaction, tenant: TenantId): Promise<ImportRow[]> {
  await stopAbandonedImports(transaction, tenant)
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
      'refused_rows_saved',
      'rows_kept',
      'rows_won',
      'rows_lost',
      'rows_pending',
      'bytes_read',
      'bytes_total',
      'created_by',
      'created_at',
      'progress_at',
      'finished_at',
      'stop_requested',
      'failure',
      'undo_started_at',
      'undo_finished_at',
      'undo_by',
      'undo_after',
      'undo_rows_done',
      'lanes_removed',
      'lanes_restored',
      'lanes_kept',
      'request_digest',
      ...names,
    ])
    .where('tenant_id', '=', tenant)
    .orderBy('import_id', 'desc')
    .limit(importsListed)
    .execute()
  return rows.map((row) => ({ ...row, ...noLists }))
}

const noLists = {
  errors: [],
  changes: [],
  kept: [],
  understood: [],
  words: [],
  causes: [],
  refused_rows: '',
}

/** The import of this tenant that is running or being undone; null if there is none. There is at most one at a time. */
export async function findBusyImport(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<NewImportRow | null> {
  await stopAbandonedImports(transaction, tenant)
  return (
    (await transaction
      .selectFrom('imports')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .where('status', 'in', ['running', 'undoing'])
      .executeTakeFirst()) ?? null
  )
}

/** Requests that a running import stops after its current batch. Does nothing if it has ended. */
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

/** Renews the heartbeat of an import or undo that has no progress to report. */
export async function touchImport(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
): Promise<void> {
  await transaction
    .updateTable('imports')
    .set({ progress_at: databaseClock })
    .where('tenant_id', '=', tenant)
    .where('import_id', '=', importId)
    .where('status', 'in', ['running', 'undoing'])
    .execute()
}

/**
 * Writes the progress of an import in the transaction of its rows, so that its counts are exact. Returns what to do next;
 * `ended` if the import was ended meanwhile.
 */
export async function saveProgress(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
  progress: ImportProgress & ImportLists,
): Promise<'go on' | 'stop' | 'ended'> {
  const row = await transaction
    .updateTable('imports')
    .set({ ...progressColumns(progress), progress_at: databaseClock })
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
    status: 'done' | 'stopped' | 'failed'
    failure: string | null
    understood: readonly ImportNote[]
    words: readonly ImportWord[]
    causes: readonly ImportCause[]
    refusedFile: { readonly rows: number; readonly text: string }
  },
): Promise<void> {
  await transaction
    .updateTable('imports')
    .set({
      ...progressColumns(end),
      status: end.status,
      failure: end.failure,
      understood: JSON.stringify(end.understood),
      words: JSON.stringify(end.words),
      causes: JSON.stringify(end.causes),
      refused_rows: end.refusedFile.text,
      refused_rows_saved: end.refusedFile.rows,
      progress_at: databaseClock,
      finished_at: databaseClock,
    })
    .where('tenant_id', '=', tenant)
    .where('import_id', '=', importId)
    .where('status', '=', 'running')
    .execute()
}

/** The number of rows that an import has read, as of its last commit. */
export async function rowsReadOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
): Promise<number | null> {
  const row = await transaction
    .selectFrom('imports')
    .select('rows_read')
    .where('tenant_id', '=', tenant)
    .where('import_id', '=', importId)
    .executeTakeFirst()
  return row?.rows_read ?? null
}

function progressColumns(progress: ImportProgress & ImportLists) {
  const list = (name: keyof ImportLists) =>
    progress[name] === undefined ? {} : { [name]: JSON.stringify(progress[name]) }
  return {
    rows_read: progress.rowsRead,
    rows_added: progress.rowsAdded,
    rows_updated: progress.rowsUpdated,
    rows_repeated: progress.rowsRepeated,
    rows_refused: progress.rowsRefused,
    rows_kept: progress.rowsNotApplied,
    rows_won: progress.rowsWon,
    rows_lost: progress.rowsLost,
    rows_pending: progress.rowsPending,
    bytes_read: progress.bytesRead,
    ...list('errors'),
    ...list('changes'),
    ...list('kept'),
  }
}

/** The advisory lock class of imports: an arbitrary fixed number. */
const importLock = 0x6c616e65

/**
 * Takes the import lock of a brokerage until the end of the transaction. Between the search for a row and its insertion, no
 * other import can insert it, and an undo cannot lock the quotes of a batch in another order.
 */
export async function lockImports(transaction: TenantTransaction, tenant: TenantId): Promise<void> {
  await sql`select pg_advisory_xact_lock((${importLock}::bigint << 32) + ${tenant}::bigint)`.execute(
    transaction,
  )
}
