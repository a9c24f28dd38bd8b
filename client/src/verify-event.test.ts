import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type EventReceiver, eventReceiver, type Received, sendEventsTo } from '#testing/event-receiver.ts'
import { call, type Integration, makeIntegration, makeQuote, pushUpdate } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { EventRejected, verifyEvent } from './index.ts'

/** Verifies real deliveries of a running service. */

let app: TestApp
let integration: Integration
let receiver: EventReceiver
let secret: string
let id: number

beforeAll(async () => {
  app = await testApp({
    now: Date.now(),
    config: { events: { allowPrivate: ['127.0.0.1'] } },
    sendEvents: { everyMs: 20 },
  })
})
afterAll(() => app.close())
beforeEach(async () => {
  integration = await makeIntegration(app)
  receiver = await eventReceiver()
  const endpoint = await sendEventsTo(app, integration.tenant, receiver.url)
  id = endpoint.id
  secret = endpoint.secret
})
afterEach(() => receiver.close())

const token = () => integration.tenant.owner

/** The next delivery of a test event. */
async function delivered(): Promise<Received> {
  const before = receiver.received.length
  await call(app, 'POST', `/api/event-endpoints/${id}/test`, { token: token() })
  await receiver.until((all) => all.length > before)
  return receiver.received.at(-1) ?? expect.fail()
}

async function rejected(verified: Promise<unknown>): Promise<EventRejected['reason']> {
  const error = await verified.catch((thrown: unknown) => thrown)
  if (!(error instanceof EventRejected)) throw new Error('It was not rejected.', { cause: error })
  return error.reason
}

describe('a delivery of the service', () => {
  test('is verified, with its id and its typed event', async () => {
    const quote = await makeQuote(app, integration.tenant, { rate: 2000 })
    await pushUpdate(app, integration, {
      lane_ref: quote.lane_ref,
      customer_rate: 2100,
      customer_name: 'Café Zürich',
    })
    await receiver.until((all) => all.length === 3)
    const verified = await Promise.all(
      receiver.received.map(({ body, headers }) => verifyEvent(body, headers, secret)),
    )
    expect(verified.map(({ event }) => event.type)).toEqual([
      'quote.created',
      'lane.booked',
      'lane.outcome_changed',
    ])
    expect(verified.map((one) => one.id)).toEqual(
      receiver.received.map(({ headers }) => headers['webhook-id']),
    )
    for (const { event } of verified) {
      if (event.type !== 'lane.booked') continue
      expect(event.data.changed).toContain('customer_rate')
      expect(event.data.lane).toMatchObject({ customer_rate: 2100, customer_name: 'Café Zürich' })
    }
  })

  test('is verified from bytes, from Headers, and from headers with other upper and lower case', async () => {
    const { body, headers } = await delivered()
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
    )
    for (const sent of [new Headers(headers), upper]) {
      const { event } = await verifyEvent(new TextEncoder().encode(body), sent, secret)
      expect(event).toMatchObject({ type: 'endpoint.test', data: { endpoint_id: id } })
    }
  })

  test('is verified with the old and the new secret during a rotation, and then with the new one only', async () => {
    const rotate = (hours: number) =>
      call(app, 'POST', `/api/event-endpoints/${id}/rotate`, {
        token: token(),
        body: { overlap_hours: hours },
      })
    const second = (await rotate(1)).body.secret
    const both = await delivered()
    for (const held of [secret, second]) {
      expect((await verifyEvent(both.body, both.headers, held)).event.type).toBe('endpoint.test')
    }
    const third = (await rotate(0)).body.secret
    const one = await delivered()
    expect((await verifyEvent(one.body, one.headers, third)).event.type).toBe('endpoint.test')
    expect(await rejected(verifyEvent(one.body, one.headers, second))).toBe('signature')
  })
})

describe('a request is rejected', () => {
  test('if the body, the id, the time or the signature was altered', async () => {
    const { body, headers } = await delivered()
    const timestamp = Number(headers['webhook-timestamp'])
    const altered: [string, Record<string, string>][] = [
      [body.replace('endpoint.test', 'lane.booked'), headers],
      [`${body} `, headers],
      [body, { ...headers, 'webhook-id': 'another' }],
      [body, { ...headers, 'webhook-timestamp': String(timestamp + 1) }],
      [body, { ...headers, 'webhook-signature': headers['webhook-signature']?.replace('v1,', 'v2,') ?? '' }],
      [body, { ...headers, 'webhook-signature': 'v1,not base64!' }],
      [body, { ...headers, 'webhook-signature': 'v1,' }],
    ]
    for (const [sent, by] of altered) expect(await rejected(verifyEvent(sent, by, secret))).toBe('signature')
  })

  test('if it is more than five minutes old or early, and not one second before that', async () => {
    const { body, headers } = await delivered()
    const signedMs = Number(headers['webhook-timestamp']) * 1000
    for (const offset of [-300_000, 300_000]) {
      expect((await verifyEvent(body, headers, secret, signedMs + offset)).id).toBe(headers['webhook-id'])
      const beyond = signedMs + offset + Math.sign(offset) * 1000
      expect(await rejected(verifyEvent(body, headers, secret, beyond))).toBe('time')
    }
    const spelled = { ...headers, 'webhook-timestamp': '2026-03-01' }
    expect(await rejected(verifyEvent(body, spelled, secret))).toBe('time')
  })

  test('if a header is missing', async () => {
    const { body, headers } = await delivered()
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      expect(await rejected(verifyEvent(body, { ...headers, [name]: undefined }, secret))).toBe('headers')
    }
  })

  test('with an error of the receiver if its secret is not one, or the body was parsed before', async () => {
    const { body, headers } = await delivered()
    const failed = (verified: Promise<unknown>) => verified.catch((thrown: unknown) => thrown)
    for (const wrong of ['', 'lwsec_abc', 'whsec_', 'whsec_%%%']) {
      expect(await failed(verifyEvent(body, headers, wrong))).toMatchObject({ code: 'invalid-configuration' })
    }
    const parsed = JSON.parse(body) as never
    expect(await failed(verifyEvent(parsed, headers, secret))).toMatchObject({ code: 'invalid-argument' })
  })
})
