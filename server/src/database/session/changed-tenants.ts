import type pg from 'pg'
import { instanceGoneMs } from '../schema/index.ts'
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
}

/**
 * An instance that could not renew its registration for this long considers itself unregistered: before the other instances
 * do (`instanceGoneMs`).
 */
const registrationHoldsMs = 7_000

interface ChangedRow {
  readonly next: string
  readonly server: string
  readonly others: boolean
  readonly joined_ms: number | null
  readonly tenant_id: number | null
  readonly facts: number
  readonly access: number
}

// `changed_tenants` is a stable function, so it uses the snapshot of this statement. The next poll starts from the oldest
// transaction that runs in this snapshot (`next`).
const changedTenantsQuery = `
  select pg_snapshot_xmin(pg_current_snapshot())::text as next, pg_postmaster_start_time()::text || ' ' || (select erasures from installation) as server,
         others, joined_ms, tenant_id, facts_version as facts, access_version as access
  from (
    select coalesce(bool_or(instance_id <> $2::uuid), false) as others,
      (extract(epoch from clock_timestamp() - max(joined_at) filter (
        where instance_id = $2::uuid and seen_at > clock_timestamp() - interval '${registrationHoldsMs} milliseconds'
      )) * 1000)::float8 as joined_ms
    from instances where seen_at > clock_timestamp() - interval '${instanceGoneMs} milliseconds'
  ) as present
  left join lateral changed_tenants($1::text::xid8) on true
`

/** Returns the tenants that changed since `since`, and whether other instances run. `watching` is the watch's own pool. */
export async function askChangedTenants(
  watching: pg.Pool,
  since: string | null,
  instance: string | null,
): Promise<ChangedTenants> {
  const { rows } = await watching.query<ChangedRow>(changedTenantsQuery, [since, instance])
  const [first] = rows
  return {
    next: first?.next ?? '',
    server: first?.server ?? '',
    others: first?.others ?? true,
    joinedMs: first?.joined_ms ?? null,
    tenants: rows.flatMap(({ tenant_id, facts, access }) =>
      tenant_id === null
        ? []
        : [[tenantId(tenant_id), { facts, access }] satisfies [TenantId, TenantVersions]],
    ),
  }
}
