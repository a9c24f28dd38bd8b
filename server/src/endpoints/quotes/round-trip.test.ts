import { setTimeout as delay } from 'node:timers/promises'
import { utils, write } from '@e965/xlsx'
import Papa from 'papaparse'
import { beforeAll, describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { pushQuotes } from '#contract/push-quotes.ts'
import {
  call,
  type Integration,
  type MadeTenant,
  makeIntegration,
  makePerson,
  makeTenant,
  pushSigned,
  pushUpdate,
  quoteToPush,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let ours: Integration
let owner: string
const refs: Record<string, string> = {}

const post = async (path: string, body: object) => {
  const answer = await call(app, 'POST', path, { token: owner, body })
  expect([path, answer.status, answer.body.detail]).toEqual([
    path,
    answer.status < 300 ? answer.status : 200,
    undefined,
  ])
  return answer.body
}
const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2000 }
async function quoted(name: string, over: object = {}, customer_name = 'Harvest Table Foods') {
  const { lanes } = await post('/api/quote-requests', { customer_name, lanes: [{ ...lane, ...over }] })
  refs[name] = lanes[0].lane_ref
  return lanes[0].lane_ref as string
}
const marked = async (name: string, outcome: object, over: object = {}) =>
  post(`/api/lanes/${await quoted(name, over)}/outcome`, outcome)
const refOf = (name: string) => refs[name] ?? name

/** Names that a spreadsheet or a reader of files could take for something else. */
const oddNames = [
  '+1 Logistics',
  "'+1 Logistics",
  '=Sum Freight',
  '@Home Foods',
  '-Dash Co',
  'Acme; =Best',
  "Acme; '=Best",
  "'quoted",
  'Say "yes", Inc.',
  'Süßwaren Müller; Köln',
  '007',
  '12345678901234567890',
  '3/4/2026',
  'TRUE',
]

beforeAll(async () => {
  app = await sharedApp()
  ours = await makeIntegration(app, 'integrations:write quotes:write')
  owner = ours.tenant.owner
  await makePerson(app, ours.tenant, 'member')
  for (const [nth, name] of oddNames.entries()) await quoted(`odd ${nth}`, {}, name)
  await quoted('pending', {
    miles: 781.5,
    estimated_cost: 1700,
    market_rate: 1900,
    pickup_date: '2026-03-04',
  })
  await quoted('linehaul', {
    quoted_basis: 'linehaul',
    quoted_charges: [
      { name: 'detention', amount: 75 },
      { name: 'lumper', amount: 120.5 },
    ],
    quoted_fuel: 210.25,
    rate_type: 'contract',
  })
  await quoted('canadian', { quoted_currency: 'CAD', estimated_cost: 1500, equipment: 'Reefer' })
  await marked('won', { outcome: 'won' })
  for (const reason of ['price', 'service', 'capacity', 'no_response', 'withdrawn', 'other'])
    await marked(`lost ${reason}`, { outcome: 'lost', reason })
  await quoted('void')
  await post(`/api/lanes/${refs.void}/void`, { reason: 'Typo' })
  for (const [name, ...rates] of [
    ['requoted', 1900],
    ['requoted twice', 1900, 1850],
  ] as const) {
    let last = await quoted(name)
    for (const quoted_rate of rates)
      last = (await post(`/api/lanes/${last}/requote`, { quoted_rate })).lane_ref
    await post(`/api/lanes/${last}/outcome`, { outcome: 'won' })
  }
  await quoted('booked')
  await pushUpdate(app, ours, {
    lane_ref: refs.booked,
    customer_rate: 2100,
    truck_cost: 1800.5,
    customer_name: 'Billed To, LLC',
    carrier_name: '+Carrier',
    carrier_mc: '0012',
    booked_at: '2026-03-01T09:30:00.250Z',
    customer_fuel: 100,
    customer_charges: [{ name: 'detention', amount: 75 }],
    truck_currency: 'CAD',
  })
  await quoted('carrier only')
  await pushUpdate(app, ours, { lane_ref: refs['carrier only'], carrier_name: 'Blue Mesa' })
  await quoted('cancelled')
  await pushUpdate(app, ours, { lane_ref: refs.cancelled, customer_rate: 2100, truck_cost: 1800 })
  await pushUpdate(app, ours, { lane_ref: refs.cancelled, cancelled: true })
  const pushed = await pushSigned(app, ours, pushQuotes, {
    quotes: [
      quoteToPush('P1', { rep_name: '007 Rep', valid_until: '2030-01-01T00:00:00Z', miles: 800 }),
      quoteToPush('P2', { quoted_at: '2026-02-01T10:20:30Z', outcome: 'lost', outcome_reason: 'price' }),
    ],
  })
  refs.pushed = pushed.body.results[0].lane_ref
  // Rows of a file, also one that a later file with the same id updates.
  const rows = [
    'Load ID,Origin,Destination,Equipment,Quoted rate,AR,AP,Carrier,Status,Quote Date,Decided,Customer',
    '0071,"Reno, NV","Boise, ID",V,1500,1510,1200,Mesa,Won,2026-02-03,2026-02-04,Acme',
    '0072,"Reno, NV","Boise, ID",V,1500,,,,Lost - Price,2026-02-03,2026-02-05,Acme',
    '0073,"Reno, NV","Boise, ID",V,1400,,,,Expired,2026-02-03,2026-02-05,Acme',
    '1-1-1,"Reno, NV","Boise, ID",R,1400,,,,Open,2026-02-03,,Acme',
  ]
  const run = await imported(ours.tenant, rows.join('\n'))
  expect(run).toMatchObject({ rows_added: 4, rows_refused: 0 })
  for (const quote of (await call(app, 'GET', '/api/lanes?limit=200', { token: owner })).body.lanes)
    if (quote.reference !== null) refs[quote.reference] = quote.lane_ref
})

type Sender = Pick<MadeTenant, 'owner'>
interface Sent {
  readonly type?: string
  readonly query?: string
}

const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

/** Imports a file to its end, and expects that the counts add up. */
async function imported(tenant: Sender, file: string | Buffer, { type = 'text/csv', query = '' }: Sent = {}) {
  const headers = { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': type }
  const body = typeof file === 'string' ? file : new Uint8Array(file)
  const response = await fetch(`${app.url}/api/imports${query}`, { method: 'POST', headers, body })
  const started = (await response.json()) as { import_id: number; detail?: string }
  expect([response.status, started.detail]).toEqual([202, undefined])
  for (;;) {
    const { body: run } = await call(app, 'GET', `/api/imports/${started.import_id}`, { token: tenant.owner })
    if (run.status !== 'running') {
      expect(run.status).toBe('done')
      const { rows_added, rows_updated, rows_repeated, rows_refused, rows_kept } = run
      expect(rows_added + rows_updated + rows_repeated + rows_refused + rows_kept).toBe(run.rows_read)
      return run
    }
    await delay(20)
  }
}

type Row = Record<string, string>

async function exported(path = '/api/lanes/export', tenant: Sender = ours.tenant) {
  const { body } = await call(app, 'GET', path, { token: tenant.owner })
  const rows = Papa.parse<Row>(String(body).replace(/^\uFEFF/, ''), {
    header: true,
    skipEmptyLines: true,
  }).data
  return { text: String(body), rows }
}

/** All that the brokerage shows of its quotes. */
async function shown(tenant: Sender) {
  const get = async (path: string) => (await call(app, 'GET', path, { token: tenant.owner })).body
  const { lanes } = await get('/api/lanes?limit=200')
  const voided = await get('/api/lanes?outcome=void')
  const changes = await Promise.all(
    [...lanes, ...voided.lanes].map(({ lane_ref }: { lane_ref: string }) =>
      get(`/api/lanes/${lane_ref}/changes`),
    ),
  )
  return { lanes, voided, changes, performance: await get('/api/performance?by=month') }
}

const csv = (rows: readonly Row[], delimiter = ',') =>
  Papa.unparse(rows as Row[], { delimiter, newline: '\r\n' })

/** A workbook in which a spreadsheet saved the cells: numbers as numbers, the others as text. */
function workbook(rows: readonly Row[], isNumber = (cell: string) => /^-?\d+(\.\d+)?$/.test(cell)): Buffer {
  const columns = Object.keys(rows[0] ?? {})
  const cells = rows.map((row) =>
    columns.map((name) => (isNumber(row[name] ?? '') ? Number(row[name]) : (row[name] ?? ''))),
  )
  const book = utils.book_new()
  utils.book_append_sheet(book, utils.aoa_to_sheet([columns, ...cells]), 'Quotes')
  return write(book, { type: 'buffer', bookType: 'xlsx' })
}

describe('a file that was exported and is imported into the same brokerage', () => {
  test.each([
    '/api/lanes/export',
    '/api/shipments/export',
    '/api/lanes/export?outcome=void',
    '/api/lanes/export?offers=superseded',
  ])('changes nothing: %s', async (path) => {
    const before = await shown(ours.tenant)
    const { text, rows } = await exported(path)
    expect(rows.length).toBeGreaterThan(0)
    const files: readonly (readonly [string | Buffer, Sent])[] = [
      [text, {}],
      [csv(rows, ';'), {}],
      [csv(rows, '\t'), {}],
      [workbook(rows), { type: workbookType }],
    ]
    for (const [file, sent] of files) {
      const run = await imported(ours.tenant, file, sent)
      expect(run).toMatchObject({
        errors: [],
        changes: [],
        kept: [],
        rows_added: 0,
        rows_updated: 0,
        rows_repeated: rows.length,
      })
      expect(await shown(ours.tenant)).toEqual(before)
    }
  })

  test('changes nothing if its columns have another order, and some are gone', async () => {
    const { rows } = await exported()
    const kept = rows.map((row) => {
      const { Miles: _, 'Quoted by': __, 'Updated at': ___, ...others } = row
      return Object.fromEntries(Object.entries(others).reverse())
    })
    const run = await imported(ours.tenant, csv(kept), { query: '?dry_run=true' })
    expect(run).toMatchObject({ rows_repeated: rows.length, rows_updated: 0, rows_added: 0 })
  })

  const price = 'lost price'
  test.each<[column: string, quote: string, cell: string, fields: object]>([
    ['Quoted at', 'pending', '2026-02-27T08:00:00Z', { quoted_at: '2026-02-27T08:00:00.000Z' }],
    ['Quoted by', 'pending', 'Dana Reyes', { rep_name: 'Dana Reyes' }],
    ['Customer', 'pending', "'+2 Logistics", { customer_name: '+2 Logistics' }],
    ['Miles', 'pending', '790', { miles: 790 }],
    ['Pickup date', 'pending', '2026-03-09', { pickup_date: '2026-03-09' }],
    ['Quoted rate', 'pending', '2050.5', { quoted_rate: 2050.5 }],
    ['Quoted basis', 'pending', 'linehaul', { quoted_basis: 'linehaul' }],
    ['Quoted fuel', 'pending', '200', { quoted_fuel: 200 }],
    ['Quoted accessorials', 'pending', '80', { quoted_accessorials: 80 }],
    ['Quoted charges', 'pending', 'tarp 60', { quoted_charges: 'tarp 60.00', quoted_accessorials: 60 }],
    ['Currency', 'pending', 'CAD', { quoted_currency: 'CAD' }],
    ['Currency', 'canadian', 'USD', { quoted_currency: 'USD' }],
    ['Estimated cost', 'pending', '1650', { estimated_cost: 1650 }],
    ['Market rate', 'pending', '1950', { market_rate: 1950 }],
    ['Rate type', 'pending', 'contract', { rate_type: 'contract' }],
    ['Carrier', '1-1-1', 'Green Mesa', { carrier_name: 'Green Mesa' }],
    ['Outcome', '1-1-1', 'won', { outcome: 'won' }],
    ['Outcome', '0072', 'pending', { outcome: 'pending', outcome_reason: null, decided_at: null }],
    ['Outcome', '0071', 'lost', { outcome: 'lost' }],
    ['Outcome', '0073', 'lost', { outcome: 'lost' }],
    ['Outcome reason', '0072', 'service', { outcome_reason: 'service' }],
    ['Decided at', '0072', '2026-02-06T00:00:00Z', { decided_at: '2026-02-06T00:00:00.000Z' }],
    ['Customer rate', '0071', '1600', { customer_rate: 1600 }],
    ['Truck cost', '0071', '$1,210.00', { truck_cost: 1210 }],
    ['Carrier', '0071', "O'Mesa; Sons", { carrier_name: "O'Mesa; Sons" }],
    ['Carrier MC', '0071', 'MC 9', { carrier_notes: 'MC 9' }],
    ['Booked at', '0071', '2026-02-04T12:00:00Z', { booked_at: '2026-02-04T12:00:00.000Z' }],
    ['Customer basis', '0071', 'linehaul', { customer_basis: 'linehaul' }],
    ['Customer fuel', '0071', '90', { customer_fuel: 90 }],
    ['Customer accessorials', '0071', '40', { customer_accessorials: 40 }],
    ['Customer charges', '0071', 'tarp 60', { customer_charges: 'tarp 60.00', customer_accessorials: 60 }],
    ['Customer currency', '0071', 'CAD', { customer_currency: 'CAD' }],
    ['Truck basis', '0071', 'linehaul', { truck_basis: 'linehaul' }],
    ['Truck fuel', '0071', '90', { truck_fuel: 90 }],
    ['Truck accessorials', '0071', '40', { truck_accessorials: 40 }],
    ['Truck charges', '0071', 'tarp 60', { truck_charges: 'tarp 60.00', truck_accessorials: 60 }],
    ['Truck currency', '0071', 'CAD', { truck_currency: 'CAD' }],
  ])('with an edited cell in %s of %s changes exactly that', async (column, quote, cell, fields) => {
    const { rows } = await exported()
    const edited = rows.map((row) => (row['Quote ID'] === refOf(quote) ? { ...row, [column]: cell } : row))
    const run = await imported(ours.tenant, csv(edited), { query: '?dry_run=true' })
    const [change] = run.changes
    const after = Object.fromEntries(
      (change?.fields ?? []).map(({ field, after }: { field: string; after: unknown }) => [field, after]),
    )
    // A quote that is decided now has the time of the decision.
    const { decided_at, ...others } = after
    expect([run.errors, run.kept, 'decided_at' in fields ? after : others]).toEqual([[], [], fields])
    expect(run).toMatchObject({ rows_updated: 1, rows_repeated: rows.length - 1, rows_added: 0 })
    expect(change.lane_ref).toBe(refOf(quote))
  })

  test.each([
    ['Origin', 'pending', 'Waco, TX', 'Origin must be "Dallas, TX", as in the quote that has this Quote ID'],
    ['Equipment', 'pending', 'R', 'Equipment must be "V"'],
    ['Miles', 'pending', '50', 'Miles must be possible for the distance between the two places.'],
    ['Customer rate', 'pending', '2100', 'Customer rate is of a booked load; write won as its outcome'],
    ['Outcome reason', 'pending', 'price', 'Outcome reason is only for lost quotes'],
    ['Quoted rate', 'pending', 'two', 'Quoted rate must be an amount of dollars'],
    ['Valid until', 'pushed', '2030-02-01T00:00:00Z', 'Valid until cannot be changed by a file'],
    ['Valid until', 'pending', '2030-02-01', 'Valid until cannot be changed by a file'],
    ['Quoted charges', 'linehaul', 'tarp 60', 'must be the sum of the charges by name, which is $60'],
  ])('with a wrong cell in %s of %s is refused: %s', async (column, quote, cell, detail) => {
    const { rows } = await exported()
    const edited = rows.map((row) => (row['Quote ID'] === refOf(quote) ? { ...row, [column]: cell } : row))
    const run = await imported(ours.tenant, csv(edited), { query: '?dry_run=true' })
    expect(run.errors).toHaveLength(1)
    expect(run.errors[0].detail).toContain(detail)
    expect(run).toMatchObject({ rows_refused: 1, rows_updated: 0, rows_repeated: rows.length - 1 })
  })

  test.each([
    ['Customer rate', 'booked', '2200', 2100, 'which the TMS set'],
    ['Carrier', 'carrier only', 'Green Mesa', 'Blue Mesa', 'which the TMS set'],
    ['Quoted rate', 'pushed', '2200', 2150, 'which the TMS set'],
    ['Outcome', price, 'won', 'lost', 'which Olive Quay set'],
    ['Decided at', price, '2026-02-06T00:00:00Z', expect.any(String), 'which Olive Quay set'],
  ])('with another %s of %s lists the value that stays', async (column, quote, cell, kept_value, who) => {
    const { rows } = await exported()
    const edited = rows.map((row) => (row['Quote ID'] === refOf(quote) ? { ...row, [column]: cell } : row))
    const run = await imported(ours.tenant, csv(edited), { query: '?dry_run=true' })
    expect(run).toMatchObject({ rows_kept: 1, rows_updated: 0, kept: [{ column, kept_value }] })
    expect(run.kept[0].detail).toContain(who)
  })

  test('an edit is applied, undone, and applied again', async () => {
    const before = await shown(ours.tenant)
    const { rows } = await exported()
    const edited = rows.map((row) =>
      row['Quote ID'] === refs['0071'] ? { ...row, 'Quoted rate': '1650', 'Customer rate': '1700' } : row,
    )
    const run = await imported(ours.tenant, csv(edited))
    expect(run).toMatchObject({ rows_updated: 1, rows_repeated: rows.length - 1 })
    const after = (await shown(ours.tenant)).lanes
    const changed = after.filter((quote: object, nth: number) => {
      return JSON.stringify(quote) !== JSON.stringify(before.lanes[nth])
    })
    expect(changed).toMatchObject([{ lane_ref: refs['0071'], quoted_rate: 1650, customer_rate: 1700 }])
    expect(await imported(ours.tenant, csv(edited))).toMatchObject({ rows_updated: 0, rows_kept: 0 })
    // The file that made the quote still says nothing new.
    const first =
      'Load ID,Origin,Destination,Equipment,Quoted rate,AR,AP,Carrier,Status,Quote Date,Decided,Customer\n' +
      '0071,"Reno, NV","Boise, ID",V,1500,1510,1200,Mesa,Won,2026-02-03,2026-02-04,Acme'
    expect(await imported(ours.tenant, first)).toMatchObject({ rows_repeated: 1, rows_updated: 0 })
    await call(app, 'POST', `/api/imports/${run.import_id}/undo`, { token: owner })
    for (;;) {
      const { body } = await call(app, 'GET', `/api/imports/${run.import_id}`, { token: owner })
      if (body.status === 'undone') break
      await delay(20)
    }
    const undone = (await shown(ours.tenant)).lanes
    const withoutTime = (quotes: { updated_at: string }[]) => quotes.map(({ updated_at: _, ...one }) => one)
    expect(withoutTime(undone)).toEqual(withoutTime(before.lanes))
  })
})

describe('every other file that Lanewise exports', () => {
  const endpoints: readonly Endpoint[] = allEndpoints
  const files = endpoints.filter((one) => one.answerKind === 'csv' && !one.path.includes('{'))
  const ofQuotes = new Set(['export-quotes', 'export-shipments'])

  test.each(files.filter(({ name }) => !ofQuotes.has(name)))(
    'is refused by an import: $name',
    async (one) => {
      const isLane = one.name === 'export-performance' ? '?by=lane' : ''
      const answer = await call(app, 'GET', `${one.path}${isLane}`, { token: owner })
      // A brokerage without a test on history has no report of it: the example has the same header.
      const text = answer.status === 200 ? String(answer.body) : String(one.examples?.answer)
      expect(text).toContain(',')
      const { status, body } = await call(app, 'POST', '/api/imports?dry_run=true', {
        token: owner,
        file: text,
      })
      const names: Record<string, string> = {
        'export-performance': 'the export of the performance',
        'export-market-standing': 'the export of the market standing',
        'export-backtest': 'the export of missed margin',
        'export-forecasts': 'the export of forecasts',
      }
      expect([status, body.detail]).toEqual([422, expect.stringContaining(names[one.name] ?? '')])
    },
  )
})

describe('a file that was exported and is imported into another brokerage', () => {
  test('makes the same loads with the same counts, and says what it left out', async () => {
    const { text, rows } = await exported()
    const voided = await exported('/api/lanes/export?outcome=void')
    const other = await makeTenant(app)
    const superseded = rows.filter((row) => row['Superseded by'] !== '').length
    const run = await imported(other, text)
    expect(superseded).toBe(3)
    expect(run).toMatchObject({ rows_added: rows.length - superseded, rows_refused: 0, errors: [] })
    const leftOut = run.understood.filter(({ code }: { code: string }) => code === 'quotes_left_out')
    expect(leftOut).toMatchObject([
      {
        code: 'quotes_left_out',
        detail: 'Left out: 3 superseded offers, because such quotes count in no figure.',
      },
    ])
    expect(await imported(other, voided.text)).toMatchObject({ rows_read: 0, rows_added: 0 })
    expect(await imported(other, text)).toMatchObject({ rows_added: 0, rows_updated: 0 })
    const count = async (tenant: Sender, outcome: string) =>
      (await call(app, 'GET', `/api/lanes?outcome=${outcome}&offers=last`, { token: tenant.owner })).body
        .total
    for (const outcome of ['won', 'lost', 'pending', 'expired'])
      expect([outcome, await count(other, outcome)]).toEqual([outcome, await count(ours.tenant, outcome)])
    const insight = async (tenant: Sender) => {
      const path = '/api/advice/lane?origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=V'
      return (await call(app, 'GET', path, { token: tenant.owner })).body
    }
    const [here, there] = [await insight(ours.tenant), await insight(other)]
    expect(there).toEqual(here)
    const names = (list: readonly Row[]) =>
      list.filter((row) => !row['Superseded by']).map((row) => row.Customer)
    const theirs = await exported('/api/lanes/export', other)
    expect(names(theirs.rows).sort()).toEqual(names(rows).sort())
  })
})
