import { beforeAll, describe, expect, test } from 'vitest'
import { call, type Integration, makeIntegration, makeQuote, makeTenant, pushUpdate } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

const path = '/api/lane-record'
const january = Date.UTC(2026, 0, 31, 23, 59)
const march = Date.UTC(2026, 2, 10, 12)

let app: TestApp
let acme: Integration
let refs: string[]

beforeAll(async () => {
  app = await sharedApp()
  app.now = january
  acme = await makeIntegration(app)
  const first = await makeQuote(app, acme.tenant, { rate: 2000, outcome: 'won' })
  app.now = january + 1000
  const second = await makeQuote(app, acme.tenant, { rate: 2101, outcome: 'lost' })
  app.now = march
  acme = await signedInAgain()
  const third = await makeQuote(app, acme.tenant, { origin: 'dallas,Texas', rate: 1900 })
  const reefer = await makeQuote(app, acme.tenant, { rate: 2600, equipment: 'Reefer' })
  await makeQuote(app, acme.tenant, { origin: 'Atlanta, GA', destination: 'Dallas, TX' })
  refs = [first, second, third, reefer].map((quote) => quote.lane_ref)
  await pushUpdate(app, acme, {
    lane_ref: refs[2],
    customer_rate: 1950,
    truck_cost: 1600.5,
    customer_name: 'Billed Co',
  })
})

/** Signs in again, because the session of January has expired in March. */
async function signedInAgain(): Promise<Integration> {
  const { email, password } = acme.tenant
  const { body } = await call(app, 'POST', '/api/auth/sign-in', { body: { email, password } })
  return { ...acme, tenant: { ...acme.tenant, owner: body.token } }
}

function ask(query: Record<string, string> = {}, token = acme.tenant.owner) {
  const asked = new URLSearchParams({ origin: 'Dallas, TX', destination: 'Atlanta, GA', ...query })
  return call(app, 'GET', `${path}?${asked}`, { token })
}

describe('200', () => {
  test('has the coordinates of the lane', async () => {
    const { body } = await ask({ origin: ' DALLAS , texas' })
    expect(body.origin.place).toBe('Dallas, TX')
    expect(body.origin.latitude).toBeCloseTo(32.78, 1)
    expect(body.origin.longitude).toBeCloseTo(-96.8, 1)
    expect(body.destination.place).toBe('Atlanta, GA')
    expect(body.miles).toBeCloseTo(857, -1)
  })

  test('an unknown place is shown as sent, without coordinates and miles', async () => {
    const { status, body } = await ask({ origin: 'Nowhere Atall, TX' })
    expect([status, body]).toEqual([
      200,
      {
        origin: { place: 'Nowhere Atall, TX', latitude: null, longitude: null },
        destination: expect.objectContaining({ place: 'Atlanta, GA' }),
        miles: null,
        equipment: [],
        points: [],
        points_total: 0,
        months: [],
        basis: {
          currency: 'USD',
          amounts: 'all_in',
          converted: 0,
          converted_by: { charges: 0, schedule: 0, exchange: 0 },
          kept_apart: 0,
          kept_apart_in_cad: 0,
        },
      },
    ])
  })

  test('every quote of the exact city pair, newest first, at its effective rate', async () => {
    const { body } = await ask({ equipment: 'dry van' })
    const customer_name = 'Harvest Table Foods'
    const unbooked = { booked: false, margin: null, customer_name }
    expect(body.points).toEqual([
      {
        lane_ref: refs[2],
        rate: 1950,
        booked: true,
        outcome: 'won',
        quoted_at: new Date(march).toISOString(),
        customer_name: 'Billed Co',
        margin: 349.5,
      },
      { lane_ref: refs[1], rate: 2101, outcome: 'lost', quoted_at: '2026-01-31T23:59:01.000Z', ...unbooked },
      { lane_ref: refs[0], rate: 2000, outcome: 'won', quoted_at: '2026-01-31T23:59:00.000Z', ...unbooked },
    ])
    expect(body.points_total).toBe(3)
  })

  test('every type of equipment is counted, whichever was asked for', async () => {
    const types = [
      { equipment: 'V', quotes: 3, won: 2, lost: 1, pending: 0 },
      { equipment: 'R', quotes: 1, won: 0, lost: 0, pending: 1 },
    ]
    expect((await ask()).body.equipment).toEqual(types)
    expect((await ask({ equipment: 'R' })).body.equipment).toEqual(types)
  })

  test('months of the requested equipment, oldest first, in UTC', async () => {
    const { body } = await ask({ equipment: 'V' })
    expect(body.months).toEqual([
      {
        month: '2026-01',
        quotes: 2,
        won: 1,
        lost: 1,
        pending: 0,
        win_rate_pct: 50,
        avg_rate: 2050.5,
        avg_margin: null,
        margin_pct: null,
      },
      {
        month: '2026-03',
        quotes: 1,
        won: 1,
        lost: 0,
        pending: 0,
        win_rate_pct: 100,
        avg_rate: 1950,
        avg_margin: 349.5,
        margin_pct: 17.9,
      },
    ])
  })

  test('months of all equipment together; without decided quotes there is no win rate', async () => {
    const all = await ask()
    expect(all.body.points_total).toBe(4)
    expect(all.body.months[1]).toMatchObject({ quotes: 2, pending: 1, win_rate_pct: 100, avg_rate: 2275 })
    const reefer = await ask({ equipment: 'R' })
    expect(reefer.body.months).toMatchObject([{ month: '2026-03', win_rate_pct: null, avg_rate: 2600 }])
  })

  test('another brokerage sees nothing of it', async () => {
    const { body } = await ask({}, (await makeTenant(app)).owner)
    expect([body.equipment, body.points, body.points_total, body.months]).toEqual([[], [], 0, []])
  })
})

describe('401', () => {
  test('without a token, and with a service token', async () => {
    const none = await call(app, 'GET', `${path}?origin=Dallas,TX&destination=Atlanta,GA`)
    expect([none.status, none.body.type]).toEqual([401, '/problems/token-missing'])
    const machine = await ask({}, acme.token)
    expect([machine.status, machine.body.type]).toEqual([401, '/problems/token-wrong-kind'])
  })
})

describe('422', () => {
  test.each([
    [{ origin: 'Dallas' }, 'origin'],
    [{ destination: 'Atlanta, ZZ' }, 'destination'],
    [{ equipment: '!' }, 'equipment'],
  ])('%j names the parameter', async (query, parameter) => {
    const { status, body } = await ask(query)
    expect([status, body.errors[0].parameter]).toEqual([422, parameter])
  })
})
