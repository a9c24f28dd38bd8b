import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { appOn } from '#testing/app-on-database.ts'
import { bug, failingDatabase, inside, outage } from '#testing/failing-database.ts'
import { type Answer, call, type Integration, makeIntegration, makeQuote, pushUpdate } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { waitingForLock } from '#testing/waiting-for-lock.ts'
import {
  BrokerageBusy,
  BrokerageMoving,
  DatabaseUnavailable,
  ProcessUnavailable,
  quotesChanged,
  tenantId,
} from '../database/session/index.ts'

const failure = failingDatabase()
let app: TestApp
let acme: Integration
let quote: { lane_ref: string }

beforeAll(async () => {
  app = await testApp({ wrapDatabase: failure.wrapDatabase })
  acme = await makeIntegration(app)
  quote = await makeQuote(app, acme.tenant, { outcome: 'won' })
  // The uses of the token and the secret are recorded now, so that nothing runs in the background of the calls below.
  await pushUpdate(app, acme, { lane_ref: quote.lane_ref })
})
afterAll(() => app.close())

const query = 'origin=Dallas,TX&destination=Atlanta,GA&proposed_rate=2000'
const owner = () => ({ token: acme.tenant.owner })
let unique = 0
const quotes = [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 1 }]

type Call = readonly [string, () => Promise<Answer>]
/** Calls of each kind: a signed one, a read of the book, a write of credentials, a sign-in, a read and a write of a person. */
const callsOfEachKind: readonly Call[] = [
  [
    'shipment update',
    () => pushUpdate(app, acme, { lane_ref: quote.lane_ref, customer_rate: 1000 + unique++ }),
  ],
  ['markup', () => call(app, 'GET', `/api/integrations/insights/markup?${query}`, { token: acme.token })],
  [
    'create secret',
    () => call(app, 'POST', '/api/integrations/secrets', { ...owner(), body: { name: `x${unique++}` } }),
  ],
  [
    'sign in',
    () =>
      call(app, 'POST', '/api/auth/sign-in', {
        body: { email: acme.tenant.email, password: acme.tenant.password },
      }),
  ],
  [
    'quote',
    () =>
      call(app, 'POST', '/api/quote-requests', { ...owner(), body: { customer_name: 'x', lanes: quotes } }),
  ],
  ['shipments', () => call(app, 'GET', '/api/shipments', owner())],
  [
    'outcome',
    () =>
      call(app, 'POST', `/api/lanes/${quote.lane_ref}/outcome`, {
        ...owner(),
        body: { outcome: unique++ % 2 === 0 ? 'lost' : 'won' },
      }),
  ],
]
const moreCalls: readonly Call[] = [
  [
    'markup of an unknown lane',
    () =>
      call(app, 'GET', `/api/integrations/insights/markup?${query.replace('Dallas', 'Waco')}`, {
        token: acme.token,
      }),
  ],
  ['lane insight', () => call(app, 'GET', `/api/integrations/insights/lane?${query}`, { token: acme.token })],
  [
    'lane insight of an unknown lane',
    () =>
      call(app, 'GET', '/api/integrations/insights/lane?origin=Nome,AK&destination=Reno,NV', {
        token: acme.token,
      }),
  ],
  ['create token', () => call(app, 'POST', '/api/integrations/tokens', { ...owner(), body: { name: 'x' } })],
  ['list tokens', () => call(app, 'GET', '/api/integrations/tokens', owner())],
  ['me', () => call(app, 'GET', '/api/me', owner())],
  ['list users', () => call(app, 'GET', '/api/users', owner())],
  ['list quotes', () => call(app, 'GET', '/api/lanes', owner())],
  ['lane', () => call(app, 'GET', `/api/lanes/${quote.lane_ref}`, owner())],
  ['changes', () => call(app, 'GET', `/api/lanes/${quote.lane_ref}/changes`, owner())],
]

/** Reports changed quotes of the brokerage, so that its book must be updated before the next answer. */
const moveOn = () =>
  failure.real().inTenant(tenantId(acme.tenant.id), async (transaction) => quotesChanged(transaction, [1]))

/**
 * Calls `ask` repeatedly, and lets the first use of the database fail, then the second, and so on, until a call
 * succeeds because it uses the database less often. Returns the number of its uses.
 */
async function failEachUse(
  ask: () => Promise<Answer>,
  error: () => Error,
  look: (answer: Answer, nth: number) => void,
): Promise<number> {
  for (let nth = 1; nth < 60; nth++) {
    await moveOn()
    failure.failAt(nth, error)
    const answer = await ask()
    const fired = failure.hasFired()
    if (!fired) {
      expect(answer.status).toBeLessThan(300)
      return nth - 1
    }
    look(answer, nth)
  }
  throw new Error('More uses than any call should need.')
}

describe('503', () => {
  const title = '%s: an outage at any use of the database is never an answer about data'
  test.each(callsOfEachKind)(title, (_what, ask) => unavailableAtEachUse(ask))
  test.each(moreCalls)(title, { tags: 'long' }, (_what, ask) => unavailableAtEachUse(ask))

  async function unavailableAtEachUse(ask: () => Promise<Answer>) {
    const uses = await failEachUse(ask, outage, ({ status, body, headers }, nth) => {
      expect([nth, status, body.type]).toEqual([nth, 503, '/problems/unavailable'])
      expect(headers.get('Retry-After')).toBe('2')
      expect(headers.get('Cache-Control')).toBe('no-store')
      expect(Object.keys(body).sort()).toEqual(['code', 'detail', 'request_id', 'status', 'title', 'type'])
      expect(JSON.stringify(body)).not.toMatch(inside)
    })
    expect(uses).toBeGreaterThan(1)
  }

  test('only a change that may have been made has an unknown outcome; a read that failed in the same way changed nothing', async () => {
    const askWithout = async (ask: () => Promise<Answer>) => {
      failure.failAt(1, () => new DatabaseUnavailable(new Error('Query read timeout'), true))
      const { status, body } = await ask()
      expect([failure.hasFired(), status]).toEqual([true, 503])
      return body.detail
    }
    const unchanged =
      'The database cannot answer right now. Nothing was changed. Send this request again in 2 seconds.'
    expect(await askWithout(() => call(app, 'GET', '/api/lanes', owner()))).toBe(unchanged)
    const outcome = { ...owner(), body: { outcome: 'won' } }
    expect(
      await askWithout(() => call(app, 'POST', `/api/lanes/${quote.lane_ref}/outcome`, outcome)),
    ).toContain('outcome unknown')
  })

  test.each([
    [
      new BrokerageBusy(new Error('the queue is full')),
      'Your brokerage has too many requests in progress.',
      'brokerage-busy',
    ],
    [
      new BrokerageMoving(new Error('55P03')),
      'The data of your brokerage is being moved to another server.',
      'brokerage-moving',
    ],
    [
      new ProcessUnavailable('busy', new Error('late')),
      'The service is busy and could not answer in time.',
      'process-unavailable',
    ],
    [
      new ProcessUnavailable('joining', new Error('joined')),
      'The service joins its other instances and answers in a few seconds.',
      'process-unavailable',
    ],
  ])('is no fault of the database, and a warning in the log: %s', async (error, reason, msg) => {
    failure.failAt(1, () => error)
    const { status, body } = await call(app, 'GET', '/api/lanes', owner())
    expect([status, body.detail]).toEqual([
      503,
      `${reason} Nothing was changed. Send this request again in 2 seconds.`,
    ])
    const lines = app.logLines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines).toContainEqual(expect.objectContaining({ request_id: body.request_id, level: 'warn', msg }))
    expect(lines).not.toContainEqual(expect.objectContaining({ request_id: body.request_id, level: 'error' }))
  })

  test('is one line of error per request, of at most 500 bytes without the stack that only some have', async () => {
    const before = app.logLines.length
    const cause = `connect ECONNREFUSED 10.0.0.6 ${'x'.repeat(2_000)}`
    const failedRead = async () => {
      failure.failAt(1, () => new DatabaseUnavailable(new Error(cause)))
      return await call(app, 'GET', '/api/lanes', owner())
    }
    const answers: Answer[] = []
    for (let nth = 0; nth < 20; nth++) answers.push(await failedRead())
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
    const ids = answers.map(({ body }) => body.request_id)
    const errors = app.logLines.slice(before).filter((line) => line.includes('"level":"error"'))
    expect(errors.map((line) => JSON.parse(line).request_id)).toEqual(ids)
    const others = errors.filter((line) => !line.includes('"stack"'))
    expect(others.length).toBeGreaterThan(0)
    expect(others.filter((line) => Buffer.byteLength(line) > 500)).toEqual([])
  })

  test('readiness while the database refuses writes, with the reason', async () => {
    const full = await testApp({
      wrapDatabase: (database) => ({
        ...database,
        ping: async () => ({ ...(await database.ping()), writesRefused: 'The disk is full.' }),
      }),
    })
    try {
      const { status, body } = await call(full, 'GET', '/readyz')
      expect([status, body.detail]).toEqual([503, 'The disk is full.'])
      expect(body.checks).toContainEqual({ name: 'writes', status: 'failed', detail: 'The disk is full.' })
    } finally {
      await full.close()
    }
  })

  test('readiness while the database does not respond', async () => {
    const gone = await testApp({
      wrapDatabase: (database) => ({ ...database, ping: () => Promise.reject(outage()) }),
    })
    try {
      expect((await call(gone, 'GET', '/healthz')).status).toBe(200)
      expect((await call(gone, 'GET', '/readyz')).status).toBeGreaterThanOrEqual(500)
    } finally {
      await gone.close()
    }
  })
})

describe('500', () => {
  const title = '%s: an error of the service reveals nothing internal'
  test.each(callsOfEachKind)(title, (_what, ask) => failsAtEachUse(ask))
  test.each(moreCalls)(title, { tags: 'long' }, (_what, ask) => failsAtEachUse(ask))

  async function failsAtEachUse(ask: () => Promise<Answer>) {
    await failEachUse(ask, bug, ({ status, body }, nth) => {
      expect([nth, status, body.type]).toEqual([nth, 500, '/problems/internal'])
      expect(JSON.stringify(body)).not.toMatch(inside)
    })
  }
})

describe('a failed write changes nothing', () => {
  test.each([outage, bug])(
    'an update that fails at any use changes neither the quote nor its trail (%#)',
    async (error) => {
      const fresh = await makeQuote(app, acme.tenant)
      const read = async () => [
        (await call(app, 'GET', `/api/lanes/${fresh.lane_ref}`, owner())).body,
        (await call(app, 'GET', `/api/lanes/${fresh.lane_ref}/changes`, owner())).body,
      ]
      const before = await read()
      const update = { lane_ref: fresh.lane_ref, customer_rate: 2100, truck_cost: 1800 }
      let failed = 0
      for (let nth = 1; ; nth++) {
        failure.failAt(nth, error)
        const answer = await pushUpdate(app, acme, update)
        const fired = failure.hasFired()
        if (!fired) {
          // The retry of the very same signed request takes effect, once.
          expect([answer.status, answer.headers.get('Idempotent-Replayed')]).toEqual([200, null])
          break
        }
        failed++
        expect(await read()).toEqual(before)
      }
      // An update uses the database at least twice: it reads, and it writes.
      expect(failed).toBeGreaterThanOrEqual(2)
      expect((await read())[1].changes).toHaveLength(1)
    },
  )

  test('an update that PostgreSQL aborts at any table changes no table', async () => {
    const fresh = await makeQuote(app, acme.tenant)
    const maker = new pg.Client(app.testDatabase.owner)
    await maker.connect()
    const tables = ['quotes', 'quote_changes', 'shipment_updates', 'tenant_facts', 'quote_versions']
    const read = async () => {
      await maker.query(`begin; select set_config('app.tenant_id', '${acme.tenant.id}', true)`)
      const rows = []
      for (const table of tables)
        rows.push((await maker.query(`select t::text from ${table} t order by 1`)).rows)
      await maker.query('rollback')
      return rows
    }
    const update = { lane_ref: fresh.lane_ref, customer_rate: 2100, truck_cost: 1800 }
    try {
      await maker.query(`
        create function no_room() returns trigger language plpgsql
          as $$ begin raise exception 'no room' using errcode = 'disk_full'; end $$`)
      const before = await read()
      for (const table of tables) {
        await maker.query(`
          create trigger full_disk after insert or update on ${table} for each row execute function no_room()`)
        const { status, body } = await pushUpdate(app, acme, update)
        await maker.query(`drop trigger full_disk on ${table}`)
        expect([table, status, body.type]).toEqual([table, 503, '/problems/unavailable'])
        // PostgreSQL reported the failure, so the outcome is known.
        expect(body.detail).not.toMatch(/outcome unknown/)
        expect(await read()).toEqual(before)
      }
      const answer = await pushUpdate(app, acme, update)
      expect([answer.status, answer.headers.get('Idempotent-Replayed')]).toEqual([200, null])
    } finally {
      await maker.query('drop function if exists no_room() cascade')
      await maker.end()
    }
  })
})

describe('409', () => {
  // Fails if the lock timeout is not shorter than the statement timeout: the answer would then be 503.
  test('the caller of an update of a locked quote is asked to retry', async () => {
    const impatient = await appOn(app.testDatabase, {
      secretKeys: [app.secretKey],
      now: app.now,
      deadlines: { lockMs: 100 },
    })
    const holder = await holding(quote.lane_ref)
    try {
      const answer = await pushUpdate(impatient, acme, { lane_ref: quote.lane_ref, customer_rate: 3000 })
      expect([answer.status, answer.body.type]).toEqual([409, '/problems/request-in-progress'])
      expect(answer.headers.get('Retry-After')).toBe('1')
    } finally {
      await holder.letGo()
      await impatient.close()
    }
  })

  test("a repeated update does not wait for the quote's lock: its answer was saved", async () => {
    const update = { lane_ref: quote.lane_ref, customer_rate: 3100 }
    const first = await pushUpdate(app, acme, update)
    const holder = await holding(quote.lane_ref)
    try {
      const again = await pushUpdate(app, acme, update)
      expect([again.status, again.body]).toEqual([200, first.body])
      expect(again.headers.get('Idempotent-Replayed')).toBe('true')
    } finally {
      await holder.letGo()
    }
  })

  test.each([
    ['that are applied', 0],
    ['that are too old to be applied', 60],
  ])('equal updates that %s and waited for the same quote are one update', async (_which, older) => {
    const fresh = await makeQuote(app, acme.tenant)
    const now = Math.floor(app.now / 1000)
    if (older > 0) await pushUpdate(app, acme, { lane_ref: fresh.lane_ref, carrier_name: 'Blue Mesa' }, now)
    const holder = await holding(fresh.lane_ref)
    const update = { lane_ref: fresh.lane_ref, carrier_name: 'Red Rock' }
    const waiting = Promise.all(Array.from({ length: 5 }, () => pushUpdate(app, acme, update, now - older)))
    await waitingForLock(app.testDatabase.service)
    await holder.letGo()
    const answers = await waiting
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(answers.filter(({ headers }) => headers.get('Idempotent-Replayed') === null)).toHaveLength(1)
    const { body } = await call(app, 'GET', `/api/lanes/${fresh.lane_ref}/changes`, owner())
    expect(body.changes).toHaveLength(1)
  })

  test('different updates that waited for the same quote become numbered changes, each based on the previous one', async () => {
    const fresh = await makeQuote(app, acme.tenant)
    const holder = await holding(fresh.lane_ref)
    const values = [
      { customer_rate: 2100 },
      { truck_cost: 1800 },
      { carrier_name: 'Blue Mesa' },
      { customer_name: 'Billed Elsewhere' },
    ]
    const waiting = Promise.all(
      values.map((value) => pushUpdate(app, acme, { lane_ref: fresh.lane_ref, ...value })),
    )
    await waitingForLock(app.testDatabase.service)
    await holder.letGo()
    expect((await waiting).map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const { body } = await call(app, 'GET', `/api/lanes/${fresh.lane_ref}/changes`, owner())
    const changes = body.changes.toReversed()
    expect(changes.map(({ change_id }: { change_id: number }) => change_id)).toEqual([1, 2, 3, 4])
    const changed = await call(app, 'GET', `/api/lanes/${fresh.lane_ref}`, owner())
    expect(changed.body).toMatchObject(Object.assign({}, ...values))
  })

  test('an update that waited for a person’s change is merged into the changed quote', async () => {
    const fresh = await makeQuote(app, acme.tenant)
    const holder = await holding(fresh.lane_ref)
    const waiting = pushUpdate(app, acme, { lane_ref: fresh.lane_ref, customer_rate: 2100 })
    await waitingForLock(app.testDatabase.service)
    await holder.letGo("update quotes set carrier_name = 'Blue Mesa', truck_cost_cents = 150000")
    expect((await waiting).status).toBe(200)
    const { body } = await call(app, 'GET', `/api/lanes/${fresh.lane_ref}`, owner())
    expect([body.customer_rate, body.carrier_name, body.truck_cost]).toEqual([2100, 'Blue Mesa', 1500])
  })
})

/** Another session that holds the lock of a quote, and may change the quote before it releases the lock. */
async function holding(laneRef: string) {
  const holder = new pg.Client(app.testDatabase.owner)
  await holder.connect()
  await holder.query('begin')
  await holder.query("select set_config('app.tenant_id', $1, true)", [String(acme.tenant.id)])
  await holder.query('select from quotes where lane_ref = $1 for update', [laneRef])
  return {
    async letGo(change?: string): Promise<void> {
      if (change !== undefined) await holder.query(`${change} where lane_ref = $1`, [laneRef])
      await holder.query(change === undefined ? 'rollback' : 'commit')
      await holder.end()
    },
  }
}
