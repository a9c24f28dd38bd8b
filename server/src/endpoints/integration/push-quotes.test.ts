import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyKeysMaxOf } from '#contract/body-keys.ts'
import { chargesPerAmountMax, pushedItemsMax, unknownPlacesLookedUpMax } from '#contract/limits.ts'
import { checkQuotes, pushOutcomes, pushQuotes } from '#contract/push-quotes.ts'
import { appOn } from '#testing/app-on-database.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makePerson,
  pushSigned,
  pushUpdate,
  quoteToPush,
  signedHeaders,
} from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
/** The clock of the rate limits moves 200 ms with each look: no call is refused, and the 15 s of a push are enough for 500 items. */
let elapsedMs = 0
beforeAll(async () => {
  app = await testApp({ monotonic: () => (elapsedMs += 200) })
})
afterAll(() => app.close())

const everything = 'integrations:write quotes:write'
const seconds = () => Math.floor(app.now / 1000)

const push = (ours: Integration, quotes: readonly unknown[], at = seconds()) =>
  pushSigned(app, ours, pushQuotes, { quotes }, at)
const decide = (ours: Integration, outcomes: readonly unknown[], at = seconds()) =>
  pushSigned(app, ours, pushOutcomes, { outcomes }, at)

async function quoteOf({ tenant }: Integration, laneRef: string) {
  return (await call(app, 'GET', `/api/lanes/${laneRef}`, { token: tenant.owner })).body
}

/** Pushes one quote and returns its result. */
async function pushOne(ours: Integration, one: object, at = seconds()) {
  const { status, body } = await push(ours, [one], at)
  expect(status).toBe(200)
  return body.results[0]
}

describe('413', () => {
  const charges = Array.from({ length: chargesPerAmountMax }, (_, nth) => ({
    name: `charge ${nth}`,
    amount: 1,
  }))
  const full = (nth: number) => ({
    ...quoteToPush(`K-${nth}`),
    miles: 781,
    estimated_cost: 1820,
    quoted_basis: 'all_in',
    quoted_fuel: 100,
    quoted_charges: charges,
    quoted_currency: 'USD',
    rep_name: 'Dana Reyes',
    quoted_at: '2026-01-05T10:00:00Z',
    valid_until: '2026-01-06T10:00:00Z',
    rate_type: 'spot',
    pickup_date: '2026-01-08',
    outcome: 'lost',
    outcome_reason: 'price',
    decided_at: '2026-01-05T15:00:00Z',
  })
  const quotes = Array.from({ length: pushedItemsMax }, (_, nth) => full(nth))

  test('500 quotes with every field and the most charges are taken', async () => {
    const ours = await makeIntegration(app, everything)
    const { status, body } = await pushSigned(app, ours, checkQuotes, { quotes }, seconds())
    expect([status, body.results.length]).toEqual([200, pushedItemsMax])
    expect(new Set(body.results.map((one: { status: number }) => one.status))).toEqual(new Set([200]))
  })

  test('a body with more keys than the largest valid one and its unknown fields is refused, and nothing changes', async () => {
    const ours = await makeIntegration(app, everything)
    const most = bodyKeysMaxOf(pushQuotes)
    const unknown = Object.fromEntries(Array.from({ length: most }, (_, nth) => [`x${nth}`, 1]))
    const { status, body } = await push(ours, [full(0), { ...full(1), extra: unknown }])
    expect([status, body.code, body.title]).toEqual([413, 'body-too-large', 'Body is too large'])
    expect(body.errors).toEqual([
      {
        pointer: '/quotes/1/extra',
        code: 'too-many-keys',
        detail: `The body must have at most ${most.toLocaleString('en-US')} keys in all objects together; the first one too many is in /quotes/1/extra. Leave out unknown fields, or send several smaller bodies.`,
      },
    ])
    const { body: stored } = await call(app, 'GET', '/api/integrations/quotes', { token: ours.token })
    expect(stored.quotes).toEqual([])
  })
})

describe('200', () => {
  test('a new external_id creates a quote, with results in the order of the request', async () => {
    const ours = await makeIntegration(app, everything)
    const { status, body } = await push(ours, [
      quoteToPush('A-1', {
        estimated_cost: 1820.5,
        rep_name: 'Somebody Else',
        quoted_at: '2026-01-05T10:00:00Z',
        valid_until: '2026-01-06T10:00:00Z',
        rate_type: 'spot',
        pickup_date: '2026-01-08',
        outcome: 'lost',
        outcome_reason: 'price',
        decided_at: '2026-01-05T15:00:00Z',
      }),
      quoteToPush('A-2', { origin: '75201', equipment: "53' dry van" }),
    ])
    expect(status).toBe(200)
    expect(body).toMatchObject({ created: 2, updated: 0, unchanged: 0, failed: 0 })
    expect(
      body.results.map(({ external_id, result }: Record<string, string>) => [external_id, result]),
    ).toEqual([
      ['A-1', 'created'],
      ['A-2', 'created'],
    ])
    const [first, second] = await Promise.all(
      body.results.map(({ lane_ref }: { lane_ref: string }) => quoteOf(ours, lane_ref)),
    )
    expect(first).toMatchObject({
      lane_id: body.results[0].lane_id,
      external_id: 'A-1',
      quoted_rate: 2150,
      estimated_cost: 1820.5,
      rep_name: 'Somebody Else',
      quoted_by: null,
      customer_name: 'Harvest Table Foods',
      created_at: '2026-01-05T10:00:00.000Z',
      valid_until: '2026-01-06T10:00:00.000Z',
      rate_type: 'spot',
      pickup_date: '2026-01-08',
      outcome: 'lost',
      outcome_reason: 'price',
      outcome_source: 'tms',
      decided_at: '2026-01-05T15:00:00.000Z',
    })
    expect(second).toMatchObject({
      origin: 'Dallas, TX',
      equipment: 'V',
      outcome: 'pending',
      decided_at: null,
    })
    expect(second.miles).toBeGreaterThan(700)
  })

  test('can be checked first: the same results, and nothing is stored', async () => {
    const ours = await makeIntegration(app, everything)
    await push(ours, [quoteToPush('K-1')])
    const quotes = [
      quoteToPush('K-1', { quoted_rate: 2300 }),
      quoteToPush('K-2'),
      quoteToPush('K-3', { origin: 'Dallas, ZZ' }),
    ]
    const { status, body } = await pushSigned(app, ours, checkQuotes, { quotes }, seconds() + 1)
    expect(status).toBe(200)
    const pushed = await push(ours, quotes, seconds() + 1)
    const { lane_ref: _, lane_id: __, ...created } = pushed.body.results[1]
    expect(created.result).toBe('created')
    expect(body).toEqual({ ...pushed.body, results: pushed.body.results.with(1, created) })
  })

  test('the same body again changes nothing, whether it is signed again or not', async () => {
    const ours = await makeIntegration(app, everything)
    const quotes = [quoteToPush('B-1', { outcome: 'won' }), quoteToPush('B-2')]
    const made = await push(ours, quotes)
    const saved = await Promise.all(
      made.body.results.map((one: { lane_ref: string }) => quoteOf(ours, one.lane_ref)),
    )
    for (const at of [seconds(), seconds() + 30]) {
      const { body } = await push(ours, quotes, at)
      expect(body).toMatchObject({ created: 0, updated: 0, unchanged: 2, failed: 0 })
      expect(body.results.map((one: { lane_ref: string }) => one.lane_ref)).toEqual(
        made.body.results.map((one: { lane_ref: string }) => one.lane_ref),
      )
    }
    expect(
      await Promise.all(made.body.results.map((one: { lane_ref: string }) => quoteOf(ours, one.lane_ref))),
    ).toEqual(saved)
  })

  test('a known external_id is updated: present values replace, absent and null ones change nothing', async () => {
    const ours = await makeIntegration(app, everything)
    const { lane_ref } = await pushOne(ours, quoteToPush('C-1', { estimated_cost: 1800 }))
    const updated = await pushOne(ours, {
      external_id: 'C-1',
      origin: 'Chicago, IL',
      destination: 'Memphis, TN',
      quoted_rate: 1900,
      customer_name: null,
    })
    expect(updated).toMatchObject({ result: 'updated', lane_ref })
    const quote = await quoteOf(ours, lane_ref)
    expect(quote).toMatchObject({
      origin: 'Chicago, IL',
      destination: 'Memphis, TN',
      quoted_rate: 1900,
      estimated_cost: 1800,
      customer_name: 'Harvest Table Foods',
    })
    // The quote is found under its new places, and the history names what changed.
    const record = await call(app, 'GET', '/api/lane-record?origin=Chicago,%20IL&destination=Memphis,%20TN', {
      token: ours.tenant.owner,
    })
    expect(record.body.points.map((one: { lane_ref: string }) => one.lane_ref)).toEqual([lane_ref])
    const { body } = await call(app, 'GET', `/api/lanes/${lane_ref}/changes`, { token: ours.tenant.owner })
    expect(body.changes[0]).toMatchObject({
      source: 'tms',
      before: { origin: 'Dallas, TX', quoted_rate: 2150 },
      after: { origin: 'Chicago, IL', quoted_rate: 1900 },
    })
    expect(Object.keys(body.changes[0].after)).not.toContain('origin_key')
  })

  test('a rollback of a pushed change restores the quote, and a push that was signed before does not undo it', async () => {
    const ours = await makeIntegration(app, everything)
    const { lane_ref } = await pushOne(ours, quoteToPush('D-1'), seconds() - 60)
    await pushOne(ours, quoteToPush('D-1', { origin: 'Chicago, IL', quoted_rate: 1900 }), seconds() - 50)
    const rolledBack = await call(app, 'POST', `/api/lanes/${lane_ref}/rollback`, {
      token: ours.tenant.owner,
      body: { change_id: 1 },
    })
    expect(rolledBack.body).toMatchObject({ origin: 'Dallas, TX', quoted_rate: 2150 })
    const late = await pushOne(ours, quoteToPush('D-1', { origin: 'Chicago, IL' }), seconds() - 40)
    expect(late).toMatchObject({
      result: 'unchanged',
      kept: expect.arrayContaining(['origin', 'quoted_rate']),
    })
    expect(await quoteOf(ours, lane_ref)).toMatchObject({ origin: 'Dallas, TX', quoted_rate: 2150 })
  })

  test('a rep who is a person of the brokerage, by name or e-mail address, gets the quote', async () => {
    const ours = await makeIntegration(app, everything)
    const person = await makePerson(app, ours.tenant, 'member')
    const refs = []
    for (const rep_name of ['a MEMBER', person.email.toUpperCase(), 'Nobody'])
      refs.push((await pushOne(ours, quoteToPush(`E-${rep_name}`, { rep_name }))).lane_ref)
    const quotes = await Promise.all(refs.map((ref) => quoteOf(ours, ref)))
    expect(quotes.map((quote) => quote.quoted_by)).toEqual([
      { user_id: person.id, name: 'A member' },
      { user_id: person.id, name: 'A member' },
      null,
    ])
  })

  test('deliveries in any order, repeated, end in the state of signed order', { tags: 'long' }, async () => {
    const ours = await makeIntegration(app, everything)
    const start = seconds() - 200
    const versions = [
      { quoted_rate: 2000, outcome: 'pending' },
      { quoted_rate: 2100, estimated_cost: 1700 },
      { outcome: 'lost', outcome_reason: 'price', decided_at: '2026-01-02T00:00:00Z' },
      { outcome: 'lost', decided_at: '2026-01-02T00:00:00Z' },
      { estimated_cost: 1750, customer_name: 'Second Customer' },
      { outcome: 'won', decided_at: '2026-01-03T00:00:00Z', rate_type: 'contract' },
    ]
    // Each signed ten seconds after the one before.
    const deliver = (id: string, nth: number) =>
      push(ours, [quoteToPush(id, { quoted_at: '2026-01-01', ...versions[nth] })], start + 10 * nth)
    let runs = 0
    const stateOf = async (order: readonly number[]) => {
      const id = `F-${runs++}`
      let ref = ''
      for (const nth of order) ref = (await deliver(id, nth)).body.results[0].lane_ref
      const { lane_ref, lane_id, request_id, external_id, created_at, updated_at, ...state } = await quoteOf(
        ours,
        ref,
      )
      return state
    }
    const expected = await stateOf([0, 1, 2, 3, 4, 5])
    expect(expected).toMatchObject({ quoted_rate: 2150, outcome: 'won', rate_type: 'contract' })
    const orders = fc.sample(
      fc
        .array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 })
        .chain((repeats) =>
          fc.shuffledSubarray([0, 1, 2, 3, 4, 5, ...repeats], { minLength: 6 + repeats.length }),
        ),
      { numRuns: 8, seed: 11 },
    )
    for (const order of orders) {
      app.now += 2_000
      expect(await stateOf(order)).toEqual(expected)
    }
  })

  test('an invalid item does not affect the others, and its result names the fields', async () => {
    const ours = await makeIntegration(app, everything)
    const { body } = await push(ours, [
      quoteToPush('G-1', { quoted_rate: -5 }),
      quoteToPush('G-2'),
      { external_id: 'G-3', quoted_rate: 900 },
      quoteToPush('G-2', { quoted_rate: 1 }),
      'text',
      quoteToPush('G-4', { destination: undefined }),
      quoteToPush('G-5', { outcome: 'won', outcome_reason: 'price' }),
      quoteToPush('G-6', { quoted_at: '2199-01-01' }),
      quoteToPush('G-7', { valid_until: '2026-01-01', quoted_at: '2026-01-02' }),
      quoteToPush('G-8', { origin: 'Dallas' }),
      quoteToPush('', {}),
      { ...quoteToPush('G-9'), lane_ref: '1-1-1' },
    ])
    expect(body).toMatchObject({ created: 2, failed: 10 })
    const pointers = body.results.map((one: { errors?: { pointer: string }[] }) =>
      one.errors?.map(({ pointer }) => pointer),
    )
    expect(pointers).toEqual([
      ['/quoted_rate'],
      undefined,
      ['/origin', '/destination', '/equipment', '/customer_name'],
      ['/external_id'],
      [''],
      ['/destination'],
      ['/outcome_reason'],
      ['/quoted_at'],
      ['/valid_until'],
      ['/origin'],
      ['/external_id'],
      undefined,
    ])
    expect(body.results[3]).toMatchObject({ external_id: 'G-2', detail: expect.stringContaining('item 1') })
    expect((await quoteOf(ours, body.results[1].lane_ref)).quoted_rate).toBe(2150)
  })

  test('external_ids of 200 characters, in every script, are saved exactly', async () => {
    const ours = await makeIntegration(app, everything)
    const ids = ['x'.repeat(200), 'Ünïcödé-№ 7', '日本語-42', 'عرض ١٢', '😀'.repeat(50), ' A', 'a']
    const { body } = await push(
      ours,
      ids.map((id) => quoteToPush(id)),
    )
    expect(body.created).toBe(ids.length)
    const quotes = await Promise.all(
      body.results.map((one: { lane_ref: string }) => quoteOf(ours, one.lane_ref)),
    )
    expect(quotes.map((quote) => quote.external_id)).toEqual(ids)
  })

  test('500 quotes with long values fit into one call, and count as five requests', async () => {
    // With the real limit, which counts each hundred items after the first.
    const limited = await appOn(app.testDatabase, { secretKeys: [app.secretKey], rateLimit: 'real' })
    const ours = await makeIntegration(limited, everything)
    const long = 'é'.repeat(200)
    const quotes = Array.from({ length: 500 }, (_, nth) =>
      quoteToPush(`${nth}-${'x'.repeat(190)}`, {
        customer_name: long,
        rep_name: long,
        padding: 'p'.repeat(3_000),
      }),
    )
    const { status, body } = await pushSigned(limited, ours, pushQuotes, { quotes })
    await limited.close()
    expect(body.results.find((one: { status: number }) => one.status !== 200)).toBeUndefined()
    expect(status).toBe(200)
    expect(body).toMatchObject({ created: 500, failed: 0 })
  })

  test('concurrent pushes of the same quotes create each once', async () => {
    const ours = await makeIntegration(app, everything)
    const quotes = Array.from({ length: 20 }, (_, nth) => quoteToPush(`H-${nth}`))
    const answers = await Promise.all([1, 2, 3, 4].map(() => push(ours, quotes)))
    expect(answers.map(({ body }) => body.created).sort()).toEqual([0, 0, 0, 20])
    const { body } = await call(app, 'GET', '/api/lanes', { token: ours.tenant.owner })
    expect(body.total).toBe(20)
  })

  test('an external_id is found by the search of the dashboard', async () => {
    const ours = await makeIntegration(app, everything)
    await push(ours, [quoteToPush('TMS-10442'), quoteToPush('TMS-99999')])
    const { body } = await call(app, 'GET', '/api/lanes?q=tms-104', { token: ours.tenant.owner })
    expect(body.lanes.map((quote: { external_id: string }) => quote.external_id)).toEqual(['TMS-10442'])
  })

  test('the external_id of another brokerage is unknown here', async () => {
    const [ours, theirs] = [await makeIntegration(app, everything), await makeIntegration(app, everything)]
    await push(theirs, [quoteToPush('X-1')])
    const { body } = await decide(ours, [{ external_id: 'X-1', outcome: 'won' }])
    expect(body.results[0]).toMatchObject({ status: 404, external_id: 'X-1' })
    expect((await push(ours, [quoteToPush('X-1')])).body.created).toBe(1)
  })
})

describe('outcomes', () => {
  test('by external_id or lane_ref, with reason and time; an unknown quote is a 404 of its item', async () => {
    const ours = await makeIntegration(app, everything)
    const { body: made } = await push(ours, [quoteToPush('J-1'), quoteToPush('J-2')])
    const { status, body } = await decide(ours, [
      { external_id: 'J-1', outcome: 'lost', outcome_reason: 'service', decided_at: '2026-01-02T00:00:00Z' },
      { lane_ref: made.results[1].lane_ref, outcome: 'won' },
      { external_id: 'not sent yet', outcome: 'won' },
    ])
    expect(status).toBe(200)
    expect(body).toMatchObject({ updated: 2, unchanged: 0, failed: 1 })
    expect(body.results[2]).toMatchObject({ status: 404, external_id: 'not sent yet' })
    expect(await quoteOf(ours, made.results[0].lane_ref)).toMatchObject({
      outcome: 'lost',
      outcome_reason: 'service',
      decided_at: '2026-01-02T00:00:00.000Z',
    })
    expect(await quoteOf(ours, made.results[1].lane_ref)).toMatchObject({
      outcome: 'won',
      outcome_source: 'tms',
    })
    expect((await decide(ours, [{ external_id: 'J-2', outcome: 'won' }])).body).toMatchObject({
      unchanged: 1,
    })
  })

  test('that change a quote without a booking are not reported as not applied', async () => {
    const ours = await makeIntegration(app, everything)
    const { lane_ref } = await pushOne(ours, quoteToPush('M-1'))
    for (const outcome of ['lost', 'won', 'pending']) {
      app.now += 1_000
      const { body } = await decide(ours, [{ lane_ref, outcome }])
      expect(body.results[0].result).toBe('updated')
      expect(body.results[0]).not.toHaveProperty('kept')
    }
  })

  test('an outcome that a person set later is not replaced', async () => {
    const ours = await makeIntegration(app, everything)
    const { lane_ref } = await pushOne(ours, quoteToPush('K-1'), seconds() - 60)
    await call(app, 'POST', `/api/lanes/${lane_ref}/outcome`, {
      token: ours.tenant.owner,
      body: { outcome: 'won' },
    })
    const { body } = await decide(ours, [{ lane_ref, outcome: 'lost' }], seconds() - 30)
    expect(body.results[0]).toMatchObject({ result: 'unchanged', kept: ['outcome'] })
    expect(await quoteOf(ours, lane_ref)).toMatchObject({ outcome: 'won', outcome_source: 'dashboard' })
  })

  test('of a booked quote apply when the booking is cancelled, whichever arrives first', async () => {
    const ours = await makeIntegration(app, everything)
    const { body: made } = await push(ours, [quoteToPush('L-1'), quoteToPush('L-2')])
    const [first, second] = made.results.map((one: { lane_ref: string }) => one.lane_ref)
    await decide(ours, [{ lane_ref: first, outcome: 'lost', decided_at: '2026-01-02T00:00:00Z' }])
    for (const lane_ref of [first, second]) await pushUpdate(app, ours, { lane_ref, customer_rate: 2150 })
    const { body } = await decide(ours, [
      { lane_ref: second, outcome: 'lost', decided_at: '2026-01-02T00:00:00Z' },
    ])
    expect(body.results[0].kept).toEqual(['outcome', 'decided_at'])
    for (const ref of [first, second]) expect((await quoteOf(ours, ref)).outcome).toBe('won')
    app.now += 2_000
    for (const lane_ref of [first, second]) await pushUpdate(app, ours, { lane_ref, cancelled: true })
    for (const ref of [first, second])
      expect(await quoteOf(ours, ref)).toMatchObject({
        outcome: 'lost',
        decided_at: '2026-01-02T00:00:00.000Z',
      })
  })
})

describe('403', () => {
  test('pushing quotes needs the scope quotes:write', async () => {
    const ours = await makeIntegration(app)
    const { status, body } = await push(ours, [quoteToPush('M-1')])
    expect(status).toBe(403)
    expect(body).toMatchObject({
      code: 'insufficient-scope',
      detail: expect.stringContaining('quotes:write'),
    })
  })
})

describe('401', () => {
  test('a signature of one endpoint is not valid for another', async () => {
    const ours = await makeIntegration(app, everything)
    const body = { quotes: [quoteToPush('N-1')], outcomes: [], lane_ref: '1-1-1' }
    const asOutcomes = { ...pushOutcomes, path: pushQuotes.path }
    expect((await pushSigned(app, ours, asOutcomes, body)).status).toBe(200)
    const bytes = JSON.stringify(body)
    for (const address of [null, { method: 'POST', path: pushOutcomes.path }] as const) {
      const answer = await fetch(`${app.url}${pushQuotes.path}`, {
        method: 'POST',
        headers: signedHeaders(ours, bytes, seconds(), address as never),
        body: bytes,
      })
      expect(answer.status).toBe(401)
      await answer.arrayBuffer()
    }
  })
})

describe('422', () => {
  test('an empty list, and more than 500 quotes', async () => {
    const ours = await makeIntegration(app, everything)
    for (const quotes of [[], Array.from({ length: 501 }, (_, nth) => quoteToPush(`${nth}`))]) {
      const { status, body } = await push(ours, quotes)
      expect(status).toBe(422)
      expect(body.errors[0].pointer).toBe('/quotes')
    }
  })
})

test('a decision before its quote is refused, and one on the date of the quote is not', async () => {
  const ours = await makeIntegration(app, 'integrations:write quotes:write')
  const quoted_at = '2026-01-03T15:00:00Z'
  const times = ['2026-01-03T14:59:59Z', '2026-01-02', '2026-01-03', quoted_at]
  const { body } = await pushSigned(
    app,
    ours,
    pushQuotes,
    {
      quotes: times.map((decided_at, at) =>
        quoteToPush(`D-${at}`, { quoted_at, outcome: 'lost', decided_at }),
      ),
    },
    Math.floor(app.now / 1000),
  )
  expect(body.results.map(({ status }: { status: number }) => status)).toEqual([422, 422, 200, 200])
  expect(body.results[0].errors).toMatchObject([
    { pointer: '/decided_at', detail: expect.stringContaining('must not be before quoted_at') },
  ])
})

test('a correction before its quote has a code that a program can tell from a wrong field', async () => {
  const ours = await makeIntegration(app, 'integrations:write quotes:write')
  const { body } = await pushSigned(
    app,
    ours,
    pushQuotes,
    {
      quotes: [{ external_id: 'LATE-1', quoted_rate: 2000 }, quoteToPush('WRONG-1', { quoted_rate: 'much' })],
    },
    Math.floor(app.now / 1000),
  )
  const codes = body.results.map(({ errors }: { errors: { code: string }[] }) =>
    errors.map(({ code }) => code),
  )
  expect(new Set(codes[0])).toEqual(new Set(['quote-not-found']))
  expect(codes[1]).toEqual(['invalid'])
})

describe('a place that is not known', () => {
  const dalas = { parameter: 'origin', sent: 'Dalas, TX', closest: ['Dallas, TX'] }
  const named = ({ body }: Awaited<ReturnType<typeof push>>) =>
    body.results.map((one: { unknown_places?: unknown }) => one.unknown_places)

  test('is stored as sent and reported with its item, in a check, when it is new, and each time it is sent', async () => {
    const ours = await makeIntegration(app, everything)
    const quotes = [
      quoteToPush('P-1', { origin: 'Dalas, TX' }),
      quoteToPush('P-2'),
      quoteToPush('P-3', { origin: 'dalas , tx', destination: 'Qqville, GA' }),
    ]
    const places = [
      [dalas],
      undefined,
      [
        { ...dalas, sent: 'dalas , tx' },
        { parameter: 'destination', sent: 'Qqville, GA', closest: [] },
      ],
    ]
    expect(named(await pushSigned(app, ours, checkQuotes, { quotes }, seconds()))).toEqual(places)
    const pushed = await push(ours, quotes)
    expect(named(pushed)).toEqual(places)
    expect(pushed.body).toMatchObject({ created: 3, failed: 0 })
    expect(await quoteOf(ours, pushed.body.results[0].lane_ref)).toMatchObject({ origin: 'Dalas, TX' })
    expect(named(await push(ours, quotes))).toEqual(places)
    const rateOnly = await pushOne(ours, { external_id: 'P-1', quoted_rate: 2200 })
    expect(rateOnly).not.toHaveProperty('unknown_places')
    const corrected = quoteToPush('P-1', { quoted_rate: 2200 })
    expect(await pushOne(ours, corrected, seconds() + 1)).not.toHaveProperty('unknown_places')
    expect(await quoteOf(ours, pushed.body.results[0].lane_ref)).toMatchObject({ origin: 'Dallas, TX' })
  })

  test('is still reported by markup and insight after it was pushed', async () => {
    const ours = await makeIntegration(app, everything)
    await push(ours, [quoteToPush('P-1', { origin: 'Dalas, TX', outcome: 'won' })])
    const lane = 'origin=Dalas,%20TX&destination=Atlanta,%20GA&include=places'
    const paths = [`markup?${lane}&proposed_rate=2000`, `lane?${lane}`]
    for (const path of paths) {
      const { body } = await call(app, 'GET', `/api/integrations/insights/${path}`, { token: ours.token })
      expect([body.found, body.unknown_places]).toEqual([true, [dalas]])
    }
  })

  test('gets suggestions for the first 20 different places of a call', async () => {
    const ours = await makeIntegration(app, everything)
    const letters = [...'abcdefghijklmnopqrstuvwxyz'].slice(0, unknownPlacesLookedUpMax + 1)
    const quotes = letters.flatMap((letter, nth) =>
      [0, 1].map((twice) => quoteToPush(`S-${nth}-${twice}`, { origin: `Houstonn${letter}, TX` })),
    )
    const found = named(await push(ours, quotes)).map(
      ([place]: [{ closest: readonly string[] }]) => place.closest[0] ?? null,
    )
    expect(found).toEqual([...Array(2 * unknownPlacesLookedUpMax).fill('Houston, TX'), null, null])
  })
})
