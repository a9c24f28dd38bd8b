import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
  const { service, owner } = app.testDatabase
  const config = {
    databaseUrl: service.connectionString ?? null,
    migrationDatabaseUrl: withOwner ? (owner.connectionString ?? null) : null,
    dataDirectory: '/nowhere',
  }
  const file = join(folder, 'diesel.csv')
  const lines = rows.map((row) => row.replace(',', ',EMD_EPD2D_PTE_NUS_DPG,'))
  await writeFile(file, ['period,series,value', ...lines].join('\n'))
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
  const config = { databaseUrl: null, migrationDatabaseUrl: null, dataDirectory: '/nowhere' }
  await expect(
    loadDiesel({ config, remark: () => {} }, join(folder, 'none.csv'), { named: undefined, now: app.now }),
  ).rejects.toThrow('There is no file')
  expect(await newestOf(tenant)).toBeNull()
})
