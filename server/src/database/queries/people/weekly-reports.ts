import { sql } from 'kysely'
import type { TenantTransaction } from '../../schema/index.ts'
import { type TenantId, tenantId } from '../../session/index.ts'

/** The brokerages whose weekly report is due, or whose next one is not computed. */
export async function tenantsWithDueReport(transaction: TenantTransaction, now: Date): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from tenants_with_due_report(${now}) as tenant_id
  `.execute(transaction)
  return rows.map((row) => tenantId(row.tenant_id))
}

/** A report that one process writes. `dueAt` is null if the next one was never computed. */
export interface ClaimedReport {
  readonly dueAt: Date | null
  readonly timeZone: string
}

/** Claims the report of a brokerage until `leaseEnd`. Null if it is not due, or another process writes it. */
export async function claimReport(
  transaction: TenantTransaction,
  tenant: TenantId,
  { now, leaseEnd }: { readonly now: Date; readonly leaseEnd: Date },
): Promise<ClaimedReport | null> {
  const row = await transaction
    .updateTable('tenants')
    .set({ weekly_report_try_at: leaseEnd })
    .where('tenant_id', '=', tenant)
    .where((tenants) =>
      tenants.or([tenants('weekly_report_at', 'is', null), tenants('weekly_report_try_at', '<=', now)]),
    )
    .returning(['weekly_report_at', 'time_zone'])
    .executeTakeFirst()
  return row === undefined ? null : { dueAt: row.weekly_report_at, timeZone: row.time_zone }
}

/** Sets when the next report is due, unless another process did, or the time zone has changed. */
export async function advanceReport(
  transaction: TenantTransaction,
  tenant: TenantId,
  { dueAt, timeZone }: ClaimedReport,
  next: Date,
): Promise<void> {
  await transaction
    .updateTable('tenants')
    .set({ weekly_report_at: next, weekly_report_try_at: next })
    .where('tenant_id', '=', tenant)
    .where('time_zone', '=', timeZone)
    .where('weekly_report_at', dueAt === null ? 'is' : '=', dueAt)
    .execute()
}

/** Whether the person chose to get the report or not; null if they never chose. */
export async function reportChoice(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<boolean | null> {
  const row = await transaction
    .selectFrom('users')
    .select('weekly_report')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row?.weekly_report ?? null
}

/** Stores whether the person gets the report. */
export async function chooseReport(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  isWanted: boolean,
): Promise<void> {
  await transaction
    .updateTable('users')
    .set({ weekly_report: isWanted })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .execute()
}
