import type pg from 'pg'
import { instanceGoneMs, registrationValidMs } from '../schema/index.ts'
import { answerIn } from './connection.ts'
import { type TenantId, type TenantVersions, tenantId } from './tenant.ts'

export interface ChangedTenants {
  readonly next: string
  readonly tenants: readonly [TenantId, TenantVersions][]
  /** Identifies the database: differs after a restart, a restore, a failover to a replica, or the erasure of a brokerage. */
  readonly server: string
  /** Whether other instances of the service run on this database. */
  readonly others: boolean
  /** How long this instance has been registered, in milliseconds; null if it is not registered. */
  readonly joinedMs: number | null
  /**
   * While a worker of Citus is away: the tenants that were asked for and whose worker answered. Changes of all others are
   * unknown. Absent if all tenants were asked for.
   */
  readonly covered?: ReadonlySet<TenantId>
}

interface ChangedRow {
  readonly next: string
  readonly server: string
  readonly others: boolean
  readonly joined_ms: number | null
  readonly tenant_id: number | null
  readonly facts: number
  readonly access: number
  readonly covered: readonly number[] | null
}

// `changed_tenants` is a stable function, so it uses the snapshot of this statement. The next poll starts from the oldest
// transaction that runs in this snapshot (`next`).
const changedTenantsQuery = (changed: string, covered: string) => `
  select pg_snapshot_xmin(pg_current_snapshot())::text as next, pg_postmaster_start_time()::text || ' ' || (select erasures from installation) as server,
         others, joined_ms, tenant_id, facts_version as facts, access_version as access, covered
  from (
    select coalesce(bool_or(instance_id <> $2::uuid), false) as others,
      (extract(epoch from clock_timestamp() - max(joined_at) filter (
        where instance_id = $2::uuid and seen_at > clock_timestamp() - interval '${registrationValidMs} milliseconds'
      )) * 1000)::float8 as joined_ms
    from instances where seen_at > clock_timestamp() - interval '${instanceGoneMs} milliseconds'
  ) as present
  cross join (select ${covered}) as asked
  left join lateral ${changed} on true
`

const amongAll = changedTenantsQuery('changed_tenants($1::text::xid8)', 'null::integer[] as covered')

/** The changes of only those tenants of $3 that are on none of the workers $4. The coordinator knows where a tenant is. */
const amongReachable = changedTenantsQuery(
  'changed_tenants_among($1::text::xid8, asked.covered)',
  `coalesce(array_agg(wanted.id), '{}') as covered
   from (
     -- Not merged into the join, which would call this volatile function for each tenant and each shard.
     select id, get_shard_id_for_distribution_column('tenants'::regclass, id) as shardid
     from unnest($3::integer[]) as ids (id) offset 0
   ) as wanted
   join pg_dist_placement as place on place.shardid = wanted.shardid
   where place.groupid <> all ($4::integer[])`,
)

/** The tenants to ask for while workers are away, and the numbers of these workers. */
export interface Reachable {
  readonly tenants: readonly TenantId[]
  readonly away: readonly number[]
}

/**
 * Returns the tenants that changed since `since`, and whether other instances run. `watching` is the watch's own pool.
 * `reachable` is null while every worker answers.
 */
export async function askChangedTenants(
  { watching, pollMs }: { readonly watching: pg.Pool; readonly pollMs: number },
  since: string | null,
  instance: string | null,
  reachable: Reachable | null,
): Promise<ChangedTenants> {
  const rows = await askOnce(
    watching,
    pollMs,
    reachable === null ? amongAll : amongReachable,
    reachable === null ? [since, instance] : [since, instance, reachable.tenants, reachable.away],
  )
  const [first] = rows
  return {
    next: first?.next ?? '',
    server: first?.server ?? '',
    others: first?.others ?? true,
    joinedMs: first?.joined_ms ?? null,
    ...(reachable === null ? {} : { covered: new Set((first?.covered ?? []).map(tenantId)) }),
    tenants: rows.flatMap(({ tenant_id, facts, access }) =>
      tenant_id === null
        ? []
        : [[tenantId(tenant_id), { facts, access }] satisfies [TenantId, TenantVersions]],
    ),
  }
}

/** Asks once on a connection of the pool. A connection that does not answer is closed. */
async function askOnce(
  watching: pg.Pool,
  pollMs: number,
  text: string,
  values: readonly unknown[],
): Promise<ChangedRow[]> {
  const client = await watching.connect()
  let answered = false
  try {
    const { rows } = await answerIn(pollMs, client.query<ChangedRow>(text, [...values]))
    answered = true
    return rows
  } finally {
    client.release(!answered)
  }
}
