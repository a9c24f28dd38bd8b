import { beforeAll, describe, expect, test } from 'vitest'
import { pushQuotes } from '#contract/push-quotes.ts'
import {
  call,
  type MadeTenant,
  makeIntegration,
  makePerson,
  makeQuote,
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
    await makeQuote(app, tenant, { rate, outcome })
  }
})

const send = (method: 'GET' | 'POST', path: string, body?: object, token = rep.token) =>
  call(app, method, path, { token, ...(body === undefined ? {} : { body }) })

/** A quote of $2,500 with an expected cost of $1,900. */
const offered = {
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  quoted_rate: 2500,
  estimated_cost: 1900,
}
async function quoted(more: object = {}): Promise<string> {
  const { body } = await send('POST', '/api/quote-requests', {
    customer_name: 'Harvest Table Foods',
    lanes: [{ ...offered, ...more }],
  })
  return body.lanes[0].lane_ref
}

const quote = async (ref: string) => (await send('GET', `/api/lanes/${ref}`)).body
const nextOf = (ref: string) => ref.replace(/-1$/, '-2')

/** Advice on that quote after the customer named a rate: for the given rates, or for the suggested one. */
async function advised(counterRate: number, { rates = [undefined], ...more }: Advised = {}) {
  const { lanes, ...by } = { lanes: {}, token: rep.token, ...more }
  const facts = {
    origin: 'Dallas, TX',
    destination: 'Atlanta, GA',
    equipment: 'V',
    estimated_cost: 1900,
    ...lanes,
  }
  const body = {
    customer: 'Harvest Table Foods',
    lanes: rates.map((quoted_rate) => ({
      ...facts,
      ...(quoted_rate === undefined ? {} : { quoted_rate }),
      counter_offer: { refused_rate: 2500, counter_rate: counterRate },
    })),
  }
  const answer = await send('POST', '/api/advice/lanes', body, by.token)
  expect(answer.status).toBe(200)
  return answer.body.results
}
interface Advised {
  readonly rates?: readonly (number | undefined)[]
  readonly lanes?: object
  readonly token?: string
}

describe('advice after a counter-offer', () => {
  test('the chance falls from 1 at the named rate to 0 at the refused one, and the suggested rate earns most', async () => {
    // A cent more than the named rate meets the customers who refuse any increase.
    const typed = [2100, 2100.01, ...Array.from({ length: 16 }, (_, nth) => 2125 + 25 * nth), 2500]
    const [suggested, ...at] = await advised(2100, { rates: [undefined, ...typed] })
    const { suggested_rate, win_probability, trust } = suggested.counter_offer
    expect(suggested.rate).toBe(suggested_rate)
    expect(suggested_rate).toBeGreaterThanOrEqual(2121)
    expect(suggested_rate).toBeLessThan(2500)
    expect(trust).toEqual(expect.any(String))
    const chances = at
      .map((result: { counter_offer: object }) => result.counter_offer)
      .map((after: { win_probability: number }) => after.win_probability)
    expect(chances.slice(0, 2)).toEqual([1, expect.closeTo(0.75, 2)])
    expect(chances.at(-1)).toBe(0)
    expect(at[0].counter_offer.suggested_rate).toBe(suggested_rate)
    const earned = win_probability * (suggested_rate - 1900)
    for (const [nth, chance] of chances.entries()) {
      if ((typed[nth] ?? 0) >= 2121)
        expect(chance * ((typed[nth] ?? 0) - 1900)).toBeLessThanOrEqual(earned + 1)
    }
  })

  test('says nothing without a counter-offer', async () => {
    const { body } = await send('POST', '/api/advice/lanes', {
      lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', quoted_rate: 2400 }],
    })
    expect(body.results).toMatchObject([{ rate: 2400, counter_offer: null }])
  })

  test('no rate is worth asking for between two that are within four dollars', async () => {
    const [{ counter_offer, warnings }] = await advised(2497)
    expect(counter_offer).toMatchObject({ win_probability: null, suggested_rate: null })
    expect(warnings).toEqual([])
  })

  test('a named rate that is not below the refused one is an error of its lane', async () => {
    const [{ status, errors }] = await advised(2500)
    expect(status).toBe(422)
    expect(errors).toMatchObject([{ pointer: '/counter_offer/counter_rate', code: 'invalid' }])
    expect(errors[0].detail).toContain('must be below the quoted rate of $2,500')
  })

  test('a brokerage without quotes gets the rules and no chance', async () => {
    const fresh = await makeTenant(app)
    const [result] = await advised(2100, { token: fresh.owner })
    // Without any history, the rate to answer with is the middle of the two.
    expect(result.counter_offer).toEqual({
      win_probability: null,
      interval_80: null,
      trust: null,
      suggested_rate: 2300,
    })
  })

  test('its former address is gone, and says what to use instead', async () => {
    const gone = await send('GET', `/api/lanes/${await quoted()}/counter-advice?counter_rate=2100`)
    expect(gone.status).toBe(404)
    expect(gone.body.detail).toContain('POST /api/advice/lanes')
  })
})

describe('a requote that answers a counter-offer', () => {
  test('accepting makes a won requote at the named rate; the earlier quote has the counter-offer and is lost for its price', async () => {
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
    expect(await quote(ref)).toMatchObject({
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
      expect(again.body.detail).toContain(
        `Quote ${nextOf(ref)}, an offer for the load of quote ${ref}, is won`,
      )
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
    expect(await quote(ref)).toMatchObject({ counter_rate: 2100, outcome: 'lost', outcome_reason: 'service' })
  })

  test('walking away saves the counter-offer with the loss, and an admin can roll both back', async () => {
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
    expect(await quote(ref)).toMatchObject({ outcome: 'pending', counter_rate: null })
    expect((await send('GET', `/api/lanes/${nextOf(ref)}`)).status).toBe(404)
    await send('POST', `/api/lanes/${ref}/outcome`, { outcome: 'won' })
    expect((await requote({ quoted_rate: 2100, counter_rate: 2100 })).status).toBe(409)
  })
})

describe('the rules apply to an accepted or countered rate', () => {
  test('accepting below a minimum needs approval; approved, the requote is won and the counter-offer is saved', async () => {
    const ruled = await makeTenant(app)
    const own = await makePerson(app, ruled, 'member')
    const as = (token: string) => (method: 'GET' | 'POST', path: string, body?: object) =>
      call(app, method, path, { token, ...(body === undefined ? {} : { body }) })
    const [admin, member] = [as(ruled.owner), as(own.token)]
    const rule = { conditions: {}, terms: { minimum: { margin_pct: 15 }, round_to: 25, outside: 'approval' } }
    expect((await admin('POST', '/api/pricing-rules', rule)).status).toBe(201)
    const made = await member('POST', '/api/quote-requests', {
      customer_name: 'Harvest Table Foods',
      lanes: [offered],
    })
    const ref = made.body.lanes[0].lane_ref
    const [found, accepted] = await advised(2100, { rates: [undefined, 2100], token: own.token })
    expect(accepted.outside_rules).toMatchObject([{ code: 'needs-approval' }])
    // The suggested rate is within the minimum of $2,235.30, and a multiple of $25.
    const { suggested_rate } = found.counter_offer
    expect(suggested_rate).toBeGreaterThanOrEqual(2250)
    expect(suggested_rate % 25).toBe(0)
    expect(found.outside_rules).toEqual([])
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
      quotes: [quoteToPush('C-1', { ...amounts, rate_type: 'contract' })],
    })
    const [contract] = pushed.body.results.map(({ lane_ref }: { lane_ref: string }) => lane_ref)
    const at = (rate_type: string) =>
      advised(2100, { rates: [undefined, 2100], lanes: { rate_type }, token: ours.tenant.owner })
    const [found, accepted] = await at('contract')
    expect(accepted.outside_rules).toMatchObject([{ code: 'blocked' }])
    // At least the minimum of $2,235.30, and a multiple of $25.
    expect(found.counter_offer.suggested_rate).toBeGreaterThanOrEqual(2250)
    expect(found.counter_offer.suggested_rate % 25).toBe(0)
    const refused = await admin('POST', `/api/lanes/${contract}/requote`, {
      quoted_rate: 2100,
      counter_rate: 2100,
    })
    expect(refused.body.code).toBe('outside-rules')
    expect((await at('spot'))[1].outside_rules).toEqual([])
  })
})
