import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { problems } from '#contract/errors.ts'
import { failingDatabase, outage } from '#testing/failing-database.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makePerson,
  makeQuote,
  makeTenant,
  password,
  pushUpdate,
  signedHeaders,
} from '#testing/make.ts'
import { head, sendRaw } from '#testing/raw-http.ts'
import { readScrape, type Scrape } from '#testing/samples.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { type TraceCollector, traceCollector } from '#testing/trace-collector.ts'
import { revision, version } from '../runtime/index.ts'
import { startWatching, type Watching } from './start-watching.ts'

const lanePath = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'
const markupPath =
  '/api/integrations/insights/markup?origin=Dallas,TX&destination=Atlanta,GA&proposed_rate=2000'

let collector: TraceCollector
let watching: Watching
let app: TestApp
let holder: Integration
const failing = failingDatabase()
/** How far the service's clock is ahead. The service logs a failing collector once a minute by this clock. */
let aheadMs = 0

beforeAll(async () => {
  collector = await traceCollector()
  // The tracing libraries read their environment variables, as in the service.
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url
  process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '500'
  process.env.OTEL_EXPORTER_OTLP_HEADERS = 'authorization=collector-key'
  app = await testApp({
    wrapDatabase: failing.wrapDatabase,
    watching: async (log) => {
      watching = await startWatching(
        { metrics: { port: 0, host: '127.0.0.1' }, traces: { OTEL_BSP_SCHEDULE_DELAY: '50' } },
        { log, monotonic: () => performance.now() + aheadMs },
      )
      return watching
    },
  })
  holder = await makeIntegration(app)
})
afterAll(async () => {
  await app.close()
})

const scrape = async (): Promise<Scrape> => readScrape(await watching.read())
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

/** The spans of a request: one for the answer, and one for each transaction. */
async function spansOf(requestId: string) {
  await expect
    .poll(() => collector.spans.find(({ attributes }) => attributes['lanewise.request_id'] === requestId))
    .toBeDefined()
  const request = collector.spans.find(({ attributes }) => attributes['lanewise.request_id'] === requestId)
  if (request === undefined) throw new Error('no span')
  return { request, parts: collector.spans.filter(({ parentSpanId }) => parentSpanId === request.spanId) }
}

describe('metrics', () => {
  test('answers are counted by endpoint, method and status, and timed', async () => {
    const before = await scrape()
    await call(app, 'GET', '/api/lanes', { token: holder.tenant.owner })
    await call(app, 'GET', '/api/lanes', { token: 'nobody' })
    const after = await scrape()
    const more = (name: string, labels: Record<string, string>) =>
      after.sum(name, labels) - before.sum(name, labels)
    const lanes = { endpoint: 'list-quotes', method: 'GET' }
    expect(more('lanewise_http_requests_total', { ...lanes, status: '200' })).toBe(1)
    expect(more('lanewise_http_requests_total', { ...lanes, status: '401' })).toBe(1)
    expect(more('lanewise_http_request_duration_seconds_count', { endpoint: 'list-quotes' })).toBe(2)
    expect(more('lanewise_refusals_total', { code: 'token-malformed' })).toBe(1)
    expect(more('lanewise_database_transaction_duration_seconds_count', { kind: 'tenant' })).toBeGreaterThan(
      0,
    )
  })

  test('reads without the database are counted like the others', async () => {
    await call(app, 'GET', lanePath, { token: holder.token })
    const before = await scrape()
    for (let times = 0; times < 5; times++) await call(app, 'GET', lanePath, { token: holder.token })
    const after = await scrape()
    const insight = { endpoint: 'lane-insight' }
    for (const name of ['lanewise_http_requests_total', 'lanewise_http_request_duration_seconds_count']) {
      expect([name, after.sum(name, insight) - before.sum(name, insight)]).toEqual([name, 5])
    }
    const admitted = { limit: 'tenant', outcome: 'admitted' }
    expect(after.sum('lanewise_limit_total', admitted) - before.sum('lanewise_limit_total', admitted)).toBe(5)
  })

  test('caches, connections and readiness are reported', async () => {
    app.now = Date.now()
    const now = await scrape()
    expect(now.sum('lanewise_memory_entries')).toBeGreaterThan(0)
    expect(now.sum('lanewise_memory_bytes')).toBeGreaterThan(0)
    expect(now.sum('lanewise_memory_bytes')).toBeLessThan(now.sum('lanewise_memory_bytes_max'))
    expect(now.sum('lanewise_tenants_watched')).toBeGreaterThan(0)
    expect(now.sum('lanewise_version_looks_total')).toBeGreaterThan(0)
    expect(now.sum('lanewise_database_connections_max')).toBe(app.database.connections().max)
    // A pool opens and closes connections at any time, so the two readings may differ.
    await expect
      .poll(
        async () => (await scrape()).sum('lanewise_database_connections') - app.database.connections().open,
      )
      .toBe(0)
    expect(now.sum('lanewise_build_info', { version, revision, node: process.version })).toBe(1)
    expect(now.sum('lanewise_ready')).toBe(4)
    expect(now.sum('process_resident_memory_bytes')).toBeGreaterThan(0)
  })

  test('imports are counted, with their rows and outcomes', async () => {
    const csv = [
      'Ship From,Ship To,Equip,Sell Rate,Quote Date,Status',
      '"Dallas, TX","Atlanta, GA",V,2000,3/1/2026,Won',
      '"Dallas, TX","Nowhere Else, ZZ",V,minus,3/1/2026,Won',
      '',
    ].join('\n')
    const began = await fetch(`${app.url}/api/imports?file_name=q.csv`, {
      method: 'POST',
      headers: { ...bearer(holder.tenant.owner), 'Content-Type': 'text/csv' },
      body: csv,
    })
    expect(began.status).toBe(202)
    await expect
      .poll(async () => (await scrape()).sum('lanewise_imports_ended_total', { status: 'done' }))
      .toBe(1)
    const now = await scrape()
    expect(now.sum('lanewise_import_rows_total')).toBe(2)
    expect(now.sum('lanewise_import_rows_total', { outcome: 'refused' })).toBe(1)
  })

  test('database failures and invalid requests are counted separately', async () => {
    failing.failAt(1, outage)
    expect((await call(app, 'GET', '/api/lanes', { token: holder.tenant.owner })).status).toBe(503)
    expect(failing.hasFired()).toBe(true)
    const now = await scrape()
    expect(now.sum('lanewise_refusals_total', { code: 'unavailable' })).toBe(1)
    expect(now.sum('lanewise_http_requests_total', { status: '503' })).toBe(1)
  })

  test('labels have a fixed set of values, for any request', async () => {
    for (const path of ['/no/such/thing', '/api/lanes/odd', '/api/%00', '/wp-login.php?x=1']) {
      for (const method of ['GET', 'PROPFIND', 'DELETE']) await fetch(`${app.url}${path}`, { method })
    }
    expect((await fetch(`${app.url}/%zz`)).status).toBe(400)
    await sendRaw(app, 'NONSENSE\r\n\r\n')
    const { samples, sum } = await scrape()
    expect(sum('lanewise_http_requests_total', { endpoint: 'none', method: 'GET', status: '400' })).toBe(1)
    expect(sum('lanewise_http_requests_total', { endpoint: 'none', method: 'other', status: '400' })).toBe(1)
    const known = new Set<string>([
      ...allEndpoints.map(({ name }) => name),
      ...['healthz', 'readyz', 'openapi', 'problems', 'docs', 'page', 'none'],
    ])
    const values = (label: string) =>
      new Set(
        samples.flatMap(({ name, labels }) =>
          /^lanewise_(http|refusals)/.test(name) ? (labels[label] ?? []) : [],
        ),
      )
    expect([...values('endpoint')].filter((name) => !known.has(name))).toEqual([])
    expect(
      [...values('method')].filter((name) => !/^(GET|POST|PATCH|PUT|DELETE|HEAD|other)$/.test(name)),
    ).toEqual([])
    expect([...values('status')].filter((status) => !/^\d{3}$/.test(status))).toEqual([])
    expect([...values('code')].filter((code) => !Object.hasOwn(problems, code))).toEqual([])
    const names = new Set(samples.flatMap(({ labels }) => Object.keys(labels)))
    expect([...names].filter((name) => /tenant|user|path|url|network|ip|token/.test(name))).toEqual([])
  })
})

describe('traces', () => {
  const parent = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
  const traceparent = `00-${parent.traceId}-${parent.spanId}-01`

  test('traces continue that of the caller, with a span for the request and one for each transaction', async () => {
    const { lane_ref: ref } = await makeQuote(app, holder.tenant)
    const body = JSON.stringify({ lane_ref: ref, customer_rate: 2100, truck_cost: 1800 })
    const answer = await fetch(`${app.url}/api/integrations/tms/shipment-update`, {
      method: 'POST',
      headers: { ...signedHeaders(holder, body, Math.floor(app.now / 1000)), traceparent },
      body,
    })
    expect(answer.status).toBe(200)
    const { request, parts } = await spansOf(answer.headers.get('Request-Id') ?? '')
    expect([request.traceId, request.parentSpanId]).toEqual([parent.traceId, parent.spanId])
    expect(request).toMatchObject({
      name: 'shipment-update',
      status: 0,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/api/integrations/tms/shipment-update',
        'http.response.status_code': 200,
        'lanewise.tenant_id': holder.tenant.id,
      },
      resource: { 'service.name': 'lanewise' },
    })
    expect(parts.map(({ name }) => name)).toContain('database tenant')
    expect(parts.every(({ traceId }) => traceId === parent.traceId)).toBe(true)
    expect(collector.headers().authorization).toBe('collector-key')
  })

  test('a read of a cached book has a span, without a transaction', async () => {
    await call(app, 'GET', lanePath, { token: holder.token })
    const answer = await call(app, 'GET', lanePath, { token: holder.token, headers: { traceparent } })
    const { request, parts } = await spansOf(answer.headers.get('Request-Id') ?? '')
    expect(request).toMatchObject({
      traceId: parent.traceId,
      name: 'lane-insight',
      attributes: { 'lanewise.tenant_id': holder.tenant.id },
    })
    expect(parts).toEqual([])
  })

  test('spans have the problem code of a refusal, and errors of the service are marked', async () => {
    const refused = await call(app, 'GET', '/api/lanes', { token: 'nobody' })
    const told = await spansOf(refused.headers.get('Request-Id') ?? '')
    expect([told.request.attributes['lanewise.problem'], told.request.status]).toEqual(['token-malformed', 0])
    failing.failAt(1, outage)
    const failed = await call(app, 'GET', '/api/lanes', { token: holder.tenant.owner })
    const fault = await spansOf(failed.headers.get('Request-Id') ?? '')
    expect([fault.request.attributes['lanewise.problem'], fault.request.status]).toEqual(['unavailable', 2])
  })

  test('no span is sent when the caller does not sample its trace', async () => {
    const untold = await call(app, 'GET', '/api/lanes', {
      token: holder.tenant.owner,
      headers: { traceparent: `${traceparent.slice(0, -2)}00` },
    })
    const told = await call(app, 'GET', '/api/lanes', { token: holder.tenant.owner })
    await spansOf(told.headers.get('Request-Id') ?? '')
    expect(collector.bodies.join()).not.toContain(untold.headers.get('Request-Id'))
  })

  test('a trace ends with the answer: background work is in none', async () => {
    const answer = await call(app, 'GET', markupPath, { token: holder.token })
    const { request } = await spansOf(answer.headers.get('Request-Id') ?? '')
    await app.settle()
    const later = await call(app, 'GET', '/healthz')
    await spansOf(later.headers.get('Request-Id') ?? '')
    const late = collector.spans.filter(({ traceId }) => traceId === request.traceId)
    expect(late.length).toBeLessThan(15)
  })
})

describe('the service log', () => {
  type Line = Record<string, unknown>
  const linesOf = (requestId: string | null): Line[] =>
    app.logLines.filter((line) => line.includes(requestId ?? 'none')).map((line) => JSON.parse(line) as Line)

  test('each log line of a request has its id and tenant: answered, refused, from memory', async () => {
    await call(app, 'GET', lanePath, { token: holder.token })
    const answers = [
      await call(app, 'GET', lanePath, { token: holder.token }),
      await call(app, 'GET', '/api/lanes', { token: holder.tenant.owner }),
      await pushUpdate(app, { ...holder, secret: 'lwsec_wrong' }, { lane_ref: 'x' }),
      await call(app, 'POST', '/api/integrations/tokens', { token: holder.tenant.owner, body: {} }),
    ]
    for (const { headers } of answers) {
      const requestId = headers.get('Request-Id')
      await expect.poll(() => linesOf(requestId).some(({ msg }) => msg === 'request')).toBe(true)
      for (const line of linesOf(requestId)) {
        expect(line).toMatchObject({
          level: expect.stringMatching(/^(info|warn|error)$/),
          request_id: requestId,
          tenant_id: holder.tenant.id,
        })
      }
    }
  })

  test('a log line has no tenant when the caller is unknown', async () => {
    const { headers } = await call(app, 'GET', '/api/lanes', { token: 'nobody' })
    const requestId = headers.get('Request-Id')
    await expect.poll(() => linesOf(requestId).length).toBe(2)
    for (const line of linesOf(requestId))
      expect(line).toMatchObject({ request_id: requestId, tenant_id: null })
  })
})

test('no log line, metric or span contains a secret, wherever a caller sends it', () =>
  sendSecrets((headers, nth) => headers.filter((_, kind) => kind === 1 || kind === nth % headers.length)))
test(
  'no log line, metric or span contains a secret, wherever a caller sends it, with each credential',
  {
    tags: 'long',
  },
  () => sendSecrets((headers) => headers),
)

/** Sends secrets to every operation, with some of all kinds of credentials. */
async function sendSecrets(
  some: (kinds: Record<string, string>[], nthOperation: number) => Record<string, string>[],
) {
  const canary = 'canary-7Qx29Lm4'
  const tenant = await makeTenant(app)
  const person = await makePerson(app, tenant, 'admin')
  const integration = await makeIntegration(app)
  const wrong = { ...integration, secret: `${integration.secret}x` }
  const body = JSON.stringify({ lane_ref: canary, customer_rate: 2100 })
  const signed = signedHeaders(integration, body, Math.floor(app.now / 1000))
  const signature = Object.entries(signed).find(([name]) => /signature/i.test(name))?.[1] ?? ''
  const signIn = await fetch(`${app.url}/api/auth/sign-in`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Lanewise-Request': '1' },
    body: JSON.stringify({ email: person.email, password, session: 'cookie' }),
  })
  expect(signIn.headers.get('Set-Cookie')).toContain('__Host-lanewise=')
  const cookie = (signIn.headers.get('Set-Cookie') ?? '').split(';')[0] ?? ''
  const secrets = [
    password,
    `${password}-wrong`,
    canary,
    tenant.owner,
    person.token,
    integration.token,
    integration.secret,
    signature.replace('sha256=', ''),
    'collector-key',
    ...((cookie.split('=')[1] ?? '') ? [cookie.split('=')[1] ?? ''] : []),
  ]
  const fill = (path: string) => path.replaceAll(/\{\w+\}/g, canary)
  const credentials: Record<string, string>[] = [
    {},
    bearer(tenant.owner),
    bearer(integration.token),
    bearer(`${integration.token}x`),
    bearer(integration.secret),
    { Cookie: cookie },
    { Cookie: `__Host-lanewise=${person.token}`, 'X-Lanewise-Request': canary },
  ]
  // Secrets in every place that a caller may put them.
  for (const [nth, { method, path }] of allEndpoints.entries()) {
    for (const headers of some(credentials, nth)) {
      const sent = {
        email: person.email,
        password: `${password}-wrong`,
        token: integration.token,
        secret: integration.secret,
        [canary]: canary,
        name: canary,
      }
      await app.inject({
        method,
        url: `${fill(path)}?token=${integration.token}&secret=${integration.secret}&q=${canary}`,
        headers: { host: 'x', ...headers, 'x-service-signature': signature, 'x-service-timestamp': canary },
        ...(method === 'GET' ? {} : { payload: sent }),
      })
    }
  }
  await pushUpdate(app, integration, { lane_ref: canary })
  await pushUpdate(app, wrong, { lane_ref: canary })
  await call(app, 'GET', lanePath, { token: integration.token })
  await call(app, 'GET', lanePath, {
    token: integration.token,
    headers: { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`, tracestate: `x=${canary}` },
  })
  await call(app, 'GET', `/${integration.secret}`)
  await call(app, 'GET', `/api/lanes/${integration.secret}`, { token: tenant.owner })
  await sendRaw(
    app,
    head('GET /healthz HTTP/1.1', [
      ['Host', 'x'],
      [canary, integration.secret],
      ['Connection', 'close'],
    ]),
  )
  await sendRaw(app, `${integration.secret} / HTTP/9\r\n\r\n`)
  failing.failAt(2, () => new Error('a fault of ours'))
  await call(app, 'GET', '/api/lanes', { token: tenant.owner })
  failing.hasFired()
  await app.settle()
  const last = await call(app, 'GET', '/healthz')
  await spansOf(last.headers.get('Request-Id') ?? '')

  const places = {
    log: app.logLines.join(''),
    metrics: await watching.read(),
    spans: collector.bodies.join('\n'),
  }
  expect(places.log.length).toBeGreaterThan(50_000)
  expect(places.spans.length).toBeGreaterThan(50_000)
  // Control: a planted log line is found.
  expect(foundIn({ planted: `${places.log}{"header":"Bearer ${tenant.owner}"}` }, [tenant.owner])).toEqual([
    'planted contains secret 0',
  ])
  expect(foundIn(places, secrets)).toEqual([])
}

test('an unreachable collector causes one log line, and neither answers nor the stop fail', async () => {
  await collector.close()
  const lines = () => app.logLines.filter((line) => line.includes('traces could not be sent'))
  const ask = async () =>
    expect((await call(app, 'GET', '/api/lanes', { token: holder.tenant.owner })).status).toBe(200)
  // On a busy machine, a call to the collector may have timed out before.
  const before = lines().length
  aheadMs += 60_000
  await ask()
  await expect.poll(() => lines().length).toBe(before + 1)
  await ask()
  // Sends the remaining spans, which fails, too.
  await watching.stop()
  expect(lines()).toHaveLength(before + 1)
  expect(lines().join()).not.toContain('collector-key')
})

/** The texts that contain a secret: plain, in base64 or in hex. */
function foundIn(places: Readonly<Record<string, string>>, secrets: readonly string[]): string[] {
  return Object.entries(places).flatMap(([place, held]) =>
    secrets.flatMap((secret, index) => {
      expect(secret.length).toBeGreaterThan(10)
      const bytes = Buffer.from(secret)
      const forms = [
        secret,
        encodeURIComponent(secret),
        bytes.toString('hex'),
        bytes.toString('base64url').slice(0, -2),
      ]
      return forms.some((form) => held.includes(form)) ? [`${place} contains secret ${index}`] : []
    }),
  )
}
