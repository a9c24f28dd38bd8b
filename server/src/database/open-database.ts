import { randomBytes } from 'node:crypto'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { type Identifiers, identifiers } from './identifiers.ts'
import { Patience, spendPatience, withPatience } from './patience.ts'
import type { Tables } from './tables.ts'

/** Made in one place, from a verified token or a sign-in; never from a number somebody sent. */
export type TenantId = number & { readonly __tenant: unique symbol }

/** The one place that makes a TenantId. The number comes from a verified credential or from our own database. */
export function tenantId(verified: number): TenantId {
  if (!Number.isInteger(verified) || verified < 1 || verified > 2_147_483_647) {
    throw new RangeError('Not a tenant id.')
  }
  return verified as TenantId
}

/** A transaction of one tenant: what every function of this folder takes first. */
export type TenantTransaction = Kysely<Tables>

/** Transactions that have changed a tenant's lanes: the version of its facts moves on as they commit. */
const changedFacts = new WeakSet<TenantTransaction>()

/** Says that this transaction changes what advice is made of. Whoever writes lanes calls it. */
export function factsChanged(transaction: TenantTransaction): void {
  changedFacts.add(transaction)
}

/** The newest row of a tenant's audit log. */
export interface AuditHead {
  readonly tenant: TenantId
  readonly entry: number
  readonly hash: Buffer
}

/** Transactions that have appended to a tenant's audit log, with the row that is its newest once they commit. */
const movedAudits = new WeakMap<TenantTransaction, AuditHead>()

/** Says that this transaction has appended to the audit log. Who appends calls it. */
export function auditMoved(transaction: TenantTransaction, head: AuditHead): void {
  movedAudits.set(transaction, head)
}

export interface Database {
  readonly identifiers: Identifiers
  /** Runs `work` in one transaction that sees one tenant's rows only, and commits it. */
  inTenant<T>(tenant: TenantId, work: (transaction: TenantTransaction) => Promise<T>): Promise<T>
  /** The few questions asked before a tenant is known: sign-in by e-mail, the installation. No tenant row is visible. */
  outsideTenants<T>(work: (transaction: TenantTransaction) => Promise<T>): Promise<T>
  /** Answers within the patience of one request or throws DatabaseUnavailable. */
  ping(): Promise<{ databaseNow: Date }>
  /** The newest rows of the audit logs that were appended to through here since this was last asked. */
  takeAuditHeads(): AuditHead[]
  close(): Promise<void>
}

/** The database cannot be reached, is too slow, is full or is going down. Never an answer about data. */
export class DatabaseUnavailable extends Error {
  /** True when the connection was lost while committing: the change may or may not have been made. */
  readonly outcomeUnknown: boolean
  constructor(cause: unknown, outcomeUnknown = false) {
    super('The database cannot answer.', { cause })
    this.name = 'DatabaseUnavailable'
    this.outcomeUnknown = outcomeUnknown
  }
}

/** A row lock was not had in time: somebody else is changing the same thing. */
export class LockTimeout extends Error {
  constructor(cause: unknown) {
    super('Somebody else is changing the same row.', { cause })
    this.name = 'LockTimeout'
  }
}

const statementTimeoutMs = 2_000
/** A stalled network gives no error at all; this ends the wait on our side, after the database had its chance. */
const answerTimeoutMs = 2_500
/** Waiting for a free connection, or making a new one: a busy machine needs some hundred milliseconds for the latter. */
const poolWaitMs = 1_000
/** Under the statement time-out, so that a wait for a lock is told apart from a slow statement. */
const lockTimeoutMs = 1_500

const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    // int8: every one of ours is below 2^53, which an identifier and a count can never reach.
    if (oid === pg.types.builtins.INT8 && format !== 'binary') return Number
    // date: a calendar day stays the text it is; a Date would move it by the server's zone.
    if (oid === pg.types.builtins.DATE && format !== 'binary') return (text: string) => text
    return pg.types.getTypeParser(oid, format ?? 'text')
  },
} as pg.CustomTypesConfig

export interface DatabaseOptions {
  readonly connection: pg.PoolConfig
  readonly connectionsMax?: number
  readonly onIdleError?: (error: Error) => void
}

/** Opens the pool, and reads the key of the identifiers (made once, at the first start). */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const pool = new pg.Pool({
    ...options.connection,
    max: options.connectionsMax ?? 20,
    connectionTimeoutMillis: poolWaitMs,
    query_timeout: answerTimeoutMs,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: 10_000,
    application_name: 'lanewise',
    types,
  })
  // Without a listener an idle connection that dies would end the process.
  pool.on('error', (error) => options.onIdleError?.(error))
  // The same between two statements of a transaction, where the pool does not listen: the next statement fails instead.
  pool.on('connect', (client) => client.on('error', () => {}))
  const queryBuilders = new WeakMap<pg.PoolClient, Kysely<Tables>>()
  let auditHeads = new Map<TenantId, AuditHead>()

  async function inTransaction<T>(
    opening: string,
    work: (transaction: TenantTransaction) => Promise<T>,
  ): Promise<T> {
    const client = await spendPatience((leftMs) => connected(pool, leftMs)).catch((error: unknown) => {
      throw new DatabaseUnavailable(error)
    })
    let broken = false
    let committing = false
    try {
      await ask(client, opening)
      let queries = queryBuilders.get(client)
      if (queries === undefined) {
        queries = queriesOn(client)
        queryBuilders.set(client, queries)
      }
      changedFacts.delete(queries)
      movedAudits.delete(queries)
      const result = await work(queries)
      if (changedFacts.has(queries)) await moveFactsVersion(queries)
      committing = true
      const { command } = await ask(client, 'commit')
      // A statement failed and the work went on regardless: PostgreSQL answers such a commit with a rollback, not an error.
      if (command !== 'COMMIT')
        throw new Error('The transaction was rolled back: a statement in it had failed.')
      const head = movedAudits.get(queries)
      // Rows are written in order, but the words "it is committed" may arrive in another.
      if (head !== undefined && head.entry > (auditHeads.get(head.tenant)?.entry ?? 0)) {
        auditHeads.set(head.tenant, head)
      }
      return result
    } catch (error) {
      broken = isConnectionLost(error)
      if (!broken) await ask(client, 'rollback').catch(() => (broken = true))
      throw translated(error, committing)
    } finally {
      client.release(broken)
    }
  }

  const database: Omit<Database, 'identifiers'> = {
    inTenant(tenant, work) {
      // A number made by us, so this is no place for an injection; one round trip opens the transaction.
      return inTransaction(`begin; select set_config('app.tenant_id', '${Number(tenant)}', true)`, work)
    },
    outsideTenants: (work) => inTransaction('begin', work),
    async ping() {
      return withPatience(new Patience(), () =>
        inTransaction('begin read only', async (transaction) => {
          const { rows } = await sqlNow(transaction)
          const row = rows[0]
          if (row === undefined) throw new DatabaseUnavailable('no row')
          return { databaseNow: row.now }
        }),
      )
    },
    takeAuditHeads() {
      const heads = [...auditHeads.values()]
      auditHeads = new Map()
      return heads
    },
    close: () => pool.end(),
  }
  const key = await database.outsideTenants(installationKey)
  return { ...database, identifiers: identifiers(key) }
}

/** The last statement of a transaction that changed lanes: writers of one tenant hold its row only while they commit. */
async function moveFactsVersion(transaction: TenantTransaction): Promise<void> {
  await sql`
    insert into tenant_facts (tenant_id, facts_version)
    values (current_setting('app.tenant_id')::integer, 1)
    on conflict (tenant_id) do update set facts_version = tenant_facts.facts_version + 1
  `.execute(transaction)
}

/** A connection of the pool, within a patience that may be shorter than the pool's own. */
async function connected(pool: pg.Pool, leftMs: number): Promise<pg.PoolClient> {
  const connecting = pool.connect()
  if (leftMs >= poolWaitMs) return connecting
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('timeout exceeded when trying to connect')), leftMs)
  try {
    return await Promise.race([connecting, late])
  } catch (error) {
    // One that comes after all is for somebody else.
    connecting.then(
      (client) => client.release(),
      () => {},
    )
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** One statement, within what is left of the patience of the request it is for. */
function ask(
  client: pg.PoolClient,
  text: string,
  values?: readonly unknown[],
): Promise<pg.QueryResult<Record<string, unknown>>> {
  return spendPatience((leftMs) =>
    client.query({
      text,
      ...(values === undefined ? {} : { values: [...values] }),
      query_timeout: Math.min(answerTimeoutMs, leftMs),
    } as pg.QueryConfig),
  )
}

/** A query builder that talks on one connection only, so that no query can leave its transaction. */
function queriesOn(client: pg.PoolClient): Kysely<Tables> {
  const onlyThisConnection = {
    connect: async () => ({
      query: (text: string, values?: readonly unknown[]) => ask(client, text, values),
      release: () => {},
    }),
    end: async () => {},
  }
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: onlyThisConnection as unknown as pg.Pool }),
  })
}

function sqlNow(transaction: TenantTransaction) {
  return sql<{ now: Date }>`select clock_timestamp() as now`.execute(transaction)
}

async function installationKey(transaction: TenantTransaction): Promise<Buffer> {
  await transaction
    .insertInto('installation')
    .values({ id_key: randomBytes(32), key_check: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { id_key } = await transaction.selectFrom('installation').select('id_key').executeTakeFirstOrThrow()
  return id_key
}

/** SQLSTATE classes in which the database, not the request, is at fault: connection, resources, intervention, system. */
const unavailableClasses = new Set(['08', '53', '57', '58', 'XX'])
/** Serialization failure and deadlock: the same request sent again will do. Read-only: a replica or a failover. */
const unavailableStates = new Set(['40001', '40P01', '25006', '25P03', '3D000', '28P01', '28000'])
const networkErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}

function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error)
  // Before the look at SQLSTATEs: EPIPE has five letters, too.
  if (code !== undefined && networkErrors.has(code)) return true
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code)) return code.startsWith('08') || code.startsWith('57P')
  const message = error instanceof Error ? error.message : ''
  return /^(Connection terminated|Query read timeout|Client has encountered a connection error|timeout exceeded)/.test(
    message,
  )
}

function translated(error: unknown, committing: boolean): unknown {
  const code = sqlState(error)
  if (code === '55P03') return new LockTimeout(error)
  const unavailable =
    isConnectionLost(error) ||
    (code !== undefined && (unavailableStates.has(code) || unavailableClasses.has(code.slice(0, 2))))
  return unavailable ? new DatabaseUnavailable(error, committing) : error
}
