import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import {
  auditChain,
  type ChainRow,
  type HashChain,
  listTenants,
  type NamedTenant,
  type NotedHead,
  pilotChain,
  verifyChain,
} from '../database/queries/index.ts'
import type { ChainName, Database } from '../database/session/index.ts'
import { atDatabase, atTenant, type CommandDatabase, CommandRefused } from './command-database.ts'

/** A head of a chain, as the service logged it. */
interface LoggedHead extends NotedHead {
  readonly chain: ChainName
}

/** The heads of audit logs and pilots by brokerage, from the service's log. */
export type LoggedHeads = ReadonlyMap<number, readonly LoggedHead[]>

const chainNames = ['audit', 'pilot'] as const

/** Reads the "audit head" and "pilot head" lines of a service log, and ignores the others. */
export async function readLoggedHeads(file: string): Promise<LoggedHeads> {
  const heads = new Map<number, LoggedHead[]>()
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
  for await (const line of lines) {
    const chain = chainNames.find((name) => line.includes(`"${name} head"`))
    if (chain === undefined) continue
    const { tenant, entry, hash } = readLine(line)
    if (typeof tenant !== 'number' || typeof entry !== 'number' || typeof hash !== 'string') continue
    heads.set(tenant, [...(heads.get(tenant) ?? []), { chain, entry, hash }])
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

/** The result for one chain: a line to print, and whether it is intact. */
export interface VerifiedLog {
  readonly line: string
  readonly unbroken: boolean
}

/**
 * Verifies the audit logs and pilots of all brokerages (or of the named one), compares each with its logged heads, and reports
 * the first wrong row of each. A log is intact when no row was changed, removed or inserted. Truncation is detected up to the last
 * logged head.
 *
 * @throws CommandRefused when the brokerages cannot be listed, or there is none of the name
 */
export async function verifyAuditLogs(
  around: CommandDatabase,
  { named, heads }: { named: string | undefined; heads: LoggedHeads },
): Promise<VerifiedLog[]> {
  if (named !== undefined) {
    return atTenant(around, named, (database, tenant) => verified(database, tenant, heads))
  }
  return atDatabase(around, async (database, owner) => {
    if (owner === null) {
      throw new CommandRefused(
        'Set MIGRATION_DATABASE_URL, because only the database owner can list the brokerages, or name one by its number (--tenant NUMBER).',
      )
    }
    const tenants = await listTenants(owner)
    const logs: VerifiedLog[] = []
    for (const tenant of tenants) logs.push(...(await verified(database, tenant, heads)))
    for (const number of heads.keys()) {
      if (tenants.some(({ tenant }) => tenant === number)) continue
      logs.push({ line: `(${number}): was logged, and is not in the database`, unbroken: false })
    }
    return logs
  })
}

async function verified(database: Database, named: NamedTenant, heads: LoggedHeads): Promise<VerifiedLog[]> {
  const logged = heads.get(named.tenant) ?? []
  const audit = await verifiedChain(database, named, auditChain, logged)
  const pilot = await verifiedChain(database, named, pilotChain, logged)
  // Most brokerages have no pilot.
  return pilot.rows === 0 && pilot.unbroken ? [audit] : [audit, pilot]
}

async function verifiedChain<Row extends ChainRow>(
  database: Database,
  { tenant, name }: NamedTenant,
  chain: HashChain<Row>,
  logged: readonly LoggedHead[],
): Promise<VerifiedLog & { readonly rows: number }> {
  const { rows, newest, wrong } = await verifyChain(
    (work) => database.inTenant(tenant, work),
    tenant,
    chain,
    logged.filter((head) => head.chain === chain.name),
  )
  const said =
    wrong === null
      ? `${rows} rows, unbroken${rows === 0 ? '' : `; newest ${newest.toString('hex')}`}`
      : `row ${wrong.entry} ${wrong.why}`
  const what = chain.name === 'audit' ? `(${tenant})` : `(${tenant}), pilot`
  return { line: `${name} ${what}: ${said}`, unbroken: wrong === null, rows }
}
