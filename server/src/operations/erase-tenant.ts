import { setTimeout as delay } from 'node:timers/promises'
import { eraseTenantRows, sandboxOf, type TenantRows } from '../database/queries/index.ts'
import { tenantId } from '../database/session/index.ts'
import { atDatabase, atTenant, type CommandDatabase, CommandRefused } from './command-database.ts'
import { changeTenantStatus } from './tenant-status.ts'

/** After this time every instance knows that the brokerage is suspended, and answers nothing for it from memory. */
const noticedMs = 1_500

/**
 * Erases a brokerage and its test brokerage: suspends them, waits until every instance knows, and deletes all their rows, each
 * in one transaction. Only a backup can bring it back. Without `confirmed`, which must be the brokerage's name, it only counts
 * the rows.
 *
 * @throws CommandRefused when there is no brokerage of the name, the owner's connection is not known, or another name confirms
 */
export async function eraseTenant(
  around: CommandDatabase,
  named: string,
  {
    confirmed,
    now,
    onTable,
  }: { confirmed?: string; now: number; onTable?: (table: string, rows: number) => void },
): Promise<{ name: string; rows: TenantRows; erased: boolean }> {
  const { tenant, name, sandbox } = await atTenant(around, named, async (database, found) => ({
    ...found,
    sandbox: await sandboxOf(database, found.tenant),
  }))
  if (confirmed !== undefined && confirmed !== name) {
    throw new CommandRefused(`--confirm must be exactly the brokerage's name, "${name}". Nothing was erased.`)
  }
  const erase = (dryRun: boolean) =>
    atDatabase(around, async (_database, owner) => {
      if (owner === null) {
        throw new CommandRefused(
          'Set MIGRATION_DATABASE_URL: only the owner of the tables can erase a brokerage.',
        )
      }
      // The test brokerage is erased first, because without its brokerage nobody could find it.
      if (sandbox !== null && !dryRun) await eraseTenantRows(owner, tenantId(sandbox.tenant_id), { dryRun })
      return eraseTenantRows(owner, tenant, { dryRun, ...(onTable === undefined ? {} : { onTable }) })
    })
  if (confirmed === undefined) return { name, rows: await erase(true), erased: false }
  await changeTenantStatus(around, String(tenant), 'suspended', now)
  await delay(noticedMs)
  return { name, rows: await erase(false), erased: true }
}
