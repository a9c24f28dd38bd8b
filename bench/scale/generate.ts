import pg from 'pg'
import { keyCheckPlace, keyCheckText } from '#server/access/index.ts'
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
  /** The owner of the tables: COPY is refused to anybody for whom the walls stand. */
  readonly owner: pg.ClientConfig
  readonly database: Database
  readonly secretKeys: SecretKeys
  readonly plan: ScalePlan
  /** Where the credentials of the tenants go. */
  readonly accessFile: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly onProgress?: (written: number, total: number) => void
  /** Asked after each chunk. */
  readonly isStopping?: () => boolean
}

export interface Generated {
  readonly finished: boolean
  /** Quotes that this run wrote. */
  readonly written: number
  readonly access: ScaleAccess
}

/** The data that are asked for cannot be made here; said in words for who asked. */
export class GenerateRefused extends Error {}

/**
 * Writes scale data, chunk by chunk, each a transaction: stopped or killed, the same call goes on where it stopped, and
 * no quote is there twice. Ends with the planner's statistics and what indexes may answer alone up to date.
 */
export async function generate(options: GenerateOptions): Promise<Generated> {
  const { database, secretKeys, onProgress = () => {}, isStopping = () => false } = options
  await keepKeyCheck(database, secretKeys)
  const client = new pg.Client(options.owner)
  await client.connect()
  try {
    const access = await tenantsFor(client, options)
    const tenants = tenantsOf(access.plan)
    const firstTenant = tenants[0]?.tenantId ?? 0
    const total = quotesOf(tenants)
    const chunks = chunksOf(total)
    const lanesOfTenant = lanesRemembered(access.plan)
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
      // As PostgreSQL does by itself within a minute or so of many new rows: until then it looks at each row that an index
      // names.
      await client.query('vacuum (analyze)')
    }
    return { finished, written: reached(chunk) - reached(from), access }
  } finally {
    await client.end()
  }
}

/** The lanes of the tenant at hand: a chunk often goes on with the tenant that the one before ended in. */
function lanesRemembered(plan: ScalePlan): (tenant: PlannedTenant) => TenantLanes {
  let last: { tenant: PlannedTenant; lanes: TenantLanes } | undefined
  return (tenant) => {
    if (last?.tenant !== tenant) last = { tenant, lanes: lanesOf(plan, tenant) }
    return last.lanes
  }
}

/** Tokens and secrets are worth nothing under another key than the service's. */
async function keepKeyCheck(database: Database, secretKeys: SecretKeys): Promise<void> {
  const known = await database.outsideTenants(readKeyCheck)
  if (known === null) {
    const sealed = seal(secretKeys[0], keyCheckPlace, keyCheckText)
    await database.outsideTenants((transaction) => writeKeyCheck(transaction, sealed))
  } else if (unsealWithAny(secretKeys, keyCheckPlace, known) !== keyCheckText)
    throw new GenerateRefused('The secret key is not the one that this database was made with.')
}

/** The credentials of the plan's tenants, which are made where they are not there yet. */
async function tenantsFor(client: pg.Client, options: GenerateOptions): Promise<ScaleAccess> {
  const { plan, accessFile, secretKeys, now } = options
  const tenants = tenantsOf(plan)
  const { rows } = await client.query<{ count: string }>(
    'select count(*) from tenants where tenant_id = any ($1::integer[])',
    [tenants.map(({ tenantId }) => tenantId)],
  )
  const there = Number(rows[0]?.count ?? 0)
  const kept = readAccess(accessFile)
  if (kept !== null && !isSamePlan(kept.plan, plan)) {
    throw new GenerateRefused(
      `${accessFile} holds the credentials of other data (${JSON.stringify(kept.plan)}). Ask for those, or name another file with --access.`,
    )
  }
  if (there === tenants.length) {
    if (kept !== null) return kept
    throw new GenerateRefused(
      `These brokerages are in the database already, and their credentials are not in ${accessFile}. Bring that file back, or take another --seed.`,
    )
  }
  if (there > 0)
    throw new GenerateRefused('Some of these brokerages are somebody else’s. Take another --seed.')
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
