import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { call, type MadeTenant, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { tenantId } from '../../database/session/index.ts'

let app: TestApp
let acme: MadeTenant

beforeAll(async () => {
  app = await sharedApp()
})
beforeEach(async () => {
  acme = await makeTenant(app)
})

const read = async (tenant = acme) => (await call(app, 'GET', '/api/fuel', { token: tenant.owner })).body
const change = (body: object) => call(app, 'PATCH', '/api/fuel/schedule', { token: acme.owner, body })
const load = (...rows: string[]) =>
  call(app, 'POST', '/api/fuel/diesel-prices', {
    token: acme.owner,
    file: ['period,series,value', ...rows].join('\n'),
  })
const surcharge = async (query: string) =>
  (await call(app, 'GET', `/api/fuel/surcharge?${query}`, { token: acme.owner })).body
const changes = async () => {
  const { body } = await call(app, 'GET', '/api/audit?group=brokerage', { token: acme.owner })
  return body.events.map(({ about }: { about: { after: object } }) => about.after)
}
const week = (day: string, price: string) => `${day},EMD_EPD2D_PTE_NUS_DPG,${price}`
const ofBrokerage = { from: '2026-01-01', base_price: 1.2, miles_per_gallon: 6 }

describe('200', () => {
  test('concurrent changes of schedules, prices and exchange rates are all saved', async () => {
    const { owner: token } = acme
    const ofCustomer = { ...ofBrokerage, base_price: 1.5 }
    const days = [1, 2, 3, 4, 5, 6].map((nth) => `2026-03-0${nth}`)
    const answers = await Promise.all([
      load(week('2026-03-02', '3.6')),
      ...days.flatMap((day, nth) => [
        change({ periods: [ofBrokerage] }),
        change({ customer_name: `Customer ${nth}`, periods: [ofCustomer] }),
        call(app, 'POST', '/api/exchange-rates', { token, body: { rates: [{ day, usd_per_cad: 0.7 }] } }),
      ]),
    ])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const rates = await call(app, 'GET', '/api/exchange-rates', { token })
    expect(rates.body.rates.map(({ day }: { day: string }) => day).sort()).toEqual(days)
    expect(await surcharge('day=2026-03-05&miles=780&customer_name=Customer+5')).toMatchObject({
      surcharge: 273,
    })
    expect(await surcharge('day=2026-03-05&miles=780')).toMatchObject({ surcharge: 312 })
  })

  test('the surcharge follows from the schedule and the diesel price of the day; a customer can have its own', async () => {
    const ask = 'day=2026-03-05&miles=780'
    const none = { found: false, surcharge: null, per_mile: null, diesel: null, schedule: null }
    expect(await surcharge(ask)).toEqual({ ...none, missing: 'schedule' })
    await change({ periods: [ofBrokerage] })
    expect(await surcharge(ask)).toEqual({ ...none, missing: 'diesel_price' })

    const loaded = await load(week('2026-03-09', '4.2'), week('2026-03-02', '3.6'))
    expect(loaded.body).toEqual({
      weeks: 2,
      changed: 2,
      first: { week: '2026-03-02', price: 3.6 },
      last: { week: '2026-03-09', price: 4.2 },
    })
    expect(await surcharge(ask)).toEqual({
      found: true,
      surcharge: 312,
      per_mile: 0.4,
      diesel: { week: '2026-03-02', price: 3.6 },
      schedule: 'brokerage',
      missing: null,
    })

    const steps = [
      { diesel_price: 3, per_mile: 0.3 },
      { diesel_price: 4, per_mile: 0.35 },
    ]
    const periods = [{ from: '2026-03-01', until: '2026-03-31', steps }]
    await change({ customer_name: 'Acme Foods', periods })
    const acmeFoods = '&customer_name=ACME foods'
    const own = await surcharge(ask + acmeFoods)
    expect([own.surcharge, own.schedule]).toEqual([234, 'customer'])
    expect((await surcharge(`day=2026-03-09&miles=100${acmeFoods}`)).surcharge).toBe(35)
    // A day after the customer's schedule ends, and another customer.
    await load(week('2026-04-06', '3.6'))
    expect((await surcharge(`day=2026-04-06&miles=780${acmeFoods}`)).schedule).toBe('brokerage')
    expect((await surcharge(`${ask}&customer_name=Other`)).schedule).toBe('brokerage')
  })

  test('a price loaded in the middle of a week leaves the days before it at the price of the week before', async () => {
    await change({ periods: [ofBrokerage] })
    await load(week('2026-03-02', '3.6'))
    // The statistics convert by what is stored for each day.
    await load(week('2026-03-11', '4.2'))
    const stored = await app.database.inTenant(tenantId(acme.id), (transaction) =>
      transaction
        .selectFrom('fuel_days')
        .select('mills_per_mile')
        .where('tenant_id', '=', acme.id)
        .where('day', 'in', ['2026-03-02', '2026-03-10', '2026-03-11'])
        .orderBy('day')
        .execute(),
    )
    expect(stored.map(({ mills_per_mile: mills }) => Math.round(mills))).toEqual([400, 400, 500])
    // A schedule that begins between two prices takes the earlier one.
    await change({ periods: [{ ...ofBrokerage, from: '2026-03-05' }] })
    expect((await surcharge('day=2026-03-05&miles=780')).per_mile).toBe(0.4)
  })

  test('a schedule is replaced as a whole, an empty list removes it, and each change is in the audit log', async () => {
    await change({ customer_name: 'Acme Foods', periods: [ofBrokerage] })
    const { body } = await change({
      periods: [
        { ...ofBrokerage, from: '2026-07-01' },
        { ...ofBrokerage, until: '2026-06-30' },
      ],
    })
    const today = new Date(app.now).toISOString().slice(0, 10)
    const stored = { base_price: 1.2, miles_per_gallon: 6, steps: null }
    expect(body.schedules).toEqual([
      {
        customer_name: null,
        periods: [
          { from: '2026-01-01', in_force: today <= '2026-06-30', until: '2026-06-30', ...stored },
          { from: '2026-07-01', in_force: today > '2026-06-30', until: null, ...stored },
        ],
      },
      {
        customer_name: 'Acme Foods',
        periods: [{ from: '2026-01-01', in_force: true, until: null, ...stored }],
      },
    ])
    expect(await read()).toEqual(body)
    expect((await change({ customer_name: 'acme foods', periods: [] })).body.schedules).toHaveLength(1)
    // A change to the same values is none.
    await change({ customer_name: 'Acme Foods', periods: [] })
    const rule = '(diesel - $1.200) / 6 miles per gallon'
    expect(await changes()).toEqual([
      { 'fuel_schedule of acme foods': null },
      { fuel_schedule: `2026-01-01 to 2026-06-30: ${rule}; from 2026-07-01: ${rule}` },
      { 'fuel_schedule of Acme Foods': `from 2026-01-01: ${rule}` },
    ])
    expect(await read(await makeTenant(app))).toEqual({ diesel: null, newest_weeks: [], schedules: [] })
  })

  test('a file loaded again changes nothing, and a corrected price is counted', async () => {
    await load(week('2026-03-02', '3.6'))
    expect((await load(week('2026-03-02', '3.6'))).body.changed).toBe(0)
    expect((await load(week('2026-03-02', '3.61'))).body.changed).toBe(1)
    expect(await changes()).toEqual([
      { diesel_prices: '1 week of a file up to 2026-03-02' },
      { diesel_prices: '1 week of a file up to 2026-03-02' },
    ])
  })
})

describe('422, which changes nothing', () => {
  test.each([
    [
      'a gap',
      [
        { ...ofBrokerage, until: '2026-01-31' },
        { ...ofBrokerage, from: '2026-03-01' },
      ],
      '/periods/1/from',
      /No period covers 2026-02-01 to 2026-02-28/,
    ],
    [
      'an overlap',
      [ofBrokerage, { ...ofBrokerage, from: '2026-03-01' }],
      '/periods/1/from',
      /2026-03-01 overlaps the period from 2026-01-01/,
    ],
    ['no rule', [{ from: '2026-01-01' }], '/periods/0/base_price', /or steps/],
    [
      'half a rule',
      [{ from: '2026-01-01', base_price: 3 }],
      '/periods/0/miles_per_gallon',
      /must be present/,
    ],
    [
      'two rules',
      [{ ...ofBrokerage, steps: [{ diesel_price: 3, per_mile: 0.3 }] }],
      '/periods/0/base_price',
      /must be absent/,
    ],
    ['a price in cents', [{ ...ofBrokerage, base_price: 120 }], '/periods/0/base_price', /from 0.5 to 20/],
  ])('a schedule with %s', async (_, periods, pointer, detail) => {
    const { status, body } = await change({ periods })
    expect([status, body.errors[0].pointer]).toEqual([422, pointer])
    expect(body.errors[0].detail).toMatch(detail)
    expect((await read()).schedules).toEqual([])
  })

  test('a file with a price in cents, whose line is named', async () => {
    const { status, body } = await load(week('2026-03-02', '3.6'), week('2026-03-09', '387.9'))
    expect([status, body.errors[0].pointer]).toEqual([422, ''])
    expect(body.errors[0].detail).toMatch(/^Line 3: the price "387.9"/)
    expect((await read()).diesel).toBeNull()
  })
})
