import { beforeAll, describe, expect, test } from 'vitest'
import { pushQuotes } from '#contract/push-quotes.ts'
import {
  call,
  type MadeTenant,
  makeIntegration,
  makeLane,
  makePerson,
  makeTenant,
  pushSigned,
  quoteToPush,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let tenant: MadeTenant
let rep: { readonly token: string; readonly id: number }

/** Dallas to Atlanta, van: won up to about $2,400, and lost above. */
beforeAll(async () => {
  app = await sharedApp()
  tenant = await makeTenant(app)
  rep = await makePerson(app, tenant, 'member')
  for (const [rate, outcome] of [
    [2000, 'won'],
    [2100, 'won'],
    [2200, 'won'],
    [2300, 'won'],
    [2400, 'lost'],
    [2500, 'lost'],
    [2600, 'lost'],
  ] as const) {
    await makeLane(app, tenant, { rate, outcome })
  }
})

const send = (method: 'GET' | 'POST', path: string, body?: object, token = rep.token) =>
  call(app, method, path, { token, ...(body === undefined ? {} : { body }) })

/** A quote of $2,500 with an expected cost of $1,900. */
async function quoted(more: object = {}): Promise<string> {
  const { body } = await send('POST', '/api/quote-requests', {
    customer_name: 'Harvest Table Foods',
    lanes: [
      {
        origin: 'Dallas, TX',
        destination: 'Atlanta, GA',
        equipment: 'V',
        quoted_rate: 2500,
        estimated_cost: 1900,
        ...more,
      },
    ],
  })
  return body.lanes[0].lane_ref
}

const lane = async (ref: string) => (await send('GET', `/api/lanes/${ref}`)).body
const nextOf = (ref: string) => ref.replace(/-1$/, '-2')
const advice = (ref: string, query: string) => send('GET', `/api/lanes/${ref}/counter-advice?${query}`)

describe('advice on a counter-offer: 200', () => {
  test('compares accepting, countering with the best rate between, and walking away', async () => {
    const { status, body } = await advice(await quoted(), 'counter_rate=2100')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      quoted_rate: 2500,
      counter_rate: 2100,
      currency: 'USD',
      basis: 'all_in',
      comparable: true,
      cost: { amount: 1900, source: 'entered' },
      accept: { rate: 2100, win_probability: 1, margin: 200, expected_margin: 200, outside_rules: [] },
    })
    const { counter, suggested_rate, best, curve } = body
    expect(counter.rate).toBe(suggested_rate)
    expect(counter.rate).toBeLessThan(2500)
    expect(counter.expected_margin).toBeCloseTo(counter.win_probability * (counter.rate - 1900), 1)
    expect(best).toBe(counter.expected_margin > 200 ? 'counter' : 'accept')
    expect([curve[0].probability, curve.at(-1).probability]).toEqual([1, 0])
    expect(counter.rate).toBeGreaterThanOrEqual(2121)
    // A cent more than the named rate meets the customers who refuse any increase.
    expect(curve[1]).toMatchObject({ rate: 2100.01, probability: expect.closeTo(0.75, 2) })
    // No point of the curve from one percent above the named rate earns more than the suggested rate.
    for (const { rate, probability } of curve.filter(({ rate }: { rate: number }) => rate >= 2121))
      expect(probability * (rate - 1900)).toBeLessThanOrEqual(counter.expected_margin + 1)
  })

  test('a sent rate is priced instead; a cost above the named rate makes walking away better than accepting', async () => {
    const { body } = await advice(await quoted(), 'counter_rate=2100&rate=2499&estimated_cost=2600')
    expect(body).toMatchObject({
      accept: { margin: -500 },
      counter: { rate: 2499, margin: -101 },
      best: 'walk_away',
      cost: { amount: 2600, source: 'entered' },
    })
  })

  test('a brokerage without quotes gets the margin of accepting, and no chance', async () => {
    const fresh = await makeTenant(app)
    const made = await call(app, 'POST', '/api/quote-requests', {
      token: fresh.owner,
      body: {
        customer_name: 'Harvest',
        lanes: [
          {
            origin: 'Reno, NV',
            destination: 'Boise, ID',
            equipment: 'V',
            quoted_rate: 1500,
            estimated_cost: 1000,
          },
        ],
      },
    })
    // The quote itself is the only one, and pending: the chance is that of a prior.
    const ref = made.body.lanes[0].lane_ref
    const { status, body } = await send(
      'GET',
      `/api/lanes/${ref}/counter-advice?counter_rate=1200`,
      undefined,
      fresh.owner,
    )
    expect(status).toBe(200)
    expect(body.accept).toMatchObject({ win_probability: 1, margin: 200 })
  })
})

describe('advice on a counter-offer: errors', () => {
  test('a rate that is not below the quoted one, and a rate outside of both', async () => {
    const ref = await quoted()
    const high = await advice(ref, 'counter_rate=2500')
    expect(high.status).toBe(422)
    expect(high.body.errors).toMatchObject([{ parameter: 'counter_rate', code: 'invalid' }])
    expect(high.body.errors[0].detail).toContain('must be below the quoted rate of $2,500')
    for (const outside of [2100, 2500]) {
      const { body } = await advice(ref, `counter_rate=2100&rate=${outside}`)
      expect(body.errors).toMatchObject([{ parameter: 'rate' }])
    }
    for (const between of [2100.01, 2499.99]) {
      expect((await advice(ref, `counter_rate=2100&rate=${between}`)).status).toBe(200)
    }
  })

  test('404 for an unknown lane, and 409 for one that is won or void', async () => {
    expect((await advice('1-1-1', 'counter_rate=2100')).status).toBe(404)
    const ref = await quoted()
    await send('POST', `/api/lanes/${ref}/outcome`, { outcome: 'won' })
    expect((await advice(ref, 'counter_rate=2100')).body.code).toBe('state-conflict')
    const mistaken = await quoted()
    await send('POST', `/api/lanes/${mistaken}/void`, { reason: 'Test' })
    expect((await advice(mistaken, 'counter_rate=2100')).status).toBe(409)
  })
})

describe('keeping the choice', () => {
  test('accepting makes a won requote at the named rate; the earlier quote keeps the counter-offer and is lost for its price', async () => {
    const ref = await quoted()
    const { status, body } = await send('POST', `/api/lanes/${ref}/requote`, {
      quoted_rate: 2100,
      counter_rate: 2100,
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      lane_ref: nextOf(ref),
      quoted_rate: 2100,
      counter_rate: null,
      outcome: 'won',
      estimated_cost: 1900,
    })
    expect(await lane(ref)).toMatchObject({
      quoted_rate: 2500,
      counter_rate: 2100,
      outcome: 'lost',
      outcome_reason: 'price',
    })
    const { changes } = (await send('GET', `/api/lanes/${ref}/changes`)).body
    expect(changes[0]).toMatchObject({
      source: 'lanewise',
      rule: 'another_offer_counts',
      before: { superseded_by: null },
      after: { superseded_by: nextOf(ref) },
    })
    expect(changes[1]).toMatchObject({
      source: 'dashboard',
      changed_by: { user_id: rep.id },
      before: { counter_rate: null, outcome: 'pending' },
      after: { counter_rate: 2100, outcome: 'lost', outcome_reason: 'price' },
    })
    const made = (await send('GET', `/api/lanes/${nextOf(ref)}/changes`)).body.changes
    expect(made).toMatchObject([{ after: { outcome: 'won' } }])
  })

  test('a repeated acceptance is refused and names the won requote, also of two at once', async () => {
    const accepts = { quoted_rate: 2100, counter_rate: 2100 }
    const requote = (of: string, body: object) => send('POST', `/api/lanes/${of}/requote`, body)
    const ref = await quoted()
    expect((await requote(ref, accepts)).status).toBe(201)
    for (const body of [accepts, { quoted_rate: 2300, counter_rate: 2100 }]) {
      const again = await requote(ref, body)
      expect([again.status, again.body.code]).toEqual([409, 'state-conflict'])
      expect(again.body.detail).toContain(`Lane ${nextOf(ref)}, an offer for the load of lane ${ref}, is won`)
    }
    expect((await send('GET', `/api/lanes/${ref.replace(/-1$/, '-3')}`)).status).toBe(404)

    const raced = await quoted()
    const answers = await Promise.all([1, 2, 3].map(() => requote(raced, accepts)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])

    // Two quotes of one lane, each accepted at the same time.
    const first = await quoted()
    expect((await requote(first, { quoted_rate: 2300, counter_rate: 2000 })).status).toBe(201)
    const answered = await Promise.all([first, nextOf(first)].map((of) => requote(of, accepts)))
    expect(answered.map(({ status }) => status).sort()).toEqual([201, 409])

    // A requote that was won by mistake does not count.
    const outcome = { outcome: 'pending' }
    expect((await send('POST', `/api/lanes/${nextOf(ref)}/outcome`, outcome)).status).toBe(200)
    expect((await requote(ref, accepts)).status).toBe(201)
  })

  test('countering makes a pending requote; a lost quote keeps its reason', async () => {
    const ref = await quoted()
    await send('POST', `/api/lanes/${ref}/outcome`, { outcome: 'lost', reason: 'service' })
    const { body } = await send('POST', `/api/lanes/${ref}/requote`, {
      quoted_rate: 2300,
      counter_rate: 2100,
    })
    expect(body).toMatchObject({ lane_ref: nextOf(ref), quoted_rate: 2300, outcome: 'pending' })
    expect(await lane(ref)).toMatchObject({ counter_rate: 2100, outcome: 'lost', outcome_reason: 'service' })
  })

  test('walking away keeps the counter-offer with the loss, and an admin can roll both back', async () => {
    const ref = await quoted()
    const lost = { outcome: 'lost', reason: 'price', counter_rate: 1700 }
    const { status, body } = await send('POST', `/api/lanes/${ref}/outcome`, lost)
    expect(status).toBe(200)
    expect(body).toMatchObject({ outcome: 'lost', outcome_reason: 'price', counter_rate: 1700 })
    const back = await send('POST', `/api/lanes/${ref}/rollback`, { change_id: 1 }, tenant.owner)
    expect(back.body).toMatchObject({ outcome: 'pending', counter_rate: null })
  })

  test('nothing is saved for a wrong counter-offer', async () => {
    const ref = await quoted()
    const requote = (body: object) => send('POST', `/api/lanes/${ref}/requote`, body)
    const pointers = async (body: object) =>
      (await requote(body)).body.errors.map(({ pointer }: { pointer: string }) => pointer)
    expect(await pointers({ quoted_rate: 2600, counter_rate: 2500 })).toEqual(['/counter_rate'])
    expect(await pointers({ quoted_rate: 2000, counter_rate: 2100 })).toEqual(['/quoted_rate'])
    const other = { quoted_basis: 'linehaul', quoted_currency: 'CAD' }
    expect(await pointers({ quoted_rate: 2300, counter_rate: 2100, ...other })).toEqual([
      '/quoted_basis',
      '/quoted_currency',
    ])
    const won = { outcome: 'won', counter_rate: 2100 }
    expect((await send('POST', `/api/lanes/${ref}/outcome`, won)).body.errors[0].pointer).toBe(
      '/counter_rate',
    )
    const high = { outcome: 'lost', counter_rate: 2600 }
    expect((await send('POST', `/api/lanes/${ref}/outcome`, high)).status).toBe(422)
    expect(await lane(ref)).toMatchObject({ outcome: 'pending', counter_rate: null })
    expect((await send('GET', `/api/lanes/${nextOf(ref)}`)).status).toBe(404)
    await send('POST', `/api/lanes/${ref}/outcome`, { outcome: 'won' })
    expect((await requote({ quoted_rate: 2100, counter_rate: 2100 })).status).toBe(409)
  })
})

describe('the rules hold for an accepted or countered rate', () => {
  test('accepting below a minimum needs approval; approved, the requote is won and the counter-offer is kept', async () => {
    const ruled = await makeTenant(app)
    const own = await makePerson(app, ruled, 'member')
    const as = (token: string) => (method: 'GET' | 'POST', path: string, body?: object) =>
      call(app, method, path, { token, ...(body === undefined ? {} : { body }) })
    const [admin, member] = [as(ruled.owner), as(own.token)]
    const rule = { conditions: {}, terms: { minimum: { margin_pct: 15 }, round_to: 25, outside: 'approval' } }
    expect((await admin('POST', '/api/pricing-rules', rule)).status).toBe(201)
    const made = await member('POST', '/api/quote-requests', {
      customer_name: 'Harvest Table Foods',
      lanes: [
        {
          origin: 'Dallas, TX',
          destination: 'Atlanta, GA',
          equipment: 'V',
          quoted_rate: 2500,
          estimated_cost: 1900,
        },
      ],
    })
    const ref = made.body.lanes[0].lane_ref
    const found = (await member('GET', `/api/lanes/${ref}/counter-advice?counter_rate=2100`)).body
    expect(found.accept.outside_rules).toMatchObject([{ code: 'needs-approval' }])
    // The suggested rate is within the minimum of $2,235.30, and a multiple of $25.
    expect(found.suggested_rate).toBeGreaterThanOrEqual(2250)
    expect(found.suggested_rate % 25).toBe(0)
    expect(found.counter.outside_rules).toEqual([])
    const accepts = { quoted_rate: 2100, counter_rate: 2100 }
    const refused = await member('POST', `/api/lanes/${ref}/requote`, accepts)
    expect(refused.body.code).toBe('outside-rules')
    expect((await member('GET', `/api/lanes/${ref}`)).body).toMatchObject({
      outcome: 'pending',
      counter_rate: null,
    })
    const asked = await member('POST', `/api/lanes/${ref}/approvals`, accepts)
    expect(asked.status).toBe(201)
    const decided = await admin('POST', `/api/approvals/${asked.body.approval_id}/decision`, {
      decision: 'approve',
    })
    expect(decided.body).toMatchObject({ state: 'approved', lane_refs: [nextOf(ref)] })
    const [before, after] = await Promise.all(
      [ref, nextOf(ref)].map(async (one) => (await member('GET', `/api/lanes/${one}`)).body),
    )
    expect(before).toMatchObject({ outcome: 'lost', counter_rate: 2100 })
    expect(after).toMatchObject({ outcome: 'won', quoted_rate: 2100, quoted_by: { user_id: own.id } })
  })

  test('advice on a contract quote applies the rule for contract quotes, as the requote does', async () => {
    const ours = await makeIntegration(app, 'integrations:write quotes:write')
    const admin = (method: 'GET' | 'POST', path: string, body?: object) =>
      call(app, method, path, { token: ours.tenant.owner, ...(body === undefined ? {} : { body }) })
    const rule = {
      conditions: { rate_type: 'contract' },
      terms: { minimum: { margin_pct: 15 }, round_to: 25, outside: 'block' },
    }
    expect((await admin('POST', '/api/pricing-rules', rule)).status).toBe(201)
    const amounts = { quoted_rate: 2500, estimated_cost: 1900 }
    const pushed = await pushSigned(app, ours, pushQuotes, {
      quotes: [
        quoteToPush('C-1', { ...amounts, rate_type: 'contract' }),
        quoteToPush('C-2', { ...amounts, rate_type: 'spot' }),
      ],
    })
    const [contract, spot] = pushed.body.results.map(({ lane_ref }: { lane_ref: string }) => lane_ref)
    const advised = async (ref: string) =>
      (await admin('GET', `/api/lanes/${ref}/counter-advice?counter_rate=2100`)).body
    const found = await advised(contract)
    expect(found.accept.outside_rules).toMatchObject([{ code: 'blocked' }])
    // At least the minimum of $2,235.30, and a multiple of $25.
    expect(found.suggested_rate).toBeGreaterThanOrEqual(2250)
    expect(found.suggested_rate % 25).toBe(0)
    const refused = await admin('POST', `/api/lanes/${contract}/requote`, {
      quoted_rate: 2100,
      counter_rate: 2100,
    })
    expect(refused.body.code).toBe('outside-rules')
    expect((await advised(spot)).accept.outside_rules).toEqual([])
  })
})
