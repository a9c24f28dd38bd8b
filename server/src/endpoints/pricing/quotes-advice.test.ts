import { beforeAll, describe, expect, test } from 'vitest'
import { call, type MadeTenant, makePerson, makeQuote, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let tenant: MadeTenant

/** Dallas to Atlanta, van: quoted around $2,800 with a cost of about $2,050. */
beforeAll(async () => {
  app = await sharedApp()
  tenant = await makeTenant(app)
  for (const [rate, outcome] of [
    [2700, 'won'],
    [2750, 'won'],
    [2800, 'lost'],
    [2850, 'won'],
    [2900, 'lost'],
  ] as const) {
    await makeQuote(app, tenant, { rate, outcome })
  }
})

const dallasAtlanta = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
const advise = (lanes: unknown, token = tenant.owner) =>
  call(app, 'POST', '/api/advice/lanes', { token, body: { lanes } })
const quote = (lanes: readonly object[]) =>
  call(app, 'POST', '/api/quote-requests', {
    token: tenant.owner,
    body: { customer_name: 'Harvest Table Foods', lanes },
  })
const codesOf = (warnings: readonly { code: string }[]) => warnings.map(({ code }) => code)

describe('advice on several lanes: 200', () => {
  test('each lane has its own estimate, in the order of the request, equal to that of a single read', async () => {
    const { status, body } = await advise([
      { ...dallasAtlanta, quoted_rate: 2800, include: 'curve, risk' },
      { origin: 'Reno, NV', destination: 'Boise, ID', equipment: 'R', quoted_rate: 1500 },
      { ...dallasAtlanta, include: 'evidence' },
    ])
    expect(status).toBe(200)
    const single = await call(
      app,
      'GET',
      `/api/advice/markup?${new URLSearchParams({ ...dallasAtlanta, proposed_rate: '2800', include: 'estimate,curve,risk' })}`,
      { token: tenant.owner },
    )
    expect(body.results[0]).toMatchObject({ index: 0, status: 200, rate: 2800, warnings: [] })
    const { estimate, curve, risk } = single.body
    expect(body.results[0]).toMatchObject({ estimate, curve, risk })
    expect(Object.keys(body.results[1])).toEqual(expect.not.arrayContaining(['curve', 'risk']))
    expect(body.results[2].errors).toMatchObject([
      { pointer: '/include', detail: expect.stringContaining('curve, risk') },
    ])
    expect(body.results[1].estimate).toMatchObject({ decided: 0, equipment: 'R', trust: expect.any(String) })
  })

  test('an entered cost replaces the expected one, also in a single read', async () => {
    const withCost = { ...dallasAtlanta, estimated_cost: 2000 }
    const { body } = await advise([withCost, { ...withCost, estimated_cost: 2500 }])
    const [low, high] = body.results
    expect(high.optimum.rate).toBeGreaterThan(low.optimum.rate)
    const single = await call(
      app,
      'GET',
      `/api/advice/markup?${new URLSearchParams({ ...dallasAtlanta, proposed_rate: String(high.rate), estimated_cost: '2500', include: 'estimate,optimum' })}`,
      { token: tenant.owner },
    )
    expect(single.body.optimum).toEqual(high.optimum)
    expect(single.body.estimate).toEqual(high.estimate)
  })

  test('without a rate, it is for the best rate in whole dollars, and has no warnings', async () => {
    const { body } = await advise([{ ...dallasAtlanta, estimated_cost: 2000 }])
    const [{ rate, optimum, estimate, warnings }] = body.results
    expect(rate).toBe(Math.round(optimum.rate))
    expect(estimate.expected_margin).toBeCloseTo(optimum.expected_margin, 0)
    expect(warnings).toEqual([])
  })

  test('the rules come with it, and the rate without a typed one is within them', async () => {
    const ruled = await makeTenant(app)
    for (const rate of [2700, 2800]) await makeQuote(app, ruled, { rate, outcome: 'won' })
    const rule = { conditions: { equipment: 'V' }, terms: { target: { margin_pct: 20 }, round_to: 25 } }
    expect((await call(app, 'POST', '/api/pricing-rules', { token: ruled.owner, body: rule })).status).toBe(
      201,
    )
    const { body } = await advise([{ ...dallasAtlanta, estimated_cost: 2000 }], ruled.owner)
    expect(body.results[0]).toMatchObject({
      rate: 2500,
      rules: { target: { rate: 2500 }, rounding: { to: 25, because: 'equipment V' }, rate: 2500 },
    })
  })

  test('amounts on other terms are compared on the basis of the brokerage, or not at all', async () => {
    const all = { ...dallasAtlanta, quoted_rate: 2800, estimated_cost: 2000 }
    const linehaul = { ...all, quoted_rate: 2400, estimated_cost: 1600, quoted_basis: 'linehaul' }
    const lumper = [{ name: 'lumper', amount: 100 }]
    const { body } = await advise([
      all,
      { ...linehaul, quoted_fuel: 300, quoted_charges: lumper },
      linehaul,
      { ...all, quoted_currency: 'CAD' },
      { ...all, quoted_rate: 300, quoted_basis: 'all_in', quoted_fuel: 300 },
    ])
    const [plain, converted, unknown, canadian, wrong] = body.results
    expect(plain.conversion).toEqual({ times: 1, plus: 0, by: null })
    expect(converted).toMatchObject({ rate: 2800, conversion: { times: 1, plus: 400, by: 'charges' } })
    expect(converted.estimate).toEqual(plain.estimate)
    expect(converted.optimum).toEqual(plain.optimum)
    expect([unknown.conversion, canadian.conversion]).toEqual([null, null])
    expect(wrong.status).toBe(422)
  })

  test('an invalid lane does not affect the others', async () => {
    const { status, body } = await advise([
      { origin: 'Chicago, XX', destination: 'Memphis, TN' },
      { ...dallasAtlanta, quoted_rate: 2800 },
      { ...dallasAtlanta, quoted_rate: -1 },
    ])
    expect(status).toBe(200)
    expect(body.results.map((result: { status: number }) => result.status)).toEqual([422, 200, 422])
    expect(body.results[0].errors[0].pointer).toBe('/origin')
  })

  test('viewers may read it; a brokerage without quotes gets no chance', async () => {
    const viewer = await makePerson(app, tenant, 'viewer')
    expect((await advise([{ ...dallasAtlanta, quoted_rate: 2800 }], viewer.token)).status).toBe(200)
    const fresh = await makeTenant(app)
    const { body } = await advise([dallasAtlanta], fresh.owner)
    expect(body.results).toMatchObject([
      { index: 0, status: 200, rate: null, optimum: null, warnings: [], outside_rules: [] },
    ])
    expect(body.results[0].estimate).toMatchObject({ probability: null, trust: 'none' })
    expect(body.results[0].estimate.flags).toContain('no_quotes')
  })

  test('a history of wins only gives no rate and no chance, and says what would change it', async () => {
    const fresh = await makeTenant(app)
    for (const rate of [2700, 2800, 2900]) await makeQuote(app, fresh, { rate, outcome: 'won' })
    const asked = { ...dallasAtlanta, include: 'curve' }
    const read = async (lane: object = asked) => (await advise([lane], fresh.owner)).body.results[0]
    const none = await read()
    expect(none).toMatchObject({ rate: null, optimum: null, curve: [], rules: { rate: null } })
    expect(none.estimate).toMatchObject({ probability: null, trust: 'none', decided: 3, won: 3 })
    expect(none.estimate.sentence).toContain('not enough to go on: none of your quotes was lost on price')
    await makeQuote(app, fresh, { rate: 3100, outcome: 'lost' })
    expect((await read()).estimate.probability).toBeGreaterThan(0)
    // A lane never quoted: its curve stays near its going rate.
    const { estimate, curve } = await read({ ...asked, destination: 'Chicago, IL' })
    expect(curve.at(-1).rate / estimate.reference_rate).toBeLessThan(1.4)
    // A cost above all of it: no rate to quote, and the chance of a typed rate is still known.
    const dear = await read({ ...asked, quoted_rate: 2800, estimated_cost: 5000 })
    expect(dear).toMatchObject({ rate: 2800, optimum: null, rules: { rate: null } })
    expect(dear.estimate.sentence).toContain('There is no rate to quote: the cost is above')
  })

  test('no lane and more than a request may have are refused', async () => {
    expect((await advise([])).status).toBe(422)
    expect((await advise(Array.from({ length: 101 }, () => dallasAtlanta))).status).toBe(422)
  })
})

describe('a rate that nobody would quote', () => {
  const typo = { ...dallasAtlanta, quoted_rate: 250, estimated_cost: 2061 }

  test('is saved, and the answer says why to check it', async () => {
    const { status, body } = await quote([{ ...dallasAtlanta, quoted_rate: 2800 }, typo])
    expect(status).toBe(201)
    expect(body.lanes[0].warnings).toEqual([])
    expect(body.lanes[1].warnings).toEqual([
      { code: 'below_cost', field: 'quoted_rate', detail: '$250 is $1,811 below your cost of $2,061.' },
      {
        code: 'below_going_rate',
        field: 'quoted_rate',
        detail: expect.stringMatching(/^\$250 is 9\d% below/),
      },
    ])
    const [stored] = (
      await call(app, 'GET', `/api/quote-requests/${body.request_id}`, { token: tenant.owner })
    ).body.lanes
    expect(stored).not.toHaveProperty('warnings')
  })

  test('gets the same warnings before it is saved', async () => {
    const { body } = await advise([typo])
    expect(codesOf(body.results[0].warnings)).toEqual(['below_cost', 'below_going_rate'])
  })

  test('is marked in pasted rows', async () => {
    const { body } = await call(app, 'POST', '/api/pasted-lanes', {
      token: tenant.owner,
      body: {
        text: 'Dallas, TX\tAtlanta, GA\tV\t2800\nDallas, TX\tAtlanta, GA\tV\t250\nDallas, TX\tAtlanta, GA\tV\tno',
      },
    })
    const codes = body.rows.map((row: { warnings: { code: string }[] }) => codesOf(row.warnings))
    expect(codes).toEqual([[], expect.arrayContaining(['below_going_rate']), []])
    expect(body.rows[1].warnings[0].field).toBe('quoted_rate')
  })

  test('is marked in a requote', async () => {
    const quote = await makeQuote(app, tenant, { rate: 2800 })
    const again = (body: object) =>
      call(app, 'POST', `/api/lanes/${quote.lane_ref}/requote`, { token: tenant.owner, body })
    expect((await again({ quoted_rate: 2790 })).body.warnings).toEqual([])
    const { status, body } = await again({ quoted_rate: 280, estimated_cost: 2000 })
    expect([status, codesOf(body.warnings)]).toEqual([201, ['below_cost', 'below_going_rate']])
  })

  test('is compared with the floors of the brokerage', async () => {
    const floors = (margin: number | null) =>
      call(app, 'PATCH', '/api/tenant', { token: tenant.owner, body: { floors: { margin } } })
    await floors(900)
    const { body } = await advise([{ ...dallasAtlanta, quoted_rate: 2800, estimated_cost: 2000 }])
    expect(body.results[0].warnings).toEqual([
      { code: 'below_floor', field: 'quoted_rate', detail: '$2,800 is $100 below your minimum of $2,900.' },
    ])
    await floors(null)
  })
})
