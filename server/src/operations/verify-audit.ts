import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { listTenants, type NamedTenant, type NotedHead, verifyAuditChain } from '../database/queries/index.ts'
import type { Database } from '../database/session/index.ts'
import { atDatabase, atTenant, type CommandDatabase, CommandRefused } from './command-database.ts'

/** The heads of audit logs by brokerage, from the service's log. */
export type LoggedHeads = ReadonlyMap<number, readonly NotedHead[]>

/** Reads the "audit head" lines of a service log, and ignores the others. */
export async function readLoggedHeads(file: string): Promise<LoggedHeads> {
  const heads = new Map<number, NotedHead[]>()
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
  for await (const line of lines) {
    if (!line.includes('"audit head"')) continue
    const { tenant, entry, hash } = readLine(line)
    if (typeof tenant !== 'number' || typeof entry !== 'number' || typeof hash !== 'string') continue
    heads.set(tenant, [...(heads.get(tenant) ?? []), { entry, hash }])
  }
  return heads
}

/** Parses a line of JSON, also after a prefix that a log collector added. */
function readLine(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line.slice(line.indexOf('{')))
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** The result for one audit log: a line to print, and whether it is intact. */
export interface VerifiedLog {
  readonly line: string
  readonly unbroken: boolean
}

/**
 * Verifies the audit logs of all brokerages (or of the named one), compares each with its logged heads, and reports the first wrong
 * row of each. A log is intact when no row was changed, removed or inserted. Truncation is detected up to the last
 * logged head.
 *
 * @throws CommandRefused when the brokerages cannot be listed, or there is none of the name
 */
export async function verifyAuditLogs(
  around: CommandDatabase,
  { named, heads }: { named: string | undefined; heads: LoggedHeads },
): Promise<VerifiedLog[]> {
  if (named !== undefined) {
    return atTenant(around, named, async (database, tenant) => [await verified(database, tenant, heads)])
  }
  return atDatabase(around, async (database, owner) => {
    if (owner === null) {
      throw new CommandRefused(
        'Set MIGRATION_DATABASE_URL, because only the database owner can list the brokerages, or name one by its number (--tenant NUMBER).',
      )
    }
    const tenants = await listTenants(owner)
    const logs: VerifiedLog[] = []
    for (const tenant of tenants) logs.push(await verified(database, tenant, heads))
    for (const number of heads.keys()) {
      if (tenants.some(({ tenant }) => tenant === number)) continue
      logs.push({ line: `(${number}): was logged, and is not in the database`, unbroken: false })
    }
    return logs
  })
}

async function verified(
  database: Database,
  { tenant, name }: NamedTenant,
  heads: LoggedHeads,
): Promise<VerifiedLog> {
  const { rows, newest, wrong } = await verifyAuditChain(
    (work) => database.inTenant(tenant, work),
    tenant,
    heads.get(tenant) ?? [],
  )
  const said =
    wrong === null
      ? `${rows} rows, unbroken${rows === 0 ? '' : `; newest ${newest.toString('hex')}`}`
      : `row ${wrong.entry} ${wrong.why}`
  return { line: `${name} (${tenant}): ${said}`, unbroken: wrong === null }
}
