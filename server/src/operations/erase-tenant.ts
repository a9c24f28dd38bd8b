import { setTimeout as delay } from 'node:timers/promises'
import { eraseTenantRows, type TenantRows } from '../database/queries/index.ts'
import { atDatabase, atTenant, type CommandDatabase, CommandRefused } from './command-database.ts'
import { changeTenantStatus } from './tenant-status.ts'

/** By then every instance has learned that a brokerage is suspended, and answers nothing of it from memory. */
const noticedMs = 1_500

/**
 * Erases a brokerage: suspends it, waits until every instance knows, and deletes every row of it in one transaction. There
 * is no way back but a backup. Without `confirmed`, the brokerage's own name, it only counts what would go.
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
  const { tenant, name } = await atTenant(around, named, async (_database, found) => found)
  if (confirmed !== undefined && confirmed !== name) {
    throw new CommandRefused(
      `--confirm must be the brokerage's name to the letter, "${name}". Nothing was erased.`,
    )
  }
  const erase = (dryRun: boolean) =>
    atDatabase(around, async (_database, owner) => {
      if (owner === null) {
        throw new CommandRefused(
          'Set MIGRATION_DATABASE_URL: only the owner of the tables can erase a brokerage.',
        )
      }
      return eraseTenantRows(owner, tenant, { dryRun, ...(onTable === undefined ? {} : { onTable }) })
    })
  if (confirmed === undefined) return { name, rows: await erase(true), erased: false }
  await changeTenantStatus(around, String(tenant), 'suspended', now)
  await delay(noticedMs)
  return { name, rows: await erase(false), erased: true }
}
