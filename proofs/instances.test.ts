import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { type Integration, makeIntegration } from '#testing/make.ts'
import type { RunningService } from '#testing/running-service.ts'
import { askedFor, mostWithinASecond, refusedTooEarly } from './one-limit.ts'
import { type ProofDatabase, proofDatabase } from './proof-database.ts'
import { type ServiceProcesses, serviceProcesses } from './service-process.ts'
import { asApp } from './signed-writers.ts'

const cluster: DatabaseCluster = inject('databaseCluster')
const readPath = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'
const agent = new Agent({ keepAlive: true })

let database: ProofDatabase
let services: ServiceProcesses
let first: RunningService

beforeAll(async () => {
  database = await proofDatabase(cluster)
  services = serviceProcesses(database)
  first = await services.start()
})
afterAll(async () => {
  agent.destroy()
  await services.remove()
  await database.drop()
})

const asking =
  ({ url }: RunningService, { token }: Integration) =>
  () =>
    new Promise<number>((resolve, reject) => {
      request(`${url}${readPath}`, { agent, headers: { Authorization: `Bearer ${token}` } }, (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
      })
        .on('error', reject)
        .end()
    })

const statuses = (log: readonly { status: number }[]) => [...new Set(log.map(({ status }) => status))].sort()

test('an instance that is alone asks nobody: it leaves no trace of its limit in the database', async () => {
  const ours = await makeIntegration(asApp(first.url))
  expect(await asking(first, ours)()).toBe(200)
  expect(await database.ask('select from tenant_windows')).toEqual([])
})

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

test('where each counts for itself, that is found', async () => {
  const own = await proofDatabase(cluster)
  const faulty = serviceProcesses(own)
  try {
    const fault = 'each instance counts for itself'
    const [one, other] = await Promise.all([faulty.start({ fault }), faulty.start({ fault })])
    const ours = await makeIntegration(asApp(one.url))
    await delay(1_100)
    const log = await askedFor(
      [one, one, other, other].map((way) => asking(way, ours)),
      { ms: 1_500 },
    )
    expect(mostWithinASecond(log)).toBeGreaterThan(10)
  } finally {
    await faulty.remove()
    await own.drop()
  }
}, 60_000)
