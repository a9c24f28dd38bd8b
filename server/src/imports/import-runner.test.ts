import { pino } from 'pino'
import { expect, test } from 'vitest'
import { testDatabase } from '#testing/test-database.ts'
import { openDatabase, tenantId } from '../database/session/index.ts'
import { importRunner } from './import-runner.ts'

test('files reserve memory while some is left, one file per brokerage, and again after earlier files are done', async () => {
  const ownDatabase = await testDatabase()
  const database = await openDatabase({ connection: ownDatabase.service })
  const log = pino({ level: 'silent' })
  const runner = importRunner({ database, log }, { bytesHeldMax: 1_000 })
  const [ours, theirs, others] = [tenantId(7), tenantId(8), tenantId(9)] as const
  const place = runner.reserve(ours, 400) as number
  expect([runner.reserve(ours, 1), runner.reserve(theirs, 601)]).toEqual(['busy', 'full'])
  const second = runner.reserve(theirs, 600) as number
  expect(runner.reserve(others, 1)).toBe('full')
  runner.release(second)
  runner.release(second)
  runner.start(ours, 1, [Buffer.alloc(200), Buffer.alloc(300)], { map: undefined, dryRun: false })
  runner.release(place)
  expect(runner.counts().bytesHeld).toBe(500)
  expect(runner.reserve(others, 501)).toBe('full')
  await runner.drain()
  expect(runner.reserve(ours, 1_000)).toEqual(expect.any(Number))
  await database.close()
  await ownDatabase.drop()
})
