import fc from 'fast-check'
import { type RawBuilder, sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { pushQuotes } from '#contract/push-quotes.ts'
import { fuelOfMiles } from '#engine/fuel-surcharge.ts'
import {
  type AmountOnBasis,
  comparableCents,
  type FuelAndExchange,
  ownChargesOnly,
  type RateBasis,
} from '#engine/rate-basis.ts'
import { readTenantQuotes } from '#server/database/queries/index.ts'
import { countedMiles } from '#server/quotes/index.ts'
import {
  backtestReport,
  call,
  type Integration,
  makeIntegration,
  makeQuote,
  pushSigned,
  pushUpdate,
  quoteToPush,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
  app.now = Date.parse('2026-06-01T00:00:00Z')
})

const scopes = 'integrations:write quotes:write'
const seconds = () => Math.floor(app.now / 1000)
const push = (ours: Integration, quotes: readonly unknown[]) =>
  pushSigned(app, ours, pushQuotes, { quotes }, seconds())

/** The answers about the lane of these tests, and the figures of the pages. */
async function answers({ tenant, token }: Integration) {
  const quote = 'origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=V'
  const read = async (path: string, by: string) => (await call(app, 'GET', path, { token: by })).body
  return {
    markup: await read(`/api/integrations/insights/markup?${quote}&proposed_rate=2000&include=basis`, token),
    insight: await read(`/api/integrations/insights/lane?${quote}&include=basis`, token),
    performance: await read('/api/performance?by=lane', tenant.owner),
    record: await read(`/api/lane-record?${quote}`, tenant.owner),
    shipments: await read('/api/shipments', tenant.owner),
    gaps: await read('/api/performance/margin-gaps', tenant.owner),
  }
}

/** Sends a file, waits for the end of its import, and returns it. */
async function imported({ tenant }: Integration, file: string, query = '') {
  const response = await fetch(`${app.url}/api/imports${query}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
    body: file,
  })
  expect(response.status).toBe(202)
  const { import_id: id } = (await response.json()) as { import_id: number }
  const read = async () =>
    (await call(app, 'GET', `/api/imports/${id}`, { token: tenant.owner })).body as {
      status: string
      columns: Record<string, string>
      warnings: { code: string }[]
      errors: { row: number; column: string; detail: string }[]
    }
  await expect.poll(async () => (await read()).status).toBe('done')
  return read()
}

const allIn = {
  currency: 'USD',
  amounts: 'all_in',
  converted: 0,
  converted_by: { charges: 0, schedule: 0, exchange: 0 },
  kept_apart: 0,
  kept_apart_in_cad: 0,
}

describe('amounts on two bases', () => {
  test('of a file with one column Basis: it says what the quoted rate and the customer rate of a row include', async () => {
    const ours = await makeIntegration(app, scopes)
    const row = '"Dallas, TX","Atlanta, GA",V,3/1/2026,Won'
    await imported(
      ours,
      `From,To,Equip,Quote Date,Status,Quoted Rate,AR,Basis,FSC,Carrier Pay\n${row},1700,1700,Linehaul,300,1500\n${row},1800,1800,All-in,300,1500\n`,
    )
    const { body } = await call(app, 'GET', '/api/lanes', { token: ours.tenant.owner })
    const bases = body.lanes.map((quote: Record<string, unknown>) => [
      quote.quoted_basis,
      quote.customer_basis,
    ])
    expect(bases.sort()).toEqual([
      ['all_in', 'all_in'],
      ['linehaul', 'linehaul'],
    ])
    expect((await answers(ours)).performance.totals).toMatchObject({ shipments: 2, customer_rate: 3800 })
  })

  test('are compared on the default basis at every point of entry; those without a fuel charge are not counted', async () => {
    const ours = await makeIntegration(app, scopes)
    const { tenant } = ours
    // Two quotes without a stated basis, and the same two stated as linehaul.
    for (const [rate, outcome] of [
      [2000, 'won'],
      [2200, 'lost'],
    ] as const) {
      await makeQuote(app, tenant, { rate, outcome })
    }
    const before = await answers(ours)
    expect(before.markup).toMatchObject({ rate_band: { floor: 2000, ceiling: 2200 }, basis: allIn })

    const linehaul = { quoted_basis: 'linehaul' }
    // The push: one of two is converted.
    const { body: pushed } = await push(ours, [
      quoteToPush('P-1', { ...linehaul, quoted_rate: 1700, quoted_fuel: 350, quoted_accessorials: 50 }),
      quoteToPush('P-2', { ...linehaul, quoted_rate: 1 }),
    ])
    expect(pushed).toMatchObject({ created: 2, failed: 0 })
    expect((await answers(ours)).markup).toMatchObject({
      rate_band: { floor: 2000, median: 2100, ceiling: 2200 },
      basis: { amounts: 'all_in', converted: 1, kept_apart: 1 },
    })
    // The desk: not counted. A signed update of that quote makes it comparable.
    const desk = await call(app, 'POST', '/api/quote-requests', {
      token: tenant.owner,
      body: {
        customer_name: 'Harvest Table Foods',
        lanes: [
          { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 1, ...linehaul },
        ],
      },
    })
    const { lane_ref: ref } = desk.body.lanes[0]
    expect((await answers(ours)).markup.basis).toMatchObject({ converted: 1, kept_apart: 2 })
    await push(ours, [quoteToPush('P-2', { quoted_rate: 1800, quoted_fuel: 300 })])
    expect((await answers(ours)).markup.basis).toMatchObject({ converted: 2, kept_apart: 1 })
    const booked = {
      customer_rate: 1750,
      customer_basis: 'linehaul',
      truck_cost: 1900,
      truck_basis: 'all_in',
    }
    expect((await pushUpdate(app, ours, { lane_ref: ref, ...booked })).status).toBe(200)
    const kept = (await call(app, 'GET', `/api/lanes/${ref}`, { token: tenant.owner })).body
    // 1,750 without fuel and 1,900 with it cannot be compared.
    expect(kept).toMatchObject({ ...booked, quoted_basis: 'linehaul', margin: null, margin_pct: null })
    expect((await answers(ours)).performance).toMatchObject({
      totals: { shipments: 0 },
      basis: { converted: 2, kept_apart: 1 },
    })
    // The import: the name of the column says linehaul, and one row has no fuel charge.
    const rows = '"Dallas, TX","Atlanta, GA",V,3/1/2026'
    const run = await imported(
      ours,
      `From,To,Equip,Quote Date,Status,Linehaul,FSC,Carrier Pay\n${rows},Won,1650,400,1800\n${rows},Won,1,,1\n`,
    )
    expect(run).toMatchObject({
      columns: { customer_basis: 'linehaul (by the name of the column)' },
      warnings: [{ code: 'no_lost_quotes' }, { code: 'basis_assumed' }],
    })
    const after = await answers(ours)
    const mixed = { amounts: 'all_in', converted: 3, kept_apart: 2 }
    expect(after).toMatchObject({
      markup: { rate_band: { floor: 2000, median: 2100, ceiling: 2200 }, basis: mixed },
      insight: { history: { total_quotes: 5, avg_rate_usd: 2090 }, basis: mixed },
      performance: { totals: { shipments: 1, customer_rate: 2050, margin: 250 }, basis: mixed },
      record: { basis: mixed },
      shipments: { total: 3, totals: { shipments: 1, customer_rate: 2050, truck_cost: 1800, margin: 250 } },
    })
    const read = async (path: string) => (await call(app, 'GET', path, { token: tenant.owner })).body
    expect(await read('/api/customers/list')).toMatchObject({ basis: mixed })
    expect(await read('/api/customers/record?name=Harvest%20Table%20Foods')).toMatchObject({
      basis: { amounts: 'all_in', kept_apart: 1 },
    })
    for (const file of ['performance/export?by=lane', 'customers/export', 'market-standing/export']) {
      const [head, ...rows] = (await read(`/api/${file}`)).trimEnd().split('\r\n')
      expect([file, head]).toEqual([file, expect.stringMatching(/,Basis,Currency$/)])
      for (const row of rows) expect(row).toMatch(/,all_in,USD$/)
    }
  })

  test('a brokerage whose quotes say nothing, or the default, gets the same numbers', async () => {
    const ours = await makeIntegration(app, scopes)
    const { lane_ref: ref } = await makeQuote(app, ours.tenant, { rate: 2000 })
    await makeQuote(app, ours.tenant, { rate: 2100, outcome: 'lost' })
    await pushUpdate(app, ours, { lane_ref: ref, customer_rate: 2000, truck_cost: 1700 })
    const before = await answers(ours)
    await pushUpdate(
      app,
      ours,
      { lane_ref: ref, customer_basis: 'all_in', customer_fuel: 300, truck_fuel: 280 },
      seconds() + 1,
    )
    const after = await answers(ours)
    const figures = (one: typeof before) => ({
      ...one,
      shipments: one.shipments.totals,
      gaps: one.gaps.totals,
    })
    expect(figures(after)).toEqual(figures(before))
    expect(after.shipments.lanes[0]).toMatchObject({
      margin: 300,
      customer_basis: 'all_in',
      truck_basis: null,
    })
    // With the other default basis, amounts without a stated basis keep their numbers, and amounts stated as all-in are converted.
    const { status, body } = await call(app, 'PATCH', '/api/tenant', {
      token: ours.tenant.owner,
      body: { default_basis: 'linehaul' },
    })
    expect([status, body.default_basis]).toEqual([200, 'linehaul'])
    const other = await answers(ours)
    const linehaul = { amounts: 'linehaul', converted: 1, kept_apart: 0 }
    expect(other).toMatchObject({
      markup: { rate_band: { floor: 1700, ceiling: 2100 }, basis: linehaul },
      performance: { totals: { customer_rate: 1700, truck_cost: 1700, margin: 0 }, basis: linehaul },
    })
    const audit = await call(app, 'GET', '/api/audit', { token: ours.tenant.owner })
    expect(JSON.stringify(audit.body)).toContain('"default_basis":"linehaul"')
  })
})

describe('bad input', () => {
  test('unknown words, negative charges and charges above the all-in amount are refused with the field', async () => {
    const ours = await makeIntegration(app, scopes)
    const { body } = await push(ours, [
      quoteToPush('B-1', { quoted_basis: 'gross' }),
      quoteToPush('B-2', { quoted_fuel: -1 }),
      quoteToPush('B-3', { quoted_basis: 'all_in', quoted_fuel: 2000, quoted_accessorials: 150 }),
    ])
    expect(body.failed).toBe(3)
    expect(body.results.map((one: { errors: { pointer: string }[] }) => one.errors[0]?.pointer)).toEqual([
      '/quoted_basis',
      '/quoted_fuel',
      '/quoted_fuel',
    ])
    const quote = await makeQuote(app, ours.tenant)
    const update = { lane_ref: quote.lane_ref, truck_cost: 300, truck_fuel: 300 }
    const wrong = await pushUpdate(app, ours, update)
    expect(wrong).toMatchObject({ status: 422, body: { errors: [{ pointer: '/truck_fuel' }] } })
    expect((await pushUpdate(app, ours, { ...update, truck_basis: 'linehaul' })).status).toBe(200)
    const file = `From,To,Equip,Quote Date,Sell Rate,Fuel Surcharge,Rate Basis\n"Dallas, TX","Atlanta, GA",V,3/1/2026,2000,2000,\n"Dallas, TX","Atlanta, GA",V,3/1/2026,2000,-5,\n"Dallas, TX","Atlanta, GA",V,3/1/2026,2000,100,gross\n`
    const units =
      'From,To,Equip,Quote Date,Sell Rate\n"Dallas, TX","Atlanta, GA",V,3/1/2026,2.35\n"Dallas, TX","Atlanta, GA",V,3/1/2026,215000\n'
    expect((await imported(ours, units)).errors.map(({ detail }) => detail)).toEqual([
      expect.stringContaining('looks like a rate per mile'),
      expect.stringContaining('looks like an amount in cents'),
    ])
    const { errors } = await imported(ours, file)
    expect(errors.map(({ row, column }) => [row, column])).toEqual([
      [2, 'Fuel Surcharge'],
      [3, 'Fuel Surcharge'],
      [4, 'Rate Basis'],
    ])
  })
})

test('a fuel charge per mile or in cents is refused at every point of entry, and so is a requote below its charges', async () => {
  const ours = await makeIntegration(app, scopes)
  const { owner } = ours.tenant
  const [perMile, inCents] = ['looks like dollars per mile', 'looks like cents']
  const linehaul = { quoted_basis: 'linehaul', quoted_rate: 1700 }
  const { body } = await push(ours, [
    quoteToPush('U-1', { ...linehaul, quoted_fuel: 0.42 }),
    quoteToPush('U-2', { ...linehaul, quoted_fuel: 33000 }),
    quoteToPush('U-3', { quoted_rate: 2000, quoted_basis: 'all_in', quoted_fuel: 300 }),
  ])
  expect(body.results).toMatchObject([
    { status: 422, errors: [{ pointer: '/quoted_fuel', detail: expect.stringContaining(perMile) }] },
    { status: 422, errors: [{ pointer: '/quoted_fuel', detail: expect.stringContaining(inCents) }] },
    { status: 200 },
  ])
  const ref = body.results[2].lane_ref
  const requoted = (sent: object) =>
    call(app, 'POST', `/api/lanes/${ref}/requote`, { token: owner, body: sent })
  expect((await requoted({ quoted_rate: 250 })).body.errors).toMatchObject([
    {
      pointer: '/quoted_rate',
      detail: expect.stringContaining('the earlier quote, which it contains: $300'),
    },
  ])
  expect((await requoted({ quoted_rate: 250, quoted_fuel: 40 })).status).toBe(201)
  const update = { lane_ref: ref, customer_rate: 1700, customer_basis: 'linehaul', customer_fuel: 0.42 }
  expect((await pushUpdate(app, ours, update)).body.errors).toMatchObject([{ pointer: '/customer_fuel' }])
  const row = '"Dallas, TX","Atlanta, GA",V,3/1/2026,Won,1700,0.42,1500'
  const run = await imported(
    ours,
    `From,To,Equip,Quote Date,Status,Linehaul,Fuel Surcharge,Carrier Pay\n${row}\n`,
  )
  expect(run.errors).toMatchObject([
    { row: 2, column: 'Fuel Surcharge', detail: expect.stringContaining(perMile) },
  ])
  const pasted = await call(app, 'POST', '/api/pasted-lanes', {
    token: owner,
    body: { text: 'Origin\tDestination\tEquipment\tLinehaul\tFuel\nDallas, TX\tAtlanta, GA\tV\t1700\t0.42' },
  })
  expect(pasted.body.rows[0].errors).toMatchObject([{ detail: expect.stringContaining(perMile) }])
})

describe('a rate on other terms', () => {
  const quote = async (ours: Integration, ref: string) =>
    (await call(app, 'GET', `/api/lanes/${ref}`, { token: ours.tenant.owner })).body
  const quoted = async (ours: Integration, id: string, more: object, at = seconds()) =>
    (await pushSigned(app, ours, pushQuotes, { quotes: [{ external_id: id, ...more }] }, at)).body.results[0]

  test('removes the estimated cost that was not sent with it, whatever the order of deliveries', async () => {
    const ours = await makeIntegration(app, scopes)
    const allInRate = quoteToPush('T-1', { quoted_rate: 2000, estimated_cost: 1800 })
    const linehaulRate = { quoted_rate: 1700, quoted_basis: 'linehaul', quoted_fuel: 300 }
    const { lane_ref: ref } = await quoted(ours, 'T-1', allInRate)
    await quoted(ours, 'T-1', linehaulRate, seconds() + 1)
    const after = { ...linehaulRate, estimated_cost: null }
    expect(await quote(ours, ref)).toMatchObject(after)
    // The same two, the older one last: its cost is on the basis of its own rate.
    const { lane_ref: late } = await quoted(ours, 'T-2', quoteToPush('T-2', linehaulRate), seconds() + 1)
    expect(await quoted(ours, 'T-2', { quoted_rate: 2000, estimated_cost: 1800 })).toMatchObject({
      kept: ['quoted_rate', 'estimated_cost'],
    })
    expect(await quote(ours, late)).toMatchObject(after)
    // A new basis without amounts corrects that of both amounts. Stating the default basis changes nothing.
    await quoted(ours, 'T-3', quoteToPush('T-3', { quoted_rate: 2000, estimated_cost: 1800 }))
    const same = await quoted(ours, 'T-3', { quoted_rate: 1990, quoted_basis: 'all_in' }, seconds() + 1)
    expect(await quote(ours, same.lane_ref)).toMatchObject({ quoted_rate: 1990, estimated_cost: 1800 })
    await quoted(ours, 'T-3', { quoted_basis: 'linehaul' }, seconds() + 2)
    expect(await quote(ours, same.lane_ref)).toMatchObject({ quoted_basis: 'linehaul', estimated_cost: 1800 })
    await quoted(ours, 'T-3', { quoted_rate: 2600, quoted_currency: 'CAD' }, seconds() + 3)
    expect(await quote(ours, same.lane_ref)).toMatchObject({ quoted_currency: 'CAD', estimated_cost: null })
  })

  test('does not apply the cost of an older push that states no basis, if the default basis is another one', async () => {
    const ours = await makeIntegration(app, scopes)
    await call(app, 'PATCH', '/api/tenant', {
      token: ours.tenant.owner,
      body: { default_basis: 'linehaul' },
    })
    const first = quoteToPush('D-1', { quoted_rate: 1700, estimated_cost: 1500 })
    const { lane_ref: ref } = await quoted(ours, 'D-1', first)
    await quoted(ours, 'D-1', { quoted_rate: 2020, quoted_basis: 'all_in' }, seconds() + 2)
    const late = await quoted(ours, 'D-1', { quoted_rate: 1750, estimated_cost: 1550 }, seconds() + 1)
    expect(late).toMatchObject({ result: 'unchanged', kept: ['quoted_rate', 'estimated_cost'] })
    expect(await quote(ours, ref)).toMatchObject({ quoted_rate: 2020, estimated_cost: null })
  })

  test('of a requote removes the estimated cost, and the default basis in words is no other one', async () => {
    const ours = await makeIntegration(app, scopes)
    const { lane_ref: ref } = await quoted(ours, 'Q-1', quoteToPush('Q-1', { estimated_cost: 1500 }))
    const requote = async (sent: object) =>
      (await call(app, 'POST', `/api/lanes/${ref}/requote`, { token: ours.tenant.owner, body: sent })).body
    expect(await requote({ quoted_rate: 1990, quoted_basis: 'all_in' })).toMatchObject({
      estimated_cost: 1500,
    })
    expect(await requote({ quoted_rate: 1990, quoted_basis: 'linehaul' })).toMatchObject({
      estimated_cost: null,
    })
  })

  test('in a file that is imported again removes the earlier estimated cost and market rate', async () => {
    const ours = await makeIntegration(app, scopes)
    const file = (rest: string) =>
      `Quote ID,From,To,Equip,Quote Date,Status,Quoted rate,Quoted basis,Currency,Estimated cost,Market rate\nA-1,"Dallas, TX","Atlanta, GA",V,3/1/2026,Lost,${rest}\n`
    await imported(ours, file('2000,,,1800,1900'))
    await imported(ours, file('2600,,CAD,,'))
    const { lanes: quotes } = (await call(app, 'GET', '/api/lanes', { token: ours.tenant.owner })).body
    expect(quotes).toMatchObject([
      { quoted_rate: 2600, quoted_currency: 'CAD', estimated_cost: null, market_rate: null },
    ])
  })

  test('an exported file says what was assumed, so that another brokerage reads the same amounts', async () => {
    const ours = await makeIntegration(app, scopes)
    const { lane_ref: ref } = await quoted(
      ours,
      'X-1',
      quoteToPush('X-1', { quoted_rate: 2600, quoted_currency: 'CAD' }),
    )
    await pushUpdate(app, ours, { lane_ref: ref, customer_rate: 1950, truck_cost: 1800 })
    const file = (await call(app, 'GET', '/api/lanes/export', { token: ours.tenant.owner })).body
    const theirs = await makeIntegration(app, scopes)
    await call(app, 'PATCH', '/api/tenant', {
      token: theirs.tenant.owner,
      body: { default_basis: 'linehaul' },
    })
    await imported(theirs, file)
    const { lanes: quotes } = (await call(app, 'GET', '/api/lanes', { token: theirs.tenant.owner })).body
    expect(quotes).toMatchObject([
      {
        ...{ quoted_rate: 2600, quoted_basis: 'all_in', quoted_currency: 'CAD' },
        ...{ customer_rate: 1950, customer_basis: 'all_in', customer_currency: 'USD' },
        ...{ truck_cost: 1800, truck_basis: 'all_in', truck_currency: 'USD' },
        ...{ margin: 150, margin_basis: 'all_in', margin_currency: 'USD' },
      },
    ])
  })
})

describe('a row of a known quote', () => {
  const imports = async (ours: Integration, id: string, head: string, ...rows: string[]) => {
    const file = rows.map((row) => `${id},"Dallas, TX","Atlanta, GA",V,3/1/2026,${row}\n`).join('')
    return imported(ours, `Quote ID,From,To,Equip,Quote Date,Status,${head}\n${file}`)
  }
  /** The quotes by their reference or external id. */
  const quotes = async (ours: Integration) => {
    const { lanes: all } = (await call(app, 'GET', '/api/lanes', { token: ours.tenant.owner })).body
    return Object.fromEntries(
      all.map((quote: Record<string, string | null>) => [
        quote.reference ?? quote.external_id ?? 'desk',
        quote,
      ]),
    )
  }
  const booked = 'Linehaul,FSC,Currency,Carrier Pay'
  const quoted = 'Quoted rate,Quoted basis,Currency,Estimated cost'

  test('that has only a customer rate does not say what the quoted rate includes, or its currency', async () => {
    const ours = await makeIntegration(app, scopes)
    await imports(ours, 'K-1', quoted, 'Pending,2000,all_in,,1700')
    const run = await imports(ours, 'K-1', booked, 'Won,2300,400,CAD,1650')
    expect(run.errors).toEqual([])
    const customer = { customer_rate: 2300, customer_basis: 'linehaul', customer_currency: 'CAD' }
    expect((await quotes(ours))['K-1']).toMatchObject({
      quoted_rate: 2000,
      quoted_basis: 'all_in',
      quoted_fuel: null,
      quoted_currency: null,
      ...customer,
    })
    // A quote that an earlier file took from the customer rate gets its basis and charges with it.
    await imports(ours, 'K-2', 'Customer rate', 'Won,1700')
    await imports(ours, 'K-2', booked, 'Won,1700,320,,1500')
    const both = {
      quoted_basis: 'linehaul',
      quoted_fuel: 320,
      customer_basis: 'linehaul',
      customer_fuel: 320,
    }
    expect((await quotes(ours))['K-2']).toMatchObject(both)
  })

  test('does not change what an amount of the TMS includes, and the report says so', async () => {
    const ours = await makeIntegration(app, scopes)
    const { lane_ref: ref } = await makeQuote(app, ours.tenant, { rate: 2000 })
    const byTms = { customer_rate: 2000, truck_cost: 1700 }
    await pushUpdate(app, ours, { lane_ref: ref, ...byTms })
    const run = (await imported(
      ours,
      `Lane ref,Status,Linehaul,FSC,Truck cost,Truck currency\n${ref},Won,1700,320,1700,CAD\n`,
    )) as unknown as { kept: { column: string }[] }
    expect(run.kept.map(({ column }) => column)).toEqual([
      'Linehaul',
      'customer_basis',
      'FSC',
      'Truck currency',
    ])
    const terms = { customer_basis: null, customer_fuel: null, truck_currency: null }
    expect((await quotes(ours)).desk).toMatchObject({ ...byTms, ...terms, margin: 300 })
    // The charges of the same amount on the same terms are added.
    await imported(ours, `Lane ref,Status,Customer rate,FSC\n${ref},Won,2000,320\n`)
    expect((await quotes(ours)).desk).toMatchObject({ ...byTms, customer_fuel: 320, margin: 300 })
  })

  test('without a quoted rate brings no cost or market rate on other terms than the rate, and the report says so', async () => {
    const ours = await makeIntegration(app, scopes)
    const lost = 'Quoted rate,Estimated cost,Market rate'
    const won = 'Linehaul,FSC,Currency,Estimated cost,Market rate'
    const report = (run: unknown) =>
      (run as { kept: { detail: string; set_by: object }[] }).kept.map((one) => [one.detail, one.set_by])
    const byFile = { source: 'import', name: null }
    await imports(ours, 'L-1', lost, 'Lost,2000,1800,1900')
    const basis = 'stays $1,800, because the quoted rate is on another basis than the row'
    expect(report(await imports(ours, 'L-1', won, 'Won,1700,320,,1500,1950'))).toEqual([
      [`Estimated cost ${basis}; the file has $1,500.`, byFile],
    ])
    expect((await quotes(ours))['L-1']).toMatchObject({ estimated_cost: 1800, market_rate: 1950 })
    await imports(ours, 'L-2', lost, 'Lost,2000,,1900')
    const currency = 'because the quoted rate is in another currency than the row'
    expect(report(await imports(ours, 'L-2', won, 'Won,1700,320,CAD,1500,2600'))).toEqual([
      [`Estimated cost stays empty, ${currency}; the file has $1,500.`, byFile],
      [`Market rate stays $1,900, ${currency}; the file has $2,600.`, byFile],
    ])
    expect((await quotes(ours))['L-2']).toMatchObject({ estimated_cost: null, market_rate: 1900 })
    // A cost on the terms of the quoted rate is applied.
    await imports(ours, 'L-2', 'Customer rate,Estimated cost', 'Won,2100,1700')
    expect((await quotes(ours))['L-2']).toMatchObject({ quoted_rate: 2000, estimated_cost: 1700 })
  })

  test('takes its estimated cost from a truck cost on the terms of the quoted rate', async () => {
    const ours = await makeIntegration(app, scopes)
    const lost = 'Quoted rate,Quoted basis,FSC,Truck cost,Truck basis,Truck currency,Truck fuel'
    await imports(ours, 'E-1', lost, 'Lost,1700,linehaul,300,1800,,,')
    await imports(ours, 'E-2', lost, 'Lost,2000,,300,1500,linehaul,,310')
    await imports(ours, 'E-3', lost, 'Lost,2000,,300,2400,,CAD,')
    await imports(ours, 'E-4', lost, 'Lost,1700,linehaul,,1800,all_in,,')
    expect(await quotes(ours)).toMatchObject({
      'E-1': { estimated_cost: 1500 },
      'E-2': { estimated_cost: 1810 },
      'E-3': { estimated_cost: null },
      'E-4': { estimated_cost: null },
    })
  })

  test('in another currency removes the charges that it does not repeat, and so does a push', async () => {
    const ours = await makeIntegration(app, scopes)
    const head = 'Quoted rate,Quoted basis,Quoted fuel,Currency,Customer rate,Customer fuel'
    await imports(ours, 'C-1', head, 'Won,1700,linehaul,320,,1700,320')
    await imports(ours, 'C-1', head, 'Won,2200,linehaul,,CAD,2200,')
    const inCad = { quoted_rate: 2200, quoted_currency: 'CAD', quoted_fuel: null }
    expect((await quotes(ours))['C-1']).toMatchObject({ ...inCad, customer_rate: 2200, customer_fuel: null })
    const before = quoteToPush('C-2', { quoted_rate: 1700, quoted_basis: 'linehaul', quoted_fuel: 320 })
    const after = quoteToPush('C-2', { quoted_rate: 2200, quoted_currency: 'CAD' })
    await push(ours, [before])
    await pushSigned(app, ours, pushQuotes, { quotes: [after] }, seconds() + 1)
    expect((await quotes(ours))['C-2']).toMatchObject(inCad)
  })
})

test('charges and the basis of a row belong to the amount that its columns name', async () => {
  const ours = await makeIntegration(app, scopes)
  const ends = '"Dallas, TX","Atlanta, GA",V,3/1/2026,Lost'
  // A column for charges of the quote: an empty cell is not the charge of the customer.
  await imported(
    ours,
    `Quote ID,From,To,Equip,Quote Date,Status,Quoted rate,Quoted basis,Quoted fuel,Customer rate,Customer basis,Customer fuel,Customer accessorials\nA-1,${ends},1700,linehaul,,2000,all_in,250,50\n`,
  )
  // Without such a column, both rates have the one charge of the row.
  await imported(
    ours,
    `Quote ID,From,To,Equip,Quote Date,Status,Quoted rate,Quoted basis,Customer rate,FSC\nA-2,${ends},1700,linehaul,2000,300\n`,
  )
  // The only rate of a row has the basis of the row.
  await imported(
    ours,
    'Quote ID,From,To,Equip,Quote Date,Status,Sell Rate,Basis\nA-3,"Dallas, TX","Atlanta, GA",V,3/1/2026,Won,1700,linehaul\n',
  )
  const { lanes: quotes } = (await call(app, 'GET', '/api/lanes?sort=oldest', { token: ours.tenant.owner }))
    .body
  const byId = (id: string) => quotes.find((quote: { reference: string }) => quote.reference === id)
  expect(byId('A-1')).toMatchObject({
    quoted_basis: 'linehaul',
    quoted_fuel: null,
    quoted_accessorials: null,
  })
  expect(byId('A-2')).toMatchObject({ quoted_basis: 'linehaul', quoted_fuel: 300 })
  expect(byId('A-3')).toMatchObject({ quoted_basis: 'linehaul', customer_basis: 'linehaul' })
  expect((await answers(ours)).markup).toMatchObject({ basis: { converted: 1, kept_apart: 2 } })
})

test('findings of lists and tests of rules compare the amounts that statistics compare', async () => {
  const ours = await makeIntegration(app, scopes)
  const { owner } = ours.tenant
  await call(app, 'POST', '/api/exchange-rate-files', {
    token: owner,
    file: 'date,usd_per_cad\n2026-05-20,0.75',
  })
  const linehaul = { quoted_basis: 'linehaul', quoted_rate: 1700, quoted_fuel: 300, estimated_cost: 1500 }
  const { body } = await push(ours, [
    quoteToPush('F-1', { quoted_rate: 2000, estimated_cost: 1800 }),
    quoteToPush('F-2', linehaul),
    quoteToPush('F-3', { ...linehaul, quoted_rate: 1000 }),
    quoteToPush('F-4', { quoted_basis: 'linehaul', quoted_rate: 1000 }),
  ])
  const refs = body.results.map((result: { lane_ref: string }) => result.lane_ref)
  // Each cost is $1,900 and each rate $2,000, stated on different terms. The last cost is $2,100.
  const booked = [
    { customer_rate: 2000, truck_cost: 1900 },
    { customer_rate: 2000, truck_cost: 1600, truck_basis: 'linehaul', truck_fuel: 300 },
    { customer_rate: 2000, truck_cost: 2800, truck_currency: 'CAD' },
  ]
  for (const [nth, amounts] of booked.entries())
    await pushUpdate(app, ours, { lane_ref: refs[nth], ...amounts })
  const found = async (finding: string) => {
    const lists = await Promise.all(
      ['lanes', 'shipments'].map((list) =>
        call(app, 'GET', `/api/${list}?finding=${finding}`, { token: owner }),
      ),
    )
    const listed = lists.map(({ body: { lanes: quotes, total } }) => {
      expect(total).toBe(quotes.length)
      return quotes.map((quote: { lane_ref: string }) => refs.indexOf(quote.lane_ref) + 1).sort()
    })
    return listed
  }
  expect(await found('lost_to_cost')).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ])
  expect(await found('booked_at_a_loss')).toEqual([[3], [3]])
  expect(await found('lost_to_rate')).toEqual([[], []])
  expect(await found('quoted_too_low')).toEqual([[3], [3]])
  const tested = await backtestReport(app, owner, {
    rule: { conditions: {}, terms: { minimum: { margin_pct: 5 } } },
  })
  expect(tested.body).toMatchObject({
    basis: { converted: 2, kept_apart: 1 },
    rule: { quotes: 3, changed: 1 },
  })
  expect(tested.body.rule.examples).toMatchObject([{ lane_ref: refs[2], quoted_rate: 1300 }])
})

test('a booking at a loss is found whichever of its two amounts states the default basis', async () => {
  const ours = await makeIntegration(app, scopes)
  const { body } = await push(ours, [quoteToPush('L-1'), quoteToPush('L-2'), quoteToPush('L-3')])
  const refs = body.results.map((result: { lane_ref: string }) => result.lane_ref)
  const loss = { customer_rate: 1000, truck_cost: 1100 }
  const found = async () => {
    const { body: list } = await call(app, 'GET', '/api/lanes?finding=booked_at_a_loss', {
      token: ours.tenant.owner,
    })
    return list.lanes.map((quote: { lane_ref: string }) => quote.lane_ref).sort()
  }
  await pushUpdate(app, ours, { lane_ref: refs[0], ...loss, customer_basis: 'all_in' })
  await pushUpdate(app, ours, { lane_ref: refs[1], ...loss, truck_basis: 'all_in' })
  await pushUpdate(app, ours, { lane_ref: refs[2], ...loss, truck_cost: 900, truck_basis: 'all_in' })
  expect(await found()).toEqual(refs.slice(0, 2).sort())
  // The rate of this quote cannot be converted; its booking needs no conversion.
  const { body: other } = await push(ours, [quoteToPush('L-4', { quoted_basis: 'linehaul' })])
  const [{ lane_ref }] = other.results
  await pushUpdate(app, ours, { lane_ref, ...loss, truck_basis: 'all_in' })
  expect(await found()).toEqual([...refs.slice(0, 2), lane_ref].sort())
})

test('a new default basis does not move an expected cost beside a rate that says its basis', async () => {
  const ours = await makeIntegration(app, scopes)
  const { owner } = ours.tenant
  const said = { quoted_basis: 'all_in', quoted_fuel: 300, miles: 780 }
  // Past loads with costs, so that a cost is expected.
  const past = Array.from({ length: 8 }, (_, nth) =>
    quoteToPush(`H-${nth}`, { ...said, quoted_rate: 2000, quoted_at: `2026-05-${10 + nth}T12:00:00Z` }),
  )
  const { body } = await push(ours, past)
  const booked = {
    customer_rate: 2000,
    customer_basis: 'all_in',
    customer_fuel: 300,
    truck_cost: 1700,
    truck_basis: 'all_in',
    truck_fuel: 300,
  }
  for (const { lane_ref } of body.results) await pushUpdate(app, ours, { lane_ref, ...booked })
  const quoted = (await push(ours, [quoteToPush('H-9', { ...said, quoted_rate: 2100 })])).body.results[0]
  await pushUpdate(app, ours, { lane_ref: quoted.lane_ref, ...booked })
  const figures = async () => {
    const { quoted_margin, landed_vs_quoted, margin, comparable_shipments } = (
      await call(app, 'GET', '/api/performance?by=lane', { token: owner })
    ).body.totals
    return { quoted_margin, landed_vs_quoted, margin, comparable_shipments }
  }
  const before = await figures()
  expect(before).toMatchObject({ comparable_shipments: 1 })
  await call(app, 'PATCH', '/api/tenant', { token: owner, body: { default_basis: 'linehaul' } })
  expect(await figures()).toEqual(before)
})

describe('with a fuel schedule', () => {
  // The clock of these tests: a Monday.
  const monday = '2026-06-01'
  const schedule = (ours: Integration, body: object) =>
    call(app, 'PATCH', '/api/fuel/schedule', { token: ours.tenant.owner, body })
  const diesel = (ours: Integration, price: string) =>
    call(app, 'POST', '/api/fuel/diesel-prices', {
      token: ours.tenant.owner,
      file: `period,series,value\n${monday},EMD_EPD2D_PTE_NUS_DPG,${price}`,
    })
  const linehaul = (id: string, more: object = {}) =>
    quoteToPush(id, { quoted_basis: 'linehaul', quoted_rate: 1700, miles: 800, ...more })

  test('rates without a fuel charge are converted by the schedule of the day, of the customer or the brokerage, and the answer says so', async () => {
    const ours = await makeIntegration(app, scopes)
    await makeQuote(app, ours.tenant, { rate: 2000 })
    await push(ours, [
      linehaul('S-1'),
      linehaul('S-2', { customer_name: 'Own  Schedule LLC' }),
      linehaul('S-3', { quoted_fuel: 350 }),
    ])
    const basis = (await answers(ours)).markup.basis
    expect(basis).toMatchObject({ converted: 1, converted_by: { charges: 1, schedule: 0 }, kept_apart: 2 })

    await schedule(ours, { periods: [{ from: '2020-01-01', base_price: 1.2, miles_per_gallon: 6 }] })
    await schedule(ours, {
      customer_name: ' own schedule LLC',
      periods: [{ from: '2020-01-01', base_price: 1.2, miles_per_gallon: 8 }],
    })
    expect((await answers(ours)).markup.basis).toEqual(basis)
    await diesel(ours, '3.6')
    // 800 miles: (3.60 - 1.20) / 6 = 320, / 8 = 240.
    const after = await answers(ours)
    const all = { amounts: 'all_in', converted: 3, converted_by: { charges: 1, schedule: 2 }, kept_apart: 0 }
    expect(after).toMatchObject({
      markup: { basis: all },
      insight: { history: { total_quotes: 4, avg_rate_usd: 2002.5 }, basis: all },
      record: { basis: all },
    })
    // A corrected price and a removed schedule change the numbers of the next answer.
    await diesel(ours, '4.2')
    expect((await answers(ours)).insight.history).toMatchObject({ avg_rate_usd: 2037.5 })
    await schedule(ours, { periods: [] })
    expect((await answers(ours)).insight).toMatchObject({
      history: { total_quotes: 3, avg_rate_usd: 2016.67 },
      basis: { converted_by: { charges: 1, schedule: 1 }, kept_apart: 1 },
    })
  })

  test('a margin of amounts on two bases is computed by the schedule of the brokerage, and its percentage is of the converted AR', async () => {
    const ours = await makeIntegration(app, scopes)
    await push(ours, [linehaul('M-1', { customer_name: 'Own Schedule LLC' })])
    const quote = async () =>
      (await call(app, 'GET', '/api/lanes?sort=margin_high', { token: ours.tenant.owner })).body.lanes[0]
    const { lane_ref: ref } = await quote()
    await pushUpdate(app, ours, {
      lane_ref: ref,
      customer_rate: 1700,
      customer_basis: 'linehaul',
      truck_cost: 1500,
      truck_basis: 'linehaul',
      truck_fuel: 200,
    })
    // Amounts on one basis are compared unconverted.
    expect(await quote()).toMatchObject({ margin: 200, margin_pct: 11.8 })
    await pushUpdate(app, ours, { lane_ref: ref, truck_basis: 'all_in' }, seconds() + 1)
    expect(await quote()).toMatchObject({ margin: null })
    await schedule(ours, { periods: [{ from: '2020-01-01', base_price: 1.2, miles_per_gallon: 6 }] })
    await diesel(ours, '3.6')
    expect(await quote()).toMatchObject({ customer_rate: 1700, margin: 520, margin_pct: 25.7 })
    expect((await answers(ours)).performance).toMatchObject({
      totals: { customer_rate: 2020, truck_cost: 1500, margin: 520 },
    })
  })
})

describe('Canadian dollars', () => {
  test('stay Canadian dollars in a requote that sends only a charge', async () => {
    const ours = await makeIntegration(app, scopes)
    const token = ours.tenant.owner
    const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
    const quoted = await call(app, 'POST', '/api/quote-requests', {
      token,
      body: { customer_name: 'Harvest', lanes: [{ ...lane, quoted_rate: 2600, quoted_currency: 'CAD' }] },
    })
    const requoted = await call(app, 'POST', `/api/lanes/${quoted.body.lanes[0].lane_ref}/requote`, {
      token,
      body: { quoted_rate: 2700, quoted_fuel: 250 },
    })
    expect(requoted.body).toMatchObject({ quoted_rate: 2700, quoted_fuel: 250, quoted_currency: 'CAD' })
  })

  const enter = (ours: Integration, body: object) =>
    call(app, 'POST', '/api/exchange-rates', { token: ours.tenant.owner, body })
  const load = (ours: Integration, file: string) =>
    call(app, 'POST', '/api/exchange-rate-files', { token: ours.tenant.owner, file })
  const today = '2026-06-01'

  test('are stored with their currency at every point of entry, and counted only with an exchange rate of their day', async () => {
    const ours = await makeIntegration(app, scopes)
    await makeQuote(app, ours.tenant, { rate: 2000, outcome: 'won' })
    const before = await answers(ours)
    await push(ours, [
      quoteToPush('C-1', { quoted_rate: 3000, estimated_cost: 2000, quoted_currency: 'CAD' }),
    ])
    const desk = await call(app, 'POST', '/api/quote-requests', {
      token: ours.tenant.owner,
      body: {
        customer_name: 'Harvest Table Foods',
        lanes: [
          {
            origin: 'Dallas, TX',
            destination: 'Atlanta, GA',
            equipment: 'V',
            quoted_rate: 1,
            quoted_currency: 'CAD',
          },
        ],
      },
    })
    expect(desk.body.lanes[0]).toMatchObject({ quoted_rate: 1, quoted_currency: 'CAD' })
    const run = await imported(
      ours,
      'From,To,Equip,Quote Date,Status,Sell Rate,Carrier Pay,Currency\n"Dallas, TX","Atlanta, GA",V,3/1/2026,Won,5,4,CAD\n"Dallas, TX","Atlanta, GA",V,3/1/2026,Won,5,4,MXN\n',
    )
    expect(run.errors).toMatchObject([
      { row: 3, column: 'Currency', detail: expect.stringContaining('USD or CAD') },
    ])
    // A signed update: AR in US dollars, AP in Canadian dollars.
    const { lane_ref: ref } = await makeQuote(app, ours.tenant, { rate: 2200, outcome: 'lost' })
    await pushUpdate(app, ours, {
      lane_ref: ref,
      customer_rate: 2200,
      truck_cost: 2500,
      truck_currency: 'CAD',
    })
    const apart = { converted: 0, kept_apart: 4, kept_apart_in_cad: 4 }
    const after = await answers(ours)
    expect(after).toMatchObject({
      markup: { ...before.markup, basis: apart },
      insight: { history: before.insight.history, basis: apart },
      performance: { totals: { shipments: 0 }, basis: apart },
      record: { basis: apart },
      shipments: { totals: { shipments: 0 }, basis: { kept_apart_in_cad: 2 } },
    })
    const quote = async (of: string) =>
      (await call(app, 'GET', `/api/lanes/${of}`, { token: ours.tenant.owner })).body
    expect(await quote(ref)).toMatchObject({ truck_currency: 'CAD', margin: null, margin_currency: null })

    expect(await enter(ours, { rates: [{ day: today, usd_per_cad: 0.8 }] })).toMatchObject({
      status: 200,
      body: { changed: 1 },
    })
    const priced = await answers(ours)
    // 2,000, 2,200, 3,000 x 0.8 and 1 x 0.8. The import of March has no rate.
    expect(priced).toMatchObject({
      insight: { history: { total_quotes: 4, avg_rate_usd: 1650.2 } },
      markup: { basis: { converted_by: { exchange: 3 }, kept_apart: 1, kept_apart_in_cad: 1 } },
      performance: { totals: { shipments: 1, customer_rate: 2200, truck_cost: 2000, margin: 200 } },
    })
    expect(await quote(ref)).toMatchObject({ truck_cost: 2500, margin: 200, margin_currency: 'USD' })
    // A corrected rate changes the next answer.
    await load(ours, `date,FXUSDCAD\n${today},1.6\n`)
    expect((await answers(ours)).performance.totals).toMatchObject({ truck_cost: 1562.5, margin: 637.5 })
  })

  test('of a pasted row stay Canadian dollars', async () => {
    const { tenant } = await makeIntegration(app, scopes)
    const text = 'Origin\tDestination\tEquipment\tRate\tCurrency\nDallas, TX\tAtlanta, GA\tV\t2500\tCAD'
    const { body } = await call(app, 'POST', '/api/pasted-lanes', { token: tenant.owner, body: { text } })
    expect(body.rows).toMatchObject([
      { quote: { quoted_rate: 2500, quoted_currency: 'CAD' }, errors: [], notes: [] },
    ])
  })

  test('exchange rates in the other direction, twice for a day, or unreadable are refused and change nothing', async () => {
    const ours = await makeIntegration(app, scopes)
    // One after the other, because a brokerage sends one file at a time.
    const wrong = [
      await enter(ours, { rates: [{ day: today, usd_per_cad: 1.35 }] }),
      await load(ours, `date,FXCADUSD\n${today},1.35`),
      await enter(ours, {
        rates: [
          { day: today, usd_per_cad: 0.7 },
          { day: today, usd_per_cad: 0.8 },
        ],
      }),
      await load(ours, `day,rate\n${today},0.7`),
      await enter(ours, {}),
    ]
    expect(wrong.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422])
    expect(wrong.map(({ body }) => body.errors[0]?.pointer)).toEqual([
      '/rates/0/usd_per_cad',
      '',
      '/rates/1/day',
      '',
      '/rates',
    ])
    const { body } = await call(app, 'GET', '/api/exchange-rates', { token: ours.tenant.owner })
    expect(body.rates).toEqual([])
  })
})

test('charges by name are the accessorial charges, at every point of entry, and are shown by name', async () => {
  const ours = await makeIntegration(app, scopes)
  const quoted_charges = [
    { name: 'detention', amount: 75 },
    { name: 'lumper', amount: 120.5 },
  ]
  const linehaul = { quoted_basis: 'linehaul', quoted_rate: 1500, quoted_fuel: 300 }
  await push(ours, [quoteToPush('N-1', { ...linehaul, quoted_charges })])
  const quotes = async () => (await call(app, 'GET', '/api/lanes', { token: ours.tenant.owner })).body.lanes
  expect((await quotes())[0]).toMatchObject({ quoted_accessorials: 195.5, quoted_charges })
  expect((await answers(ours)).insight.history).toMatchObject({ avg_rate_usd: 1995.5 })
  // A total that is sent later without names replaces them.
  await pushSigned(
    app,
    ours,
    pushQuotes,
    { quotes: [{ external_id: 'N-1', quoted_accessorials: 200 }] },
    seconds() + 1,
  )
  expect((await quotes())[0]).toMatchObject({ quoted_accessorials: 200, quoted_charges: null })
  const { lane_ref: ref } = (await quotes())[0]
  await pushUpdate(app, ours, { lane_ref: ref, truck_cost: 1700, truck_charges: quoted_charges })
  await pushUpdate(app, ours, { lane_ref: ref, customer_rate: 2000, customer_accessorials: 10 })
  expect((await quotes())[0]).toMatchObject({
    truck_accessorials: 195.5,
    truck_charges: quoted_charges,
    customer_charges: null,
  })
  await imported(
    ours,
    'From,To,Equip,Quote Date,Sell Rate,Quoted Charges\n"Dallas, TX","Atlanta, GA",V,3/1/2026,2000,"detention: $75; lumper 120.5"\n',
  )
  const file = (await quotes()).find((quote: { quoted_rate: number }) => quote.quoted_rate === 2000)
  expect(file).toMatchObject({ quoted_accessorials: 195.5, quoted_charges })
  const { body } = await push(ours, [
    quoteToPush('N-2', { quoted_charges, quoted_accessorials: 100 }),
    quoteToPush('N-3', { quoted_charges: [...quoted_charges, { name: ' Lumper', amount: 1 }] }),
    quoteToPush('N-4', { quoted_rate: 190, quoted_charges }),
  ])
  expect(body.results.map((one: { errors: { pointer: string }[] }) => one.errors[0]?.pointer)).toEqual([
    '/quoted_accessorials',
    '/quoted_charges',
    '/quoted_accessorials',
  ])
})

/** Amounts from a cent to the largest one, with and without charges, on all terms. */
const anyAmount: fc.Arbitrary<AmountOnBasis> = fc.record({
  cents: fc.constantFrom(1, 90_000, 170_001, 999_999_999),
  basis: fc.constantFrom(null, 'linehaul', 'all_in'),
  fuelCents: fc.constantFrom(null, 0, 29_999, 999_999_999),
  accessorialCents: fc.constantFrom(null, 5_001, 999_999_999),
  currency: fc.constantFrom(null, 'USD', 'CAD'),
})

test('stored amounts on all terms are converted as the engine converts them', async () => {
  const ours = await makeIntegration(app, scopes)
  const token = ours.tenant.owner
  const miles = 777
  const cases = fc.sample(fc.record({ quoted: anyAmount, customer: anyAmount, truck: anyAmount }), {
    numRuns: 250,
    seed: 1,
  })
  await push(
    ours,
    cases.map((_, nth) => quoteToPush(`G-${nth}`, { miles })),
  )
  const inTenant = <Row>(query: RawBuilder<Row>) =>
    app.database.inTenant(
      ours.tenant.id as never,
      async (transaction) => (await query.execute(transaction)).rows,
    )
  await inTenant(sql`
    update quotes set quoted_rate_cents = (quoted->>'cents')::integer, quoted_basis = quoted->>'basis',
      quoted_fuel_cents = (quoted->>'fuelCents')::integer, quoted_currency = quoted->>'currency',
      quoted_accessorials_cents = (quoted->>'accessorialCents')::integer,
      customer_rate_cents = (customer->>'cents')::integer, customer_basis = customer->>'basis',
      customer_fuel_cents = (customer->>'fuelCents')::integer, customer_currency = customer->>'currency',
      customer_accessorials_cents = (customer->>'accessorialCents')::integer,
      truck_cost_cents = (truck->>'cents')::integer, truck_basis = truck->>'basis',
      truck_fuel_cents = (truck->>'fuelCents')::integer, truck_currency = truck->>'currency',
      truck_accessorials_cents = (truck->>'accessorialCents')::integer
    from json_to_recordset(${JSON.stringify(cases.map((one, nth) => ({ id: `G-${nth}`, ...one })))}::json)
      as cases (id text, quoted json, customer json, truck json)
    where external_id = id`)
  const stored = await inTenant(sql<{ id: number; nth: number }>`
    select lane_id as id, split_part(external_id, '-', 2)::integer as nth from quotes`)
  const nthOf = new Map(stored.map(({ id, nth }) => [id, nth]))
  const counted = async () => {
    const quotes = await app.database.inTenant(ours.tenant.id as never, (transaction) =>
      readTenantQuotes(transaction, ours.tenant.id as never, {
        since: null,
        max: cases.length,
        milesOf: countedMiles,
      }),
    )
    return quotes
      .map((quote) => ({
        nth: nthOf.get(quote.quoteId) ?? -1,
        quoted: quote.quotedRateCents,
        customer: quote.rateCents,
        truck: quote.truckCostCents,
      }))
      .toSorted((one, other) => one.nth - other.nth)
  }
  const inEngine = (wanted: RateBasis, day: FuelAndExchange) =>
    cases.flatMap((one, nth) => {
      const [quoted, customer, truck] = [one.quoted, one.customer, one.truck].map((amount) =>
        comparableCents(amount, wanted, day),
      )
      return quoted == null || customer == null || truck == null ? [] : [{ nth, quoted, customer, truck }]
    })

  for (const wanted of ['all_in', 'linehaul'] as const) {
    await call(app, 'PATCH', '/api/tenant', { token, body: { default_basis: wanted } })
    expect(await counted()).toEqual(inEngine(wanted, ownChargesOnly))
  }
  const day = '2026-06-01'
  await call(app, 'POST', '/api/exchange-rates', { token, body: { rates: [{ day, usd_per_cad: 0.7305 }] } })
  await call(app, 'PATCH', '/api/fuel/schedule', {
    token,
    body: { periods: [{ from: '2020-01-01', base_price: 1.2, miles_per_gallon: 6 }] },
  })
  const prices = `period,series,value\n${day},EMD_EPD2D_PTE_NUS_DPG,3.66`
  await call(app, 'POST', '/api/fuel/diesel-prices', { token, file: prices })
  const known = { scheduledFuelCents: fuelOfMiles(410, miles), usdPerCad: 0.7305 }
  for (const wanted of ['linehaul', 'all_in'] as const) {
    await call(app, 'PATCH', '/api/tenant', { token, body: { default_basis: wanted } })
    const rows = await counted()
    expect(rows.length).toBeGreaterThan(20)
    expect(rows).toEqual(inEngine(wanted, known))
  }
})
