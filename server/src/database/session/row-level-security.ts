import { type RawBuilder, sql } from 'kysely'
import { hasWorkers, migrationNames, notSpread, type TenantTransaction } from '../schema/index.ts'
import { roleTimeouts } from './deadlines.ts'
import type { Database } from './open-database.ts'
import { gapsQuery, isUnreviewed, rowLevelSecurityGaps } from './row-level-security-gaps.ts'
import { limitWorkerConnect } from './workers.ts'

/** The longest session timeout that is still useful for a waiting caller, in milliseconds. */
const roleTimeoutMsMax = 60_000

/** Settings that make acknowledged changes durable. */
const durable = ['fsync', 'full_page_writes', 'synchronous_commit'] as const

/** The findings of a check of a database, as sentences for an operator. */
export interface DatabaseSafety {
  /** The reasons why this database is not safe to serve from. */
  readonly faults: readonly string[]
  /** The workers of Citus that are away, so that nobody knows whether their shards are isolated. */
  readonly unchecked: readonly string[]
  /** The migrations of a newer version, as after a return to the version before. */
  readonly newer: readonly string[]
  /** Functions that it has added and this version cannot judge. */
  readonly unreviewed: readonly string[]
}

/**
 * Checks whether this database is safe to serve from: at the start, and when a worker of Citus comes back. Row-level security
 * does not restrict a superuser, a role with BYPASSRLS, or the owner of a table. A database without fsync loses acknowledged
 * changes. Without timeouts of the role, a call that is a single message may never end.
 */
export async function databaseSafety(database: Database): Promise<DatabaseSafety> {
  return database.outsideTenants(async (transaction) => {
    const { rows } = await serverQuery.execute(transaction)
    const servers = rows.map(serverFaults)
    const isUnrestricted = servers.some((server) => server.isUnrestricted)
    const workers = await workersSafety(transaction)
    const found = [
      ...servers.flatMap(({ faults }) => faults),
      ...(isUnrestricted ? [] : await missingTimeouts(transaction)),
      ...(isUnrestricted ? [] : await rowLevelSecurityGaps(transaction)),
      ...((await notSpread(transaction)) ?? []).map(
        (table) =>
          `The table ${table} is not distributed over the workers like the others. Run npm run distribute.`,
      ),
      ...workers.faults,
    ]
    const newer = await newerMigrations(transaction)
    // The newer version has reviewed its functions.
    const isReviewed = (fault: string) => newer.length > 0 && isUnreviewed(fault)
    return {
      faults: found.filter((fault) => !isReviewed(fault)),
      unchecked: workers.unchecked,
      newer,
      unreviewed: found.filter(isReviewed),
    }
  })
}

async function newerMigrations(transaction: TenantTransaction): Promise<string[]> {
  const known = await migrationNames()
  const { rows } = await sql<{ name: string }>`select name from schema_migrations order by name`.execute(
    transaction,
  )
  return rows.map(({ name }) => name).filter((name) => !known.includes(name))
}

/** All that `databaseSafety` finds; empty if the database and every worker are safe. */
export async function databaseSafetyFaults(database: Database): Promise<string[]> {
  const { faults, unchecked } = await databaseSafety(database)
  return [...faults, ...unchecked]
}

interface Server {
  readonly role: string
  readonly superuser: boolean
  readonly bypasses: boolean
  readonly owner: boolean
  /** The settings for durability that are off. */
  readonly off: readonly (typeof durable)[number][]
}

/** The role and the settings of one server. It has no parameters, so that Citus can run it on its workers, too. */
const serverQuery = sql<Server>`
  select rolname as role, rolsuper as superuser, rolbypassrls as bypasses,
         exists (select 1 from pg_class c where c.relowner = r.oid and c.relname = 'quotes') as owner,
         array(select name from pg_settings where setting = 'off'
               and name in (${sql.join(durable.map((name) => sql.lit(name)))})) as off
  from pg_roles r where rolname = current_user
`

function serverFaults({ role, superuser, bypasses, owner, off }: Server) {
  const faults = [
    ...off.map(
      (name) => `PostgreSQL runs with ${name} = off: acknowledged changes could be lost. Set it to on.`,
    ),
    ...(superuser
      ? [
          `The role ${role} is a superuser, which row-level security does not restrict. Connect as lanewise_service.`,
        ]
      : []),
    ...(bypasses ? [`The role ${role} has BYPASSRLS. Revoke it: alter role ${role} nobypassrls.`] : []),
    ...(owner
      ? [`The role ${role} owns the tables. Connect as lanewise_service, and run migrations as the owner.`]
      : []),
  ]
  // Row-level security does not restrict such a role at all, so report only that.
  return { faults, isUnrestricted: superuser || bypasses || owner }
}

/** The same faults on the workers of Citus. Each worker has roles, settings and shards of its own. */
async function workersSafety(
  transaction: TenantTransaction,
): Promise<Pick<DatabaseSafety, 'faults' | 'unchecked'>> {
  if (!(await hasWorkers(transaction))) return { faults: [], unchecked: [] }
  await limitWorkerConnect(transaction)
  const servers = await askWorkers<Server>(transaction, serverQuery)
  const reachable = servers.filter(({ rows }) => rows !== null)
  const restricted = reachable.every(({ rows }) => rows?.every((row) => !serverFaults(row).isUnrestricted))
  const gaps = restricted ? await askWorkers(transaction, gapsQuery) : []
  const notAsked = servers.filter(({ rows }) => rows === null)
  // A worker that is not away, but fails this query, may be unsafe.
  const answering = notAsked.length === 0 ? [] : await askWorkers(transaction, sql`select 1 as one`)
  const isAway = (worker: string) => answering.some((one) => one.worker === worker && one.rows === null)
  const cannot = ({ worker, error }: (typeof servers)[number]) =>
    `The worker ${worker} cannot be checked: ${error}`
  return {
    faults: [
      ...notAsked.filter(({ worker }) => !isAway(worker)).map(cannot),
      ...reachable.flatMap(({ worker, rows }) =>
        (rows ?? [])
          .flatMap((row) => serverFaults(row).faults)
          .map((fault) => `The worker ${worker}: ${fault}`),
      ),
      ...gaps.flatMap(({ worker, rows }) =>
        (rows ?? []).map(({ fault }) => `The worker ${worker}: ${fault}`),
      ),
    ],
    unchecked: notAsked.filter(({ worker }) => isAway(worker)).map(cannot),
  }
}

/** Runs a query without parameters on every worker, with the role of the transaction. `rows` is null if a worker failed. */
async function askWorkers<Row>(transaction: TenantTransaction, query: RawBuilder<Row>) {
  const { sql: text } = query.compile(transaction)
  const { rows } = await sql<{ worker: string; success: boolean; result: string }>`
    select nodename || ':' || nodeport as worker, success, result
    from run_command_on_workers(${`select coalesce(json_agg(answer), '[]') from (${text}) as answer`})
    order by 1
  `.execute(transaction)
  return rows.map(({ worker, success, result }) => ({
    worker,
    rows: success ? (JSON.parse(result) as Row[]) : null,
    error: success ? null : result,
  }))
}

/** The timeouts that new sessions of this role do not have. Settings of this transaction do not count. */
async function missingTimeouts(transaction: TenantTransaction): Promise<string[]> {
  const { rows } = await sql<{ role: string; name: string; ms: number }>`
    select current_user as role, name, reset_val::bigint as ms from pg_settings
    where name = any (${roleTimeouts.map(({ name }) => name)})
  `.execute(transaction)
  return roleTimeouts.flatMap(({ name, value }) => {
    const { role, ms } = rows.find((row) => row.name === name) ?? { role: 'lanewise_service', ms: 0 }
    if (ms > 0 && ms <= roleTimeoutMsMax) return []
    return [
      `Sessions of the role ${role} have ${ms === 0 ? 'no' : 'too long a'} ${name}. Run as a superuser: alter role ${role} set ${name} = '${value}'; then restart the connections of any pooler.`,
    ]
  })
}
