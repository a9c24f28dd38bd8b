import { sql } from 'kysely'
import { instanceGoneMs, registrationValidMs, type TenantTransaction } from '../../schema/index.ts'
import type { Database, TenantId } from '../../session/index.ts'

/**
 * How long a stopped instance is still listed: until its last admitted requests have left the rate limit's window.
 */
const instanceLeftMs = 2_000

/**
 * Renews the registration of an instance. If it has expired, the instance joins again, because another instance may have run
 * alone meanwhile. Returns whether other instances run.
 *
 * If no registration is valid any more, the database was away: those of that moment continue, so that no instance waits to join.
 * None of them can have seen another expire: while its own was valid, one that was renewed at most
 * `instanceGoneMs - registrationValidMs` earlier was still listed.
 */
export async function seeInstance(
  transaction: TenantTransaction,
  instance: string,
): Promise<{ others: boolean }> {
  await sql`delete from instances where seen_at < clock_timestamp() - interval '1 hour'`.execute(transaction)
  await sql`
    with newest as (select max(seen_at) as seen_at from instances),
    together as (
      select instance_id from instances, newest
      where newest.seen_at < clock_timestamp() - make_interval(secs => ${registrationValidMs / 1000})
        and instances.seen_at > newest.seen_at - make_interval(secs => ${(instanceGoneMs - registrationValidMs) / 1000})
    )
    update instances set seen_at = clock_timestamp()
    where instance_id in (select instance_id from together)
      and exists (select from together where instance_id = ${instance})
  `.execute(transaction)
  await sql`
    insert into instances as known values (${instance}, clock_timestamp(), clock_timestamp())
    on conflict (instance_id) do update set
      joined_at = case
        when known.seen_at < clock_timestamp() - make_interval(secs => ${instanceGoneMs / 1000}) then clock_timestamp()
        else known.joined_at
      end,
      seen_at = clock_timestamp()
  `.execute(transaction)
  const { rows } = await sql<{ others: boolean }>`
    select exists (
      select from instances
      where instance_id <> ${instance} and seen_at > clock_timestamp() - make_interval(secs => ${instanceGoneMs / 1000})
    ) as others
  `.execute(transaction)
  return { others: rows[0]?.others ?? true }
}

/** Whether instances of the service run. The embedded database lists none. */
export async function isServing(transaction: TenantTransaction): Promise<boolean> {
  const { rows } = await sql`
    select from instances
    where seen_at > clock_timestamp() - make_interval(secs => ${instanceGoneMs / 1000}) limit 1
  `.execute(transaction)
  return rows.length > 0
}

/** Records that an instance no longer admits requests. */
export async function leaveInstance(transaction: TenantTransaction, instance: string): Promise<void> {
  await sql`
    update instances set seen_at = clock_timestamp() - make_interval(secs => ${(instanceGoneMs - instanceLeftMs) / 1000})
    where instance_id = ${instance}
  `.execute(transaction)
}

/** Whether the permit was granted, how many are left, and when the next one is free. */
export interface TakenPermit {
  readonly admitted: boolean
  readonly remaining: number
  readonly retryAfterMs: number
}

/**
 * Takes a permit from the window of a tenant that all instances share, by the database's clock. With `alreadyAdmitted`,
 * records a request even if the window is full.
 */
export async function takePermit(
  database: Pick<Database, 'callInTenant'>,
  tenant: TenantId,
  { max, windowMs, alreadyAdmitted }: { max: number; windowMs: number; alreadyAdmitted: boolean },
): Promise<TakenPermit> {
  const [taken = 0, remaining = 0, retryAfterMs = windowMs] = await database.callInTenant<number[]>(
    tenant,
    'take_permit',
    [max, windowMs, alreadyAdmitted],
  )
  return { admitted: taken === 1, remaining, retryAfterMs }
}
