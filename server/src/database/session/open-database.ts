import { randomBytes } from 'node:crypto'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { DatabaseClient } from '../hosts/index.ts'
import { hasWorkers, type Tables, type TenantTransaction } from '../schema/index.ts'
import { askChangedTenants, type ChangedTenants } from './changed-tenants.ts'
import { ask, entering, settingTimeouts, type Timeouts, timeoutsNow } from './connection.ts'
import { DatabaseUnavailable, isTimeout, translated } from './database-failures.ts'
import { type Deadlines, usualDeadlines } from './deadlines.ts'
import { type FairConnections, fairConnections, type Shares } from './fair-connections.ts'
import { type CallInTenant, functionCalls } from './function-calls.ts'
import { type Identifiers, identifiers } from './identifiers.ts'
import { RequestDeadline, withDeadline } from './request-deadline.ts'
import type { InTenant, TenantId, TenantVersions, VersionsListener } from './tenant.ts'
import {
  type AuditHead,
  distributedTransactions,
  type Moves,
  movedAudits,
  moves,
} from './transaction-changes.ts'
import { currentViewer } from './viewer.ts'
import { readWorkers, type Worker, WorkerWatch } from './workers.ts'
import { WriteCheck } from './write-check.ts'

export interface Connections {
  readonly open: number
  readonly idle: number
  readonly waiting: number
  readonly max: number
}

export interface Database {
  readonly deadlines: Deadlines
  readonly identifiers: Identifiers
  readonly kind: DatabaseKind
  readonly shares: Shares
  /** Runs `work` in one transaction that sees the rows of one tenant only, and commits it. */
  inTenant<T>(tenant: TenantId, work: (transaction: TenantTransaction) => Promise<T>): Promise<T>
  /**
   * Calls a function of the schema that takes the tenant first, and returns its single value. The call is a transaction
   * of one tenant in one message, for frequent operations that need no decision of the service in between.
   */
  callInTenant: CallInTenant
  /** For the few queries that run before a tenant is known: sign-in by email, the installation. No tenant row is visible. */
  outsideTenants<T>(work: (transaction: TenantTransaction) => Promise<T>): Promise<T>
  /**
   * Like `outsideTenants`, for background work that looks for tenants among all of them. While workers of Citus are away, it
   * finds only tenants on the other workers.
   */
  acrossTenants<T>(work: (transaction: TenantTransaction) => Promise<T>): Promise<T>
  /**
   * The tenants changed by transactions that were not visible at `since`, and the `since` of the next call. With null,
   * only the next `since`. Both are valid only for the `server` that answered. `watched` lists the tenants that the caller needs
   * to know about. It is called only while a worker of Citus is away: then it must be known whose worker answers.
   */
  changedTenants(since: string | null, watched?: () => readonly TenantId[]): Promise<ChangedTenants>
  /** The workers of Citus, asked within the last second; empty without Citus. */
  workers(): Promise<readonly Worker[]>
  /** Calls the listener when a worker of Citus that was away answers again. */
  onWorkerBack(listener: () => void): void
  /** The workers as they were when they were last asked; empty without Citus. */
  workersLastSeen(): readonly Worker[]
  /** Calls the listener for every commit of this process that changes a tenant, before the caller gets the result. */
  onVersionsMoved(listener: VersionsListener): void
  /** The database's time, the migrations that it has, and whether writes work. Throws if it does not answer within one deadline. */
  ping(): Promise<Ping>
  /** Counts of the connections for requests, and of callers that wait for one. */
  connections(): Connections
  /** The newest row of each audit log to which this process has appended since the last call. */
  takeAuditHeads(): AuditHead[]
  close(): Promise<void>
}

export interface Ping {
  readonly databaseNow: Date
  readonly migrations: readonly string[]
  /** A sentence that says why writes cannot work; null if they can. */
  readonly writesRefused: string | null
}

/** Facts that only the database has, and that stay the same while the service runs. */
interface DatabaseKind {
  readonly identifiers: Identifiers
  /** Whether the database has workers of Citus. */
  readonly isDistributed: boolean
  /** The statement timeout of the role, without the setting of a transaction; 0 if it has none. */
  readonly roleMs: number
}

/**
 * How long opening may take, in milliseconds. A busy machine, such as one that starts several programs at once, may need
 * more than a second for a connection, or several for an answer.
 */
const openingMs = 10_000

const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    // int8: all of our identifiers and counts are below 2^53.
    if (oid === pg.types.builtins.INT8 && format !== 'binary') return Number
    // date: keep calendar days as text. A Date would shift them by the server's time zone.
    if (oid === pg.types.builtins.DATE && format !== 'binary') return (text: string) => text
    return pg.types.getTypeParser(oid, format ?? 'text')
  },
} as pg.CustomTypesConfig

export interface DatabaseOptions {
  readonly connection: pg.PoolConfig
  /** The usual deadlines if absent. */
  readonly deadlines?: Deadlines
  readonly connectionsMax?: number
  /** The most concurrent transactions of one brokerage; four if absent. */
  readonly transactionsPerBrokerage?: number
  /** The id of this instance of the service; absent with the embedded database. */
  readonly instance?: string
  readonly onIdleError?: (error: Error) => void
  /**
   * Sets the statement timeout for whole sessions, too, because the session's timeout applies to the statement that begins a
   * transaction. Not for a pooler, which would give the session to other clients.
   */
  readonly setsSessions?: boolean
  /** The same database, opened before with other deadlines: its kind is not read again. */
  readonly like?: Pick<Database, 'kind'>
}

/**
 * Opens the pools, and reads the key of the identifiers (generated once, at the first start).
 *
 * @throws DatabaseUnavailable if the database refuses a connection, or accepts none within ten seconds
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { deadlines = usualDeadlines } = options
  const pool = openPool(options, deadlines, {
    max: options.connectionsMax ?? 20,
    application_name: 'lanewise',
  })
  // The poll for changed tenants runs many times a second. It has its own connection so that it never waits for requests.
  const watchPool = openPool(options, deadlines, {
    max: 1,
    application_name: 'lanewise watch',
  })
  const connections = fairConnections(pool, deadlines, options.transactionsPerBrokerage)
  const { add: onVersionsMoved, notify: onVersions } = versionsListeners()
  const writes = new WriteCheck()
  const transactions = new Transactions(connections, deadlines, onVersions, writes)
  const begin = 'begin'

  const inTenant: InTenant = (tenant, work) =>
    // The tenant is a number of our own, so this cannot inject SQL. One round trip opens the transaction.
    transactions.run(
      tenant,
      (timeouts) => `${begin}; select ${entering(`'${Number(tenant)}'`, timeouts)}${enteringPerson()}`,
      work,
    )
  const outsideTenants = <T>(work: (transaction: TenantTransaction) => Promise<T>) =>
    transactions.run(null, (timeouts) => `${begin}; select ${settingTimeouts(timeouts)}`, work)

  const kind = options.like?.kind ?? (await readKind(outsideTenants))
  const { isDistributed, roleMs } = kind
  transactions.isDistributed = isDistributed
  const workers = new WorkerWatch(isDistributed ? () => outsideTenants(readWorkers) : null)
  return {
    deadlines,
    identifiers: kind.identifiers,
    kind,
    shares: connections.shares,
    inTenant,
    callInTenant: functionCalls({ connections, deadlines, roleMs, isDistributed, onVersions, writes }),
    outsideTenants,
    acrossTenants: (work) =>
      workers.around((away) =>
        outsideTenants(async (transaction) => {
          if (away !== null) await leaveOut(transaction, away)
          return work(transaction)
        }),
      ),
    changedTenants: (since, watched = () => []) =>
      workers.around((reachable) =>
        askChangedTenants(
          { watching: watchPool, pollMs: deadlines.pollMs },
          since,
          options.instance ?? null,
          reachable === null ? null : { tenants: watched(), away: reachable },
        ),
      ),
    workers: () => workers.recent(),
    onWorkerBack: workers.onBack,
    workersLastSeen: () => workers.lastSeen(),
    onVersionsMoved,
    ping: () =>
      withDeadline(new RequestDeadline(deadlines.requestMs), async () => {
        const { isReadOnly, ...answer } = await transactions.run(
          null,
          (timeouts) => `begin read only; select ${settingTimeouts(timeouts)}`,
          timeMigrationsAndMode,
        )
        return { ...answer, writesRefused: await writes.reason(isReadOnly, outsideTenants) }
      }),
    connections: () => ({
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: connections.waiting(),
      max: pool.options.max,
    }),
    takeAuditHeads: () => transactions.takeAuditHeads(),
    close: async () => {
      await Promise.all([pool.end(), watchPool.end()])
    },
  }
}

/** At the first start of a database, makes the key of its identifiers. */
const readKind = (outsideTenants: Database['outsideTenants']): Promise<DatabaseKind> =>
  repeatTimeouts(async () => {
    await outsideTenants(makeInstallation)
    return outsideTenants(readInstallation)
  })

async function readInstallation(transaction: TenantTransaction): Promise<DatabaseKind> {
  const { rows } = await sql<{ ms: number }>`
    select reset_val::integer as ms from pg_settings where name = 'statement_timeout'
  `.execute(transaction)
  return {
    identifiers: identifiers(await installationKey(transaction)),
    isDistributed: await hasWorkers(transaction),
    roleMs: rows[0]?.ms ?? 0,
  }
}

/** Repeats `work` while the database answers too late, for `openingMs` at most. Other failures end the opening at once. */
async function repeatTimeouts<T>(work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const timedOut = error instanceof DatabaseUnavailable && isTimeout(error.cause)
      if (!timedOut || performance.now() - startedAt > openingMs) throw error
    }
  }
}

function openPool(
  { connection, onIdleError, setsSessions = false }: DatabaseOptions,
  { connectionMs, statementMs }: Deadlines,
  settings: pg.PoolConfig,
): pg.Pool {
  const pool = new pg.Pool({
    ...connection,
    ...settings,
    connectionTimeoutMillis: connectionMs,
    types,
    Client: DatabaseClient,
  })
  // Without a listener, the failure of an idle connection would end the process.
  pool.on('error', (error) => onIdleError?.(error))
  pool.on('connect', (client) => {
    // The pool does not watch a connection in use. Ignore its error here, because the next statement fails.
    client.on('error', () => {})
    if (setsSessions) client.query(`set statement_timeout = ${statementMs}`).catch(() => {})
  })
  return pool
}

function versionsListeners(): { add(listener: VersionsListener): void; readonly notify: VersionsListener } {
  const listeners: VersionsListener[] = []
  return {
    add: (listener) => {
      listeners.push(listener)
    },
    notify: (tenant, versions) => {
      for (const listener of listeners) listener(tenant, versions)
    },
  }
}

/** SQL that hides the customers of teams that the current person is not in; empty if nothing is hidden. */
function enteringPerson(): string {
  const viewer = currentViewer()
  return viewer === null ? '' : `; select enter_person(${Number(viewer.userId)})`
}

/** Runs transactions on lent connections, and reports the versions and audit logs that they changed. */
class Transactions {
  readonly #connections: FairConnections
  readonly #deadlines: Deadlines
  readonly #onVersions: VersionsListener
  readonly #writes: WriteCheck
  /** Known only after the first transaction. */
  isDistributed = false
  readonly #queryBuilders = new WeakMap<pg.PoolClient, Kysely<Tables>>()
  #auditHeads = new Map<TenantId, AuditHead>()

  constructor(
    connections: FairConnections,
    deadlines: Deadlines,
    onVersions: VersionsListener,
    writes: WriteCheck,
  ) {
    this.#connections = connections
    this.#deadlines = deadlines
    this.#onVersions = onVersions
    this.#writes = writes
  }

  async run<T>(
    tenant: TenantId | null,
    opening: (timeouts: Timeouts) => string,
    work: (transaction: TenantTransaction) => Promise<T>,
  ): Promise<T> {
    const { client, release, releaseAfterRollback } = await this.#connections.lend(tenant)
    let committing = false
    let versions: TenantVersions | null = null
    try {
      await ask(client, this.#deadlines, opening(timeoutsNow(this.#deadlines)))
      const transaction = this.#queriesFor(client)
      const result = await work(transaction)
      const changes = moves.get(transaction)
      if (changes !== undefined && tenant !== null) {
        versions = await moveVersions(transaction, tenant, changes)
      }
      committing = true
      const { command } = await ask(client, this.#deadlines, 'commit')
      // If a statement failed and the work ignored it, PostgreSQL answers the commit with a rollback and no error.
      if (command !== 'COMMIT') {
        throw new Error('The transaction was rolled back: a statement in it had failed.')
      }
      if (versions !== null && tenant !== null) this.#onVersions(tenant, versions)
      this.#keepAuditHead(movedAudits.get(transaction))
      release()
      return result
    } catch (error) {
      this.#writes.see(error)
      releaseAfterRollback(error)
      if (versions !== null && committing && tenant !== null) this.#onVersions(tenant, null)
      throw translated(error, committing, this.isDistributed)
    }
  }

  takeAuditHeads(): AuditHead[] {
    const heads = [...this.#auditHeads.values()]
    this.#auditHeads = new Map()
    return heads
  }

  /** The query builder of a connection, without the changes that its last transaction recorded. */
  #queriesFor(client: pg.PoolClient): Kysely<Tables> {
    let queries = this.#queryBuilders.get(client)
    if (queries === undefined) {
      queries = queriesOn(client, this.#deadlines)
      this.#queryBuilders.set(client, queries)
    }
    if (this.isDistributed) distributedTransactions.add(queries)
    moves.delete(queries)
    movedAudits.delete(queries)
    return queries
  }

  /** Rows are written in order, but confirmations of commits may arrive in another order. Only the newest row counts. */
  #keepAuditHead(head: AuditHead | undefined): void {
    if (head === undefined) return
    if (head.entry > (this.#auditHeads.get(head.tenant)?.entry ?? 0)) this.#auditHeads.set(head.tenant, head)
  }
}

/**
 * Increments the versions of a tenant, as the last statement of a transaction that changed it: concurrent writers of one
 * tenant lock its row only while they commit.
 */
async function moveVersions(
  transaction: TenantTransaction,
  tenant: TenantId,
  { facts, access, changed, made }: Moves,
): Promise<TenantVersions> {
  const { rows } = await sql<{ versions: TenantVersions }>`
    select advance_versions(
      ${tenant}, ${facts}, ${access}, ${[...changed]}::bigint[]
    ) as versions${made.length === 0 ? sql`` : sql`, announce_quotes(${tenant}, ${made}::bigint[])`}
  `.execute(transaction)
  const [moved] = rows
  if (moved === undefined) throw new Error('The versions of a tenant did not move.')
  return moved.versions
}

/** A query builder that is bound to one connection, so that no query can leave its transaction. */
function queriesOn(client: pg.PoolClient, deadlines: Deadlines): Kysely<Tables> {
  const onlyThisConnection = {
    connect: async () => ({
      query: (text: string, values?: readonly unknown[]) => ask(client, deadlines, text, values),
      release: () => {},
    }),
    end: async () => {},
  }
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: onlyThisConnection as unknown as pg.Pool }),
  })
}

async function timeMigrationsAndMode(transaction: TenantTransaction) {
  const { rows } = await sql<{ databaseNow: Date; migrations: string[]; isReadOnly: boolean }>`
    select clock_timestamp() as "databaseNow", array(select name from schema_migrations) as migrations,
      pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as "isReadOnly"
  `.execute(transaction)
  const [row] = rows
  if (row === undefined) throw new DatabaseUnavailable('no row')
  return row
}

/** Makes this transaction's queries across all tenants leave out the rows on these workers of Citus. */
async function leaveOut(transaction: TenantTransaction, away: readonly number[]): Promise<void> {
  await sql`select set_config('app.workers_away', ${away.join(',')}, true)`.execute(transaction)
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
