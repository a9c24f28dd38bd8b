import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { call, type Integration, makeIntegration, makeLane, pushUpdate } from '#testing/make.ts'
import { freePort, type RunningService } from '#testing/running-service.ts'
import { mostWithinASecond, sendFor } from './one-limit.ts'
import { type ProofDatabase, proofDatabase } from './proof-database.ts'
import { type ServiceProcesses, serviceProcesses } from './service-process.ts'
import { asApp } from './signed-writers.ts'

const cluster: DatabaseCluster = inject('databaseCluster')
/** Valkey and Redis are not available as npm packages, so the tests run only where one is installed. */
const program = ['valkey-server', 'redis-server'].find((name) => spawnSync(name, ['--version']).status === 0)
const readPath = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'

describe.skipIf(program === undefined)('instances that share the rate limit in Redis or Valkey', () => {
  let database: ProofDatabase
  let services: ServiceProcesses
  let redis: ChildProcess
  let port: number
  let one: RunningService
  let other: RunningService
  let ours: Integration

  async function startRedis(): Promise<void> {
    redis = spawn(program ?? '', [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
    ])
    for await (const line of redis.stdout ?? []) if (String(line).includes('eady to accept')) return
    throw new Error('Redis did not start.')
  }
  async function stopRedis(): Promise<void> {
    redis.kill('SIGKILL')
    if (redis.exitCode === null && redis.signalCode === null) await once(redis, 'exit')
  }

  beforeAll(async () => {
    database = await proofDatabase(cluster)
    services = serviceProcesses(database)
    port = await freePort()
    await startRedis()
    const env = { REDIS_URL: `redis://127.0.0.1:${port}`, LOG_LEVEL: 'info' }
    one = await services.start({ env })
    other = await services.start({ env })
    ours = await makeIntegration(asApp(one.url))
  })
  afterAll(async () => {
    await services?.remove()
    await stopRedis()
    await database?.drop()
  })

  const asking = (service: RunningService) => async () =>
    (await call(asApp(service.url), 'GET', readPath, { token: ours.token })).status
  const flood = async () => {
    await delay(1_100)
    return sendFor([asking(one), asking(one), asking(other), asking(other)], { ms: 2_200 })
  }
  const statuses = (log: readonly { status: number }[]) =>
    [...new Set(log.map(({ status }) => status))].sort()

  test('admit ten requests per second together, without using the database for the limit', async () => {
    const log = await flood()
    expect(statuses(log)).toEqual([200, 429])
    expect(mostWithinASecond(log)).toBeLessThanOrEqual(10)
    expect(log.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(20)
    expect(await database.ask('select from tenant_windows')).toEqual([])
    const client = await createClient({ url: `redis://127.0.0.1:${port}` }).connect()
    expect((await client.keys('lanewise:window:*')).length).toBe(1)
    client.destroy()
  })

  test('notify each other of changes', async () => {
    const wins = async (service: RunningService) =>
      (await call(asApp(service.url), 'GET', readPath, { token: ours.token })).body.history?.wins ?? 0
    await delay(1_100)
    const { lane_ref } = await makeLane(asApp(one.url), ours.tenant)
    const messages: string[] = []
    const client = await createClient({ url: `redis://127.0.0.1:${port}` }).connect()
    await client.subscribe('lanewise:moved', (message) => messages.push(message))
    const before = await wins(other)
    await pushUpdate(asApp(one.url), ours, { lane_ref, customer_rate: 2_000 })
    await expect.poll(() => wins(other), { interval: 150 }).toBe(before + 1)
    expect(messages.some((message) => message.startsWith(`${ours.tenant.id} `))).toBe(true)
    client.destroy()
  })

  test('share the limit in the database while Redis is down, and refuse no request because of the outage', async () => {
    await stopRedis()
    await delay(300)
    const log = await flood()
    expect(statuses(log)).toEqual([200, 429])
    expect(mostWithinASecond(log)).toBeLessThanOrEqual(10)
    expect((await database.ask('select from tenant_windows')).length).toBe(1)
    await startRedis()
    await delay(2_500)
    const again = await flood()
    expect(statuses(again)).toEqual([200, 429])
    expect(mostWithinASecond(again)).toBeLessThanOrEqual(10)
    expect(one.printed()).toContain('Redis answers again')
  })
})
