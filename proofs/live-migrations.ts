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

/** The longest that a request may wait while the schema changes. */
const stallMsMax = 1_000

/** The first migration of a later version: it adds tables and columns that the old version does not use. */
const expand = `
  alter table quotes add column appointment_notes text;
  create table rebates (tenant_id integer not null references tenants, rebate_id integer, primary key (tenant_id, rebate_id));
  alter table rebates enable row level security;
  alter table rebates force row level security;
  create policy tenant_isolation on rebates for all
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
    with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
  alter table quotes add constraint notes_are_short check (length(appointment_notes) < 1000) not valid;`
/** The second migration, after the last instance of the old version: it removes what only the old version used. */
const contract = `
  alter table quotes validate constraint notes_are_short;
  alter table quotes drop column appointment_notes;
  drop table rebates;`
/** A forbidden migration: for two seconds, it locks a table that every request uses. */
const rewrite = `
  alter table quotes add column weather text;
  select pg_sleep(2);`

interface Asked {
  readonly began: number
  readonly ended: number
  /** What was wrong with the response; null if it was right. */
  readonly fault: string | null
}

/** Calls `ask` about `perSecond` times per second until it is stopped. */
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

type Load = ReturnType<typeof repeatedly>

/** Starts reads of all brokerages in turn, and signed updates of some: about fifty requests per second in total. */
function requests(app: TestApp, read: readonly LiveBrokerage[], written: readonly LiveBrokerage[]): Load[] {
  const header = (of: LiveBrokerage) => ({ Authorization: `Bearer ${tokenOf(of, app.tokens, app.now)}` })
  const faultOf = async (answer: Response) => {
    const text = await answer.text()
    return answer.status === 200 || answer.status === 429 ? null : `${answer.status} ${text.slice(0, 200)}`
  }
  const readers = [0, 1, 2].map((first) =>
    repeatedly(12, async (nth) => {
      const of = read[(first + nth * 3) % read.length] as LiveBrokerage
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

async function answersAbout(app: TestApp, brokerages: readonly LiveBrokerage[]): Promise<string[]> {
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

/** The longest duration of a request that was in progress between two moments. */
function longest(loads: readonly Load[], from: number, to: number): number {
  const within = loads
    .flatMap(({ asked }) => asked)
    .filter(({ began, ended }) => ended >= from && began <= to)
  return Math.max(0, ...within.map(({ began, ended }) => ended - began))
}

/**
 * Applies the next migrations to a database while the service of this version runs on it. The service must answer every
 * request in time, and its answers about each brokerage must be the same before and after.
 */
async function migrateLive(
  { cluster, onProgress, signal }: ProofOptions,
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

  /** Applies the next migrations up to number `count`, and records the longest wait of any request meanwhile. */
  async function step(count: number) {
    const { name = '' } = next[count - 1] ?? {}
    await delay(pauseMs)
    const began = performance.now()
    await Promise.all([
      migrate(database.owner, () => {}, [...all, ...next.slice(0, count)]),
      holdReadLock(database.ownerUrl),
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
    await migrate(database.owner, () => {}, all)
    const read = [await brokerage(1, lanes), await brokerage(2, 30), await brokerage(3, 30)]
    const written = [await brokerage(4, 4), await brokerage(5, 4), await brokerage(6, 4)]
    app = await appOn(database, { secretKeys: [key], now })
    const before = await answersAbout(app, read)
    loads = requests(app, read, written)
    for (let count = 1; count <= next.length && !signal.aborted; count++) await step(count)
    await Promise.all(loads.map((load) => load.stop()))
    const asked = loads.flatMap((load) => load.asked)
    faults.push(...asked.flatMap(({ fault }) => fault ?? []))
    const after = await answersAbout(app, read)
    for (const [nth, answer] of before.entries()) {
      if (answer !== after[nth] || !answer.startsWith('200 '))
        faults.push(`the answer changed from ${answer.slice(0, 300)} to ${after[nth]?.slice(0, 300)}`)
    }
    if (asked.length < next.length * 10) faults.push('too few requests to test anything')
    for (const { name, ms } of waits) {
      if (ms > stallMsMax) faults.push(`a request waited ${Math.round(ms)} ms while ${name} was applied`)
    }
    const slowest = Math.max(0, ...waits.map(({ ms }) => ms))
    return {
      figure: `${waits.length} migrations of a database with ${lanes} lanes in one brokerage, ${asked.length} requests meanwhile; the longest wait ${Math.round(slowest)} ms`,
      faults: firstFaults(faults),
    }
  } finally {
    await Promise.all(loads.map((load) => load.stop()))
    await app?.close()
    await owner.end()
    await database.drop()
  }
}

/** Opens a transaction that holds a read lock on `quotes` for longer than a migration waits for a lock. */
async function holdReadLock(ownerUrl: string): Promise<void> {
  const reader = new pg.Client({ connectionString: ownerUrl })
  await reader.connect()
  await reader.query('begin; select from quotes limit 0')
  await delay(700)
  await reader.query('commit')
  await reader.end()
}

export const liveMigrations: Proof = {
  name: 'live-migrations',
  claim:
    'A migration is applied while the service runs: no request fails or waits for a second, and the answers stay the same',
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
