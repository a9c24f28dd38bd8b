import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Integration, makeIntegration, makeQuote, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { isLanewiseFailure, Lanewise, type LanewiseEvent } from './index.ts'

/** Tests the client against a running service. */

let app: TestApp
let integration: Integration
let lanewise: Lanewise

beforeAll(async () => {
  app = await testApp({ now: Date.now() })
  integration = await makeIntegration(app)
  lanewise = new Lanewise({ baseUrl: `${app.url}/`, token: integration.token, secret: integration.secret })
})
afterAll(() => app.close())

test('an integration creates credentials, reads insights and books a margin', async () => {
  const tenant = await makeTenant(app)
  const owner = new Lanewise({ baseUrl: app.url, token: tenant.owner })
  const token = await owner.createServiceToken({ name: 'TMS' })
  const secret = await owner.createSigningSecret({ name: 'tms' })
  const tms = new Lanewise({ baseUrl: app.url, token: token.token, secret: secret.secret })
  const quote = await makeQuote(app, tenant, { rate: 2000 })

  const query = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
  expect(await tms.markup({ ...query, proposed_rate: 2100 })).toMatchObject({
    found: true,
    confidence: 'none',
  })
  const update = {
    lane_ref: quote.lane_ref,
    customer_rate: 2100.1,
    truck_cost: 1790.05,
    carrier_name: 'Peña — 運送',
  }
  expect(await tms.shipmentUpdate(update)).toEqual({ status: 'ok', lane_id: quote.lane_id, updated: true })

  // The next response includes the booking, because the write cleared the cache.
  expect(await tms.markup({ ...query, proposed_rate: 2100 })).toMatchObject({ confidence: 'low' })
  expect(await tms.laneInsight(query)).toMatchObject({
    found: true,
    history: { wins: 1, avg_rate_usd: 2100.1 },
  })
  expect(await owner.call('get-quote', { params: { lane_ref: quote.lane_ref } })).toMatchObject({
    margin: 310.05,
    carrier_name: 'Peña — 運送',
  })

  expect((await owner.listServiceTokens()).tokens).toHaveLength(1)
  const successor = await owner.rotateSigningSecret(secret.id, { overlap_hours: 1 })
  expect((await owner.listSigningSecrets()).secrets.map(({ id }) => id)).toEqual([successor.id, secret.id])
  expect((await owner.revokeSigningSecret(secret.id)).revoked_at).not.toBeNull()
  await owner.revokeServiceToken(token.id)
  const refused = await tms.laneInsight(query, { cache: false }).catch((error: unknown) => error)
  expect(isLanewiseFailure(refused) && refused.code).toBe('token-revoked')
})

test('an integration pushes quotes and outcomes under its own ids, books in bulk, and reads back what changed', async () => {
  const ours = await makeIntegration(app, 'integrations:write quotes:write')
  const tms = new Lanewise({ baseUrl: app.url, token: ours.token, secret: ours.secret })
  const quote = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', customer_name: 'Harvest' }
  const pushed = await tms.pushQuotes({
    quotes: [
      { ...quote, external_id: 'A', quoted_rate: 2000 },
      { ...quote, external_id: 'B', quoted_rate: 2100 },
    ],
  })
  expect(pushed).toMatchObject({ created: 2, failed: 0 })
  expect(await tms.pushOutcomes({ outcomes: [{ external_id: 'A', outcome: 'lost' }] })).toMatchObject({
    updated: 1,
  })
  const rate = { ...quote, basis: 'all_in' as const, mid: 1960, source: 'DAT', as_of: '2026-01-05' }
  expect(await tms.pushMarketRates({ rates: [rate] })).toMatchObject({ created: 1, failed: 0 })
  const text = 'Origin,Destination,Equipment,All-In Rate\n"Dallas, TX","Atlanta, GA",V,1980\n'
  const about = { source: 'DAT', as_of: '2026-01-12' }
  expect(await tms.pushMarketFile(new Blob([text]), about)).toMatchObject({
    stored: true,
    created: 1,
    failed: 0,
  })
  const booked = await tms.pushShipmentUpdates({ updates: [{ external_id: 'B', customer_rate: 2100 }] })
  expect(booked).toMatchObject({ applied: 1 })
  const page = await tms.readQuotes()
  expect(page.quotes.map((one) => (one.removed ? null : [one.lane.external_id, one.lane.outcome]))).toEqual([
    ['A', 'lost'],
    ['B', 'won'],
  ])
  expect((await tms.readQuotes({ cursor: page.next_cursor })).quotes).toEqual([])
  expect((await tms.readShipments()).shipments).toHaveLength(1)
})

test('a clock skew of one hour is corrected by the service’s time', async () => {
  const quote = await makeQuote(app, integration.tenant)
  app.now = Date.now() + 3_600_000
  try {
    expect(await lanewise.shipmentUpdate({ lane_ref: quote.lane_ref, truck_cost: 1500 })).toMatchObject({
      updated: true,
    })
  } finally {
    app.now = Date.now()
  }
})

test('a booking is cancelled with a reason', async () => {
  const { lane_ref: laneRef } = await makeQuote(app, integration.tenant)
  await lanewise.shipmentUpdate({ lane_ref: laneRef, truck_cost: 1500 })
  expect(await lanewise.cancelBooking({ laneRef, reason: 'No truck' })).toMatchObject({ updated: true })
  const owner = new Lanewise({ baseUrl: app.url, token: integration.tenant.owner })
  expect(await owner.call('get-quote', { params: { lane_ref: laneRef } })).toMatchObject({
    truck_cost: null,
    outcome: 'pending',
    cancelled_at: expect.any(String),
    cancel_reason: 'No truck',
  })
  expect(await lanewise.cancelBooking({ laneRef })).toMatchObject({ updated: true })
})

test('a file is uploaded and downloaded unchanged', async () => {
  const owner = new Lanewise({ baseUrl: app.url, token: integration.tenant.owner })
  const body = new Blob(['origin,destination,equipment,quoted_rate,quoted_at\nReno\n'])
  const made = await owner.call('create-import', { query: { file_name: 'q.csv', dry_run: 'true' }, body })
  expect(made).toMatchObject({ file_name: 'q.csv', dry_run: true })
  expect(await owner.call('export-quotes', { query: { origin: 'Dallas, TX' } })).toContain('Dallas')
})

test('a misspelled field is reported in the metadata, or is an error for a strict client', async () => {
  const { lane_ref } = await makeQuote(app, integration.tenant)
  const update = { lane_ref, truck_cost: 1500, custommer_rate: 2150 }
  const { data, meta } = await lanewise.shipmentUpdate(update).withMeta()
  expect(data.updated).toBe(true)
  expect(meta).toMatchObject({ status: 200, replayed: false, ignored: ['custommer_rate'], fromCache: false })
  expect(meta.rateLimit).toMatchObject({ limit: 10 })
  expect(meta.requestId).toBe(meta.headers.get('Request-Id'))

  const refused = await lanewise.shipmentUpdate(update, { strict: true }).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'unknown-field', status: 422 })
})

test('a repeated signed request returns the saved response, marked as replayed', async () => {
  const { lane_ref } = await makeQuote(app, integration.tenant)
  const clock = vi.spyOn(Date, 'now').mockReturnValue(app.now)
  try {
    const send = () => lanewise.shipmentUpdate({ lane_ref, truck_cost: 1400 }).withMeta()
    const [first, second] = [await send(), await send()]
    expect([first.meta.replayed, second.meta.replayed]).toEqual([false, true])
    expect(second.data).toEqual(first.data)
  } finally {
    clock.mockRestore()
  }
})

test('null means absent, and the service rejects a lane_ref that is not a string', async () => {
  const { lane_ref } = await makeQuote(app, integration.tenant)
  const update = { lane_ref, truck_cost: 1300, customer_rate: null, carrier_name: undefined, booked_at: null }
  expect(await lanewise.shipmentUpdate(update)).toMatchObject({ updated: true })
  const query = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: null }
  expect(await lanewise.markup({ ...query, proposed_rate: 2150, market_rate: null })).toMatchObject({
    found: true,
  })
  expect(
    await lanewise.insightBatch({ lanes: [{ ...query, proposed_rate: null }], answers: null }),
  ).toMatchObject({
    count: 1,
  })
  const wrong = await lanewise.shipmentUpdate({ lane_ref: 7 as never }).catch((error: unknown) => error)
  expect(wrong).toMatchObject({ code: 'validation-failed', errors: [{ pointer: '/lane_ref' }] })
})

const rates = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    origin: 'Dallas, TX',
    destination: 'Atlanta, GA',
    proposed_rate: 2000 + at,
  }))

describe('the rate limit of the service', () => {
  let limited: TestApp
  beforeAll(async () => {
    limited = await testApp({ now: Date.now(), rateLimit: 'real' })
  })
  afterAll(() => limited.close())

  test('25 concurrent calls succeed within the rate limit, without a refusal', {
    tags: 'measure',
  }, async () => {
    const { token, tenant } = await makeIntegration(limited)
    const at = { baseUrl: limited.url, token }
    const unlimited = new Lanewise({ ...at, rateLimit: false, patience: { retries: 0 } })
    const refused = (await Promise.allSettled(rates(25).map((query) => unlimited.markup(query)))).flatMap(
      (end) => (end.status === 'rejected' ? [end.reason.code] : []),
    )
    expect(new Set(refused)).toEqual(new Set(['quota-exceeded']))

    const owner = new Lanewise({ baseUrl: limited.url, token: tenant.owner })
    await expect.poll(async () => (await owner.call('get-rate-limit', {})).remaining).toBe(10)
    const events: LanewiseEvent[] = []
    const lanewise = new Lanewise({ ...at, onEvent: (event) => events.push(event) })
    const began = performance.now()
    const answers = await Promise.all(rates(25).map((query) => lanewise.markup(query)))
    expect(answers.map(({ query }) => query.proposed_rate)).toEqual(rates(25).map((one) => one.proposed_rate))
    const statuses = events.flatMap((event) => (event.kind === 'answered' ? [event.status] : []))
    expect(statuses).toEqual(Array.from({ length: 25 }, () => 200))
    // Ten immediately, ten after one second, five after two seconds.
    expect(performance.now() - began).toBeGreaterThan(2_000)
  })

  test('the calls of two processes that share a brokerage all succeed, with Retry-After', {
    tags: 'measure',
  }, async () => {
    const { token } = await makeIntegration(limited)
    const processes = [1, 2].map(
      () => new Lanewise({ baseUrl: limited.url, token, patience: { retries: 1 } }),
    )
    const all = processes.flatMap((one) => rates(12).map((query) => one.markup(query)))
    expect(await Promise.all(all)).toHaveLength(24)
  })
})
