import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { TenantTransaction, WatchMoveRow, WatchRow } from '../../schema/index.ts'
import { type TenantId, tenantId } from '../../session/index.ts'

/** The brokerages whose watches are due for a scan. */
export async function tenantsWithDueWatches(transaction: TenantTransaction, now: Date): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from tenants_with_due_watches(${now}) as tenant_id
  `.execute(transaction)
  return rows.map((row) => tenantId(row.tenant_id))
}

/** Claims the scan of a brokerage until `leaseEnd`. Returns false if it is not due, or another process does it. */
export async function claimScan(
  transaction: TenantTransaction,
  tenant: TenantId,
  { now, leaseEnd }: { readonly now: Date; readonly leaseEnd: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('tenants')
    .set({ watch_scan_at: leaseEnd })
    .where('tenant_id', '=', tenant)
    .where((tenants) =>
      tenants.or([tenants('watch_scan_at', 'is', null), tenants('watch_scan_at', '<=', now)]),
    )
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Sets when the watches are scanned next. */
export async function setNextScan(transaction: TenantTransaction, tenant: TenantId, at: Date): Promise<void> {
  await transaction
    .updateTable('tenants')
    .set({ watch_scan_at: at })
    .where('tenant_id', '=', tenant)
    .execute()
}

/** What a person follows, or everybody, oldest first. */
export async function listWatches(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number | null = null,
): Promise<WatchRow[]> {
  return transaction
    .selectFrom('watches')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .$if(userId !== null, (query) => query.where('user_id', '=', userId ?? 0))
    .orderBy('followed_at')
    .orderBy('watch_id')
    .execute()
}

/** Stores what a person follows. Returns false if they follow it already. */
export async function insertWatch(
  transaction: TenantTransaction,
  tenant: TenantId,
  watch: Omit<WatchRow, 'tenant_id' | 'watch_id'>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('watches')
    .values({ ...watch, tenant_id: tenant, watch_id: randomUUID() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** Deletes what a person follows, with the moves that were found. Returns whether they followed it. */
export async function deleteWatch(
  transaction: TenantTransaction,
  tenant: TenantId,
  { userId, watchId }: { readonly userId: number; readonly watchId: string },
): Promise<boolean> {
  const watch = await transaction
    .selectFrom('watches')
    .select('watch_id')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('watch_id', '=', watchId)
    .forUpdate()
    .executeTakeFirst()
  if (watch === undefined) return false
  await transaction
    .deleteFrom('watch_moves')
    .where('tenant_id', '=', tenant)
    .where('watch_id', '=', watchId)
    .execute()
  await transaction
    .deleteFrom('watches')
    .where('tenant_id', '=', tenant)
    .where('watch_id', '=', watchId)
    .execute()
  return true
}

/** The moves that were found since a time, of what a person follows, or of everybody; newest first. */
export async function listMoves(
  transaction: TenantTransaction,
  tenant: TenantId,
  { since, userId = null }: { readonly since: Date; readonly userId?: number | null },
): Promise<WatchMoveRow[]> {
  return transaction
    .selectFrom('watch_moves')
    .innerJoin('watches', (join) =>
      join
        .onRef('watches.tenant_id', '=', 'watch_moves.tenant_id')
        .onRef('watches.watch_id', '=', 'watch_moves.watch_id'),
    )
    .selectAll('watch_moves')
    .where('watch_moves.tenant_id', '=', tenant)
    .where('watch_moves.found_at', '>', since)
    .$if(userId !== null, (query) => query.where('watches.user_id', '=', userId ?? 0))
    .orderBy('watch_moves.found_at', 'desc')
    .orderBy('watch_moves.watch_id')
    .orderBy('watch_moves.metric')
    .execute()
}

/** Stores moves. One that was stored before is left as it is. */
export async function insertMoves(
  transaction: TenantTransaction,
  tenant: TenantId,
  moves: readonly Omit<WatchMoveRow, 'tenant_id'>[],
): Promise<void> {
  if (moves.length === 0) return
  await transaction
    .insertInto('watch_moves')
    .values(moves.map((move) => ({ ...move, tenant_id: tenant, customers: JSON.stringify(move.customers) })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
