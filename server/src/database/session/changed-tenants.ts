import type pg from 'pg'
import { instanceGoneMs } from '../schema/index.ts'
import { type TenantId, type TenantVersions, tenantId } from './tenant.ts'

export interface ChangedTenants {
  readonly next: string
  readonly tenants: readonly [TenantId, TenantVersions][]
  /** Another one after the database was restarted, restored, or changed for its replica, and after a brokerage was erased. */
  readonly server: string
  /** Whether other instances of the service are here. */
  readonly others: boolean
  /** How long ago this instance joined them; null where it is not among them. */
  readonly joinedMs: number | null
}

/** One that could not say for so long that it is here takes itself for gone: sooner than the others do. */
const instanceDoubtMs = 7_000

interface ChangedRow {
  readonly next: string
  readonly server: string
  readonly others: boolean
  readonly joined_ms: number | null
  readonly tenant_id: number | null
  readonly facts: number
  readonly access: number
}

// The function is stable: it looks with the snapshot of this statement, whose oldest running transaction is asked from next.
const changedTenantsQuery = `
  select pg_snapshot_xmin(pg_current_snapshot())::text as next, pg_postmaster_start_time()::text || ' ' || (select erasures from installation) as server,
         others, joined_ms, tenant_id, facts_version as facts, access_version as access
  from (
    select coalesce(bool_or(instance_id <> $2::uuid), false) as others,
      (extract(epoch from clock_timestamp() - max(joined_at) filter (
        where instance_id = $2::uuid and seen_at > clock_timestamp() - interval '${instanceDoubtMs} milliseconds'
      )) * 1000)::float8 as joined_ms
    from instances where seen_at > clock_timestamp() - interval '${instanceGoneMs} milliseconds'
  ) as present
  left join lateral changed_tenants($1::text::xid8) on true
`

/** Asks, on a connection of the watch's own, which tenants have moved on, and which instances are here. */
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
