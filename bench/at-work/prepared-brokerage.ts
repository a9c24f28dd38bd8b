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

/** A quote for which the TMS pushes a booking. */
export interface RecentQuote {
  readonly lane_ref: string
  readonly quoted_rate_cents: number
}

/** A brokerage of a given size in its own data folder, with credentials for its users and its TMS. */
export interface PreparedBrokerage {
  /** The data folder. No service or database uses it yet. */
  readonly directory: string
  readonly plan: ScalePlan
  readonly tenant: PlannedTenant
  readonly access: TenantAccess
  readonly lanes: TenantLanes
  readonly person: { readonly email: string; readonly password: string }
  /** Quotes of the last seven days, in pseudo-random order. */
  readonly recent: readonly RecentQuote[]
  /** A small second brokerage, for a process's first request, which loads shared data. */
  readonly small: { readonly access: TenantAccess; readonly lanes: TenantLanes }
  /** Removes the folder, and stops a database that a killed service left running. */
  remove(): Promise<void>
}

const smallQuotes = 100
const recentDays = 7
const recentMax = 1_000
/** The user who saves quotes. Every generated brokerage has this user. */
const member = { userId: 3, emailOf: (tenantId: number) => `member@brokerage-${tenantId}.example` }

/**
 * Generates the data of the brokerage if they are missing, and copies their folder. A run writes only to the copy, so the next run
 * starts with the same quotes.
 */
export async function prepareBrokerage(bench: Bench, quotes: number): Promise<PreparedBrokerage> {
  const data = await bench.data({ quotes: smallQuotes, tenants: 1, brokerage: quotes })
  const { plan, tenants: held } = data.access
  const tenants = tenantsOf(plan)
  const tenant = tenants.find(({ kind }) => kind === 'brokerage')
  const [small] = tenants
  const [access, smallAccess] = [held[tenant?.index ?? -1], held[small?.index ?? -1]]
  if (tenant === undefined || small === undefined || access === undefined || smallAccess === undefined)
    throw new Error('The data contain no brokerage for the at-work row.')
  const password = await setPassword(data, tenant)
  const recent = await recentQuotes(data, tenant)
  await bench.closeData(data)
  const directory = `${data.directory}-at-work`
  const remove = async () => {
    for (const left of await stopAbandonedPostgres(directory)) rmSync(left, { recursive: true, force: true })
    rmSync(directory, { recursive: true, force: true })
  }
  await remove()
  // `cp -a` also copies the owner of PostgreSQL's files, which Node does not.
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

/** Sets a new random password, because users in generated data have none. */
async function setPassword(data: ScaleDatabase, { tenantId }: PlannedTenant): Promise<string> {
  const password = randomBytes(15).toString('base64url')
  const hash = await hashPassword(password)
  await data.as('superuser', async (client) => {
    const { rowCount } = await client.query(
      'update users set password_hash = $1 where tenant_id = $2 and user_id = $3',
      [hash, tenantId, member.userId],
    )
    if (rowCount !== 1) throw new Error('The brokerage has no user whose password can be set.')
  })
  return password
}

async function recentQuotes(data: ScaleDatabase, { tenantId }: PlannedTenant): Promise<RecentQuote[]> {
  const { rows } = await data.as('superuser', (client) =>
    client.query<RecentQuote>(
      `select lane_ref, quoted_rate_cents from quotes
       where tenant_id = $1 and created_at >= $2::timestamptz - $3 * interval '1 day'
       order by md5(lane_ref) limit $4`,
      [tenantId, data.access.plan.until, recentDays, recentMax],
    ),
  )
  if (rows.length === 0) throw new Error('The brokerage has no quotes in the last seven days.')
  return rows
}
