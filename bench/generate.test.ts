/** @module-tag long */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPlace } from '#engine/place.ts'
import { databaseSafetyFaults } from '#server/database/session/index.ts'
import { lanePlaces } from '#server/quotes/index.ts'
import { secretKeys } from '#server/security/index.ts'
import { appOn } from '#testing/app-on-database.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { rateFor, readPath, readsOfAll } from './load/request-pool.ts'
import { signedUpdate } from './load/signed-updates.ts'
import { type Generated, GenerateRefused, generate } from './scale/generate.ts'
import { type ScalePlan, tenantsOf } from './scale/plan.ts'
import { lanesOf } from './scale/tenant-lanes.ts'
import { withDatabase } from './scale/with-database.ts'

const keys = secretKeys(randomBytes(32).toString('base64')) ?? fail()
const now = Date.parse('2026-11-01T12:00:00Z')
const plan: ScalePlan = {
  quotes: 2_000,
  tenants: 20,
  seed: 7,
  until: '2026-11-01',
  brokerage: 19_100,
}

interface Made {
  readonly database: TestDatabase
  readonly accessFile: string
  run(options?: { plan?: ScalePlan; chunks?: number }): Promise<Generated>
  query(text: string): Promise<Record<string, unknown>[]>
}

const folder = mkdtempSync(join(tmpdir(), 'lanewise-generate-'))
const databases: TestDatabase[] = []

/** Makes a database to generate into. `chunks` stops a run after that many transactions. */
async function emptyDatabase(name: string): Promise<Made> {
  const database = await testDatabase()
  databases.push(database)
  const accessFile = join(folder, name)
  return {
    database,
    accessFile,
    async run({ plan: asked = plan, chunks = Number.POSITIVE_INFINITY } = {}) {
      let steps = 0
      return withDatabase(database.service, (opened) =>
        generate({
          owner: database.owner,
          database: opened,
          secretKeys: keys,
          plan: asked,
          accessFile,
          now,
          isStopping: () => steps++ >= chunks,
        }),
      )
    },
    async query(text) {
      const client = new pg.Client(database.owner)
      await client.connect()
      try {
        // In this uncommitted transaction, row-level security does not restrict the owner.
        await client.query('begin')
        for (const table of ['quotes', 'quote_requests', 'tenant_facts'])
          await client.query(`alter table ${table} no force row level security`)
        return (await client.query(text)).rows
      } finally {
        await client.end()
      }
    },
  }
}

/** Selects quotes and bookings, without identifiers that the installation assigns. */
const facts = `
  select l.tenant_id, origin, destination, origin_key, destination_key, origin_state, destination_state, origin_market,
    destination_market, equipment_code, miles, quoted_rate_cents, estimated_cost_cents, market_rate_cents, outcome,
    outcome_reason, decided_at, customer_rate_cents, truck_cost_cents, carrier_name, l.created_at, lane_number, r.customer_name
  from quotes l join quote_requests r using (tenant_id, request_id)
  order by l.tenant_id, l.created_at, quoted_rate_cents, lane_number, origin, destination`

let whole: Made
let stopped: Made

beforeAll(async () => {
  whole = await emptyDatabase('whole.json')
  stopped = await emptyDatabase('stopped.json')
  await whole.run()
})

afterAll(async () => {
  for (const database of databases) await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

describe('generated data', () => {
  test('are the same for the same seed, with or without interruptions', async () => {
    expect(await stopped.run({ chunks: 1 })).toMatchObject({ finished: false, written: 10_000 })
    expect(await stopped.run({ chunks: 0 })).toMatchObject({ finished: false, written: 0 })
    expect(await stopped.run()).toMatchObject({ finished: true, written: 11_100 })
    const [one, other] = [await whole.query(facts), await stopped.query(facts)]
    expect(one).toHaveLength(21_100)
    expect(other).toEqual(one)
  })

  test('are not generated twice', async () => {
    expect(await whole.run()).toMatchObject({ finished: true, written: 0 })
    expect(await whole.query('select count(*)::integer from quotes')).toEqual([{ count: 21_100 }])
  })

  test('differ for another seed', async () => {
    const other = tenantsOf({ ...plan, seed: 8 })
    expect(other[0]?.tenantId).not.toBe(tenantsOf(plan)[0]?.tenantId)
    expect(lanesOf({ ...plan, seed: 8 }, other[0] ?? fail()).lanes[0]).not.toEqual(
      lanesOf(plan, tenantsOf(plan)[0] ?? fail()).lanes[0],
    )
  })

  test('contain the places that the service would save', async () => {
    const lanes = (await whole.query(
      'select distinct origin, destination, origin_key, destination_key, origin_state, destination_state, origin_market, destination_market, miles from quotes',
    )) as { origin: string; destination: string }[]
    expect(lanes.length).toBeGreaterThan(100)
    for (const stored of lanes) {
      const [from, to] = [readPlace(stored.origin), readPlace(stored.destination)]
      expect(stored).toEqual(lanePlaces(from ?? fail(), to ?? fail(), null))
      expect(stored).toMatchObject({ origin_market: expect.any(String), miles: expect.any(Number) })
    }
  })

  test('have a lower win rate at higher prices, and mostly rates in whole dollars', async () => {
    const [row] = await whole.query(`
      select
        avg((outcome = 'won')::integer) filter (where ratio > 1.25)::float as dear,
        avg((outcome = 'won')::integer) filter (where ratio < 1.13)::float as cheap,
        avg((quoted_rate_cents % 100 = 0)::integer)::float as whole,
        count(*) filter (where outcome = 'won' and truck_cost_cents is not null)::float / count(*) filter (where outcome = 'won') as booked
      from (select *, quoted_rate_cents::float / estimated_cost_cents as ratio from quotes) l
      where outcome <> 'pending'`)
    const { dear, cheap, whole: wholeDollars, booked } = row as Record<string, number>
    expect(cheap).toBeGreaterThan(2 * (dear ?? 1))
    expect(wholeDollars).toBeGreaterThan(0.9)
    expect(booked).toBeGreaterThan(0.8)
  })

  test('keep row-level security enabled, and give every tenant a facts version', async () => {
    expect(await withDatabase(whole.database.service, databaseSafetyFaults)).toEqual([])
    expect(
      await whole.query(
        'select (select count(*) from tenant_facts)::integer as versions, count(distinct tenant_id)::integer as tenants from quotes',
      ),
    ).toEqual([{ versions: 21, tenants: 21 }])
  })

  test('save credentials in a file that only its owner can read, and are refused without that file', async () => {
    expect(statSync(whole.accessFile).mode & 0o777).toBe(0o600)
    const again = withDatabase(whole.database.service, (opened) =>
      generate({
        owner: whole.database.owner,
        database: opened,
        secretKeys: keys,
        plan,
        accessFile: join(folder, 'lost.json'),
        now,
      }),
    )
    await expect(again).rejects.toThrow(GenerateRefused)
    await expect(whole.run({ plan: { ...plan, quotes: 3_000 } })).rejects.toThrow(/credentials of other data/)
  })
})

describe('the service on generated data', () => {
  test('serves every tenant with its own token, and accepts its signed updates', async () => {
    const { access } = await whole.run()
    const app = await appOn(whole.database, { secretKeys: keys, now })
    try {
      for (const { path, token } of [
        ...readsOfAll(access, 'markup').slice(0, 20),
        ...readsOfAll(access, 'lane').slice(0, 20),
      ]) {
        const answer = await fetch(`${app.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
        expect(answer.status).toBe(200)
        expect(await answer.json()).toMatchObject({ query: { equipment: expect.any(String) } })
      }
      const large = tenantsOf(plan).find(({ kind }) => kind === 'brokerage') ?? fail()
      const held = access.tenants[large.index] ?? fail()
      const [busiest] = lanesOf(plan, large).lanes
      const path = readPath('markup', busiest ?? fail(), rateFor(busiest ?? fail(), 0.5))
      const answer = await fetch(`${app.url}${path}`, { headers: { authorization: `Bearer ${held.token}` } })
      expect(await answer.json()).toMatchObject({ found: true, confidence: 'high' })

      const [lane] = await whole.query(
        `select lane_ref from quotes where tenant_id = ${large.tenantId} limit 1`,
      )
      const update = signedUpdate(
        held,
        0,
        { laneRef: String(lane?.lane_ref), customerRate: 2_100, truckCost: 1_800 },
        now,
      )
      const pushed = await fetch(`${app.url}${update.path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${held.token}`,
          ...update.headers,
        },
        body: update.body ?? '',
      })
      expect(await pushed.json()).toMatchObject({ status: 'ok', updated: true })
    } finally {
      await app.close()
    }
  })
})

function fail(): never {
  throw new Error('Missing value.')
}
