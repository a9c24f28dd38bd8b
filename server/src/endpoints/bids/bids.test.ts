import { utils, write } from '@e965/xlsx'
import { strFromU8, unzipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bidLanesMax } from '#contract/limits.ts'
import { bids } from '#server/database/queries/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { holdAgainstContract } from '#testing/conforms.ts'
import { call, type MadeTenant, makeLane, makePerson, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { waitingForLock } from '#testing/waiting-for-lock.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

/** Uploads a file as a bid. */
async function upload(
  token: string,
  file: string | Uint8Array,
  query: Record<string, string> = {},
  of = app,
) {
  const search = new URLSearchParams({
    name: 'RFP',
    customer: 'Harvest Table Foods',
    file_name: 'rfp.csv',
    ...query,
  })
  const response = await fetch(`${of.url}/api/bids?${search}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'text/csv' },
    body: new Blob([file as string]),
  })
  const body = JSON.parse(await response.text())
  holdAgainstContract('POST', '/api/bids', response.status, body)
  return { status: response.status, body }
}

const get = async (token: string, path: string, of = app) => (await call(of, 'GET', path, { token })).body
const post = (token: string, path: string, body: object) => call(app, 'POST', path, { token, body })

/** Waits until all lanes that can be priced are. */
async function priced(token: string, bidId: number, of = app) {
  return expect
    .poll(async () => (await get(token, `/api/bids/${bidId}`, of)).pricing.is_running, {
      timeout: 60_000,
      interval: 50,
    })
    .toBe(false)
}
const lanesOf = async (token: string, bidId: number) => (await get(token, `/api/bids/${bidId}/lanes`)).lanes

/** A brokerage with contract quotes on a lane, and a bid for it. */
async function withBid(
  file = simple,
  query: Record<string, string> = {},
): Promise<{ tenant: MadeTenant; token: string; id: number; path: string }> {
  const tenant = await makeTenant(app)
  for (const [rate, outcome] of [
    [2000, 'won'],
    [2100, 'won'],
    [2300, 'lost'],
    [2400, 'lost'],
    [2200, 'won'],
  ] as const) {
    await makeLane(app, tenant, { rate, outcome, rateType: 'contract' })
  }
  const { status, body } = await upload(tenant.owner, file, query)
  expect([status, body.detail]).toEqual([201, undefined])
  await priced(tenant.owner, body.bid_id)
  return { tenant, token: tenant.owner, id: body.bid_id, path: `/api/bids/${body.bid_id}` }
}

const simple = `Lane,Origin,Destination,Equipment,Loads/Week,Target Rate,Bid Rate
H-1,"Dallas, TX","Atlanta, GA",V,2,2100,
H-2,75201,30301,any,1.5,,
H-3,"Chicago, IL","Monterrey, NL",Reefer,about ten,TBD,
`

describe("a shipper's file", () => {
  test('becomes lanes with places, volumes over the contract, and the reasons for what cannot be read', async () => {
    const { token, id, path } = await withBid()
    const [first, second, third] = await lanesOf(token, id)
    expect(first).toMatchObject({
      lane: 1,
      row: 2,
      lane_id: 'H-1',
      equipment: 'V',
      loads: 104,
      target: 2100,
      problems: [],
    })
    expect(second).toMatchObject({
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      equipment: null,
      loads: 78,
    })
    // A lane in Mexico, and text in a number.
    expect(third).toMatchObject({ equipment: 'R', loads: null, target: null })
    expect(third.problems).toEqual([
      'Loads/Week must be a number of loads such as 52; it is "about ten".',
      expect.stringContaining('Target Rate must be an amount of dollars'),
    ])
    expect(await get(token, path)).toMatchObject({
      lanes: 3,
      volume_per: 'week',
      totals: { without_loads: 1, loads: 182 },
    })
  })

  test('of a workbook has its header anywhere, its sheet by name, merged cells and hidden columns', async () => {
    const book = utils.book_new()
    const lanes = utils.aoa_to_sheet([
      ['Bid 2027'],
      [],
      ['Please fill in the yellow cells'],
      [],
      ['Lane ID', 'Origin City', 'Origin State', 'Dest City', 'Dest State', 'Annual Volume', 'Rate'],
      ['A', 'Dallas', 'TX', 'Atlanta', 'GA', '1,040'],
      ['B', '', '', 'Waco', 'TX', 52],
      ['Total', '', '', '', '', 1092],
    ])
    lanes['!merges'] = [
      { s: { r: 5, c: 1 }, e: { r: 6, c: 1 } },
      { s: { r: 5, c: 2 }, e: { r: 6, c: 2 } },
    ]
    lanes['!cols'] = [{ hidden: true }]
    utils.book_append_sheet(book, utils.aoa_to_sheet([['Instructions']]), 'Read me')
    utils.book_append_sheet(book, lanes, 'Lanes')
    const bytes = new Uint8Array(write(book, { type: 'buffer' }) as Buffer)
    const tenant = await makeTenant(app)
    const { body } = await upload(tenant.owner, bytes, { file_name: 'rfp.xlsx', contract_months: '24' })
    expect(body).toMatchObject({ sheet: 'Lanes', lanes: 2, totals: { loads: 2184 } })
    const rows = await lanesOf(tenant.owner, body.bid_id)
    expect(
      rows.map((row: { origin: string; lane_id: string; row: number }) => [row.lane_id, row.origin, row.row]),
    ).toEqual([
      ['A', 'Dallas, TX', 6],
      ['B', 'Dallas, TX', 7],
    ])
    await post(tenant.owner, `/api/bids/${body.bid_id}/rates`, {
      cells: [{ lane: 2, version: 0, rate: 901.5 }],
    })
    const file = await get(tenant.owner, `/api/bids/${body.bid_id}/file`)
    const parts = unzipSync(Buffer.from(file.base64, 'base64'))
    expect(strFromU8(parts['xl/worksheets/sheet2.xml'] ?? new Uint8Array())).toContain(
      '<c r="G7"><v>901.5</v></c>',
    )
  })

  test('is refused as a whole if it has too many lanes, no lanes, no destination, or a password', async () => {
    const { owner } = await makeTenant(app)
    const rows = `Origin,Destination\n${'"Dallas, TX","Waco, TX"\n'.repeat(100_000)}`
    const refusals = [
      [rows, `at most ${bidLanesMax.toLocaleString('en-US')} lanes`],
      ['Origin,Destination\n', 'none below its header'],
      ['Origin,Loads Per Week\n"Dallas, TX",2\n', 'a column with the destination'],
      ['Origin,Destination,Volume\n"Dallas, TX","Waco, TX",2\n', 'volume_per must say'],
      [Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'with a password'],
    ] as const
    for (const [file, why] of refusals) {
      const { status, body } = await upload(owner, file)
      expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining(why)])
    }
    expect((await get(owner, '/api/bids')).bids).toEqual([])
  })

  test('with a header that was mapped before has the columns of then', async () => {
    const { owner } = await makeTenant(app)
    const file = 'A,B,C\n"Dallas, TX","Waco, TX",4\n'
    const map = 'origin=1,destination=2,volume=3'
    expect((await upload(owner, file, { map, volume_per: 'month' })).status).toBe(201)
    const read = await fetch(`${app.url}/api/bid-headers?customer=Harvest`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${owner}`, 'Content-Type': 'text/csv' },
      body: file,
    })
    expect(await read.json()).toMatchObject({ is_remembered: true, volume_per: 'month', problems: [] })
    const { body } = await upload(owner, file)
    expect(body.totals.loads).toBe(48)
    const wrong = await upload(owner, file, { map: 'origin=9,colour=1' })
    expect(wrong.body.errors.map((one: { detail: string }) => one.detail)).toEqual([
      expect.stringContaining('number of a column from 1 to 3'),
      expect.stringContaining('"colour" is none'),
    ])
  })
})

describe('a place that is not known', () => {
  test('is listed with suggestions, never guessed, and set by a person for all its lanes', async () => {
    const file =
      'Origin,Destination\n"Dalas, TX","Atlanta, GA"\n"Dalas, TX","Waco, TX"\n"Dalas, TX","Waco, TX"\n'
    const { token, id, path } = await withBid(file)
    const before = await get(token, path)
    expect(before).toMatchObject({ unknown_places: 3, duplicates: 1, totals: { priced: 0 } })
    expect(before.places).toEqual([
      { end: 'origin', sent: 'Dalas, TX', lanes: 3, closest: expect.arrayContaining(['Dallas, TX']) },
    ])
    const refused = await post(token, `/api/bids/${id}/places`, {
      end: 'origin',
      sent: 'Dalas, TX',
      place: 'Dalls, TX',
    })
    expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining('Similar:')])
    const set = await post(token, `/api/bids/${id}/places`, {
      end: 'origin',
      sent: 'Dalas, TX',
      place: 'dallas tx',
    })
    expect(set.body).toEqual({ change: 1, lanes: 3 })
    await priced(token, id)
    expect(await get(token, path)).toMatchObject({ unknown_places: 0, places: [], totals: { priced: 3 } })
    const { changes } = await get(token, `/api/bids/${id}/changes?lane=2`)
    expect(changes).toMatchObject([{ kind: 'place', of_lane: { before: null, after: 'Dallas, TX' } }])
    const again = await post(token, `/api/bids/${id}/places`, {
      end: 'origin',
      sent: 'Dalas, TX',
      place: 'Dallas, TX',
    })
    expect(again.status).toBe(409)
  })
})

describe('a lane', () => {
  test('has the price that the quote desk gives a contract quote', async () => {
    const { token, id } = await withBid()
    const [lane] = await lanesOf(token, id)
    const advice = await post(token, '/api/advice/lanes', {
      customer: 'Harvest Table Foods',
      lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', rate_type: 'contract' }],
    })
    const [desk] = advice.body.results
    expect(lane.rate).toBe(desk.rules.rate)
    expect(lane.priced).toMatchObject({
      suggested: desk.rules.rate,
      scope: 'lane',
      decided: 5,
      miles: desk.estimate.miles,
    })
    const { probability } = lane.chance
    expect(Math.abs(probability - desk.estimate.probability)).toBeLessThan(0.03)
  })
})

describe('rates', () => {
  test('are changed by cell; another person who saw the old one gets a 409 and nothing changes', async () => {
    const { tenant, token, id } = await withBid()
    const other = await makePerson(app, tenant, 'member')
    const set = (by: string, cells: object[]) => post(by, `/api/bids/${id}/rates`, { cells })
    const first = await set(token, [{ lane: 1, version: 0, rate: 2222.22 }])
    expect(first.body).toMatchObject({
      change: 1,
      lanes: [{ lane: 1, version: 1, rate: 2222.22, revenue: 231_110.88 }],
    })
    const late = await set(other.token, [
      { lane: 2, version: 0, rate: 1000 },
      { lane: 1, version: 0, rate: 2000 },
    ])
    expect([late.status, late.body.errors]).toEqual([
      409,
      [{ pointer: '/cells/1/rate', code: 'changed', detail: 'Lane 1 has $2,222.22 by now.' }],
    ])
    expect((await lanesOf(token, id))[1].version).toBe(0)
    expect((await set(other.token, [{ lane: 1, version: 1, rate: null }])).status).toBe(200)
    const { changes } = await get(token, `/api/bids/${id}/changes?lane=1`)
    expect(changes).toMatchObject([
      { change: 2, of_lane: { before: 2222.22, after: null }, changed_by: { name: 'A member' } },
      { change: 1, of_lane: { after: 2222.22 }, changed_by: { name: 'Olive Quay' } },
    ])
    const wrong = await set(token, [{ lane: 9, version: 0, rate: 1 }])
    expect([wrong.status, wrong.body.detail]).toEqual([422, expect.stringContaining('no lane 9')])
  })

  test('of a strategy are those of its preview, and one undo reverts them', async () => {
    const { token, id } = await withBid()
    const before = await lanesOf(token, id)
    const asked = { strategy: 'move', pct: -3.5, origin_state: 'TX' }
    const { body: seen } = await post(token, `/api/bids/${id}/strategy-previews`, asked)
    expect(seen).toMatchObject({ changed: 2, not_known: 0 })
    const applied = await post(token, `/api/bids/${id}/strategies`, {
      ...asked,
      seen_change: seen.seen_change,
    })
    expect(applied.body).toMatchObject({ change: 1, totals: seen.after })
    const lanes = await lanesOf(token, id)
    const cents = (of: (lane: { revenue: number | null }) => number | null) =>
      lanes.reduce(
        (sum: number, lane: { revenue: number | null }) => sum + Math.round(100 * (of(lane) ?? 0)),
        0,
      )
    expect(cents(({ revenue }) => revenue)).toBe(Math.round(100 * seen.after.revenue))
    const stale = await post(token, `/api/bids/${id}/strategies`, { ...asked, seen_change: seen.seen_change })
    expect(stale.status).toBe(409)
    const undone = await post(token, `/api/bids/${id}/changes/1/undo`, {})
    expect(undone.body).toMatchObject({ change: 2, totals: seen.before })
    const rates = (rows: { rate: number }[]) => rows.map(({ rate }) => rate)
    expect(rates(await lanesOf(token, id))).toEqual(rates(before))
    expect((await post(token, `/api/bids/${id}/changes/1/undo`, {})).status).toBe(409)
    const without = await post(token, `/api/bids/${id}/strategy-previews`, { strategy: 'move' })
    expect([without.status, without.body.errors[0].pointer]).toEqual([422, '/pct'])
  })

  test('fill the file of the shipper, and no other byte of it', async () => {
    const { token, id } = await withBid()
    await post(token, `/api/bids/${id}/rates`, {
      cells: [
        { lane: 1, version: 0, rate: 2150.25 },
        { lane: 2, version: 0, rate: 1990 },
        { lane: 3, version: 0, rate: null },
      ],
    })
    const file = await get(token, `/api/bids/${id}/file`)
    expect(file).toMatchObject({ file_name: 'rfp.csv', content_type: 'text/csv', filled: 2 })
    expect(Buffer.from(file.base64, 'base64').toString()).toBe(
      simple.replace(',2100,\n', ',2100,2150.25\n').replace('any,1.5,,\n', 'any,1.5,,1990\n'),
    )
  })
})

describe('a bid', () => {
  test('is listed with its stage, value and deadline, changed, and removed by an admin', async () => {
    const { tenant, token, id, path } = await withBid(simple, { due_at: '2027-01-15T17:00:00Z' })
    const totals = (await get(token, path)).totals
    const changed = await call(app, 'PATCH', path, {
      token,
      body: { stage: 'submitted', due_at: '2027-02-01T00:00:00Z' },
    })
    expect(changed.body).toMatchObject({ stage: 'submitted', due_at: '2027-02-01T00:00:00.000Z' })
    expect((await get(token, '/api/bids')).bids).toMatchObject([
      { bid_id: id, stage: 'submitted', value: totals.revenue, lanes: 3, unknown_places: 0 },
    ])
    const member = await makePerson(app, tenant, 'member')
    expect((await call(app, 'DELETE', path, { token: member.token })).status).toBe(403)
    expect((await call(app, 'DELETE', path, { token })).body).toEqual({ removed: id })
    expect((await call(app, 'GET', path, { token })).status).toBe(404)
    const { events } = await get(token, '/api/audit?kind=bid-removed')
    expect(events).toMatchObject([{ about: { bid_id: id } }])
  })

  test('has its dates set and cleared, and the audit log keeps each change', async () => {
    const { token, id, path } = await withBid(simple, { due_at: '2027-01-15T17:00:00Z' })
    const patch = (body: object) => call(app, 'PATCH', path, { token, body })
    expect((await patch({ name: 'RFP 2028', starts_on: '2027-02-01' })).status).toBe(200)
    // null leaves a member as it is.
    expect((await patch({ due_at: null, stage: 'open' })).body.due_at).toBe('2027-01-15T17:00:00.000Z')
    expect((await patch({ clear: ['due_at'] })).body).toMatchObject({
      due_at: null,
      starts_on: '2027-02-01',
      name: 'RFP 2028',
    })
    expect((await get(token, path)).due_at).toBeNull()
    expect((await patch({ clear: ['starts_on', 'due_at'] })).body.starts_on).toBeNull()
    const refused = await patch({ due_at: '2027-03-01T00:00:00Z', clear: ['due_at'] })
    expect([refused.status, refused.body.errors]).toMatchObject([
      422,
      [{ pointer: '/clear/0', detail: expect.stringContaining('due_at cannot be sent and cleared') }],
    ])
    for (const clear of [[], ['stage'], ['due_at', 'due_at']]) {
      expect((await patch({ clear })).status).toBe(422)
    }
    expect((await get(token, path)).due_at).toBeNull()
    const { events } = await get(token, '/api/audit?kind=bid-changed')
    expect(events.map((event: { about: object }) => event.about)).toEqual([
      { bid_id: id, name: 'RFP 2028', before: { starts_on: '2027-02-01' }, after: { starts_on: null } },
      {
        bid_id: id,
        name: 'RFP 2028',
        before: { due_at: '2027-01-15T17:00:00.000Z' },
        after: { due_at: null },
      },
      {
        bid_id: id,
        name: 'RFP 2028',
        before: { name: 'RFP', starts_on: null },
        after: { name: 'RFP 2028', starts_on: '2027-02-01' },
      },
    ])
  })

  test('of a customer that a team hides does not exist for others', async () => {
    const { tenant, token, id, path } = await withBid()
    const outsider = await makePerson(app, tenant, 'member')
    const team = await post(token, '/api/teams', {
      name: 'Closed',
      customers: ['Harvest Table Foods'],
      hides: true,
    })
    expect(team.status).toBe(201)
    for (const at of [path, `${path}/lanes`, `/api/bids/${id}/changes`, `/api/bids/${id}/file`]) {
      expect((await call(app, 'GET', at, { token: outsider.token })).status).toBe(404)
    }
    expect((await get(outsider.token, '/api/bids')).bids).toEqual([])
    expect((await upload(outsider.token, simple)).status).toBe(403)
  })

  test('is removed while its prices are saved, without a deadlock', async () => {
    const { tenant: made, id } = await withBid()
    const tenant = tenantId(made.id)
    const lanes = await app.database.inTenant(tenant, async (transaction) => {
      await bids.signOfLife(transaction, tenant, id)
      return bids.lanesOfBid(transaction, tenant, id, { after: 0, limit: 10 })
    })
    const prices = lanes.flatMap((lane) => (lane.priced === null ? [] : [{ lane, priced: lane.priced }]))
    expect(prices).toHaveLength(3)
    const saving = await app.database.inTenant(tenant, async (removal) => {
      await bids.findBid(removal, tenant, id, { lock: true })
      const saved = app.database.inTenant(tenant, (transaction) =>
        bids.savePrices(transaction, tenant, id, prices),
      )
      await waitingForLock(app.testDatabase)
      await bids.removeBid(removal, tenant, id)
      return { saved }
    })
    await saving.saved
    expect((await call(app, 'GET', `/api/bids/${id}`, { token: made.owner })).status).toBe(404)
  })

  test('whose process died is priced by another one', async () => {
    const { owner, id } = await makeTenant(app)
    const { body } = await upload(owner, simple)
    await priced(owner, body.bid_id)
    // As if its process had died before the second lane.
    const tenant = tenantId(id)
    await app.database.inTenant(tenant, async (transaction) => {
      await transaction
        .updateTable('bid_lanes')
        .set({ priced: null })
        .where('tenant_id', '=', tenant)
        .where('lane_number', '>', 1)
        .execute()
      await bids.signOfLife(transaction, tenant, body.bid_id)
      await bids.releaseBid(transaction, tenant, body.bid_id)
    })
    const { appOn } = await import('#testing/app-on-database.ts')
    const another = await appOn(app.testDatabase, { resumeBidsEveryMs: 20, secretKeys: [app.secretKey] })
    await priced(owner, body.bid_id, another)
    expect((await get(owner, `/api/bids/${body.bid_id}`)).totals.priced).toBe(3)
    await another.close()
  })
})
