import { beforeAll, describe, expect, test } from 'vitest'
import { call, type Integration, makeIntegration, makeQuote, pushUpdate } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let acme: Integration

beforeAll(async () => {
  app = await sharedApp()
  acme = await makeIntegration(app)
})

const seconds = () => Math.floor(app.now / 1000)
const push = (update: Record<string, unknown>, timestamp = seconds()) =>
  pushUpdate(app, acme, update, timestamp)
const quoteOf = async (ref: string) =>
  (await call(app, 'GET', `/api/lanes/${ref}`, { token: acme.tenant.owner })).body
const changesOf = async (ref: string) =>
  (await call(app, 'GET', `/api/lanes/${ref}/changes`, { token: acme.tenant.owner })).body.changes
const rollBack = (ref: string, change_id: number) =>
  call(app, 'POST', `/api/lanes/${ref}/rollback`, { token: acme.tenant.owner, body: { change_id } })

describe('a cancellation', () => {
  const booking = {
    customer_rate: 2150,
    truck_cost: 1800,
    carrier_name: 'Blue Mesa',
    carrier_mc: 'MC-1',
    booked_at: '2026-03-01T14:00:00Z',
    customer_name: 'Harvest Table Foods LLC',
  }
  const bookedValues = {
    customer_rate: 2150,
    truck_cost: 1800,
    truck_cost_source: 'tms',
    margin: 350,
    carrier_name: 'Blue Mesa',
    carrier_notes: 'MC-1',
    booked_at: '2026-03-01T14:00:00.000Z',
    outcome: 'won',
    outcome_source: 'tms',
    cancelled_at: null,
    cancel_reason: null,
  }
  const noBooking = {
    customer_rate: null,
    truck_cost: null,
    truck_cost_source: null,
    margin: null,
    margin_pct: null,
    carrier_name: null,
    carrier_notes: null,
    booked_at: null,
  }
  const open = { outcome: 'pending', outcome_reason: null, outcome_source: null, decided_at: null }
  const markLost = (ref: string) =>
    call(app, 'POST', `/api/lanes/${ref}/outcome`, {
      token: acme.tenant.owner,
      body: { outcome: 'lost', reason: 'price' },
    })

  test('clears the booking and takes back the win, with its time, reason and rule', async () => {
    const quote = await makeQuote(app, acme.tenant)
    await push({ lane_ref: quote.lane_ref, ...booking }, seconds() - 2)
    const answer = await push(
      { lane_ref: quote.lane_ref, cancelled: true, cancel_reason: 'Shipper pulled the load' },
      seconds() - 1,
    )
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: 'ok', lane_id: quote.lane_id, updated: true },
    ])
    expect(answer.headers.get('Ignored-Fields')).toBeNull()
    expect(await quoteOf(quote.lane_ref)).toMatchObject({
      ...noBooking,
      ...open,
      customer_name: booking.customer_name,
      cancelled_at: new Date((seconds() - 1) * 1000).toISOString(),
      cancel_reason: 'Shipper pulled the load',
    })
    const [change] = await changesOf(quote.lane_ref)
    expect(change).toMatchObject({
      source: 'tms',
      rule: 'cancellation_takes_back_the_win',
      before: { customer_rate: 2150, outcome: 'won', cancelled_at: null },
      after: { customer_rate: null, outcome: 'pending', cancel_reason: 'Shipper pulled the load' },
    })
  })

  test('restores the outcome from before the booking, with its reason and time', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const lost = (await markLost(quote.lane_ref)).body
    await push({ lane_ref: quote.lane_ref, customer_rate: 2150 }, seconds() - 2)
    await push({ lane_ref: quote.lane_ref, cancelled: true }, seconds() - 1)
    expect(await quoteOf(quote.lane_ref)).toMatchObject({
      outcome: 'lost',
      outcome_reason: 'price',
      outcome_source: 'dashboard',
      decided_at: lost.decided_at,
    })
  })

  test('leaves an outcome that a person set after the booking', async () => {
    const quote = await makeQuote(app, acme.tenant)
    await push({ lane_ref: quote.lane_ref, customer_rate: 2150 }, seconds() - 2)
    await markLost(quote.lane_ref)
    await push({ lane_ref: quote.lane_ref, cancelled: true }, seconds() - 1)
    const cancelled = await quoteOf(quote.lane_ref)
    expect(cancelled).toMatchObject({ ...noBooking, outcome: 'lost', outcome_source: 'dashboard' })
    expect((await changesOf(quote.lane_ref))[0].rule).toBeNull()
  })

  test('has no effect when repeated, in the same bytes or signed again', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const cancel = { lane_ref: quote.lane_ref, cancelled: true, cancel_reason: 'No truck' }
    await push({ lane_ref: quote.lane_ref, ...booking }, seconds() - 9)
    const first = await push(cancel, seconds() - 8)
    const state = await quoteOf(quote.lane_ref)
    const replay = await push(cancel, seconds() - 8)
    expect([replay.body, replay.headers.get('Idempotent-Replayed')]).toEqual([first.body, 'true'])
    expect((await push(cancel, seconds() - 7)).body).toEqual(first.body)
    expect(await quoteOf(quote.lane_ref)).toEqual(state)
    expect(await changesOf(quote.lane_ref)).toHaveLength(2)
  })

  test('newer than a booking takes precedence, in either order of arrival', async () => {
    const [inOrder, late] = [await makeQuote(app, acme.tenant), await makeQuote(app, acme.tenant)]
    const at = seconds() - 9
    await push({ lane_ref: inOrder.lane_ref, ...booking }, at)
    await push({ lane_ref: inOrder.lane_ref, cancelled: true }, at + 1)
    expect((await push({ lane_ref: late.lane_ref, cancelled: true }, at + 1)).body.updated).toBe(true)
    expect((await push({ lane_ref: late.lane_ref, customer_rate: 2150 }, at)).body.updated).toBe(false)
    for (const { lane_ref } of [inOrder, late]) {
      const held = await quoteOf(lane_ref)
      expect(held).toMatchObject({
        ...noBooking,
        ...open,
        cancelled_at: new Date((at + 1) * 1000).toISOString(),
      })
    }
  })

  test('older than a booking does not affect it, and clears an even older booking', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const at = seconds() - 9
    await push({ lane_ref: quote.lane_ref, ...booking }, at)
    await push({ lane_ref: quote.lane_ref, customer_rate: 2300 }, at + 2)
    expect((await push({ lane_ref: quote.lane_ref, cancelled: true }, at + 1)).body.updated).toBe(false)
    expect(await quoteOf(quote.lane_ref)).toMatchObject({
      ...noBooking,
      customer_rate: 2300,
      outcome: 'won',
      cancelled_at: null,
    })
  })

  test('is followed by a newer booking: the quote is won again', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const at = seconds() - 9
    await push({ lane_ref: quote.lane_ref, ...booking }, at)
    await push({ lane_ref: quote.lane_ref, cancelled: true, cancel_reason: 'No truck' }, at + 1)
    await push({ lane_ref: quote.lane_ref, truck_cost: 1900 }, at + 2)
    expect(await quoteOf(quote.lane_ref)).toMatchObject({
      customer_rate: null,
      truck_cost: 1900,
      outcome: 'won',
      cancelled_at: null,
      cancel_reason: null,
    })
    await push({ lane_ref: quote.lane_ref, cancelled: true }, at + 3)
    expect(await quoteOf(quote.lane_ref)).toMatchObject({ ...noBooking, ...open, cancel_reason: null })
  })

  test('is rolled back by an admin: the booking and the win are there again, and can be cancelled again', async () => {
    const quote = await makeQuote(app, acme.tenant)
    await push({ lane_ref: quote.lane_ref, ...booking }, seconds() - 9)
    const booked = await quoteOf(quote.lane_ref)
    await push({ lane_ref: quote.lane_ref, cancelled: true }, seconds() - 8)
    const restored = (await rollBack(quote.lane_ref, 2)).body
    expect(restored).toEqual({ ...booked, updated_at: restored.updated_at })
    expect(restored).toMatchObject(bookedValues)
    // This update arrives after the rollback, but was signed before it.
    const late = await push({ lane_ref: quote.lane_ref, cancelled: true, cancel_reason: 'x' }, seconds() - 7)
    expect(late.body.updated).toBe(false)
    await push({ lane_ref: quote.lane_ref, cancelled: true }, Math.ceil(Date.now() / 1000) + 1)
    expect(await quoteOf(quote.lane_ref)).toMatchObject({ ...noBooking, ...open })
  })

  test('makes the quoted rate the effective rate, and is listed in shipments but not in totals', async () => {
    const tenant = await makeIntegration(app)
    const quote = await makeQuote(app, tenant.tenant, { rate: 2000 })
    await pushUpdate(app, tenant, { lane_ref: quote.lane_ref, ...booking }, seconds() - 2)
    await pushUpdate(app, tenant, { lane_ref: quote.lane_ref, cancelled: true }, seconds() - 1)
    const { body } = await call(app, 'GET', '/api/shipments', { token: tenant.tenant.owner })
    expect(body.lanes).toMatchObject([{ lane_ref: quote.lane_ref, ...noBooking }])
    expect(body.total).toBe(1)
    expect(body.totals).toMatchObject({
      shipments: 0,
      cancelled: 1,
      customer_rate: 0,
      margin: 0,
      shipments_with_margin: 0,
      quoted_margin: 0,
      shipments_with_quoted_margin: 0,
    })
    const insight = await call(
      app,
      'GET',
      '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA',
      { token: tenant.token },
    )
    expect(insight.body.history).toMatchObject({ wins: 0, avg_rate_usd: 2000 })
    const csv = await call(app, 'GET', '/api/shipments/export', { token: tenant.tenant.owner })
    expect(csv.body.split('\r\n')[0]).toContain('Cancelled at')
  })

  test.each([
    ['customer_rate', 2100],
    ['truck_cost', 1800],
    ['carrier_name', 'Blue Mesa'],
    ['carrier_mc', 'MC-1'],
    ['booked_at', '2026-03-01T14:00:00Z'],
  ])('together with %s is 422 and changes nothing', async (field, value) => {
    const quote = await makeQuote(app, acme.tenant)
    const answer = await push({ lane_ref: quote.lane_ref, cancelled: true, [field]: value })
    expect([answer.status, answer.body.errors]).toMatchObject([422, [{ pointer: `/${field}` }]])
    expect(await quoteOf(quote.lane_ref)).toEqual(quote)
  })

  test.each([
    [{ cancelled: 'true' }, '/cancelled'],
    [{ cancelled: 1 }, '/cancelled'],
    [{ cancel_reason: 'No truck' }, '/cancel_reason'],
    [{ cancelled: false, cancel_reason: 'No truck' }, '/cancel_reason'],
    [{ cancelled: true, cancel_reason: 'a\nb' }, '/cancel_reason'],
  ])('that is ambiguous is 422: %j', async (body, pointer) => {
    const quote = await makeQuote(app, acme.tenant)
    const answer = await push({ lane_ref: quote.lane_ref, ...body })
    expect([answer.status, answer.body.errors]).toMatchObject([422, [{ pointer }]])
  })

  test('cancelled: false and null mean nothing', async () => {
    const quote = await makeQuote(app, acme.tenant)
    for (const cancelled of [false, null]) {
      const answer = await push({ lane_ref: quote.lane_ref, cancelled })
      expect([answer.status, answer.body.updated]).toEqual([200, false])
    }
    await push({ lane_ref: quote.lane_ref, customer_rate: 2100, cancelled: false })
    expect(await quoteOf(quote.lane_ref)).toMatchObject({ customer_rate: 2100, outcome: 'won' })
  })
})
