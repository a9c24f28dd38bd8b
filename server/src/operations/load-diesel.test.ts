import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, type MadeTenant, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { loadDiesel } from './load-diesel.ts'

let app: TestApp
let folder: string
beforeAll(async () => {
  app = await testApp()
  folder = await mkdtemp(join(tmpdir(), 'lanewise-diesel-'))
})
afterAll(async () => {
  await app.close()
  await rm(folder, { recursive: true })
})

/** Runs the command on a file with rows of a week and a price. */
async function load(rows: readonly string[], named?: string, withOwner = true) {
  const file = join(folder, 'diesel.csv')
  const lines = rows.map((row) => row.replace(',', ',EMD_EPD2D_PTE_NUS_DPG,'))
  await writeFile(file, ['period,series,value', ...lines].join('\n'))
  return loadFrom(file, named, withOwner)
}

/** Runs the command on a file or an address. */
function loadFrom(file: string, named?: string, withOwner = true) {
  const { service, owner } = app.testDatabase
  const config = {
    databaseUrl: service.connectionString ?? null,
    migrationDatabaseUrl: withOwner ? (owner.connectionString ?? null) : null,
    dataDirectory: '/nowhere',
    deadlineFactor: 30,
  }
  return loadDiesel({ config, remark: () => {} }, file, { named, now: app.now })
}
const newestOf = async ({ owner }: MadeTenant) =>
  (await call(app, 'GET', '/api/fuel', { token: owner })).body.diesel

test('a file is loaded for one brokerage or for all, and each change is in the audit log as done by the operator', async () => {
  const [one, other] = [await makeTenant(app), await makeTenant(app)]
  const named = await load(['2026-03-02,3.6'], String(one.id))
  expect(named.loaded.map(({ changed }) => changed)).toEqual([1])
  expect([await newestOf(one), await newestOf(other)]).toEqual([{ week: '2026-03-02', price: 3.6 }, null])
  const all = await load(['2026-03-02,3.6', '2026-03-09,3.7'])
  expect(all.loaded.map(({ changed }) => changed).toSorted()).toEqual([1, 2])
  expect(await newestOf(other)).toEqual({ week: '2026-03-09', price: 3.7 })
  const { body } = await call(app, 'GET', '/api/audit?group=brokerage', { token: other.owner })
  expect(body.events).toMatchObject([
    { done_by: null, about: { after: { diesel_prices: '2 weeks of a file up to 2026-03-09' } } },
  ])
})

test('a wrong line, a missing file or an unknown brokerage is refused, and nothing changes', async () => {
  const tenant = await makeTenant(app)
  await expect(load(['2026-03-02,3.6', '2026-03-09,370'])).rejects.toThrow(/Line 3: the price "370" must be/)
  await expect(load(['2026-03-02,3.6'], 'Nobody')).rejects.toThrow('There is no brokerage "Nobody"')
  await expect(load(['2026-03-02,3.6'], undefined, false)).rejects.toThrow('MIGRATION_DATABASE_URL')
  const config = {
    databaseUrl: null,
    migrationDatabaseUrl: null,
    dataDirectory: '/nowhere',
    deadlineFactor: 30,
  }
  await expect(
    loadDiesel({ config, remark: () => {} }, join(folder, 'none.csv'), { named: undefined, now: app.now }),
  ).rejects.toThrow('There is no file')
  expect(await newestOf(tenant)).toBeNull()
})

describe('an address', () => {
  let answer = { status: 200, text: '' }
  const server = createServer((_, response) => void response.writeHead(answer.status).end(answer.text))
  let address = ''
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/data?api_key=a-secret`
  })
  afterAll(() => server.close())

  test('is read as a file is, also in the form of the API', async () => {
    const tenant = await makeTenant(app)
    const row = { period: '2026-03-02', series: 'EMD_EPD2D_PTE_NUS_DPG', value: '3.6', units: '$/GAL' }
    const other = { ...row, series: 'EMD_EPD2D_PTE_R10_DPG', value: '9.9' }
    answer = { status: 200, text: JSON.stringify({ response: { total: '2', data: [other, row] } }) }
    await loadFrom(address, String(tenant.id))
    expect(await newestOf(tenant)).toEqual({ week: '2026-03-02', price: 3.6 })
  })

  test('that is away, has another form or is not https is refused, and its key is not in the message', async () => {
    const tenant = await makeTenant(app)
    const failing = async (from: string) =>
      loadFrom(from, String(tenant.id)).then(
        () => 'stored',
        (error: Error) => error.message,
      )
    answer = { status: 503, text: '' }
    const away = await failing(address)
    answer = { status: 200, text: '{"response":{"data":[]}}' }
    const empty = await failing(address)
    const plain = await failing('http://example.com/diesel.csv')
    expect([away, empty, plain]).toEqual([
      expect.stringContaining('answered with 503'),
      expect.stringContaining('must contain the series'),
      expect.stringContaining('https://'),
    ])
    expect(`${away}${empty}`).not.toContain('a-secret')
    expect(await newestOf(tenant)).toBeNull()
  })
})
