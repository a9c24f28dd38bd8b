import Type, { type TProperties, type TSchema } from 'typebox'
import { Errors } from 'typebox/value'
import { beforeAll, describe, expect, test } from 'vitest'
import { pushQuotes } from '#contract/push-quotes.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makeQuote,
  pushSigned,
  pushUpdate,
  quoteToPush,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

/**
 * The bodies that integrations were promised, written by hand. The declarations in `contract/src` would not do: they allow the
 * members that `include` adds.
 */
const closed = (members: TProperties) => Type.Object(members, { additionalProperties: false })
const number = Type.Number()
const text = Type.String({ minLength: 1 })
const orNull = (type: TSchema) => Type.Union([type, Type.Null()])

const markupQuery = closed({
  origin: text,
  destination: text,
  equipment: orNull(text),
  proposed_rate: number,
  market_rate: orNull(number),
})
const laneQuery = closed({ origin: text, destination: text, equipment: orNull(text) })

const bodies = {
  token: closed({
    id: Type.Integer(),
    name: text,
    scope: text,
    expires_at: text,
    token: text,
    warning: text,
  }),
  secret: closed({ id: Type.Integer(), name: text, secret: text, warning: text }),
  update: closed({ status: Type.Literal('ok'), lane_id: Type.Integer(), updated: Type.Boolean() }),
  markup: closed({
    found: Type.Literal(true),
    query: markupQuery,
    win_probability: number,
    confidence: Type.Enum(['high', 'medium', 'low']),
    markup_pct: number,
    suggested_rate: number,
    rate_band: closed({ floor: number, median: number, ceiling: number }),
    verdict: text,
  }),
  // "none: no historical data; all numeric fields are null", here with quotes that are all undecided.
  undecidedMarkup: closed({
    found: Type.Literal(true),
    query: markupQuery,
    win_probability: Type.Null(),
    confidence: Type.Literal('none'),
    markup_pct: Type.Null(),
    suggested_rate: Type.Null(),
    rate_band: closed({ floor: Type.Null(), median: Type.Null(), ceiling: Type.Null() }),
    verdict: text,
  }),
  noMarkup: closed({ found: Type.Literal(false), query: markupQuery, confidence: Type.Literal('none') }),
  lane: closed({
    found: Type.Literal(true),
    query: laneQuery,
    scope: text,
    history: closed({
      total_quotes: Type.Integer(),
      wins: Type.Integer(),
      losses: Type.Integer(),
      win_rate_pct: number,
      months_active: Type.Integer(),
      avg_rate_usd: number,
    }),
    scores: closed({ harmonic: number, integral: number, derivative: number, correlation: number }),
    signals: closed({ strength: text, trend: text, consistency: text, timing: text }),
    summary: text,
  }),
  noLane: closed({ found: Type.Literal(false), query: laneQuery }),
} as const

const differences = (schema: TSchema, body: unknown) =>
  Errors(schema, body).map(({ instancePath, message }) => `${instancePath} ${message}`)

let app: TestApp
let ours: Integration
/** A brokerage without quotes. */
let empty: Integration

beforeAll(async () => {
  app = await sharedApp()
  app.now = Date.parse('2026-06-01T12:00:00Z')
  ours = await makeIntegration(app, 'integrations:write quotes:write')
  empty = await makeIntegration(app)
  for (const [rate, outcome] of [
    [1800, 'won'],
    [1900, 'won'],
    [2000, 'lost'],
    [2100, 'lost'],
    [2200, 'won'],
  ] as const) {
    await makeQuote(app, ours.tenant, { rate, outcome })
  }
  await makeQuote(app, ours.tenant, { origin: 'Garland, TX', rate: 1850, outcome: 'won' })
  await makeQuote(app, ours.tenant, { origin: 'Chicago, IL', destination: 'Memphis, TN', rate: 1500 })
  const pushed = await pushSigned(
    app,
    ours,
    pushQuotes,
    {
      quotes: [
        // One quote is converted by its own fuel charge. The other has none, so it is not counted.
        quoteToPush('C-1', { quoted_basis: 'linehaul', quoted_rate: 1700, quoted_fuel: 350, outcome: 'won' }),
        quoteToPush('C-2', { quoted_basis: 'linehaul', quoted_rate: 1650 }),
        // A lane with one quote, which is not counted.
        quoteToPush('C-3', {
          origin: 'Reno, NV',
          destination: 'Boise, ID',
          quoted_basis: 'linehaul',
          quoted_rate: 900,
        }),
      ],
    },
    Math.floor(app.now / 1000),
  )
  expect(pushed.body).toMatchObject({ created: 3, failed: 0 })
})

const dallas = { origin: 'Dallas, TX', destination: 'Atlanta, GA' }
const unknown = { origin: 'Dalas, TX', destination: 'Reno, NV' }

const markupStates: readonly [string, Record<string, string>, keyof typeof bodies, 'ours' | 'empty'][] = [
  ['decided quotes', { ...dallas, equipment: 'V' }, 'markup', 'ours'],
  ['all equipment, a market rate', { ...dallas, market_rate: '2050' }, 'markup', 'ours'],
  ['the stored market rate as reference', { ...dallas, reference: 'market' }, 'markup', 'ours'],
  ['a rate above the ceiling', { ...dallas, proposed_rate: '9000' }, 'markup', 'ours'],
  ['only undecided quotes', { origin: 'Chicago, IL', destination: 'Memphis, TN' }, 'undecidedMarkup', 'ours'],
  ['only quotes on another basis', { origin: 'Reno, NV', destination: 'Boise, ID' }, 'noMarkup', 'ours'],
  ['no quotes', { origin: 'Miami, FL', destination: 'Boston, MA' }, 'noMarkup', 'ours'],
  ['an unknown city', unknown, 'noMarkup', 'ours'],
  ['an unknown city, in a brokerage without quotes', unknown, 'noMarkup', 'empty'],
]

const laneStates: readonly [string, Record<string, string>, string | null, 'ours' | 'empty'][] = [
  ['the lane and its equipment', { ...dallas, equipment: 'V' }, 'equipment', 'ours'],
  ['all equipment', dallas, 'corridor', 'ours'],
  ['the markets', { origin: 'Irving, TX', destination: 'Atlanta, GA' }, 'market', 'ours'],
  ['the states', { origin: 'Houston, TX', destination: 'Savannah, GA' }, 'state_pair', 'ours'],
  ['the regions', { origin: 'Oklahoma City, OK', destination: 'Miami, FL' }, 'region', 'ours'],
  ['the whole brokerage', { origin: 'Seattle, WA', destination: 'Fargo, ND' }, 'tenant', 'ours'],
  ['an unknown city', { ...dallas, origin: 'Dalas, TX' }, 'state_pair', 'ours'],
  ['no data', dallas, null, 'empty'],
  ['an unknown city without data', unknown, null, 'empty'],
]

/** Three answers to one read: the second comes from memory, and the third, because of its header, from the regular handler. */
async function answersOf(path: string, query: Record<string, string>, token: string) {
  const answers = []
  for (const headers of [{}, {}, { Prefer: 'handling=lenient' }]) {
    const response = await fetch(`${app.url}${path}?${new URLSearchParams(query)}`, {
      headers: { Authorization: `Bearer ${token}`, ...headers },
    })
    expect(response.status).toBe(200)
    answers.push((await response.json()) as Record<string, unknown>)
  }
  return answers
}

describe('without include, markup has exactly the members of the contract', () => {
  test.each(markupStates)('%s', async (_state, asked, shape, whose) => {
    const of = whose === 'ours' ? ours : empty
    const query = { proposed_rate: '1950', ...asked }
    for (const [path, token] of [
      ['/api/integrations/insights/markup', of.token],
      ['/api/advice/markup', of.tenant.owner],
    ] as const) {
      for (const body of await answersOf(path, query, token)) {
        expect(differences(bodies[shape], body)).toEqual([])
      }
    }
  })
})

describe('without include, lane insight has exactly the members of the contract', () => {
  test.each(laneStates)('%s', async (_state, query, scope, whose) => {
    const of = whose === 'ours' ? ours : empty
    for (const [path, token] of [
      ['/api/integrations/insights/lane', of.token],
      ['/api/advice/lane', of.tenant.owner],
    ] as const) {
      for (const body of await answersOf(path, query, token)) {
        expect(differences(scope === null ? bodies.noLane : bodies.lane, body)).toEqual([])
        expect(body.scope ?? null).toBe(scope)
      }
    }
  })
})

test('without include, the results of a batch are those of the two reads', async () => {
  const quotes = [dallas, unknown, { origin: 'Reno, NV', destination: 'Boise, ID' }].map((lane) => ({
    ...lane,
    proposed_rate: 1950,
  }))
  const body = { lanes: quotes, answers: ['markup', 'lane'] }
  const batch = await call(app, 'POST', '/api/integrations/insights/batch', { token: ours.token, body })
  expect(
    batch.body.results.map(({ markup, lane }: { markup: { found: boolean }; lane: unknown }) => [
      ...differences(markup.found ? bodies.markup : bodies.noMarkup, markup),
      ...differences(bodies.lane, lane),
    ]),
  ).toEqual([[], [], []])
  const more = await call(app, 'POST', '/api/integrations/insights/batch', {
    token: ours.token,
    body: { ...body, include: ['places', 'basis'] },
  })
  for (const answer of ['markup', 'lane']) {
    expect(more.body.results[1][answer]).toEqual({
      ...batch.body.results[1][answer],
      basis: expect.objectContaining({ amounts: 'all_in' }),
      unknown_places: [{ parameter: 'origin', sent: 'Dalas, TX', closest: ['Dallas, TX'] }],
    })
    expect(more.body.results[0][answer]).toMatchObject({
      basis: { converted: 1, kept_apart: 1 },
      unknown_places: [],
    })
  }
})

describe('include adds what it names, and nothing else', () => {
  test.each([
    ['basis', ['basis']],
    ['places', ['unknown_places']],
    ['places,basis', ['basis', 'unknown_places']],
  ])('include=%s', async (include, added) => {
    for (const [path, lane] of [
      ['/api/integrations/insights/markup', dallas],
      ['/api/integrations/insights/markup', unknown],
      ['/api/integrations/insights/lane', dallas],
    ] as const) {
      const query = { ...lane, ...(path.endsWith('markup') ? { proposed_rate: '1950' } : {}) }
      const [plain] = await answersOf(path, query, ours.token)
      for (const body of await answersOf(path, { ...query, include }, ours.token)) {
        expect(Object.keys(body).filter((member) => !(member in (plain ?? {})))).toEqual(added)
        expect(body).toMatchObject(plain ?? {})
      }
    }
  })
})

test('a token, a secret and a shipment update are answered with exactly the members of the contract', async () => {
  for (const [kind, extra] of [
    ['token', {}],
    ['token', { scope: 'quotes:write' }],
    ['secret', {}],
  ] as const) {
    const { status, body } = await call(app, 'POST', `/api/integrations/${kind}s`, {
      token: empty.tenant.owner,
      body: { name: 'TMS 東京', ...extra },
    })
    expect([status, differences(bodies[kind], body)]).toEqual([201, []])
  }
  const { lane_ref } = await makeQuote(app, ours.tenant, { rate: 2000 })
  const booked = { customer_rate: 2100, truck_cost: 1800, carrier_name: 'Blue Ridge Carriers' }
  for (const update of [booked, booked, {}, { cancelled: true }, { customer_rate: 2150 }]) {
    const { status, body } = await pushUpdate(app, ours, { lane_ref, ...update })
    expect([status, differences(bodies.update, body)]).toEqual([200, []])
  }
  const missing = await pushUpdate(app, ours, { lane_ref: '999999-1-1', ...booked })
  expect([missing.status, missing.body.detail]).toEqual([404, expect.stringContaining('999999-1-1')])
})
