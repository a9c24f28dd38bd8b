/** @module-tag long */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { call, makeIntegration, makeQuote, pushUpdate } from '#testing/make.ts'
import type { RunningService } from '#testing/running-service.ts'
import { busiestSecond, mostWithinASecond, readerOf, refusedTooEarly, sendFor } from './one-limit.ts'
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

test('a single instance keeps its rate limit in memory and writes nothing to the database', async () => {
  const ours = await makeIntegration(asApp(first.url))
  expect(await readerOf(first, ours)()).toBe(200)
  expect(await database.ask('select from tenant_windows')).toEqual([])
})

test('a brokerage has one rate limit across all instances, while instances start and stop', {
  tags: 'long',
}, async () => {
  const ours = await makeIntegration(asApp(first.url))
  await delay(1_100)
  let over = false
  const alone = readerOf(first, ours)
  // The first instance gets requests up to its limit all the time, while others join.
  const logOfFirst = (async () => {
    const log = []
    while (!over) log.push(...(await sendFor([alone, alone], { ms: 200 })))
    return log
  })()
  const second = await services.start()
  const third = await services.start()
  const together = await sendFor(
    [second, second, third, third].map((one) => readerOf(one, ours)),
    { ms: 3_000 },
  )
  await second.end('SIGTERM')
  await third.end('SIGKILL')
  await delay(3_000)
  over = true
  const log = [...(await logOfFirst), ...together]
  expect(statuses(log)).toEqual([200, 429])
  expect(together.filter(({ status }) => status === 200).length).toBeGreaterThan(3)
  const busiest = busiestSecond(log).toSorted((one, other) => one.began - other.began)
  const times = busiest.map((one) => {
    const by = together.includes(one) ? 'second or third' : 'first'
    return `${by} ${[one.began, one.ended].map((at) => Math.round(at - (together[0]?.began ?? 0))).join('..')} ms`
  })
  expect(busiest.length, `from the start of the others: ${times.join(', ')}`).toBeLessThanOrEqual(10)
  expect(refusedTooEarly(log)).toEqual([])
})

test('one signed update at three instances at once is applied once, and a revoked token ends at all of them', {
  tags: 'long',
}, async () => {
  const apps = [first, await services.start(), await services.start()].map(({ url }) => asApp(url))
  const ours = await makeIntegration(asApp(first.url))
  const token = ours.tenant.owner
  for (let rate = 2_000; rate < 2_005; rate++) {
    const { lane_ref } = await makeQuote(asApp(first.url), ours.tenant)
    const at = Math.floor(Date.now() / 1_000)
    const answers = await Promise.all(
      apps.map((app) => pushUpdate(app, ours, { lane_ref, customer_rate: rate }, at)),
    )
    expect(answers.map(({ status, body }) => [status, body.updated])).toEqual(Array(3).fill([200, true]))
    const replayed = answers.filter(({ headers }) => headers.get('Idempotent-Replayed') === 'true')
    expect(replayed).toHaveLength(2)
    const history = await call(asApp(first.url), 'GET', `/api/lanes/${lane_ref}/changes`, { token })
    expect(history.body.changes).toHaveLength(1)
    await delay(1_100)
  }
  const { body } = await call(asApp(first.url), 'GET', '/api/integrations/tokens', { token })
  await call(asApp(first.url), 'DELETE', `/api/integrations/tokens/${body.tokens[0].id}`, { token })
  await delay(1_100)
  for (const app of apps) {
    const read = await call(app, 'GET', '/api/integrations/quotes', { token: ours.token })
    expect([read.status, read.body.code]).toEqual([401, 'token-revoked'])
  }
})

test('a planted fault, in which each instance counts for itself, is found', { tags: 'long' }, async () => {
  const own = await proofDatabase(cluster)
  const faulty = serviceProcesses(own)
  try {
    const fault = 'each instance counts for itself'
    const [one, other] = await Promise.all([faulty.start({ fault }), faulty.start({ fault })])
    const ours = await makeIntegration(asApp(one.url))
    await delay(1_100)
    const log = await sendFor(
      [one, one, other, other].map((way) => readerOf(way, ours)),
      { ms: 1_500 },
    )
    expect(mostWithinASecond(log)).toBeGreaterThan(10)
  } finally {
    await faulty.remove()
    await own.drop()
  }
})
