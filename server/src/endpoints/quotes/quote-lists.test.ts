import { beforeAll, describe, expect, test } from 'vitest'
import { readPlace } from '#engine/place.ts'
import { insertImport, insertRequests, type NewQuote } from '#server/database/queries/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { lanePlaces } from '#server/quotes/index.ts'
import { call, type MadeTenant, makePerson, makeServiceToken, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let acme: MadeTenant
let rep: { id: number; token: string }

const [dallas, atlanta] = [readPlace('Dallas, TX'), readPlace('Atlanta, GA')]
if (dallas === null || atlanta === null) throw new Error('No place.')
const corridor = {
  ...lanePlaces(dallas, atlanta, null),
  equipment: 'V',
  equipment_code: 'V',
  quoted_rate_cents: 200_000,
  estimated_cost_cents: null,
  market_rate_cents: null,
  pickup_date: null,
} satisfies NewQuote

interface Request {
  readonly customer?: string
  readonly reference?: string
  readonly by?: number
  readonly at?: number
  readonly importId?: number
  readonly lanes: readonly Partial<NewQuote>[]
}

/** Inserts quotes without validation, including ties and nulls. */
async function insert(tenant: MadeTenant, requests: readonly Request[]): Promise<void> {
  const id = tenantId(tenant.id)
  await app.database.inTenant(id, (transaction) =>
    insertRequests(
      transaction,
      id,
      app.database.identifiers,
      requests.map((request) => ({
        customerName: request.customer ?? 'Harvest Table Foods',
        reference: request.reference ?? null,
        createdBy: request.by ?? 1,
        createdAt: new Date(request.at ?? app.now),
        importId: request.importId ?? null,
        quotes: request.lanes.map((quote) => ({ ...corridor, ...quote })),
      })),
    ),
  )
}

const booked = (customerRateCents: number | null, truckCostCents: number | null, bookedAt?: number) => ({
  outcome: 'won' as const,
  outcome_source: 'tms' as const,
  decided_at: new Date(app.now),
  customer_rate_cents: customerRateCents,
  truck_cost_cents: truckCostCents,
  truck_cost_source: truckCostCents === null ? null : ('tms' as const),
  carrier_name: 'Blue Mesa',
  booked_at: bookedAt === undefined ? null : new Date(bookedAt),
})

interface ShownQuote {
  readonly lane_ref: string
  readonly lane_id: number
  readonly [field: string]: unknown
}

/** All pages of a list concatenated, and the totals of the first page. */
async function walk(path: string, token: string) {
  const quotes: ShownQuote[] = []
  const totals: (number | null)[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const next: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { status, body } = await call(app, 'GET', `${path}${next}`, { token })
    expect([path, status]).toEqual([path, 200])
    quotes.push(...body.lanes)
    totals.push(body.total)
    cursor = body.next_cursor
  }
  return { lanes: quotes, totals }
}

beforeAll(async () => {
  app = await sharedApp()
  acme = await makeTenant(app)
  rep = await makePerson(app, acme, 'member')
  const hour = 3_600_000
  // Few distinct values, so that in every order, quotes with equal keys are on both sides of a page boundary.
  const quotes = Array.from({ length: 60 }, (_, n) => ({
    quoted_rate_cents: 200_000 + (n % 3) * 5_000,
    estimated_cost_cents: n % 4 === 1 ? null : 180_000,
    ...(n % 2 === 0
      ? {}
      : booked(
          n % 5 === 0 ? null : 201_000 + (n % 3) * 1_000,
          n % 7 === 0 ? null : 170_000 + (n % 2) * 5_000,
          n % 3 === 0 ? undefined : app.now - (n % 4) * hour,
        )),
    ...(n % 6 === 0
      ? {
          outcome: 'lost' as const,
          outcome_reason: n % 12 === 0 ? ('price' as const) : ('service' as const),
          outcome_source: 'dashboard' as const,
          decided_at: new Date(app.now),
        }
      : {}),
  }))
  await insert(
    acme,
    Array.from({ length: 12 }, (_, n) => ({
      customer: ['Zephyr Éclairs', 'acme paper', 'Acme Paper', 'Brook & Sons'][n % 4] ?? '',
      reference: `RFQ ${n}`,
      by: n % 3 === 0 ? rep.id : 1,
      at: app.now - (n % 4) * hour,
      lanes: quotes.slice(n * 5, n * 5 + 5),
    })),
  )
})

type Key = (quote: ShownQuote) => string | number | null
const rate: Key = (quote) => Number(quote.customer_rate ?? quote.quoted_rate)
const margin: Key = (quote) => quote.margin as number | null
const orders: readonly [string, Key, 1 | -1][] = [
  ['newest', (quote) => String(quote.created_at), -1],
  ['oldest', (quote) => String(quote.created_at), 1],
  ['updated', (quote) => String(quote.updated_at), -1],
  ['rate_high', rate, -1],
  ['rate_low', rate, 1],
  ['margin_high', margin, -1],
  ['margin_low', margin, 1],
  ['customer', (quote) => String(quote.customer_name).toLowerCase(), 1],
  ['booked', (quote) => quote.booked_at as string | null, -1],
]

function inOrder(quotes: readonly ShownQuote[], key: Key, direction: 1 | -1): ShownQuote[] {
  return quotes.toSorted((one, other) => {
    const [a, b] = [key(one), key(other)]
    if (a === b) return direction * (one.lane_id - other.lane_id)
    if (a === null) return 1
    if (b === null) return -1
    return a < b ? -direction : direction
  })
}

describe('200', () => {
  test.each(orders)(
    'the pages of sort %s have every quote once, also those with equal or unknown values',
    async (...order) => {
      const [sort, key, direction] = order
      for (const path of sort === 'booked' ? ['/api/shipments'] : ['/api/lanes', '/api/shipments']) {
        const whole = (await call(app, 'GET', `${path}?limit=200`, { token: acme.owner })).body.lanes
        const { lanes: quotes, totals } = await walk(`${path}?sort=${sort}&limit=7`, acme.owner)
        expect(quotes.map((quote) => quote.lane_ref)).toEqual(
          inOrder(whole, key, direction).map((quote) => quote.lane_ref),
        )
        expect(totals).toEqual([whole.length, ...Array(totals.length - 1).fill(null)])
      }
    },
  )

  test('a cursor works for names of any length and script', async () => {
    const mine = await makeTenant(app)
    const names = Array.from({ length: 6 }, (_, n) => `${'🚛'.repeat(199)}${n}`)
    await insert(
      mine,
      names.map((customer) => ({ customer, lanes: [{}] })),
    )
    const { lanes: quotes } = await walk('/api/lanes?sort=customer&limit=1', mine.owner)
    expect(quotes.map((quote) => quote.customer_name)).toEqual(names)
  })

  test('lists can be filtered by rep and by loss reason', async () => {
    const of = async (query: string) => (await walk(`/api/lanes?limit=50&${query}`, acme.owner)).lanes
    const all = await of('')
    const byRep = await of(`quoted_by=${rep.id}`)
    expect(byRep).toHaveLength(20)
    expect(byRep).toEqual(all.filter((quote) => (quote.quoted_by as { user_id: number }).user_id === rep.id))
    const price = await of('reason=price')
    expect(price).toEqual(all.filter((quote) => quote.outcome_reason === 'price'))
    expect(price.length).toBeGreaterThan(0)
    expect(await of('quoted_by=999')).toEqual([])
  })

  test('words match in any case and any field, but not across fields', async () => {
    const found = async (q: string) =>
      (await call(app, 'GET', `/api/lanes?q=${encodeURIComponent(q)}`, { token: acme.owner })).body.total
    expect(await found('ÉCLAIRS')).toBe(15)
    expect(await found('blue MESA')).toBe(30)
    expect(await found('TXAtlanta')).toBe(0)
    expect(await found('brook dallas')).toBe(15)
  })

  test('a word finds a quote by the reference of its request, in any case', async () => {
    await insert(acme, [{ customer: 'Referenced', reference: 'PO_77-81', lanes: [{}, {}] }])
    const found = async (words: string) =>
      (await call(app, 'GET', `/api/lanes?q=${encodeURIComponent(words)}`, { token: acme.owner })).body.total
    expect(await found('po_77-81')).toBe(2)
    expect(await found('referenced PO_77')).toBe(2)
    expect([await found('PO-77-81'), await found('po_77-81 elsewhere')]).toEqual([0, 0])
  })

  test('pending_days selects pending quotes of at least this age, and counts them', async () => {
    const mine = await makeTenant(app)
    const dayMs = 86_400_000
    await insert(mine, [
      { customer: 'Old', at: app.now - 7 * dayMs, lanes: [{}, booked(null, 1)] },
      { customer: 'Older', at: app.now - 30 * dayMs, lanes: [{}] },
      { customer: 'New', at: app.now - 7 * dayMs + 60_000, lanes: [{}] },
    ])
    const customers = async (query: string) => {
      const { body } = await call(app, 'GET', `/api/lanes?sort=oldest&${query}`, { token: mine.owner })
      return [body.total, ...body.lanes.map((quote: ShownQuote) => quote.customer_name)]
    }
    expect(await customers('pending_days=7')).toEqual([2, 'Older', 'Old'])
    expect(await customers('pending_days=8&outcome=pending')).toEqual([1, 'Older'])
    expect((await customers('pending_days=6'))[0]).toBe(3)
  })

  test('a quote has its rep and its request; an imported quote has no rep', async () => {
    const mine = await makeTenant(app)
    const made = await call(app, 'POST', '/api/quote-requests', {
      token: mine.owner,
      body: {
        customer_name: 'Harvest Table Foods',
        reference: 'RFQ 7',
        lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2100 }],
      },
    })
    // Only the answer to the quote has warnings.
    const [{ warnings: _, ...quote }] = made.body.lanes
    const quotedBy = { user_id: 1, name: 'Olive Quay' }
    expect(quote).toMatchObject({
      quoted_by: quotedBy,
      reference: 'RFQ 7',
      quoted_customer_name: 'Harvest Table Foods',
      truck_cost_source: null,
    })
    const id = tenantId(mine.id)
    const run = await app.database.inTenant(id, (transaction) =>
      insertImport(transaction, id, {
        file_name: 'quotes.csv',
        dry_run: false,
        columns: {},
        ignoredColumns: [],
        bytes_total: 1,
        created_by: 1,
      }),
    )
    await insert(mine, [{ customer: 'Imported', importId: run.import_id, lanes: [booked(210_000, 170_000)] }])
    const { body } = await call(app, 'GET', '/api/lanes?q=imported', { token: mine.owner })
    expect(body.lanes[0]).toMatchObject({ quoted_by: null, truck_cost_source: 'tms' })
    const byOwner = await call(app, 'GET', '/api/lanes?quoted_by=1', { token: mine.owner })
    expect(byOwner.body.lanes).toEqual([quote])
  })

  test('a service token reads shipments as a person does, its own brokerage’s only', async () => {
    const asRead = (await call(app, 'GET', '/api/shipments?limit=3&sort=booked', { token: acme.owner })).body
    const path = '/api/integrations/shipments/search?limit=3&sort=booked'
    const token = await makeServiceToken(app, acme.owner)
    expect((await call(app, 'GET', path, { token })).body).toEqual(asRead)
    const strange = await makeServiceToken(app, (await makeTenant(app)).owner)
    expect((await call(app, 'GET', path, { token: strange })).body).toMatchObject({ lanes: [], total: 0 })
    expect((await call(app, 'GET', path, { token: acme.owner })).status).toBe(401)
  })

  test('the totals of shipments report what they cover', async () => {
    const { body } = await call(app, 'GET', '/api/shipments?limit=3', { token: acme.owner })
    const { lanes: quotes } = await walk('/api/shipments?limit=50', acme.owner)
    const sum = (amounts: (number | null)[]) =>
      Math.round(100 * amounts.reduce<number>((total, amount) => total + (amount ?? 0), 0)) / 100
    const margins = quotes.map((quote) => quote.margin as number | null)
    const quoted = quotes.map((quote) => {
      const expected = quote.expected_cost as { amount: number } | null
      const cost = (quote.estimated_cost as number | null) ?? expected?.amount ?? null
      return cost === null ? null : Number(quote.quoted_rate) - cost
    })
    const known = (amounts: (number | null)[]) => amounts.filter((amount) => amount !== null).length
    const both = margins.map((amount, n) => {
      const was = quoted[n] ?? null
      return amount === null || was === null ? null : amount - was
    })
    expect(body.totals).toMatchObject({
      shipments: quotes.length,
      margin: sum(margins),
      shipments_with_margin: known(margins),
      quoted_margin: sum(quoted),
      shipments_with_quoted_margin: known(quoted),
      landed_vs_quoted: sum(both),
      comparable_shipments: known(both),
    })
    expect(known(both)).toBeGreaterThan(0)
    expect(known(both)).toBeLessThan(known(margins))
  })

  test('a cursor of another brokerage gives access to one’s own quotes only', async () => {
    const other = await makeTenant(app)
    await insert(other, [{ customer: 'Theirs', lanes: [{}, {}] }])
    const page = await call(app, 'GET', '/api/lanes?limit=5', { token: acme.owner })
    const { body } = await call(app, 'GET', `/api/lanes?cursor=${page.body.next_cursor}`, {
      token: other.owner,
    })
    for (const quote of body.lanes) expect(quote.customer_name).toBe('Theirs')
    const theirs = await call(app, 'GET', '/api/lanes?q=theirs', { token: acme.owner })
    expect([theirs.body.lanes, theirs.body.total]).toEqual([[], 0])
  })
})

describe('422', () => {
  test('a cursor of another sort order, and an invalid cursor', async () => {
    const page = await call(app, 'GET', '/api/lanes?sort=rate_high&limit=5', { token: acme.owner })
    const text = (position: unknown) => Buffer.from(JSON.stringify(position)).toString('base64url')
    const refused = [
      `cursor=${page.body.next_cursor}`,
      `sort=rate_low&cursor=${page.body.next_cursor}`,
      `cursor=${text(['newest', '2026-02-30T00:00:00.000000Z', 1])}`,
      `cursor=${text(['newest', '2026-03-01', 1])}`,
      `cursor=${text(['newest', 5, 1])}`,
      `cursor=${text(['newest', null])}`,
      `cursor=${text(['newest', null, 1.5])}`,
      `cursor=${text({ 0: 'newest' })}`,
      `sort=rate_high&cursor=${text(['rate_high', '1; drop table quotes', 1])}`,
      `sort=customer&cursor=${text(['customer', 'a\0', 1])}`,
      'cursor=WyJ',
      'sort=mood',
      'sort=booked',
      'reason=mood',
      'quoted_by=0',
      'quoted_by=x',
      'pending_days=0',
      'pending_days=366',
      'pending_days=7&outcome=won',
    ]
    for (const query of refused) {
      const { status } = await call(app, 'GET', `/api/lanes?${query}`, { token: acme.owner })
      expect([query, status]).toEqual([query, 422])
    }
    const odd = text(['newest', '2199-01-01T00:00:00.000000Z', Number.MAX_SAFE_INTEGER])
    expect((await call(app, 'GET', `/api/lanes?cursor=${odd}`, { token: acme.owner })).status).toBe(200)
  })
})
