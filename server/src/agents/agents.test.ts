import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, type Integration, makeIntegration, makeLane, pushUpdate } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
let acme: Integration
let other: Integration
let laneRef: string

const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }

beforeAll(async () => {
  app = await testApp()
  ;[acme, other] = await Promise.all([makeIntegration(app), makeIntegration(app)])
  await makeLane(app, acme.tenant, { rate: 1900, outcome: 'won' })
  laneRef = (await makeLane(app, acme.tenant, { rate: 2300, outcome: 'lost' })).lane_ref
  await pushUpdate(app, acme, { lane_ref: laneRef, customer_rate: 2100, truck_cost: 1700 })
})
afterAll(() => app.close())

const overHttp = ({ token }: Pick<Integration, 'token'>) =>
  new StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  })
const overStdio = ({ token }: Pick<Integration, 'token'>) =>
  new StdioClientTransport({
    command: process.execPath,
    args: ['server/src/mcp-main.ts'],
    env: { LANEWISE_URL: app.url, LANEWISE_TOKEN: token },
  })

const read = async (path: string, { token }: Pick<Integration, 'token'> = acme) =>
  (await call(app, 'GET', path, { token })).body

describe.each([
  ['over HTTP', overHttp],
  ['over stdio', overStdio],
] as const)('the Model Context Protocol %s', (_, transport) => {
  const agent = new Client({ name: 'test', version: '1.0.0' })
  beforeAll(() => agent.connect(transport(acme)))
  afterAll(() => agent.close())

  test('offers three tools, all of which only read', async () => {
    const { tools } = await agent.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['markup', 'lane_insight', 'shipments'])
    for (const { annotations, description, inputSchema } of tools) {
      expect(annotations?.readOnlyHint).toBe(true)
      expect(description).toMatch(/\. Use it /)
      expect(JSON.stringify(inputSchema)).not.toContain('x-expected')
    }
    expect(tools[0]?.inputSchema.required).toEqual(['origin', 'destination', 'proposed_rate'])
  })

  test('answers what the integration interface answers', async () => {
    const { structuredContent, content } = await agent.callTool({
      name: 'markup',
      arguments: { ...lane, proposed_rate: 2000 },
    })
    const query = new URLSearchParams({ ...lane, proposed_rate: '2000' })
    const asRead = await read(`/api/integrations/insights/markup?${query}`)
    expect(structuredContent).toEqual(asRead)
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(asRead) }])

    const insight = await agent.callTool({ name: 'lane_insight', arguments: lane })
    expect(insight.structuredContent).toEqual(
      await read(`/api/integrations/insights/lane?${new URLSearchParams(lane)}`),
    )
    const booked = await agent.callTool({ name: 'shipments', arguments: { limit: 5 } })
    expect(booked.structuredContent).toMatchObject({
      lanes: [{ lane_ref: laneRef }],
      totals: { margin: 400 },
    })
  })

  test('says what was wrong with a question in the words of the service', async () => {
    const { isError, content } = await agent.callTool({
      name: 'markup',
      arguments: { ...lane, origin: 'Dallas', proposed_rate: -5 },
    })
    expect(isError).toBe(true)
    const text = (content[0] as { text: string }).text
    expect(text).toMatch(/^422 A field is missing or not valid/)
    expect(text).toMatch(/- origin must be a city and state/)
    expect(text).toMatch(/- proposed_rate must be a number of dollars greater than 0/)
  })

  test('a tool that is not there is refused', async () => {
    await expect(
      agent.callTool({ name: 'shipment_update', arguments: { lane_ref: laneRef } }),
    ).rejects.toThrow(/shipment_update/)
  })
})

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
  ])('a body that is %s is refused', async (_, body) => {
    expect((await post(bearer(acme.token), body)).status).toBe(400)
  })

  test('a method that is not there, and a subscription that would stay open, are answered at once', async () => {
    for (const method of ['tools/burn', 'subscriptions/listen', 'resources/list']) {
      const answer = await post(bearer(acme.token), { ...message, method })
      expect(await answer.text()).toContain('error')
    }
  })

  test('there is nothing to hold open: GET is 405', async () => {
    const answer = await fetch(`${app.url}/mcp`, { headers: bearer(acme.token) })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('each message is one request of the limit, and a call of a tool no more than that', async () => {
    const clock = { now: 1 }
    const limited = await testApp({ rateLimit: 'real', monotonic: () => clock.now })
    try {
      const ours = await makeIntegration(limited)
      clock.now += 60_000
      const ask = (body: unknown) =>
        fetch(`${limited.url}/mcp`, {
          method: 'POST',
          headers: {
            ...bearer(ours.token),
            'Content-Type': 'application/json',
            Accept: 'application/json, text/event-stream',
          },
          body: JSON.stringify(body),
        })
      const tool = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'lane_insight', arguments: lane },
      }
      for (let nth = 0; nth < 5; nth++) {
        expect((await ask(message)).status).toBe(200)
        expect(await (await ask(tool)).text()).toContain('found')
      }
      expect((await ask(message)).status).toBe(429)
      expect(await (await ask(tool)).text()).toContain('429 Too many requests')
    } finally {
      await limited.close()
    }
  })
})
