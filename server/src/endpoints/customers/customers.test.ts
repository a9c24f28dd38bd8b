import pg from 'pg'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { customerKey } from '#engine/customer-name.ts'
import { call, type Integration, makeIntegration, makeQuote, pushUpdate } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { readVersions } from '../../database/queries/index.ts'
import { tenantId } from '../../database/session/index.ts'

let app: TestApp
let acme: Integration

beforeAll(async () => {
  app = await sharedApp()
})
beforeEach(async () => {
  acme = await makeIntegration(app)
})

const ask = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) =>
  call(app, method, path, { token: acme.tenant.owner, ...(body && { body }) })
const list = async (query = '') => (await ask('GET', `/api/customers/list?${query}`)).body
const record = (name: string) => ask('GET', `/api/customers/record?name=${encodeURIComponent(name)}`)
const decide = (name: string, other: string, decision: 'same' | 'different' | 'open') =>
  ask('POST', '/api/customers/decisions', { name, other, decision })
const merge = (from: string, into: string) => decide(from, into, 'same')
const unmerge = (name: string, other: string) => decide(name, other, 'open')
const quote = (customer: string, outcome: 'won' | 'lost' | 'pending' = 'pending') =>
  makeQuote(app, acme.tenant, { customer, outcome })
const quotesOf = async () =>
  Object.fromEntries(
    (await list()).customers.map(({ name, quotes }: { name: string; quotes: number }) => [name, quotes]),
  )

describe('who is the same customer', () => {
  test('names that differ in case and white space are one customer; any other difference makes another', async () => {
    await quote('Harvest Table Foods', 'won')
    await quote(' HARVEST  Table Foods ', 'lost')
    await quote('Harvest Table Foods', 'won')
    await quote('Harvest Table Foods, Inc.')
    expect(await quotesOf()).toEqual({ 'Harvest Table Foods, Inc.': 1, 'Harvest Table Foods': 3 })
    const { body } = await record('harvest table foods')
    expect(body).toMatchObject({
      customer_id: null,
      tier: null,
      payment_days: null,
      aliases: [],
      totals: { quotes: 3, won: 2, lost: 1, win_rate_pct: 66.7 },
      response: { quotes: 0, median_hours: null },
      trend: { days: 90, recent: { decided: 3, won: 2, win_rate_pct: 66.7 }, before: { decided: 0 } },
      lanes_total: 1,
    })
    expect(body.months).toHaveLength(1)
  })

  test('the customer of the booking takes precedence over the one of the quote', async () => {
    const { lane_ref } = await quote('Broker Portal')
    await pushUpdate(app, acme, { lane_ref, customer_name: 'Harvest', customer_rate: 2000, truck_cost: 1700 })
    expect(await quotesOf()).toEqual({ Harvest: 1 })
    expect((await record('Harvest')).body.totals).toMatchObject({ margin: 300, shipments: 1 })
    expect((await record('Broker Portal')).status).toBe(404)
  })

  test('the database and the engine compute the same key for every name', async () => {
    const names = [
      'Acme',
      '  Acme \u00a0 Foods\u3000',
      'ÉCLAIR ΟΔΟΣ İstanbul ẞ ǅ',
      'Straße & Söhne',
      '\ufeffx\u2003y',
      "O'Neil—Co.",
      'A\tB\nC',
      '𝔸𝔹 田中',
      '\u2028',
    ]
    const client = new pg.Client(app.testDatabase.owner)
    await client.connect()
    const { rows } = await client.query('select customer_key(name) as key from unnest($1::text[]) as name', [
      names,
    ])
    await client.end()
    expect(rows.map(({ key }) => key)).toEqual(names.map(customerKey))
  })
})

describe('tier and payment terms', () => {
  test('are saved, and removed if they are absent', async () => {
    await quote('Harvest')
    const change = async (body: object) =>
      (await ask('PATCH', '/api/customers/record', { name: 'HARVEST', ...body })).body
    expect(await change({ tier: 'A', payment_days: 30 })).toMatchObject({
      name: 'HARVEST',
      tier: 'A',
      payment_days: 30,
    })
    expect(await change({ payment_days: 30 })).toMatchObject({ tier: null, payment_days: 30 })
    expect((await record('Harvest')).body).toMatchObject({ tier: null, payment_days: 30 })
    expect((await list()).customers).toMatchObject([{ payment_days: 30, quotes: 1 }])
  })

  test('a changed tier counts in the statistics of the next request', async () => {
    const quote = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2_000 }
    const made = await ask('POST', '/api/quote-requests', {
      customer_name: 'Harvest',
      lanes: [{ ...quote, estimated_cost: 1_900 }],
    })
    const [{ lane_ref: ref }] = made.body.lanes
    expect((await ask('POST', `/api/lanes/${ref}/outcome`, { outcome: 'lost' })).status).toBe(200)
    const rule = { conditions: { tier: 'A' }, terms: { minimum: { margin_pct: 50 }, outside: 'warn' } }
    expect((await ask('POST', '/api/pricing-rules', rule)).status).toBe(201)
    const [from, to] = [-1, 1].map((days) => new Date(app.now + days * 86_400_000).toISOString())
    const tooLow = async (tier?: string) => {
      if (tier !== undefined) await ask('PATCH', '/api/customers/record', { name: 'Harvest', tier })
      return (await ask('GET', `/api/performance?by=customer&from=${from}&to=${to}`)).body.totals
        .quoted_too_low
    }
    expect([await tooLow(), await tooLow('B'), await tooLow('A'), await tooLow('B')]).toEqual([0, 0, 1, 0])
  })

  test.each([
    [{ name: 'Harvest', tier: '' }, 'tier'],
    [{ name: 'Harvest', tier: 'x'.repeat(41) }, '40'],
    [{ name: 'Harvest', payment_days: 366 }, '365'],
    [{ name: 'Harvest', payment_days: -1 }, '365'],
    [{ name: 'Harvest', payment_days: 1.5 }, 'whole number'],
    [{ name: '', tier: 'A' }, 'name'],
    [{ tier: 'A', payment_days: 1 }, 'name'],
  ])('%j is refused, and creates no customer', async (body, words) => {
    const answer = await ask('PATCH', '/api/customers/record', body)
    expect(answer.status).toBe(422)
    expect(JSON.stringify(answer.body.errors)).toContain(words)
    expect((await record('Harvest')).status).toBe(404)
  })
})

describe('merging', () => {
  test('counts the quotes of both names for one customer everywhere; undoing it after new quotes restores both exactly', async () => {
    await quote('Harvest', 'won')
    await quote('Harvest Inc', 'lost')
    await ask('PATCH', '/api/customers/record', { name: 'Harvest Inc', tier: 'C' })
    await ask('PATCH', '/api/customers/record', { name: 'Harvest', tier: 'A' })
    const merged = await merge('harvest inc', 'HARVEST')
    expect(merged).toMatchObject({
      status: 200,
      body: { name: 'Harvest', tier: 'A', aliases: [{ name: 'Harvest Inc' }] },
    })
    await quote('HARVEST INC', 'won')
    const { lane_ref } = await quote('Harvest')
    expect(await quotesOf()).toEqual({ Harvest: 4 })
    for (const name of ['Harvest', 'Harvest Inc']) {
      expect((await record(name)).body).toMatchObject({ name: 'Harvest', totals: { quotes: 4, won: 2 } })
      const { body } = await ask('GET', `/api/lanes?customer=${encodeURIComponent(name)}`)
      expect(body.lanes).toHaveLength(4)
      // A merge changes no quote.
      expect(body.lanes.map((quote: { customer_name: string }) => quote.customer_name).sort()).toEqual([
        'HARVEST INC',
        'Harvest',
        'Harvest',
        'Harvest Inc',
      ])
    }
    const { body: performance } = await ask('GET', '/api/performance?by=customer')
    expect(performance.rows).toMatchObject([{ key: 'harvest', label: 'Harvest', quotes: 4 }])
    expect((await list('q=inc')).customers).toMatchObject([{ name: 'Harvest', quotes: 4 }])

    const restored = await unmerge('Harvest Inc', 'Harvest')
    expect(restored).toMatchObject({ status: 200, body: { name: 'Harvest Inc', tier: 'C', aliases: [] } })
    expect(await quotesOf()).toEqual({ Harvest: 2, 'Harvest Inc': 2 })
    expect((await record('harvest inc')).body.totals).toMatchObject({ won: 1, lost: 1 })
    expect((await ask('GET', `/api/lanes/${lane_ref}`)).body.customer_name).toBe('Harvest')
    // The undo of the undo.
    await merge('Harvest Inc', 'Harvest')
    expect(await quotesOf()).toEqual({ Harvest: 4 })
  })

  test('and its undo clear what instances have cached of the rules of both customers', async () => {
    await quote('Harvest', 'won')
    await quote('Harvest Inc', 'lost')
    const version = async () =>
      (
        await app.database.inTenant(tenantId(acme.tenant.id), (transaction) =>
          readVersions(transaction, tenantId(acme.tenant.id)),
        )
      ).access
    const before = await version()
    await merge('Harvest Inc', 'Harvest')
    const merged = await version()
    expect(merged).toBeGreaterThan(before)
    await unmerge('Harvest Inc', 'Harvest')
    expect(await version()).toBeGreaterThan(merged)
  })

  test('a customer with merged names takes them along, and brings them back', async () => {
    for (const name of ['One', 'Two', 'Three', 'Four']) await quote(name)
    await merge('One', 'Two')
    await merge('Three', 'Four')
    await merge('Two', 'Four')
    expect(await quotesOf()).toEqual({ Four: 4 })
    expect((await record('One')).body.aliases.map(({ name }: { name: string }) => name)).toEqual([
      'One',
      'Three',
      'Two',
    ])
    await unmerge('Two', 'Four')
    expect(await quotesOf()).toEqual({ Two: 2, Four: 2 })
    await merge('Two', 'Four')
    // In either order, the name that was merged into the other one is restored.
    await unmerge('Two', 'One')
    expect(await quotesOf()).toEqual({ One: 1, Four: 3 })
    await unmerge('Four', 'Two')
    expect(await quotesOf()).toEqual({ One: 1, Two: 1, Four: 2 })
  })

  test('two merges in opposite directions at once leave one of them', async () => {
    await Promise.all([quote('One'), quote('Two')])
    const answers = await Promise.all([merge('One', 'Two'), merge('Two', 'One')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    expect(Object.values(await quotesOf())).toEqual([2])
  })

  test('wrong merges are refused with the reason', async () => {
    await quote('Harvest')
    expect(await merge('Harvest', ' HARVEST ')).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/other' }] },
    })
    await merge('Harvest Inc', 'Harvest')
    const twice = await merge('Harvest', 'Harvest Inc')
    expect(twice).toMatchObject({ status: 422, body: { errors: [{ pointer: '/name' }] } })
    expect(twice.body.detail).toContain('already counts for Harvest')
    const again = await merge('Harvest Inc', 'Other')
    expect(again.status).toBe(422)
    expect(again.body.detail).toContain('already merged into Harvest')
    expect(await unmerge('Harvest', 'Other')).toMatchObject({ status: 404 })
    expect(await unmerge('Nobody', 'Harvest')).toMatchObject({ status: 404 })
    expect(await quotesOf()).toEqual({ Harvest: 1 })
  })
})

describe('renaming', () => {
  const rename = (name: string, new_name: string) => ask('POST', '/api/customers/names', { name, new_name })

  test('keeps the quotes, the terms, the teams and the aliases; undoing it restores the customer', async () => {
    await quote('Harvest', 'won')
    await quote('Harvest Inc')
    await merge('Harvest Inc', 'Harvest')
    await ask('PATCH', '/api/customers/record', { name: 'Harvest', tier: 'A', payment_days: 30 })
    await ask('POST', '/api/teams', { name: 'Produce', customers: ['Harvest'] })
    const after = await rename('harvest', ' Harvest Table Foods ')
    expect(after.body).toMatchObject({ name: 'Harvest Table Foods', tier: 'A', payment_days: 30 })
    expect(after.body.aliases.map(({ name }: { name: string }) => name)).toEqual(['Harvest', 'Harvest Inc'])
    await quote('HARVEST')
    expect(await quotesOf()).toEqual({ 'Harvest Table Foods': 3 })
    expect((await list('q=table')).customers_total).toBe(1)
    const teams = async () => (await ask('GET', '/api/teams')).body.teams[0].customers
    expect(await teams()).toContain('Harvest Table Foods')
    // An alias can become the name again.
    expect((await rename('Harvest Table Foods', 'Harvest')).body).toMatchObject({
      name: 'Harvest',
      tier: 'A',
    })
    expect((await rename('Harvest', 'Harvest Table Foods')).status).toBe(200)
    await unmerge('Harvest', 'Harvest Table Foods')
    expect((await record('Harvest')).body).toMatchObject({ tier: 'A', totals: { quotes: 3 } })
    expect(await quotesOf()).toEqual({ Harvest: 3 })
  })

  test('to an alias is undone by a rename back, which merges the alias again', async () => {
    for (const name of ['Acme', 'Acme Foods', 'Acme Inc']) await quote(name)
    await merge('Acme Foods', 'Acme')
    await merge('Acme Inc', 'Acme')
    expect((await rename('Acme', 'Acme Foods')).body.name).toBe('Acme Foods')
    expect(await quotesOf()).toEqual({ 'Acme Foods': 3 })
    await rename('Acme Foods', 'Acme')
    expect(await quotesOf()).toEqual({ Acme: 3 })
    await unmerge('Acme Foods', 'Acme')
    expect(await quotesOf()).toEqual({ Acme: 2, 'Acme Foods': 1 })
  })

  test('copies the fuel schedule to the new name, and replaces no schedule of that', async () => {
    const file = 'period,series,value\n2026-03-02,EMD_EPD2D_PTE_NUS_DPG,3.6'
    const loaded = await call(app, 'POST', '/api/fuel/diesel-prices', { token: acme.tenant.owner, file })
    expect(loaded.status).toBe(200)
    const schedule = (customer_name: string, base_price: number) =>
      ask('PATCH', '/api/fuel/schedule', {
        customer_name,
        periods: [{ from: '2026-01-01', base_price, miles_per_gallon: 6 }],
      })
    const perMile = async (name: string) => {
      const query = new URLSearchParams({ day: '2026-03-05', miles: '100', customer_name: name })
      return (await ask('GET', `/api/fuel/surcharge?${query}`)).body.per_mile
    }
    await schedule('Harvest', 1.2)
    await rename('HARVEST', 'Harvest Foods')
    expect([await perMile('Harvest'), await perMile('Harvest Foods')]).toEqual([0.4, 0.4])
    const client = new pg.Client(app.testDatabase.service)
    await client.connect()
    await client.query('begin')
    await client.query(`select enter_tenant('${acme.tenant.id}', 2000, 1500, 10000)`)
    const { rows } = await client.query(
      `select mills_per_mile from fuel_days where customer_key = 'harvest foods' and day = '2026-03-05'`,
    )
    await client.end()
    expect(rows).toEqual([{ mills_per_mile: 400 }])
    const { body } = await ask('GET', '/api/audit?group=brokerage')
    expect(JSON.stringify(body.events)).toContain('fuel_schedule of Harvest Foods')
    // A name with a schedule keeps it.
    await schedule('Harvest Group', 2.4)
    await rename('Harvest Foods', 'Harvest Group')
    expect(await perMile('Harvest Group')).toBe(0.2)
  })

  test('to another spelling of the same name replaces it', async () => {
    await quote('harvest foods')
    expect((await rename('Harvest Foods', 'Harvest  Foods')).body).toMatchObject({
      name: 'Harvest  Foods',
      aliases: [],
    })
    expect(await quotesOf()).toEqual({ 'Harvest  Foods': 1 })
  })

  test('to the name of another customer is a merge: the settings of that one apply, and opening the pair restores both', async () => {
    await quote('Harvest')
    await quote('Quoted')
    const terms = (name: string, body: object) => ask('PATCH', '/api/customers/record', { name, ...body })
    await terms('Harvest', { tier: 'A', payment_days: 30 })
    await terms('Tiered', { tier: 'B' })
    await terms('Terms', { payment_days: 10 })
    await ask('POST', '/api/teams', { name: 'Produce', customers: ['In Team'] })
    await merge('Alias', 'With Alias')
    for (const [asked, name, settings] of [
      ['Quoted', 'Quoted', { tier: null, payment_days: null }],
      ['TIERED', 'Tiered', { tier: 'B', payment_days: null }],
      ['Terms', 'Terms', { tier: null, payment_days: 10 }],
      ['In Team', 'In Team', { tier: null, payment_days: null }],
      ['With Alias', 'With Alias', { tier: null, payment_days: null }],
      ['Alias', 'With Alias', { tier: null, payment_days: null }],
    ] as const) {
      const renamed = await rename('Harvest', asked)
      expect(renamed).toMatchObject({ status: 200, body: { name, ...settings } })
      expect((await ask('GET', '/api/teams')).body.teams[0].customers).toEqual(['In Team'])
      expect((await unmerge('Harvest', asked)).body).toMatchObject({
        name: 'Harvest',
        tier: 'A',
        payment_days: 30,
        aliases: [],
      })
      expect((await record(asked)).body).toMatchObject({ name, ...settings })
    }
    expect(await quotesOf()).toEqual({ Harvest: 1, Quoted: 1 })
  })

  test('to a new name can be undone and made again', async () => {
    await ask('PATCH', '/api/customers/record', { name: 'Harvest', tier: 'A', payment_days: 30 })
    for (const _ of ['first', 'again']) {
      expect((await rename('Harvest', 'Harvest Foods')).body).toMatchObject({
        name: 'Harvest Foods',
        tier: 'A',
        payment_days: 30,
      })
      await unmerge('Harvest', 'Harvest Foods')
    }
    expect((await record('Harvest')).body).toMatchObject({ name: 'Harvest', tier: 'A', payment_days: 30 })
  })
})

test('a pair of different customers is offered as such, also after a rename, until it is open again', async () => {
  for (const name of ['Harvest Foods', 'Harvest Foods', 'Harvest Foods, Inc.', 'Quite Another'])
    await quote(name)
  const offered = async () =>
    (await ask('GET', '/api/customers/variants')).body.variants.map(
      ({ decision }: { decision: string }) => decision,
    )
  expect(await offered()).toEqual(['open'])
  for (const _ of ['first', 'again']) {
    const { body } = await decide('Harvest Foods, Inc.', 'HARVEST Foods', 'different')
    expect(body).toMatchObject({ name: 'Harvest Foods, Inc.', aliases: [] })
  }
  expect(await offered()).toEqual(['different'])
  await ask('POST', '/api/customers/names', { name: 'Harvest Foods', new_name: 'The Harvest Foods' })
  expect(await offered()).toEqual(['different'])
  // The pair can be named by the names that the customers have now.
  expect((await decide('The Harvest Foods', 'Harvest Foods, Inc.', 'open')).status).toBe(200)
  expect(await offered()).toEqual(['open'])
  expect((await decide('The Harvest Foods', 'Harvest Foods, Inc.', 'open')).status).toBe(404)
  // Different customers are not merged.
  await merge('Harvest Foods, Inc.', 'The Harvest Foods')
  expect(await offered()).toEqual([])
  await decide('Harvest Foods, Inc.', 'The Harvest Foods', 'different')
  expect(await offered()).toEqual(['different'])
  await quote('Other Foods')
  await quote('Other Foods LLC')
  expect(await offered()).toEqual(['open', 'different'])
})

test('spelling variants are offered, the more quoted customer first, and nothing is merged', async () => {
  for (const name of ['Harvest Table Foods', 'Harvest Table Foods', 'HARVEST TABLE FOODS, INC', 'Other'])
    await quote(name)
  const { body } = await ask('GET', '/api/customers/variants')
  expect(body.variants).toEqual([
    {
      keep: { name: 'Harvest Table Foods', quotes: 2 },
      merge: { name: 'HARVEST TABLE FOODS, INC', quotes: 1 },
      because: 'punctuation',
      decision: 'open',
    },
  ])
  await merge('HARVEST TABLE FOODS, INC', 'Harvest Table Foods')
  expect((await ask('GET', '/api/customers/variants')).body.variants).toEqual([])
})

test('pages of customers continue where the last one ended, in every order', async () => {
  for (const name of ['One', 'Two', 'Two', 'Three']) await quote(name, name === 'One' ? 'won' : 'lost')
  for (const sort of ['quotes', 'win_rate', 'margin', 'last_quoted']) {
    const names: string[] = []
    for (let cursor = ''; ; ) {
      const page = await list(`sort=${sort}&limit=1${cursor}`)
      expect(page.customers_total).toBe(3)
      names.push(...page.customers.map(({ name }: { name: string }) => name))
      if (page.next_cursor === null) break
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
    }
    expect(names.toSorted()).toEqual(['One', 'Three', 'Two'])
    expect(names[0]).toBe(sort === 'win_rate' ? 'One' : 'Two')
  }
  expect((await ask('GET', '/api/customers/list?cursor=x')).status).toBe(422)
})

test('the list can be searched, and is exported with the terms and the other names', async () => {
  await quote('Harvest', 'won')
  await quote('Harvest Inc', 'lost')
  await quote('Polar')
  await ask('PATCH', '/api/customers/record', { name: 'Harvest', tier: '=A', payment_days: 30 })
  await merge('Harvest Inc', 'Harvest')
  const found = await list('q=%20HARVEST%20')
  expect(found).toMatchObject({ customers_total: 1, customers: [{ name: 'Harvest', quotes: 2 }] })
  // The text is only in a merged name.
  expect(await list('q=inc')).toMatchObject({ customers: [{ name: 'Harvest' }] })
  expect(await list('q=nobody')).toMatchObject({ customers: [], customers_total: 0 })
  const last = found.customers[0].last_quoted_at
  expect((await record('Harvest')).body.last_quoted_at).toBe(last)
  const { body: csv } = await ask('GET', '/api/customers/export?sort=last_quoted&order=asc')
  const lines = csv.trim().split('\r\n')
  expect(lines[0]).toMatch(/^Customer,Other names,Tier,Payment days,Last quoted,Quotes,Won,Lost/)
  expect(lines.slice(1).map((line: string) => line.split(',')[0])).toEqual(['Harvest', 'Polar'])
  // A spreadsheet must not read the tier as a formula.
  expect(lines[1]).toContain(`Harvest,Harvest Inc,"'=A",30,${last},2,1,1`)
})

describe('the customer in the estimate', () => {
  const advise = async (customer?: string) => {
    const query = new URLSearchParams({
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      equipment: 'V',
      proposed_rate: '2000',
      include: 'estimate,curve,optimum',
      ...(customer === undefined ? {} : { customer }),
    })
    const path = `/api/integrations/insights/markup?${query}`
    return (await call(app, 'GET', path, { token: acme.token })).body
  }

  test('moves the estimate toward what this customer buys, and leaves the numbers of the interface', async () => {
    const rows = ['Load ID,Customer,Origin,Destination,Equipment,Quoted Rate,Quote Date,Outcome']
    for (let n = 0; n < 160; n++) {
      const buys = n % 2 === 0
      const outcome = n % 10 < 8 === buys ? 'won' : 'lost'
      const city = ['Atlanta, GA', 'Macon, GA', 'Memphis, TN'][n % 3]
      const day = new Date(app.now - (1 + (n % 40)) * 86_400_000).toISOString().slice(0, 10)
      rows.push(
        `L${n},${buys ? 'Buyer Inc' : 'Shopper'},"Dallas, TX","${city}",V,${1950 + (n % 7) * 15},${day},${outcome}`,
      )
    }
    const started = await fetch(`${app.url}/api/imports`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${acme.tenant.owner}`, 'Content-Type': 'text/csv' },
      body: rows.join('\n'),
    })
    const { import_id } = (await started.json()) as { import_id: number }
    await expect.poll(async () => (await ask('GET', `/api/imports/${import_id}`)).body.status).toBe('done')

    const plain = await advise()
    const [buyer, shopper, other] = await Promise.all([
      advise('BUYER  inc'),
      advise('Shopper'),
      advise('New'),
    ])
    expect(plain.estimate.customer).toBeUndefined()
    for (const answer of [buyer, shopper, other]) {
      const { estimate: _, curve: __, optimum: ___, ...interfaceOfIt } = answer
      const { estimate, curve, optimum, ...expected } = plain
      expect(interfaceOfIt).toEqual(expected)
      expect(answer.estimate.customer).toMatchObject({
        differ: true,
        probability_of_all: estimate.probability,
      })
      expect(answer.curve).toHaveLength(curve.length)
      expect(optimum).toBeNull()
    }
    expect(buyer.estimate.customer).toMatchObject({ name: 'BUYER  inc', decided: 80 })
    expect(buyer.estimate.probability).toBeGreaterThan(plain.estimate.probability + 0.1)
    expect(shopper.estimate.probability).toBeLessThan(plain.estimate.probability - 0.1)
    expect(other.estimate.customer).toMatchObject({ decided: 0, won: 0 })

    // A merged name has its customer's effect on the win probability at once.
    await merge('Buyer', 'Buyer Inc')
    const alias = await advise('buyer')
    expect(alias.estimate.customer).toMatchObject({ name: 'Buyer Inc', decided: 80 })
    expect(alias.estimate.probability).toBe(buyer.estimate.probability)
    const { body } = await ask('POST', '/api/advice/lanes', {
      customer: 'Buyer Inc',
      lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2000 }],
    })
    expect(body.results[0].estimate.probability).toBe(buyer.estimate.probability)
  })

  test('is the estimate of all customers where they do not differ', async () => {
    for (const customer of ['One', 'Two']) await makeQuote(app, acme.tenant, { customer, outcome: 'won' })
    const [plain, one] = await Promise.all([advise(), advise('One')])
    expect(one.estimate.customer).toMatchObject({ differ: false })
    expect(one.estimate.probability).toBe(plain.estimate.probability)
    expect(one.estimate.interval_80).toEqual(plain.estimate.interval_80)
  })
})
