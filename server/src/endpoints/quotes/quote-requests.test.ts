import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { gazetteer } from '#geography/gazetteer.ts'
import {
  type Answer,
  call,
  type Integration,
  makeIntegration,
  makePerson,
  makeQuote,
  pushUpdate,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let acme: Integration
let other: Integration
let people: Record<'viewer' | 'member' | 'admin', { id: number; token: string }>
let owner: string

beforeAll(async () => {
  // As a start of the service does: no request waits for the map.
  gazetteer()
  app = await sharedApp()
  ;[acme, other] = await Promise.all([makeIntegration(app), makeIntegration(app)])
  owner = acme.tenant.owner
  people = {
    viewer: await makePerson(app, acme.tenant, 'viewer'),
    member: await makePerson(app, acme.tenant, 'member'),
    admin: await makePerson(app, acme.tenant, 'admin'),
  }
})

const oneQuote = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2150 }
const quote = (lanes: unknown = [oneQuote], more: Record<string, unknown> = {}, token = owner) =>
  call(app, 'POST', '/api/quote-requests', {
    token,
    body: { customer_name: 'Harvest Table Foods', lanes, ...more },
  })
const quoteOf = async (ref: string) => (await call(app, 'GET', `/api/lanes/${ref}`, { token: owner })).body
const changesOf = async (ref: string) =>
  (await call(app, 'GET', `/api/lanes/${ref}/changes`, { token: owner })).body.changes
const setOutcome = (ref: string, body: Record<string, unknown>, token = owner) =>
  call(app, 'POST', `/api/lanes/${ref}/outcome`, { token, body })
const rollback = (ref: string, changeId: unknown, token = owner) =>
  call(app, 'POST', `/api/lanes/${ref}/rollback`, { token, body: { change_id: changeId } })
/** A quote as later reads return it: the warnings about its rate are only in the answer to the quote. */
const withoutWarnings = ({ warnings: _, ...lane }: Record<string, unknown>) => lane
const codeOf = (answer: Answer) => answer.body.type?.replace('/problems/', '')

describe('201', () => {
  test('a repeated request_key answers the first request, and creates nothing', async () => {
    const key = { request_key: randomUUID() }
    const [one, ...others] = await Promise.all([
      quote([oneQuote], key),
      quote([oneQuote], key),
      quote([oneQuote], key),
    ])
    // The order of members does not make another body, nor does a member that changes nothing of the quote.
    const reordered = Object.fromEntries(Object.entries(oneQuote).reverse())
    for (const again of [
      ...others,
      await quote([reordered], { ...key, reference: null, accept_unknown_places: true }),
    ]) {
      expect(again.status).toBe(201)
      expect(again.body).toEqual(one?.body)
    }
    const elsewhere = await quote([oneQuote], key, other.tenant.owner)
    expect(elsewhere.body.request_id).not.toBe(one?.body.request_id)
    expect(codeOf(await quote([oneQuote], { request_key: 'mine' }))).toBe('validation-failed')
  })

  test('a request_key of a different request is 422, names the key and that request, and creates nothing', async () => {
    const key = { request_key: randomUUID() }
    const made = (await quote([oneQuote], key)).body
    const quotes = async () => (await call(app, 'GET', '/api/lanes?limit=1', { token: owner })).body.total
    const before = await quotes()
    for (const [body, more] of [
      [[{ ...oneQuote, quoted_rate: 999 }], {}],
      [[{ ...oneQuote, miles: 800 }], {}],
      [[oneQuote, oneQuote], {}],
      [[oneQuote], { customer_name: 'Another' }],
      [[oneQuote], { reference: 'PO-1' }],
    ] as const) {
      const answer = await quote(body, { ...more, ...key })
      expect([answer.status, codeOf(answer)]).toEqual([422, 'request-key-reused'])
      expect(answer.body.detail).toContain(key.request_key)
      expect(answer.body.detail).toContain(String(made.request_id))
    }
    expect(await quotes()).toBe(before)
    expect((await quote([oneQuote], key)).body).toEqual(made)
  })

  test('a quote request makes its quotes, each pending, with a lane_ref of REQUESTID-LANENUM-COUNT', async () => {
    const { status, body } = await quote(
      [
        oneQuote,
        {
          ...oneQuote,
          equipment: 'R',
          estimated_cost: 1800,
          market_rate: 2000,
          pickup_date: '2026-03-01',
          miles: 781.5,
        },
      ],
      {
        reference: 'RFQ 7',
      },
    )
    expect(status).toBe(201)
    expect(Object.keys(body)).toEqual(['request_id', 'customer_name', 'reference', 'created_at', 'lanes'])
    expect(body).toMatchObject({ customer_name: 'Harvest Table Foods', reference: 'RFQ 7' })
    expect(body.lanes.map((quote: { lane_ref: string }) => quote.lane_ref)).toEqual([
      `${body.request_id}-1-1`,
      `${body.request_id}-2-1`,
    ])
    expect(body.lanes[0]).toMatchObject({
      ...oneQuote,
      request_id: body.request_id,
      customer_rate: null,
      truck_cost: null,
      margin: null,
      margin_pct: null,
      carrier_name: null,
      carrier_notes: null,
      outcome: 'pending',
      outcome_source: null,
      decided_at: null,
      booked_at: null,
    })
    expect(body.lanes[1]).toMatchObject({
      estimated_cost: 1800,
      market_rate: 2000,
      pickup_date: '2026-03-01',
      miles: 781.5,
    })
  })

  test('the request can be read with every quote and requote, for any id', async () => {
    for (let i = 0; i < 12; i++) {
      const { body } = await quote()
      const back = await call(app, 'GET', `/api/quote-requests/${body.request_id}`, {
        token: people.viewer.token,
      })
      const quotes = body.lanes.map(withoutWarnings)
      expect([back.status, back.body]).toEqual([200, { ...body, lanes: quotes }])
    }
  })

  test('a hundred quotes are one request', async () => {
    const { status, body } = await quote(
      Array.from({ length: 100 }, (_, index) => ({ ...oneQuote, quoted_rate: 1000 + index })),
    )
    expect([status, body.lanes.length]).toEqual([201, 100])
    expect(new Set(body.lanes.map((quote: { lane_id: number }) => quote.lane_id)).size).toBe(100)
    expect(body.lanes.at(-1)).toMatchObject({ lane_ref: `${body.request_id}-100-1`, quoted_rate: 1099 })
  })

  test('a requote is a further offer for the load, with the next number; the earlier one changes only in that the last one counts', async () => {
    const quote = await makeQuote(app, acme.tenant, { outcome: 'lost' })
    const answers = await Promise.all(
      [2075, 2050].map((quoted_rate) =>
        call(app, 'POST', `/api/lanes/${quote.lane_ref}/requote`, {
          token: people.member.token,
          body: { quoted_rate },
        }),
      ),
    )
    expect(answers.map(({ body }) => body.lane_ref).sort()).toEqual(
      [2, 3].map((count) => quote.lane_ref.replace(/1$/, String(count))),
    )
    for (const { status, body } of answers) {
      expect(status).toBe(201)
      expect(body).toMatchObject({
        origin: quote.origin,
        destination: quote.destination,
        equipment: quote.equipment,
        outcome: 'pending',
        request_id: quote.request_id,
      })
    }
    const last = quote.lane_ref.replace(/1$/, '3')
    const superseded = { superseded_by: last, updated_at: expect.any(String) }
    expect(await quoteOf(quote.lane_ref)).toEqual({ ...quote, ...superseded })
    expect(await quoteOf(quote.lane_ref.replace(/1$/, '2'))).toMatchObject({ superseded_by: last })
    expect(await quoteOf(last)).toMatchObject({ superseded_by: null })
  })

  test('neither lane_ref nor lane_id tells how many quotes others have made', async () => {
    const ids: number[] = []
    for (let i = 0; i < 10; i++) ids.push((await makeQuote(app, acme.tenant)).lane_id)
    const steps = ids.slice(1).map((id, index) => Math.abs(id - (ids[index] ?? 0)))
    expect(Math.min(...steps)).toBeGreaterThan(1000)
  })
})

describe('200', () => {
  test('an outcome is set with its reason, and repeating it has no effect', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const lost = await setOutcome(quote.lane_ref, { outcome: 'lost', reason: 'price' }, people.member.token)
    expect(lost.body).toMatchObject({
      outcome: 'lost',
      outcome_reason: 'price',
      outcome_source: 'dashboard',
      decided_at: expect.any(String),
    })
    app.now += 5000
    expect((await setOutcome(quote.lane_ref, { outcome: 'lost', reason: 'price' })).body).toEqual(lost.body)
    expect(await changesOf(quote.lane_ref)).toHaveLength(1)
    expect((await setOutcome(quote.lane_ref, { outcome: 'pending' })).body).toMatchObject({
      outcome: 'pending',
      outcome_reason: null,
      decided_at: null,
    })
  })

  test('the change history has old and new values, person and source, newest first', async () => {
    const quote = await makeQuote(app, acme.tenant)
    await setOutcome(quote.lane_ref, { outcome: 'won' }, people.member.token)
    await pushUpdate(app, acme, { lane_ref: quote.lane_ref, customer_rate: 2150.5 })
    const [second, first] = await changesOf(quote.lane_ref)
    expect(Object.keys(first)).toEqual([
      'change_id',
      'source',
      'changed_by',
      'changed_at',
      'before',
      'after',
      'rule',
      'rolled_back_change_id',
    ])
    expect(first).toMatchObject({
      change_id: 1,
      source: 'dashboard',
      changed_by: { user_id: people.member.id, name: 'A member' },
      before: { outcome: 'pending' },
      after: { outcome: 'won' },
    })
    expect(second).toMatchObject({
      change_id: 2,
      source: 'tms',
      changed_by: null,
      before: { customer_rate: null },
      after: { customer_rate: 2150.5 },
    })
  })

  test('a rollback restores the previous values as a new change, and can itself be rolled back', async () => {
    const quote = await makeQuote(app, acme.tenant)
    await pushUpdate(app, acme, {
      lane_ref: quote.lane_ref,
      customer_rate: 2100,
      truck_cost: 1800,
      carrier_name: 'Blue Mesa',
    })
    const booked = await quoteOf(quote.lane_ref)
    app.now += 1000
    const undone = await rollback(quote.lane_ref, 1, people.admin.token)
    expect({ ...undone.body, updated_at: null }).toEqual({ ...withoutWarnings(quote), updated_at: null })
    const redone = await rollback(quote.lane_ref, 2)
    expect({ ...redone.body, updated_at: null }).toEqual({ ...booked, updated_at: null })
    expect(
      (await changesOf(quote.lane_ref)).map(
        (change: { rolled_back_change_id: number | null }) => change.rolled_back_change_id,
      ),
    ).toEqual([2, 1, null])
  })

  test('any change of a long history can be rolled back: an outcome and its time stay together', async () => {
    const quote = await makeQuote(app, acme.tenant)
    for (const outcome of ['won', 'lost', 'pending', 'won', 'pending', 'lost'])
      await setOutcome(quote.lane_ref, { outcome })
    await pushUpdate(app, acme, { lane_ref: quote.lane_ref, customer_rate: 2100 })
    for (const change of [1, 2, 3, 4, 5, 6, 7, 2, 5, 1]) {
      const { status, body } = await rollback(quote.lane_ref, change)
      expect([change, status]).toEqual([change, 200])
      expect(body.outcome === 'pending').toBe(body.decided_at === null)
    }
  })

  test('quotes are listed newest first, in pages without gaps or repeats', async () => {
    const mine = await makeIntegration(app)
    const { body } = await call(app, 'POST', '/api/quote-requests', {
      token: mine.tenant.owner,
      body: { customer_name: 'Pages', lanes: Array.from({ length: 23 }, () => oneQuote) },
    })
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: Answer = await call(
        app,
        'GET',
        `/api/lanes?limit=5${cursor === '' ? '' : `&cursor=${cursor}`}`,
        { token: mine.tenant.owner },
      )
      expect(page.body.lanes.length).toBeLessThanOrEqual(5)
      seen.push(...page.body.lanes.map((quote: { lane_ref: string }) => quote.lane_ref))
      cursor = page.body.next_cursor
    }
    expect(seen).toHaveLength(23)
    expect([...seen].sort()).toEqual(body.lanes.map((quote: { lane_ref: string }) => quote.lane_ref).sort())
  })

  test('lists narrow by outcome, place, equipment, customer, words and time; text is never a pattern', async () => {
    const mine = await makeIntegration(app)
    const start = new Date(app.now).toISOString()
    await makeQuote(app, mine.tenant, { outcome: 'won', origin: 'St. Louis, MO' })
    await makeQuote(app, mine.tenant, { outcome: 'lost', equipment: 'Reefer' })
    const quotesOf = async (query: string) => {
      const { status, body } = await call(app, 'GET', `/api/lanes?${query}`, { token: mine.tenant.owner })
      expect([query, status]).toEqual([query, 200])
      return body.lanes.length
    }
    expect(await quotesOf('outcome=won')).toBe(1)
    expect(await quotesOf('origin=saint%20louis,mo')).toBe(1)
    expect(await quotesOf('equipment=R')).toBe(1)
    expect(await quotesOf('customer=HARVEST%20table%20foods')).toBe(2)
    expect(await quotesOf('q=louis%20harvest')).toBe(1)
    expect(await quotesOf('q=%25')).toBe(0)
    expect(await quotesOf('q=_')).toBe(0)
    expect(await quotesOf('q=%27%20or%201=1%20--')).toBe(0)
    expect(await quotesOf(`from=${start}`)).toBe(2)
    expect(await quotesOf(`to=${start}`)).toBe(0)
  })

  test('shipments are the quotes with a booking, with totals of all of them', async () => {
    const mine = await makeIntegration(app)
    const [one, two, three] = [
      await makeQuote(app, mine.tenant),
      await makeQuote(app, mine.tenant),
      await makeQuote(app, mine.tenant),
    ]
    await pushUpdate(app, mine, { lane_ref: one.lane_ref, customer_rate: 2000, truck_cost: 1500 })
    await pushUpdate(app, mine, { lane_ref: two.lane_ref, customer_rate: 1000 })
    const { body } = await call(app, 'GET', '/api/shipments?limit=1', { token: mine.tenant.owner })
    expect(body.lanes).toHaveLength(1)
    expect(body.totals).toEqual({
      shipments: 2,
      cancelled: 0,
      customer_rate: 3000,
      truck_cost: 1500,
      margin: 500,
      margin_pct: 25,
      shipments_with_margin: 1,
      quoted_margin: 0,
      shipments_with_quoted_margin: 0,
      landed_vs_quoted: 0,
      comparable_shipments: 0,
    })
    const all = await call(app, 'GET', '/api/shipments', { token: mine.tenant.owner })
    expect(all.body.lanes.some((quote: { lane_ref: string }) => quote.lane_ref === three.lane_ref)).toBe(
      false,
    )
  })
})

describe('403', () => {
  test('a viewer only reads; a member quotes and sets outcomes; only an admin rolls back', async () => {
    const made = await makeQuote(app, acme.tenant)
    const refused = [
      await quote([oneQuote], {}, people.viewer.token),
      await setOutcome(made.lane_ref, { outcome: 'won' }, people.viewer.token),
      await call(app, 'POST', `/api/lanes/${made.lane_ref}/requote`, {
        token: people.viewer.token,
        body: { quoted_rate: 1 },
      }),
      await rollback(made.lane_ref, 1, people.viewer.token),
      await rollback(made.lane_ref, 1, people.member.token),
    ]
    for (const answer of refused) expect([answer.status, codeOf(answer)]).toEqual([403, 'role-required'])
    expect((await quote([oneQuote], {}, people.member.token)).status).toBe(201)
    expect((await call(app, 'GET', '/api/lanes', { token: people.viewer.token })).status).toBe(200)
  })
})

describe('404', () => {
  test('another tenant’s quote, request and change are not found, with the same answer as missing ones', async () => {
    const theirs = await makeQuote(app, other.tenant, { outcome: 'won' })
    const bodies = async (ref: string) => {
      const answers = [
        await call(app, 'GET', `/api/lanes/${ref}`, { token: owner }),
        await call(app, 'GET', `/api/lanes/${ref}/changes`, { token: owner }),
        await call(app, 'POST', `/api/lanes/${ref}/requote`, { token: owner, body: { quoted_rate: 1 } }),
        await setOutcome(ref, { outcome: 'lost' }),
        await rollback(ref, 1),
      ]
      expect(answers.map(codeOf)).toEqual(Array(5).fill('lane-not-found'))
      return answers.map(({ body }) => ({ ...body, request_id: '', detail: body.detail.replace(ref, 'REF') }))
    }
    expect(await bodies(theirs.lane_ref)).toEqual(await bodies('1-1-1'))
    expect(codeOf(await call(app, 'GET', `/api/quote-requests/${theirs.request_id}`, { token: owner }))).toBe(
      'not-found',
    )
    const still = await call(app, 'GET', `/api/lanes/${theirs.lane_ref}`, { token: other.tenant.owner })
    expect(still.body).toEqual(theirs)
    const q = await call(app, 'GET', `/api/lanes?q=${theirs.lane_ref}`, { token: owner })
    expect(q.body.lanes).toEqual([])
  })

  test('an odd lane_ref is no quote, and a change that never was cannot be undone', async () => {
    for (const ref of ['x', '1', '-', '%20', '%27', '1-1-1-1', 'a'.repeat(200), '%F0%9F%98%80']) {
      expect([ref, (await call(app, 'GET', `/api/lanes/${ref}`, { token: owner })).status]).toEqual([
        ref,
        404,
      ])
    }
    const quote = await makeQuote(app, acme.tenant)
    expect(codeOf(await rollback(quote.lane_ref, 1))).toBe('not-found')
  })
})

describe('422', () => {
  test('each invalid field of each quote is named', async () => {
    const { status, body } = await quote([
      oneQuote,
      { origin: 'x'.repeat(101), quoted_rate: 0, equipment: 'V' },
    ])
    expect(status).toBe(422)
    expect(body.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual([
      '/lanes/1/destination',
      '/lanes/1/origin',
      '/lanes/1/quoted_rate',
    ])
  })

  test.each(['quoted_rate', 'estimated_cost', 'market_rate', 'miles'])(
    '%s must be a number in range',
    async (field) => {
      for (const value of [-1, -0, 10_000_000, '12', true, [], {}]) {
        const text = Object.is(value, -0) ? '-0' : JSON.stringify(value)
        const response = await fetch(`${app.url}/api/quote-requests`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${owner}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ customer_name: 'x', lanes: [{ ...oneQuote, [field]: '@' }] }).replace(
            '"@"',
            text,
          ),
        })
        expect([text, response.status]).toEqual([text, 422])
      }
    },
  )

  test('1 to 100 quotes, and nothing but quotes', async () => {
    for (const lanes of [[], null, {}, 'x', [null], [1], Array(101).fill(oneQuote)])
      expect((await quote(lanes)).status).toBe(422)
  })

  test('texts with control characters, and texts that are too long', async () => {
    for (const text of ['', ' ', 'a\u0000b', 'a\nb', 'a\u202eb', '\ud800', 'x'.repeat(201), 7]) {
      expect([text, (await quote([oneQuote], { customer_name: text })).status]).toEqual([text, 422])
      expect([text, (await quote([oneQuote], { reference: text })).status]).toEqual([text, 422])
    }
    for (const text of ["O'Brien & Söhne <b>", '=1+1', '田中 🚛', 'a\u2028b']) {
      expect((await quote([oneQuote], { customer_name: text })).body.customer_name).toBe(text)
    }
  })

  test('days and outcomes that do not exist', async () => {
    for (const pickup_date of ['2026-02-30', '03/01/2026', '2026-3-1', '', 20260301]) {
      expect([pickup_date, (await quote([{ ...oneQuote, pickup_date }])).status]).toEqual([pickup_date, 422])
    }
    const made = await makeQuote(app, acme.tenant)
    for (const body of [
      {},
      { outcome: 'maybe' },
      { outcome: 'WON' },
      { outcome: 'won', reason: 'price' },
      { outcome: 'lost', reason: 'mood' },
      { outcome: ['won'] },
    ]) {
      expect([body, (await setOutcome(made.lane_ref, body)).status]).toEqual([body, 422])
    }
    for (const change of [0, -1, 1.5, '1', 2_147_483_648, undefined])
      expect((await rollback(made.lane_ref, change)).status).toBe(422)
  })

  test('invalid cursors', async () => {
    for (const query of [
      'limit=0',
      'limit=201',
      'limit=x',
      'cursor=x',
      'outcome=maybe',
      'from=yesterday',
      'origin=Dallas',
      `cursor=${'9'.repeat(201)}`,
    ]) {
      expect([query, (await call(app, 'GET', `/api/lanes?${query}`, { token: owner })).status]).toEqual([
        query,
        422,
      ])
    }
  })
})
