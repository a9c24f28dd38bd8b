import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { stopAbandonedPostgres } from '#server/embedded-postgres/index.ts'
import { hashPassword } from '#server/security/index.ts'
import type { Bench } from '../bench-row.ts'
import type { TenantAccess } from '../scale/access-file.ts'
import { type PlannedTenant, type ScalePlan, tenantsOf } from '../scale/plan.ts'
import { lanesOf, type TenantLanes } from '../scale/tenant-lanes.ts'
import type { ScaleDatabase } from '../scale-database.ts'

/** A lane that a TMS pushes a booking for. */
export interface RecentLane {
  readonly lane_ref: string
  readonly quoted_rate_cents: number
}

/** A brokerage of one size on a data folder of its own, with what its people and its TMS need. */
export interface PreparedBrokerage {
  /** A service can be started on it: nothing else runs there. */
  readonly directory: string
  readonly plan: ScalePlan
  readonly tenant: PlannedTenant
  readonly access: TenantAccess
  readonly lanes: TenantLanes
  readonly person: { readonly email: string; readonly password: string }
  /** Quoted in the last days, in an order of no meaning. */
  readonly recent: readonly RecentLane[]
  /** A small brokerage beside it, for what a process needs for its very first answer to anybody. */
  readonly small: { readonly access: TenantAccess; readonly lanes: TenantLanes }
  /** Removes the folder, and ends a database that a service left behind there. */
  remove(): Promise<void>
}

const smallQuotes = 100
const recentDays = 7
const recentMax = 1_000
/** As every generated brokerage has one; this one saves quotes. */
const member = { userId: 3, emailOf: (tenantId: number) => `member@brokerage-${tenantId}.example` }

/**
 * Makes the data of the brokerage where they are missing, and copies their folder: what a run writes is gone with the copy, so
 * that the next one begins with the same quotes.
 */
export async function prepareBrokerage(bench: Bench, quotes: number): Promise<PreparedBrokerage> {
  const data = await bench.data({ quotes: smallQuotes, tenants: 1, brokerage: quotes })
  const { plan, tenants: held } = data.access
  const tenants = tenantsOf(plan)
  const tenant = tenants.find(({ kind }) => kind === 'brokerage')
  const [small] = tenants
  const [access, smallAccess] = [held[tenant?.index ?? -1], held[small?.index ?? -1]]
  if (tenant === undefined || small === undefined || access === undefined || smallAccess === undefined)
    throw new Error('The data have no brokerage at work.')
  const password = await givePassword(data, tenant)
  const recent = await recentLanes(data, tenant)
  await bench.closeData(data)
  const directory = `${data.directory}-at-work`
  const remove = async () => {
    for (const left of await stopAbandonedPostgres(directory)) rmSync(left, { recursive: true, force: true })
    rmSync(directory, { recursive: true, force: true })
  }
  await remove()
  // The folder belongs to PostgreSQL's account in part, and Node's own copy would give all of it to ours.
  execFileSync('cp', ['-a', data.directory, directory])
  return {
    directory,
    plan,
    tenant,
    access,
    lanes: lanesOf(plan, tenant),
    person: { email: member.emailOf(tenant.tenantId), password },
    recent,
    small: { access: smallAccess, lanes: lanesOf(plan, small) },
    remove,
  }
}

/** Nobody in generated data has a password: this one is anew in every run, and only this run knows it. */
async function givePassword(data: ScaleDatabase, { tenantId }: PlannedTenant): Promise<string> {
  const password = randomBytes(15).toString('base64url')
  const hash = await hashPassword(password)
  await data.as('superuser', async (client) => {
    const { rowCount } = await client.query(
      'update users set password_hash = $1 where tenant_id = $2 and user_id = $3',
      [hash, tenantId, member.userId],
    )
    if (rowCount !== 1) throw new Error('Nobody of the brokerage can be given a password.')
  })
  return password
}

async function recentLanes(data: ScaleDatabase, { tenantId }: PlannedTenant): Promise<RecentLane[]> {
  const { rows } = await data.as('superuser', (client) =>
    client.query<RecentLane>(
      `select lane_ref, quoted_rate_cents from lanes
       where tenant_id = $1 and created_at >= $2::timestamptz - $3 * interval '1 day'
       order by md5(lane_ref) limit $4`,
      [tenantId, data.access.plan.until, recentDays, recentMax],
    ),
  )
  if (rows.length === 0) throw new Error('The brokerage quoted nothing in the last days.')
  return rows
}
