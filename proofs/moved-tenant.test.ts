import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyingTenant, eraseTenantRows, tablesLeftBehind } from '#server/database/queries/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import {
  type ExportOptions,
  exportTenant,
  type ImportOptions,
  importedLines,
  importTenant,
} from '#server/operations/index.ts'
import { type SecretKey, secretKey } from '#server/security/index.ts'
import { call, type Integration, makeIntegration, makeQuote, password, pushUpdate } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { idsOf } from './seeded-ids.ts'
import { type SeededTenants, seededTenants } from './seeded-tenants.ts'

/**
 * Promise: a tenant that moves to another installation arrives complete and unchanged, or not at all.
 *
 * How: a source installation has two seeded tenants with a row in every table (A and B), and one tenant with a working
 * integration. The commands export each to a folder, and import it into a target that has the same secret key as the source, or a
 * key of its own. Then rows, API responses and credentials are compared. The tests of `targetWithSameKey` build on each other.
 *
 * Planted faults: files that were edited, truncated or removed, a table unknown to the target, a trigger that changes rows
 * during the import, and an import that is interrupted. Each must be refused and must leave no row behind.
 */

const markup =
  '/api/integrations/insights/markup?origin=Dallas,TX&destination=Atlanta,GA&equipment=V&proposed_rate=2010.5'
const insight = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA&equipment=V'

let folder: string
let source: TestApp
let targetWithSameKey: TestApp
let targetWithOwnKey: TestApp
let seeded: SeededTenants
let integration: Integration
let laneRef: string
/** A connection as the owner of the tables to each installation. */
const owners = new Map<TestApp, pg.Client>()
/** The folder with the export of the integration's tenant. */
let exported: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lanewise-moved-'))
  source = await testApp()
  targetWithSameKey = await testApp({ secretKeys: [source.secretKey], now: source.now })
  targetWithOwnKey = await testApp({ now: source.now })
  seeded = await seededTenants(source)
  await seeded.seed('A')
  await seeded.seed('B')
  integration = await makeIntegration(source)
  for (const [rate, outcome] of [
    [1900, 'won'],
    [2100, 'lost'],
    [2000.5, 'won'],
    [2050, 'pending'],
  ] as const) {
    laneRef = (await makeQuote(source, integration.tenant, { rate, outcome })).lane_ref
  }
  await pushUpdate(source, integration, {
    lane_ref: laneRef,
    customer_rate: 1950.25,
    carrier_name: 'Léa\u2028Haul',
  })
  await source.settle()
  exported = await exportOf(integration.tenant.id)
})
afterAll(async () => {
  await seeded.close()
  for (const owner of owners.values()) await owner.end()
  for (const app of [source, targetWithSameKey, targetWithOwnKey]) await app.close()
  await rm(folder, { recursive: true })
})

const environmentOf = (app: TestApp) => ({
  config: {
    databaseUrl: app.testDatabase.serviceUrl,
    migrationDatabaseUrl: app.testDatabase.ownerUrl,
    dataDirectory: '/nowhere',
    deadlineFactor: 30,
  },
  remark: () => {},
})

const newFolder = () => join(folder, randomBytes(6).toString('hex'))

async function exportOf(tenant: number, options: Partial<ExportOptions> = {}): Promise<string> {
  const target = newFolder()
  await exportTenant(environmentOf(source), String(tenant), {
    folder: target,
    keys: [source.secretKey],
    moveKey: null,
    passwords: true,
    now: source.now,
    ...options,
  })
  return target
}

const importTo = (app: TestApp, from: string, options: Partial<ImportOptions> = {}) =>
  importTenant(environmentOf(app), {
    folder: from,
    keys: [app.secretKey],
    moveKey: null,
    withoutSecrets: false,
    now: app.now,
    ...options,
  })

/** Keys with which the target opens credentials of both installations. */
const bothKeys = () => [targetWithOwnKey.secretKey, source.secretKey] as const

const newKey = () => secretKey(randomBytes(32).toString('base64')) as SecretKey

/** Runs `work` as the owner of the tables, with row-level security set to a tenant. */
async function asOwner<T>(app: TestApp, tenant: number, work: (owner: pg.Client) => Promise<T>): Promise<T> {
  const owner = owners.get(app) ?? new pg.Client(app.testDatabase.owner)
  if (!owners.has(app)) {
    owners.set(app, owner)
    await owner.connect()
  }
  await owner.query(`set app.tenant_id = '${tenant}'`)
  return work(owner)
}

const countRows = (app: TestApp, tenant: number) =>
  asOwner(app, tenant, async (owner) => {
    const { rows } = await owner.query<{ table: string }>(
      `select table_name as table from information_schema.columns
       where table_schema = 'public' and column_name = 'tenant_id'`,
    )
    const counts = rows.map(
      ({ table }) => `select count(*)::int as count from ${table} where tenant_id = ${tenant}`,
    )
    const { rows: counted } = await owner.query<{ count: number }>(counts.join(' union all '))
    return counted.reduce((sum, { count }) => sum + count, 0)
  })

const erase = async (app: TestApp, tenant: number) => {
  // The call log is written after the response.
  await app.settle()
  await eraseTenantRows(app.testDatabase.owner, tenantId(tenant), { dryRun: false })
}

describe('every table of a tenant', () => {
  test('arrives with every row, or is listed as left behind', async () => {
    const { tenant } = idsOf('A')
    const from = await exportOf(tenant)
    const { tables } = JSON.parse(await readFile(join(from, 'manifest.json'), 'utf8')) as {
      tables: { name: string; rows: number }[]
    }
    // seededTenants() has a row in every table, and fails if it does not know a table.
    expect(tables.map(({ name }) => name).sort()).toEqual(
      [...seeded.tables, 'sign_in_emails'].filter((name) => !Object.hasOwn(tablesLeftBehind, name)).sort(),
    )
    for (const { name, rows } of tables) expect({ name, empty: rows === 0 }).toEqual({ name, empty: false })

    const beforeB = await seeded.checksum('B')
    const imported = await importTo(targetWithSameKey, from)
    expect(imported.tables.map(({ rows }) => rows)).toEqual(tables.map(({ rows }) => rows))
    const target = await seededTenants(targetWithSameKey)
    // The import itself changes these tables, because it adds an audit event and increases the versions for caches.
    const changedByImport = [...Object.keys(tablesLeftBehind), 'tenant_facts', 'audit_log', 'tenant_counters']
    expect(JSON.parse(await target.checksum('A', changedByImport))).toEqual(
      JSON.parse(await seeded.checksum('A', changedByImport)),
    )
    await target.close()
    expect(await seeded.checksum('B')).toBe(beforeB)
    expect(await countRows(targetWithSameKey, idsOf('B').tenant)).toBe(0)
  })

  test('a table from a later migration is exported, and refused by a target that does not have it', {
    tags: 'long',
  }, async () => {
    const { tenant } = idsOf('A')
    await asOwner(source, tenant, (owner) =>
      owner.query(`
        create table rebates (tenant_id integer not null references tenants, rebate_id integer, primary key (tenant_id, rebate_id));
        insert into rebates values (${tenant}, 5)`),
    )
    try {
      const from = await exportOf(tenant)
      expect(gunzipSync(await readFile(join(from, 'rebates.ndjson.gz'))).toString()).toBe(
        `{"tenant_id":${tenant},"rebate_id":5}\n`,
      )
      await expect(importTo(targetWithOwnKey, from, { withoutSecrets: true })).rejects.toThrow(/rebates/)
      expect(await countRows(targetWithOwnKey, tenant)).toBe(0)
    } finally {
      await asOwner(source, tenant, (owner) => owner.query('drop table rebates'))
    }
  })

  test('an export of another schema is refused, and the error names both', { tags: 'long' }, async () => {
    const { tenant } = idsOf('A')
    const later = '9999-later.sql'
    await asOwner(source, tenant, (owner) =>
      owner.query('insert into schema_migrations (name) values ($1)', [later]),
    )
    try {
      const from = await exportOf(tenant)
      await expect(importTo(targetWithOwnKey, from, { withoutSecrets: true })).rejects.toThrow(
        /The export has the schema 9999-later\.sql, and this database has \d{4}-[a-z-]+\.sql\. Bring both/,
      )
      expect(await countRows(targetWithOwnKey, tenant)).toBe(0)
    } finally {
      await asOwner(source, tenant, (owner) =>
        owner.query('delete from schema_migrations where name = $1', [later]),
      )
    }
  })
})

describe('a target with the same secret key', () => {
  test('gives the same API responses with the same token, and accepts signed updates and sessions', async () => {
    const adviceFrom = async (app: TestApp) => {
      const bodies: unknown[] = []
      for (const path of [markup, insight]) {
        const { status, body } = await call(app, 'GET', path, { token: integration.token })
        expect(status).toBe(200)
        bodies.push(body)
      }
      return bodies
    }
    const before = await adviceFrom(source)
    expect((await call(targetWithSameKey, 'GET', insight, { token: integration.token })).status).toBe(401)
    const imported = await importTo(targetWithSameKey, exported)
    expect(imported).toMatchObject({
      liveTokens: 1,
      endedTokens: 0,
      revokedSecrets: 0,
      numbersGivenBefore: 0,
    })
    expect(imported.audit).toMatchObject({ wrong: null })
    expect(imported.audit.rows).toBeGreaterThan(3)
    expect(importedLines(imported).join('\n')).toContain('1 live service token(s) stay valid')
    expect(await adviceFrom(targetWithSameKey)).toEqual(before)

    // The partner's lane_ref still works, for an update that the source has processed and for a new one.
    const again = await pushUpdate(targetWithSameKey, integration, {
      lane_ref: laneRef,
      customer_rate: 1950.25,
      carrier_name: 'Léa\u2028Haul',
    })
    expect(again).toMatchObject({ status: 200 })
    const changed = await pushUpdate(
      targetWithSameKey,
      integration,
      { lane_ref: laneRef, truck_cost: 1500 },
      (targetWithSameKey.now / 1000 + 5) | 0,
    )
    expect(changed).toMatchObject({ status: 200, body: { updated: true } })
    // The owner's session and password still work.
    expect(
      (await call(targetWithSameKey, 'GET', '/api/me', { token: integration.tenant.owner })).status,
    ).toBe(200)
    const signIn = { body: { email: integration.tenant.email, password } }
    expect((await call(targetWithSameKey, 'POST', '/api/auth/sign-in', signIn)).status).toBe(200)
    await makeQuote(targetWithSameKey, integration.tenant)
    const { body } = await call(targetWithSameKey, 'GET', '/api/audit?kind=tenant-imported', {
      token: integration.tenant.owner,
    })
    expect(body.events).toHaveLength(1)
  })

  test('refuses a tenant that exists there already, and changes nothing', async () => {
    await targetWithSameKey.settle()
    const before = await countRows(targetWithSameKey, integration.tenant.id)
    await expect(importTo(targetWithSameKey, exported)).rejects.toThrow(
      /already exists here \(Test Brokers\)/,
    )
    expect(await countRows(targetWithSameKey, integration.tenant.id)).toBe(before)
  })

  test('refuses an e-mail address that another tenant there uses, and names it', async () => {
    const taken = 'taken@example.com'
    await call(targetWithOwnKey, 'POST', '/api/auth/sign-up', {
      body: { company: 'Others', name: 'Olive Quay', email: taken, password },
    })
    await call(source, 'POST', '/api/auth/sign-up', {
      body: { company: 'Late', name: 'Olive Quay', email: taken, password },
    })
    const from = await exportOf(
      (await asOwner(source, 0, (owner) => owner.query("select tenant_id from tenants where name = 'Late'")))
        .rows[0].tenant_id,
    )
    await expect(importTo(targetWithOwnKey, from, { keys: bothKeys() })).rejects.toThrow(
      /sign_in_emails.ndjson.gz, line 1: .*taken@example.com/,
    )
  })
})

describe('a target with its own secret key', () => {
  test('refuses an export that it cannot decrypt, and names the options', async () => {
    await expect(importTo(targetWithOwnKey, exported)).rejects.toThrow(/--key-file.*--without-secrets/)
    expect(await countRows(targetWithOwnKey, integration.tenant.id)).toBe(0)
  })

  test('with a move key, signing secrets stay valid and tokens must be created again', {
    tags: 'long',
  }, async () => {
    const moveKey = newKey()
    const from = await exportOf(integration.tenant.id, { moveKey })
    await expect(importTo(targetWithOwnKey, from)).rejects.toThrow(/made for the move/)
    await expect(importTo(targetWithOwnKey, from, { moveKey: newKey() })).rejects.toThrow(/made for the move/)
    const imported = await importTo(targetWithOwnKey, from, { moveKey })
    expect(imported).toMatchObject({ liveTokens: 0, endedTokens: 1, revokedSecrets: 0 })
    expect(importedLines(imported).join('\n')).toContain('signed with a key that this installation lacks')
    expect((await call(targetWithOwnKey, 'GET', insight, { token: integration.token })).status).toBe(401)
    const { body } = await call(targetWithOwnKey, 'POST', '/api/auth/sign-in', {
      body: { email: integration.tenant.email, password },
    })
    const made = await call(targetWithOwnKey, 'POST', '/api/integrations/tokens', {
      token: body.token,
      body: { name: 'new' },
    })
    const update = await pushUpdate(
      targetWithOwnKey,
      { token: made.body.token, secret: integration.secret },
      { lane_ref: laneRef, carrier_name: 'After the move' },
      Math.floor(targetWithOwnKey.now / 1000) + 9,
    )
    expect(update).toMatchObject({ status: 200, body: { updated: true } })
    await erase(targetWithOwnKey, integration.tenant.id)
  })

  test('without secrets, reports them as revoked; without passwords, refuses to sign anyone in', {
    tags: 'long',
  }, async () => {
    const from = await exportOf(integration.tenant.id, { passwords: false })
    const imported = await importTo(targetWithOwnKey, from, { withoutSecrets: true })
    expect(imported).toMatchObject({ endedTokens: 1, revokedSecrets: 1, passwords: false })
    expect(importedLines(imported).join('\n')).toMatch(/1 signing secret.* revoked[\s\S]*reset-password/)
    const signIn = { body: { email: integration.tenant.email, password } }
    expect((await call(targetWithOwnKey, 'POST', '/api/auth/sign-in', signIn)).status).toBe(401)
    await erase(targetWithOwnKey, integration.tenant.id)
  })
})

describe('an export that was changed', () => {
  const edit = (change: (text: string) => string) => (bytes: Buffer) =>
    gzipSync(change(gunzipSync(bytes).toString()))
  type Change = [string, string, (bytes: Buffer) => Buffer | string, RegExp]
  const changes: readonly Change[] = [
    [
      'an edited amount',
      'quotes.ndjson.gz',
      edit((text) => text.replace('190000', '190001')),
      /quotes.ndjson.gz .*lines 1 to 4 /,
    ],
    [
      'an edited manifest',
      'manifest.json',
      (bytes) => bytes.toString().replace('Test Brokers', 'Best Brokers'),
      /manifest.json is not as it was exported/,
    ],
  ]
  const moreChanges: readonly Change[] = [
    [
      'a removed row',
      'quotes.ndjson.gz',
      edit((text) => text.split('\n').slice(1).join('\n')),
      /quotes.ndjson.gz/,
    ],
    ['added rows', 'users.ndjson.gz', edit((text) => `${text}${text}`), /users.ndjson.gz/],
    [
      'a truncated file',
      'quotes.ndjson.gz',
      (bytes) => bytes.subarray(0, bytes.length - 20),
      /quotes.ndjson.gz/,
    ],
    [
      'a damaged byte',
      'quotes.ndjson.gz',
      (bytes) => Buffer.from(bytes.map((byte, at) => (at === 200 ? byte ^ 255 : byte))),
      /quotes.ndjson.gz/,
    ],
    ['a file that is not gzip', 'users.ndjson.gz', () => 'hello', /users.ndjson.gz/],
    [
      'a newer format',
      'manifest.json',
      (bytes) => bytes.toString().replace('"format_version": 1', '"format_version": 2'),
      /format version 2/,
    ],
    ['no manifest', 'manifest.json', () => '{', /is not the manifest/],
  ]
  test.each(changes)('with %s is refused and leaves no rows', isRefused)
  test.each(moreChanges)('with %s is refused and leaves no rows', { tags: 'long' }, isRefused)

  async function isRefused(...[_change, file, change, message]: Change): Promise<void> {
    const from = newFolder()
    await cp(exported, from, { recursive: true })
    await writeFile(join(from, file), change(await readFile(join(from, file))))
    await expect(importTo(targetWithOwnKey, from, { keys: bothKeys() })).rejects.toThrow(message)
    expect(await countRows(targetWithOwnKey, integration.tenant.id)).toBe(0)
  }

  test('with a missing file is refused, and the file is named', { tags: 'long' }, async () => {
    const from = newFolder()
    await cp(exported, from, { recursive: true })
    await rm(join(from, 'quote_changes.ndjson.gz'))
    await expect(importTo(targetWithOwnKey, from, { keys: bothKeys() })).rejects.toThrow(
      /quote_changes.ndjson.gz .*missing/,
    )
  })

  test('is detected after the rows are written, with table and line, if the database changed them', {
    tags: 'long',
  }, async () => {
    await asOwner(targetWithOwnKey, 0, (owner) =>
      owner.query(`
        create function other_carrier() returns trigger language plpgsql as
          $$ begin if new.carrier_name is not null then new.carrier_name := 'Other'; end if; return new; end $$;
        create trigger other before insert on quotes for each row execute function other_carrier()`),
    )
    try {
      await expect(importTo(targetWithOwnKey, exported, { keys: bothKeys() })).rejects.toThrow(
        /quotes differs from the export after the import, from line \d of quotes.ndjson.gz/,
      )
      expect(await countRows(targetWithOwnKey, integration.tenant.id)).toBe(0)
    } finally {
      await asOwner(targetWithOwnKey, 0, (owner) => owner.query('drop function other_carrier cascade'))
    }
  })

  test('an interrupted import leaves no rows, and can be repeated', async () => {
    const keys = bothKeys()
    await expect(
      importTo(targetWithOwnKey, exported, {
        keys,
        onTable: () => {
          throw new Error('cut off')
        },
      }),
    ).rejects.toThrow('cut off')
    expect(await countRows(targetWithOwnKey, integration.tenant.id)).toBe(0)
    // With the key of the source as its second key, the target accepts the tokens and secrets of the source.
    expect(await importTo(targetWithOwnKey, exported, { keys })).toMatchObject({
      liveTokens: 1,
      revokedSecrets: 0,
    })
    await erase(targetWithOwnKey, integration.tenant.id)
  })
})

test('an export gets its final folder name when it is complete: an existing folder is refused, an unfinished one is replaced', {
  tags: 'long',
}, async () => {
  await expect(exportOf(integration.tenant.id, { folder: exported })).rejects.toThrow(/already exists/)
  const target = newFolder()
  await cp(exported, `${target}.unfinished`, { recursive: true })
  await exportOf(integration.tenant.id, { folder: target })
  await expect(readFile(join(target, 'README.txt'), 'utf8')).resolves.toContain('quotes.ndjson.gz')
})

test('no token, secret or password is in the exported files', async () => {
  const moving = await exportOf(integration.tenant.id, { moveKey: newKey() })
  for (const from of [exported, moving]) {
    const files = await readdir(from)
    expect(files.length).toBeGreaterThan(15)
    for (const file of files) {
      const bytes = await readFile(join(from, file))
      const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
      for (const secret of [integration.token, integration.secret, integration.tenant.owner, password]) {
        expect({ file, holds: text.includes(secret) }).toEqual({ file, holds: false })
      }
    }
  }
})

test('quote and request numbers of an imported tenant are never assigned again', async () => {
  const { identifiers } = targetWithSameKey.database
  const first = await makeQuote(targetWithSameKey, integration.tenant)
  const next = identifiers.laneNumber(first.lane_id) + 1
  const request = identifiers.requestNumber(Number(first.lane_ref.split('-')[0])) + 1
  expect(identifiers.quoteId(next - 1)).toBe(first.lane_id)
  const quotes = [identifiers.quoteId(next), identifiers.quoteId(next + 1), first.lane_id]
  const givenBefore = await copyingTenant(
    targetWithSameKey.testDatabase.owner,
    tenantId(integration.tenant.id),
    'write',
    (copy) => copy.take(identifiers, quotes, [identifiers.requestId(request)]),
  )
  expect(givenBefore).toBe(1)
  const second = await makeQuote(targetWithSameKey, integration.tenant)
  expect(second.lane_id).toBe(identifiers.quoteId(next + 2))
  expect(second.lane_ref).toBe(`${identifiers.requestId(request + 1)}-1-1`)
})
