import { request } from 'node:http'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  call,
  type Integration,
  makeIntegration,
  makePerson,
  makeQuote,
  makeServiceToken,
  makeTenant,
  pushUpdate,
  signedHeaders,
} from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { tenantId } from '../../database/session/index.ts'

const listPath = '/api/integration-calls'
const limitPath = '/api/rate-limit'
const updatePath = '/api/integrations/tms/shipment-update'
const readPath = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'

let app: TestApp
let acme: Integration
let other: Integration

/** Called when the service begins to read the body of a request. */
let onBody = () => {}

beforeAll(async () => {
  app = await testApp({ plant: (server) => server.addHook('preParsing', async () => onBody()) })
  ;[acme, other] = [await makeIntegration(app), await makeIntegration(app)]
})
afterAll(() => app.close())

interface ListedCall {
  readonly call_id: number
  readonly operation: string
  readonly request_id: string
  readonly status: number
  readonly [member: string]: unknown
}

async function list(integration: Pick<Integration, 'tenant'>, query = ''): Promise<ListedCall[]> {
  const { status, body } = await call(app, 'GET', `${listPath}?limit=200${query}`, {
    token: integration.tenant.owner,
  })
  expect(status).toBe(200)
  return body.calls
}

/** The entry of a call that was just answered, once it is written. */
async function entryOf(answer: { headers: Headers }, integration = acme): Promise<ListedCall> {
  const requestId = answer.headers.get('Request-Id')
  return vi.waitFor(
    async () => {
      const found = (await list(integration)).find((one) => one.request_id === requestId)
      if (found === undefined) throw new Error('The call is not listed yet.')
      return found
    },
    { timeout: 60_000, interval: 50 },
  )
}

const read = (token = acme.token, path = readPath) => call(app, 'GET', path, { token })

describe('200', () => {
  test('a call is listed with its answer: operation, time, token, duration, network', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const answer = await pushUpdate(app, acme, { lane_ref: quote.lane_ref, customer_rate: 2150 })
    expect(answer.status).toBe(200)
    expect(await entryOf(answer)).toEqual({
      call_id: expect.any(Number),
      at: new Date(app.now).toISOString(),
      operation: 'shipment-update',
      method: 'POST',
      path: updatePath,
      query: null,
      status: 200,
      problem: null,
      detail: null,
      request_id: answer.headers.get('Request-Id'),
      token: { id: 1, name: 'test' },
      ms: expect.any(Number),
      network: '127.0.0.1',
      not_kept: 0,
    })
  })

  test('an update that was not applied is listed with its reason, selected and counted', async () => {
    const own = await makeIntegration(app)
    const { lane_ref } = await makeQuote(app, own.tenant)
    const at = Math.floor(app.now / 1000)
    const sent = [
      await pushUpdate(app, own, { lane_ref, customer_rate: 2200 }, at),
      await pushUpdate(app, own, { lane_ref, customer_rate: 2100 }, at - 10),
      await pushUpdate(app, own, { lane_ref }, at),
      await pushUpdate(app, { ...own, secret: 'wrong' }, { lane_ref }, at),
    ]
    expect(sent.map(({ status }) => status)).toEqual([200, 200, 200, 401])
    for (const answer of sent) await entryOf(answer, own)
    const { body } = await call(app, 'GET', `${listPath}?outcome=not_applied`, { token: own.tenant.owner })
    expect(body.updates_not_applied).toBe(2)
    expect(body.calls.map(({ status, problem, detail }: ListedCall) => [status, problem, detail])).toEqual([
      [200, null, 'Not applied: the body had only lane_ref.'],
      [200, null, 'Not applied: the quote has values with a newer signature.'],
    ])
  })

  test('a read is listed with its lane and rate, and nothing else of its query', async () => {
    const markup = `/api/integrations/insights/markup?origin=Dallas,%20TX&destination=Atlanta,GA&equipment=V&proposed_rate=2000&api_key=canary&note=canary`
    const entry = await entryOf(await read(acme.token, markup))
    expect(entry.operation).toBe('markup')
    expect(entry.path).toBe('/api/integrations/insights/markup')
    expect(Object.fromEntries(new URLSearchParams(String(entry.query)))).toEqual({
      origin: 'Dallas, TX',
      destination: 'Atlanta,GA',
      equipment: 'V',
      proposed_rate: '2000',
    })
    const long = await entryOf(await read(acme.token, `${readPath}&equipment=${'%E2%82%AC'.repeat(500)}`))
    expect(String(long.query).length).toBeLessThanOrEqual(300)
    expect(String(long.query).length).toBeGreaterThan(290)
    expect(() => decodeURIComponent(String(long.query).replace(/(%[0-9A-F]{2})+$/, ''))).not.toThrow()
  })

  test('the reason of a refusal is exactly the detail that its caller received', async () => {
    const wrongSecret = await pushUpdate(app, { ...acme, secret: 'wrong' }, { lane_ref: 'none' })
    const late = await pushUpdate(app, acme, { lane_ref: 'none' }, Math.floor(app.now / 1000) - 400)
    const noLane = await pushUpdate(app, acme, { lane_ref: '1-1-1' })
    const wrongField = await pushUpdate(app, acme, { lane_ref: '1-1-1', customer_rate: 'much' })
    const wrongQuery = await read(acme.token, readPath.replace('Dallas,TX', 'Dallas'))
    const odd = await read(acme.token, `${readPath}&equipment=%00%0a`)
    const names = Array.from({ length: 30 }, (_, index) => `${index}${'x'.repeat(70)}=1`).join('&')
    const many = await call(app, 'GET', `${readPath}&${names}`, {
      token: acme.token,
      headers: { Prefer: 'handling=strict' },
    })
    expect(many.status).toBe(422)
    for (const answer of [wrongSecret, late, noLane, wrongField, wrongQuery, odd, many]) {
      const entry = await entryOf(answer)
      const { status, detail, type } = answer.body
      expect([entry.status, entry.detail, `/problems/${entry.problem}`]).toEqual([status, detail, type])
    }
  })

  test('revoked tokens, and people’s tokens used instead, are listed with the reason', async () => {
    const made = await call(app, 'POST', '/api/integrations/tokens', {
      token: acme.tenant.owner,
      body: { name: 'old one' },
    })
    await call(app, 'DELETE', `/api/integrations/tokens/${made.body.id}`, { token: acme.tenant.owner })
    const revoked = await entryOf(await read(made.body.token))
    expect([revoked.status, revoked.problem, revoked.token]).toEqual([
      401,
      'token-revoked',
      { id: made.body.id, name: 'old one' },
    ])
    const wrongKind = await entryOf(await read(acme.tenant.owner))
    expect([wrongKind.status, wrongKind.problem, wrongKind.token]).toEqual([401, 'token-wrong-kind', null])
    const making = await entryOf(made)
    expect([making.operation, making.status, making.token]).toEqual(['create-service-token', 201, null])
  })

  test('an expired token is listed by its name', async () => {
    const now = app.now
    app.now += 366 * 86_400_000
    const answer = await read()
    app.now = now
    expect(answer.body.type).toBe('/problems/token-expired')
    // Logged with the time of the service's clock, so search from that time on.
    const entry = await entryOf(answer)
    expect([entry.problem, entry.token]).toEqual(['token-expired', { id: 1, name: 'test' }])
  })

  test('an invalid id in a path is not stored', async () => {
    const token = acme.tenant.owner
    const known = await call(app, 'DELETE', '/api/integrations/tokens/4711', { token })
    const leaked = await call(app, 'DELETE', `/api/integrations/secrets/${acme.secret}`, { token })
    expect((await entryOf(known)).path).toBe('/api/integrations/tokens/4711')
    expect((await entryOf(leaked)).path).toBe('/api/integrations/secrets/{id}')
  })

  test('newest first, in pages without gaps or repeats, and by filter', async () => {
    const token = await makeServiceToken(app, other.tenant.owner)
    const answers = []
    for (let index = 0; index < 6; index++) {
      answers.push(
        index % 2 === 0 ? await read(token) : await read(token, '/api/integrations/insights/markup'),
      )
    }
    await entryOf(answers.at(-1) ?? { headers: new Headers() }, other)
    const all = await list(other)
    expect(all.map(({ call_id }) => call_id)).toEqual(
      all.map(({ call_id }) => call_id).toSorted((one, next) => next - one),
    )
    const paged: ListedCall[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { body: { calls: ListedCall[]; next_cursor: string | null } } = await call(
        app,
        'GET',
        `${listPath}?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
        { token: other.tenant.owner },
      )
      paged.push(...page.body.calls)
      cursor = page.body.next_cursor
    }
    expect(paged).toEqual(all)
    const statuses = async (query: string) => (await list(other, query)).map(({ status }) => status)
    expect(new Set(await statuses('&outcome=refused&operation=markup'))).toEqual(new Set([422]))
    expect(await statuses('&outcome=ok&operation=lane-insight')).toEqual([200, 200, 200])
    expect(await statuses('&token_id=2')).toHaveLength(6)
    expect(await statuses('&token_id=99')).toEqual([])
  })

  test('a call whose body is not JSON is refused, not ok', async () => {
    const answer = await fetch(`${app.url}/api/integrations/insights/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${acme.token}`, 'content-type': 'application/json' },
      body: '{',
    })
    expect(answer.status).toBe(400)
    const { call_id } = await entryOf(answer)
    const listed = async (outcome: string) =>
      (await list(acme, `&outcome=${outcome}`)).some((one) => one.call_id === call_id)
    expect([await listed('refused'), await listed('ok')]).toEqual([true, false])
  })

  test('nobody sees another brokerage’s calls', async () => {
    const canary = await read(acme.token, readPath.replace('Dallas,TX', 'Canaryville,TX'))
    await entryOf(canary)
    const theirs = await call(app, 'GET', `${listPath}?limit=200`, { token: other.tenant.owner })
    const fresh = await makeTenant(app)
    const none = await call(app, 'GET', listPath, { token: fresh.owner })
    expect(JSON.stringify(theirs.body)).not.toContain('Canaryville')
    expect(JSON.stringify(theirs.body)).not.toContain(canary.headers.get('Request-Id'))
    expect(none.body).toEqual({ calls: [], updates_not_applied: 0, next_cursor: null })
  })

  test('no token, secret or body is ever stored', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const body = { lane_ref: quote.lane_ref, customer_name: 'Canary Foods', carrier_name: 'Canary Trucks' }
    await pushUpdate(app, acme, body)
    await read(acme.token, `${readPath}&token=${acme.token}&equipment=${acme.secret}`)
    await read(acme.token, `${readPath}&equipment=${acme.token}`)
    const last = await call(app, 'POST', updatePath, {
      token: acme.token,
      body,
      headers: { 'Content-Type': `text/${acme.token}`, 'X-Canary': 'Canary' },
    })
    expect(last.status).toBe(415)
    await entryOf(last)
    const { rows } = await app.database.inTenant(tenantId(acme.tenant.id), (transaction) =>
      sql<{ row: string }>`select to_jsonb(c)::text as row from integration_calls c`.execute(transaction),
    )
    expect(rows.length).toBeGreaterThan(5)
    for (const { row } of rows) {
      expect(row).not.toMatch(/Canary (Foods|Trucks)|X-Canary|Bearer|eyJ|lwsec_/)
      for (const secret of [acme.token, acme.secret, acme.tenant.owner]) expect(row).not.toContain(secret)
    }
  })

  test('calls older than seven days are not shown', async () => {
    const answer = await read()
    await entryOf(answer)
    const now = app.now
    app.now += 8 * 86_400_000
    const session = await call(app, 'POST', '/api/auth/sign-in', {
      body: { email: acme.tenant.email, password: acme.tenant.password },
    })
    const later = await call(app, 'GET', listPath, { token: session.body.token })
    app.now = now
    // The call with an expired token above was made at a clock one year ahead, so only that one is left.
    expect(later.status).toBe(200)
    expect(later.body.calls.map(({ problem }: ListedCall) => problem)).toEqual(['token-expired'])
  })
})

describe('rate limit 200', () => {
  test('reading the limit costs nothing, calls cost one each, and refusals are counted', async () => {
    const clock = { now: 0 }
    const limited = await testApp({ rateLimit: 'real', monotonic: () => clock.now })
    try {
      const ours = await makeIntegration(limited)
      const theirs = await makeTenant(limited)
      const look = async (token: string) => (await call(limited, 'GET', limitPath, { token })).body
      clock.now += 1_100
      const before = await look(ours.tenant.owner)
      expect(before).toEqual({
        limit: 10,
        window_seconds: 1,
        remaining: 10,
        requests_last_minute: 2,
        refused_last_minute: 0,
      })
      for (let index = 0; index < 5; index++) await look(ours.tenant.owner)
      expect((await look(ours.tenant.owner)).remaining).toBe(10)
      const answers = await Promise.all(
        Array.from({ length: 15 }, () => call(limited, 'GET', readPath, { token: ours.token })),
      )
      const refused = answers.filter(({ status }) => status === 429).length
      expect(refused).toBe(5)
      await expect
        .poll(async () => {
          const after = await look(ours.tenant.owner)
          return [after.requests_last_minute, after.refused_last_minute]
        })
        .toEqual([17, refused])
      expect(await look(theirs.owner)).toEqual({ ...before, requests_last_minute: 0 })
    } finally {
      await limited.close()
    }
  })
})

describe('401, 403 and 422', () => {
  test.each([listPath, limitPath])('%s is for admins and owners who are signed in', async (path) => {
    expect((await call(app, 'GET', path)).status).toBe(401)
    expect((await call(app, 'GET', path, { token: acme.token })).body.type).toBe('/problems/token-wrong-kind')
    const member = await makePerson(app, acme.tenant, 'member')
    const admin = await makePerson(app, acme.tenant, 'admin')
    expect((await call(app, 'GET', path, { token: member.token })).body.type).toBe('/problems/role-required')
    expect((await call(app, 'GET', path, { token: admin.token })).status).toBe(200)
  })

  test.each([
    'cursor=x',
    `cursor=${'9'.repeat(16)}`,
    'limit=0',
    'limit=201',
    'outcome=won',
    "operation=a'b",
    'token_id=0',
    'token_id=x',
  ])('%s is reported as invalid', async (query) => {
    const { status, body } = await call(app, 'GET', `${listPath}?${query}`, { token: acme.tenant.owner })
    expect([status, body.errors[0].parameter]).toEqual([422, query.split('=')[0]])
  })
})

test('a caller that disconnects during its body is listed as gone', async () => {
  const bytes = '{"lane_ref":"1-1-1"}'
  const sent = request(`${app.url}${updatePath}`, {
    agent: false,
    method: 'POST',
    headers: signedHeaders(acme, bytes, Math.floor(app.now / 1000)),
  })
  sent.on('error', () => {})
  const { promise: reading, resolve } = Promise.withResolvers<void>()
  onBody = resolve
  sent.write('{')
  await reading
  sent.destroy()
  await vi.waitFor(
    async () => {
      const [gone] = await list(acme, '&operation=shipment-update&outcome=refused')
      expect([gone?.status, gone?.problem]).toEqual([499, null])
    },
    { timeout: 60_000, interval: 50 },
  )
})
