import Papa from 'papaparse'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pushShipmentUpdates } from '#contract/push-shipment-updates.ts'
import {
  type BookingField,
  bookingFields,
  bookingTable,
  cancellationFields,
  csvBookingFields,
  type SentBookingField,
  sentBookingFields,
} from '#engine/booking-fields.ts'
import { quoteFields, quoteTable } from '#engine/quote-fields.ts'
import { type EventReceiver, eventReceiver, type Received, sendEventsTo } from '#testing/event-receiver.ts'
import { call, type Integration, makeIntegration, makeQuote, pushSigned, pushUpdate } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

/** Tests every field in the table of booking fields. A new field fails here until each tested place handles it. */

let app: TestApp
let acme: Integration
let receiver: EventReceiver
let owner: pg.Client

beforeAll(async () => {
  app = await testApp({ config: { events: { allowPrivate: ['loopback'] } }, sendEvents: { everyMs: 20 } })
  app.now = Date.now()
  acme = await makeIntegration(app)
  receiver = await eventReceiver()
  await sendEventsTo(app, acme.tenant, receiver.url)
  owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await app.close()
  await receiver.close()
})

const accessorialsOf = (field: BookingField): BookingField =>
  field === 'customerCharges' ? 'customerAccessorialsCents' : 'truckAccessorialsCents'

/** A value that no other field has, in the form of the API. */
function distinctive(field: BookingField, turn = 0): unknown {
  const nth = bookingFields.indexOf(field) + 1
  switch (bookingTable[field].unit) {
    case 'cents':
      // Charges are less than their amount, which may contain them.
      return (nth <= 2 ? 5000 : 1000) + 100 * turn + nth + 0.25
    case 'text':
      return `${field} ${turn}`
    case 'time':
      return `2026-03-${10 + turn}T00:00:${10 + nth}.000Z`
    case 'basis':
      return turn === 0 ? 'linehaul' : 'all_in'
    case 'currency':
      return turn === 0 ? 'CAD' : 'USD'
    case 'charges':
      // The charges by name, which add up to the accessorial charges of the same update.
      return [{ name: `charge ${turn}`, amount: distinctive(accessorialsOf(field), turn) }]
  }
}

/** A value in the form of an exported file. */
const inCsv = (value: unknown) => (typeof value === 'number' ? value.toFixed(2) : String(inHistory(value)))

/** A value in the history of a quote: charges by name are text there. */
function inHistory(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return value.map(({ name, amount }) => `${name} ${amount.toFixed(2)}`).join('; ')
}

/** Fields that can change alone. Charges by name and accessorial charges change together. */
const changesAlone = sentBookingFields.filter(
  (field) => bookingTable[field].unit !== 'charges' && !field.endsWith('AccessorialsCents'),
)

const named = (fields: readonly BookingField[], value: (field: BookingField) => unknown) =>
  Object.fromEntries(fields.map((field) => [bookingTable[field].shown, value(field)]))

/** The signed time of the next update: each update is signed later than the one before it. */
let second = Math.floor(Date.now() / 1000) - 200
async function push(lane: string, update: Record<string, unknown>): Promise<void> {
  second++
  const { status, body, headers } = await pushUpdate(app, acme, { lane_ref: lane, ...update }, second)
  expect([status, body.updated, headers.get('Ignored-Fields')]).toEqual([200, true, null])
}
const sendAll = (lane: string, fields: readonly SentBookingField[], turn = 0) =>
  push(lane, Object.fromEntries(fields.map((field) => [bookingTable[field].sent, distinctive(field, turn)])))

const quoteOf = async (ref: string) =>
  (await call(app, 'GET', `/api/lanes/${ref}`, { token: acme.tenant.owner })).body
const newestChange = async (ref: string) =>
  (await call(app, 'GET', `/api/lanes/${ref}/changes`, { token: acme.tenant.owner })).body.changes[0]

async function exportedQuote(ref: string): Promise<Record<string, string> | undefined> {
  const { body } = await call(app, 'GET', '/api/lanes/export', { token: acme.tenant.owner })
  const { data } = Papa.parse<Record<string, string>>(body.replace(/^\uFEFF/, ''), { header: true })
  return data.find((row) => row['Quote ID'] === ref)
}

/** The newest event of a type about a quote. */
async function eventOf(ref: string, type: string, change: number): Promise<Received['event']['data']> {
  const of = ({ event }: Received) =>
    event.type === type && event.data.lane.lane_ref === ref && event.data.change_id === change
  await receiver.until((received) => received.some(of))
  const found = receiver.received.find(of)
  if (found === undefined) throw new Error('It was there a moment ago.')
  return found.event.data
}

const audited = (fields: readonly BookingField[]) => fields.filter((field) => bookingTable[field].audited)
const inEvents = (fields: readonly BookingField[]) => fields.filter((field) => bookingTable[field].inEvents)

/** Expects the values of fields in the answer, the history, the event and the exported file of a quote. */
async function expectEverywhere(
  ref: string,
  fields: readonly BookingField[],
  value: (field: BookingField) => unknown,
): Promise<void> {
  expect(await quoteOf(ref)).toMatchObject(named(fields, value))
  const change = await newestChange(ref)
  expect(change.after).toMatchObject(named(audited(fields), (field) => inHistory(value(field))))
  const event = await eventOf(ref, 'lane.booked', change.change_id)
  expect(event.lane).toMatchObject(named(fields, value))
  expect(event.changed).toEqual(
    expect.arrayContaining(inEvents(fields).map((field) => bookingTable[field].shown)),
  )
  const row = await exportedQuote(ref)
  const exported = csvBookingFields.filter((field) => fields.includes(field))
  expect(row).toMatchObject(
    Object.fromEntries(exported.map((field) => [bookingTable[field].csv, inCsv(value(field))])),
  )
}

describe('a signed update', () => {
  test('every field is in the answer, the history, the event and the exported file', async () => {
    const { lane_ref: ref } = await makeQuote(app, acme.tenant)
    await sendAll(ref, sentBookingFields)
    await expectEverywhere(ref, sentBookingFields, distinctive)
  })

  test.each(changesAlone)('of %s alone changes that field and leaves every other one', async (field) => {
    const { lane_ref: ref } = await makeQuote(app, acme.tenant)
    await sendAll(ref, sentBookingFields)
    await sendAll(ref, [field], 1)
    const value = (one: BookingField) => distinctive(one, one === field ? 1 : 0)
    expect(await quoteOf(ref)).toMatchObject(named(sentBookingFields, value))
    // The win of a booking is dated by the booking.
    const dated = field === 'bookedAt' ? ['decided_at'] : []
    expect(Object.keys((await newestChange(ref)).after)).toEqual([bookingTable[field].shown, ...dated])
  })

  test('a rollback restores the previous value of every field', async () => {
    const { lane_ref: ref } = await makeQuote(app, acme.tenant)
    await sendAll(ref, sentBookingFields)
    await sendAll(ref, sentBookingFields, 1)
    const { change_id } = await newestChange(ref)
    const { status } = await call(app, 'POST', `/api/lanes/${ref}/rollback`, {
      token: acme.tenant.owner,
      body: { change_id },
    })
    expect(status).toBe(200)
    await expectEverywhere(ref, sentBookingFields, distinctive)
  })
})

describe('a cancellation', () => {
  const cancelled = { cancelled: true, cancel_reason: 'Shipper pulled the load' }
  const value = (field: BookingField) =>
    field === 'cancelledAt' ? new Date(second * 1000).toISOString() : cancelled.cancel_reason

  test('is visible everywhere, clears the fields of its row, and keeps the others', async () => {
    const { lane_ref: ref } = await makeQuote(app, acme.tenant)
    await sendAll(ref, sentBookingFields)
    await push(ref, cancelled)
    await expectEverywhere(ref, cancellationFields, value)
    const left = (field: BookingField) =>
      bookingTable[field].cancellation === 'clears' ? null : distinctive(field)
    expect(await quoteOf(ref)).toMatchObject(named(sentBookingFields, left))
    const { change_id } = await newestChange(ref)
    expect((await eventOf(ref, 'lane.booking_cancelled', change_id)).lane).toMatchObject(
      named(cancellationFields, value),
    )
  })

  test('survives an update of another field', async () => {
    const { lane_ref: ref } = await makeQuote(app, acme.tenant)
    await sendAll(ref, sentBookingFields)
    await push(ref, cancelled)
    const before = await quoteOf(ref)
    await sendAll(ref, ['customerName'], 1)
    expect(await quoteOf(ref)).toEqual({
      ...before,
      customer_name: distinctive('customerName', 1),
      updated_at: expect.any(String),
    })
  })

  test.each(sentBookingFields)('together with %s is refused where it would clear it', async (field) => {
    const { lane_ref: ref } = await makeQuote(app, acme.tenant)
    const { sent, cancellation } = bookingTable[field]
    const body = { lane_ref: ref, ...cancelled, [sent]: distinctive(field) }
    second++
    const { status } = await pushUpdate(app, acme, body, second)
    expect(status).toBe(cancellation === 'clears' ? 422 : 200)
  })
})

test('an update that is accepted and not applied has one event, alone and in a bulk call', async () => {
  const { lane_ref: ref } = await makeQuote(app, acme.tenant)
  await push(ref, { customer_rate: 2100, truck_cost: 1700 })
  const late = { lane_ref: ref, customer_rate: 2000 }
  const signed = second - 100
  for (let sent = 0; sent < 2; sent++)
    expect((await pushUpdate(app, acme, late, signed)).body.updated).toBe(false)
  const nothing = await pushUpdate(app, acme, { lane_ref: ref }, signed + 1)
  expect(nothing.body.updated).toBe(false)
  const bulk = { updates: [{ ...late, truck_cost: 1600 }] }
  const many = await pushSigned(app, acme, pushShipmentUpdates, bulk, signed + 2)
  expect(many.body.results).toMatchObject([{ status: 200, updated: false }])
  // Events of a quote arrive in order, so this one comes after all others.
  await push(ref, { carrier_name: 'The last event' })
  await eventOf(ref, 'lane.booked', (await newestChange(ref)).change_id)
  const events = receiver.received.flatMap(({ event: { type, data } }) =>
    type === 'lane.update_not_applied' ? data : [],
  )
  const at = (seconds: number) => new Date(seconds * 1000).toISOString()
  expect(events).toMatchObject([
    { reason: 'older-signature', signed_at: at(signed), fields: ['customer_rate'] },
    { reason: 'older-signature', signed_at: at(signed + 2), fields: ['customer_rate', 'truck_cost'] },
  ])
  expect(events[0]?.lane).toMatchObject({ lane_ref: ref, customer_rate: 2100 })
})

test('an imported file can set every field that a signed update can set', async () => {
  const { tenant } = await makeIntegration(app)
  const quoted = { origin: 'Dallas TX', destination: 'Atlanta GA', equipment: 'Van', quoted_at: '2026-03-01' }
  const booked = Object.fromEntries(
    sentBookingFields.map((field) => [bookingTable[field].sent, inHistory(distinctive(field))]),
  )
  const response = await fetch(`${app.url}/api/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
    body: Papa.unparse([{ ...quoted, ...booked }]),
  })
  expect(response.status).toBe(202)
  const lanes = () => call(app, 'GET', '/api/lanes', { token: tenant.owner })
  await expect.poll(async () => (await lanes()).body.lanes.length).toBe(1)
  expect((await lanes()).body.lanes[0]).toMatchObject(named(sentBookingFields, distinctive))
})

test('every field has a column of its unit', async () => {
  const types = {
    cents: 'integer',
    text: 'text',
    time: 'timestamp with time zone',
    basis: 'text',
    currency: 'text',
    charges: 'text',
  } as const
  const { rows } = await owner.query<{ column_name: string; data_type: string }>(
    `select column_name, data_type from information_schema.columns where table_name = 'quotes'`,
  )
  const typeOf = new Map(rows.map(({ column_name, data_type }) => [column_name, data_type]))
  for (const field of bookingFields) {
    const { column, unit } = bookingTable[field]
    expect([column, typeOf.get(column)]).toEqual([column, types[unit]])
  }
})

/** The columns of quotes that never change, and the one that every update sets. */
const fixedColumns = `
  tenant_id lane_id lane_ref request_id lane_number quote_count expected_cost_cents expected_cost_low_cents
  expected_cost_high_cents expected_basis updated_at import_id import_fingerprint search_text customer_key forecast`
  .trim()
  .split(/\s+/)

test('change_quote writes every other column, and those of search_text only if they change', async () => {
  const { rows: columns } = await owner.query<{ name: string; in_search_text: boolean }>(
    `select attname as name, exists (
       select from pg_attrdef join pg_depend on classid = 'pg_attrdef'::regclass and objid = pg_attrdef.oid
       where adrelid = attrelid and refobjid = attrelid and refobjsubid = attnum
         and adnum in (select attnum from pg_attribute where attrelid = adrelid and attgenerated <> '')
     ) as in_search_text
     from pg_attribute where attrelid = 'quotes'::regclass and attnum > 0 and not attisdropped`,
  )
  const { rows: functions } = await owner.query<{ prosrc: string }>(
    `select prosrc from pg_proc where proname = 'change_quote'`,
  )
  const updates = (functions[0]?.prosrc ?? '').split(/update public.quotes/).slice(1)
  const written = updates.map((update) =>
    [
      ...update.matchAll(
        /(\w+) = case when new_values \? '\1'\s+then (?:.*'\1'.*|new_\1) else known\.\1 end,/g,
      ),
    ].map(([, name]) => name),
  )
  const converted = (functions[0]?.prosrc ?? '').matchAll(
    /new_(\w+) constant \w+ := \(new_values ->> '(\w+)'\)/g,
  )
  for (const [, variable, name] of converted) expect(variable).toBe(name)
  const changing = columns.filter(({ name }) => !fixedColumns.includes(name))
  const names = (list: typeof columns) => list.map(({ name }) => name).sort()
  expect(written.map((list) => list.sort())).toEqual([
    names(changing),
    names(changing.filter((column) => !column.in_search_text)),
  ])
  expect(names(changing)).toEqual(
    expect.arrayContaining<string>([
      ...bookingFields.map((field) => bookingTable[field].column),
      ...quoteFields.flatMap((field) => [quoteTable[field].column, ...quoteTable[field].derived]),
    ]),
  )
})
