import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pushQuotes } from '#contract/push-quotes.ts'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { call, type Integration, makeIntegration, pushSigned, quoteToPush } from '#testing/make.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { migrate } from './migrate.ts'

const name = '0072-modes-as-equipment.sql'

let database: TestDatabase
let app: TestApp
let ours: Integration
let owner: pg.Client

beforeAll(async () => {
  database = await testDatabase()
  app = await appOn(database)
  ours = await makeIntegration(app, 'quotes:write read')
  owner = new pg.Client({ connectionString: database.ownerUrl })
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await app.close()
  await database.drop()
})

const asTenant = async (statement: string, values: unknown[] = []) => {
  await owner.query('begin')
  await owner.query(`select set_config('app.tenant_id', $1, true)`, [String(ours.tenant.id)])
  const { rows } = await owner.query(statement, values)
  await owner.query('commit')
  return rows
}
const get = async (path: string, token = ours.tenant.owner) => (await call(app, 'GET', path, { token })).body
const history = async (query = '') =>
  (
    await get(
      `/api/integrations/insights/lane?origin=Dallas%2C+TX&destination=Atlanta%2C+GA&include=basis${query}`,
      ours.token,
    )
  ).history

async function imported(rows: readonly string[]) {
  const response = await fetch(`${app.url}/api/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${ours.tenant.owner}`, 'Content-Type': 'text/csv' },
    body: rows.join('\n'),
  })
  const { import_id, ...answer } = (await response.json()) as { import_id: number }
  expect([response.status, answer]).toEqual([202, expect.anything()])
  for (;;) {
    const run = await get(`/api/imports/${import_id}`)
    if (run.status !== 'running') return run
    await delay(20)
  }
}

/** The equipment of quotes as earlier versions stored it, and the mode that each gets. */
const quotes = [
  ['V', 2000, null],
  ['V', 2100, null],
  ['LTL', 240, 'ltl'],
  ['VOLUME-LTL', 250, 'ltl'],
  ['PARTIAL', 260, 'partial'],
  ['DRAY', 270, 'drayage'],
  // A truckload, a container, and a code of the brokerage.
  ['TL', 2200, null],
  ['IMC', 2300, null],
  ['LTLX', 2400, null],
] as const
const pushed = quotes.map(([, quoted_rate], nth) => ({
  ...quoteToPush(`E-${nth}`),
  quoted_rate,
  outcome: 'lost',
}))
const file = [
  'Customer,Origin,Destination,Equipment,Quoted rate,Quoted at,Outcome',
  'Harvest,"Dallas, TX","Atlanta, GA",V,230,2026-02-01,Lost',
]

test('quotes whose equipment is a mode get that mode, keep their equipment, and count no more', async () => {
  expect((await pushSigned(app, ours, pushQuotes, { quotes: pushed })).body).toMatchObject({ created: 9 })
  expect(await imported(file)).toMatchObject({ rows_added: 1 })
  const set = (where: string, values: unknown[]) =>
    asTenant(`update lanes set equipment = $1, equipment_code = $1 where ${where}`, values)
  for (const [nth, [equipment]] of quotes.entries()) await set('external_id = $2', [equipment, `E-${nth}`])
  await set('import_id is not null', ['LTL'])
  await asTenant('select advance_versions($1, 1, 0, array(select lane_id from lanes))', [ours.tenant.id])
  const count = async (query?: string) => (await history(query))?.total_quotes
  await expect.poll(() => count()).toBe(10)
  const [van, ltl] = [await history('&equipment=V'), await count('&equipment=LTL')]
  expect([van.total_quotes, ltl]).toEqual([2, 2])
  await owner.query('delete from schema_migrations where name = $1', [name])

  await migrate({ connectionString: database.ownerUrl })

  const rows = await asTenant('select external_id, equipment, mode from lanes order by external_id')
  const stored = (id: string | null) => {
    const { equipment, mode } = rows.find(({ external_id }) => external_id === id) ?? {}
    return [equipment, mode]
  }
  const expected = quotes.map(([equipment, , mode]) => [equipment, mode])
  expect(quotes.map((_, nth) => stored(`E-${nth}`))).toEqual(expected)
  expect(stored(null)).toEqual(['LTL', 'ltl'])
  const { lanes } = await get('/api/lanes?mode=ltl')
  expect(lanes.map(({ equipment }: { equipment: string }) => equipment).sort()).toEqual([
    'LTL',
    'LTL',
    'VOLUME-LTL',
  ])
  const { changes } = await get(`/api/lanes/${lanes[0].lane_ref}/changes`)
  expect(changes[0]).toMatchObject({ source: 'lanewise', before: { mode: null }, after: { mode: 'ltl' } })
  // The running service follows. A van's numbers are those of before.
  await expect.poll(() => count()).toBe(5)
  expect(await history('&equipment=V')).toEqual(van)

  // The same push and the same file find their quotes, and change nothing.
  const again = pushed.map(({ equipment: _, ...quote }) => quote)
  const signedAt = Math.floor(app.now / 1000) + 1
  const repeated = await pushSigned(app, ours, pushQuotes, { quotes: again }, signedAt)
  expect(repeated.body).toMatchObject({ created: 0, updated: 0, unchanged: 9, failed: 0 })
  expect(await imported(file)).toMatchObject({ rows_added: 0, rows_updated: 0, rows_repeated: 1 })
  // A file that says the mode in place of the equipment is refused as since 0068, and adds nothing beside the quote.
  const old = file.map((row) => row.replace(',V,', ',LTL,'))
  expect(await imported(old)).toMatchObject({ rows_added: 0, rows_refused: 1 })
  expect(await asTenant('select external_id, equipment, mode from lanes order by external_id')).toEqual(rows)
})
