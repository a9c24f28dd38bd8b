import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type Migration, migrate, readMigrations } from '#server/database/schema/index.ts'
import { makeDatabase } from '#server/embedded-postgres/index.ts'
import { type SecretKey, secretKey } from '#server/security/index.ts'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { asMaker, type DatabaseCluster, databaseUrl } from '#testing/database-cluster.ts'
import { signedHeaders } from '#testing/make.ts'
import { insights } from './insight-readers.ts'
import { type LiveBrokerage, tokenOf, writeBrokerage } from './live-brokerage.ts'
import { type Finding, firstFaults, type Proof, type ProofOptions, shareOf } from './proof.ts'

/** The longest time that a request may take during a migration. */
const stallMsMax = 1_000

/** The oldest schema on which this version of the service serves reads and signed updates. */
const oldestServed = /-booking-fields\.sql$/

/**
 * Migrations from before the first release that lock a table while they write or count all its rows, so that requests wait on a
 * large database. No migration may be added here: changes to many rows must run in small batches beside the service.
 */
const rewriting = ['0008-search.sql', '0014-quote-counts.sql']

/** A correct migration of a later version, step 1: additions that the old version can ignore. */
const expand = `
  alter table lanes add column appointment_notes text;
  create table rebates (tenant_id integer not null references tenants, rebate_id integer, primary key (tenant_id, rebate_id));
  alter table rebates enable row level security;
  alter table rebates force row level security;
  create policy tenant_isolation on rebates for all
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
  alter table lanes add constraint notes_are_short check (length(appointment_notes) < 1000) not valid;`
/** Step 2, when no instance of the old version is left: removal of what only that version needed. */
const contract = `
  alter table lanes validate constraint notes_are_short;
  alter table lanes drop column appointment_notes;
  drop table rebates;`
/** The planted fault: a migration that locks an important table for two seconds. */
const rewrite = `
  alter table lanes add column weather text;
  select pg_sleep(2);`

interface Asked {
  readonly began: number
  readonly ended: number
  /** The fault in the response, or null. */
  readonly fault: string | null
}

/** Calls `ask` about `perSecond` times per second until `stop` is called. */
function repeatedly(perSecond: number, ask: (nth: number) => Promise<string | null>) {
  const asked: Asked[] = []
  let over = false
  const going = (async () => {
    for (let nth = 0; !over; nth++) {
      const began = performance.now()
      const fault = await ask(nth).catch((error: unknown) => String(error))
      const ended = performance.now()
      asked.push({ began, ended, fault })
      await delay(Math.max(0, 1000 / perSecond - (ended - began)))
    }
  })()
  return {
    asked,
    async stop() {
      over = true
      await going
    },
  }
}

/** Runs statements that every version of the service has used, on one connection of the service role. */
async function statementLoad(serviceUrl: string, { tenant, laneRefs }: PastBrokerage) {
  const client = new pg.Client({ connectionString: serviceUrl })
  client.on('error', () => {})
  await client.connect()
  const load = repeatedly(12, async (nth) => {
    await client.query(`begin; select set_config('app.tenant_id', '${tenant}', true)`)
    await client.query(
      `select avg(quoted_rate_cents) from lanes where tenant_id = $1 and origin_key = 'dallas|TX' and destination_key = 'atlanta|GA'`,
      [tenant],
    )
    const { rows } = await client.query<{ lane_id: string }>(
      'update lanes set customer_rate_cents = $3 where tenant_id = $1 and lane_ref = $2 returning lane_id',
      [tenant, laneRefs[nth % laneRefs.length], 190_000 + nth],
    )
    await client.query(
      `insert into shipment_updates (tenant_id, request_digest, lane_id, signed_at, received_at, token_id, carried, applied, updated)
       values ($1, $2, $3, now(), now(), 1, '{}', '[]', true)`,
      [tenant, randomBytes(32), rows[0]?.lane_id],
    )
    await client.query('commit')
    return null
  })
  return {
    ...load,
    async stop() {
      await load.stop()
      await client.end()
    },
  }
}

type Load = Awaited<ReturnType<typeof statementLoad>>

/** Reads of all brokerages in rotation, and signed updates of some: about 50 requests per second. */
function requestLoad(
  app: TestApp,
  read: readonly PastBrokerage[],
  written: readonly PastBrokerage[],
): Load[] {
  const header = (of: PastBrokerage) => ({ Authorization: `Bearer ${tokenOf(of, app.tokens, app.now)}` })
  const faultOf = async (answer: Response) => {
    const text = await answer.text()
    return answer.status === 200 || answer.status === 429 ? null : `${answer.status} ${text.slice(0, 200)}`
  }
  const readers = [0, 1, 2].map((first) =>
    repeatedly(12, async (nth) => {
      const of = read[(first + nth * 3) % read.length] as PastBrokerage
      return faultOf(await fetch(`${app.url}${insights[nth % 2]}`, { headers: header(of) }))
    }),
  )
  const writers = written.map((of) =>
    repeatedly(5, async (nth) => {
      const bytes = JSON.stringify({
        lane_ref: of.laneRefs[nth % of.laneRefs.length],
        customer_rate: 1000 + nth,
      })
      const token = tokenOf(of, app.tokens, app.now)
      const headers = signedHeaders({ token, secret: of.secret }, bytes, Math.floor(app.now / 1000))
      return faultOf(
        await fetch(`${app.url}/api/integrations/tms/shipment-update`, {
          method: 'POST',
          headers,
          body: bytes,
        }),
      )
    }),
  )
  return [...readers, ...writers]
}

/** Returns the insights of each brokerage as text. */
async function insightsOf(app: TestApp, brokerages: readonly PastBrokerage[]): Promise<string[]> {
  const answers: string[] = []
  for (const of of brokerages) {
    const texts = insights.map(async (path) => {
      const answer = await fetch(`${app.url}${path}`, {
        headers: { Authorization: `Bearer ${tokenOf(of, app.tokens, app.now)}` },
      })
      return `${answer.status} ${await answer.text()}`
    })
    answers.push((await Promise.all(texts)).join('\n'))
  }
  return answers
}

/** Makes an empty database. */
async function emptyDatabase(cluster: DatabaseCluster) {
  const name = `lanewise_test_${randomBytes(6).toString('hex')}`
  await asMaker(cluster.makerUrl, (maker) => makeDatabase(maker, name))
  const [ownerUrl, serviceUrl] = [databaseUrl(cluster.ownerUrl, name), databaseUrl(cluster.serviceUrl, name)]
  return {
    name,
    ownerUrl,
    owner: { connectionString: ownerUrl },
    serviceUrl,
    service: { connectionString: serviceUrl },
    drop: () =>
      asMaker(cluster.makerUrl, async (maker) => {
        await maker.query(`drop database if exists ${name} with (force)`)
      }),
  }
}

/** Returns the duration of the slowest request between two times, in milliseconds. */
function longest(loads: readonly Load[], from: number, to: number): number {
  const within = loads
    .flatMap(({ asked }) => asked)
    .filter(({ began, ended }) => ended >= from && began <= to)
  return Math.max(0, ...within.map(({ began, ended }) => ended - began))
}

/**
 * Applies every migration, and the planted ones, while statements and then the service use the database. At each schema it
 * writes a brokerage with the same quotes; in the end the service must return the same insights for all of them.
 */
async function migrateLive(
  { cluster, slackMs, onProgress, signal }: ProofOptions,
  { lanes, pauseMs, next }: { lanes: number; pauseMs: number; next: readonly Migration[] },
): Promise<Finding> {
  const all = await readMigrations()
  const database = await emptyDatabase(cluster)
  const owner = new pg.Client(database.owner)
  const key = secretKey(randomBytes(32).toString('base64')) as SecretKey
  const now = Date.now()
  const faults: string[] = []
  const waits: { name: string; ms: number }[] = []
  let loads: Load[] = []
  let app: TestApp | null = null

  /** Applies one more migration under load, and records the longest wait. */
  async function step(
    migrations: readonly Migration[],
    whileMigrating: () => Promise<void> = async () => {},
  ) {
    const { name = '' } = migrations.at(-1) ?? {}
    await delay(pauseMs)
    const began = performance.now()
    await Promise.all([
      migrate(database.owner, () => {}, [...all, ...next.slice(0, count)]),
      somebodyReads(database.ownerUrl),
    ])
    const ended = performance.now()
    await delay(pauseMs)
    waits.push({ name, ms: longest(loads, began, ended) })
    onProgress(name)
  }
  const brokerage = (tenant: number, count: number) =>
    writeBrokerage(owner, tenant, { lanes: count, key, now })

  try {
    await owner.connect()
    await migrate(database.owner, () => {}, all.slice(0, 1))
    const busy = await brokerage(1, lanes)
    const written = [await brokerage(2, 4), await brokerage(3, 4), await brokerage(4, 4)]
    past.push(await brokerage(1001, 30))
    loads = await Promise.all([1, 2, 3, 4].map(() => statementLoad(database.serviceUrl, busy)))
    for (let applied = 2; applied <= served && !signal.aborted; applied++) {
      await step(all.slice(0, applied))
      past.push(await brokerage(1000 + applied, 30))
    }
    await endLoads()
    app = await appOn(database, { secretKeys: [key], now })
    const before = await insightsOf(app, past)
    loads = requestLoad(app, past, written)
    const versions = [...all.slice(served), ...planted]
    for (let more = 1; more <= versions.length && !signal.aborted; more++) {
      await step([...all.slice(0, served), ...versions.slice(0, more)], () => holdReadLock(database.ownerUrl))
      if (served + more <= all.length) past.push(await brokerage(1000 + served + more, 30))
    }
    await endLoads()
    const after = await insightsOf(app, past)
    const [first] = after
    const odd = [...before, ...after].filter((answer) => answer !== first || !answer.startsWith('200 '))
    if (odd.length > 0)
      faults.push(
        `${odd.length} insights for the same quotes differ: ${odd[0]?.slice(0, 300)} and ${first?.slice(0, 300)}`,
      )
    if (askedInAll < versions.length * 10) faults.push('too few requests were sent: the proof is empty')
    for (const { name, ms } of waits) {
      if (ms > stallMsMax + slackMs) faults.push(`a request took ${Math.round(ms)} ms during ${name}`)
    }
    const slowest = (among: typeof waits) => {
      const [{ name, ms } = { name: 'none', ms: 0 }] = among.toSorted((one, other) => other.ms - one.ms)
      return `${Math.round(ms)} ms (${name})`
    }
    const [wholeTable, others] = [true, false].map((is) =>
      waits.filter(({ name }) => rewriting.includes(name) === is),
    )
    return {
      figure: `${waits.length} migrations of a database with ${lanes} lanes in one brokerage, ${askedInAll} requests during them; the longest wait ${slowest(others ?? [])}, for migrations that write a whole table ${slowest(wholeTable ?? [])}; ${past.length} past schemas, identical insights`,
      faults: firstFaults(faults),
    }
  } finally {
    await Promise.all(loads.map((load) => load.stop()))
    await app?.close()
    await owner.end()
    await database.drop()
  }
}

/** Holds a read lock on the lanes for longer than a migration waits for its lock. */
async function holdReadLock(ownerUrl: string): Promise<void> {
  const reader = new pg.Client({ connectionString: ownerUrl })
  await reader.connect()
  await reader.query('begin; select from lanes limit 0')
  await delay(700)
  await reader.query('commit')
  await reader.end()
}

export const liveMigrations: Proof = {
  name: 'live-migrations',
  claim:
    'Every migration runs while the service serves requests: no request fails or takes a second, and data of any past schema reads the same',
  fault: 'a migration that locks a table for two seconds',
  run: (options) =>
    migrateLive(options, {
      lanes: shareOf(20_000, options.share, 300),
      pauseMs: Math.max(60, 3_000 * options.share),
      next: [
        { name: '9001-expand.sql', sql: expand },
        { name: '9002-contract.sql', sql: contract },
      ],
    }),
  control: (options) =>
    migrateLive(options, { lanes: 100, pauseMs: 60, next: [{ name: '9001-rewrite.sql', sql: rewrite }] }),
}
