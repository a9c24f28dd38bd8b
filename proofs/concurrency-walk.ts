import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { seededRandom } from '#server/sample/index.ts'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import type { TestDatabase } from '#testing/cloned-database.ts'
import { type Rewrite, rewriteStatements } from './tenant-conditions.ts'

/**
 * Fifty brokerages share two database connections. They read, write and ask for each other's quotes in an order that follows
 * from a seed, while some callers hang up and connections are terminated. Every response must contain only the caller's data.
 */
export interface ConcurrencyWalkOptions {
  readonly requests: number
  /** Determines the requests, but not their timing. */
  readonly seed: number
  readonly onProgress?: (done: number, of: number) => void
  readonly signal?: AbortSignal
  readonly makeDatabase: () => Promise<TestDatabase>
  /** Plants a fault: rewrites a statement that the service sends on `connection`. */
  readonly rewrite?: Rewrite
}

export interface ConcurrencyWalkResult {
  readonly requests: number
  readonly answered: number
  /** The number of 503 responses, truncated exports and failed reads outside tenants, while connections were terminated. */
  readonly unavailable: number
  /** Requests whose caller hung up before the response. */
  readonly aborted: number
  /** How often all database connections of the service were terminated. */
  readonly resets: number
  /** One line per violation; at most 100. */
  readonly faults: readonly string[]
}

const tenantsTotal = 50
const callersAtOnce = 16
const quotesEach = 3
const abortedShare = 0.08
const requestsPerReset = 250
const faultsKept = 100

interface Brokerage {
  readonly number: number
  readonly tenant: number
  readonly canary: string
  readonly dashboard: string
  readonly service: string
  readonly laneRefs: readonly string[]
}

export async function concurrencyWalk(options: ConcurrencyWalkOptions): Promise<ConcurrencyWalkResult> {
  const database = await options.makeDatabase()
  const restore = rewriteStatements(options.rewrite)
  const app = await appOn(database, { connectionsMax: 2 })
  try {
    return await walk(app, options)
  } finally {
    restore()
    await app.close()
    await database.drop()
  }
}

/** Inserts a brokerage in which every name contains its canary. */
async function makeBrokerage(owner: pg.Client, app: TestApp, number: number): Promise<Brokerage> {
  const tenant = 500_000_000 + number
  const canary = `CANARY-T${String(number).padStart(2, '0')}-`
  const jti = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
  const request = 9_000_000 + number * 100
  const laneRefs = Array.from({ length: quotesEach }, (_, lane) => `${request}-${lane + 1}-1`)
  const at = new Date(app.now).toISOString()
  const end = new Date(app.now + 86_400_000).toISOString()
  const lanes = laneRefs.map(
    (ref, lane) =>
      `(${tenant}, ${request * 10 + lane}, '${ref}', ${request}, ${lane + 1}, 1, '${canary}origin', '${canary}destination',
        'dallas|TX', 'atlanta|GA', 'TX', 'GA', 'V', 'V', '${canary}customer', 200000, 'won', '${at}', '${at}', '${at}', 1)`,
  )
  await owner.query(`
    begin;
    select set_config('app.tenant_id', '${tenant}', true);
    insert into tenants (tenant_id, name, created_at) values (${tenant}, '${canary}company', '${at}');
    insert into users (tenant_id, user_id, name, email, role, status, created_at)
      values (${tenant}, 1, '${canary}owner', '${canary}@example.com', 'owner', 'active', '${at}');
    insert into sessions (tenant_id, session_id, user_id, created_at, expires_at)
      values (${tenant}, '${jti}', 1, '${at}', '${end}');
    insert into service_tokens (tenant_id, token_id, jti, name, scope, user_id, created_at, expires_at)
      values (${tenant}, 1, '${jti}', '${canary}token', 'integrations:write', 1, '${at}', '${end}');
    insert into quote_requests (tenant_id, request_id, customer_name, created_at)
      values (${tenant}, ${request}, '${canary}customer', '${at}');
    insert into quotes (tenant_id, lane_id, lane_ref, request_id, lane_number, quote_count, origin, destination,
      origin_key, destination_key, origin_state, destination_state, equipment, equipment_code, quoted_customer_name,
      quoted_rate_cents, outcome, decided_at, created_at, updated_at, created_by) values ${lanes.join(', ')};
    commit`)
  const claims = {
    tenant_id: tenant,
    user_id: 1,
    role: 'owner',
    jti,
    iat: Math.floor(app.now / 1000),
    exp: Math.floor(app.now / 1000) + 86_400,
  }
  return {
    number,
    tenant,
    canary,
    laneRefs,
    dashboard: app.tokens.sign('dashboard', { ...claims, scope: 'dashboard' }),
    service: app.tokens.sign('service', { ...claims, scope: 'integrations:write' }),
  }
}

interface Ask {
  readonly what: string
  readonly method: string
  readonly path: string
  readonly token: string
  readonly body?: object
  /** The allowed statuses, and whether the response must contain the caller's canary. */
  readonly statuses: readonly number[]
  readonly shows: boolean
}

function nextAsk(random: () => number, own: Brokerage, other: Brokerage): Ask {
  const from = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const read = (what: string, path: string, token = own.dashboard): Ask => ({
    what,
    method: 'GET',
    path,
    token,
    statuses: [200],
    shows: true,
  })
  const corridor = 'origin=Dallas,%20TX&destination=Atlanta,%20GA'
  const ref = from(own.laneRefs)
  return from<() => Ask>([
    () => read('lanes', '/api/lanes?limit=5'),
    () => read('lane', `/api/lanes/${ref}`),
    () => read('users', '/api/users'),
    () => read('me', '/api/me'),
    () => read('record', `/api/lane-record?${corridor}`),
    () => read('customers', '/api/customers'),
    () => read('export', '/api/lanes/export'),
    () => ({
      ...read('insight', `/api/integrations/insights/lane?${corridor}`, own.service),
      shows: false,
    }),
    () => ({ ...read('foreign lane', `/api/lanes/${from(other.laneRefs)}`), statuses: [404], shows: false }),
    () => ({
      what: 'outcome',
      method: 'POST',
      path: `/api/lanes/${ref}/outcome`,
      token: own.dashboard,
      body: { outcome: from(['won', 'lost', 'pending']) },
      // 409: another caller of the same brokerage is changing the same quote.
      statuses: [200, 409],
      shows: false,
    }),
    () => ({
      what: 'requote',
      method: 'POST',
      path: `/api/lanes/${ref}/requote`,
      token: own.dashboard,
      body: { quoted_rate: 1000 + Math.floor(random() * 1000) },
      statuses: [201, 409],
      shows: false,
    }),
    () => ({
      what: 'foreign outcome',
      method: 'POST',
      path: `/api/lanes/${from(other.laneRefs)}/outcome`,
      token: own.dashboard,
      body: { outcome: 'lost' },
      statuses: [404],
      shows: false,
    }),
  ])()
}

async function walk(app: TestApp, options: ConcurrencyWalkOptions): Promise<ConcurrencyWalkResult> {
  const { requests, seed, onProgress, signal } = options
  const { uniform: random } = seededRandom(seed)
  const owner = new pg.Client(app.testDatabase.owner)
  // A role may terminate its own connections only.
  const service = new pg.Client(app.testDatabase.service)
  await owner.connect()
  await service.connect()
  const brokerages: Brokerage[] = []
  for (let number = 0; number < tenantsTotal; number++) {
    brokerages.push(await makeBrokerage(owner, app, number))
  }
  const faults: string[] = []
  const fault = (line: string) => {
    if (faults.length < faultsKept) faults.push(line)
  }
  let [done, answered, unavailable, aborted, resets] = [0, 0, 0, 0, 0]

  async function ask(own: Brokerage, asked: Ask, hangUpAfterMs: number | null): Promise<void> {
    const who = `${own.canary} ${asked.what}`
    const hangUp = new AbortController()
    const timer = hangUpAfterMs === null ? undefined : setTimeout(() => hangUp.abort(), hangUpAfterMs)
    try {
      const response = await fetch(`${app.url}${asked.path}`, {
        method: asked.method,
        headers: {
          Authorization: `Bearer ${asked.token}`,
          ...(asked.body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(asked.body === undefined ? {} : { body: JSON.stringify(asked.body) }),
        signal: hangUp.signal,
      })
      const text = await response.text()
      const foreign = [...text.matchAll(/CANARY-T\d+-/g)].find(([canary]) => canary !== own.canary)
      if (foreign !== undefined) fault(`${who} returned ${foreign[0]}`)
      if (response.status === 503) {
        unavailable += 1
        return
      }
      answered += 1
      if (!asked.statuses.includes(response.status)) fault(`${who} returned ${response.status}`)
      else if (asked.shows && !text.includes(own.canary)) fault(`${who} did not return its own data`)
    } catch (error) {
      if (hangUp.signal.aborted) aborted += 1
      // An export is truncated if its connection is terminated.
      else if (asked.what === 'export') unavailable += 1
      else fault(`${who} failed: ${String(error)}`)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Checks that no rows are visible outside a tenant's transaction, whichever tenant used the connection before. */
  async function askOutside(): Promise<void> {
    try {
      const { rows } = await app.database.outsideTenants((transaction) =>
        sql<{ count: number }>`select count(*) as count from quotes`.execute(transaction),
      )
      answered += 1
      if (rows[0]?.count !== 0) fault(`outside all tenants ${rows[0]?.count} lanes were visible`)
    } catch {
      unavailable += 1
    }
  }

  async function caller(): Promise<void> {
    while (done < requests && signal?.aborted !== true) {
      done += 1
      const own = brokerages[Math.floor(random() * tenantsTotal)] as Brokerage
      const other = brokerages[
        (own.number + 1 + Math.floor(random() * (tenantsTotal - 1))) % tenantsTotal
      ] as Brokerage
      const asked = nextAsk(random, own, other)
      const hangUpAfterMs = random() < abortedShare ? random() * 15 : null
      if (done % requestsPerReset === 0) {
        resets += 1
        await service.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and usename = current_user and pid <> pg_backend_pid()`,
        )
      }
      if (random() < 0.05) await askOutside()
      else await ask(own, asked, hangUpAfterMs)
      if (done % 500 === 0) onProgress?.(done, requests)
    }
  }

  try {
    await Promise.all(Array.from({ length: callersAtOnce }, caller))
    // Requests whose callers hung up must finish first.
    await wait(300)
    await app.settle()
    for (const brokerage of brokerages) await expectOwnRows(owner, brokerage, fault)
  } finally {
    await owner.end()
    await service.end()
  }
  return { requests: done, answered, unavailable, aborted, resets, faults }
}

/** Checks that the rows of a brokerage contain only its own canary. */
async function expectOwnRows(
  owner: pg.Client,
  { tenant, canary }: Brokerage,
  fault: (line: string) => void,
): Promise<void> {
  await owner.query(`set app.tenant_id = '${tenant}'`)
  for (const table of ['tenants', 'users', 'quote_requests', 'quotes', 'quote_changes']) {
    const { rows } = await owner.query<{ row: string }>(
      `select t::text as row from ${table} t where tenant_id = $1`,
      [tenant],
    )
    const foreign = rows.filter(({ row }) =>
      [...row.matchAll(/CANARY-T\d+-/g)].some(([found]) => found !== canary),
    )
    if (foreign.length > 0) fault(`${table} of ${canary} contains ${foreign.length} rows of other tenants`)
    if (rows.length === 0 && table === 'quotes') fault(`${canary} has lost its quotes`)
  }
}

/** The statement that opens a tenant's transaction; see connection.ts. */
const transactionStart = /^begin; select enter_tenant\('(\d+)', \d+, \d+, \d+\)/

/** A planted fault: sets the tenant for the connection instead of the transaction. */
export const setForConnection: Rewrite = (statement) =>
  statement.replace(transactionStart, "begin; select set_config('app.tenant_id', '$1', false)")

/** A planted fault: all transactions of a connection have the tenant of its first. */
export function keepFirstTenant(): Rewrite {
  const opened = new WeakSet<object>()
  return (statement, connection) => {
    if (!transactionStart.test(statement)) return statement
    if (opened.has(connection)) return 'begin'
    opened.add(connection)
    return setForConnection(statement, connection)
  }
}
