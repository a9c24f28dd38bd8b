import type pg from 'pg'
import { keyCheckPlace, keyCheckText } from '#server/access/index.ts'
import { withDatabaseClient } from '#server/database/hosts/index.ts'
import { readKeyCheck, writeKeyCheck } from '#server/database/queries/index.ts'
import type { Database } from '#server/database/session/index.ts'
import { type SecretKeys, seal, unsealWithAny } from '#server/security/index.ts'
import { isSamePlan, readAccess, type ScaleAccess, writeAccess } from './access-file.ts'
import { type PlannedTenant, quotesOf, type ScalePlan, tenantsOf } from './plan.ts'
import { chunksOf, quotesOfChunk, quotesPerChunk } from './scale-quotes.ts'
import { lanesOf, type TenantLanes } from './tenant-lanes.ts'
import { chunksWritten, rowsOf, writeChunk } from './write-quotes.ts'
import { writeTenants } from './write-tenants.ts'

export interface GenerateOptions {
  /** Connects as the owner of the tables: COPY needs a role that row-level security does not restrict. */
  readonly owner: pg.ClientConfig
  readonly database: Database
  readonly secretKeys: SecretKeys
  readonly plan: ScalePlan
  /** The file for the credentials of the tenants. */
  readonly accessFile: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly onProgress?: (written: number, total: number) => void
  /** Checked after each chunk. */
  readonly isStopping?: () => boolean
}

export interface Generated {
  readonly finished: boolean
  /** The number of quotes that this run wrote. */
  readonly written: number
  readonly access: ScaleAccess
}

/** The requested data cannot be generated. The message explains why. */
export class GenerateRefused extends Error {}

/**
 * Writes generated data in chunks of one transaction each. If a run is stopped or killed, the same call continues without
 * duplicates. In the end VACUUM ANALYZE updates planner statistics and the visibility map.
 */
export async function generate(options: GenerateOptions): Promise<Generated> {
  const { database, secretKeys, onProgress = () => {}, isStopping = () => false } = options
  await checkSecretKey(database, secretKeys)
  return withDatabaseClient(options.owner, async (client) => {
    const access = await tenantsFor(client, options)
    const tenants = tenantsOf(access.plan)
    const firstTenant = tenants[0]?.tenantId ?? 0
    const total = quotesOf(tenants)
    const chunks = chunksOf(total)
    const lanesOfTenant = cachedLanes(access.plan)
    let chunk = await chunksWritten(client, firstTenant)
    const from = chunk
    const reached = (chunks: number) => Math.min(total, chunks * quotesPerChunk)
    onProgress(reached(chunk), total)
    const made = async (at: number) =>
      rowsOf(client, database.identifiers, quotesOfChunk(access.plan, tenants, at, lanesOfTenant))
    while (chunk < chunks && !isStopping()) {
      await writeChunk(client, firstTenant, chunk, await made(chunk))
      chunk++
      onProgress(reached(chunk), total)
    }
    const finished = chunk >= chunks
    if (finished && chunk > from) {
      // Autovacuum would do this within about a minute. Until then, index-only scans must visit every row.
      await client.query('vacuum (analyze)')
    }
    return { finished, written: reached(chunk) - reached(from), access }
  })
}

/** Caches the lanes of the last tenant, because a chunk often continues with the same tenant. */
function cachedLanes(plan: ScalePlan): (tenant: PlannedTenant) => TenantLanes {
  let last: { tenant: PlannedTenant; lanes: TenantLanes } | undefined
  return (tenant) => {
    if (last?.tenant !== tenant) last = { tenant, lanes: lanesOf(plan, tenant) }
    return last.lanes
  }
}

/** Checks that the secret key belongs to the database, because the service must be able to use tokens and secrets. */
async function checkSecretKey(database: Database, secretKeys: SecretKeys): Promise<void> {
  const known = await database.outsideTenants(readKeyCheck)
  if (known === null) {
    const sealed = seal(secretKeys[0], keyCheckPlace, keyCheckText)
    await database.outsideTenants((transaction) => writeKeyCheck(transaction, sealed))
  } else if (unsealWithAny(secretKeys, keyCheckPlace, known) !== keyCheckText)
    throw new GenerateRefused('The secret key is not the key of this database.')
}

/** Returns the credentials of the plan's tenants, and creates the tenants if necessary. */
async function tenantsFor(client: pg.Client, options: GenerateOptions): Promise<ScaleAccess> {
  const { plan, accessFile, secretKeys, now } = options
  const tenants = tenantsOf(plan)
  const { rows } = await client.query<{ count: string }>(
    'select count(*) from tenants where tenant_id = any ($1::integer[])',
    [tenants.map(({ tenantId }) => tenantId)],
  )
  const existing = Number(rows[0]?.count ?? 0)
  const kept = readAccess(accessFile)
  if (kept !== null && !isSamePlan(kept.plan, plan)) {
    throw new GenerateRefused(
      `${accessFile} contains credentials of other data (${JSON.stringify(kept.plan)}). Use those options, or another file with --access.`,
    )
  }
  if (existing === tenants.length) {
    if (kept !== null) return kept
    throw new GenerateRefused(
      `These brokerages exist already, but ${accessFile} with their credentials does not. Restore the file, or use another --seed.`,
    )
  }
  if (existing > 0)
    throw new GenerateRefused('Some of these tenant numbers belong to other brokerages. Use another --seed.')
  let access: ScaleAccess = { plan, tenants: [] }
  await writeTenants(client, tenants, {
    secretKeys,
    now,
    keep: (made) => {
      access = { plan, tenants: made }
      writeAccess(accessFile, access)
    },
  })
  return access
}
