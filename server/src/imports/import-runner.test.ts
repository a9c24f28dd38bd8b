import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { testDatabase } from '#testing/test-database.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'
import { findImport, insertImport } from '../database/queries/index.ts'
import { openDatabase, runInBackground, type TenantId, tenantId } from '../database/session/index.ts'
import { importRunner } from './import-runner.ts'

/** Batches that are saved now, and the most at the same time. */
const saving = vi.hoisted(() => ({ now: 0, most: 0 }))
vi.mock('./save-rows.ts', async (original) => {
  const real = await original<typeof import('./save-rows.ts')>()
  return {
    ...real,
    async saveRows(...given: Parameters<typeof real.saveRows>) {
      saving.most = Math.max(saving.most, ++saving.now)
      try {
        return await real.saveRows(...given)
      } finally {
        saving.now--
      }
    },
  }
})

test('a file takes memory as it arrives, one file and one import per brokerage, until it is imported', async () => {
  const ownDatabase = await testDatabase()
  const database = await openDatabase({ connection: ownDatabase.service, deadlines: testDeadlines })
  const log = pino({ level: 'silent' })
  const runner = importRunner({ database, log }, { bytesHeldMax: 1_024 })
  const [ours, theirs, others] = [tenantId(7), tenantId(8), tenantId(9)] as const
  // What is declared takes nothing, however much it is.
  const place = runner.reserve(ours, 512) as number
  expect([runner.reserve(ours, 1), runner.reserve(theirs, 513)]).toEqual(['busy', 'share'])
  expect(runner.counts().bytesHeld).toBe(0)
  expect([runner.take(place, 400), runner.take(place, 113)]).toEqual([null, 'share'])
  const second = runner.reserve(theirs, 368) as number
  expect(runner.take(second, 368)).toBeNull()
  // The last quarter is for brokerages with little.
  expect([runner.take(second, 1), runner.reserve(others, 17)]).toEqual(['full', 'full'])
  const third = runner.reserve(others, 0) as number
  expect([runner.take(third, 16), runner.take(third, 1)]).toEqual([null, 'full'])
  for (const one of [second, second, third]) runner.release(one)
  expect(runner.take(second, 1)).toBe('share')
  runner.start(ours, 1, [Buffer.alloc(200), Buffer.alloc(200)], {
    map: undefined,
    dryRun: false,
    bytesTotal: 400,
  })
  runner.release(place)
  expect(runner.counts().bytesHeld).toBe(400)
  expect(runner.reserve(ours, 113)).toBe('share')
  const testBrokerage = tenantId(10)
  database.shares.join(testBrokerage, ours)
  runner.start(testBrokerage, 1, [Buffer.alloc(100)], { map: undefined, dryRun: false, bytesTotal: 100 })
  expect(runner.counts()).toMatchObject({ running: 1, waiting: 1, bytesHeld: 500 })
  expect(runner.reserve(ours, 13)).toBe('share')
  await runner.drain()
  expect(runner.reserve(ours, 512)).toEqual(expect.any(Number))
  await database.close()
  await ownDatabase.drop()
})

/** A file of quotes from different days, so that no two are the same. */
function quotesFile(rows: number): Buffer {
  const day = (nth: number) => new Date(Date.UTC(2020, 0, 1 + nth)).toISOString().slice(0, 10)
  const lines = Array.from(
    { length: rows },
    (_, nth) =>
      `"Dallas, TX","Atlanta, GA",van,${1500 + (nth % 700)},${day(nth % 2000)},lost,Customer ${nth}`,
  )
  return Buffer.from(
    ['origin,destination,equipment,quoted_rate,quoted_at,outcome,customer', ...lines, ''].join('\n'),
  )
}

test('two long imports and a short one take turns by batches: the short one ends while the long ones go on', {
  tags: 'long',
}, async () => {
  const ownDatabase = await testDatabase()
  const database = await openDatabase({ connection: ownDatabase.service, deadlines: testDeadlines })
  const runner = importRunner({ database, log: pino({ level: 'silent' }) }, { shortBytesMax: 100_000 })
  const made = async (tenant: TenantId, rows: number) => {
    const file = quotesFile(rows)
    const row = await runInBackground(() =>
      database.inTenant(tenant, async (transaction) => {
        await transaction
          .insertInto('tenants')
          .values({ tenant_id: tenant, name: 'Test Brokers', created_at: new Date() })
          .execute()
        return insertImport(transaction, tenant, {
          file_name: 'quotes.csv',
          dry_run: false,
          columns: {},
          ignoredColumns: [],
          bytes_total: file.length,
          created_by: null,
        })
      }),
    )
    const options = { map: undefined, dryRun: false, bytesTotal: file.length }
    return {
      start: () => runner.start(tenant, row.import_id, [file], options),
      now: async () => {
        const now = await runInBackground(() =>
          database.inTenant(tenant, (transaction) => findImport(transaction, tenant, row.import_id)),
        )
        return { status: now?.status, added: now?.rows_added }
      },
    }
  }
  const [one, two, third, short] = [
    await made(tenantId(7), 5_000),
    await made(tenantId(8), 5_000),
    await made(tenantId(9), 5_000),
    await made(tenantId(10), 900),
  ]
  for (const { start } of [one, two, third, short]) start()
  await expect.poll(short.now).toEqual({ status: 'done', added: 900 })
  expect([(await one.now()).status, (await two.now()).status, await third.now()]).toEqual([
    'running',
    'running',
    { status: 'running', added: 0 },
  ])
  await expect.poll(third.now).toEqual({ status: 'done', added: 5_000 })
  await runner.drain()
  expect([await one.now(), await two.now()]).toEqual([
    { status: 'done', added: 5_000 },
    { status: 'done', added: 5_000 },
  ])
  expect(saving.most).toBe(2)
  await database.close()
  await ownDatabase.drop()
})
