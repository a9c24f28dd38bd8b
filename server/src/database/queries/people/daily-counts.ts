import { sql } from 'kysely'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

type Counter = Tables['daily_counts']['counter']

const dayOf = (now: number) => new Date(now).toISOString().slice(0, 10)

/** Seconds until the counts of the day begin anew, at midnight UTC. */
export function secondsLeftOfDay(now: number): number {
  const dayMs = 86_400_000
  return Math.ceil((dayMs - (now % dayMs)) / 1000)
}

/**
 * Counts one use on this UTC day, over all instances, unless `max` are counted already. Returns whether it was counted. Uses of
 * one brokerage and counter wait for each other until the end of the transaction.
 *
 * An instance whose clock is behind counts on the newer day that is saved.
 */
export async function countToday(
  transaction: TenantTransaction,
  tenant: TenantId,
  { counter, max, now }: { readonly counter: Counter; readonly max: number; readonly now: number },
): Promise<boolean> {
  if (max < 1) return false
  const { rows } = await sql`
    insert into daily_counts as known (tenant_id, counter, day, used) values (${tenant}, ${counter}, ${dayOf(now)}, 1)
    on conflict (tenant_id, counter) do update set
      day = greatest(known.day, excluded.day),
      used = case when excluded.day > known.day then 1 else known.used + 1 end
    where excluded.day > known.day or known.used < ${max}
    returning used
  `.execute(transaction)
  return rows.length > 0
}
