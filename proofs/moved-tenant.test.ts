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
import { call, type Integration, makeIntegration, makeLane, password, pushUpdate } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { idsOf, type SeededTenants, seededTenants } from './seeded-tenants.ts'

const markup =
  '/api/integrations/insights/markup?origin=Dallas,TX&destination=Atlanta,GA&equipment=V&proposed_rate=2010.5'
const insight = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA&equipment=V'

let folder: string
/** Where brokerages come from, and two installations they go to: one with the same key and one with its own. */
let source: TestApp
let sameKey: TestApp
let ownKey: TestApp
let seeded: SeededTenants
let integration: Integration
let laneRef: string
let exported: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lanewise-moved-'))
  source = await testApp()
  sameKey = await testApp({ secretKeys: [source.secretKey], now: source.now })
  ownKey = await testApp({ now: source.now })
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
    laneRef = (await makeLane(source, integration.tenant, { rate, outcome })).lane_ref
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
  for (const app of [source, sameKey, ownKey]) await app.close()
  await rm(folder, { recursive: true })
})

const around = (app: TestApp) => ({
  config: {
    databaseUrl: app.testDatabase.serviceUrl,
    migrationDatabaseUrl: app.testDatabase.ownerUrl,
    dataDirectory: '/nowhere',
  },
  remark: () => {},
})

const newFolder = () => join(folder, randomBytes(6).toString('hex'))

async function exportOf(tenant: number, options: Partial<ExportOptions> = {}): Promise<string> {
  const into = newFolder()
  await exportTenant(around(source), String(tenant), {
    folder: into,
    keys: [source.secretKey],
    moveKey: null,
    passwords: true,
    now: source.now,
    ...options,
  })
  return into
}

const importTo = (app: TestApp, from: string, options: Partial<ImportOptions> = {}) =>
  importTenant(around(app), {
    folder: from,
    keys: [app.secretKey],
    moveKey: null,
    withoutSecrets: false,
    now: app.now,
    ...options,
  })

const newKey = () => secretKey(randomBytes(32).toString('base64')) as SecretKey

/** Works inside a tenant's wall, as the owner of the tables. */
async function asOwner<T>(app: TestApp, tenant: number, work: (owner: pg.Client) => Promise<T>): Promise<T> {
  const owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
  try {
    await owner.query(`set app.tenant_id = '${tenant}'`)
    return await work(owner)
  } finally {
    await owner.end()
  }
}

/** How many rows of a tenant there are in an installation, in all tables. */
const rowsIn = (app: TestApp, tenant: number) =>
  asOwner(app, tenant, async (owner) => {
    const { rows } = await owner.query<{ table: string }>(
      `select table_name as table from information_schema.columns
       where table_schema = 'public' and column_name = 'tenant_id'`,
    )
    let count = 0
    for (const { table } of rows) {
      count += (await owner.query(`select from ${table} where tenant_id = $1`, [tenant])).rowCount ?? 0
    }
    return count
  })

const erase = async (app: TestApp, tenant: number) => {
  // Calls are written down behind their answers.
  await app.settle()
  await eraseTenantRows(app.testDatabase.owner, tenantId(tenant), { dryRun: false })
}

describe('every table of a tenant', () => {
  test('arrives with every row, or is left behind for a reason that is written down', async () => {
    const { tenant } = idsOf('A')
    const from = await exportOf(tenant)
    const { tables } = JSON.parse(await readFile(join(from, 'manifest.json'), 'utf8')) as {
      tables: { name: string; rows: number }[]
    }
    // The seeder has a row in each table there is, and fails where it knows nothing of one.
    expect(tables.map(({ name }) => name).sort()).toEqual(
      [...seeded.tables, 'sign_in_emails'].filter((name) => !Object.hasOwn(tablesLeftBehind, name)).sort(),
    )
    for (const { name, rows } of tables) expect({ name, empty: rows === 0 }).toEqual({ name, empty: false })

    const beforeB = await seeded.checksum('B')
    const imported = await importTo(sameKey, from)
    expect(imported.tables.map(({ rows }) => rows)).toEqual(tables.map(({ rows }) => rows))
    const target = await seededTenants(sameKey)
    // These move on by arriving: a row of the audit log, and the versions of what may be remembered.
    const moving = [...Object.keys(tablesLeftBehind), 'tenant_facts', 'audit_log', 'tenant_counters']
    expect(JSON.parse(await target.checksum('A', moving))).toEqual(
      JSON.parse(await seeded.checksum('A', moving)),
    )
    await target.close()
    expect(await seeded.checksum('B')).toBe(beforeB)
    expect(await rowsIn(sameKey, idsOf('B').tenant)).toBe(0)
  })

  test('a table that is added later is carried without a word, and refused where it is not known', async () => {
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
      await expect(importTo(ownKey, from, { withoutSecrets: true })).rejects.toThrow(/rebates/)
      expect(await rowsIn(ownKey, tenant)).toBe(0)
    } finally {
      await asOwner(source, tenant, (owner) => owner.query('drop table rebates'))
    }
  })
})

describe('on an installation with the same key', () => {
  test('everything goes on: the same answers to the last digit with the same token, and signed updates', async () => {
    const answers = async (app: TestApp) => {
      const bodies: unknown[] = []
      for (const path of [markup, insight]) {
        const { status, body } = await call(app, 'GET', path, { token: integration.token })
        expect(status).toBe(200)
        bodies.push(body)
      }
      return bodies
    }
    const before = await answers(source)
    expect((await call(sameKey, 'GET', insight, { token: integration.token })).status).toBe(401)
    const imported = await importTo(sameKey, exported)
    expect(imported).toMatchObject({
      liveTokens: 1,
      endedTokens: 0,
      revokedSecrets: 0,
      numbersGivenBefore: 0,
    })
    expect(imported.audit).toMatchObject({ wrong: null })
    expect(imported.audit.rows).toBeGreaterThan(3)
    expect(importedLines(imported).join('\n')).toContain('1 live service token(s) go on')
    expect(await answers(sameKey)).toEqual(before)

    // The lane that a partner knows by its lane_ref, its newest signature, and the same request again.
    const again = await pushUpdate(sameKey, integration, {
      lane_ref: laneRef,
      customer_rate: 1950.25,
      carrier_name: 'Léa\u2028Haul',
    })
    expect(again).toMatchObject({ status: 200 })
    const changed = await pushUpdate(
      sameKey,
      integration,
      { lane_ref: laneRef, truck_cost: 1500 },
      (sameKey.now / 1000 + 5) | 0,
    )
    expect(changed).toMatchObject({ status: 200, body: { updated: true } })
    // People: the session they had, and their password.
    expect((await call(sameKey, 'GET', '/api/me', { token: integration.tenant.owner })).status).toBe(200)
    const signIn = { body: { email: integration.tenant.email, password } }
    expect((await call(sameKey, 'POST', '/api/auth/sign-in', signIn)).status).toBe(200)
    await makeLane(sameKey, integration.tenant)
    const { body } = await call(sameKey, 'GET', '/api/audit?kind=tenant-imported', {
      token: integration.tenant.owner,
    })
    expect(body.events).toHaveLength(1)
  })

  test('a brokerage that is there already is refused, and nothing of it changes', async () => {
    await sameKey.settle()
    const before = await rowsIn(sameKey, integration.tenant.id)
    await expect(importTo(sameKey, exported)).rejects.toThrow(/here already \(Test Brokers\)/)
    expect(await rowsIn(sameKey, integration.tenant.id)).toBe(before)
  })

  test('an address that somebody else has here is refused by its name', async () => {
    const taken = 'taken@example.com'
    await call(ownKey, 'POST', '/api/auth/sign-up', {
      body: { company: 'Others', name: 'Olive Quay', email: taken, password },
    })
    await call(source, 'POST', '/api/auth/sign-up', {
      body: { company: 'Late', name: 'Olive Quay', email: taken, password },
    })
    const from = await exportOf(
      (await asOwner(source, 0, (owner) => owner.query("select tenant_id from tenants where name = 'Late'")))
        .rows[0].tenant_id,
    )
    await expect(importTo(ownKey, from, { keys: [ownKey.secretKey, source.secretKey] })).rejects.toThrow(
      /sign_in_emails.ndjson.gz, line 1: .*taken@example.com/,
    )
  })
})

describe('on an installation with a key of its own', () => {
  test('an export that nobody there can open is refused, with the ways there are', async () => {
    await expect(importTo(ownKey, exported)).rejects.toThrow(/--key-file.*--without-secrets/)
    expect(await rowsIn(ownKey, integration.tenant.id)).toBe(0)
  })

  test('with a key for the move signing secrets go on, and tokens are made anew', async () => {
    const moveKey = newKey()
    const from = await exportOf(integration.tenant.id, { moveKey })
    await expect(importTo(ownKey, from)).rejects.toThrow(/made for the move/)
    await expect(importTo(ownKey, from, { moveKey: newKey() })).rejects.toThrow(/made for the move/)
    const imported = await importTo(ownKey, from, { moveKey })
    expect(imported).toMatchObject({ liveTokens: 0, endedTokens: 1, revokedSecrets: 0 })
    expect(importedLines(imported).join('\n')).toContain('signed with a key that is not here')
    expect((await call(ownKey, 'GET', insight, { token: integration.token })).status).toBe(401)
    const { body } = await call(ownKey, 'POST', '/api/auth/sign-in', {
      body: { email: integration.tenant.email, password },
    })
    const made = await call(ownKey, 'POST', '/api/integrations/tokens', {
      token: body.token,
      body: { name: 'new' },
    })
    const update = await pushUpdate(
      ownKey,
      { token: made.body.token, secret: integration.secret },
      { lane_ref: laneRef, carrier_name: 'After the move' },
      Math.floor(ownKey.now / 1000) + 9,
    )
    expect(update).toMatchObject({ status: 200, body: { updated: true } })
    await erase(ownKey, integration.tenant.id)
  })

  test('without secrets they are revoked and said, and without passwords nobody signs in', async () => {
    const from = await exportOf(integration.tenant.id, { passwords: false })
    const imported = await importTo(ownKey, from, { withoutSecrets: true })
    expect(imported).toMatchObject({ endedTokens: 1, revokedSecrets: 1, passwords: false })
    expect(importedLines(imported).join('\n')).toMatch(/1 signing secret.* revoked[\s\S]*reset-password/)
    const signIn = { body: { email: integration.tenant.email, password } }
    expect((await call(ownKey, 'POST', '/api/auth/sign-in', signIn)).status).toBe(401)
    await erase(ownKey, integration.tenant.id)
  })
})

describe('what is not as it was exported', () => {
  const edit = (change: (text: string) => string) => (bytes: Buffer) =>
    gzipSync(change(gunzipSync(bytes).toString()))
  test.each<[string, string, (bytes: Buffer) => Buffer | string, RegExp]>([
    [
      'an amount that was edited',
      'lanes.ndjson.gz',
      edit((text) => text.replace('190000', '190001')),
      /lanes.ndjson.gz .*lines 1 to 4 /,
    ],
    [
      'a row that was taken out',
      'lanes.ndjson.gz',
      edit((text) => text.split('\n').slice(1).join('\n')),
      /lanes.ndjson.gz/,
    ],
    ['a row more', 'users.ndjson.gz', edit((text) => `${text}${text}`), /users.ndjson.gz/],
    [
      'a file that was cut off',
      'lanes.ndjson.gz',
      (bytes) => bytes.subarray(0, bytes.length - 20),
      /lanes.ndjson.gz/,
    ],
    [
      'a damaged byte',
      'lanes.ndjson.gz',
      (bytes) => Buffer.from(bytes.map((byte, at) => (at === 200 ? byte ^ 255 : byte))),
      /lanes.ndjson.gz/,
    ],
    ['a file that is no gzip', 'users.ndjson.gz', () => 'hello', /users.ndjson.gz/],
    [
      'an edited manifest',
      'manifest.json',
      (bytes) => bytes.toString().replace('Test Brokers', 'Best Brokers'),
      /manifest.json is not as it was exported/,
    ],
    [
      'a newer format',
      'manifest.json',
      (bytes) => bytes.toString().replace('"format_version": 1', '"format_version": 2'),
      /format version 2/,
    ],
    ['no manifest', 'manifest.json', () => '{', /is not the manifest/],
  ])('%s is refused and leaves nothing', async (_what, file, change, message) => {
    const from = newFolder()
    await cp(exported, from, { recursive: true })
    await writeFile(join(from, file), change(await readFile(join(from, file))))
    const app = ownKey
    await expect(importTo(app, from, { keys: [app.secretKey, source.secretKey] })).rejects.toThrow(message)
    expect(await rowsIn(app, integration.tenant.id)).toBe(0)
  })

  test('a file that is missing is named', async () => {
    const from = newFolder()
    await cp(exported, from, { recursive: true })
    await rm(join(from, 'lane_changes.ndjson.gz'))
    await expect(importTo(ownKey, from, { keys: [ownKey.secretKey, source.secretKey] })).rejects.toThrow(
      /lane_changes.ndjson.gz .*missing/,
    )
  })

  test('rows that arrive otherwise than they were are found, with table and line', async () => {
    await asOwner(ownKey, 0, (owner) =>
      owner.query(`
        create function other_carrier() returns trigger language plpgsql as
          $$ begin if new.carrier_name is not null then new.carrier_name := 'Other'; end if; return new; end $$;
        create trigger other before insert on lanes for each row execute function other_carrier()`),
    )
    try {
      await expect(
        importTo(ownKey, exported, { keys: [ownKey.secretKey, source.secretKey] }),
      ).rejects.toThrow(/lanes differs from the export after the import, from line \d of lanes.ndjson.gz/)
      expect(await rowsIn(ownKey, integration.tenant.id)).toBe(0)
    } finally {
      await asOwner(ownKey, 0, (owner) => owner.query('drop function other_carrier cascade'))
    }
  })

  test('an import that loses its database on the way leaves nothing, and is done again', async () => {
    const keys = [ownKey.secretKey, source.secretKey] as const
    await expect(
      importTo(ownKey, exported, {
        keys,
        onTable: () => {
          throw new Error('cut off')
        },
      }),
    ).rejects.toThrow('cut off')
    expect(await rowsIn(ownKey, integration.tenant.id)).toBe(0)
    // With the other installation's key behind its own, tokens and secrets both go on.
    expect(await importTo(ownKey, exported, { keys })).toMatchObject({ liveTokens: 1, revokedSecrets: 0 })
    await erase(ownKey, integration.tenant.id)
  })
})

test('an export has its name when it is whole: a folder that is there is refused, and one that was cut off is begun anew', async () => {
  await expect(exportOf(integration.tenant.id, { folder: exported })).rejects.toThrow(/there already/)
  const into = newFolder()
  await cp(exported, `${into}.unfinished`, { recursive: true })
  await exportOf(integration.tenant.id, { folder: into })
  await expect(readFile(join(into, 'README.txt'), 'utf8')).resolves.toContain('lanes.ndjson.gz')
})

test('no token, secret or password stands in the files', async () => {
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

test('numbers that came with a brokerage are never given again', async () => {
  const { identifiers } = sameKey.database
  const first = await makeLane(sameKey, integration.tenant)
  const next = identifiers.laneNumber(first.lane_id) + 1
  const request = identifiers.requestNumber(Number(first.lane_ref.split('-')[0])) + 1
  expect(identifiers.laneId(next - 1)).toBe(first.lane_id)
  const lanes = [identifiers.laneId(next), identifiers.laneId(next + 1), first.lane_id]
  const givenBefore = await copyingTenant(
    sameKey.testDatabase.owner,
    tenantId(integration.tenant.id),
    'write',
    (copy) => copy.take(identifiers, lanes, [identifiers.requestId(request)]),
  )
  expect(givenBefore).toBe(1)
  const second = await makeLane(sameKey, integration.tenant)
  expect(second.lane_id).toBe(identifiers.laneId(next + 2))
  expect(second.lane_ref).toBe(`${identifiers.requestId(request + 1)}-1-1`)
})
