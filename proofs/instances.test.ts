import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { makeIntegration } from '#testing/make.ts'
import type { RunningService } from '#testing/running-service.ts'
import { askedFor, asking, mostWithinASecond, refusedTooEarly } from './one-limit.ts'
import { type ProofDatabase, proofDatabase } from './proof-database.ts'
import { type ServiceProcesses, serviceProcesses } from './service-process.ts'
import { asApp } from './signed-writers.ts'

const cluster: DatabaseCluster = inject('databaseCluster')

let database: ProofDatabase
let services: ServiceProcesses
let first: RunningService

beforeAll(async () => {
  database = await proofDatabase(cluster)
  services = serviceProcesses(database)
  first = await services.start()
})
afterAll(async () => {
  await services.remove()
  await database.drop()
})

const statuses = (log: readonly { status: number }[]) => [...new Set(log.map(({ status }) => status))].sort()

test('an instance that is alone asks nobody: it leaves no trace of its limit in the database', async () => {
  const ours = await makeIntegration(asApp(first.url))
  expect(await asking(first, ours)()).toBe(200)
  expect(await database.ask('select from tenant_windows')).toEqual([])
})

// That two limits would be seen is instances.long.test.ts.
test('the limit of a brokerage is one limit over all instances, also while they come and go', async () => {
  const ours = await makeIntegration(asApp(first.url))
  await delay(1_100)
  let over = false
  const alone = asking(first, ours)
  // One that was alone until now goes on at its limit while another joins.
  const before = (async () => {
    const log = []
    while (!over) log.push(...(await askedFor([alone, alone], { ms: 200 })))
    return log
  })()
  const second = await services.start()
  const third = await services.start()
  const together = await askedFor(
    [second, second, third, third].map((one) => asking(one, ours)),
    { ms: 3_000 },
  )
  await second.end('SIGTERM')
  await third.end('SIGKILL')
  await delay(3_000)
  over = true
  const log = [...(await before), ...together]
  expect(statuses(log)).toEqual([200, 429])
  expect(together.filter(({ status }) => status === 200).length).toBeGreaterThan(3)
  expect(mostWithinASecond(log)).toBeLessThanOrEqual(10)
  expect(refusedTooEarly(log)).toEqual([])
}, 60_000)
