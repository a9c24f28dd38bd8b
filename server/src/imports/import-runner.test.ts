import { pino } from 'pino'
import { expect, test } from 'vitest'
import { testDatabase } from '#testing/test-database.ts'
import { openDatabase, tenantId } from '../database/open-database.ts'
import { importRunner } from './import-runner.ts'

test('files are taken while memory for them is left, and again once those before are done', async () => {
  const ownDatabase = await testDatabase()
  const database = await openDatabase({ connection: ownDatabase.service })
  const log = pino({ level: 'silent' })
  const runner = importRunner({ database, clock: Date.now, log }, { bytesHeldMax: 1_000 })
  expect(await runner.hasRoomFor(1_000)).toBe(true)
  runner.start(tenantId(7), 1, Buffer.alloc(600), { map: undefined, dryRun: false })
  expect([await runner.hasRoomFor(400), await runner.hasRoomFor(401)]).toEqual([true, false])
  await runner.drain()
  expect(await runner.hasRoomFor(1_000)).toBe(true)
  await database.close()
  await ownDatabase.drop()
})
