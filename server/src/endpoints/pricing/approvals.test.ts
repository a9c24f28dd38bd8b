import { beforeAll, describe, expect, test } from 'vitest'
import { pushQuotes } from '#contract/push-quotes.ts'
import { asTableOwner } from '#testing/as-table-owner.ts'
import {
  call,
  type Integration,
  type MadeTenant,
  makeIntegration,
  makePerson,
  makeTenant,
  pushSigned,
  quoteToPush,
  setColumns,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { withDatabaseClient } from '../../database/hosts/index.ts'
import { tenantId } from '../../database/session/index.ts'

let app: TestApp
let tenant: MadeTenant
let rep: { id: number; token: string }
let manager: { id: number; token: string }

/** The minimum is $2 a mile, which is about $1,560 from Dallas to Atlanta. */
beforeAll(async () => {
  app = await sharedApp()
  tenant = await makeTenant(app)
  rep = await makePerson(app, tenant, 'member')
  manager = await makePerson(app, tenant, 'admin')
  await post('/api/pricing-rules', {
    conditions: {},
    terms: { minimum: { rate_per_mile: 2 }, outside: 'approval' },
  })
})

const post = (path: string, body: object, token = tenant.owner) => call(app, 'POST', path, { token, body })
const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
const quoted = (rate: number) => ({ customer_name: 'Harvest', lanes: [{ ...lane, quoted_rate: rate }] })
const ask = async (rate = 1000, token = rep.token) => {
  const { status, body } = await post(
    '/api/approvals',
    {
      customer_name: 'Harvest',
      lanes: [{ origin: 'dallas tx', destination: 'ATL', equipment: "53' dry van", quoted_rate: rate }],
      note: 'Four loads a week.',
    },
    token,
  )
  expect(status).toBe(201)
  return body
}
const decide = (id: number, body: object, token = manager.token) =>
  post(`/api/approvals/${id}/decision`, body, token)
const quotesNow = async () =>
  (await call(app, 'GET', '/api/lanes', { token: tenant.owner })).body.total as number

describe('an approval', () => {
  test('makes the quote as it was asked, in the name of the rep, and only once', async () => {
    const before = await quotesNow()
    const asked = await ask()
    expect(asked).toMatchObject({
      state: 'waiting',
      reasons: [expect.stringContaining('$1,000 is below the minimum of')],
      requested_by: { user_id: rep.id },
      lanes: [lane],
      email: { subject: expect.stringContaining('Harvest, Dallas, TX to Atlanta, GA') },
    })
    expect(await quotesNow()).toBe(before)
    const both = await Promise.all([1, 2].map(() => decide(asked.approval_id, { decision: 'approve' })))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(await quotesNow()).toBe(before + 1)
    const approved = both.find(({ status }) => status === 200)?.body
    expect(approved).toMatchObject({ state: 'approved', decided_by: { user_id: manager.id } })
    const made = await call(app, 'GET', `/api/lanes/${approved.lane_refs[0]}`, { token: rep.token })
    expect(made.body).toMatchObject({ quoted_rate: 1000, quoted_by: { user_id: rep.id }, outcome: 'pending' })
  })

  test('can be countered: the rep accepts the rates of the counter, not others', async () => {
    const { approval_id: id } = await ask()
    expect((await decide(id, { decision: 'counter' })).body.errors[0].pointer).toBe('/rates')
    const countered = await decide(id, { decision: 'counter', rates: [1300] })
    expect(countered.body).toMatchObject({ state: 'countered', lanes: [{ rate: 1000, counter_rate: 1300 }] })
    expect((await decide(id, { decision: 'accept', rates: [1300, 1300] }, rep.token)).status).toBe(422)
    // An approver counters again while the rep reads the first counter.
    await decide(id, { decision: 'counter', rates: [1350] }, tenant.owner)
    expect(await decide(id, { decision: 'accept', rates: [1300] }, rep.token)).toMatchObject({
      status: 409,
      body: {
        detail: expect.stringContaining('$1,350'),
        errors: [{ pointer: '/rates/0', detail: expect.stringContaining('$1,350') }],
      },
    })
    await decide(id, { decision: 'counter', rates: [1300] })
    const accepted = await decide(id, { decision: 'accept', rates: [1300] }, rep.token)
    expect(accepted.body).toMatchObject({ state: 'accepted', decided_by: { user_id: manager.id } })
    const made = await call(app, 'GET', `/api/lanes/${accepted.body.lane_refs[0]}`, { token: rep.token })
    expect(made.body.quoted_rate).toBe(1300)
  })

  test('is for a requote, too, and counts as the next one', async () => {
    const first = await post('/api/quote-requests', quoted(2000), rep.token)
    const ref: string = first.body.lanes[0].lane_ref
    const asked = await post(`/api/lanes/${ref}/approvals`, { quoted_rate: 1200 }, rep.token)
    expect(asked.body).toMatchObject({ lane_ref: ref, customer_name: 'Harvest' })
    const approved = await decide(asked.body.approval_id, { decision: 'approve' })
    expect(approved.body.lane_refs).toEqual([ref.replace(/-1$/, '-2')])
  })

  test('of a requote is refused if the basis of the quote has changed since, until the person asks again', async () => {
    const { body } = await post('/api/quote-requests', quoted(2000), rep.token)
    const [first] = body.lanes
    const { approval_id: id } = (
      await post(`/api/lanes/${first.lane_ref}/approvals`, { quoted_rate: 1200 }, rep.token)
    ).body
    const before = await quotesNow()
    await setColumns(app, tenant, first.lane_id, { quoted_basis: 'linehaul', quoted_fuel_cents: 300_00 })
    const refused = await decide(id, { decision: 'approve' })
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      expect.stringContaining('The basis or currency of quote'),
    ])
    // Stating the default basis does not change the basis.
    await setColumns(app, tenant, first.lane_id, { quoted_basis: 'all_in', quoted_fuel_cents: null })
    expect(await quotesNow()).toBe(before)
    expect((await decide(id, { decision: 'approve' })).body.state).toBe('approved')
  })

  test('cannot be countered below the rate that the customer named, because nobody could accept that', async () => {
    const first = await post('/api/quote-requests', quoted(2000), rep.token)
    const ref: string = first.body.lanes[0].lane_ref
    const named = { quoted_rate: 1250, counter_rate: 1200 }
    const { approval_id: id } = (await post(`/api/lanes/${ref}/approvals`, named, rep.token)).body
    expect(await decide(id, { decision: 'counter', rates: [1199.99] })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/rates/0', detail: expect.stringContaining('at least $1,200') }] },
    })
    expect((await decide(id, { decision: 'counter', rates: [1200] })).body.state).toBe('countered')
    const accepted = await decide(id, { decision: 'accept', rates: [1200] }, rep.token)
    expect(accepted.body).toMatchObject({ state: 'accepted', lane_refs: [ref.replace(/-1$/, '-2')] })
  })

  test('is not for quotes within the rules, and not for quotes that a rule blocks', async () => {
    expect((await post('/api/approvals', quoted(2000), rep.token)).status).toBe(409)
    const { approval_id: id } = await ask()
    const blocking = await post('/api/pricing-rules', {
      conditions: { customer: 'Harvest' },
      terms: { minimum: { rate_per_mile: 2 }, outside: 'block' },
    })
    expect((await post('/api/approvals', quoted(1000), rep.token)).body.code).toBe('outside-rules')
    const late = await decide(id, { decision: 'approve' })
    expect([late.status, late.body.errors[0].code]).toEqual([422, 'blocked'])
    await call(app, 'DELETE', `/api/pricing-rules/${blocking.body.rule_id}`, { token: tenant.owner })
    expect((await decide(id, { decision: 'reject', note: 'Too low.' })).body).toMatchObject({
      state: 'rejected',
      email: { text: expect.stringContaining('Too low.') },
    })
  })

  test('shows all that its price depends on, of a requote as it would be quoted', async () => {
    const facts = {
      estimated_cost: 1500,
      miles: 790,
      rate_type: 'contract',
      quoted_basis: 'linehaul',
      quoted_fuel: 120,
      quoted_charges: [{ name: 'lumper', amount: 80 }],
    }
    const body = { customer_name: 'Harvest', lanes: [{ ...lane, ...facts, quoted_rate: 1000 }] }
    const asked = await post('/api/approvals', body, rep.token)
    expect(asked.body.lanes).toMatchObject([{ rate: 1000, ...facts }])
    const first = await post('/api/quote-requests', {
      ...body,
      lanes: [{ ...lane, ...facts, quoted_rate: 2000 }],
    })
    const path = `/api/lanes/${first.body.lanes[0].lane_ref}/approvals`
    const kept = await post(path, { quoted_rate: 1000 }, rep.token)
    expect(kept.body.lanes).toMatchObject([{ rate: 1000, ...facts }])
    const charged = await post(path, { quoted_rate: 1000, quoted_fuel: 100 }, rep.token)
    expect(charged.body.lanes).toMatchObject([{ rate: 1000, quoted_fuel: 100, quoted_charges: null }])
  })

  test('says the currency and the basis of its rates, of a requote those of the quote before it', async () => {
    const day = new Date(app.now).toISOString().slice(0, 10)
    await post('/api/exchange-rates', { rates: [{ day, usd_per_cad: 0.7 }] })
    const cad = { quoted_currency: 'CAD', quoted_basis: 'all_in' }
    const inCad = (rate: number) => ({
      customer_name: 'Harvest',
      lanes: [{ ...lane, ...cad, quoted_rate: rate }],
    })
    const asked = await post('/api/approvals', inCad(2000), rep.token)
    expect(asked.body).toMatchObject({
      lanes: [{ rate: 2000, ...cad }],
      reasons: [expect.stringContaining('$1,400 is below')],
      email: { text: expect.stringMatching(/\$2,000 CAD all-in\n[\s\S]*\(in US dollars\)/) },
    })
    const first = await post('/api/quote-requests', inCad(3000), rep.token)
    const ref: string = first.body.lanes[0].lane_ref
    const again = await post(`/api/lanes/${ref}/approvals`, { quoted_rate: 1900 }, rep.token)
    expect(again.body.lanes).toMatchObject([{ rate: 1900, ...cad }])
    const { approval_id: id } = again.body
    const countered = await decide(id, { decision: 'counter', rates: [1950] })
    expect(countered.body).toMatchObject({
      lanes: [{ counter_rate: 1950, ...cad }],
      email: { text: expect.stringContaining('instead $1,950 CAD all-in') },
    })
    const stale = await decide(id, { decision: 'accept', rates: [1900] }, rep.token)
    expect(stale.body.errors[0].detail).toContain('$1,950 CAD all-in')
    const accepted = await decide(id, { decision: 'accept', rates: [1950] }, rep.token)
    const made = await call(app, 'GET', `/api/lanes/${accepted.body.lane_refs[0]}`, { token: rep.token })
    expect(made.body).toMatchObject({ quoted_rate: 1950, ...cad })
    const plain = await ask()
    expect(plain.lanes).toMatchObject([{ quoted_currency: null, quoted_basis: null }])
  })

  test('ends after a day, also before that is stored', async () => {
    const { approval_id: id } = await ask()
    await endNow(id)
    const { body } = await decide(id, { decision: 'approve' })
    expect(body).toMatchObject({ code: 'state-conflict', detail: expect.stringContaining('expired') })
    await app.expireQuotes()
    expect((await decide(id, { decision: 'approve' })).body.detail).toContain('expired')
  })

  test('is recent while it waits, and for a day after its end', async () => {
    const recent = async (query = '?recent=true') =>
      (await call(app, 'GET', `/api/approvals${query}`, { token: rep.token })).body.approvals.map(
        (one: { approval_id: number }) => one.approval_id,
      )
    const { approval_id: waiting } = await ask()
    const { approval_id: decidedNow } = await ask()
    await decide(decidedNow, { decision: 'reject' })
    const { approval_id: ended } = await ask()
    await endNow(ended)
    const { approval_id: decidedBefore } = await ask()
    await decide(decidedBefore, { decision: 'reject' })
    await decidedAt(decidedBefore, app.now - 24.1 * 3_600_000)
    expect((await recent()).slice(0, 2)).toEqual([decidedNow, waiting])
    for (const old of [ended, decidedBefore]) expect(await recent()).not.toContain(old)
    expect((await recent('')).slice(0, 4)).toEqual([decidedBefore, ended, decidedNow, waiting])
    expect((await recent('?recent=false')).length).toBe((await recent('')).length)
    await decidedAt(decidedBefore, app.now - 23.9 * 3_600_000)
    expect(await recent()).toContain(decidedBefore)
    await app.expireQuotes()
  })

  test('says the cost that was entered', async () => {
    const asked = async (path: string, body: object) => (await post(path, body, rep.token)).body
    const body = { customer_name: 'Harvest', lanes: [{ ...lane, quoted_rate: 1000, estimated_cost: 850 }] }
    expect((await asked('/api/approvals', body)).lanes).toMatchObject([{ estimated_cost: 850 }])
    expect((await ask()).lanes).toMatchObject([{ estimated_cost: null }])
    const [first] = (await asked('/api/quote-requests', quoted(2000))).lanes
    const again = { quoted_rate: 1100, estimated_cost: 900.5 }
    expect((await asked(`/api/lanes/${first.lane_ref}/approvals`, again)).lanes).toMatchObject([
      { estimated_cost: 900.5 },
    ])
  })

  test('is an event when it is requested, decided and expires', async () => {
    const types = { url: 'https://hooks.example.com/', event_types: ['approval.changed'] }
    expect((await post('/api/event-endpoints', types)).status).toBe(201)
    const { approval_id: id } = await ask()
    await decide(id, { decision: 'counter', rates: [1300] })
    await decide(id, { decision: 'accept', rates: [1300] }, rep.token)
    const { approval_id: late } = await ask()
    await decide(late, { decision: 'approve' }, rep.token)
    await endNow(late)
    const { approval_id: unaccepted } = await ask()
    await decide(unaccepted, { decision: 'counter', rates: [1300] })
    await endNow(unaccepted)
    await app.expireQuotes()
    await app.expireQuotes()
    const events = await app.database.inTenant(tenantId(tenant.id), (transaction) =>
      transaction.selectFrom('events').select(['type', 'about']).orderBy('event_number').execute(),
    )
    const states = events.map(({ type, about }) => {
      const { approval } = about as { approval: { approval_id: number; state: string; email: object } }
      expect([type, approval.email]).toEqual(['approval.changed', expect.any(Object)])
      return [approval.approval_id, approval.state]
    })
    expect(states).toEqual([
      [id, 'waiting'],
      [id, 'countered'],
      [id, 'accepted'],
      [late, 'waiting'],
      [unaccepted, 'waiting'],
      [unaccepted, 'countered'],
      [late, 'expired'],
      [unaccepted, 'expired'],
    ])
  })

  const decidedAt = (id: number, at: number) =>
    app.database.inTenant(tenantId(tenant.id), (transaction) =>
      transaction
        .updateTable('approvals')
        .set({ decided_at: new Date(at) })
        .where('tenant_id', '=', tenant.id)
        .where('approval_id', '=', id)
        .execute(),
    )
  const endNow = (id: number) =>
    app.database.inTenant(tenantId(tenant.id), (transaction) =>
      transaction
        .updateTable('approvals')
        .set({ expires_at: new Date(0) })
        .where('tenant_id', '=', tenant.id)
        .where('approval_id', '=', id)
        .execute(),
    )
})

describe('who decides', () => {
  test('no rep, and nobody about their own request', async () => {
    const { approval_id: id } = await ask()
    expect((await decide(id, { decision: 'approve' }, rep.token)).status).toBe(403)
    const own = await ask(1000, manager.token)
    expect((await decide(own.approval_id, { decision: 'approve' })).body.detail).toContain(
      'their own request',
    )
    expect((await decide(own.approval_id, { decision: 'approve' }, tenant.owner)).status).toBe(200)
  })

  test('the only admin or owner may, and an approver who left may not', async () => {
    const small = await makeTenant(app)
    const leaver = await makePerson(app, small, 'admin')
    // A rep is no approver either.
    await makePerson(app, small, 'member')
    await post(
      '/api/pricing-rules',
      { conditions: {}, terms: { minimum: { rate_per_mile: 2 }, outside: 'approval' } },
      small.owner,
    )
    const { approval_id: id } = await ask(1000, small.owner)
    expect((await decide(id, { decision: 'approve' }, small.owner)).status).toBe(403)
    await call(app, 'DELETE', `/api/users/${leaver.id}?tokens=revoke`, { token: small.owner })
    expect((await decide(id, { decision: 'approve' }, leaver.token)).status).toBe(401)
    expect((await decide(id, { decision: 'approve' }, small.owner)).body.state).toBe('approved')
  })
})

describe('409: no approval makes a quote in the name of a person', () => {
  const decideFor = async (leave: (person: { id: number; token: string }) => Promise<unknown>) => {
    const person = await makePerson(app, tenant, 'member')
    const { approval_id: id } = await ask(1000, person.token)
    const before = await quotesNow()
    await leave(person)
    const { status, body } = await decide(id, { decision: 'approve' })
    expect(await quotesNow()).toBe(before)
    // The request can still be rejected.
    expect((await decide(id, { decision: 'reject' })).body.state).toBe('rejected')
    return [status, body.detail]
  }
  const owner = (method: string, path: string, body: object) =>
    call(app, method, path, { token: tenant.owner, body })

  test.each([
    [
      'who was removed',
      'is not in the brokerage any more',
      ({ id }: { id: number }) => owner('DELETE', `/api/users/${id}?tokens=revoke`, {}),
    ],
    [
      'who may only read now',
      'may not quote any more',
      ({ id }: { id: number }) => owner('PATCH', `/api/users/${id}`, { role: 'viewer' }),
    ],
    [
      'from whom a team now hides the customer',
      'does not see the customer any more',
      async () => {
        await owner('POST', '/api/teams', { name: 'Produce', members: [], customers: ['Harvest'] })
      },
    ],
  ])('%s', async (_who, why, leave) => {
    expect(await decideFor(leave)).toEqual([409, expect.stringContaining(why)])
    const { body } = await call(app, 'GET', '/api/teams', { token: tenant.owner })
    for (const { team_id } of body.teams) await owner('DELETE', `/api/teams/${team_id}`, {})
  })
})

describe('no rep gets a low rate into a quote', () => {
  test('by any way that makes or changes a quote', async () => {
    const before = await quotesNow()
    const fine = await post('/api/quote-requests', quoted(2000), rep.token)
    const ref: string = fine.body.lanes[0].lane_ref
    const asked = await ask(900)
    const csv =
      'Origin,Destination,Equipment,Rate,Status,Date\n"Dallas, TX","Atlanta, GA",V,900,pending,2026-01-01\n'
    const upload = await fetch(`${app.url}/api/imports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rep.token}`, 'content-type': 'text/csv' },
      body: csv,
    })
    const ways = {
      quote: await post('/api/quote-requests', quoted(900), rep.token),
      'one low lane of two': await post(
        '/api/quote-requests',
        {
          customer_name: 'Harvest',
          lanes: [
            { ...lane, quoted_rate: 2000 },
            { ...lane, quoted_rate: 900 },
          ],
        },
        rep.token,
      ),
      'a short distance': await post(
        '/api/quote-requests',
        { customer_name: 'Harvest', lanes: [{ ...lane, quoted_rate: 900, miles: 1 }] },
        rep.token,
      ),
      requote: await post(`/api/lanes/${ref}/requote`, { quoted_rate: 900 }, rep.token),
      'approving it': await decide(asked.approval_id, { decision: 'approve' }, rep.token),
      'accepting without a counter': await decide(asked.approval_id, { decision: 'accept' }, rep.token),
      'changing the rules': await call(app, 'DELETE', '/api/pricing-rules/1', { token: rep.token }),
      'the floors of the settings': await call(app, 'PATCH', '/api/tenant', {
        token: rep.token,
        body: { floors: { rate_per_mile: 0 } },
      }),
      rollback: await post(`/api/lanes/${ref}/rollback`, { change_id: 1 }, rep.token),
      'a push with a session': await post('/api/integrations/quotes', { quotes: [] }, rep.token),
    }
    expect(Object.entries(ways).map(([way, { status }]) => [way, status])).toEqual([
      ['quote', 422],
      ['one low lane of two', 422],
      ['a short distance', 422],
      ['requote', 422],
      ['approving it', 403],
      ['accepting without a counter', 409],
      ['changing the rules', 403],
      ['the floors of the settings', 403],
      ['rollback', 403],
      ['a push with a session', 401],
    ])
    expect(upload.status).toBe(403)
    expect(await quotesNow()).toBe(before + 1)
  })
})

describe('a closed quote at a rate outside the rules', () => {
  const outcome = (ref: string, to: string, token: string) =>
    post(`/api/lanes/${ref}/outcome`, { outcome: to }, token)
  const mark = (ref: string, to: string, token: string) =>
    post('/api/lane-outcomes', { lanes: [{ lane_ref: ref, outcome: to }] }, token)

  test('is not reopened or won by a member, so an old lost quote is no way around approval', async () => {
    const { broker, member, pushed } = await pushedLost()
    for (const to of ['pending', 'won']) {
      const refused = await outcome(pushed, to, member.token)
      expect(refused).toMatchObject({
        status: 422,
        body: { code: 'outside-rules', errors: [{ pointer: '/outcome', code: 'needs-approval' }] },
      })
      const { results } = (await mark(pushed, to, member.token)).body
      expect(results).toMatchObject([
        { status: 409, detail: expect.stringContaining('ask for approval'), lane: { outcome: 'lost' } },
      ])
    }
    expect((await outcome(pushed, 'lost', member.token)).status).toBe(200)
    // An admin may mark it, because an admin could also import it. Others may correct a mistake within a day.
    expect((await outcome(pushed, 'pending', broker.tenant.owner)).status).toBe(200)
    expect((await outcome(pushed, 'lost', member.token)).status).toBe(200)
    expect((await outcome(pushed, 'won', member.token)).status).toBe(200)
  })

  test('can be corrected by a member for a day, and not later', async () => {
    const { broker, member, pushed } = await pushedLost()
    const correct = async (hoursAgo: number) => {
      await outcome(pushed, 'pending', broker.tenant.owner)
      await outcome(pushed, 'lost', broker.tenant.owner)
      await setHoursAgo(broker, 'quote_changes set changed_at', hoursAgo)
      return (await outcome(pushed, 'won', member.token)).status
    }
    expect([await correct(24.1), await correct(23.9)]).toEqual([422, 200])
  })

  test('is reopened if the rules only warn, or if its rate is within them', async () => {
    const { broker, member, pushed } = await pushedLost()
    const warn = { conditions: {}, terms: { minimum: { rate_per_mile: 2 } } }
    await call(app, 'PATCH', '/api/pricing-rules/1', { token: broker.tenant.owner, body: warn })
    expect((await outcome(pushed, 'pending', member.token)).status).toBe(200)
  })

  test('that was voided is not restored by a member after a day, unless it was lost', async () => {
    const { broker, member, pushed } = await pushedLost()
    const { owner } = broker.tenant
    const restore = (token: string) => call(app, 'POST', `/api/lanes/${pushed}/restore`, { token })
    const restoredAfter = async (hours: number) => {
      await post(`/api/lanes/${pushed}/void`, { reason: 'Mistyped rate' }, member.token)
      await setHoursAgo(broker, 'quotes set voided_at', hours)
      return (await restore(member.token)).status
    }
    const lost = await restoredAfter(24.1)
    await outcome(pushed, 'pending', owner)
    expect([lost, await restoredAfter(23.9), await restoredAfter(24.1)]).toEqual([200, 200, 422])
    const refused = await restore(member.token)
    expect(refused.body).toMatchObject({
      code: 'outside-rules',
      detail: expect.stringContaining('ask an admin to restore it'),
      errors: [{ pointer: '/outcome', code: 'needs-approval' }],
    })
    expect(await restore(owner)).toMatchObject({ status: 200, body: { voided_at: null, outcome: 'pending' } })
  })

  /** Sets a time of all rows of a brokerage, as the owner of the tables: the service may not change the history. */
  const setHoursAgo = ({ tenant }: Integration, assigned: string, hours: number) =>
    withDatabaseClient(app.testDatabase.owner, (owner) =>
      asTableOwner(owner, tenant.id, () =>
        owner.query(`update ${assigned} = $1 where tenant_id = $2`, [
          new Date(app.now - hours * 3_600_000),
          tenant.id,
        ]),
      ),
    )

  /** A lost quote that another system pushed, below the minimum, and a member of its brokerage. */
  async function pushedLost() {
    const broker = await makeIntegration(app, 'quotes:write')
    const member = await makePerson(app, broker.tenant, 'member')
    await post(
      '/api/pricing-rules',
      { conditions: {}, terms: { minimum: { rate_per_mile: 2 }, outside: 'approval' } },
      broker.tenant.owner,
    )
    const quote = quoteToPush('old', { quoted_rate: 900, outcome: 'lost' })
    const { body } = await pushSigned(app, broker, pushQuotes, { quotes: [quote] })
    return { broker, member, pushed: body.results[0].lane_ref as string }
  }
})
