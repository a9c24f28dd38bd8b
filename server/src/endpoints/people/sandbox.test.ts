import pg from 'pg'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { changeTenantStatus, eraseTenant } from '#server/operations/index.ts'
import {
  call,
  type Integration,
  type MadeTenant,
  makeIntegration,
  makePerson,
  makeQuote,
  makeSecret,
  makeServiceToken,
  makeTenant,
  pushUpdate,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { testApp } from '#testing/test-app.ts'

const insight = '/api/integrations/insights/lane?origin=Dallas,%20TX&destination=Atlanta,%20GA'

let app: TestApp
let acme: Integration

beforeAll(async () => {
  app = await sharedApp()
  acme = await makeIntegration(app)
})
beforeEach(() => {
  app.now += 2_000
})

const reset = (token: string) => call(app, 'POST', '/api/sandbox/reset', { token, body: {} })
const enter = (token: string) => call(app, 'POST', '/api/sandbox/session', { token, body: {} })

/** The test brokerage of a brokerage, with its own credentials, as a tenant and an integration. */
async function sandboxOf(tenant: MadeTenant): Promise<Integration> {
  const { body: session } = await enter(tenant.owner)
  const sandbox = { ...tenant, id: session.tenant.id, owner: session.token }
  return {
    tenant: sandbox,
    token: await makeServiceToken(app, sandbox.owner),
    secret: await makeSecret(app, sandbox.owner),
  }
}

describe('POST /api/sandbox/session', () => {
  test('creates one test brokerage; again enters the same', async () => {
    const tenant = await makeTenant(app)
    const made = await enter(tenant.owner)
    expect([made.status, made.body.tenant]).toEqual([
      201,
      expect.objectContaining({
        name: 'Test Brokers (test)',
        test: true,
        created_at: new Date(app.now).toISOString(),
      }),
    ])
    expect(made.body.tenant.id).not.toBe(tenant.id)
    app.now += 2_000
    expect((await enter(tenant.owner)).body.tenant).toEqual(made.body.tenant)
    const log = await call(app, 'GET', '/api/audit?kind=sandbox-entered', { token: tenant.owner })
    expect(log.body.events).toHaveLength(2)
  })

  test('ten at once create one, with one person', async () => {
    const tenant = await makeTenant(app)
    const made = await Promise.all(Array.from({ length: 10 }, () => enter(tenant.owner)))
    expect(new Set(made.map(({ body }) => `${body.tenant.id} ${body.user.id}`)).size).toBe(1)
  })

  test('a number that belongs to another brokerage is never adopted', async () => {
    const [tenant, other] = [await makeTenant(app), await makeTenant(app)]
    const owner = new pg.Client(app.testDatabase.owner)
    await owner.connect()
    await owner.query("select set_config('app.tenant_id', $1, false)", [String(tenant.id)])
    await owner.query('update tenants set sandbox_id = $1 where tenant_id = $2', [other.id, tenant.id])
    await owner.end()
    const made = await enter(tenant.owner)
    expect([made.status, made.body.tenant.id === other.id]).toEqual([201, false])
    expect((await call(app, 'GET', '/api/me', { token: other.owner })).body.tenant.test).toBe(false)
  })

  test.each(['viewer', 'member'] as const)('a %s neither enters nor resets it', async (role) => {
    const { token } = await makePerson(app, acme.tenant, role)
    for (const ask of [enter, reset]) expect((await ask(token)).status).toBe(403)
  })
})

describe('the test brokerage', () => {
  let real: Integration
  let trial: Integration
  let realRef: string
  let trialRef: string

  beforeAll(async () => {
    real = await makeIntegration(app)
    trial = await sandboxOf(real.tenant)
    realRef = (await makeQuote(app, real.tenant, { outcome: 'won' })).lane_ref
    trialRef = (await makeQuote(app, trial.tenant, { rate: 1500, outcome: 'lost' })).lane_ref
  })

  test('a test token sees test data only, and a real token real data only', async () => {
    const counts = async (token: string) => (await call(app, 'GET', insight, { token })).body.history
    expect(await counts(real.token)).toMatchObject({ wins: 1, losses: 0 })
    expect(await counts(trial.token)).toMatchObject({ wins: 0, losses: 1 })
    for (const [owner, ref] of [
      [real.tenant.owner, trialRef],
      [trial.tenant.owner, realRef],
    ] as const) {
      const answer = await call(app, 'GET', `/api/lanes/${ref}`, { token: owner })
      expect(answer.status).toBe(404)
    }
  })

  test('a signed write reaches its own brokerage only', async () => {
    const rate = { customer_rate: 2100 }
    expect((await pushUpdate(app, trial, { lane_ref: trialRef, ...rate })).status).toBe(200)
    expect((await pushUpdate(app, trial, { lane_ref: realRef, ...rate })).status).toBe(404)
    expect((await pushUpdate(app, real, { lane_ref: trialRef, ...rate })).status).toBe(404)
    const lane = await call(app, 'GET', `/api/lanes/${realRef}`, { token: real.tenant.owner })
    expect(lane.body.customer_rate).toBeNull()
  })

  test('a secret of the one does not sign for the other', async () => {
    const update = { lane_ref: trialRef, customer_rate: 1 }
    const mixed = [
      { token: trial.token, secret: real.secret },
      { token: real.token, secret: trial.secret },
    ]
    for (const credentials of mixed) {
      const answer = await pushUpdate(app, credentials, update)
      expect([answer.status, answer.body.code]).toEqual([401, 'signature-mismatch'])
    }
  })

  test('is marked for the people in it; the real one is not', async () => {
    expect((await call(app, 'GET', '/api/me', { token: trial.tenant.owner })).body.tenant.test).toBe(true)
    expect((await call(app, 'GET', '/api/me', { token: real.tenant.owner })).body.tenant.test).toBe(false)
  })

  test('is entered for an hour, in the role of the person, whose address still signs in to the real one', async () => {
    const admin = await makePerson(app, real.tenant, 'admin')
    const entered = await enter(admin.token)
    expect([entered.status, entered.body.user.role, entered.body.tenant.id]).toEqual([
      201,
      'admin',
      trial.tenant.id,
    ])
    expect(Date.parse(entered.body.expires_at) - app.now).toBeLessThanOrEqual(3_600_000)
    expect(entered.headers.get('set-cookie')).toContain('__Host-lanewise=')
    // Entering again gives the same person.
    expect((await enter(admin.token)).body.user.id).toBe(entered.body.user.id)
    const signedIn = await call(app, 'POST', '/api/auth/sign-in', {
      body: { email: admin.email, password: admin.password },
    })
    expect(signedIn.body.tenant.id).toBe(real.tenant.id)
  })

  test.each([
    ['is removed', (id: number) => call(app, 'DELETE', `/api/users/${id}`, { token: real.tenant.owner })],
    [
      'loses the role',
      (id: number) =>
        call(app, 'PATCH', `/api/users/${id}`, { token: real.tenant.owner, body: { role: 'member' } }),
    ],
    [
      'signs out everywhere',
      (_id: number, token: string) =>
        call(app, 'POST', '/api/auth/sign-out', { token, body: { everywhere: true } }),
    ],
  ] as const)('the session in it ends when its person %s', async (_what, end) => {
    app.now += 2_000
    const admin = await makePerson(app, real.tenant, 'admin')
    const { token } = (await enter(admin.token)).body
    const me = () => call(app, 'GET', '/api/me', { token })
    expect((await me()).status).toBe(200)
    expect((await end(admin.id, admin.token)).status).toBe(200)
    expect((await me()).status).toBe(401)
    // The session of another person continues.
    expect((await call(app, 'GET', '/api/me', { token: trial.tenant.owner })).status).toBe(200)
  })

  test('has no test brokerage of its own, and nobody is invited to it', async () => {
    const { owner } = trial.tenant
    expect((await enter(owner)).body.code).toBe('state-conflict')
    const invited = await call(app, 'POST', '/api/users', {
      token: owner,
      body: { name: 'Guest', email: 'guest@example.com', role: 'viewer' },
    })
    expect(invited.body.code).toBe('state-conflict')
  })
})

test('the test brokerage has a rate limit of its own', async () => {
  const clock = { now: 0 }
  const limited = await testApp({ rateLimit: 'real', monotonic: () => clock.now })
  try {
    const real = await makeIntegration(limited)
    // Creating credentials counts, too.
    clock.now += 1_100
    const session = await call(limited, 'POST', '/api/sandbox/session', {
      token: real.tenant.owner,
      body: {},
    })
    const token = await makeServiceToken(limited, session.body.token)
    clock.now += 1_100
    const ask = (of: string) => call(limited, 'GET', insight, { token: of })
    const answers = await Promise.all(Array.from({ length: 14 }, () => ask(token)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect((await ask(real.token)).status).toBe(200)
  } finally {
    await limited.close()
  }
})

describe('POST /api/sandbox/reset', () => {
  test('erases the data and keeps the credentials; the real brokerage is unchanged', async () => {
    const real = await makeIntegration(app)
    const trial = await sandboxOf(real.tenant)
    const realLane = await makeQuote(app, real.tenant, { outcome: 'won' })
    const quote = await makeQuote(app, trial.tenant, { outcome: 'won' })
    await pushUpdate(app, trial, { lane_ref: quote.lane_ref, customer_rate: 2100, truck_cost: 1700 })
    const imported = await fetch(`${app.url}/api/imports`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${trial.tenant.owner}`, 'Content-Type': 'text/csv' },
      body: 'origin,destination,equipment,quoted_rate,quoted_at\n"Dallas, TX","Macon, GA",V,2000,2026-01-05\n',
    })
    expect(imported.status).toBe(202)
    const quotesOf = async (token: string) => (await call(app, 'GET', '/api/lanes', { token })).body.lanes
    await expect.poll(() => quotesOf(trial.tenant.owner)).toHaveLength(2)
    expect((await call(app, 'GET', insight, { token: trial.token })).body.found).toBe(true)
    await app.settle()
    const erased = await expect
      .poll(async () => (await reset(trial.tenant.owner)).body.rows_erased)
      .toBeGreaterThan(4)
      .then(() => true)
    expect(erased).toBe(true)

    expect(await quotesOf(trial.tenant.owner)).toEqual([])
    expect((await call(app, 'GET', '/api/imports', { token: trial.tenant.owner })).body.imports).toEqual([])
    app.now += 2_000
    expect((await call(app, 'GET', insight, { token: trial.token })).body.found).toBe(false)
    expect((await quotesOf(real.tenant.owner)).map((one: { lane_ref: string }) => one.lane_ref)).toEqual([
      realLane.lane_ref,
    ])
    // The same credentials continue.
    const next = await makeQuote(app, trial.tenant)
    expect((await pushUpdate(app, trial, { lane_ref: next.lane_ref, customer_rate: 1 })).status).toBe(200)
    expect((await pushUpdate(app, trial, { lane_ref: quote.lane_ref, customer_rate: 1 })).status).toBe(404)
  })

  test('erases nothing of a real brokerage, also of one that has a test brokerage', async () => {
    const real = await makeTenant(app)
    const trial = await sandboxOf(real)
    await makeQuote(app, real)
    await makeQuote(app, trial.tenant)
    const refused = await reset(real.owner)
    expect([refused.status, refused.body.code]).toEqual([409, 'state-conflict'])
    for (const { owner } of [real, trial.tenant]) {
      expect((await call(app, 'GET', '/api/lanes', { token: owner })).body.lanes).toHaveLength(1)
    }
    // A quote and its request; the calls that created the credentials may be logged by now.
    expect((await reset(trial.tenant.owner)).body.rows_erased).toBeGreaterThanOrEqual(2)
  })

  test('more rows than one transaction erases are erased', { tags: 'long' }, async () => {
    const real = await makeTenant(app)
    const trial = await sandboxOf(real)
    for (let request = 0; request < 25; request++) {
      app.now += 1_000
      await call(app, 'POST', '/api/quote-requests', {
        token: trial.tenant.owner,
        body: {
          customer_name: 'Bulk',
          lanes: Array.from({ length: 100 }, () => ({
            origin: 'Dallas, TX',
            destination: 'Atlanta, GA',
            equipment: 'V',
            quoted_rate: 2000,
          })),
        },
      })
    }
    const answer = await reset(trial.tenant.owner)
    // The quotes, their requests, and the logged calls that created the credentials.
    expect(answer.body.rows_erased).toBeGreaterThanOrEqual(2_525)
  })
})

describe('the database', () => {
  /** What a reset keeps. Each other table of tenants must be in erase_sandbox_rows. */
  const kept = [
    'audit_log',
    'daily_counts',
    'diesel_prices',
    'event_endpoints',
    'event_secrets',
    'exchange_days',
    'expiry_notices',
    'fuel_days',
    'fuel_periods',
    'quote_list_settings',
    'quote_versions',
    'service_tokens',
    'sessions',
    'sign_in_emails',
    'sign_in_networks',
    'signing_secrets',
    'team_members',
    'teams',
    'tenant_counters',
    'tenant_facts',
    'tenant_windows',
    'tenants',
    'users',
  ]

  test('erases every table of tenants except those that a reset keeps', async () => {
    const owner = new pg.Client(app.testDatabase.owner)
    await owner.connect()
    const { rows } = await owner.query<{ table: string; text: string }>(`
      select c.relname as table, pg_get_functiondef('erase_sandbox_rows(integer, integer)'::regprocedure) as text
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
      where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
      order by 1`)
    await owner.end()
    const left = rows.filter(({ table, text }) => !text.includes(`delete from public.${table} `))
    expect(left.map(({ table }) => table)).toEqual(kept)
  })

  test('erases rows of a test brokerage only, and only of that of the transaction', async () => {
    const [real, other] = [await makeTenant(app), await makeTenant(app)]
    const trial = await sandboxOf(real)
    await makeQuote(app, other)
    const service = new pg.Client({ connectionString: app.testDatabase.serviceUrl })
    await service.connect()
    try {
      const erase = async (within: number, of: number) => {
        await service.query('begin')
        await service.query("select set_config('app.tenant_id', $1, true)", [String(within)])
        try {
          await service.query('select erase_sandbox_rows($1, 100)', [of])
          return 'erased'
        } catch (error) {
          return (error as Error).message
        } finally {
          await service.query('rollback')
        }
      }
      expect(await erase(trial.tenant.id, trial.tenant.id)).toBe('erased')
      for (const [within, of] of [
        [real.id, real.id],
        [other.id, other.id],
        [other.id, trial.tenant.id],
        [trial.tenant.id, other.id],
        [real.id, trial.tenant.id],
      ] as const)
        expect(await erase(within, of)).toBe('not a test brokerage')
    } finally {
      await service.end()
    }
  })
})

describe('the operator', () => {
  const around = () => ({
    config: {
      databaseUrl: app.testDatabase.serviceUrl,
      migrationDatabaseUrl: app.testDatabase.ownerUrl,
      dataDirectory: '/nowhere',
      deadlineFactor: 30,
    },
    remark: () => {},
  })

  test('suspends, resumes and erases the test brokerage with its brokerage', async () => {
    const real = await makeTenant(app)
    const trial = await sandboxOf(real)
    const soonAnswers = (status: number) =>
      expect
        .poll(
          async () => {
            app.now += 2_000
            return (await call(app, 'GET', insight, { token: trial.token })).status
          },
          { timeout: 60_000 },
        )
        .toBe(status)
    await soonAnswers(200)
    await changeTenantStatus(around(), String(real.id), 'suspended', app.now)
    await soonAnswers(401)
    await changeTenantStatus(around(), String(real.id), 'active', app.now)
    await soonAnswers(200)
    const { name, erased } = await eraseTenant(around(), String(real.id), { now: app.now })
    expect(erased).toBe(false)
    await eraseTenant(around(), String(real.id), { confirmed: name, now: app.now })
    await soonAnswers(401)
    const owner = new pg.Client(app.testDatabase.owner)
    await owner.connect()
    const { rowCount } = await owner.query('select from tenants where tenant_id = any($1)', [
      [real.id, trial.tenant.id],
    ])
    await owner.end()
    expect(rowCount).toBe(0)
  })
})
