import pg from 'pg'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type EventBody, eventBodies } from '#contract/events.ts'
import {
  deliveriesPerEndpointMax,
  deliveryDelaysSeconds,
  endpointsAtOncePerTenantMax,
  eventEndpointsMax,
  eventsKeptDaysMax,
} from '#contract/limits.ts'
import { shape } from '#contract/shape.ts'
import { appOn, type TestAppOptions } from '#testing/app-on-database.ts'
import {
  answerWith,
  type EventReceiver,
  eventReceiver,
  type Received,
  sendEventsTo,
} from '#testing/event-receiver.ts'
import { call, type Integration, makeIntegration, makeQuote, makeTenant, pushUpdate } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import {
  type ClaimedEvent,
  changeQuote,
  lockQuote,
  type QuoteThen,
  writeEventsOn,
} from '../database/queries/index.ts'
import { tenantId } from '../database/session/index.ts'
import { eventBody } from './event-body.ts'
import { settlementOf } from './event-sender.ts'
import { postEvent } from './post-event.ts'

const onLoopback = { events: { allowPrivate: ['loopback'] } }
/** With these options, the sender gives up on no receiver, and retries only when a test makes a retry due. */
const sendEvents: TestAppOptions['sendEvents'] = {
  everyMs: 20,
  post: (url, sent, options) => postEvent(url, sent, { ...options, patienceMs: 600_000 }),
  settlement(attempt, posted, random) {
    const { state, retrySeconds } = settlementOf(attempt, posted, random)
    return { state, retrySeconds: retrySeconds === null ? null : 60 * retrySeconds }
  },
}

let app: TestApp
let service: pg.Client
let receiver: EventReceiver
let integration: Integration

beforeAll(async () => {
  app = await testApp({ config: onLoopback, sendEvents })
  service = new pg.Client(app.testDatabase.service)
  await service.connect()
})
afterAll(async () => {
  await service.end()
  await app.close()
})
beforeEach(async () => {
  app.now = Date.now()
  receiver = await eventReceiver()
  integration = await makeIntegration(app)
})
afterEach(() => receiver.close())

/** Runs a query with the service's role, for one brokerage. */
async function ask<Row extends object>(question: string): Promise<Row[]> {
  await service.query(`set app.tenant_id = '${integration.tenant.id}'`)
  return (await service.query<Row>(question)).rows
}
/** Makes deliveries that wait for a retry due now. */
const hurry = () => ask(`update event_deliveries set next_at = clock_timestamp() where state = 'due'`)
const typesOf = (received: readonly Received[]) => received.map(({ event }) => event.type as string)
const book = (laneRef: string, rate: number, more: Record<string, unknown> = {}) =>
  pushUpdate(app, integration, { lane_ref: laneRef, customer_rate: rate, truck_cost: rate - 300, ...more })
/** Waits until the deliveries are in these states, the oldest event's first. */
async function become(...expected: string[]): Promise<void> {
  const states = async () => {
    const rows = await ask<{ state: string }>(
      `select case when state = 'due' and response_status is null and failure is null then 'new'
         when state = 'due' and next_at < clock_timestamp() + interval '2 seconds' then 'now' else state end as state
       from event_deliveries order by event_number`,
    )
    return rows.map(({ state }) => state)
  }
  await expect.poll(states, { interval: 15 }).toEqual(expected)
}

const anotherInstance = () =>
  appOn(app.testDatabase, { config: onLoopback, sendEvents, secretKeys: [app.secretKey] })

describe('event content', () => {
  test('events for a quote, its booking and its outcome are sent in that order and match the contract', async () => {
    const { secret } = await sendEventsTo(app, integration.tenant, receiver.url)
    const quote = await makeQuote(app, integration.tenant, { rate: 2150 })
    await book(quote.lane_ref, 2150, { carrier_name: 'Blue Mesa' })
    await receiver.until((all) => all.length === 3)
    expect(typesOf(receiver.received)).toEqual(['quote.created', 'lane.booked', 'lane.outcome_changed'])
    for (const { event, headers, body } of receiver.received) {
      const { schema } = eventBodies[(event as EventBody).type]
      expect(shape(schema, 'body').errors(event)).toEqual([])
      expect(new Webhook(secret).verify(body, headers)).toEqual(event)
      expect(() => new Webhook(secret).verify(body.replace('Dallas', 'Austin'), headers)).toThrow()
    }
    const [quoted, booked, decided] = receiver.received.map(({ event }) => event.data)
    expect(quoted?.lane).toEqual(quote)
    expect(booked).toMatchObject({
      change_id: 1,
      source: 'tms',
      changed: ['customer_rate', 'truck_cost', 'carrier_name'],
      lane: { customer_rate: 2150, truck_cost: 1850, margin: 300, carrier_name: 'Blue Mesa', outcome: 'won' },
    })
    expect(decided).toMatchObject({
      change_id: 1,
      previous_outcome: 'pending',
      previous_outcome_reason: null,
    })
    const { body } = await call(app, 'GET', `/api/lanes/${quote.lane_ref}`, {
      token: integration.tenant.owner,
    })
    expect(decided?.lane).toEqual(body)
    const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(3)
    await become('delivered', 'delivered', 'delivered')
  })

  test('a margin in two currencies is that of the exchange rate at the time of the event, and absent without one', async () => {
    await sendEventsTo(app, integration.tenant, receiver.url, { event_types: ['lane.booked'] })
    const quote = await makeQuote(app, integration.tenant, { rate: 2150 })
    const inCad = { truck_currency: 'CAD' }
    await book(quote.lane_ref, 2150, inCad)
    const rates = (usd: number) =>
      call(app, 'POST', '/api/exchange-rates', {
        token: integration.tenant.owner,
        body: { rates: [{ day: quote.created_at.slice(0, 10), usd_per_cad: usd }] },
      })
    expect((await rates(0.8)).status).toBe(200)
    await pushUpdate(
      app,
      integration,
      { lane_ref: quote.lane_ref, carrier_name: 'Blue Mesa' },
      Math.floor(app.now / 1000) + 1,
    )
    await receiver.until((all) => all.length === 2)
    await rates(0.7)
    const [without, with1850] = receiver.received.map(({ event }) => event.data.lane)
    expect(without).toMatchObject({ margin: null, margin_currency: null, truck_currency: 'CAD' })
    // 2,150 - 1,850 x 0.8
    expect(with1850).toMatchObject({ margin: 670, margin_currency: 'USD', margin_basis: 'all_in' })

    // Earlier versions saved the converted amounts.
    const { about } = await app.database.inTenant(integration.tenant.id as never, (transaction) =>
      transaction
        .selectFrom('events')
        .select('about')
        .orderBy('event_number', 'desc')
        .executeTakeFirstOrThrow(),
    )
    const { rates: _, ...then } = (about as { lane: QuoteThen }).lane
    const facts = { lane: { ...then, landed: { revenue_cents: 2_150_00, cost_cents: 1_500_00 } } }
    const event = {
      number: 1,
      attempt: 1,
      id: 'e1',
      type: 'lane.booked',
      occurredAt: new Date(),
      about: facts,
    }
    expect(eventBody(event as ClaimedEvent, 1).data).toMatchObject({ lane: { margin: 650 } })
  })

  test('only requested event types are sent, and only for changes with an effect', async () => {
    await sendEventsTo(app, integration.tenant, receiver.url, { event_types: ['lane.outcome_changed'] })
    const quote = await makeQuote(app, integration.tenant, { outcome: 'lost' })
    const token = integration.tenant.owner
    const lost = { token, body: { outcome: 'lost', reason: 'price' } }
    await call(app, 'POST', `/api/lanes/${quote.lane_ref}/outcome`, lost)
    await call(app, 'POST', `/api/lanes/${quote.lane_ref}/outcome`, lost)
    await call(app, 'POST', `/api/lanes/${quote.lane_ref}/rollback`, { token, body: { change_id: 2 } })
    await receiver.until((all) => all.length === 3)
    const told = receiver.received.map(({ event: { data } }) => [
      data.previous_outcome,
      data.previous_outcome_reason,
      data.lane.outcome,
      data.lane.outcome_reason,
      data.source,
    ])
    expect(told).toEqual([
      ['pending', null, 'lost', null, 'dashboard'],
      ['lost', null, 'lost', 'price', 'dashboard'],
      ['lost', 'price', 'lost', null, 'dashboard'],
    ])
    expect(await ask('select from events')).toHaveLength(3)
  })

  test('nothing is sent without an endpoint, with events off, or without a commit', async () => {
    const quote = await makeQuote(app, integration.tenant)
    await book(quote.lane_ref, 2000)
    expect(await ask('select from events')).toEqual([])
    await sendEventsTo(app, integration.tenant, receiver.url)
    await app.database.outsideTenants((transaction) => writeEventsOn(transaction, false))
    await book(quote.lane_ref, 2010)
    await app.database.outsideTenants((transaction) => writeEventsOn(transaction, true))
    expect(await ask('select from events')).toEqual([])
    const refused = await call(app, 'POST', '/api/quote-requests', {
      token: integration.tenant.owner,
      body: {
        customer_name: 'X',
        lanes: [{ origin: 'Nowhere, ZZ', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 1 }],
      },
    })
    expect(refused.status).toBe(422)
    const tenant = tenantId(integration.tenant.id)
    const takenBack = app.database.inTenant(tenant, async (transaction) => {
      const held = await lockQuote(transaction, tenant, quote.lane_ref)
      if (held === null) throw new Error('No lane.')
      const next = { outcome: 'lost', decided_at: new Date() } as const
      await changeQuote(transaction, tenant, held, next, { source: 'tms' }, new Date())
      throw new Error('taken back')
    })
    await expect(takenBack).rejects.toThrow('taken back')
    expect(await ask('select from events')).toEqual([])
    expect(receiver.received).toEqual([])
  })

  test('the events of a paused address wait, and arrive in order when it is active again', async () => {
    const quote = await makeQuote(app, integration.tenant)
    const other = await makeQuote(app, integration.tenant)
    const { id } = await sendEventsTo(app, integration.tenant, receiver.url)
    const setState = (state: string) =>
      call(app, 'PATCH', `/api/event-endpoints/${id}`, {
        token: integration.tenant.owner,
        body: { state },
      })
    await setState('paused')
    await book(quote.lane_ref, 2020)
    const { body } = await call(app, 'POST', `/api/lanes/${other.lane_ref}/requote`, {
      token: integration.tenant.owner,
      body: { quoted_rate: 1990 },
    })
    await call(app, 'POST', `/api/lanes/${body.lane_ref}/void`, {
      token: integration.tenant.owner,
      body: { reason: 'Test' },
    })
    // The earlier offer is superseded by the requote, and counts again after its void.
    expect(await ask('select from events')).toHaveLength(6)
    expect(receiver.received).toEqual([])
    await setState('active')
    await receiver.until((all) => all.length === 6)
    expect(typesOf(receiver.received)).toEqual(
      expect.arrayContaining(['lane.booked', 'lane.outcome_changed', 'quote.created', 'quote.updated']),
    )
    const updates = receiver.received.filter(({ event }) => event.type === 'quote.updated')
    const changed = (ref: string) =>
      updates.flatMap(({ event }) => {
        const data = event.data as { lane: { lane_ref: string; superseded_by: string | null } }
        return data.lane.lane_ref === ref ? [data.lane.superseded_by] : []
      })
    expect(changed(other.lane_ref)).toEqual([body.lane_ref, null])
    const updated = updates.find(
      ({ event }) => (event.data as { lane: { lane_ref: string } }).lane.lane_ref === body.lane_ref,
    )
    expect(updated?.event.data).toMatchObject({
      lane: { lane_ref: body.lane_ref, void_reason: 'Test' },
      source: 'dashboard',
      changed: ['voided_at', 'void_reason'],
      before: { voided_at: null, void_reason: null },
    })
  })

  test('a quote that expires sends quote.expired, and no lane.outcome_changed', async () => {
    await call(app, 'PATCH', '/api/tenant', {
      token: integration.tenant.owner,
      body: { quote_expiry: { valid_days: 30 } },
    })
    const quote = await makeQuote(app, integration.tenant)
    await ask(
      `update quotes set created_at = created_at - interval '31 days' where lane_id = ${quote.lane_id}`,
    )
    await sendEventsTo(app, integration.tenant, receiver.url)
    expect(await app.expireQuotes()).toBe(1)
    await receiver.until((all) => all.length === 1)
    expect(receiver.received[0]?.event).toMatchObject({
      type: 'quote.expired',
      data: { lane: { lane_ref: quote.lane_ref, outcome: 'expired' }, source: 'lanewise' },
    })
  })

  test('an import sends events for changed quotes, not for new ones', async () => {
    const quote = await makeQuote(app, integration.tenant, { rate: 2150 })
    await sendEventsTo(app, integration.tenant, receiver.url)
    const csv = `lane_ref,origin,destination,equipment,quoted_rate,quoted_at,outcome,customer_rate
${quote.lane_ref},"Dallas, TX","Atlanta, GA",V,2150,,won,2150
,"Austin, TX","Atlanta, GA",V,1900,2026-01-03,won,
`
    const response = await fetch(`${app.url}/api/imports?file_name=history.csv`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${integration.tenant.owner}`, 'Content-Type': 'text/csv' },
      body: csv,
    })
    expect(response.status).toBe(202)
    await receiver.until((all) => all.length === 2)
    expect(typesOf(receiver.received)).toEqual(['lane.booked', 'lane.outcome_changed'])
    for (const { event } of receiver.received) {
      expect(event.data).toMatchObject({ source: 'import', lane: { lane_ref: quote.lane_ref } })
    }
    expect(await ask('select from events')).toHaveLength(2)
  })
})

describe('a delivery', () => {
  test('a failed delivery is retried later, as the same event with a new signature', async () => {
    receiver.answer = answerWith(503, 'restarting')
    const { secret } = await sendEventsTo(app, integration.tenant, receiver.url, {
      event_types: ['quote.created'],
    })
    await makeQuote(app, integration.tenant)
    await receiver.until((all) => all.length === 1)
    await become('due')
    const [waiting] = await ask<Record<string, unknown>>(
      `select attempts, response_status, response_text,
         extract(epoch from next_at - attempted_at)::float8 / 60 as wait from event_deliveries`,
    )
    expect(waiting).toMatchObject({ attempts: 1, response_status: 503, response_text: 'restarting' })
    // The wait begins with the answer. The service and the receiver need some time for it.
    expect(Number(waiting?.wait)).toBeGreaterThan(4.4)
    expect(Number(waiting?.wait)).toBeLessThan(20)
    receiver.answer = answerWith(204)
    app.now += 60_000
    await hurry()
    await receiver.until((all) => all.length === 2)
    const [first, second] = receiver.received
    expect(second?.body).toBe(first?.body)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(Number(second?.headers['webhook-timestamp'])).toBe(
      Number(first?.headers['webhook-timestamp']) + 60,
    )
    expect(new Webhook(secret).verify(second?.body ?? '', second?.headers ?? {})).toBeDefined()
    await become('delivered')
  })

  test('an event waits for earlier events of its quote, but not for those of other quotes', async () => {
    const token = integration.tenant.owner
    const quote = await makeQuote(app, integration.tenant)
    const other = await makeQuote(app, integration.tenant)
    receiver.answer = (response, { event }) =>
      answerWith(event.data.lane.lane_ref === quote.lane_ref ? 500 : 204)(response)
    await sendEventsTo(app, integration.tenant, receiver.url, { event_types: ['lane.outcome_changed'] })
    const decide = (ref: string, outcome: string) =>
      call(app, 'POST', `/api/lanes/${ref}/outcome`, { token, body: { outcome } })
    for (const outcome of ['won', 'lost', 'pending']) await decide(quote.lane_ref, outcome)
    await decide(other.lane_ref, 'won')
    await receiver.until((all) => all.some(({ event }) => event.data.lane.lane_ref === other.lane_ref))
    const ofLane = () => receiver.received.filter(({ event }) => event.data.lane.lane_ref === quote.lane_ref)
    await become('due', 'new', 'new', 'delivered')
    expect(new Set(ofLane().map(({ event }) => event.data.lane.outcome))).toEqual(new Set(['won']))
    receiver.answer = answerWith(204)
    const before = receiver.received.length
    await hurry()
    await receiver.until((all) => all.length >= before + 3)
    expect(receiver.received.slice(before).map(({ event }) => event.data.lane.outcome)).toEqual([
      'won',
      'lost',
      'pending',
    ])
  })

  test('an event is given up after the last attempt, and a replay sends it again', async () => {
    receiver.answer = answerWith(500)
    const { id } = await sendEventsTo(app, integration.tenant, receiver.url, {
      event_types: ['quote.created'],
    })
    await makeQuote(app, integration.tenant)
    await become('due')
    await ask(`update event_deliveries set attempts = ${deliveryDelaysSeconds.length}`)
    await hurry()
    await receiver.until((all) => all.length === 2)
    await become('dead')
    // Nothing was delivered since, so the endpoint is disabled. A person enables it again.
    const token = integration.tenant.owner
    const listed = await call(app, 'GET', '/api/event-endpoints', { token })
    expect(listed.body.endpoints).toMatchObject([{ state: 'disabled', disabled_reason: 'failing', dead: 1 }])
    await call(app, 'PATCH', `/api/event-endpoints/${id}`, { token, body: { state: 'active' } })
    receiver.answer = answerWith(204)
    const since = new Date(Date.now() - 3_600_000).toISOString()
    const replay = { token, body: { since, only_dead: true } }
    expect((await call(app, 'POST', `/api/event-endpoints/${id}/replay`, replay)).body).toEqual({
      replayed: 1,
    })
    await receiver.until((all) => all.length === 3)
    await become('delivered')
    expect((await call(app, 'POST', `/api/event-endpoints/${id}/replay`, replay)).body).toEqual({
      replayed: 0,
    })
    const eventId = receiver.received[0]?.headers['webhook-id']
    const again = { token, body: { event_id: eventId } }
    expect((await call(app, 'POST', `/api/event-endpoints/${id}/replay`, again)).body).toEqual({
      replayed: 1,
    })
    await receiver.until((all) => all.length === 4)
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })

  test('a 410 answer disables the endpoint and is in the audit log', async () => {
    receiver.answer = answerWith(410)
    await sendEventsTo(app, integration.tenant, receiver.url, { event_types: ['quote.created'] })
    await makeQuote(app, integration.tenant)
    await receiver.until((all) => all.length === 1)
    await become('dead')
    const events = () =>
      call(app, 'GET', '/api/audit?kind=event-endpoint-disabled', { token: integration.tenant.owner })
    await expect.poll(async () => (await events()).body.events).toMatchObject([{ about: { reason: 'gone' } }])
    await makeQuote(app, integration.tenant)
    expect(await ask('select from events')).toHaveLength(1)
  })

  test('a slow receiver delays no other receiver, of its own or another brokerage', async () => {
    const stalled = await eventReceiver()
    stalled.answer = () => {}
    try {
      await sendEventsTo(app, integration.tenant, stalled.url)
      await sendEventsTo(app, integration.tenant, receiver.url)
      for (let made = 0; made < 12; made++) await makeQuote(app, integration.tenant)
      await receiver.until((all) => all.length === 12)
      const other = await makeIntegration(app)
      await sendEventsTo(app, other.tenant, receiver.url)
      await makeQuote(app, other.tenant)
      await receiver.until((all) => all.length === 13)
      expect(stalled.received.length).toBeLessThanOrEqual(8)
    } finally {
      await stalled.close()
    }
  })

  test('a brokerage has at most five places, also if it replaces addresses that are slow', async () => {
    const stalled = await eventReceiver()
    stalled.answer = () => {}
    try {
      const other = await makeIntegration(app)
      await sendEventsTo(app, other.tenant, receiver.url)
      const [replaced] = await Promise.all(
        Array.from({ length: eventEndpointsMax }, (_, nth) =>
          sendEventsTo(app, integration.tenant, `${stalled.url}/${nth}`),
        ),
      )
      await makeQuote(app, integration.tenant)
      await stalled.until((all) => all.length === endpointsAtOncePerTenantMax)
      await call(app, 'DELETE', `/api/event-endpoints/${replaced?.id}`, { token: integration.tenant.owner })
      await sendEventsTo(app, integration.tenant, `${stalled.url}/another`)
      await makeQuote(app, integration.tenant)
      // Each look that sends the events of the other brokerage has also found the event for the new address.
      for (let sent = 1; sent <= 5; sent++) {
        await makeQuote(app, other.tenant)
        await receiver.until((all) => all.length === sent)
      }
      expect(stalled.received.map(({ path }) => path)).not.toContain('/hook/another')
    } finally {
      await stalled.close()
    }
  })

  test('a test brokerage has its places among those of its brokerage', async () => {
    const stalled = await eventReceiver()
    stalled.answer = () => {}
    try {
      const { tenant } = integration
      const other = await makeIntegration(app)
      await sendEventsTo(app, other.tenant, receiver.url)
      const entered = await call(app, 'POST', '/api/sandbox/session', { token: tenant.owner, body: {} })
      const tried = { ...tenant, id: entered.body.tenant.id, owner: entered.body.token }
      await sendEventsTo(app, tried, `${stalled.url}/tried`)
      for (let nth = 0; nth < endpointsAtOncePerTenantMax; nth++) {
        await sendEventsTo(app, tenant, `${stalled.url}/${nth}`)
      }
      await makeQuote(app, tenant)
      await stalled.until((all) => all.length === endpointsAtOncePerTenantMax)
      await makeQuote(app, tried)
      // Each look that sends the events of the other brokerage has also found the event of the test brokerage.
      for (let sent = 1; sent <= 5; sent++) {
        await makeQuote(app, other.tenant)
        await receiver.until((all) => all.length === sent)
      }
      expect(stalled.received.map(({ path }) => path)).not.toContain('/hook/tried')
    } finally {
      await stalled.close()
    }
  })

  test('while all places are taken, an address with many events gives its place to another brokerage', async () => {
    const crowded = await testApp({
      config: onLoopback,
      sendEvents: { ...sendEvents, atOnceMax: 1, turnMs: 0 },
    })
    try {
      // The database lists brokerages by their number, so the first brokerage would be found first each time.
      const made = [await makeTenant(crowded), await makeTenant(crowded)]
      const [first, second] = made.sort((one, another) => one.id - another.id)
      if (first === undefined || second === undefined) throw new Error('Two brokerages were made.')
      const held: (() => void)[] = []
      receiver.answer = (response) => void held.push(() => answerWith(204)(response))
      await sendEventsTo(crowded, first, `${receiver.url}/first`)
      await sendEventsTo(crowded, second, `${receiver.url}/second`)
      for (let lanes = 0; lanes < 3 * deliveriesPerEndpointMax; lanes++) await makeQuote(crowded, first)
      await receiver.until((all) => all.length > 0)
      await makeQuote(crowded, second)
      receiver.answer = answerWith(204)
      for (const answer of held) answer()
      await receiver.until((all) => all.some(({ path }) => path === '/hook/second'))
      expect(receiver.received.length).toBeLessThanOrEqual(2 * deliveriesPerEndpointMax + 1)
    } finally {
      await crowded.close()
    }
  })

  test('a delivery whose process dies becomes due again for another instance', async () => {
    await sendEventsTo(app, integration.tenant, receiver.url, { event_types: ['quote.created'] })
    let late: () => void = () => {}
    receiver.answer = (response) => {
      late = () => answerWith(500)(response)
    }
    await makeQuote(app, integration.tenant)
    await receiver.until((all) => all.length === 1)
    const held = `select from event_deliveries where next_at > attempted_at + interval '25 seconds'`
    expect(await ask(held)).toHaveLength(1)
    receiver.answer = answerWith(204)
    const second = await anotherInstance()
    try {
      await hurry()
      await receiver.until((all) => all.length === 2)
      await become('delivered')
    } finally {
      await second.close()
    }
    // A late answer to the first attempt is ignored.
    late()
    await makeQuote(app, integration.tenant)
    await become('delivered', 'delivered')
  })

  test('an event is signed with both secrets during a rotation', async () => {
    const { id, secret } = await sendEventsTo(app, integration.tenant, receiver.url)
    const token = integration.tenant.owner
    const rotated = await call(app, 'POST', `/api/event-endpoints/${id}/rotate`, { token, body: {} })
    expect(rotated.body.endpoint.secrets).toHaveLength(2)
    await call(app, 'POST', `/api/event-endpoints/${id}/test`, { token })
    await receiver.until((all) => all.length === 1)
    const { body, headers, event } = receiver.received[0] ?? expect.fail()
    expect(event).toMatchObject({ type: 'endpoint.test', data: { endpoint_id: id } })
    expect(shape(eventBodies['endpoint.test'].schema, 'body').errors(event)).toEqual([])
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2)
    for (const held of [secret, rotated.body.secret]) {
      expect(new Webhook(held).verify(body, headers)).toEqual(event)
    }
    await call(app, 'POST', `/api/event-endpoints/${id}/rotate`, { token, body: { overlap_hours: 0 } })
    await call(app, 'POST', `/api/event-endpoints/${id}/test`, { token })
    await receiver.until((all) => all.length === 2)
    const last = receiver.received[1] ?? expect.fail()
    expect(last.headers['webhook-signature']?.split(' ')).toHaveLength(1)
    expect(() => new Webhook(rotated.body.secret).verify(last.body, last.headers)).toThrow()
  })
})

test('a suspended brokerage gets no events until it is resumed', async () => {
  receiver.answer = answerWith(503)
  await sendEventsTo(app, integration.tenant, receiver.url, { event_types: ['quote.created'] })
  await makeQuote(app, integration.tenant)
  await become('due')
  await ask(`update tenants set status = 'suspended'`)
  await hurry()
  await expect
    .poll(() => ask(`select from event_deliveries where next_at > clock_timestamp() + interval '9 minutes'`))
    .toHaveLength(1)
  expect(receiver.received).toHaveLength(1)
  receiver.answer = answerWith(204)
  await ask(`update tenants set status = 'active'`)
  await hurry()
  await become('delivered')
})

test('with two instances, each event is sent by one of them', async () => {
  const second = await anotherInstance()
  try {
    await sendEventsTo(app, integration.tenant, receiver.url)
    for (let made = 0; made < 15; made++) await makeQuote(app, integration.tenant)
    await receiver.until((all) => all.length >= 15)
    await become(...Array<string>(15).fill('delivered'))
    const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(15)
    expect(ids).toHaveLength(15)
  } finally {
    await second.close()
  }
})

test('events past the retention period are deleted, with removed endpoints', async () => {
  const { id } = await sendEventsTo(app, integration.tenant, receiver.url)
  await makeQuote(app, integration.tenant)
  await makeQuote(app, integration.tenant)
  await become('delivered', 'delivered')
  await call(app, 'DELETE', `/api/event-endpoints/${id}`, { token: integration.tenant.owner })
  const owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
  await owner.query(`set app.tenant_id = '${integration.tenant.id}'`)
  const age = `- interval '${eventsKeptDaysMax} days 1 minute'`
  const [oldest] = await ask<{ number: number }>('select min(event_number) as number from events')
  await owner.query(
    `update events set occurred_at = occurred_at ${age} where event_number = ${oldest?.number}`,
  )
  await ask(
    `update event_deliveries set created_at = created_at ${age} where event_number = ${oldest?.number}`,
  )
  // An instance that has just started cleans up with its first look.
  const clean = async (left: number) => {
    const second = await anotherInstance()
    await expect.poll(() => ask('select from events')).toHaveLength(left)
    await second.close()
  }
  await clean(1)
  expect(await ask('select from event_endpoints')).toHaveLength(1)
  await owner.query(`update events set occurred_at = occurred_at ${age} where occurred_at > now() ${age}`)
  await owner.end()
  await ask(`update event_deliveries set created_at = created_at ${age}`)
  await clean(0)
  for (const table of ['events', 'event_deliveries', 'event_endpoints', 'event_secrets']) {
    expect(await ask(`select from ${table}`)).toEqual([])
  }
})

test('the schedule makes ten attempts over three days, with up to 10% jitter', () => {
  const answered = { text: '', failure: null, retryAfterSeconds: null }
  const failed = { ...answered, status: 500 }
  const waits = deliveryDelaysSeconds.map((_, index) => settlementOf(index + 1, failed, 0.5).retrySeconds)
  expect(waits).toEqual([...deliveryDelaysSeconds])
  const hours = deliveryDelaysSeconds.reduce((sum, seconds) => sum + seconds, 0) / 3600
  expect(hours).toBeGreaterThan(72)
  expect(hours).toBeLessThan(80)
  expect(settlementOf(1, failed, 0).retrySeconds).toBeCloseTo(4.5)
  expect(settlementOf(1, failed, 1).retrySeconds).toBeCloseTo(5.5)
  expect(settlementOf(10, failed, 0)).toEqual({ state: 'dead', retrySeconds: null })
  expect(settlementOf(1, { ...answered, status: 410 }, 0).state).toBe('dead')
  expect(settlementOf(1, { ...answered, status: 302 }, 0).state).toBe('due')
  expect(settlementOf(3, { ...answered, status: null }, 0).state).toBe('due')
  expect(settlementOf(1, { ...answered, status: 204 }, 0).state).toBe('delivered')
  expect(settlementOf(1, { ...failed, retryAfterSeconds: 900 }, 0).retrySeconds).toBe(900)
  expect(settlementOf(1, { ...failed, retryAfterSeconds: 999_999 }, 0).retrySeconds).toBe(3_600)
})
