import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { signatureToleranceSeconds } from '#contract/limits.ts'
import { signedAheadSecondsMax } from '#engine/field-stamps.ts'
import { appOn } from '#testing/app-on-database.ts'
import { asTableOwner } from '#testing/as-table-owner.ts'
import {
  type Answer,
  call,
  type Integration,
  makeIntegration,
  makeQuote,
  makeServiceToken,
  pushUpdate,
  signedHeaders,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

const path = '/api/integrations/tms/shipment-update'

let app: TestApp
let acme: Integration
let other: Integration
let owner: pg.Client

beforeAll(async () => {
  app = await sharedApp()
  ;[acme, other] = await Promise.all([makeIntegration(app), makeIntegration(app)])
  owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
})
// Sets the service's clock, because some tests sign by the database's clock, which runs.
beforeEach(() => {
  app.now = Date.now()
})

const seconds = () => Math.floor(app.now / 1000)
/** Pushes an update. The response names an update that is not applied in a header, too. */
async function push(update: Record<string, unknown>, timestamp = seconds()): Promise<Answer> {
  const answer = await pushUpdate(app, acme, update, timestamp)
  expect(answer.headers.get('Lanewise-Update')?.split(';')[0]).toBe(
    answer.body.updated === false ? 'not-applied' : undefined,
  )
  return answer
}
const quoteOf = async (ref: string) =>
  (await call(app, 'GET', `/api/lanes/${ref}`, { token: acme.tenant.owner })).body
const changesOf = async (ref: string) =>
  (await call(app, 'GET', `/api/lanes/${ref}/changes`, { token: acme.tenant.owner })).body.changes

const rollBack = (ref: string, change_id: number) =>
  call(app, 'POST', `/api/lanes/${ref}/rollback`, { token: acme.tenant.owner, body: { change_id } })

/** The current second of the database's clock, which runs while the clock of the service is stopped. */
async function databaseSeconds(): Promise<number> {
  const { rows } = await owner.query('select floor(extract(epoch from clock_timestamp()))::int as now')
  return rows[0].now
}

/** Waits until the clock of the database has reached a second. */
async function databaseReaches(second: number): Promise<void> {
  await owner.query(
    'select pg_sleep(greatest(0, $1::float8 - extract(epoch from clock_timestamp())::float8))',
    [second],
  )
}

/** Signs bytes as they are, which no JSON writer would produce. */
async function pushBytes(bytes: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { ...signedHeaders(acme, bytes, seconds()), ...headers },
    body: new Uint8Array(Buffer.from(bytes as string)),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** Every row of a tenant in every table, read as the owner of the tables within the tenant. */
async function rowsOf(tenantId: number): Promise<string> {
  const tables = ['quotes', 'quote_changes', 'shipment_updates', 'quote_requests', 'users', 'signing_secrets']
  const rows: unknown[] = []
  await asTableOwner(owner, tenantId, async () => {
    for (const table of tables) {
      const { rows: found } = await owner.query(
        `select to_jsonb(t) - 'last_used_at' as row from ${table} t order by 1`,
      )
      rows.push(found)
    }
  })
  return JSON.stringify(rows)
}

describe('200', () => {
  test('records AR, AP, customer, carrier, MC number and booking time, and answers exactly status, lane_id and updated', async () => {
    const quote = await makeQuote(app, acme.tenant, { rate: 2000 })
    const answer = await push({
      lane_ref: quote.lane_ref,
      customer_rate: 2150,
      truck_cost: 1820.5,
      customer_name: 'Harvest Table Foods LLC',
      carrier_name: 'Blue Mesa Trucking',
      carrier_mc: 'MC-481920',
      booked_at: '2026-03-01T14:00:00Z',
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ status: 'ok', lane_id: quote.lane_id, updated: true })
    expect(await quoteOf(quote.lane_ref)).toMatchObject({
      lane_id: quote.lane_id,
      quoted_rate: 2000,
      customer_rate: 2150,
      truck_cost: 1820.5,
      margin: 329.5,
      margin_pct: 15.3,
      customer_name: 'Harvest Table Foods LLC',
      carrier_name: 'Blue Mesa Trucking',
      carrier_notes: 'MC-481920',
      booked_at: '2026-03-01T14:00:00.000Z',
      outcome: 'won',
      outcome_source: 'tms',
    })
  })

  test('truck_cost is stored with source tms, on the record and in the audit trail', async () => {
    const quote = await makeQuote(app, acme.tenant)
    await push({ lane_ref: quote.lane_ref, truck_cost: 1500 })
    const [change] = await changesOf(quote.lane_ref)
    expect(change).toMatchObject({
      source: 'tms',
      after: { truck_cost: 1500, truck_cost_source: 'tms' },
      before: { truck_cost: null },
    })
  })

  test('a carrier name shows on the shipments list', async () => {
    const quote = await makeQuote(app, acme.tenant)
    await push({ lane_ref: quote.lane_ref, carrier_name: 'Shown Trucking' })
    const shipments = await call(app, 'GET', '/api/shipments?q=Shown', { token: acme.tenant.owner })
    expect(shipments.body.lanes.map((one: { lane_ref: string }) => one.lane_ref)).toEqual([quote.lane_ref])
  })

  test('a present value replaces the old one; an absent value changes nothing', async () => {
    const quote = await makeQuote(app, acme.tenant)
    await push({ lane_ref: quote.lane_ref, customer_rate: 2100, carrier_name: 'First' })
    await push({ lane_ref: quote.lane_ref, truck_cost: 1700 })
    await push({ lane_ref: quote.lane_ref, customer_rate: 2050 })
    expect(await quoteOf(quote.lane_ref)).toMatchObject({
      customer_rate: 2050,
      truck_cost: 1700,
      carrier_name: 'First',
    })
  })

  test('only lane_ref: nothing was there to apply, so updated is false', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const { headers, body } = await push({ lane_ref: quote.lane_ref })
    expect(body).toEqual({ status: 'ok', lane_id: quote.lane_id, updated: false })
    expect(headers.get('Lanewise-Update')).toBe('not-applied; reason=nothing-to-apply')
    expect(await quoteOf(quote.lane_ref)).toEqual(quote)
  })

  test('an update without AR and AP is not a booking: the outcome stays', async () => {
    const quote = await makeQuote(app, acme.tenant)
    await push({ lane_ref: quote.lane_ref, carrier_name: 'Early Bird', booked_at: '2026-03-01T14:00:00Z' })
    expect(await quoteOf(quote.lane_ref)).toMatchObject({ outcome: 'pending', outcome_source: null })
  })

  test('a booking is a win, even if a person had marked the quote lost before', async () => {
    const quote = await makeQuote(app, acme.tenant, { outcome: 'lost' })
    await push({ lane_ref: quote.lane_ref, customer_rate: 2100 })
    expect(await quoteOf(quote.lane_ref)).toMatchObject({
      outcome: 'won',
      outcome_source: 'tms',
      outcome_reason: null,
    })
    const [booked, marked] = await changesOf(quote.lane_ref)
    expect([booked.rule, marked.rule]).toEqual(['booking_is_a_win', null])
    expect(booked).toMatchObject({
      before: { outcome: 'lost', outcome_source: 'dashboard' },
      after: { outcome: 'won', outcome_source: 'tms' },
    })
    await push({ lane_ref: quote.lane_ref, truck_cost: 1700 })
    expect((await changesOf(quote.lane_ref))[0]).toMatchObject({ rule: null, after: { truck_cost: 1700 } })
  })

  test('an outcome that a person set after the booking is not replaced', async () => {
    const quote = await makeQuote(app, acme.tenant)
    await push({ lane_ref: quote.lane_ref, customer_rate: 2100 })
    await call(app, 'POST', `/api/lanes/${quote.lane_ref}/outcome`, {
      token: acme.tenant.owner,
      body: { outcome: 'lost', reason: 'service' },
    })
    await push({ lane_ref: quote.lane_ref, customer_rate: 2200, truck_cost: 1500 }, seconds() + 1)
    expect(await quoteOf(quote.lane_ref)).toMatchObject({
      outcome: 'lost',
      outcome_source: 'dashboard',
      outcome_reason: 'service',
      customer_rate: 2200,
    })
  })

  test('a repeated update has no effect and gets the same answer', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const update = { lane_ref: quote.lane_ref, customer_rate: 2150, truck_cost: 1800 }
    const first = await push(update)
    const state = await rowsOf(acme.tenant.id)
    for (let i = 0; i < 5; i++) {
      const again = await push(update)
      expect(again.status).toBe(200)
      expect(again.body).toEqual(first.body)
      expect(again.headers.get('Idempotent-Replayed')).toBe('true')
    }
    expect(await rowsOf(acme.tenant.id)).toBe(state)
  })

  test('the same payload signed again leads to the same state and gets the same answer', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const update = {
      lane_ref: quote.lane_ref,
      customer_rate: 2150,
      truck_cost: 1800,
      carrier_name: 'Blue Mesa',
    }
    const first = await push(update, seconds() - 60)
    const state = await quoteOf(quote.lane_ref)
    const again = await push(update, seconds())
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('Idempotent-Replayed')).toBeNull()
    expect(await quoteOf(quote.lane_ref)).toEqual(state)
    expect(await changesOf(quote.lane_ref)).toHaveLength(1)
  })

  test('fifty concurrent duplicates count once: one change, equal answers, equal insight', async () => {
    const quote = await makeQuote(app, acme.tenant, { origin: 'Reno, NV', destination: 'Boise, ID' })
    await push({ lane_ref: quote.lane_ref, customer_rate: 1900 })
    const query = 'origin=Reno,NV&destination=Boise,ID&equipment=V&proposed_rate=1900'
    const reads = () =>
      Promise.all(
        ['markup', 'lane'].map(
          async (name) =>
            (await call(app, 'GET', `/api/integrations/insights/${name}?${query}`, { token: acme.token }))
              .body,
        ),
      )
    const update = { lane_ref: quote.lane_ref, customer_rate: 2000, truck_cost: 1700 }
    const first = await push(update)
    const before = await reads()
    const answers = await Promise.all(Array.from({ length: 50 }, () => push(update)))
    for (const answer of answers) expect([answer.status, answer.body]).toEqual([200, first.body])
    expect(await reads()).toEqual(before)
    expect(await changesOf(quote.lane_ref)).toHaveLength(2)
  })

  test('fifty concurrent equal first deliveries are one update', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const update = { lane_ref: quote.lane_ref, customer_rate: 2000, truck_cost: 1700 }
    const answers = await Promise.all(Array.from({ length: 50 }, () => push(update)))
    for (const answer of answers)
      expect([answer.status, answer.body]).toEqual([
        200,
        { status: 'ok', lane_id: quote.lane_id, updated: true },
      ])
    expect(answers.filter((answer) => answer.headers.get('Idempotent-Replayed') === null)).toHaveLength(1)
    expect(await changesOf(quote.lane_ref)).toHaveLength(1)
  })

  test('a replay does not revert a newer update', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const a = { lane_ref: quote.lane_ref, customer_rate: 2100 }
    const answers = [
      await push(a, seconds() - 2),
      await push({ lane_ref: quote.lane_ref, customer_rate: 2200 }, seconds() - 1),
      await push(a, seconds() - 2),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(answers.map(({ body }) => body.updated)).toEqual([true, true, true])
    expect((await quoteOf(quote.lane_ref)).customer_rate).toBe(2200)
  })

  test('a late older update with different values is recorded and not applied', async () => {
    const quote = await makeQuote(app, acme.tenant)
    await push({ lane_ref: quote.lane_ref, customer_rate: 2200 })
    const late = await push({ lane_ref: quote.lane_ref, customer_rate: 2100 }, seconds() - 10)
    expect(late.body.updated).toBe(false)
    expect(late.headers.get('Lanewise-Update')).toBe('not-applied; reason=older-signature')
    expect((await quoteOf(quote.lane_ref)).customer_rate).toBe(2200)
    const { rows } = await owner
      .query('begin')
      .then(() => owner.query("select set_config('app.tenant_id', $1, true)", [String(acme.tenant.id)]))
      .then(() =>
        owner.query('select carried, applied from shipment_updates where lane_id = $1 order by signed_at', [
          quote.lane_id,
        ]),
      )
    await owner.query('commit')
    expect(rows).toEqual([
      { carried: expect.objectContaining({ customer_rate: 2100 }), applied: [] },
      { carried: expect.objectContaining({ customer_rate: 2200 }), applied: ['customerRateCents'] },
    ])
  })

  test('an older update with the values of the quote is answered as applied', async () => {
    const quote = await makeQuote(app, acme.tenant)
    await push({ lane_ref: quote.lane_ref, customer_rate: 2200 })
    expect((await push({ lane_ref: quote.lane_ref, customer_rate: 2200 }, seconds() - 10)).body.updated).toBe(
      true,
    )
  })

  test('each field follows its own newest signature', async () => {
    const quote = await makeQuote(app, acme.tenant)
    await push({ lane_ref: quote.lane_ref, customer_rate: 2200 }, seconds() - 1)
    await push({ lane_ref: quote.lane_ref, customer_rate: 1, truck_cost: 1700 }, seconds() - 5)
    expect(await quoteOf(quote.lane_ref)).toMatchObject({ customer_rate: 2200, truck_cost: 1700 })
  })

  test('of two updates signed in the same second the later one counts, however often the first is replayed', async () => {
    for (const order of [
      [2100, 2200],
      [2200, 2100],
    ]) {
      const { lane_ref } = await makeQuote(app, acme.tenant)
      for (const customer_rate of [...order, ...Array.from({ length: 20 }, () => order[0] as number)]) {
        expect((await push({ lane_ref, customer_rate, truck_cost: customer_rate - 300 })).status).toBe(200)
      }
      expect(await quoteOf(lane_ref)).toMatchObject({
        customer_rate: order[1],
        truck_cost: (order[1] as number) - 300,
      })
    }
  })

  test('a booking that replaces a cancelled one in the same second stands, however often all three are repeated', async () => {
    const { lane_ref } = await makeQuote(app, acme.tenant)
    const at = seconds()
    const send = async (body: object) => (await push({ lane_ref, ...body }, at)).body.updated
    const three = [
      { customer_rate: 2000, carrier_name: 'Blue Mesa' },
      { cancelled: true },
      { customer_rate: 2100 },
    ]
    for (const body of three) expect(await send(body)).toBe(true)
    for (const body of [...three, ...three.toReversed()]) await send(body)
    expect(await quoteOf(lane_ref)).toMatchObject({
      ...{ customer_rate: 2100, carrier_name: null, cancelled_at: null, outcome: 'won' },
    })
    expect(await send({ cancelled: true, cancel_reason: 'No truck' })).toBe(true)
    for (const body of three) await send(body)
    expect(await quoteOf(lane_ref)).toMatchObject({ customer_rate: null, outcome: 'pending' })
  })

  test.each([3, 20, 120])(
    'of a sender whose clock is %i s ahead, the newest signature wins, however late the older one arrives',
    async (ahead) => {
      const quote = await makeQuote(app, acme.tenant)
      const first = (await databaseSeconds()) + ahead
      await push({ lane_ref: quote.lane_ref, customer_rate: 2200 }, first + 1)
      const late = await push({ lane_ref: quote.lane_ref, customer_rate: 2100 }, first)
      expect(late.body.updated).toBe(false)
      expect((await quoteOf(quote.lane_ref)).customer_rate).toBe(2200)
      expect((await push({ lane_ref: quote.lane_ref, customer_rate: 2300 }, first + 2)).body.updated).toBe(
        true,
      )
      expect((await quoteOf(quote.lane_ref)).customer_rate).toBe(2300)
    },
  )

  test('an older signature of a fast clock loses also when it arrives later than the clock is ahead', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const first = (await databaseSeconds()) + 1
    await push({ lane_ref: quote.lane_ref, customer_rate: 2200 }, first + 1)
    await databaseReaches(first + 3)
    expect((await push({ lane_ref: quote.lane_ref, customer_rate: 2100 }, first)).body.updated).toBe(false)
    expect((await quoteOf(quote.lane_ref)).customer_rate).toBe(2200)
  })

  test('a fast clock cannot block another sender: its signature counts from its arrival', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const fast = { ...acme, token: await makeServiceToken(app, acme.tenant.owner) }
    const now = await databaseSeconds()
    await pushUpdate(app, fast, { lane_ref: quote.lane_ref, customer_rate: 2100 }, now + 120)
    const later = (await databaseSeconds()) + 1
    await databaseReaches(later)
    expect((await push({ lane_ref: quote.lane_ref, customer_rate: 2200 }, later)).body.updated).toBe(true)
    expect((await quoteOf(quote.lane_ref)).customer_rate).toBe(2200)
    // Updates that the fast sender signed before its newest one are old, whatever was applied since.
    await pushUpdate(app, fast, { lane_ref: quote.lane_ref, customer_rate: 2000 }, now + 119)
    expect((await quoteOf(quote.lane_ref)).customer_rate).toBe(2200)
  })

  test('of two senders whose clocks are both ahead, the newer signature wins', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const another = { ...acme, token: await makeServiceToken(app, acme.tenant.owner) }
    const first = (await databaseSeconds()) + 120
    await push({ lane_ref: quote.lane_ref, customer_rate: 2200 }, first + 1)
    const late = { lane_ref: quote.lane_ref, customer_rate: 2100 }
    expect((await pushUpdate(app, another, late, first)).body.updated).toBe(false)
    expect((await pushUpdate(app, another, late, first + 2)).body.updated).toBe(true)
    expect((await quoteOf(quote.lane_ref)).customer_rate).toBe(2100)
  })

  test('a rollback is newer than earlier updates of a sender with a fast clock, and older than later ones', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const ahead = 120
    const signed = (await databaseSeconds()) + ahead
    await push({ lane_ref: quote.lane_ref, customer_rate: 2100 }, signed)
    await databaseReaches((await databaseSeconds()) + 2)
    await rollBack(quote.lane_ref, 1)
    // Signed after the first update and before the rollback, delivered after it.
    const undone = await push({ lane_ref: quote.lane_ref, customer_rate: 2150 }, signed + 1)
    expect(undone.body.updated).toBe(false)
    expect((await quoteOf(quote.lane_ref)).customer_rate).toBeNull()
    const next = await push(
      { lane_ref: quote.lane_ref, customer_rate: 2200 },
      (await databaseSeconds()) + 1 + ahead,
    )
    expect(next.body.updated).toBe(true)
    expect((await quoteOf(quote.lane_ref)).customer_rate).toBe(2200)
  })

  test('instances whose clocks differ decide by the clock of the database', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const behind = await appOn(app.testDatabase, { secretKeys: [app.secretKey], now: app.now - 20_000 })
    try {
      const another = { ...acme, token: await makeServiceToken(app, acme.tenant.owner) }
      const signedAt = await databaseSeconds()
      await pushUpdate(behind, acme, { lane_ref: quote.lane_ref, customer_rate: 2200 }, signedAt)
      // By its instance's clock, the first update would be 20 s too old.
      const late = { lane_ref: quote.lane_ref, customer_rate: 2100 }
      expect((await pushUpdate(app, another, late, signedAt - 10)).body.updated).toBe(false)
      const [change] = await changesOf(quote.lane_ref)
      expect(Date.parse(change.changed_at)).toBeGreaterThanOrEqual(signedAt * 1000)
      const { decided_at } = await quoteOf(quote.lane_ref)
      // The first message about the booking tells when it was won, also if its values are too old.
      expect(Date.parse(decided_at)).toBe((signedAt - 10) * 1000)
    } finally {
      await behind.close()
    }
  })

  test('a time that was signed two hours ahead does not keep a right update out', async () => {
    expect(signedAheadSecondsMax).toBe(signatureToleranceSeconds)
    const quote = await makeQuote(app, acme.tenant)
    app.now += 7_200_000
    try {
      await push({ lane_ref: quote.lane_ref, customer_rate: 5000, truck_cost: 4000 })
    } finally {
      app.now -= 7_200_000
    }
    await push({ lane_ref: quote.lane_ref, customer_rate: 2000, truck_cost: 1500 })
    expect(await quoteOf(quote.lane_ref)).toMatchObject({ customer_rate: 2000, truck_cost: 1500 })
    const older = await push({ lane_ref: quote.lane_ref, customer_rate: 1900 }, seconds() - 1)
    expect(older.body.updated).toBe(false)
    const { body } = await push({ lane_ref: quote.lane_ref, cancelled: true }, seconds() + 1)
    expect(body.updated).toBe(true)
    expect(await quoteOf(quote.lane_ref)).toMatchObject({ customer_rate: null, outcome: 'pending' })
  })

  test('the window follows the server’s clock', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const signedAt = seconds()
    try {
      app.now += 300_000
      expect((await push({ lane_ref: quote.lane_ref, carrier_name: 'In time' }, signedAt)).status).toBe(200)
      app.now += 1_000
      expect((await push({ lane_ref: quote.lane_ref, carrier_name: 'Late' }, signedAt)).body.type).toBe(
        '/problems/timestamp-out-of-window',
      )
    } finally {
      app.now -= 301_000
    }
  })

  test('amounts keep their cents, from 0 to the largest', async () => {
    const quote = await makeQuote(app, acme.tenant)
    for (const [nth, amount] of [0, 0.01, 0.1, 2150, 2150.5, 1234.56, 9_999_999.99].entries()) {
      const update = { lane_ref: quote.lane_ref, customer_rate: amount, truck_cost: amount }
      expect((await push(update, seconds() - 10 + nth)).status).toBe(200)
      expect(await quoteOf(quote.lane_ref)).toMatchObject({
        customer_rate: amount,
        truck_cost: amount,
        margin: 0,
      })
    }
    expect((await pushBytes(`{"lane_ref":"${quote.lane_ref}","customer_rate":2.1505e3}`)).status).toBe(200)
    expect((await quoteOf(quote.lane_ref)).customer_rate).toBe(2150.5)
  })

  test.each([
    ['2026-03-01T14:00:00Z', '2026-03-01T14:00:00.000Z'],
    ['2026-03-01T14:00Z', '2026-03-01T14:00:00.000Z'],
    ['2026-03-01T14:00:00.123456+00:00', '2026-03-01T14:00:00.123Z'],
    ['2026-03-01T09:00:00-05:00', '2026-03-01T14:00:00.000Z'],
    ['2026-03-01T09:00:00-0500', '2026-03-01T14:00:00.000Z'],
    ['2026-03-01T09:00:00-05', '2026-03-01T14:00:00.000Z'],
    ['2026-03-01T14:00:00', '2026-03-01T14:00:00.000Z'],
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['20260301T140000Z', '2026-03-01T14:00:00.000Z'],
    ['20260301T0900-0500', '2026-03-01T14:00:00.000Z'],
    ['20260301T140000.5', '2026-03-01T14:00:00.500Z'],
    ['20260301', '2026-03-01T00:00:00.000Z'],
    ['2028-02-29T23:59:59Z', '2028-02-29T23:59:59.000Z'],
  ])('booked_at is read as ISO 8601: %s', async (sent, kept) => {
    const quote = await makeQuote(app, acme.tenant)
    expect((await push({ lane_ref: quote.lane_ref, booked_at: sent })).status).toBe(200)
    expect((await quoteOf(quote.lane_ref)).booked_at).toBe(kept)
  })

  test('a body with the name of every column changes only the seven fields of the interface', async () => {
    const quote = await makeQuote(app, acme.tenant, { rate: 2000 })
    const answer = await push({
      lane_ref: quote.lane_ref,
      customer_rate: 2100,
      tenant_id: other.tenant.id,
      lane_id: 1,
      request_id: 1,
      lane_number: 9,
      quote_count: 9,
      origin: 'Reno, NV',
      origin_key: 'reno|NV',
      equipment: 'R',
      quoted_rate: 1,
      quoted_rate_cents: 1,
      customer_rate_cents: 1,
      truck_cost_cents: 1,
      truck_cost_source: 'dashboard',
      outcome: 'lost',
      outcome_source: 'dashboard',
      decided_at: '2020-01-01T00:00:00Z',
      signed_at: {},
      source: 'dashboard',
      margin: 999,
      miles: 1,
      created_at: '2020-01-01T00:00:00Z',
      updated_at: '2020-01-01T00:00:00Z',
      created_by: 99,
      import_id: 1,
      carrier_notes: 'not a field of the interface',
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Ignored-Fields')).toContain('tenant_id')
    const after = await quoteOf(quote.lane_ref)
    expect(after).toEqual({
      ...quote,
      customer_rate: 2100,
      outcome: 'won',
      outcome_source: 'tms',
      decided_at: expect.any(String),
      updated_at: expect.any(String),
    })
  })

  test('a rolled-back booking is not brought back by a replay, and the quote is as it was', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const update = { lane_ref: quote.lane_ref, customer_rate: 2100, truck_cost: 1700 }
    await push(update, seconds() - 1)
    const rolled = await rollBack(quote.lane_ref, 1)
    expect(rolled.body).toMatchObject({
      customer_rate: null,
      truck_cost: null,
      outcome: 'pending',
      outcome_source: null,
    })
    const replay = await push(update, seconds() - 1)
    expect(replay.body).toEqual({ status: 'ok', lane_id: quote.lane_id, updated: true })
    expect((await quoteOf(quote.lane_ref)).customer_rate).toBeNull()
  })
})

describe('401', () => {
  test('a service token of one tenant with the secret of another cannot write', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const mixed = await pushUpdate(
      app,
      { token: acme.token, secret: other.secret },
      { lane_ref: quote.lane_ref, customer_rate: 1 },
    )
    expect(mixed.body.type).toBe('/problems/signature-mismatch')
    expect(await quoteOf(quote.lane_ref)).toEqual(quote)
  })

  test('the secret without a token gives no access', async () => {
    const bytes = '{"lane_ref":"1-1-1"}'
    const { Authorization: _left, ...headers } = signedHeaders(acme, bytes, seconds())
    const response = await fetch(`${app.url}${path}`, { method: 'POST', headers, body: bytes })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ type: '/problems/token-missing' })
  })

  test('ciphertexts swapped between two rows cannot be decrypted: both tenants get 401, not 500', async () => {
    const [one, two] = await Promise.all([makeIntegration(app), makeIntegration(app)])
    const sealedOf = async (tenantId: number) => {
      await owner.query("select set_config('app.tenant_id', $1, false)", [String(tenantId)])
      return (await owner.query('select sealed from signing_secrets')).rows[0].sealed as Buffer
    }
    const [sealedOne, sealedTwo] = [await sealedOf(one.tenant.id), await sealedOf(two.tenant.id)]
    const put = async (tenantId: number, sealed: Buffer) => {
      await owner.query("select set_config('app.tenant_id', $1, false)", [String(tenantId)])
      await owner.query('update signing_secrets set sealed = $1', [sealed])
    }
    await put(one.tenant.id, sealedTwo)
    await put(two.tenant.id, sealedOne)
    for (const [holder, secret] of [
      [one, one.secret],
      [one, two.secret],
      [two, two.secret],
      [two, one.secret],
    ] as const) {
      const answer = await pushUpdate(app, { token: holder.token, secret }, { lane_ref: 'a' })
      expect([answer.status, answer.body.type]).toEqual([401, '/problems/signature-mismatch'])
    }
    await owner.query("select set_config('app.tenant_id', '', false)")
  })
})

describe('403', () => {
  test.each([
    '',
    'integrations:read',
    'integrations:writeX',
    'INTEGRATIONS:WRITE',
    'read',
    'quotes:write imports:write read',
  ])('a token with scope %j cannot write, and reads only with the scope read', async (scope) => {
    const made = await call(app, 'POST', '/api/integrations/tokens', {
      token: acme.tenant.owner,
      body: { name: 'odd' },
    })
    await owner.query("select set_config('app.tenant_id', $1, false)", [String(acme.tenant.id)])
    await owner.query('update service_tokens set scope = $1 where token_id = $2', [scope, made.body.id])
    await owner.query("select set_config('app.tenant_id', '', false)")
    const answer = await pushUpdate(app, { token: made.body.token, secret: acme.secret }, { lane_ref: 'a' })
    expect([answer.status, answer.body.type]).toEqual([403, '/problems/insufficient-scope'])
    expect(answer.headers.get('WWW-Authenticate')).toBe(
      'Bearer error="insufficient_scope", scope="integrations:write"',
    )
    const read = await call(
      app,
      'GET',
      '/api/integrations/insights/lane?origin=Reno,NV&destination=Boise,ID',
      { token: made.body.token },
    )
    expect(read.status).toBe(scope.endsWith('read') && scope !== 'integrations:read' ? 200 : 403)
  })
})

describe('404', () => {
  test('a lane_ref that matches no lane is 404 with detail, whatever it looks like', async () => {
    for (const ref of [
      '48211093754-1-1',
      '1-1-1',
      'nonsense',
      '',
      ' ',
      '-',
      '1-1',
      '1-1-1-1',
      '００-1-1',
      "' or 1=1 --",
      '../x',
      '😀',
      'x'.repeat(200),
    ]) {
      const answer = await push({ lane_ref: ref, customer_rate: 1 })
      expect([ref, answer.status]).toEqual([ref, 404])
      expect(answer.body.detail).toBe(`No lane was found for lane_ref "${ref}".`)
    }
  })

  test('a lane_ref is matched as it is: no trimming, no other case, no number', async () => {
    const quote = await makeQuote(app, acme.tenant)
    for (const ref of [
      ` ${quote.lane_ref}`,
      `${quote.lane_ref} `,
      `0${quote.lane_ref}`,
      `${quote.lane_ref}0`,
      String(quote.lane_id),
    ]) {
      expect((await push({ lane_ref: ref, customer_rate: 1 })).status).toBe(404)
    }
  })

  test('another tenant’s quote and no quote get the same answer, letter for letter', async () => {
    const theirs = await makeQuote(app, other.tenant)
    const nothing = '9'.repeat(theirs.lane_ref.length - 4).concat('-1-1')
    const state = await rowsOf(other.tenant.id)
    const answers = [
      await push({ lane_ref: theirs.lane_ref, customer_rate: 1 }),
      await push({ lane_ref: nothing, customer_rate: 1 }),
    ]
    const [hers, none] = answers.map((answer, index) => {
      const ref = index === 0 ? theirs.lane_ref : nothing
      const { date: _date, ...headers } = Object.fromEntries(answer.headers)
      return JSON.stringify([answer.status, answer.body, headers])
        .replaceAll(ref, 'REF')
        .replaceAll(answer.body.request_id, 'ID')
        .replace(/"content-length":"\d+"/, '')
    })
    expect(hers).toBe(none)
    expect(await rowsOf(other.tenant.id)).toBe(state)
  })

  test('a 404 is not cached: the same request works once the quote exists', async () => {
    expect((await push({ lane_ref: 'x', customer_rate: 1 })).headers.get('Idempotent-Replayed')).toBeNull()
    expect((await push({ lane_ref: 'x', customer_rate: 1 })).status).toBe(404)
  })
})

const numberTexts = [
  '1e400',
  '-1e400',
  '-0',
  '-0.0',
  '-1',
  '-0.01',
  '10000000',
  '9999999.999',
  '9007199254740993',
  '0.001',
  '2150.333',
  '0.30000000000000004',
  '1e-7',
  '"12"',
  '"2150.00"',
  '"NaN"',
  '"Infinity"',
  '""',
  'true',
  'false',
  '[1]',
  '[]',
  '{}',
  '{"a":1}',
]

/** Texts that have broken other systems. Hidden characters, line breaks and unstorable characters are rejected. */
const naughty: readonly [string, boolean][] = [
  ['Ω≈ç√∫˜µ≤≥÷', true],
  ['田中さんにあげて下さい', true],
  ['مُنَاقَشَةُ سُبُلِ', true],
  ['👩‍👩‍👧‍👦 🇺🇸 ﷽', true],
  ['é vs e\u0301', true],
  ['\u200bzero\u200dwidth\ufeff', true],
  ['\u00a0no break\u3000', true],
  ['\u2028line\u2029', true],
  ['<script>alert(1)</script>', true],
  ['"><img src=x onerror=alert(1)>', true],
  ["Robert'); DROP TABLE quotes;--", true],
  ["1' OR '1'='1", true],
  ['=HYPERLINK("http://evil.example")', true],
  ['+1-800-TRUCK', true],
  ['-2+3', true],
  ['@SUM(A1)', true],
  ['{{7*7}} #{7*7} %{7*7}', true],
  ['$(reboot) `reboot` | reboot', true],
  ['../../etc/passwd', true],
  ['%00 %0a %n%s%x', true],
  ['null', true],
  ['undefined', true],
  ['NaN', true],
  ['true', true],
  ['0', true],
  ['\\', true],
  ['\\u0000', true],
  ['"', true],
  ['𝕋𝕣𝕦𝕔𝕜', true],
  [`${'n'.repeat(200)}`, true],
  ['😀'.repeat(200), true],
  ['n'.repeat(201), false],
  ['😀'.repeat(201), false],
  ['a\u0000b', false],
  ['a\nb', false],
  ['a\r\nSet-Cookie: x', false],
  ['a\tb', false],
  ['\u001b[31mred', false],
  ['a\u007fb', false],
  ['a\u0085b', false],
  ['a\u202egnp.exe', false],
  ['a\u2066b\u2069', false],
  ['a\ufffeb', false],
  ['a\uffffb', false],
  ['\u{1fffe}', false],
  ['\ud800', false],
  ['a\udc00b', false],
]

describe('422', () => {
  test.each(['customer_rate', 'truck_cost'])(
    '%s must be a JSON number of dollars with at most two decimals',
    async (field) => {
      const quote = await makeQuote(app, acme.tenant)
      for (const text of numberTexts) {
        const answer = await pushBytes(`{"lane_ref":"${quote.lane_ref}","${field}":${text}}`)
        expect([text, answer.status, answer.body.errors?.[0]?.pointer]).toEqual([text, 422, `/${field}`])
      }
      expect(await quoteOf(quote.lane_ref)).toEqual(quote)
    },
  )

  test.each(['customer_name', 'carrier_name', 'carrier_mc'] as const)(
    '%s takes any text that can be shown, gives it back letter for letter, and refuses what hides or breaks',
    async (field) => {
      const quote = await makeQuote(app, acme.tenant)
      for (const [nth, [text, fits]] of naughty.entries()) {
        const answer = await push(
          { lane_ref: quote.lane_ref, [field]: text },
          seconds() - naughty.length + nth,
        )
        expect([text, answer.status]).toEqual([text, fits ? 200 : 422])
        if (fits) {
          const kept = (await quoteOf(quote.lane_ref))[field === 'carrier_mc' ? 'carrier_notes' : field]
          expect(kept).toBe(text)
        }
      }
      for (const value of [1, true, [], {}, '   ', '\uFEFF\u200B', '\u3164', '\u200D \u00AD']) {
        expect((await push({ lane_ref: quote.lane_ref, [field]: value })).status).toBe(422)
      }
    },
  )

  test('an empty optional text changes nothing, like null; an empty lane_ref names no quote', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const sent = {
      lane_ref: quote.lane_ref,
      customer_name: 'Harvest Table Foods LLC',
      carrier_name: 'Blue Mesa',
    }
    expect((await push({ ...sent, booked_at: '2026-03-01' })).status).toBe(200)
    const before = await quoteOf(quote.lane_ref)
    const empty = { customer_name: '', carrier_name: '', carrier_mc: '', booked_at: '', customer_basis: '' }
    const answer = await push({ lane_ref: quote.lane_ref, ...empty })
    expect([answer.status, answer.body.updated]).toEqual([200, false])
    expect(await quoteOf(quote.lane_ref)).toEqual(before)
    expect((await push({ ...empty, lane_ref: '' })).status).toBe(404)
    expect((await push({ lane_ref: quote.lane_ref, customer_rate: '' })).status).toBe(422)
  })

  test('lane_ref that is missing, null, no text, too long, or cannot be shown', async () => {
    for (const update of [
      {},
      { lane_ref: null },
      { lane_ref: 1 },
      { lane_ref: ['1-1-1'] },
      { lane_ref: {} },
      { lane_ref: 'x'.repeat(201) },
    ]) {
      expect((await push({ ...update, customer_rate: 1 })).status).toBe(422)
    }
    for (const [text, fits] of naughty) {
      const { status } = await push({ lane_ref: text, customer_rate: 1 })
      expect([text, status]).toEqual([text, fits ? 404 : 422])
    }
  })

  test.each([
    'yesterday',
    '2026-02-30',
    '2026-02-29T00:00:00Z',
    '2026-13-01',
    '2026-03-01T25:00:00Z',
    '2026-03-01T14:60:00Z',
    '03/01/2026',
    '1772373600',
    '0001-01-01',
    '2026-03-01T14:00:00+25:00',
    1772373600,
    {},
  ])('an invalid booked_at: %j', async (value) => {
    expect((await push({ lane_ref: '1-1-1', booked_at: value })).status).toBe(422)
  })

  test('with one invalid field, nothing of the update is applied', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const state = await rowsOf(acme.tenant.id)
    expect((await push({ lane_ref: quote.lane_ref, customer_rate: 2100, truck_cost: -1 })).status).toBe(422)
    expect(await rowsOf(acme.tenant.id)).toBe(state)
  })
})

describe('the database', () => {
  test.each([
    ["customer_rate_cents = 'NaN'", /invalid input syntax/],
    ['customer_rate_cents = -1', /check constraint/],
    ['truck_cost_cents = 1000000000', /check constraint/],
    ['quoted_rate_cents = -1', /check constraint/],
    ["miles = 'NaN'", /check constraint/],
    ["miles = 'Infinity'", /check constraint/],
    ["outcome = 'maybe'", /check constraint/],
    ["outcome = 'won', decided_at = null", /check constraint/],
    ["truck_cost_source = 'guess'", /check constraint/],
  ])('refuses %s by itself', async (assignment, error) => {
    const quote = await makeQuote(app, acme.tenant)
    await owner.query('begin')
    await owner.query("select set_config('app.tenant_id', $1, true)", [String(acme.tenant.id)])
    await expect(
      owner.query(`update quotes set ${assignment} where lane_id = ${quote.lane_id}`),
    ).rejects.toThrow(error)
    await owner.query('rollback')
  })

  test('the service can neither change nor delete records', async () => {
    const service = new pg.Client(app.testDatabase.service)
    await service.connect()
    await service.query("select set_config('app.tenant_id', $1, false)", [String(acme.tenant.id)])
    for (const table of ['shipment_updates', 'quote_changes']) {
      for (const statement of [
        `update ${table} set tenant_id = tenant_id`,
        `delete from ${table}`,
        `truncate ${table}`,
      ]) {
        await expect(service.query(statement)).rejects.toThrow('permission denied')
      }
    }
    await service.end()
  })
})
