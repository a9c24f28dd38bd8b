import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Papa from 'papaparse'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import {
  type AuditKind,
  auditGroups,
  auditKinds,
  auditKindsOf,
  formerAuditKinds,
} from '#contract/audit-kinds.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { byOperator, recordEvent } from '#server/audit/index.ts'
import { eraseTenantRows } from '#server/database/queries/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import {
  changeTenantStatus,
  exportTenant,
  importTenant,
  removeLostSecrets,
  resetPassword,
} from '#server/operations/index.ts'
import { secretKey } from '#server/security/index.ts'
import { appOn } from '#testing/app-on-database.ts'
import { asTableOwner } from '#testing/as-table-owner.ts'
import {
  call,
  type MadeTenant,
  makeIntegration,
  makePerson,
  makeQuote,
  makeServiceToken,
  makeTenant,
  password,
  pushUpdate,
  signedHeaders,
} from '#testing/make.ts'
import { quotesFile } from '#testing/quotes-file.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const path = '/api/audit'
const read = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'
const minute = 60_000

let app: TestApp
let owner: pg.Client
let exports: string

beforeAll(async () => {
  app = await testApp()
  owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
  exports = await mkdtemp(join(tmpdir(), 'lanewise-audit-'))
})
afterAll(async () => {
  await owner.end()
  await app.close()
  await rm(exports, { recursive: true })
})

/** The audit log of a brokerage, oldest first. */
async function logOf(tenant: MadeTenant) {
  await app.refusals.settle()
  const { rows } = await asTableOwner(owner, tenant.id, () =>
    owner.query<Record<string, unknown>>('select * from audit_log order by entry_number'),
  )
  return rows
}

/** Sends the events that are due, or become due, to a receiver that answers 410, until it has disabled the endpoint of the tenant. */
async function sendUntilDisabled(tenant: MadeTenant): Promise<void> {
  // 410: the receiver accepts no more events.
  const gone = async () => ({ status: 410, text: '', failure: null, retryAfterSeconds: null })
  const sender = await appOn(app.testDatabase, {
    secretKeys: [app.secretKey],
    now: app.now,
    connectionsMax: 2,
    sendEvents: { post: gone, everyMs: 20 },
  })
  try {
    await expect.poll(() => hookOf(tenant)).toMatchObject({ state: 'disabled', dead: 1 })
  } finally {
    await sender.close()
  }
}

const around = () => ({
  config: {
    databaseUrl: app.testDatabase.serviceUrl,
    migrationDatabaseUrl: app.testDatabase.ownerUrl,
    dataDirectory: '/nowhere',
    deadlineFactor: 30,
  },
  remark: () => {},
})

const exporting = (tenant: MadeTenant) => ({
  folder: join(exports, String(tenant.id)),
  keys: [app.secretKey] as const,
  moveKey: null,
  passwords: true,
  now: app.now,
})

const signIn = (email: string, tried: string) =>
  call(app, 'POST', '/api/auth/sign-in', { body: { email, password: tried } })
const invite = (tenant: MadeTenant, email = `sam-${crypto.randomUUID()}@example.com`) =>
  call(app, 'POST', '/api/users', { token: tenant.owner, body: { name: 'Sam', email, role: 'member' } })
const byOwner = (tenant: MadeTenant, method: string, address: string, body?: unknown) =>
  call(app, method, address, { token: tenant.owner, ...(body === undefined ? {} : { body }) })

const pricingRule = { conditions: { customer: 'Harvest' }, terms: { minimum: { margin_pct: 8 } } }
const blockLowRates = (tenant: MadeTenant) =>
  byOwner(tenant, 'POST', '/api/pricing-rules', {
    conditions: {},
    terms: { minimum: { rate_per_mile: 100 }, outside: 'approval' },
  })
const askApproval = (tenant: MadeTenant) =>
  byOwner(tenant, 'POST', '/api/approvals', {
    customer_name: 'Harvest',
    lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 100 }],
  })
const addRule = (tenant: MadeTenant) => byOwner(tenant, 'POST', '/api/pricing-rules', pricingRule)

async function makeImport(tenant: MadeTenant): Promise<number> {
  const response = await fetch(`${app.url}/api/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
    body: quotesFile({ seed: 1, quotes: 2, until: app.now, hours: 24 }),
  })
  const { import_id } = (await response.json()) as { import_id: number }
  await expect
    .poll(async () => (await byOwner(tenant, 'GET', `/api/imports/${import_id}`)).body.status)
    .toBe('done')
  return import_id
}

/** Removes the secrets of a brokerage as if the key were lost. Afterwards, the database has no key again. */
async function loseKey(tenant: MadeTenant): Promise<void> {
  const key = secretKey(randomBytes(32).toString('base64'))
  if (key === null) throw new Error('No key.')
  const { now, database } = app
  await owner.query("update installation set key_check = '\\x00'")
  const keys = { keys: [key], tokenKeys: [key], oldUntil: null } as const
  await removeLostSecrets(database, [{ tenant: tenantId(tenant.id), name: 'Test Brokers' }], {
    ...keys,
    now,
    list: () => {},
  })
  await owner.query('update installation set key_check = null')
}

const addHook = (tenant: MadeTenant) =>
  byOwner(tenant, 'POST', '/api/event-endpoints', { url: 'https://hooks.example.com/' })
const hookOf = async (tenant: MadeTenant) =>
  (await byOwner(tenant, 'GET', '/api/event-endpoints')).body.endpoints[0]

/** Causes one event of each kind. Events of the preparation (`before`) are not counted. */
const events: Partial<
  Record<
    AuditKind,
    {
      before?: (tenant: MadeTenant) => Promise<unknown>
      make: (tenant: MadeTenant, made: never) => Promise<unknown>
    }
  >
> = {
  'signed-in': { make: (tenant) => signIn(tenant.email, password) },
  'sign-in-failed': { make: (tenant) => signIn(tenant.email, 'wrong password here') },
  'sign-in-backed-off': {
    before: async (tenant) => {
      for (let tried = 0; tried < 5; tried++) await signIn(tenant.email, 'wrong password here')
    },
    make: (tenant) => signIn(tenant.email, password),
  },
  'signed-out': { make: (tenant) => byOwner(tenant, 'POST', '/api/auth/sign-out', {}) },
  'password-changed': {
    make: (tenant) =>
      byOwner(tenant, 'POST', '/api/auth/password', {
        current_password: password,
        new_password: 'otter saddle lamp pond',
      }),
  },
  'password-reset': { make: (tenant) => resetPassword(tenant.email, around(), app.now) },
  'sandbox-entered': { make: (tenant) => byOwner(tenant, 'POST', '/api/sandbox/session', {}) },
  'sandbox-reset': {
    // A reset is recorded in the test brokerage, whose log is then read.
    before: async (tenant) => {
      const { body } = await byOwner(tenant, 'POST', '/api/sandbox/session', {})
      Object.assign(tenant, { id: body.tenant.id, owner: body.token })
    },
    make: (tenant) => byOwner(tenant, 'POST', '/api/sandbox/reset', {}),
  },
  'person-invited': { make: (tenant) => invite(tenant) },
  'invitation-accepted': {
    before: async (tenant) => (await invite(tenant)).body.invitation,
    make: (_tenant, invitation) =>
      call(app, 'POST', '/api/auth/accept-invitation', { body: { invitation, password } }),
  },
  'role-changed': {
    before: (tenant) => makePerson(app, tenant, 'member'),
    make: (tenant, { id }: { id: number }) =>
      byOwner(tenant, 'PATCH', `/api/users/${id}`, { role: 'viewer' }),
  },
  'person-removed': {
    before: (tenant) => makePerson(app, tenant, 'member'),
    make: (tenant, { id }: { id: number }) => byOwner(tenant, 'DELETE', `/api/users/${id}`),
  },
  'token-created': { make: (tenant) => makeServiceToken(app, tenant.owner) },
  'token-revoked': {
    before: (tenant) => makeServiceToken(app, tenant.owner),
    make: async (tenant) => {
      await byOwner(tenant, 'DELETE', '/api/integrations/tokens/1')
      // Revoking it again changes nothing and is not an event.
      await byOwner(tenant, 'DELETE', '/api/integrations/tokens/1')
    },
  },
  'secret-created': {
    make: (tenant) => byOwner(tenant, 'POST', '/api/integrations/secrets', { name: 'tms' }),
  },
  'secret-rotated': {
    before: (tenant) => byOwner(tenant, 'POST', '/api/integrations/secrets', { name: 'tms' }),
    make: (tenant) => byOwner(tenant, 'POST', '/api/integrations/secrets/1/rotate', {}),
  },
  'secret-revoked': {
    before: (tenant) => byOwner(tenant, 'POST', '/api/integrations/secrets', { name: 'tms' }),
    make: async (tenant) => {
      await byOwner(tenant, 'DELETE', '/api/integrations/secrets/1')
      await byOwner(tenant, 'DELETE', '/api/integrations/secrets/1')
    },
  },
  'secrets-lost': {
    before: (tenant) => byOwner(tenant, 'POST', '/api/integrations/secrets', { name: 'tms' }),
    make: (tenant) => loseKey(tenant),
  },
  'event-endpoint-added': { make: addHook },
  'event-endpoint-changed': {
    before: addHook,
    make: async (tenant) => {
      await byOwner(tenant, 'PATCH', '/api/event-endpoints/1', { state: 'paused' })
      await byOwner(tenant, 'PATCH', '/api/event-endpoints/1', { state: 'paused' })
    },
  },
  'event-endpoint-removed': {
    before: addHook,
    make: async (tenant) => {
      await byOwner(tenant, 'DELETE', '/api/event-endpoints/1')
      await byOwner(tenant, 'DELETE', '/api/event-endpoints/1')
    },
  },
  'event-secret-rotated': {
    before: addHook,
    make: (tenant) => byOwner(tenant, 'POST', '/api/event-endpoints/1/rotate', {}),
  },
  'event-endpoint-disabled': {
    before: addHook,
    make: async (tenant) => {
      await byOwner(tenant, 'POST', '/api/event-endpoints/1/test')
      await sendUntilDisabled(tenant)
    },
  },
  'events-replayed': {
    before: async (tenant) => {
      await addHook(tenant)
      await byOwner(tenant, 'POST', '/api/event-endpoints/1/test')
      await sendUntilDisabled(tenant)
      await byOwner(tenant, 'PATCH', '/api/event-endpoints/1', { state: 'active' })
    },
    make: async (tenant) => {
      // The 410 of the receiver causes another event, which this case does not count.
      const known = (await logOf(tenant)).length
      const since = '2020-01-01T00:00:00Z'
      await byOwner(tenant, 'POST', '/api/event-endpoints/1/replay', { since, only_dead: true })
      await sendUntilDisabled(tenant)
      await asTableOwner(owner, tenant.id, () =>
        owner.query('delete from audit_log where entry_number = $1', [known + 2]),
      )
    },
  },
  'settings-changed': {
    make: async (tenant) => {
      await byOwner(tenant, 'PATCH', '/api/tenant', { name: 'Renamed Brokers', floors: { margin_pct: 8 } })
      await byOwner(tenant, 'PATCH', '/api/tenant', { name: 'Renamed Brokers' })
    },
  },
  'change-rolled-back': {
    before: (tenant) => makeQuote(app, tenant, { outcome: 'won' }),
    make: (tenant, quote: { lane_ref: string }) =>
      byOwner(tenant, 'POST', `/api/lanes/${quote.lane_ref}/rollback`, { change_id: 1 }),
  },
  'data-exported': { make: (tenant) => byOwner(tenant, 'GET', '/api/lanes/export?outcome=won') },
  'import-started': { make: makeImport },
  'import-undone': {
    before: makeImport,
    make: (tenant, id) => byOwner(tenant, 'POST', `/api/imports/${id}/undo`),
  },
  'approval-requested': {
    before: blockLowRates,
    make: askApproval,
  },
  'approval-decided': {
    before: async (tenant) => {
      await blockLowRates(tenant)
      return (await askApproval(tenant)).body.approval_id as number
    },
    make: (tenant, id) => byOwner(tenant, 'POST', `/api/approvals/${id}/decision`, { decision: 'reject' }),
  },
  'pricing-rule-added': { make: addRule },
  'pricing-rule-changed': {
    before: addRule,
    make: (tenant) => byOwner(tenant, 'PATCH', '/api/pricing-rules/1', { ...pricingRule, on: false }),
  },
  'pricing-rule-removed': {
    before: addRule,
    make: (tenant) => byOwner(tenant, 'DELETE', '/api/pricing-rules/1'),
  },
  'team-changed': { make: (tenant) => byOwner(tenant, 'POST', '/api/teams', { name: 'Produce' }) },
  'team-removed': {
    before: (tenant) => byOwner(tenant, 'POST', '/api/teams', { name: 'Produce' }),
    make: (tenant) => byOwner(tenant, 'DELETE', '/api/teams/1'),
  },
  'customer-changed': {
    make: async (tenant) => {
      await byOwner(tenant, 'PATCH', '/api/customers/record', { name: 'Harvest', tier: 'A' })
      await byOwner(tenant, 'PATCH', '/api/customers/record', { name: 'HARVEST', tier: 'A' })
    },
  },
  'customers-decided': {
    make: (tenant) =>
      byOwner(tenant, 'POST', '/api/customers/decisions', {
        name: 'Harvest Inc',
        other: 'Harvest',
        decision: 'same',
      }),
  },
  'customer-renamed': {
    make: (tenant) =>
      byOwner(tenant, 'POST', '/api/customers/names', { name: 'Harvest', new_name: 'Harvest Foods' }),
  },
  'market-file-loaded': {
    make: (tenant) =>
      fetch(`${app.url}/api/market-rate-files?source=DAT`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
        body: 'origin,destination,equipment,basis,mid,as_of\n"Dallas, TX","Atlanta, GA",V,all_in,1960,2026-01-05\n',
      }),
  },
  'market-source-erased': {
    before: (tenant) =>
      byOwner(tenant, 'POST', '/api/market-rates', {
        rates: [
          {
            origin: 'Dallas, TX',
            destination: 'Atlanta, GA',
            equipment: 'V',
            basis: 'all_in',
            mid: 1960,
            source: 'DAT',
            as_of: '2026-01-05',
          },
        ],
      }),
    make: (tenant) => byOwner(tenant, 'DELETE', '/api/market-rate-sources/DAT'),
  },
  'tenant-suspended': {
    make: (tenant) => changeTenantStatus(around(), String(tenant.id), 'suspended', app.now),
  },
  'tenant-resumed': {
    before: (tenant) => changeTenantStatus(around(), String(tenant.id), 'suspended', app.now),
    make: async (tenant) => {
      await changeTenantStatus(around(), String(tenant.id), 'active', app.now)
      await changeTenantStatus(around(), String(tenant.id), 'active', app.now)
    },
  },
  'tenant-exported': {
    make: (tenant) => exportTenant(around(), String(tenant.id), exporting(tenant)),
  },
  'tenant-imported': {
    before: (tenant) => exportTenant(around(), String(tenant.id), exporting(tenant)),
    make: async (tenant) => {
      await eraseTenantRows(app.testDatabase.owner, tenantId(tenant.id), { dryRun: false })
      await importTenant(around(), { ...exporting(tenant), withoutSecrets: false })
    },
  },
  'role-refused': {
    before: (tenant) => makePerson(app, tenant, 'member'),
    make: (_tenant, { token }: { token: string }) => call(app, 'GET', '/api/audit', { token }),
  },
  'csrf-refused': {
    make: (tenant) =>
      call(app, 'PATCH', '/api/tenant', {
        headers: { Cookie: `__Host-lanewise=${tenant.owner}`, 'Sec-Fetch-Site': 'cross-site' },
        body: { name: 'Taken over' },
      }),
  },
  'scope-refused': {
    before: async (tenant) => {
      const token = await makeServiceToken(app, tenant.owner)
      await asTableOwner(owner, tenant.id, () =>
        owner.query("update service_tokens set scope = 'integrations:read'"),
      )
      return token
    },
    make: (_tenant, token) => pushUpdate(app, { token, secret: 'x' }, { lane_ref: 'x' }),
  },
  'signature-refused': {
    before: (tenant) => makeServiceToken(app, tenant.owner),
    make: (_tenant, token) => pushUpdate(app, { token, secret: 'not the secret' }, { lane_ref: 'x' }),
  },
  'expired-token-used': {
    make: async (tenant) => {
      app.now += 13 * 60 * minute
      await call(app, 'GET', '/api/me', { token: tenant.owner })
    },
  },
  'revoked-token-used': {
    before: async (tenant) => {
      const token = await makeServiceToken(app, tenant.owner)
      await byOwner(tenant, 'DELETE', '/api/integrations/tokens/1')
      return token
    },
    make: (_tenant, token) => call(app, 'GET', read, { token }),
  },
  'wrong-kind-token-used': { make: (tenant) => call(app, 'GET', read, { token: tenant.owner }) },
  'unknown-token-used': {
    make: (tenant) =>
      call(app, 'GET', read, {
        token: app.tokens.sign('service', {
          tenant_id: tenant.id,
          user_id: 1,
          role: 'owner',
          scope: 'integrations:write',
          jti: crypto.randomUUID(),
          iat: Math.floor(app.now / 1000),
          exp: Math.floor(app.now / 1000) + 3600,
        }),
      }),
  },
}

describe('every security event leaves exactly one row', () => {
  test('every kind of event, sign-up included, has its row in this table', async () => {
    const tenant = await makeTenant(app)
    expect((await logOf(tenant)).map(({ kind }) => kind)).toEqual(['signed-up'])
    expect(['signed-up', ...Object.keys(events), ...formerAuditKinds].sort()).toEqual([...auditKinds].sort())
  })

  test.each(Object.entries(events))('%s', async (kind, { before, make }) => {
    app.now += 16 * minute
    const tenant = await makeTenant(app)
    const made = await before?.(tenant)
    const known = (await logOf(tenant)).length
    await make(tenant, made as never)
    const rows = (await logOf(tenant)).slice(known)
    expect(rows.map((row) => [row.kind, row.count])).toEqual([[kind, 1]])
  })

  test('also a name that an admin gives to a person, and market rates that a person enters, once they change something', async () => {
    const tenant = await makeTenant(app)
    const { id } = await makePerson(app, tenant, 'member')
    const rate = {
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      equipment: 'V',
      basis: 'all_in',
      source: 'DAT',
    }
    const known = (await logOf(tenant)).length
    for (let twice = 0; twice < 2; twice++)
      await byOwner(tenant, 'PATCH', `/api/users/${id}`, { name: 'Sam R.' })
    await byOwner(tenant, 'POST', '/api/market-rates', {
      rates: [{ ...rate, mid: 1960, as_of: '2026-01-05' }],
    })
    await byOwner(tenant, 'POST', '/api/market-rates', { rates: [{ ...rate, mid: 'cheap' }] })
    const rows = (await logOf(tenant)).slice(known)
    expect(rows.map(({ kind, about }) => [kind, JSON.parse(String(about))])).toEqual([
      [
        'settings-changed',
        { before: { name_of_person: expect.any(String) }, after: { name_of_person: 'Sam R.' } },
      ],
      ['market-file-loaded', { rates: 1, by_hand: true }],
    ])
  })
})

describe('refusals', () => {
  test('a burst of one kind is one row at once, one row with the count after a minute, and fewer rows while it continues', {
    tags: 'long',
  }, async () => {
    const { tenant, token } = await makeIntegration(app)
    const known = (await logOf(tenant)).length
    const refused = () => pushUpdate(app, { token, secret: 'not the secret' }, { lane_ref: 'x' })
    for (let sent = 0; sent < 25; sent++) expect((await refused()).status).toBe(401)
    const counts = async () => (await logOf(tenant)).slice(known).map(({ kind, count }) => [kind, count])
    expect(await counts()).toEqual([['signature-refused', 1]])
    app.now += minute
    expect(await counts()).toEqual([
      ['signature-refused', 1],
      ['signature-refused', 24],
    ])
    await refused()
    app.now += minute
    expect(await counts()).toHaveLength(2)
    app.now += minute
    expect((await counts()).at(-1)).toEqual(['signature-refused', 1])
    for (let passed = 0; passed < 6 * 60; passed++) {
      app.now += minute
      await refused()
      await app.refusals.settle()
    }
    // After 4, 8, 16 and 32 minutes, and then every hour.
    const sixHours = (await counts()).slice(3).map(([, count]) => count)
    expect(sixHours).toEqual([3, 8, 16, 32, 60, 60, 60, 60, 60])
    // After an interval without refusals, the next refusal is written at once again.
    app.now += 61 * minute
    await app.refusals.settle()
    app.now += 61 * minute
    await app.refusals.settle()
    const before = (await counts()).length
    await refused()
    expect((await counts()).slice(before)).toEqual([['signature-refused', 1]])
  })

  test('an unknown e-mail address and a foreign token are in no log', async () => {
    app.now += 16 * minute
    const tenant = await makeTenant(app)
    await signIn(`nobody-${crypto.randomUUID()}@example.com`, 'wrong password here')
    await call(app, 'GET', '/api/me', { token: 'eyJhbGciOiJIUzI1NiJ9.e30.AAAA' })
    expect(await logOf(tenant)).toHaveLength(1)
    expect(app.logLines.some((line) => line.includes('sign-in-failed'))).toBe(true)
  })

  test('a shipment update adds no row: it is in the change history of its quote', async () => {
    const integration = await makeIntegration(app)
    const quote = await makeQuote(app, integration.tenant)
    const known = (await logOf(integration.tenant)).length
    expect(
      (await pushUpdate(app, integration, { lane_ref: quote.lane_ref, customer_rate: 2100 })).status,
    ).toBe(200)
    expect(await logOf(integration.tenant)).toHaveLength(known)
  })
})

describe('200', () => {
  test('an admin reads who did what to whom, from where, newest first', async () => {
    const tenant = await makeTenant(app)
    const admin = await makePerson(app, tenant, 'admin')
    await byOwner(tenant, 'PATCH', `/api/users/${admin.id}`, { role: 'owner' })
    const token = (await signIn(admin.email, admin.password)).body.token
    const { status, body, headers } = await call(app, 'GET', path, { token })
    expect([status, headers.get('Cache-Control')]).toEqual([200, 'no-store'])
    expect(body.events.map((event: { kind: string }) => event.kind)).toEqual([
      'signed-in',
      'role-changed',
      'invitation-accepted',
      'person-invited',
      'signed-up',
    ])
    expect(body.events.map((event: { event_id: number }) => event.event_id)).toEqual([5, 4, 3, 2, 1])
    expect(body.events[1]).toEqual({
      event_id: 4,
      at: new Date(app.now).toISOString(),
      kind: 'role-changed',
      done_by: { id: 1, name: 'Olive Quay' },
      done_to: { id: admin.id, name: 'A admin' },
      token: null,
      about: { from: 'admin', to: 'owner' },
      count: 1,
      network: '127.0.0.1',
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  test('a failed sign-in has a target and no known actor', async () => {
    const tenant = await makeTenant(app)
    await signIn(tenant.email, 'wrong password here')
    await app.refusals.settle()
    const { body } = await byOwner(tenant, 'GET', `${path}?kind=sign-in-failed`)
    expect(body.events).toMatchObject([{ done_by: null, done_to: { id: 1, name: 'Olive Quay' } }])
  })

  test('pages have no gaps, also filtered by kind and by person', async () => {
    const tenant = await makeTenant(app)
    const member = await makePerson(app, tenant, 'member')
    for (let made = 0; made < 4; made++) await makeServiceToken(app, tenant.owner)
    const walk = async (filter: string) => {
      const ids: number[] = []
      let cursor = ''
      do {
        const { body } = await byOwner(tenant, 'GET', `${path}?limit=2${filter}${cursor}`)
        ids.push(...body.events.map((event: { event_id: number }) => event.event_id))
        cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
      } while (cursor !== '')
      return ids
    }
    expect(await walk('')).toEqual([7, 6, 5, 4, 3, 2, 1])
    expect(await walk('&kind=token-created')).toEqual([7, 6, 5, 4])
    expect(await walk(`&user_id=${member.id}`)).toEqual([3, 2])
  })

  test('filters by subject and time, and in addition by kind and person', async () => {
    const tenant = await makeTenant(app)
    const member = await makePerson(app, tenant, 'member')
    app.now += minute
    const later = new Date(app.now).toISOString()
    await signIn(tenant.email, 'wrong password here')
    await makeServiceToken(app, tenant.owner)
    await byOwner(tenant, 'PATCH', `/api/users/${member.id}`, { role: 'viewer' })
    await app.refusals.settle()
    const kinds = async (query: string) => {
      const { status, body } = await byOwner(tenant, 'GET', `${path}?${query}`)
      expect([query, status]).toEqual([query, 200])
      return body.events.map((event: { kind: string }) => event.kind).sort()
    }
    const subjects = {
      'sign-in': ['signed-up'],
      people: ['invitation-accepted', 'person-invited', 'role-changed'],
      credentials: ['token-created'],
      events: [],
      brokerage: [],
      refusals: ['sign-in-failed'],
    }
    for (const [group, expected] of Object.entries(subjects)) {
      expect([group, await kinds(`group=${group}`)]).toEqual([group, expected])
    }
    expect(await kinds(`from=${later}`)).toEqual(['role-changed', 'sign-in-failed', 'token-created'])
    expect(await kinds(`to=${later}`)).toEqual(['invitation-accepted', 'person-invited', 'signed-up'])
    expect(await kinds(`from=${later}&to=${later}`)).toEqual([])
    expect(await kinds(`group=people&from=${later}&user_id=${member.id}`)).toEqual(['role-changed'])
    expect(await kinds('group=people&kind=role-changed')).toEqual(['role-changed'])
    expect(await kinds('group=people&kind=token-created')).toEqual([])
  })

  test('every kind belongs to one subject', () => {
    expect(new Set(auditKinds).size).toBe(auditKinds.length)
    expect(Object.keys(auditKindsOf)).toEqual([...auditGroups])
  })

  test('rows of kinds that only earlier versions recorded can be read and selected', async () => {
    const made = await makeTenant(app)
    const tenant = tenantId(made.id)
    for (const kind of formerAuditKinds) {
      await app.database.inTenant(tenant, (transaction) =>
        recordEvent(transaction, byOperator(tenant, app.now), kind, { about: { source: 'DAT' } }),
      )
      const { body } = await byOwner(made, 'GET', `${path}?group=brokerage&kind=${kind}`)
      expect(body.events).toMatchObject([{ kind, about: { source: 'DAT' } }])
    }
  })

  test('the newest row is reported for any filter, and no row of an answer is newer', async () => {
    const tenant = await makeTenant(app)
    await makeServiceToken(app, tenant.owner)
    const rows = await logOf(tenant)
    const newest = {
      event_id: 2,
      at: new Date(app.now).toISOString(),
      hash: Buffer.from(rows[1]?.hash as Buffer).toString('hex'),
    }
    for (const query of ['', '?kind=signed-up', '?group=brokerage', '?limit=1']) {
      expect((await byOwner(tenant, 'GET', path + query)).body.newest).toEqual(newest)
    }
    expect((await byOwner(tenant, 'GET', path)).body.events[0].hash).toBe(newest.hash)
  })

  test('a file contains the selection, each event once, and no cell is a formula', async () => {
    const tenant = await makeTenant(app)
    for (const name of ['=1+1', '@sum', 'Café "Süd"']) {
      await byOwner(tenant, 'POST', '/api/users', {
        name,
        email: `${crypto.randomUUID()}@example.com`,
        role: 'viewer',
      })
    }
    await makeServiceToken(app, tenant.owner)
    const exported = async (query = '') => {
      const { status, headers, body } = await byOwner(tenant, 'GET', `${path}/export${query}`)
      expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
      expect(headers.get('content-disposition')).toMatch(/"lanewise-audit-log-\d{4}-\d\d-\d\d\.csv"$/)
      return Papa.parse<Record<string, string>>(body.replace(/^\uFEFF/, ''), {
        header: true,
        skipEmptyLines: true,
      }).data
    }
    const { body } = await byOwner(tenant, 'GET', path)
    const rows = await exported()
    expect(rows.map(({ Event }) => Event)).toEqual(['5', '4', '3', '2', '1'])
    expect(rows.map((row) => row['Done to'])).toEqual(['', 'Café "Süd"', "'@sum", "'=1+1", ''])
    const [newest] = body.events
    expect(rows[0]).toEqual({
      Event: '5',
      At: newest.at,
      Kind: 'token-created',
      'Done by': 'Olive Quay',
      'Done by, id': '1',
      'Done to': '',
      'Done to, id': '',
      'Service token': '',
      'Service token, id': '',
      Times: '1',
      'From address': '127.0.0.1',
      Further: JSON.stringify(newest.about),
      'Request id': newest.request_id,
      Hash: newest.hash,
    })
    expect((await exported('?group=people')).map(({ Event }) => Event)).toEqual(['4', '3', '2'])
    expect(await exported('?group=events')).toEqual([])
  })

  test('a file longer than a piece has no gap', async () => {
    const tenant = await makeTenant(app)
    await asTableOwner(owner, tenant.id, () =>
      owner.query(
        `insert into audit_log select tenant_id, n, at, kind, user_id, token_id, subject_user_id, about, count, network, request_id, hash
         from audit_log, generate_series(2, 2500) as n where entry_number = 1`,
      ),
    )
    await asTableOwner(owner, tenant.id, () =>
      owner.query(`update tenant_counters set last_number = 2500 where counter = 'audit'`),
    )
    const { body } = await byOwner(tenant, 'GET', `${path}/export`)
    const numbers = body
      .trim()
      .split('\r\n')
      .slice(1)
      .map((line: string) => Number(line.split(',')[0]))
    expect(numbers).toEqual(Array.from({ length: 2500 }, (_, index) => 2500 - index))
  })

  test('a row edited in the database is shown unchanged', async () => {
    const tenant = await makeTenant(app)
    await asTableOwner(owner, tenant.id, () => owner.query("update audit_log set about = '{never happened'"))
    const { body } = await byOwner(tenant, 'GET', path)
    expect(body.events[0].about).toEqual({ text: '{never happened' })
  })
})

describe('an export of data', () => {
  const endpoints: readonly Endpoint[] = allEndpoints
  const exported = endpoints.filter(({ answerKind }) => answerKind === 'csv')
  /** Requests a file as its example does, of the first import if it is the file of an import. */
  const fileOf = (tenant: MadeTenant, { path: address, examples }: Endpoint, more: object = {}) =>
    byOwner(
      tenant,
      'GET',
      `${address.replace('{import_id}', '1')}?${new URLSearchParams({ ...examples?.query, ...more } as Record<string, string>)}`,
    )
  async function tenantWithImport(): Promise<MadeTenant> {
    const tenant = await makeTenant(app)
    const file = quotesFile({ seed: 1, quotes: 2, until: app.now, hours: 24 })
    const { status, body } = await call(app, 'POST', '/api/imports?dry_run=true', {
      token: tenant.owner,
      file,
    })
    expect([status, body.import_id]).toEqual([202, 1])
    return tenant
  }
  /** A brokerage with few quotes has no backtest. */
  const refusedHere: ReadonlySet<string> = new Set(['export-backtest'])
  const exportsOf = async (tenant: MadeTenant) =>
    (await logOf(tenant)).filter(({ kind }) => kind === 'data-exported')

  test('every endpoint that answers with a file leaves one row with its filter, without what is not its filter', async () => {
    const tenant = await tenantWithImport()
    expect(exported.length).toBeGreaterThan(5)
    for (const endpoint of exported) {
      const { name, examples } = endpoint
      const before = await exportsOf(tenant)
      const { status } = await fileOf(tenant, endpoint, { key: `lwsec_${'a'.repeat(49)}` })
      const isRefused = refusedHere.has(name)
      const rows = (await exportsOf(tenant)).slice(before.length)
      expect([name, status, rows.length]).toEqual([name, isRefused ? 409 : 200, isRefused ? 0 : 1])
      if (isRefused) continue
      const filter = new URLSearchParams((examples?.query ?? {}) as Record<string, string>).toString()
      expect(JSON.parse(String(rows.at(-1)?.about))).toEqual({
        export: name,
        ...(endpoint.path.includes('{import_id}') ? { import_id: '1' } : {}),
        ...(filter === '' ? {} : { filter }),
      })
      expect(rows.at(-1)).toMatchObject({ user_id: 1, network: '127.0.0.1', count: 1 })
    }
  })

  test('a refused export, and a request for the headers only, leave no row', async () => {
    const tenant = await makeTenant(app)
    const viewer = await makePerson(app, tenant, 'viewer')
    expect((await call(app, 'GET', `${path}/export`, { token: viewer.token })).status).toBe(403)
    expect((await byOwner(tenant, 'GET', '/api/lanes/export?outcome=perhaps')).status).toBe(422)
    expect((await byOwner(tenant, 'HEAD', '/api/lanes/export')).status).toBe(200)
    expect(await exportsOf(tenant)).toEqual([])
  })

  test('without its row, an export is refused', async () => {
    const tenant = await tenantWithImport()
    await owner.query(`
      create function refuse_row() returns trigger language plpgsql as
        $$ begin raise 'cannot execute INSERT in a read-only transaction' using errcode = '25006'; end $$;
      create trigger refuse_row before insert on audit_log for each row execute function refuse_row()`)
    try {
      for (const endpoint of exported) {
        const { name } = endpoint
        const { status, headers } = await fileOf(tenant, endpoint)
        const expected = refusedHere.has(name) ? 409 : 503
        expect([name, status, headers.get('Content-Disposition')]).toEqual([name, expected, null])
      }
    } finally {
      await owner.query('drop trigger refuse_row on audit_log; drop function refuse_row')
    }
  })
})

describe('the start of an import', () => {
  test('leaves a row with the file; a dry run, a refused file and a repeated request leave none', async () => {
    const { tenant, secret } = await makeIntegration(app)
    const token = await makeServiceToken(app, tenant.owner, 'imports:write')
    const started = async () => (await logOf(tenant)).filter(({ kind }) => kind === 'import-started')
    const file = quotesFile({ seed: 1, quotes: 2, until: app.now, hours: 24 })
    const send = (address: string, body: string, headers: Record<string, string>) =>
      fetch(`${app.url}${address}`, { method: 'POST', headers, body })
    const asOwner = { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' }
    expect((await send('/api/imports?dry_run=true', file, asOwner)).status).toBe(202)
    await expect
      .poll(async () => (await send('/api/imports?file_name=a.csv', 'no header', asOwner)).status)
      .toBe(422)
    expect(await started()).toEqual([])
    const address = '/api/integrations/imports?file_name=loads.csv'
    const signed = {
      ...signedHeaders({ token, secret }, file, Math.floor(app.now / 1000), {
        method: 'POST',
        path: address,
      }),
      'Content-Type': 'text/csv',
    }
    for (let sent = 0; sent < 2; sent++) expect((await send(address, file, signed)).status).toBe(202)
    const rows = await started()
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ user_id: 1, token_id: expect.any(Number) })
    expect(JSON.parse(String(rows[0]?.about))).toEqual({ import_id: 2, file: 'loads.csv' })
  })
})

describe('403, 404 and 422', () => {
  test('members and viewers cannot read the audit log, and no one can read another brokerage’s', async () => {
    const [tenant, other] = [await makeTenant(app), await makeTenant(app)]
    for (const role of ['viewer', 'member'] as const) {
      const { token } = await makePerson(app, tenant, role)
      expect((await call(app, 'GET', path, { token })).status).toBe(403)
      expect((await call(app, 'GET', `${path}/export`, { token })).status).toBe(403)
    }
    const { body } = await byOwner(other, 'GET', path)
    expect(body.events).toHaveLength(1)
    expect((await byOwner(other, 'GET', `${path}/export`)).body.trim().split('\r\n')).toHaveLength(2)
  })

  test('an unknown kind, and an invalid cursor', async () => {
    const tenant = await makeTenant(app)
    for (const query of [
      'kind=nothing',
      'cursor=x',
      'cursor=WyJhIl0',
      'user_id=0',
      'limit=0',
      'group=all',
      'from=yesterday',
      'to=13',
    ]) {
      expect([query, (await byOwner(tenant, 'GET', `${path}?${query}`)).status]).toEqual([query, 422])
    }
  })
})
