import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { asMaker, databaseUrl } from '#testing/database-cluster.ts'
import { freePort } from '#testing/running-service.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'
import { keyCheckPlace, keyCheckText } from '../access/index.ts'
import { readConfig } from '../configuration/index.ts'
import { seeInstance, writeKeyCheck } from '../database/queries/index.ts'
import { openDatabase } from '../database/session/index.ts'
import { seal, secretKeys } from '../security/index.ts'
import { examine, type Finding } from './doctor.ts'

const cluster = inject('databaseCluster')
const keyText = randomBytes(32).toString('base64')
let database: TestDatabase
let owner: pg.Client
let healthy: Record<string, string>

beforeAll(async () => {
  database = await testDatabase()
  owner = new pg.Client({ connectionString: database.ownerUrl })
  await owner.connect()
  healthy = {
    DATABASE_URL: database.serviceUrl,
    MIGRATION_DATABASE_URL: database.ownerUrl,
    LANEWISE_SECRET_KEY: keyText,
  }
  const keys = secretKeys(keyText)
  if (keys === null) throw new Error('No key.')
  const opened = await openDatabase({
    connection: { connectionString: database.serviceUrl },
    deadlines: testDeadlines,
  })
  await opened.outsideTenants((transaction) =>
    writeKeyCheck(transaction, seal(keys[0], keyCheckPlace, keyCheckText)),
  )
  await opened.close()
})
afterAll(async () => {
  await owner.end()
  await database.drop()
})

async function found(env: Record<string, string>, clock = Date.now): Promise<Finding[]> {
  const told: Finding[] = []
  const findings = await examine(() => readConfig(env), { clock, tell: (finding) => told.push(finding) })
  expect(told).toEqual(findings)
  for (const { state, mend } of findings) if (state === 'wrong') expect(mend).toMatch(/\.$/)
  return findings
}

const wrongs = (findings: readonly Finding[]) =>
  findings.filter(({ state }) => state === 'wrong').map(({ about, says }) => `${about}: ${says}`)

async function asOwner(statement: string): Promise<void> {
  await owner.query(statement)
}

test('reports a healthy installation, without a problem', async () => {
  const findings = await found(healthy)
  expect(wrongs(findings)).toEqual([])
  expect(findings.map(({ about }) => about)).toEqual([
    'Node',
    'configuration',
    'database',
    'PostgreSQL',
    'letters',
    'encryption',
    'clocks',
    'connections',
    'schema',
    'owner',
    'tenant isolation',
    'secret key',
    'instances',
  ])
  expect(findings.at(-1)?.says).toBe('none uses this database')
})

test('reports a running instance', { tags: 'long' }, async () => {
  const opened = await openDatabase({
    connection: { connectionString: database.serviceUrl },
    deadlines: testDeadlines,
  })
  await opened.outsideTenants((transaction) => seeInstance(transaction, randomUUID()))
  await opened.close()
  expect((await found(healthy)).at(-1)?.says).toBe('at least one uses this database')
})

test('reports every configuration problem, and checks nothing else', async () => {
  const findings = await found({ ...healthy, PORT: 'x', THREADS: '2' })
  expect(wrongs(findings)).toEqual([
    expect.stringMatching(/^configuration: THREADS was removed: start one process per core/),
    'configuration: PORT must be a number from 0 to 65535; it is "x".',
  ])
  expect(findings).toHaveLength(3)
})

test('names a read-only database, and checks nothing that writes', async () => {
  const set = (setting: string) =>
    asMaker(cluster.makerUrl, (maker) => maker.query(`alter database ${database.name} ${setting}`))
  await set('set default_transaction_read_only = on')
  try {
    const findings = await found(healthy)
    expect(wrongs(findings)).toEqual([
      'writes: the database is read-only: default_transaction_read_only is on',
    ])
    expect(findings.at(-1)?.mend).toMatch(/^Set it to off/)
  } finally {
    await set('reset default_transaction_read_only')
  }
})

test('reports a missing database', async () => {
  const port = await freePort()
  const findings = await found({ ...healthy, DATABASE_URL: `postgres://a:b@127.0.0.1:${port}/c` })
  expect(wrongs(findings)).toEqual([expect.stringMatching(/^database: .*ECONNREFUSED/)])
  expect(findings.at(-1)?.mend).toBe('Start PostgreSQL there, or correct the host and port.')
  const gone = new URL(database.serviceUrl)
  gone.pathname = '/no_such_database'
  expect((await found({ ...healthy, DATABASE_URL: gone.href })).at(-1)?.mend).toMatch(/^Create the database/)
})

test('reports a wrong secret key', async () => {
  const other = randomBytes(32).toString('base64')
  expect(wrongs(await found({ ...healthy, LANEWISE_SECRET_KEY: other }))).toEqual([
    expect.stringMatching(/^secret key: it is not the key/),
  ])
  expect(wrongs(await found({ ...healthy, LANEWISE_SECRET_KEY: `${other},${keyText}` }))).toEqual([])
})

test('reports a role without tenant isolation, and a service role that owns the tables', async () => {
  const superuser = databaseUrl(cluster.makerUrl, database.name)
  const findings = wrongs(await found({ ...healthy, DATABASE_URL: superuser }))
  expect(findings).toContainEqual(expect.stringMatching(/^tenant isolation: .*superuser/))
  expect(wrongs(await found({ ...healthy, MIGRATION_DATABASE_URL: database.serviceUrl }))).toEqual([
    'owner: MIGRATION_DATABASE_URL uses the service’s own role',
  ])
})

test('reports a clock difference', async () => {
  expect(wrongs(await found(healthy, () => Date.now() - 10_000))).toEqual([
    expect.stringMatching(/^clocks: the clocks of this machine and the database differ by \d+\.\d s$/),
  ])
})

test('reports a schema of another version: older is wrong, newer is a note', { tags: 'long' }, async () => {
  await asOwner(`insert into schema_migrations (name) values ('9999-later.sql')`)
  const newer = await found(healthy)
  expect(wrongs(newer)).toEqual([])
  expect(newer.find(({ about }) => about === 'schema')).toMatchObject({
    state: 'note',
    says: 'a newer version has migrated it (9999-later.sql)',
  })
  await asOwner(
    `delete from schema_migrations where name in ('9999-later.sql', '0010-usage-and-sandbox.sql')`,
  )
  expect(wrongs(await found(healthy))).toEqual(['schema: the database lacks 0010-usage-and-sandbox.sql'])
  await asOwner(`insert into schema_migrations (name) values ('0010-usage-and-sandbox.sql')`)
})

test('a database from before the baseline is refused with the commands that move a brokerage', async () => {
  await asOwner(`insert into schema_migrations (name) values ('0001-facts.sql')`)
  const findings = await found(healthy)
  expect(wrongs(findings)).toEqual([
    'schema: an earlier version created the database (it has 0001-facts.sql)',
  ])
  expect(findings.find(({ about }) => about === 'schema')?.mend).toMatch(
    /npm run tenant -- export NAME FOLDER.*npm run tenant -- import FOLDER/,
  )
  await asOwner(`delete from schema_migrations where name = '0001-facts.sql'`)
})

test('variables of earlier versions are notes that name what to remove', { tags: 'long' }, async () => {
  const findings = await found({
    ...healthy,
    REDIS_URL: 'redis://127.0.0.1:1',
    DATABASE_REPLICA_URL: 'postgres://127.0.0.1:1/lanewise',
    MARKET_ADAPTERS: 'on',
  })
  const notes = findings.filter(({ about, state }) => about === 'configuration' && state === 'note')
  expect(notes.map(({ says }) => says)).toEqual([
    expect.stringContaining('REDIS_URL is no longer used'),
    expect.stringContaining('DATABASE_REPLICA_URL is no longer used'),
    expect.stringContaining('MARKET_ADAPTERS is no longer used'),
  ])
})

test('reports a database without upper and lower case', { tags: 'long' }, async () => {
  const name = `${database.name}_c`
  await asMaker(cluster.makerUrl, async (maker) => {
    const { rows } = await maker.query<{ version: string }>(
      `select current_setting('server_version_num') as version`,
    )
    const provider = Number(rows[0]?.version) >= 150_000 ? `locale_provider 'libc'` : ''
    await maker.query(`create database ${name} template template0 locale 'C' ${provider}`)
  })
  try {
    const letters = async (url: string) =>
      (await found({ ...healthy, DATABASE_URL: url })).find(({ about }) => about === 'letters')?.state
    expect(await letters(databaseUrl(database.serviceUrl, name))).toBe('note')
    expect(await letters(database.serviceUrl)).toBe('ok')
  } finally {
    await asMaker(cluster.makerUrl, (maker) => maker.query(`drop database ${name} with (force)`))
  }
})

test('with the embedded database, the folder is checked and nothing is started', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanewise-doctor-'))
  const findings = await found({ DATA_DIR: folder })
  expect(findings.map(({ about, state }) => `${about} ${state}`)).toEqual([
    'Node ok',
    'configuration ok',
    'data folder ok',
    'embedded database note',
  ])
  rmSync(folder, { recursive: true })
  expect((await found({ DATA_DIR: folder })).at(-1)?.says).toMatch(/does not exist yet/)
})
