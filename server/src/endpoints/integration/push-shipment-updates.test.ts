import { beforeAll, describe, expect, test } from 'vitest'
import { pushQuotes } from '#contract/push-quotes.ts'
import { pushShipmentUpdates } from '#contract/push-shipment-updates.ts'
import {
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
})

const everything = 'integrations:write quotes:write'
const seconds = () => Math.floor(app.now / 1000)
const push = (ours: Integration, updates: readonly unknown[], at = seconds()) =>
  pushSigned(app, ours, pushShipmentUpdates, { updates }, at)
async function quoteOf({ tenant }: Integration, laneRef: string) {
  return (await call(app, 'GET', `/api/lanes/${laneRef}`, { token: tenant.owner })).body
}

describe('charges that sum to more than the largest amount', () => {
  test('are refused with their item: the nine valid updates beside it are stored', async () => {
    const ours = await makeIntegration(app)
    const quotes = []
    for (let nth = 0; nth < 10; nth++) quotes.push(await makeQuote(app, ours.tenant))
    const most = ['a', 'b'].map((name) => ({ name, amount: 9_999_999.99 }))
    const updates = quotes.map(({ lane_ref }, nth) => ({
      lane_ref,
      ...(nth === 9 ? { truck_charges: most } : { truck_charges: most.slice(0, 1) }),
    }))
    const { status, body } = await push(ours, updates)
    expect([status, body.applied, body.failed]).toEqual([200, 9, 1])
    expect(body.results[9]).toMatchObject({
      status: 422,
      errors: [{ pointer: '/truck_charges', code: 'invalid' }],
    })
    const stored = []
    for (const { lane_ref } of quotes) stored.push(await quoteOf(ours, lane_ref))
    expect(stored.map((quote) => quote.truck_accessorials)).toEqual([...Array(9).fill(9_999_999.99), null])
  })

  test('are refused in a single update, and change nothing', async () => {
    const ours = await makeIntegration(app)
    const { lane_ref } = await makeQuote(app, ours.tenant)
    const charges = ['a', 'b'].map((name) => ({ name, amount: 9_999_999.99 }))
    for (const of of ['customer', 'truck']) {
      const { status, body } = await pushUpdate(app, ours, { lane_ref, [`${of}_charges`]: charges })
      expect(status).toBe(422)
      expect(body.errors).toMatchObject([
        {
          pointer: `/${of}_charges`,
          detail: `${of}_charges must sum to at most 9999999.99; they sum to 19999999.98.`,
        },
      ])
    }
    expect(await quoteOf(ours, lane_ref)).toMatchObject({ truck_charges: null, truck_accessorials: null })
  })
})

describe('200', () => {
  test('each update has the effect and the answer of a single one', async () => {
    const ours = await makeIntegration(app)
    const updates = [
      { customer_rate: 2150, truck_cost: 1820.5, carrier_name: 'Blue Mesa', carrier_mc: 'MC-1' },
      { customer_name: 'Billed Elsewhere' },
      {},
      { cancelled: true, cancel_reason: 'Shipper pulled the load' },
    ]
    const quotes = []
    for (let nth = 0; nth < 2 * updates.length; nth++) quotes.push(await makeQuote(app, ours.tenant))
    const refs = quotes.map(({ lane_ref }) => lane_ref)
    const singles = []
    for (const [nth, update] of updates.entries())
      singles.push((await pushUpdate(app, ours, { lane_ref: refs[nth], ...update })).body.updated)
    const bulk = await push(
      ours,
      updates.map((update, nth) => ({ lane_ref: refs[4 + nth], ...update })),
    )
    expect(bulk.status).toBe(200)
    expect(bulk.body.results.map((one: { updated: boolean }) => one.updated)).toEqual(singles)
    for (const [nth] of updates.entries()) {
      const { lane_ref, lane_id, request_id, created_at, updated_at, decided_at, forecast, ...single } =
        await quoteOf(ours, refs[nth] ?? '')
      expect(await quoteOf(ours, refs[4 + nth] ?? '')).toMatchObject(single)
    }
  })

  test('the quote is named by lane_ref or external_id, once in a call', async () => {
    const ours = await makeIntegration(app, everything)
    const made = await pushSigned(app, ours, pushQuotes, { quotes: [quoteToPush('TMS-7')] })
    const { lane_ref } = made.body.results[0]
    const { body } = await push(ours, [
      { external_id: 'TMS-7', customer_rate: 2100 },
      { lane_ref, customer_rate: 2200 },
      { external_id: 'unknown', customer_rate: 1 },
      { customer_rate: 1 },
      { lane_ref: '1-1-1', external_id: 'TMS-7', customer_rate: 1 },
      { external_id: 'TMS-8', cancelled: true, customer_rate: 3 },
    ])
    expect(body).toMatchObject({ applied: 1, failed: 5 })
    expect(body.results.map((one: { status: number }) => one.status)).toEqual([200, 422, 404, 422, 422, 422])
    expect((await quoteOf(ours, lane_ref)).customer_rate).toBe(2100)
  })

  test('a repeated call gets the same results and changes nothing', async () => {
    const ours = await makeIntegration(app)
    const lanes = await Promise.all([makeQuote(app, ours.tenant), makeQuote(app, ours.tenant)])
    const updates = lanes.map(({ lane_ref }, nth) => ({ lane_ref, customer_rate: 2000 + nth }))
    const at = seconds()
    const first = await push(ours, updates, at)
    await pushUpdate(app, ours, { lane_ref: lanes[0]?.lane_ref, customer_rate: 2500 }, at + 10)
    expect((await push(ours, updates, at)).body).toEqual(first.body)
    expect((await quoteOf(ours, lanes[0]?.lane_ref ?? '')).customer_rate).toBe(2500)
    const { body } = await call(app, 'GET', `/api/lanes/${lanes[1]?.lane_ref}/changes`, {
      token: ours.tenant.owner,
    })
    expect(body.changes).toHaveLength(1)
  })

  test('an older update in a later call is recorded and not applied, as for a single one', async () => {
    const ours = await makeIntegration(app)
    const { lane_ref } = await makeQuote(app, ours.tenant)
    await push(ours, [{ lane_ref, customer_rate: 2200 }], seconds())
    const late = await push(ours, [{ lane_ref, customer_rate: 2100 }], seconds() - 60)
    expect(late.body).toMatchObject({ applied: 0, failed: 0, results: [{ updated: false }] })
    expect((await quoteOf(ours, lane_ref)).customer_rate).toBe(2200)
  })

  test('the header counts the updates that were not applied, also when the call is repeated', async () => {
    const ours = await makeIntegration(app)
    const refs = []
    for (let nth = 0; nth < 4; nth++) refs.push((await makeQuote(app, ours.tenant)).lane_ref)
    const at = seconds()
    const applied = await push(
      ours,
      refs.slice(0, 2).map((lane_ref) => ({ lane_ref, customer_rate: 2200 })),
      at,
    )
    expect([applied.body.applied, applied.headers.get('Lanewise-Update')]).toEqual([2, null])
    const mixed = [
      ...refs.slice(0, 3).map((lane_ref) => ({ lane_ref, customer_rate: 2100 })),
      { lane_ref: refs[3] },
      { lane_ref: 'unknown', customer_rate: 1 },
      { lane_ref: refs[3], customer_rate: 'wrong' },
    ]
    for (let nth = 0; nth < 2; nth++) {
      const { body, headers } = await push(ours, mixed, at - 60)
      expect([body.applied, body.failed]).toEqual([1, 2])
      expect(headers.get('Lanewise-Update')).toBe('not-applied; reason=older-signature; items=2')
    }
    const empty = await push(ours, [{ lane_ref: refs[3] }, { lane_ref: 'unknown' }], at)
    expect(empty.headers.get('Lanewise-Update')).toBe('not-applied; reason=nothing-to-apply; items=1')
    await app.settle()
    const log = await call(app, 'GET', '/api/integration-calls?outcome=not_applied', {
      token: ours.tenant.owner,
    })
    expect(log.body.calls.map((one: { detail: string }) => one.detail)).toEqual([
      'Not applied: 1 of 2 updates, because they only name their quotes.',
      ...Array(2).fill(
        'Not applied: 2 of 6 updates, because their quotes have values with a newer signature.',
      ),
    ])
  })

  test('the quote of another brokerage is a 404 of its item', async () => {
    const [ours, theirs] = [await makeIntegration(app), await makeIntegration(app)]
    const { lane_ref } = await makeQuote(app, theirs.tenant)
    const { body } = await push(ours, [{ lane_ref, customer_rate: 1 }])
    expect(body.results).toMatchObject([{ status: 404, lane_ref }])
    expect((await quoteOf(theirs, lane_ref)).customer_rate).toBeNull()
  })
})

test('403 without the scope integrations:write', async () => {
  const ours = await makeIntegration(app, 'quotes:write')
  const { status, body } = await push(ours, [{ lane_ref: '1-1-1' }])
  expect([status, body.code]).toEqual([403, 'insufficient-scope'])
})
