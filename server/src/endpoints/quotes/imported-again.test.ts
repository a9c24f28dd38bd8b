import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { gazetteer } from '#geography/gazetteer.ts'
import { readTenantQuotes } from '#server/database/queries/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import {
  call,
  type MadeTenant,
  makeIntegration,
  makePerson,
  makeQuote,
  makeTenant,
  pushUpdate,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp

beforeAll(async () => {
  gazetteer()
  app = await sharedApp()
  app.now = Date.parse('2026-06-01T00:00:00Z')
})

type Sender = Pick<MadeTenant, 'owner'>

async function ended(tenant: Sender, importId: number) {
  for (;;) {
    const { body } = await call(app, 'GET', `/api/imports/${importId}`, { token: tenant.owner })
    if (body.status !== 'running' && body.status !== 'undoing') return body
    await delay(20)
  }
}

/** Imports a file to its end, and expects that the counts add up to the number of rows. */
async function imported(tenant: Sender, rows: readonly string[], query = '') {
  const response = await fetch(`${app.url}/api/imports${query}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
    body: rows.join('\n'),
  })
  expect(response.status).toBe(202)
  const { import_id } = (await response.json()) as { import_id: number }
  const run = await ended(tenant, import_id)
  expect(run.status).toBe('done')
  const { rows_added, rows_updated, rows_repeated, rows_refused, rows_kept } = run
  expect(rows_added + rows_updated + rows_repeated + rows_refused + rows_kept).toBe(run.rows_read)
  return run
}

async function undone(tenant: Sender, importId: number) {
  const { status } = await call(app, 'POST', `/api/imports/${importId}/undo`, { token: tenant.owner })
  expect(status).toBe(202)
  return ended(tenant, importId)
}

async function quotesOfTenant(tenant: Sender) {
  const { body } = await call(app, 'GET', '/api/lanes', { token: tenant.owner })
  return body.lanes
}

async function changesOf(tenant: Sender, laneRef: string) {
  const { body } = await call(app, 'GET', `/api/lanes/${laneRef}/changes`, { token: tenant.owner })
  return body.changes
}

const decide = (tenant: Sender, laneRef: string, outcome: string) =>
  call(app, 'POST', `/api/lanes/${laneRef}/outcome`, { token: tenant.owner, body: { outcome } })

/** The inputs of advice, without the ids, which differ per brokerage. */
async function quotesOf(tenant: MadeTenant) {
  const id = tenantId(tenant.id)
  const quotes = await app.database.inTenant(id, (transaction) =>
    readTenantQuotes(transaction, id, { since: null, max: 5_000, milesOf: ({ miles }) => miles }),
  )
  return quotes.map(({ quoteId: _, ...quote }) => JSON.stringify(quote)).sort()
}

const columns =
  'Load ID,origin,destination,equipment,quoted_rate,estimated_cost,AR,AP,Carrier,Status,quoted_at,Miles'
/** A row of the file: L1 from Dallas to Atlanta, with the given values from the quoted rate on. */
const row = (id: string, ...values: string[]) => `${id},"Dallas, TX","Atlanta, GA",Van,${values.join(',')}`
const open = row('L1', '2000', '1500', '', '', '', 'Open', '2026-03-01', '790')
const booked = row('L1', '2050', '1550', '2100', '1800', 'Blue Mesa', 'Won', '2026-03-02', '800')

describe('a row of a known reference', () => {
  test('with new values updates the quote: first shown field by field, then applied, then restored', async () => {
    const tenant = await makeTenant(app)
    await imported(tenant, [columns, open])
    const [before] = await quotesOfTenant(tenant)
    const dry = await imported(tenant, [columns, booked], '?dry_run=true')
    const changes = [
      {
        row: 2,
        lane_ref: before.lane_ref,
        fields: [
          { field: 'customer_rate', before: null, after: 2100 },
          { field: 'truck_cost', before: null, after: 1800 },
          { field: 'carrier_name', before: null, after: 'Blue Mesa' },
          { field: 'outcome', before: 'pending', after: 'won' },
          { field: 'decided_at', before: null, after: '2026-03-01T00:00:00.000Z' },
          { field: 'quoted_rate', before: 2000, after: 2050 },
          { field: 'estimated_cost', before: 1500, after: 1550 },
          { field: 'miles', before: 790, after: 800 },
          { field: 'quoted_at', before: '2026-03-01T00:00:00.000Z', after: '2026-03-02T00:00:00.000Z' },
        ],
      },
    ]
    expect(dry).toMatchObject({ rows_added: 0, rows_updated: 1, rows_repeated: 0, changes, kept: [] })
    expect(await quotesOfTenant(tenant)).toEqual([before])

    const run = await imported(tenant, [columns, booked])
    expect(run).toMatchObject({ rows_updated: 1, changes })
    const [after, ...more] = await quotesOfTenant(tenant)
    expect(more).toEqual([])
    expect(after).toMatchObject({
      quoted_rate: 2050,
      estimated_cost: 1550,
      customer_rate: 2100,
      truck_cost: 1800,
      truck_cost_source: 'import',
      outcome: 'won',
      outcome_source: 'import',
      miles: 800,
      created_at: '2026-03-02T00:00:00.000Z',
    })
    expect(await changesOf(tenant, before.lane_ref)).toMatchObject([
      {
        source: 'import',
        rule: 'booking_is_a_win',
        before: { quoted_rate: 2000, estimated_cost: 1500, miles: 790, customer_rate: null },
        after: { quoted_rate: 2050, estimated_cost: 1550, miles: 800, customer_rate: 2100 },
      },
    ])
    // The quotes are the same as in a brokerage that never imported the first version of the row.
    const other = await makeTenant(app)
    await imported(other, [columns, booked])
    expect(await quotesOf(tenant)).toEqual(await quotesOf(other))

    expect(await imported(tenant, [columns, booked])).toMatchObject({ rows_updated: 0, rows_repeated: 1 })
    expect(await undone(tenant, run.import_id)).toMatchObject({
      status: 'undone',
      undo: { rows_total: 1, lanes_removed: 0, lanes_restored: 1, lanes_kept: 0 },
    })
    const { updated_at: _, ...restored } = before
    expect(await quotesOfTenant(tenant)).toMatchObject([restored])
    expect(await changesOf(tenant, before.lane_ref)).toMatchObject([
      { source: 'dashboard', rolled_back_change_id: 1, after: { quoted_rate: 2000, miles: 790 } },
      { source: 'import' },
    ])
    // The row that was undone counts as new again, and the first one does not.
    expect(await imported(tenant, [columns, open])).toMatchObject({ rows_repeated: 1 })
    expect(await imported(tenant, [columns, booked])).toMatchObject({ rows_updated: 1 })
  })

  test('of an exported file: a value for all rows is compared like a cell', async () => {
    const tenant = await makeTenant(app)
    await imported(tenant, [columns, open])
    const [quote] = await quotesOfTenant(tenant)
    const rows = [
      'Quote ID,origin,destination,quoted_rate',
      `${quote.lane_ref},"Dallas, TX","Atlanta, GA",2000`,
    ]
    const sent = (map: string) => imported(tenant, rows, `?map=${encodeURIComponent(map)}`)
    expect(await sent('equipment==Van')).toMatchObject({ rows_repeated: 1, rows_updated: 0 })
    expect(await sent('equipment==Reefer')).toMatchObject({ rows_refused: 1, rows_added: 0 })
    const edited = await sent('equipment==Van,rep_name=="Dana Reyes"')
    expect(edited).toMatchObject({
      rows_updated: 1,
      columns: { equipment: '"Van" in all rows', rep_name: '"Dana Reyes" in all rows' },
      changes: [{ fields: [{ field: 'rep_name', after: 'Dana Reyes' }] }],
    })
  })

  test('keeps fields without a value in the row', async () => {
    const tenant = await makeTenant(app)
    await imported(tenant, [columns, booked])
    const [before] = await quotesOfTenant(tenant)
    const run = await imported(tenant, [
      'Load ID,origin,destination,equipment,AR,quoted_at',
      'L1,"Dallas, TX","Atlanta, GA",V,2300,2026-03-02',
    ])
    expect(run.changes).toMatchObject([{ fields: [{ field: 'customer_rate', before: 2100, after: 2300 }] }])
    const { updated_at: _, margin: __, margin_pct: ___, ...same } = before
    expect(await quotesOfTenant(tenant)).toMatchObject([{ ...same, customer_rate: 2300 }])
  })

  test('lists changed amounts with the currencies of the quote', async () => {
    const tenant = await makeTenant(app)
    const file = (rate: number) => [
      'Load ID,origin,destination,equipment,quoted_rate,quoted_currency,quoted_at',
      `L1,"Toronto, ON","Montreal, QC",V,${rate},CAD,2026-03-02`,
    ]
    await imported(tenant, file(2100))
    expect((await imported(tenant, file(2300))).changes).toMatchObject([
      {
        fields: [{ field: 'quoted_rate', before: 2100, after: 2300 }],
        currencies: { quoted_currency: 'CAD', customer_currency: null, truck_currency: null },
      },
    ])
  })

  test('changes nothing when it has the same values, even if the quote has changed since', async () => {
    const integration = await makeIntegration(app)
    const { tenant } = integration
    await imported(tenant, [columns, booked])
    const [quote] = await quotesOfTenant(tenant)
    await pushUpdate(app, integration, { lane_ref: quote.lane_ref, customer_rate: 2222 })
    await decide(tenant, quote.lane_ref, 'lost')
    const before = await quotesOfTenant(tenant)
    expect(await imported(tenant, [columns, booked])).toMatchObject({
      rows_repeated: 1,
      rows_updated: 0,
      rows_kept: 0,
      kept: [],
    })
    expect(await quotesOfTenant(tenant)).toEqual(before)
  })

  test('wins a quote that a person marked lost, and names the rule', async () => {
    const tenant = await makeTenant(app)
    await imported(tenant, [columns, open])
    const [quote] = await quotesOfTenant(tenant)
    await decide(tenant, quote.lane_ref, 'lost')
    expect(await imported(tenant, [columns, booked])).toMatchObject({ rows_updated: 1, kept: [] })
    expect(await quotesOfTenant(tenant)).toMatchObject([{ outcome: 'won', outcome_source: 'import' }])
    const [change] = await changesOf(tenant, quote.lane_ref)
    expect(change).toMatchObject({ rule: 'booking_is_a_win', before: { outcome: 'lost' } })
  })

  test('keeps the outcome that a person set after the booking, and applies the rest', async () => {
    const tenant = await makeTenant(app)
    await imported(tenant, [columns, booked])
    const [quote] = await quotesOfTenant(tenant)
    await decide(tenant, quote.lane_ref, 'lost')
    const run = await imported(tenant, [columns, booked.replace('2100', '2300')])
    expect(run).toMatchObject({
      rows_updated: 1,
      changes: [{ fields: [{ field: 'customer_rate', before: 2100, after: 2300 }] }],
      kept: [
        {
          row: 2,
          lane_ref: quote.lane_ref,
          column: 'Status',
          file_value: 'won',
          kept_value: 'lost',
          set_by: { source: 'dashboard', name: 'Olive Quay' },
          detail: 'Status stays "lost", which Olive Quay set; the file has "won".',
        },
      ],
    })
    expect(await quotesOfTenant(tenant)).toMatchObject([{ outcome: 'lost', customer_rate: 2300 }])
  })

  test('keeps a value that the TMS signed, applies the rest, and lists the values that were not applied', async () => {
    const integration = await makeIntegration(app)
    const { tenant } = integration
    await imported(tenant, [columns, booked])
    const [quote] = await quotesOfTenant(tenant)
    await pushUpdate(app, integration, { lane_ref: quote.lane_ref, customer_rate: 2222 })
    const kept = [
      {
        row: 2,
        column: 'AR',
        file_value: 2300,
        kept_value: 2222,
        set_by: { source: 'tms', name: null },
        detail: 'AR stays $2,222, which the TMS set; the file has $2,300.',
      },
    ]
    const changed = booked.replace('2100,1800', '2300,1900')
    const dry = await imported(tenant, [columns, changed], '?dry_run=true')
    expect(dry).toMatchObject({ rows_updated: 1, rows_kept: 0, kept })
    const run = await imported(tenant, [columns, changed])
    expect(run).toMatchObject({ rows_updated: 1, rows_kept: 0, kept })
    expect(run.changes).toMatchObject([{ fields: [{ field: 'truck_cost', before: 1800, after: 1900 }] }])
    expect(await quotesOfTenant(tenant)).toMatchObject([{ customer_rate: 2222, truck_cost: 1900 }])

    const only = await imported(tenant, [columns, changed.replace('2300', '2400')])
    expect(only).toMatchObject({
      rows_updated: 0,
      rows_kept: 1,
      rows_repeated: 0,
      kept: [{ file_value: 2400 }],
    })
    expect(await imported(tenant, [columns, changed.replace('2300', '2400')])).toMatchObject({
      rows_kept: 0,
      rows_repeated: 1,
    })
    const { body } = await call(app, 'GET', '/api/imports', { token: tenant.owner })
    expect(body.imports[1]).toMatchObject({ import_id: only.import_id, rows_kept: 1, kept: [], changes: [] })
  })

  test('books no quote whose booking the TMS has cancelled', async () => {
    const integration = await makeIntegration(app)
    const { tenant } = integration
    await imported(tenant, [columns, open])
    const [quote] = await quotesOfTenant(tenant)
    await pushUpdate(app, integration, { lane_ref: quote.lane_ref, customer_rate: 2100, truck_cost: 1800 })
    expect((await pushUpdate(app, integration, { lane_ref: quote.lane_ref, cancelled: true })).status).toBe(
      200,
    )
    const before = await quotesOfTenant(tenant)
    expect(before).toMatchObject([{ outcome: 'pending', customer_rate: null }])
    const run = await imported(tenant, [
      columns,
      row('L1', '', '', '2100', '1800', '', 'Won', '2026-03-01', ''),
    ])
    expect(run).toMatchObject({ rows_kept: 1, rows_updated: 0 })
    expect(run.kept.map(({ column }: { column: string }) => column)).toEqual(['AR', 'AP', 'Status'])
    expect(run.kept[0].detail).toBe(
      'AR stays empty, because the TMS cancelled the booking; the file has $2,100.',
    )
    expect(await quotesOfTenant(tenant)).toEqual(before)
  })

  test('of another lane or equipment is refused with the column, and changes nothing', async () => {
    const tenant = await makeTenant(app)
    await imported(tenant, [columns, open])
    const before = await quotesOfTenant(tenant)
    const run = await imported(tenant, [
      columns,
      booked.replace('Atlanta, GA', 'Macon, GA').replace('Van', 'Reefer'),
    ])
    expect(run).toMatchObject({ rows_refused: 1, rows_updated: 0 })
    expect(run.errors.map(({ column }: { column: string }) => column)).toEqual(['destination', 'equipment'])
    expect(run.errors[0].detail).toContain('must be "Atlanta, GA"')
    expect(await quotesOfTenant(tenant)).toEqual(before)
  })

  test('is one of many changes in a file, and the counts of each kind add up', () => changesMany(630))
  test('is one of many changes in several batches of a file', { tags: 'long' }, () => changesMany(1_100))

  /** Imports many quotes, and then a file with these quotes, every third one at a new rate, and a hundred new ones. */
  async function changesMany(count: number) {
    const tenant = await makeTenant(app)
    const rows = (rate: (index: number) => number, length: number) =>
      Array.from({ length }, (_, index) =>
        row(`L${index}`, String(rate(index)), '', '', '', '', 'Lost', '2026-03-01', ''),
      )
    const updated = Math.ceil(count / 3)
    const before = [columns, ...rows((index) => 1_000 + index, count)]
    const later = [columns, ...rows((index) => (index % 3 === 0 ? 3_000 : 1_000) + index, count + 100)]
    await imported(tenant, before)
    const run = await imported(tenant, later)
    expect(run).toMatchObject({ rows_added: 100, rows_updated: updated, rows_repeated: count - updated })
    expect(run.changes).toHaveLength(Math.min(updated, 200))
    const other = await makeTenant(app)
    await imported(other, later)
    expect(await quotesOf(tenant)).toEqual(await quotesOf(other))
    expect(await undone(tenant, run.import_id)).toMatchObject({
      undo: {
        rows_total: 100 + updated,
        rows_done: 100 + updated,
        lanes_removed: 100,
        lanes_restored: updated,
        lanes_kept: 0,
      },
    })
    const first = await makeTenant(app)
    await imported(first, before)
    expect(await quotesOf(tenant)).toEqual(await quotesOf(first))
  }

  test('changed by a later import is kept by the undo', async () => {
    const tenant = await makeTenant(app)
    await imported(tenant, [columns, open])
    const second = await imported(tenant, [columns, booked])
    await imported(tenant, [columns, booked.replace('2100', '2300')])
    expect(await undone(tenant, second.import_id)).toMatchObject({
      undo: { lanes_restored: 0, lanes_kept: 1 },
    })
    expect(await quotesOfTenant(tenant)).toMatchObject([{ customer_rate: 2300, quoted_rate: 2050 }])
  })
})

describe('a row with a lane_ref', () => {
  test('follows the same rules, and two rows of one quote are applied in order', async () => {
    const integration = await makeIntegration(app)
    const { tenant } = integration
    const quote = await makeQuote(app, tenant)
    const file = (...rows: string[]) => [
      'lane_ref,AR,AP,Carrier',
      ...rows.map((one) => `${quote.lane_ref},${one}`),
    ]
    const run = await imported(tenant, file('2100,,', '2200,1800,Blue Mesa'))
    expect(run).toMatchObject({ rows_updated: 2 })
    expect(run.changes[1].fields).toEqual([
      { field: 'customer_rate', before: 2100, after: 2200 },
      { field: 'truck_cost', before: null, after: 1800 },
      { field: 'carrier_name', before: null, after: 'Blue Mesa' },
    ])
    await pushUpdate(app, integration, { lane_ref: quote.lane_ref, truck_cost: 1700 })
    expect(await imported(tenant, file('2200,1800,Blue Mesa'))).toMatchObject({ rows_repeated: 1, kept: [] })
    expect(await imported(tenant, file('2300,1800,Blue Mesa'))).toMatchObject({
      rows_updated: 1,
      kept: [{ column: 'AP', kept_value: 1700, set_by: { source: 'tms' } }],
    })
    const { body } = await call(app, 'GET', `/api/lanes/${quote.lane_ref}`, { token: tenant.owner })
    expect(body).toMatchObject({ customer_rate: 2300, truck_cost: 1700, outcome: 'won' })
  })
})

describe('a column of reps', () => {
  const head = 'Load ID,Ship From,Ship To,Equip,Sell Rate,Quote Date,Status,Sales Rep'
  const row = (id: string, rep: string, to = 'Atlanta') =>
    `${id},"Dallas, TX","${to}, GA",Van,2150,2026-03-01,Won,${rep}`

  test('credits the people of the brokerage by name or e-mail address, and stores other names', async () => {
    const tenant = await makeTenant(app)
    const dana = await makePerson(app, tenant, 'member')
    const { body: me } = await call(app, 'GET', '/api/me', { token: dana.token })
    await imported(tenant, [
      head,
      row('L1', me.user.name.toUpperCase(), 'Macon'),
      row('L2', me.user.email),
      row('L3', 'Somebody Else', 'Savannah'),
      row('L4', '', 'Augusta'),
    ])
    const quotes = Object.fromEntries(
      (await quotesOfTenant(tenant)).map((quote: { reference: string }) => [quote.reference, quote]),
    )
    expect(quotes.L1).toMatchObject({ quoted_by: { name: me.user.name } })
    expect(quotes.L2).toMatchObject({ rep_name: me.user.email, quoted_by: { name: me.user.name } })
    expect(quotes.L3).toMatchObject({ rep_name: 'Somebody Else', quoted_by: null })
    const { body } = await call(app, 'GET', '/api/performance?by=rep', { token: tenant.owner })
    expect(body.rows.map(({ label, won }: { label: string; won: number }) => [label, won])).toContainEqual([
      me.user.name,
      2,
    ])

    const again = await imported(tenant, [
      head,
      row('L1', me.user.email, 'Macon'),
      row('L3', me.user.name, 'Savannah'),
    ])
    expect(again).toMatchObject({ rows_updated: 2, rows_added: 0 })
    const { body: later } = await call(app, 'GET', '/api/performance?by=rep', { token: tenant.owner })
    expect(later.rows).toContainEqual(expect.objectContaining({ label: me.user.name, won: 3 }))
    await undone(tenant, again.import_id)
    const { body: restored } = await call(app, 'GET', `/api/lanes/${quotes.L3.lane_ref}`, {
      token: tenant.owner,
    })
    expect(restored).toMatchObject({ rep_name: 'Somebody Else', quoted_by: null })
  })

  test('does not make a second quote of a row without an id that was imported without its rep', async () => {
    const tenant = await makeTenant(app)
    const rows = (rep: string) => [
      'Ship From,Ship To,Equip,Sell Rate,Quote Date,Status,Sales Rep',
      row('', rep).slice(1),
    ]
    await imported(tenant, rows(''))
    expect(await imported(tenant, rows('Dana Reyes'))).toMatchObject({ rows_added: 0, rows_repeated: 1 })
  })
})
