import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { call, type Integration, makeIntegration, makePerson, makeQuote, pushUpdate } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

type Person = Awaited<ReturnType<typeof makePerson>>

let app: TestApp
let acme: Integration
/** A member of the team Produce, a member of no team, and a viewer. */
let inside: Person
let outside: Person
let viewer: Person

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
const as = (token: string, method: Method, path: string, body?: object) =>
  call(app, method, path, { token, ...(body && { body }) })
const admin = (method: Method, path: string, body?: object) => as(acme.tenant.owner, method, path, body)
const secret = 'Secret Shipper'
const open = 'Open Shipper'
const team = (change: object) => admin('PATCH', '/api/teams/1', change)

beforeEach(async () => {
  acme = await makeIntegration(app)
  inside = await makePerson(app, acme.tenant, 'member')
  outside = await makePerson(app, acme.tenant, 'member')
  viewer = await makePerson(app, acme.tenant, 'viewer')
})

/** A quote of a hidden customer and one of a visible customer, and a team that hides the first. */
async function hidden() {
  const [ours, theirs] = [
    await makeQuote(app, acme.tenant, { customer: secret, outcome: 'won' }),
    await makeQuote(app, acme.tenant, { customer: open, outcome: 'lost' }),
  ]
  const made = await admin('POST', '/api/teams', {
    name: 'Produce',
    members: [inside.id],
    customers: [secret.toUpperCase()],
  })
  expect(made.status).toBe(201)
  return { ours: ours.lane_ref as string, theirs: theirs.lane_ref as string }
}

test('concurrent changes of a team are all answered, and the last one counts', async () => {
  await hidden()
  const members = [[inside.id], [inside.id, outside.id], [outside.id, viewer.id]]
  const answers = await Promise.all(
    [...members, ...members].map((ids) => team({ members: ids, customers: [secret, open] })),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const { body } = await admin('GET', '/api/teams')
  const held = body.teams[0].members.map(({ id }: { id: number }) => id).sort()
  expect(members.map((ids) => ids.toSorted())).toContainEqual(held)
})

test('changes of different parts of a team at once do not wait for each other for ever', async () => {
  await hidden()
  for (let round = 0; round < 5; round++) {
    // New customers are locked until the commit.
    const names = Array.from({ length: 8 }, (_, nth) => `New Shipper ${round} ${nth}`)
    const changes = [
      { customers: names },
      { name: `Grain ${round}`, customers: names.toReversed() },
      { members: [outside.id] },
      { members: [inside.id], customers: names },
    ]
    const answers = await Promise.all(changes.map((change) => team(change)))
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200))
  }
})

/** Every read of the dashboard that shows quotes or names of customers. */
const reads = (ref: string) => {
  const lane = 'origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=V'
  return [
    '/api/lanes',
    '/api/lanes?q=secret',
    `/api/lanes?customer=${secret}`,
    '/api/lanes/export',
    '/api/shipments',
    '/api/shipments/export',
    `/api/lanes/${ref}`,
    `/api/lanes/${ref}/changes`,
    `/api/quote-requests/${ref.split('-')[0]}`,
    '/api/customers',
    '/api/customers/list',
    '/api/customers/export',
    '/api/customers/variants',
    `/api/customers/record?name=${secret}`,
    '/api/performance?by=customer',
    '/api/performance/export?by=customer',
    `/api/performance?by=month&customer=${secret}`,
    '/api/performance/margin-gaps',
    `/api/lanes/record?${lane}`,
    `/api/advice/markup?${lane}&proposed_rate=2000&include=evidence,estimate`,
    '/api/fuel',
  ]
}

async function text(token: string, path: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${app.url}${path}`, { headers: { Authorization: `Bearer ${token}` } })
  return { status: answer.status, text: (await answer.text()).toLowerCase() }
}

/** The answers that reveal the hidden customer or its quote. Repeating a name of the request does not count. */
async function leaks(token: string, ref: string): Promise<string[]> {
  const found: string[] = []
  for (const path of reads(ref)) {
    const answer = await text(token, path)
    const says = answer.text.includes('secret shipper') || answer.text.includes(`"${ref}"`)
    if (says && answer.status === 200) found.push(path)
  }
  return found
}

describe('a customer of a team', () => {
  test('stays hidden when the TMS books its quote under another name, and in the file of forecasts', async () => {
    const { ours } = await hidden()
    const booking = { lane_ref: ours, customer_rate: 2100, customer_name: 'Paying Company' }
    expect((await pushUpdate(app, acme, booking)).status).toBe(200)
    expect((await as(inside.token, 'GET', `/api/lanes/${ours}`)).status).toBe(200)
    expect((await as(outside.token, 'GET', `/api/lanes/${ours}`)).status).toBe(404)
    expect(await leaks(outside.token, ours)).toEqual([])
    const forecasts = async (token: string) => (await text(token, '/api/forecasts/export')).text
    const { lane_ref: forecast } = await makeQuote(app, acme.tenant, { customer: secret })
    expect(await forecasts(inside.token)).toContain(forecast)
    expect(await forecasts(outside.token)).not.toContain(forecast)
  })

  test('is in no request for approval and no pricing rule of others, who can neither ask for it nor decide', async () => {
    await hidden()
    const conditions = { customer: secret }
    await admin('POST', '/api/pricing-rules', {
      conditions,
      terms: { minimum: { margin_pct: 50 }, outside: 'approval' },
    })
    const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
    const quote = { customer_name: secret, lanes: [{ ...lane, quoted_rate: 1000, estimated_cost: 900 }] }
    const asked = await as(inside.token, 'POST', '/api/approvals', quote)
    expect(asked.status).toBe(201)
    for (const path of ['/api/approvals', '/api/pricing-rules']) {
      expect((await text(inside.token, path)).text).toContain('secret shipper')
      expect((await text(outside.token, path)).text).not.toContain('secret shipper')
      expect((await text(outside.token, path)).status).toBe(200)
    }
    expect((await as(outside.token, 'POST', '/api/approvals', quote)).body.code).toBe('customer-hidden')
    const decision = `/api/approvals/${asked.body.approval_id}/decision`
    expect((await as(outside.token, 'POST', decision, { decision: 'withdraw' })).status).toBe(404)
  })

  test('has no pricing rule that others can read by typing its name', async () => {
    await hidden()
    const rule = { conditions: { customer: secret }, terms: { minimum: { margin_pct: 37 } } }
    expect((await admin('POST', '/api/pricing-rules', rule)).status).toBe(201)
    const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
    const query = new URLSearchParams({
      ...lane,
      proposed_rate: '2000',
      estimated_cost: '1500',
      include: 'rules',
    })
    const rulesFor = async (token: string, customer: string) => {
      query.set('customer', customer)
      return (await as(token, 'GET', `/api/advice/markup?${query}`)).body.rules
    }
    const unknown = await rulesFor(outside.token, 'Unknown Shipper')
    for (const { token } of [outside, viewer]) expect(await rulesFor(token, secret)).toEqual(unknown)
    for (const token of [inside.token, acme.tenant.owner]) {
      expect(JSON.stringify(await rulesFor(token, secret))).toContain('37')
    }
  })

  test('does not break a requote or a repeated key of others, whose errors say nothing about it', async () => {
    await hidden()
    const key = '0b5c5c5e-7b1a-4a43-8f0c-2f6d5f1f9a11'
    const quote = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2000 }
    const ask = (token: string, customer_name: string) =>
      as(token, 'POST', '/api/quote-requests', { customer_name, request_key: key, lanes: [quote] })
    expect((await ask(inside.token, secret)).status).toBe(201)
    const reused = await ask(outside.token, open)
    expect(reused).toMatchObject({ status: 422, body: { code: 'request-key-reused' } })
    const first = await makeQuote(app, acme.tenant, { customer: open })
    const second = await admin('POST', `/api/lanes/${first.lane_ref}/requote`, { quoted_rate: 1900 })
    // Without an amount, so that the load is not won.
    const booking = { lane_ref: second.body.lane_ref, customer_name: secret }
    expect((await pushUpdate(app, acme, booking)).status).toBe(200)
    const requote = await as(outside.token, 'POST', `/api/lanes/${first.lane_ref}/requote`, {
      quoted_rate: 1950,
    })
    expect(requote).toMatchObject({ status: 409, body: { code: 'state-conflict' } })
    for (const { body } of [reused, requote]) {
      expect(body.detail.toLowerCase()).not.toMatch(/secret|quote request \d|\d-\d-\d/)
    }
    expect(
      (await as(inside.token, 'POST', `/api/lanes/${first.lane_ref}/requote`, { quoted_rate: 1950 })).status,
    ).toBe(201)
  })

  test('is in no page, list, export or search of others, and in all of its members and of admins', async () => {
    const { ours } = await hidden()
    expect(await leaks(outside.token, ours)).toEqual([])
    expect(await leaks(viewer.token, ours)).toEqual([])
    for (const { token } of [inside, { token: acme.tenant.owner }]) {
      expect((await leaks(token, ours)).length).toBeGreaterThan(10)
    }
    // What everybody sees is unchanged.
    const { body } = await as(outside.token, 'GET', '/api/lanes')
    expect(body.lanes.map((quote: { customer_name: string }) => quote.customer_name)).toEqual([open])
    // A service token sees all quotes.
    const all = await call(app, 'GET', '/api/integrations/quotes', { token: acme.token })
    expect(all.body.quotes).toHaveLength(2)
  })

  test('cannot be changed or quoted by others', async () => {
    const { ours, theirs } = await hidden()
    const won = { outcome: 'won' }
    expect((await as(outside.token, 'POST', `/api/lanes/${ours}/outcome`, won)).status).toBe(404)
    expect((await as(outside.token, 'POST', `/api/lanes/${theirs}/outcome`, won)).status).toBe(200)
    expect((await as(outside.token, 'POST', `/api/lanes/${ours}/requote`, { quoted_rate: 1 })).status).toBe(
      404,
    )
    const marked = await as(outside.token, 'POST', '/api/lane-outcomes', {
      lanes: [{ lane_ref: ours, outcome: 'lost' }],
    })
    expect(marked.body.results[0].status).toBe(404)
    const quote = {
      customer_name: ' secret  SHIPPER',
      lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2000 }],
    }
    const refused = await as(outside.token, 'POST', '/api/quote-requests', quote)
    expect(refused).toMatchObject({ status: 403, body: { code: 'customer-hidden' } })
    expect((await as(inside.token, 'POST', '/api/quote-requests', quote)).status).toBe(201)
    expect((await as(outside.token, 'GET', '/api/imports')).body.code).toBe('customer-hidden')
    expect((await as(inside.token, 'GET', '/api/imports')).status).toBe(200)
  })

  test('counts in the win probability of everybody: the book is that of the brokerage', async () => {
    await hidden()
    const path =
      '/api/advice/markup?origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=V&proposed_rate=2000'
    // The first to ask opens the book.
    const seen = await as(outside.token, 'GET', path)
    const all = await admin('GET', path)
    expect(seen.body.win_probability).toBe(all.body.win_probability)
    await makeQuote(app, acme.tenant, { customer: secret, outcome: 'won' })
    const [later, later2] = [await as(outside.token, 'GET', path), await admin('GET', path)]
    expect(later.body).toEqual(later2.body)
  })

  test('with a merged name is hidden with all its names, and comes back with an unmerge', async () => {
    await hidden()
    await makeQuote(app, acme.tenant, { customer: 'Secret Alias' })
    const names = async () =>
      (await as(outside.token, 'GET', '/api/customers/list')).body.customers
        .map(({ name }: { name: string }) => name)
        .sort()
    expect(await names()).toEqual([open, 'Secret Alias'])
    await admin('POST', '/api/customers/decisions', { name: 'Secret Alias', other: secret, decision: 'same' })
    expect(await names()).toEqual([open])
    await admin('POST', '/api/customers/decisions', { name: 'Secret Alias', other: secret, decision: 'open' })
    expect(await names()).toEqual([open, 'Secret Alias'])
  })
})

describe('who is in a team', () => {
  const sees = async (token: string, ref: string) =>
    (await as(token, 'GET', `/api/lanes/${ref}`)).status === 200

  test('without members, only admins see its customers; a removed team opens them', async () => {
    const { ours } = await hidden()
    await team({ members: [] })
    expect(await sees(inside.token, ours)).toBe(false)
    expect(await sees(acme.tenant.owner, ours)).toBe(true)
    const { body } = await admin('DELETE', '/api/teams/1')
    expect(body.teams).toEqual([])
    expect(await sees(outside.token, ours)).toBe(true)
  })

  test('a customer in several teams is seen by the members of each; a member that is removed sees it no more', async () => {
    const { ours } = await hidden()
    await admin('POST', '/api/teams', { name: 'Texas', members: [outside.id], customers: [secret] })
    expect([
      await sees(inside.token, ours),
      await sees(outside.token, ours),
      await sees(viewer.token, ours),
    ]).toEqual([true, true, false])
    await team({ members: [viewer.id] })
    expect([
      await sees(inside.token, ours),
      await sees(outside.token, ours),
      await sees(viewer.token, ours),
    ]).toEqual([false, true, true])
    await admin('DELETE', `/api/users/${viewer.id}`)
    const { body } = await admin('GET', '/api/teams')
    expect(body.teams[0]).toMatchObject({ name: 'Produce', members: [], customers: [secret.toUpperCase()] })
  })

  test('a team that pricing rules name is removed only after them', async () => {
    await hidden()
    const rule = (conditions: object) =>
      admin('POST', '/api/pricing-rules', { conditions, terms: { minimum: { margin_pct: 12 } } })
    const { body: naming } = await rule({ team_id: 1, equipment: 'V' })
    await rule({ equipment: 'R' })
    const refused = await admin('DELETE', '/api/teams/1')
    expect(refused).toMatchObject({ status: 409, body: { code: 'state-conflict' } })
    expect(refused.body.detail).toBe(
      `Pricing rules name the team Produce: rule ${naming.rule_id} (team Produce, equipment V). Change or remove them first. Nothing was changed.`,
    )
    expect((await admin('GET', '/api/teams')).body.teams).toMatchObject([
      { name: 'Produce', members: [{ id: inside.id }] },
    ])
    await admin('DELETE', `/api/pricing-rules/${naming.rule_id}`)
    expect((await admin('DELETE', '/api/teams/1')).body.teams).toEqual([])
  })

  test('wrong teams are refused with the reason, and change nothing', async () => {
    await hidden()
    expect((await admin('POST', '/api/teams', { name: ' Produce ' })).status).toBe(422)
    expect((await admin('POST', '/api/teams', { name: '' })).status).toBe(422)
    expect((await team({})).status).toBe(422)
    const unknown = await team({ name: 'Renamed', members: [inside.id, 987_654] })
    expect(unknown.status).toBe(422)
    expect(unknown.body.errors).toMatchObject([{ pointer: '/members/1' }])
    expect((await admin('PATCH', '/api/teams/99', { name: 'x' })).status).toBe(404)
    expect((await as(inside.token, 'GET', '/api/teams')).status).toBe(403)
    expect((await admin('GET', '/api/teams')).body.teams).toMatchObject([{ name: 'Produce' }])
  })
})

describe('with one of the two mechanisms off', () => {
  const owner = async (statement: string) => {
    const client = new pg.Client(app.testDatabase.owner)
    await client.connect()
    const { rows } = await client.query<{ table: string; condition: string }>(statement)
    await client.end()
    return rows
  }
  const tables = ['quotes', 'quote_requests', 'customers']

  test('the conditions of the queries hide the customer without the policies', async () => {
    const { ours } = await hidden()
    const isOwn = "tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer"
    const conditions = await owner(`
      select relname as table, pg_get_expr(polqual, polrelid) as condition
      from pg_policy join pg_class on pg_class.oid = polrelid
      where polname = 'tenant_isolation' and relname = any ('{${tables.join(', ')}}')`)
    for (const table of tables)
      await owner(`alter policy tenant_isolation on ${table} using (${isOwn}) with check (${isOwn})`)
    try {
      expect(await leaks(outside.token, ours)).toEqual([])
    } finally {
      for (const { table, condition } of conditions)
        await owner(
          `alter policy tenant_isolation on ${table} using (${condition}) with check (${condition})`,
        )
    }
    expect(await leaks(outside.token, ours)).toEqual([])
  })

  test('the policies hide the quotes from a query without conditions', async () => {
    await hidden()
    const client = new pg.Client(app.testDatabase.service)
    await client.connect()
    const names = async (person: number | null) => {
      await client.query('begin')
      await client.query(`select enter_tenant('${acme.tenant.id}', 2000, 1500, 10000)`)
      if (person !== null) await client.query('select enter_person($1)', [person])
      const { rows } = await client.query('select customer_key from quotes order by 1')
      await client.query('rollback')
      return rows.map(({ customer_key }) => customer_key)
    }
    expect(await names(outside.id)).toEqual(['open shipper'])
    expect(await names(inside.id)).toEqual(['open shipper', 'secret shipper'])
    expect(await names(null)).toEqual(['open shipper', 'secret shipper'])
    await client.end()
  })

  test('a plan that PostgreSQL made for another person shows nothing: it is refused', async () => {
    await hidden()
    const client = new pg.Client(app.testDatabase.service)
    await client.connect()
    const enter = async (person: number | null) => {
      await client.query('begin')
      await client.query(`select enter_tenant('${acme.tenant.id}', 2000, 1500, 10000)`)
      if (person !== null) await client.query('select enter_person($1)', [person])
    }
    const refusal = { message: 'This plan hides the customers of another person.' }
    // Without parameters, PostgreSQL plans a prepared statement once.
    await enter(null)
    await client.query('prepare kept as select customer_key from quotes order by 1')
    expect((await client.query('execute kept')).rows).toHaveLength(2)
    await client.query('rollback')
    await enter(outside.id)
    await expect(client.query('execute kept')).rejects.toMatchObject(refusal)
    await client.query('rollback')
    await client.query('deallocate kept')
    await enter(outside.id)
    await client.query('prepare kept as select customer_key from quotes order by 1')
    expect((await client.query('execute kept')).rows).toEqual([{ customer_key: 'open shipper' }])
    await client.query('rollback')
    await enter(null)
    await expect(client.query('execute kept')).rejects.toMatchObject(refusal)
    await client.query('rollback')
    // With parameters, a person's transaction plans the statement again, even if others prepared it.
    await client.query(
      'prepare asked (integer) as select customer_key from quotes where tenant_id = $1 order by 1',
    )
    for (const [person, names] of [
      ...Array.from({ length: 8 }, () => [null, 2] as const),
      [outside.id, 1] as const,
      [inside.id, 2] as const,
      [outside.id, 1] as const,
    ]) {
      await enter(person)
      expect((await client.query(`execute asked (${acme.tenant.id})`)).rows).toHaveLength(names)
      await client.query('rollback')
    }
    await client.end()
  })

  test('the names that a connection holds are those of the teams now, and of this brokerage', async () => {
    await hidden()
    const client = new pg.Client(app.testDatabase.service)
    await client.connect()
    const names = async (tenant: number, person: number) => {
      await client.query('begin')
      await client.query(`select enter_tenant('${tenant}', 2000, 1500, 10000)`)
      await client.query('select enter_person($1)', [person])
      const { rows } = await client.query('select customer_key from quotes order by 1')
      await client.query('rollback')
      return rows.map(({ customer_key }) => customer_key)
    }
    const other = await makeIntegration(app)
    await makeQuote(app, other.tenant, { customer: secret })
    for (const customers of [[secret], [open], [secret, open]]) {
      expect((await team({ customers })).status).toBe(200)
      const rest = [open, secret]
        .filter((name) => !customers.includes(name))
        .map((name) => name.toLowerCase())
      expect(await names(acme.tenant.id, outside.id)).toEqual(rest)
      expect(await names(acme.tenant.id, outside.id)).toEqual(rest)
      expect(await names(other.tenant.id, outside.id)).toEqual(['secret shipper'])
      expect(await names(acme.tenant.id, inside.id)).toEqual(['open shipper', 'secret shipper'])
    }
    await client.end()
  })
})
