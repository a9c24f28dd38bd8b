import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { TSchema } from 'typebox'
import { Check, Errors } from 'typebox/value'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  call,
  type Integration,
  makeIntegration,
  makeQuote,
  makeServiceToken,
  pushUpdate,
} from '#testing/make.ts'
import { head, sendRaw } from '#testing/raw-http.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { testApp } from '#testing/test-app.ts'

let app: TestApp
let acme: Integration
let other: Integration
let laneRef: string
/** The quotes of acme that have a booking, oldest first. */
const bookedRefs: string[] = []

const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }

beforeAll(async () => {
  app = await sharedApp()
  ;[acme, other] = await Promise.all([makeIntegration(app), makeIntegration(app)])
  await makeQuote(app, acme.tenant, { rate: 1900, outcome: 'won' })
  laneRef = (await makeQuote(app, acme.tenant, { rate: 2300, outcome: 'lost' })).lane_ref
  await pushUpdate(app, acme, { lane_ref: laneRef, customer_rate: 2100, truck_cost: 1700 })
  bookedRefs.push(laneRef)
  for (const rate of [2000, 2050]) {
    app.now += 1_000
    const { lane_ref } = await makeQuote(app, acme.tenant, { rate, origin: 'Tulsa, OK' })
    await pushUpdate(app, acme, { lane_ref, customer_rate: rate, truck_cost: rate - 100 })
    bookedRefs.push(lane_ref)
  }
})

const overHttp = ({ token }: Pick<Integration, 'token'>) =>
  new StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  })
const overStdio = ({ token }: Pick<Integration, 'token'>) =>
  new StdioClientTransport({
    command: process.execPath,
    args: ['server/src/operations/mcp-main.ts'],
    env: { LANEWISE_URL: app.url, LANEWISE_TOKEN: token },
  })

const read = async (path: string, { token }: Pick<Integration, 'token'> = acme) =>
  (await call(app, 'GET', path, { token })).body

describe('the Model Context Protocol over HTTP', () => testTools(overHttp))
// Long, because it starts the program.
describe('the Model Context Protocol over stdio', { tags: 'long' }, () => testTools(overStdio))

function testTools(transport: typeof overHttp | typeof overStdio) {
  const agent = new Client({ name: 'test', version: '1.0.0' })
  beforeAll(() => agent.connect(transport(acme)))
  afterAll(() => agent.close())

  test('offers read-only tools', async () => {
    const { tools } = await agent.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['markup', 'lane_insight', 'shipments', 'quotes'])
    for (const { annotations, description, inputSchema, outputSchema } of tools) {
      expect(annotations?.readOnlyHint).toBe(true)
      expect(description).toMatch(/\. Use it /)
      expect(JSON.stringify([inputSchema, outputSchema])).not.toContain('x-expected')
      expect(outputSchema?.type).toBe('object')
    }
    expect(tools[0]?.inputSchema.required).toEqual(['origin', 'destination', 'proposed_rate'])
  })

  test('answers like the integration API', async () => {
    const { structuredContent, content } = await agent.callTool({
      name: 'markup',
      arguments: { ...lane, proposed_rate: 2000 },
    })
    const query = new URLSearchParams({ ...lane, proposed_rate: '2000', include: 'basis,places,pool' })
    const asRead = await read(`/api/integrations/insights/markup?${query}`)
    expect(structuredContent).toEqual(asRead)
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(asRead) }])

    const insight = await agent.callTool({ name: 'lane_insight', arguments: lane })
    expect(insight.structuredContent).toEqual(
      await read(
        `/api/integrations/insights/lane?${new URLSearchParams({ ...lane, include: 'basis,places,pool' })}`,
      ),
    )
    const booked = await agent.callTool({ name: 'shipments', arguments: { limit: 5 } })
    expect(booked.structuredContent).toMatchObject({
      lanes: bookedRefs.toReversed().map((lane_ref) => ({ lane_ref })),
      totals: { margin: 600 },
      next_cursor: null,
    })
  })

  test.each([
    ['markup', { ...lane, proposed_rate: 2000, include: 'estimate,evidence,curve,optimum' }],
    ['markup', { ...lane, origin: 'Boise, ID', proposed_rate: 2000 }],
    ['lane_insight', { ...lane, include: 'evidence' }],
    ['shipments', {}],
    ['quotes', { limit: 3 }],
  ])('the answer of %s matches the schema that the agent was given', async (name, asked) => {
    const { tools } = await agent.listTools()
    const schema = tools.find((tool) => tool.name === name)?.outputSchema as TSchema
    // The client validates answers, too, once it has listed the tools.
    const { structuredContent } = await agent.callTool({ name, arguments: asked })
    expect(Errors(schema, structuredContent)).toEqual([])
    expect(Check(schema, { ...(structuredContent as object), query: 7, lanes: 7, quotes: 7 })).toBe(false)
  })

  test('shipments are paged: each cursor requests the next page, until it is null', async () => {
    const seen: unknown[] = []
    let cursor: string | null = null
    do {
      const { structuredContent } = await agent.callTool({
        name: 'shipments',
        arguments: { limit: 2, sort: 'oldest', ...(cursor === null ? {} : { cursor }) },
      })
      const page = structuredContent as { lanes: { lane_ref: string }[]; next_cursor: string | null }
      expect(page.lanes.length).toBeLessThanOrEqual(2)
      seen.push(...page.lanes.map((booked) => booked.lane_ref))
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(seen).toEqual(bookedRefs)
  })

  test('quotes are found by lane_ref and external_id, and paged until there is no more', async () => {
    const find = async (asked: Record<string, unknown>) => {
      const { structuredContent } = await agent.callTool({ name: 'quotes', arguments: asked })
      const { quotes, ...end } = structuredContent as {
        quotes: { lane: { lane_ref: string } }[]
        next_cursor: string
        more: boolean
      }
      return { refs: quotes.map((one) => one.lane.lane_ref), ...end }
    }
    expect((await find({ lane_ref: bookedRefs[0] })).refs).toEqual([bookedRefs[0]])
    expect(await find({ external_id: 'nobody has this' })).toMatchObject({ refs: [], more: false })
    expect((await find({ updated_since: '2199-01-01' })).refs).toEqual([])
    const all = (await find({ limit: 500 })).refs
    expect(all).toEqual(expect.arrayContaining(bookedRefs))
    const first = await find({ limit: 2 })
    expect(first).toMatchObject({ refs: all.slice(0, 2), more: true })
    const second = await find({ limit: 2, cursor: first.next_cursor })
    expect(second.refs).toEqual(all.slice(2, 4))
  })

  test('a misspelled argument is rejected by name, so that no different question is answered', async () => {
    const { isError, content } = await agent.callTool({
      name: 'lane_insight',
      arguments: { ...lane, equipmnt: 'R' },
    })
    expect(isError).toBe(true)
    expect((content[0] as { text: string }).text).toMatch(/^422 A field is not known: .*"equipmnt"/)
  })

  test("reports an invalid call with the service's error message", async () => {
    for (const [wrong, said] of [
      [{ origin: 'Dallas' }, /valid: origin must be a city with its state[^\n]*$/],
      [{ proposed_rate: -5 }, /valid: proposed_rate must be a number of dollars greater than 0/],
    ] as const) {
      const { isError, content } = await agent.callTool({
        name: 'markup',
        arguments: { ...lane, proposed_rate: 2000, ...wrong },
      })
      expect(isError).toBe(true)
      const text = (content[0] as { text: string }).text
      expect(text).toMatch(/^422 A field is missing or not valid/)
      expect(text).toMatch(said)
    }
  })

  test('an unknown tool is rejected', async () => {
    await expect(
      agent.callTool({ name: 'shipment_update', arguments: { lane_ref: laneRef } }),
    ).rejects.toThrow(/shipment_update/)
  })
}

test('an agent of another brokerage sees nothing of this one', async () => {
  const agent = new Client({ name: 'test', version: '1.0.0' })
  await agent.connect(overHttp(other))
  const insight = await agent.callTool({ name: 'lane_insight', arguments: lane })
  expect(insight.structuredContent).toMatchObject({ found: false })
  const booked = await agent.callTool({ name: 'shipments', arguments: {} })
  expect(booked.structuredContent).toMatchObject({ lanes: [], totals: { shipments: 0 } })
  await agent.close()
})

describe('over HTTP', () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  const post = (headers: Record<string, string>, body: unknown = message) =>
    fetch(`${app.url}/mcp`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

  test.each([
    ['nobody', () => ({}), 401],
    ['a token that is none', () => bearer('abc'), 401],
    ['a person', () => bearer(acme.tenant.owner), 401],
    ['a page of another site', () => ({ ...bearer(acme.token), Origin: 'https://evil.example' }), 403],
  ])('%s is refused', async (_, headers, status) => {
    const answer = await post(headers())
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toContain('problem+json')
  })

  test.each([
    ['not JSON', '{'],
    ['a list', '[]'],
    ['nested 16,000 deep', `{"params":${'['.repeat(16_000)}${']'.repeat(16_000)}}`],
    ['ambiguous', '{"method":"tools/list","method":"tools/call"}'],
    ['an attempt at a prototype', '{"params":{"__proto__":{}}}'],
  ])('a body that is %s is refused', async (_, body) => {
    expect((await post(bearer(acme.token), body)).status).toBe(400)
  })

  test.each(['__proto__', 'constructor', 'toString'])('the tool %s is none', async (name) => {
    const answer = await post(bearer(acme.token), { ...message, method: 'tools/call', params: { name } })
    expect(await answer.text()).toContain('"error":{"code":-32602')
  })

  test('an unknown method, and a subscription that would stay open, are answered at once', async () => {
    for (const method of ['tools/burn', 'subscriptions/listen', 'resources/list']) {
      const answer = await post(bearer(acme.token), { ...message, method })
      expect(await answer.text()).toContain('error')
    }
  })

  test.each(['GET', 'DELETE'])(
    'there is no stream to open and no session to end: %s is 405',
    async (method) => {
      const answer = await fetch(`${app.url}/mcp`, { method, headers: bearer(acme.token) })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
      expect(answer.headers.get('ratelimit')).toMatch(/"tenant";r=\d/)
      const { detail } = (await answer.json()) as { detail: string }
      expect(detail).toMatch(/as a POST/)
      expect((await fetch(`${app.url}/mcp`, { method })).status).toBe(401)
    },
  )

  test('a token is required before the body is read', async () => {
    const { hostname } = new URL(app.url)
    const [answer] = await sendRaw(
      app,
      head('POST /mcp HTTP/1.1', [
        ['Host', hostname],
        ['Content-Type', 'application/json'],
        ['Content-Length', '100'],
      ]),
    )
    expect(answer?.status).toBe(401)
  })

  test('a duplicate token is rejected', async () => {
    const [answer] = await sendRaw(
      app,
      head('POST /mcp HTTP/1.1', [
        ['Host', 'localhost'],
        ['Authorization', `Bearer ${acme.token}`],
        ['Authorization', `Bearer ${other.token}`],
        ['Content-Type', 'application/json'],
        ['Content-Length', '0'],
      ]),
    )
    expect([answer?.status, answer?.body.type]).toEqual([400, '/problems/duplicate-header'])
  })

  const tool = (params: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const asked = tool({ name: 'lane_insight', arguments: lane })
  /** Messages of every kind, each with the status of its answer and, where that differs, of its entry in the log. */
  const kinds: readonly {
    what: string
    method?: string
    headers?: Record<string, string>
    body?: unknown
    answered: number
    logged?: number
  }[] = [
    { what: 'the list of tools', body: message, answered: 200 },
    { what: 'a call of a tool', body: asked, answered: 200 },
    {
      what: 'a call that the tool refuses',
      body: tool({ name: 'markup', arguments: lane }),
      answered: 200,
      logged: 422,
    },
    { what: 'an unknown tool', body: tool({ name: 'burn' }), answered: 200, logged: 400 },
    {
      what: 'a call without params',
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call' },
      answered: 200,
      logged: 400,
    },
    { what: 'an unknown method', body: { ...message, method: 'tools/burn' }, answered: 200, logged: 400 },
    {
      what: 'a message without id',
      body: { jsonrpc: '2.0', method: 'notifications/initialized' },
      answered: 202,
    },
    { what: 'a call without id', body: { ...asked, id: undefined }, answered: 202 },
    { what: 'no JSON-RPC at all', body: { hello: 'there' }, answered: 400 },
    { what: 'a batch', body: [asked, asked], answered: 400 },
    { what: 'a body that is no JSON', body: '{', answered: 400 },
    { what: 'an empty body', body: '', answered: 400 },
    { what: 'the wrong Accept', headers: { Accept: 'text/html' }, body: asked, answered: 406 },
    { what: 'the wrong type', headers: { 'Content-Type': 'text/plain' }, body: asked, answered: 415 },
    { what: 'a coding', headers: { 'Content-Encoding': 'gzip' }, body: asked, answered: 415 },
    {
      what: 'a page of another site',
      headers: { Origin: 'https://evil.example' },
      body: asked,
      answered: 403,
    },
    { what: 'a body that is too large', body: 'x'.repeat(70_000), answered: 413 },
    { what: 'GET', method: 'GET', answered: 405 },
    { what: 'DELETE', method: 'DELETE', answered: 405 },
  ]

  test('the call log has the tool, the lane, and the reason of a refusal', async () => {
    await post(bearer(other.token), asked)
    await post(bearer(other.token), tool({ name: 'markup', arguments: lane }))
    await post(bearer(other.token), tool({ name: 'burn' }))
    await app.settle()
    const log = await call(app, 'GET', '/api/integration-calls?operation=mcp&limit=3', {
      token: other.tenant.owner,
    })
    expect(log.body.calls).toMatchObject([
      { status: 400, problem: 'malformed-request', detail: expect.stringContaining('burn') },
      {
        status: 422,
        problem: 'validation-failed',
        query: expect.stringMatching(/^tool=markup&origin=Dallas/),
        detail: expect.stringContaining('proposed_rate'),
      },
      { status: 200, problem: null, method: 'POST', path: '/mcp' },
    ])
    expect(log.body.calls[2].query).toBe(
      `tool=lane-insight&${new URLSearchParams({ ...lane, include: 'basis,places,pool' })}`,
    )
  })

  describe('within one second', () => {
    /** The clock of the limit, which moves between the tests only. */
    const clock = { now: 1 }
    let limited: TestApp
    let ours: Integration
    beforeAll(async () => {
      limited = await testApp({ rateLimit: 'real', monotonic: () => clock.now })
    })
    beforeEach(async () => {
      clock.now += 60_000
      ours = await makeIntegration(limited)
      clock.now += 60_000
    })
    afterAll(() => limited.close())

    test.each(kinds)('twelve calls of $what: ten are admitted, and each call is logged once', (kind) =>
      floods(kind, 12),
    )
    test.each(kinds)(
      'thirty calls of $what: ten are admitted, and each call is logged once',
      { tags: 'long' },
      (kind) => floods(kind, 30),
    )

    async function floods(kind: (typeof kinds)[number], sent: number) {
      const answers = await Promise.all(
        Array.from({ length: sent }, () =>
          fetch(`${limited.url}/mcp`, {
            method: kind.method ?? 'POST',
            headers: {
              'Content-Type': 'application/json',
              Accept: 'application/json, text/event-stream',
              ...bearer(ours.token),
              ...kind.headers,
            },
            ...(kind.body === undefined
              ? {}
              : { body: typeof kind.body === 'string' ? kind.body : JSON.stringify(kind.body) }),
          }),
        ),
      )
      const refused = answers.filter(({ status }) => status === 429)
      expect(refused.map(({ headers }) => headers.get('retry-after'))).toEqual(Array(sent - 10).fill('1'))
      expect(answers.flatMap(({ status }) => (status === 429 ? [] : [status]))).toEqual(
        Array(10).fill(kind.answered),
      )
      await Promise.all(answers.map((answer) => answer.text()))
      await limited.settle()
      const log = await call(limited, 'GET', '/api/integration-calls', { token: ours.tenant.owner })
      const calls = log.body.calls as { operation: string; status: number; not_kept: number }[]
      const times = (status: number) =>
        calls
          .filter((one) => one.operation === 'mcp' && one.status === status)
          .reduce((sum, one) => sum + 1 + one.not_kept, 0)
      expect([times(kind.logged ?? kind.answered), times(429)]).toEqual([10, sent - 10])
      // No call of an agent is logged under another operation.
      const others = calls.map(({ operation }) => operation).filter((operation) => operation !== 'mcp')
      expect(others.toSorted()).toEqual(['create-service-token', 'create-signing-secret'])
    }

    test('tokens and methods of one brokerage share its limit', async () => {
      const tokens = [ours.token, await makeServiceToken(limited, ours.tenant.owner)]
      clock.now += 60_000
      const statuses: number[] = []
      for (let nth = 0; nth < 24; nth++) {
        const { status } = await fetch(`${limited.url}/mcp`, {
          method: nth % 3 === 0 ? 'GET' : 'DELETE',
          headers: bearer(tokens[nth % 2] ?? ''),
        })
        statuses.push(status)
      }
      expect(statuses).toEqual([...Array(10).fill(405), ...Array(14).fill(429)])
    })
  })
})
