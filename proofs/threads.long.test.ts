import { Agent, type OutgoingHttpHeaders, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import {
  type Answer,
  call,
  type Integration,
  makeIntegration,
  makeLane,
  password,
  pushUpdate,
} from '#testing/make.ts'
import { freePort, type RunningService } from '#testing/running-service.ts'
import { readScrape } from '#testing/samples.ts'
import { type TraceCollector, traceCollector } from '#testing/trace-collector.ts'
import { askedFor, mostWithinASecond, refusedTooEarly } from './one-limit.ts'
import { type ProofDatabase, proofDatabase } from './proof-database.ts'
import { type ServiceProcesses, serviceProcesses } from './service-process.ts'
import { asApp } from './signed-writers.ts'

const cluster: DatabaseCluster = inject('databaseCluster')
const threads = 3
/** The system hands each connection to one thread or another: of so many, each thread has some. */
const agents = Array.from({ length: 16 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
const readPath = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'

let database: ProofDatabase
let services: ServiceProcesses
let service: RunningService
let collector: TraceCollector
let metricsPort: number

beforeAll(async () => {
  database = await proofDatabase(cluster)
  services = serviceProcesses(database)
  collector = await traceCollector()
  metricsPort = await freePort()
  service = await services.start({
    env: {
      THREADS: String(threads),
      LOG_LEVEL: 'info',
      METRICS_PORT: String(metricsPort),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  })
})
afterAll(async () => {
  for (const agent of agents) agent.destroy()
  await services.remove()
  await collector.close()
  await database.drop()
})

type Told = Pick<Answer, 'status' | 'body'>

/** Asks over one connection, which stays with one thread. */
function over(agent: Agent | undefined, path: string, token: string | null, body?: unknown): Promise<Told> {
  return new Promise((resolve, reject) => {
    const headers: OutgoingHttpHeaders = token === null ? {} : { Authorization: `Bearer ${token}` }
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    const method = body === undefined ? 'GET' : 'POST'
    const asked = request(`${service.url}${path}`, { ...(agent && { agent }), method, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => (text += chunk))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) }))
    })
    asked.on('error', reject)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** The threads that have logged an answer so far; the first logs no number. */
const answering = () =>
  new Set(
    service
      .printed()
      .split('\n')
      .filter((line) => line.includes('"msg":"request"'))
      .map((line) => (JSON.parse(line) as { thread?: number }).thread ?? 1),
  )

test('every thread answers, on one port', async () => {
  for (const agent of agents) expect((await over(agent, '/readyz', null)).status).toBe(200)
  // The log comes a moment later.
  for (let tries = 0; answering().size < threads && tries < 100; tries++) await delay(20)
  expect([...answering()].sort()).toEqual([1, 2, 3])
})

test('the numbers of all threads are added up, on a port of their own', async () => {
  const scrape = async () => readScrape(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text())
  const before = await scrape()
  for (const agent of agents) await over(agent, '/problems', null)
  const after = await scrape()
  const more = (name: string, labels: Record<string, string>) =>
    after.sum(name, labels) - before.sum(name, labels)
  expect(more('lanewise_http_requests_total', { endpoint: 'problems', status: '200' })).toBe(agents.length)
  expect(more('lanewise_http_request_duration_seconds_count', { endpoint: 'problems' })).toBe(agents.length)
  expect([after.sum('lanewise_threads'), after.sum('lanewise_build_info')]).toEqual([threads, 1])
  expect(after.samples.filter(({ name }) => name === 'process_resident_memory_bytes')).toHaveLength(1)
  expect(after.sum('lanewise_database_connections_max')).toBeLessThanOrEqual(20)
  expect((await fetch(`${service.url}/metrics`)).status).toBe(404)
  for (const [method, path, status] of [
    ['GET', '/', 404],
    ['GET', '/readyz', 404],
    ['POST', '/metrics', 405],
  ] as const) {
    expect((await fetch(`http://127.0.0.1:${metricsPort}${path}`, { method })).status).toBe(status)
  }
})

test('every thread sends its traces', async () => {
  for (const agent of agents) await over(agent, '/readyz', null)
  const sending = () =>
    new Set(
      collector.spans
        .filter(({ name }) => name === 'readyz')
        .map(({ resource }) => String(resource['service.instance.id']).split('-').at(-1)),
    )
  await expect.poll(() => [...sending()].sort(), { timeout: 10_000 }).toEqual(['1', '2', '3'])
})

test('the limit of a brokerage is ten a second over all threads: never more, and none is refused before', async () => {
  const { token } = await makeIntegration(asApp(service.url))
  await delay(1_100)
  const log = await askedFor(
    agents.map((agent) => async () => (await over(agent, readPath, token)).status),
    { ms: 2_500 },
  )
  expect([...new Set(log.map(({ status }) => status))].sort()).toEqual([200, 429])
  expect(log.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(20)
  expect(log.filter(({ status }) => status === 429).length).toBeGreaterThan(20)
  expect(mostWithinASecond(log)).toBeLessThanOrEqual(10)
  expect(refusedTooEarly(log)).toEqual([])
})

test('what one thread has committed is in the next answer of every other', async () => {
  const winsOver = async (agent: Agent | undefined, { token }: Integration) =>
    (await over(agent, readPath, token)).body.history?.wins ?? 0
  await Promise.all(
    Array.from({ length: 6 }, async (_, nth) => {
      const ours = await makeIntegration(asApp(service.url))
      // Four of the connections, so that the ten a second are enough; others for another brokerage.
      const mine = [0, 4, 8, 12].map((at) => agents[(at + nth) % agents.length])
      await delay(1_050)
      for (let won = 0; won < 4; won++) {
        // Remembered before the change, by all of them.
        for (const agent of mine) expect(await winsOver(agent, ours)).toBe(won)
        const { lane_ref } = await makeLane(asApp(service.url), ours.tenant)
        if (won % 2 === 0) await pushUpdate(asApp(service.url), ours, { lane_ref, customer_rate: 2_000 })
        else {
          await call(asApp(service.url), 'POST', `/api/lanes/${lane_ref}/outcome`, {
            token: ours.tenant.owner,
            body: { outcome: 'won' },
          })
        }
        expect(await Promise.all(mine.map((agent) => winsOver(agent, ours)))).toEqual(mine.map(() => won + 1))
        await delay(1_050)
      }
    }),
  )
})

test('guesses at a password are counted over all threads', async () => {
  const { tenant } = await makeIntegration(asApp(service.url))
  const statuses = await Promise.all(
    agents.map(
      async (agent, nth) =>
        (
          await over(agent, '/api/auth/sign-in', null, {
            email: tenant.email,
            password: nth % 2 === 0 ? 'a wrong horse battery' : 'another wrong horse',
          })
        ).status,
    ),
  )
  expect(statuses.filter((status) => status === 401)).toHaveLength(5)
  expect(statuses.filter((status) => status === 429)).toHaveLength(11)
  expect(password).not.toContain('wrong')
})

test('the calls of the last minute are those of all threads, whichever is asked', async () => {
  const ours = await makeIntegration(asApp(service.url))
  for (const agent of agents.slice(0, 8)) await over(agent, readPath, ours.token)
  for (const agent of agents) {
    const { body } = await over(agent, '/api/rate-limit', ours.tenant.owner)
    // Two more: a token and a secret were made.
    expect([body.requests_last_minute, body.refused_last_minute]).toEqual([10, 0])
  }
})

test('imports and backtests go on in one place, whichever thread is asked', async () => {
  const { tenant } = await makeIntegration(asApp(service.url))
  const rows = Array.from(
    { length: 300 },
    (_, at) => `"Dallas, TX","Atlanta, GA",V,${1_900 + at},2026-03-03,Won\n`,
  )
  const ids: number[] = []
  for (const part of [0, 1, 2]) {
    const sent = await fetch(`${service.url}/api/imports?file_name=${part}.csv`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv', Connection: 'close' },
      body: `Origin,Destination,Equipment,Quoted Rate,Quote Date,Status\n${rows.slice(part * 100, part * 100 + 100).join('')}`,
    })
    expect(await sent.clone().json()).toMatchObject({ status: 'running' })
    const { import_id } = (await sent.json()) as { import_id: number }
    ids.push(import_id)
    let status = 'running'
    for (let tries = 0; status === 'running' && tries < 500; tries++) {
      await delay(20)
      status = (await over(agents[tries % agents.length], `/api/imports/${import_id}`, tenant.owner)).body
        .status
    }
    expect(status).toBe('done')
  }
  const backtest = async (at: number) =>
    (await over(agents[at % agents.length], '/api/backtest', tenant.owner)).body
  let last = await backtest(0)
  for (let at = 1; last.status === 'running' && at < 1_000; at++) {
    await delay(20)
    last = await backtest(at)
  }
  expect(last.status).toBe('done')
  const told = await Promise.all(agents.map((_, at) => backtest(at)))
  for (const one of told) expect(one).toEqual(last)
})

test('a stop answers what has begun, in every thread', async () => {
  const { token } = await makeIntegration(asApp(service.url))
  await delay(1_050)
  const asked = agents.slice(0, 9).map((agent) => over(agent, readPath, token))
  await delay(5)
  const ended = service.end('SIGTERM')
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 200))
  expect(await ended).toEqual({ code: 0, signal: null })
})
