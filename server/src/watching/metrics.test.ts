import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { laneInsight } from '#contract/lane-insight.ts'
import { tenantId } from '../database/session/index.ts'
import { ownLimit } from '../limits/index.ts'
import { slidingWindow } from '../security/index.ts'
import { serviceMetrics } from './metrics.ts'
import { listenForMetrics } from './metrics-listener.ts'

const answer = { endpoint: 'markup', method: 'GET', status: 200, seconds: 0.02 }
const numberOf = (scrape: string, sample: string) =>
  Number(new RegExp(`^${sample.replaceAll(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(scrape)?.[1])

test('each scrape reports the same counts', async () => {
  const metrics = serviceMetrics()
  const { name } = laneInsight
  metrics.answered({ ...answer, endpoint: name })
  metrics.answered({ ...answer, endpoint: name, seconds: 0.00004 })
  metrics.answered({ ...answer, endpoint: name, seconds: 0.00004 })
  for (let times = 0; times < 2; times++) {
    const scrape = await metrics.read()
    expect(
      numberOf(scrape, `lanewise_http_requests_total{endpoint="${name}",method="GET",status="200"}`),
    ).toBe(3)
    expect(numberOf(scrape, `lanewise_http_request_duration_seconds_count{endpoint="${name}"}`)).toBe(3)
    expect(
      numberOf(scrape, `lanewise_http_request_duration_seconds_bucket{le="0.0005",endpoint="${name}"}`),
    ).toBe(2)
  }
})

test('a counted limit behaves like the original limit', async () => {
  const metrics = serviceMetrics()
  const checks = metrics.counting('signature-check', slidingWindow(2, 1_000))
  expect([1, 2, 3].map((at) => checks.admit(7, at).admitted)).toEqual([true, true, false])
  expect(checks.remaining(7, 3)).toBe(0)
  const seven = tenantId(7)
  const limit = metrics.countingTenants(ownLimit(slidingWindow(2, 1_000), () => 0))
  expect(limit.admitNow(seven)?.admitted).toBe(true)
  expect((await limit.admit(seven)).admitted).toBe(true)
  expect(limit.admitNow(seven)?.admitted).toBe(false)
  expect((await limit.admit(seven)).admitted).toBe(false)
  expect(limit.remaining(seven)).toBe(0)
  const scrape = await metrics.read()
  for (const name of ['tenant', 'signature-check'])
    expect(numberOf(scrape, `lanewise_limit_total{limit="${name}",outcome="admitted"}`)).toBe(2)
  expect(numberOf(scrape, 'lanewise_limit_total{limit="tenant",outcome="refused"}')).toBe(2)
})

describe('the port for metrics', () => {
  test('concurrent scrapes share one read, and a failed read is an error', async () => {
    const metrics = serviceMetrics()
    let reads = 0
    const failures: unknown[] = []
    const arrived = Promise.withResolvers<void>()
    let requests = 0
    const count = (message: unknown) => {
      const { localPort } = (message as { socket: Socket }).socket
      if (localPort === listener.port && ++requests === 3) arrived.resolve()
    }
    subscribe('http.server.request.start', count)
    const listener = await listenForMetrics(
      { port: 0, host: '127.0.0.1' },
      async () => {
        reads++
        if (reads > 1) throw new Error('broken')
        await arrived.promise
        return metrics.read()
      },
      (error) => failures.push(error),
    )
    const url = `http://127.0.0.1:${listener.port}/metrics`
    const answers = await Promise.all([fetch(url), fetch(url), fetch(url)])
    unsubscribe('http.server.request.start', count)
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(reads).toBe(1)
    const broken = await fetch(url)
    expect([broken.status, await broken.text(), failures.length]).toEqual([500, '', 1])
    await listener.close()
  })

  test('a port in use is an error', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    await expect(
      listenForMetrics(
        { port, host: '127.0.0.1' },
        async () => '',
        () => {},
      ),
    ).rejects.toThrow('EADDRINUSE')
    other.close()
  })
})
