import { randomBytes } from 'node:crypto'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { hasWorkers, type Tables, type TenantTransaction } from '../schema/index.ts'
import { askChangedTenants, type ChangedTenants } from './changed-tenants.ts'
import { answerTimeoutMs, ask, entering, poolWaitMs, timeouts } from './connection.ts'
import { DatabaseUnavailable, isConnectionLost, translated } from './database-failures.ts'
import { fairConnections } from './fair-connections.ts'
import { type CallInTenant, functionCalls } from './function-calls.ts'
import { type Identifiers, identifiers } from './identifiers.ts'
import { RequestDeadline, withDeadline } from './request-deadline.ts'
import type { TenantId, TenantVersions, VersionsListener } from './tenant.ts'
import { type AuditHead, type Moves, movedAudits, moves } from './transaction-changes.ts'

export interface Connections {
  readonly open: number
  readonly idle: number
  readonly waiting: number
  readonly max: number
}

export interface Database {
  readonly identifiers: Identifiers
  /** Runs `work` in one transaction that sees one tenant's rows only, and commits it. */
  inTenant<T>(tenant: TenantId, work: (transaction: TenantTransaction) => Promise<T>): Promise<T>
  /**
   * Calls a function of the schema that takes the tenant first, and answers its one value: a transaction of one tenant in
   * one message, for what is done often and needs no decision of ours in between.
   */
  callInTenant: CallInTenant
  /** The few questions asked before a tenant is known: sign-in by e-mail, the installation. No tenant row is visible. */
  outsideTenants<T>(work: (transaction: TenantTransaction) => Promise<T>): Promise<T>
  /**
   * The tenants that were moved on by transactions that were not to be seen at `since`, and what to ask with next. With
   * null only the latter. Both mean something to the one `server` only that answered.
   */
  changedTenants(since: string | null): Promise<ChangedTenants>
  /** Tells of every commit of this process that moves a tenant on, before whoever asked for it hears of it. */
  onVersionsMoved(listener: VersionsListener): void
  /** Answers within the patience of one request or throws: the database's time, and the migrations it has. */
  ping(): Promise<{ readonly databaseNow: Date; readonly migrations: readonly string[] }>
  /** The connections for requests: those that are open, those of them that nobody uses, and callers who wait for one. */
  connections(): Connections
  /** The newest rows of the audit logs that were appended to through here since this was last asked. */
  takeAuditHeads(): AuditHead[]
  close(): Promise<void>
}

/** A look at what changed takes a millisecond; one that does not come back soon is as good as none. */
const watchTimeoutMs = 800

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
  /** The instance of the service that asks; absent where the database is its own. */
  readonly instance?: string
  readonly onIdleError?: (error: Error) => void
  /** For a replica: every transaction only reads. */
  readonly readOnly?: boolean
}

/** Opens the pool, and reads the key of the identifiers (made once, at the first start). */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const pool = new pg.Pool({
    ...options.connection,
    max: options.connectionsMax ?? 20,
    connectionTimeoutMillis: poolWaitMs,
    query_timeout: answerTimeoutMs,
    application_name: 'lanewise',
    types,
  })
  // Without a listener an idle connection that dies would end the process.
  pool.on('error', (error) => options.onIdleError?.(error))
  // The same between two statements of a transaction, where the pool does not listen: the next statement fails instead.
  pool.on('connect', (client) => client.on('error', () => {}))
  const connections = fairConnections(pool)
  const queryBuilders = new WeakMap<pg.PoolClient, Kysely<Tables>>()
  let auditHeads = new Map<TenantId, AuditHead>()
  const listeners: VersionsListener[] = []
  const tell: VersionsListener = (tenant, versions) => {
    for (const listener of listeners) listener(tenant, versions)
  }
  // A question that is asked many times a second has a connection of its own: it does not wait behind requests.
  const watching = new pg.Pool({
    ...options.connection,
    max: 1,
    connectionTimeoutMillis: poolWaitMs,
    query_timeout: watchTimeoutMs,
    application_name: 'lanewise watch',
    types,
  })
  watching.on('error', (error) => options.onIdleError?.(error))

  const begin = options.readOnly === true ? 'begin read only' : 'begin'
  async function inTransaction<T>(
    tenant: TenantId | null,
    opening: string,
    work: (transaction: TenantTransaction) => Promise<T>,
  ): Promise<T> {
    const { client, release } = await connections.lend(tenant)
    let broken = false
    let committing = false
    let moving = false
    let versions: TenantVersions | null = null
    try {
      await ask(client, opening)
      let queries = queryBuilders.get(client)
      if (queries === undefined) {
        queries = queriesOn(client)
        queryBuilders.set(client, queries)
      }
      moves.delete(queries)
      movedAudits.delete(queries)
      const result = await work(queries)
      const moved = moves.get(queries)
      if (moved !== undefined && tenant !== null) {
        versions = await moveVersions(queries, tenant, moved)
        moving = true
      }
      committing = true
      const { command } = await ask(client, 'commit')
      // A statement failed and the work went on regardless: PostgreSQL answers such a commit with a rollback, not an error.
      if (command !== 'COMMIT')
        throw new Error('The transaction was rolled back: a statement in it had failed.')
      if (moving && tenant !== null) tell(tenant, versions)
      const head = movedAudits.get(queries)
      // Rows are written in order, but the words "it is committed" may arrive in another.
      if (head !== undefined && head.entry > (auditHeads.get(head.tenant)?.entry ?? 0)) {
        auditHeads.set(head.tenant, head)
      }
      return result
    } catch (error) {
      broken = isConnectionLost(error)
      if (moving && committing && tenant !== null) tell(tenant, null)
      if (!broken) await ask(client, 'rollback').catch(() => (broken = true))
      throw translated(error, committing)
    } finally {
      release(broken)
    }
  }

  const database: Omit<Database, 'identifiers' | 'callInTenant'> = {
    inTenant(tenant, work) {
      // A number made by us, so this is no place for an injection; one round trip opens the transaction.
      const opening = `${begin}; select ${entering(`'${Number(tenant)}'`)}`
      return inTransaction(tenant, opening, work)
    },
    outsideTenants: (work) => inTransaction(null, `${begin}; select ${timeouts}`, work),
    async changedTenants(since) {
      try {
        return await askChangedTenants(watching, since, options.instance ?? null)
      } catch (error) {
        throw new DatabaseUnavailable(error)
      }
    },
    onVersionsMoved: (listener) => {
      listeners.push(listener)
    },
    async ping() {
      return withDeadline(new RequestDeadline(), () =>
        inTransaction(null, `begin read only; select ${timeouts}`, async (transaction) => {
          const { rows } = await sqlNow(transaction)
          const row = rows[0]
          if (row === undefined) throw new DatabaseUnavailable('no row')
          return { databaseNow: row.now, migrations: row.migrations }
        }),
      )
    },
    connections: () => ({
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: connections.waiting(),
      max: pool.options.max,
    }),
    takeAuditHeads() {
      const heads = [...auditHeads.values()]
      auditHeads = new Map()
      return heads
    },
    close: async () => {
      await Promise.all([pool.end(), watching.end()])
    },
  }
  if (options.readOnly !== true) await database.outsideTenants(makeInstallation)
  const key = await database.outsideTenants(installationKey)
  const isDistributed = await database.outsideTenants(hasWorkers)
  const callInTenant = functionCalls(connections, { isDistributed, inTenant: database.inTenant, tell })
  return { ...database, callInTenant, identifiers: identifiers(key) }
}

/** The last statement of a transaction that changed something: writers of one tenant hold its row only while they commit. */
async function moveVersions(
  transaction: TenantTransaction,
  tenant: TenantId,
  { facts, access, changed, made }: Moves,
): Promise<TenantVersions> {
  const { rows } = await sql<{ versions: TenantVersions }>`
    select move_tenant(
      ${tenant}, ${facts}, ${access}, ${[...changed]}::bigint[]
    ) as versions${made.length === 0 ? sql`` : sql`, announce_quotes(${tenant}, ${made}::bigint[])`}
  `.execute(transaction)
  const [moved] = rows
  if (moved === undefined) throw new Error('The versions of a tenant did not move.')
  return moved.versions
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
  return sql<{ now: Date; migrations: string[] }>`
    select clock_timestamp() as now, array(select name from schema_migrations) as migrations
  `.execute(transaction)
}

async function makeInstallation(transaction: TenantTransaction): Promise<void> {
  await transaction
    .insertInto('installation')
    .values({ id_key: randomBytes(32), key_check: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

async function installationKey(transaction: TenantTransaction): Promise<Buffer> {
  const { id_key } = await transaction.selectFrom('installation').select('id_key').executeTakeFirstOrThrow()
  return id_key
}
