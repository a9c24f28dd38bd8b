import { beforeAll, describe, expect, test } from 'vitest'
import {
  backtestReport,
  call,
  type Integration,
  type MadeTenant,
  makeIntegration,
  makePerson,
  makeQuote,
  makeTenant,
  pushUpdate,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let broker: Integration
let owner: string

/** Dallas to Atlanta with a known cost of about $1,650. */
beforeAll(async () => {
  app = await sharedApp()
  broker = await makeIntegration(app)
  owner = broker.tenant.owner
  for (const rate of [1800, 1850, 1900, 1950, 2000, 2100, 2200, 2300]) {
    const quote = await makeQuote(app, broker.tenant, { rate, outcome: rate < 2000 ? 'won' : 'lost' })
    if (rate < 2000) {
      await pushUpdate(app, broker, { lane_ref: quote.lane_ref, customer_rate: rate, truck_cost: 1650 })
    }
  }
})

const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
const post = (path: string, body: object, token = owner) => call(app, 'POST', path, { token, body })
const quote = (customer: string, rate: number, more: object = {}, token = owner) =>
  post(
    '/api/quote-requests',
    { customer_name: customer, lanes: [{ ...lane, quoted_rate: rate, ...more }] },
    token,
  )
const advice = async (query: Record<string, string | number>) =>
  (
    await call(
      app,
      'GET',
      `/api/advice/markup?${new URLSearchParams({ ...lane, proposed_rate: '2000', include: 'rules', ...Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])) })}`,
      { token: owner },
    )
  ).body.rules
const addRule = async (conditions: object, terms: object, tenant: MadeTenant = broker.tenant) => {
  const { status, body } = await post('/api/pricing-rules', { conditions, terms }, tenant.owner)
  expect(status).toBe(201)
  return body.rule_id as number
}
const removeRule = (id: number) => call(app, 'DELETE', `/api/pricing-rules/${id}`, { token: owner })

describe('a rule', () => {
  test('applies to its quotes, and says why', async () => {
    const id = await addRule(
      { customer: 'Harvest  table foods', miles_over: 500 },
      { minimum: { margin_pct: 20 }, round_to: 25, valid_days: 3, outside: 'approval' },
    )
    const rules = await advice({ customer: 'HARVEST TABLE FOODS' })
    expect(rules).toMatchObject({
      minimum: { rule_id: id, outside: 'approval', because: 'customer Harvest  table foods, over 500 miles' },
      verdict: 'approval',
      rounding: { to: 25 },
      validity: { days: 3 },
    })
    expect(rules.rate % 25).toBe(0)
    expect(rules.minimum.rate).toBeGreaterThan(2000)
    expect(rules.reasons[0]).toContain('$2,000 is below the minimum of')
    expect(rules.explanation[0]).toContain('because: customer Harvest  table foods, over 500 miles.')
    expect(await advice({ customer: 'Others' })).toMatchObject({ minimum: null, verdict: 'within' })

    const refused = await quote('Harvest Table Foods', 2000)
    expect(refused).toMatchObject({ status: 422, body: { code: 'outside-rules' } })
    expect(refused.body.errors).toEqual([
      {
        pointer: '/lanes/0/quoted_rate',
        code: 'needs-approval',
        detail: expect.stringContaining(`rule ${id}`),
      },
    ])
    const saved = await quote('Harvest Table Foods', 2500)
    expect(saved.status).toBe(201)
    const days =
      (Date.parse(saved.body.lanes[0].valid_until) - Date.parse(saved.body.created_at)) / 86_400_000
    expect(days).toBe(3)
    const again = await post(`/api/lanes/${saved.body.lanes[0].lane_ref}/requote`, { quoted_rate: 1900 })
    expect(again).toMatchObject({ status: 422, body: { code: 'outside-rules' } })
    await removeRule(id)
  })

  test('is an upper bound of the validity that a person chooses, which is stored', async () => {
    const hoursOf = (quote: { valid_until: string | null; created_at: string }) =>
      quote.valid_until === null
        ? null
        : (Date.parse(quote.valid_until) - Date.parse(quote.created_at)) / 3_600_000
    const chosen = async (valid_hours?: number) => {
      const more = valid_hours === undefined ? {} : { valid_hours }
      const [made] = (await quote('Any', 2500, more)).body.lanes
      const again = await post(`/api/lanes/${made.lane_ref}/requote`, { quoted_rate: 2450, ...more })
      expect(hoursOf(again.body)).toBe(hoursOf(made))
      expect((await call(app, 'GET', `/api/lanes/${made.lane_ref}`, { token: owner })).body.valid_until).toBe(
        made.valid_until,
      )
      return hoursOf(made)
    }
    expect([await chosen(), await chosen(4), await chosen(168)]).toEqual([null, 4, 168])
    const id = await addRule({}, { valid_days: 2 })
    expect([await chosen(), await chosen(4), await chosen(168)]).toEqual([48, 4, 48])
    await removeRule(id)
    for (const valid_hours of [0, 1.5, 8_761, '24']) {
      const { status, body } = await quote('Any', 2500, { valid_hours })
      expect([status, body.errors[0].pointer]).toEqual([422, '/lanes/0/valid_hours'])
    }
    const key = { request_key: '3c5b5b7e-5a0c-4ac4-a4c3-0a8a4e6fa2d1' }
    const keyed = (valid_hours: number) =>
      post('/api/quote-requests', {
        ...key,
        customer_name: 'Any',
        lanes: [{ ...lane, quoted_rate: 2500, valid_hours }],
      })
    const [first, second, other] = [await keyed(4), await keyed(4), await keyed(24)]
    expect(second.body).toEqual(first.body)
    expect(other.body.code).toBe('request-key-reused')
  })

  test('applies to names that were merged into its customer, and to those that it was merged into', async () => {
    const id = await addRule({ customer: 'Polar Foods' }, { minimum: { margin_pct: 30 }, outside: 'block' })
    await post('/api/customers/decisions', {
      name: 'Polar Foods Inc',
      other: 'Polar Foods',
      decision: 'same',
    })
    expect((await quote('POLAR foods inc', 2000)).body.errors[0].code).toBe('blocked')
    await post('/api/customers/decisions', { name: 'Polar Foods', other: 'Arctic', decision: 'same' })
    expect((await quote('Arctic', 2000)).body.errors[0].code).toBe('blocked')
    await removeRule(id)
  })

  test('cannot be avoided with a short distance, a low cost, or a rate of unknown charges', async () => {
    const id = await addRule({ miles_over: 500 }, { minimum: { margin_pct: 15 }, outside: 'approval' })
    const ways = [
      { miles: 10 },
      { estimated_cost: 100 },
      { quoted_basis: 'linehaul' },
      { miles: 10, estimated_cost: 1 },
    ]
    for (const way of ways) expect((await quote('Any', 1700, way)).status).toBe(422)
    const member = await makePerson(app, broker.tenant, 'member')
    expect((await quote('Any', 1700, {}, member.token)).status).toBe(422)
    expect((await quote('Any', 2500)).status).toBe(201)
    await removeRule(id)
  })

  test('compares Canadian dollars by the exchange rate, and does not believe a fuel charge above the schedule', async () => {
    const id = await addRule({}, { minimum: { margin: 100 }, outside: 'approval' })
    const cad = { quoted_currency: 'CAD' }
    expect((await quote('Any', 2600, cad)).body.errors[0].detail).toContain('exchange rate of today')
    const day = new Date(app.now).toISOString().slice(0, 10)
    await post('/api/exchange-rates', { rates: [{ day, usd_per_cad: 0.7 }] })
    // $1,820 and $1,680 in US dollars; the cost is $1,650.
    expect((await quote('Any', 2600, cad)).status).toBe(201)
    expect((await quote('Any', 2400, cad)).body.errors[0].detail).toContain('$1,680 is below')
    const padded = { quoted_basis: 'linehaul', quoted_fuel: 1000 }
    expect((await quote('Any', 1000, padded)).status).toBe(201)
    const monday = new Date(app.now - ((new Date(app.now).getUTCDay() + 6) % 7) * 86_400_000)
    const price = `${monday.toISOString().slice(0, 10)},EMD_EPD2D_PTE_NUS_DPG,3.6`
    const file = `period,series,value\n${price}`
    await call(app, 'POST', '/api/fuel/diesel-prices', { token: owner, file })
    await call(app, 'PATCH', '/api/fuel/schedule', {
      token: owner,
      body: { periods: [{ from: '2020-01-01', base_price: 1.2, miles_per_gallon: 6 }] },
    })
    expect((await quote('Any', 1000, padded)).body.errors[0].detail).toContain(
      'with the fuel charge of the schedule, is below',
    )
    await removeRule(id)
  })

  test('that needs miles is not met by leaving them out', async () => {
    const id = await addRule(
      {},
      { minimum: { margin: 1, margin_per_mile: 3, rate_per_mile: 3 }, outside: 'approval' },
    )
    const unknown = {
      customer_name: 'Any',
      accept_unknown_places: true,
      lanes: [{ ...lane, origin: 'Xyzzyville, TX', quoted_rate: 2000, estimated_cost: 1500 }],
    }
    const refused = await post('/api/quote-requests', unknown)
    expect(refused.body.errors[0].detail).toContain('the miles of the lane are unknown')
    await removeRule(id)
  })

  test('that asks for approval asks for a cost where none is known', async () => {
    const fresh = await makeTenant(app)
    await addRule({}, { minimum: { margin_pct: 10 }, outside: 'block' }, fresh)
    const refused = await quote('Any', 2000, {}, fresh.owner)
    expect(refused.body.errors[0].detail).toContain('no truck cost is known: enter the expected cost')
    expect((await quote('Any', 2000, { estimated_cost: 1000 }, fresh.owner)).status).toBe(201)
    expect((await quote('Any', 2000, { estimated_cost: 1900 }, fresh.owner)).status).toBe(422)
  })

  test('for a team applies to its members, also in the test on past quotes, and to nobody when they leave the team', async () => {
    const member = await makePerson(app, broker.tenant, 'member')
    const other = await makePerson(app, broker.tenant, 'member')
    const { teams } = (await post('/api/teams', { name: 'East', members: [member.id] })).body
    const ours = await quote('Any', 1700, {}, member.token)
    expect(ours.status).toBe(201)
    const rule = {
      conditions: { team_id: teams[0].team_id },
      terms: { minimum: { margin_pct: 15 }, outside: 'approval' },
    }
    expect((await backtestReport(app, owner, { rule })).body.rule).toMatchObject({
      because: 'team East',
      applies: 1,
      examples: [{ lane_ref: ours.body.lanes[0].lane_ref }],
    })
    const id = await addRule(rule.conditions, rule.terms)
    expect((await quote('Any', 1700, {}, member.token)).body.errors[0].detail).toContain('because: team East')
    expect((await quote('Any', 1700, {}, other.token)).status).toBe(201)
    const team = `/api/teams/${teams[0].team_id}`
    await call(app, 'PATCH', team, { token: owner, body: { members: [] } })
    expect((await quote('Any', 1700, {}, member.token)).status).toBe(201)
    await removeRule(id)
    await call(app, 'DELETE', team, { token: owner })
  })

  test('that only warns refuses nothing, and a rule that is off applies to nothing', async () => {
    const id = await addRule({}, { minimum: { margin_pct: 50 } })
    const warned = await quote('Any', 2000)
    expect(warned).toMatchObject({ status: 201, body: { lanes: [{ warnings: [{ code: 'below_floor' }] }] } })
    const off = { conditions: {}, terms: { minimum: { margin_pct: 50 }, outside: 'block' }, on: false }
    await call(app, 'PATCH', `/api/pricing-rules/${id}`, { token: owner, body: off })
    expect((await quote('Any', 2000)).body.lanes[0].warnings).toEqual([])
    await removeRule(id)
  })

  test('a repeated request returns what it made, also after a rule was added', async () => {
    const body = {
      customer_name: 'Repeated',
      request_key: '6f1d0c0e-3c2b-4d1a-9a57-0d8c1f3b2e44',
      lanes: [{ ...lane, quoted_rate: 1700 }],
    }
    const first = await post('/api/quote-requests', body)
    const id = await addRule({}, { minimum: { margin_pct: 50 }, outside: 'block' })
    const second = await post('/api/quote-requests', body)
    expect(second.body.request_id).toBe(first.body.request_id)
    await removeRule(id)
  })
})

test('the floors of the settings are the rule for all quotes', async () => {
  const tenant = await makeTenant(app)
  const patch = (floors: object) =>
    call(app, 'PATCH', '/api/tenant', { token: tenant.owner, body: { floors } })
  expect((await patch({ margin_pct: 8, margin: 150 })).body.floors).toEqual({
    margin_pct: 8,
    margin: 150,
    rate_per_mile: null,
  })
  const { rules } = (await call(app, 'GET', '/api/pricing-rules', { token: tenant.owner })).body
  expect(rules).toMatchObject([
    { rule_id: 1, conditions: {}, terms: { minimum: { margin_pct: 8, margin: 150 } }, because: 'all quotes' },
  ])
  const body = { conditions: {}, terms: { minimum: { margin_pct: 9 }, outside: 'approval' } }
  await call(app, 'PATCH', '/api/pricing-rules/1', { token: tenant.owner, body })
  expect((await patch({ margin_pct: 10 })).body.floors).toMatchObject({ margin_pct: 10, margin: null })
  const after = (await call(app, 'GET', '/api/pricing-rules', { token: tenant.owner })).body.rules
  expect(after[0].terms).toEqual({ minimum: { margin_pct: 10 }, outside: 'approval' })
})

describe('a wrong rule', () => {
  test.each([
    [
      'a margin of 100 %',
      { conditions: {}, terms: { minimum: { margin_pct: 100 } } },
      '/terms/minimum/margin_pct',
    ],
    [
      'a minimum above the maximum',
      { conditions: {}, terms: { minimum: { margin_pct: 20 }, maximum: { margin_pct: 10 } } },
      '/terms/maximum/margin_pct',
    ],
    ['no terms', { conditions: { equipment: 'V' }, terms: {} }, '/terms'],
    [
      'an empty range of miles',
      { conditions: { miles_over: 500, miles_to: 500 }, terms: { round_to: 5 } },
      '/conditions/miles_to',
    ],
    ['an unknown place', { conditions: { origin: 'Nowhere' }, terms: { round_to: 5 } }, '/conditions/origin'],
    ['an unknown team', { conditions: { team_id: 999 }, terms: { round_to: 5 } }, '/conditions/team_id'],
    ['an unknown person', { conditions: { rep_id: 999 }, terms: { round_to: 5 } }, '/conditions/rep_id'],
  ])('with %s is refused with the field, and changes nothing', async (_, body, pointer) => {
    const { status, body: answer } = await post('/api/pricing-rules', body)
    expect(status).toBe(422)
    expect(answer.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
    expect((await call(app, 'GET', '/api/pricing-rules', { token: owner })).body.rules).toEqual([])
  })

  test('with the conditions of another rule would contradict it', async () => {
    const id = await addRule({ customer: 'Harvest', origin: 'TX' }, { minimum: { margin_pct: 10 } })
    const same = {
      conditions: { customer: 'HARVEST', origin: 'Texas' },
      terms: { maximum: { margin_pct: 5 } },
    }
    const { status, body } = await post('/api/pricing-rules', same)
    expect([status, body.code]).toEqual([409, 'state-conflict'])
    expect(body.detail).toContain(`Rule ${id} has the same conditions`)
    await removeRule(id)
  })
})

test('the report on past quotes says what a rule would have changed, saved or not, and stores nothing', async () => {
  const rule = {
    conditions: { equipment: 'V' },
    terms: { minimum: { margin_pct: 18 }, outside: 'approval' },
  }
  const report = async (asked: object) => (await backtestReport(app, owner, { rule: asked })).body.rule
  const found = await report(rule)
  expect(found.applies).toBe(found.quotes)
  expect(found.changed).toBeGreaterThan(0)
  expect(found.changed_won + found.changed_lost).toBeLessThanOrEqual(found.changed)
  expect(found.estimate).toMatchObject({
    difference: expect.any(Number),
    range_80: { low: expect.any(Number) },
  })
  expect(found.estimate.wins_after).toBeLessThan(found.estimate.wins_before)
  expect(found.sentence).toContain('An estimate:')
  expect(found.examples[0]).toMatchObject({
    lane_ref: expect.any(String),
    detail: expect.stringMatching(/minimum of \$[\d,.]+ \(this rule, because: /),
  })
  expect(found.examples[0].allowed_rate).toBeGreaterThan(found.examples[0].quoted_rate)
  expect((await call(app, 'GET', '/api/pricing-rules', { token: owner })).body.rules).toEqual([])
  expect(await report({ conditions: { tier: 'Z' }, terms: { round_to: 5 } })).toMatchObject({
    applies: 0,
    sentence: 'No past quote meets the conditions of this rule.',
  })
  expect((await backtestReport(app, owner)).body.rule).toBeNull()
  // A saved rule is compared with the rules without it.
  const id = await addRule(rule.conditions, rule.terms)
  const { sentence, changed, examples } = await report({ ...rule, rule_id: id })
  expect(examples[0].detail).toContain(`(rule ${id}, because: `)
  expect({ sentence, changed }).toEqual({ sentence: found.sentence, changed: found.changed })
  await removeRule(id)
  expect((await backtestReport(app, owner, { rule: { ...rule, rule_id: id } })).status).toBe(404)
  const wrong = await backtestReport(app, owner, { rule: { ...rule, conditions: { origin: 'Nowhere' } } })
  expect(wrong).toMatchObject({ status: 422, body: { errors: [{ pointer: '/rule/conditions/origin' }] } })
  const member = await makePerson(app, broker.tenant, 'member')
  expect(await backtestReport(app, member.token, { rule })).toMatchObject({
    status: 403,
    body: { detail: expect.stringContaining('Only an admin or an owner may test a pricing rule.') },
  })
})
