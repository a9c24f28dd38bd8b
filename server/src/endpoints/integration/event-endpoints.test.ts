import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventEndpointsMax } from '#contract/limits.ts'
import { answerWith, type EventReceiver, eventReceiver, sendEventsTo } from '#testing/event-receiver.ts'
import { call, type MadeTenant, makePerson, makeQuote, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
let receiver: EventReceiver

beforeAll(async () => {
  app = await testApp({ config: { events: { allowPrivate: ['loopback'] } }, sendEvents: { everyMs: 20 } })
  receiver = await eventReceiver()
})
afterAll(async () => {
  await receiver.close()
  await app.close()
})

const as = (tenant: MadeTenant, method: string, path: string, body?: unknown) =>
  call(app, method, path, { token: tenant.owner, ...(body === undefined ? {} : { body }) })
const url = 'https://hooks.example.com/lanewise'

describe('201 and 200', () => {
  test('an address is added, listed without its secret, changed and removed', async () => {
    const tenant = await makeTenant(app)
    const made = await as(tenant, 'POST', '/api/event-endpoints', { url, description: 'Data warehouse' })
    expect([made.status, made.headers.get('Cache-Control')]).toEqual([201, 'no-store'])
    expect(made.body).toEqual({
      endpoint: {
        id: 1,
        url,
        description: 'Data warehouse',
        event_types: [
          'quote.created',
          'quote.updated',
          'lane.booked',
          'lane.booking_cancelled',
          'lane.update_not_applied',
          'lane.outcome_changed',
          'quote.expired',
          'approval.changed',
          'credential.expiring',
        ],
        state: 'active',
        disabled_reason: null,
        created_at: new Date(app.now).toISOString(),
        waiting: 0,
        dead: 0,
        secrets: [{ id: 1, created_at: new Date(app.now).toISOString(), expires_at: null }],
      },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      warning: expect.stringContaining('shown once'),
    })
    const listed = await as(tenant, 'GET', '/api/event-endpoints')
    expect(listed.body).toEqual({ events_on: true, endpoints: [made.body.endpoint] })
    expect(JSON.stringify(listed.body)).not.toContain(made.body.secret)
    const changed = await as(tenant, 'PATCH', '/api/event-endpoints/1', {
      event_types: ['lane.booked'],
      state: 'paused',
    })
    expect(changed.body).toEqual({ ...made.body.endpoint, event_types: ['lane.booked'], state: 'paused' })
    expect((await as(tenant, 'DELETE', '/api/event-endpoints/1')).body).toEqual({ id: 1 })
    expect((await as(tenant, 'GET', '/api/event-endpoints')).body.endpoints).toEqual([])
    expect((await as(tenant, 'DELETE', '/api/event-endpoints/1')).status).toBe(404)
  })

  test('a change is partial, and the answer is the whole endpoint', async () => {
    const tenant = await makeTenant(app)
    const made = await as(tenant, 'POST', '/api/event-endpoints', { url, description: 'Data warehouse' })
    const one = '/api/event-endpoints/1'
    const paused = { ...made.body.endpoint, state: 'paused' }
    expect((await as(tenant, 'PATCH', one, { state: 'paused', description: null })).body).toEqual(paused)
    const named = { ...paused, description: 'Billing' }
    expect((await as(tenant, 'PATCH', one, { description: 'Billing' })).body).toEqual(named)
    // A change without a valid field is an error: a misspelled name, or a null value.
    for (const body of [{}, { description: null }, { status: 'active' }]) {
      const refused = await as(tenant, 'PATCH', one, body)
      expect({ status: refused.status, code: refused.body.code }).toEqual({
        status: 422,
        code: 'validation-failed',
      })
      expect(refused.body.detail).toContain('at least one of url, description, event_types, state')
      expect(refused.headers.get('Ignored-Fields')).toBe('status' in body ? 'status' : null)
    }
    expect((await as(tenant, 'GET', '/api/event-endpoints')).body.endpoints).toEqual([named])
  })

  test('deliveries are listed newest first, by endpoint and state, in pages', async () => {
    const tenant = await makeTenant(app)
    receiver.answer = answerWith(202, 'queued')
    const { id } = await sendEventsTo(app, tenant, receiver.url, { event_types: ['quote.created'] })
    const quote = await makeQuote(app, tenant)
    const { body: tested } = await as(tenant, 'POST', `/api/event-endpoints/${id}/test`)
    const path = `/api/event-deliveries?endpoint_id=${id}&state=delivered`
    await expect.poll(async () => (await as(tenant, 'GET', path)).body.deliveries.length).toBe(2)
    const first = await as(tenant, 'GET', `${path}&limit=1`)
    expect(first.body.deliveries).toMatchObject([
      { event_id: tested.event_id, type: 'endpoint.test', lane_ref: null, state: 'delivered', attempts: 1 },
    ])
    const second = await as(tenant, 'GET', `${path}&limit=1&cursor=${first.body.next_cursor}`)
    expect(second.body).toMatchObject({
      deliveries: [
        {
          type: 'quote.created',
          lane_ref: quote.lane_ref,
          status: 202,
          answer: 'queued',
          failure: null,
          next_at: null,
        },
      ],
      next_cursor: null,
    })
    expect((await as(tenant, 'GET', '/api/event-deliveries?state=dead')).body.deliveries).toEqual([])
  })
})

describe('422', () => {
  test.each([
    'http://hooks.example.com/',
    'https://10.0.0.1/',
    'https://167772161/',
    'https://169.254.169.254/latest/meta-data/',
    'https://localhost./',
    'https://user@hooks.example.com/',
    'no address',
  ])('%s may not be sent to', async (refused) => {
    const tenant = await makeTenant(app)
    const { status, body } = await as(tenant, 'POST', '/api/event-endpoints', { url: refused })
    expect([status, body.type]).toEqual([422, '/problems/url-not-allowed'])
    expect(body.errors).toMatchObject([{ pointer: '/url', detail: expect.stringMatching(/^url must /) }])
    await as(tenant, 'POST', '/api/event-endpoints', { url })
    const changed = await as(tenant, 'PATCH', '/api/event-endpoints/1', { url: refused })
    expect([changed.status, changed.body.type]).toEqual([422, '/problems/url-not-allowed'])
  })

  test('unknown types, states that cannot be set, and a replay without a selection', async () => {
    const tenant = await makeTenant(app)
    await as(tenant, 'POST', '/api/event-endpoints', { url })
    const one = '/api/event-endpoints/1'
    for (const [method, path, body] of [
      ['POST', '/api/event-endpoints', { url, event_types: [] }],
      ['POST', '/api/event-endpoints', { url, event_types: ['lane.lost'] }],
      ['POST', '/api/event-endpoints', { url, event_types: ['lane.booked', 'lane.booked'] }],
      ['POST', '/api/event-endpoints', { url: `https://example.com/${'x'.repeat(1_000)}` }],
      ['PATCH', one, { state: 'disabled' }],
      ['POST', `${one}/rotate`, { overlap_hours: 200 }],
      ['POST', `${one}/replay`, {}],
      ['POST', `${one}/replay`, { event_id: 'x' }],
      ['POST', `${one}/replay`, { event_id: crypto.randomUUID(), since: '2026-01-01' }],
      ['GET', '/api/event-deliveries?cursor=x', undefined],
      ['GET', '/api/event-deliveries?state=lost', undefined],
    ] as const) {
      expect([path, body, (await as(tenant, method, path, body)).status]).toEqual([path, body, 422])
    }
  })
})

describe('403, 404 and 409', () => {
  test('members can neither read nor change endpoints, and no one can access another brokerage’s', async () => {
    const [tenant, other] = [await makeTenant(app), await makeTenant(app)]
    await as(tenant, 'POST', '/api/event-endpoints', { url })
    const { token } = await makePerson(app, tenant, 'member')
    expect((await call(app, 'GET', '/api/event-endpoints', { token })).status).toBe(403)
    expect((await call(app, 'GET', '/api/event-deliveries', { token })).status).toBe(403)
    for (const [method, path, body] of [
      ['PATCH', '', { state: 'paused' }],
      ['DELETE', '', undefined],
      ['POST', '/rotate', {}],
      ['POST', '/test', undefined],
      ['POST', '/replay', { since: '2026-01-01' }],
    ] as const) {
      expect((await as(other, method, `/api/event-endpoints/1${path}`, body)).status).toBe(404)
    }
  })

  test('a brokerage has a maximum number of endpoints, also when they are added concurrently', async () => {
    const tenant = await makeTenant(app)
    const adding = Array.from({ length: eventEndpointsMax + 2 }, () =>
      as(tenant, 'POST', '/api/event-endpoints', { url }),
    )
    const statuses = (await Promise.all(adding)).map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array<number>(eventEndpointsMax).fill(201), 409, 409])
    await as(tenant, 'DELETE', '/api/event-endpoints/1')
    expect((await as(tenant, 'POST', '/api/event-endpoints', { url })).status).toBe(201)
  })

  test('nothing is sent to a paused address, not even on request', async () => {
    const tenant = await makeTenant(app)
    await as(tenant, 'POST', '/api/event-endpoints', { url })
    await as(tenant, 'PATCH', '/api/event-endpoints/1', { state: 'paused' })
    const tested = await as(tenant, 'POST', '/api/event-endpoints/1/test')
    expect([tested.status, tested.body.type]).toEqual([409, '/problems/state-conflict'])
  })

  test('a brokerage sends one test event per second over all its addresses; others are not affected', async () => {
    let elapsedMs = 0
    const timed = await testApp({
      config: { events: { allowPrivate: ['loopback'] } },
      monotonic: () => elapsedMs,
    })
    try {
      const [tenant, other] = [await makeTenant(timed), await makeTenant(timed)]
      for (const one of [tenant, tenant, other]) await sendEventsTo(timed, one, receiver.url)
      const send = ({ owner: token }: MadeTenant, id: number) =>
        call(timed, 'POST', `/api/event-endpoints/${id}/test`, { token })
      expect((await send(tenant, 1)).status).toBe(202)
      elapsedMs += 400
      const { status, body, headers } = await send(tenant, 2)
      expect([status, body.type, headers.get('retry-after')]).toEqual([
        429,
        '/problems/too-many-attempts',
        '1',
      ])
      expect((await send(other, 1)).status).toBe(202)
      elapsedMs += 600
      expect((await send(tenant, 2)).status).toBe(202)
    } finally {
      await timed.close()
    }
  })

  test('with events off, no endpoint can be added', async () => {
    const off = await testApp({ config: { events: null } })
    try {
      const { owner: token } = await makeTenant(off)
      const { status, body } = await call(off, 'POST', '/api/event-endpoints', { token, body: { url } })
      expect([status, body.type]).toEqual([409, '/problems/events-off'])
      const listed = await call(off, 'GET', '/api/event-endpoints', { token })
      expect(listed.body).toEqual({ events_on: false, endpoints: [] })
    } finally {
      await off.close()
    }
  })
})
