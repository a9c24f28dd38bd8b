import { randomBytes, randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
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
import { findPlace, makePlace } from '../embedded-postgres/index.ts'
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
    TRUST_PROXY: 'loopback',
    // Tests give the role of the service a timeout that is thirty times as long.
    DEADLINE_FACTOR: '30',
  }
  await asOwner(`comment on table installation is 'backup verified ${new Date().toISOString()}'`)
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

async function found(
  env: Record<string, string>,
  clock = Date.now,
  openFilesMax: number | null = 65_536,
): Promise<Finding[]> {
  const told: Finding[] = []
  const findings = await examine(() => readConfig(env), {
    clock,
    tell: (finding) => told.push(finding),
    openFilesMax,
  })
  expect(told).toEqual(findings)
  for (const { state, mend } of findings) if (state === 'wrong') expect(mend).toMatch(/\.$/)
  return findings
}

const of = (findings: readonly Finding[], subject: string) => findings.find(({ about }) => about === subject)

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
    'open files',
    'configuration',
    'proxy',
    'database',
    'PostgreSQL',
    'letters',
    'encryption',
    'clocks',
    'connections',
    'statements',
    'pooler',
    'schema',
    'owner',
    'tenant isolation',
    'secret key',
    'backup',
    'instances',
  ])
  expect(findings.filter(({ state }) => state !== 'ok')).toEqual([])
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
  expect(findings).toHaveLength(4)
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
    'open files ok',
    'configuration ok',
    'proxy note',
    'data folder ok',
    'embedded database note',
  ])
  rmSync(folder, { recursive: true })
  expect((await found({ DATA_DIR: folder })).at(-1)?.says).toMatch(/does not exist yet/)
})

test('reports a statement_timeout that is too long, of the role, the database or DATABASE_URL', async () => {
  expect(of(await found(healthy), 'statements')).toMatchObject({
    state: 'ok',
    says: 'statement_timeout is 60 s',
  })
  const usual = { ...healthy, DEADLINE_FACTOR: '1' }
  expect(of(await found(usual), 'statements')).toMatchObject({
    state: 'note',
    says: expect.stringMatching(/^statement_timeout is 60 s: /),
    mend: expect.stringContaining("alter role lanewise_service set statement_timeout = '2s'"),
  })
  const url = new URL(database.serviceUrl)
  url.searchParams.set('options', '-c statement_timeout=2000')
  expect(of(await found({ ...usual, DATABASE_URL: url.href }), 'statements')?.state).toBe('ok')
  url.searchParams.set('options', '-c statement_timeout=3000')
  expect(of(await found({ ...usual, DATABASE_URL: url.href }), 'statements')?.says).toMatch(/is 3 s/)
})

test('reports a missing TRUST_PROXY, and one that names more than proxies', async () => {
  const { TRUST_PROXY: _, ...without } = healthy
  const proxyOf = async ({
    DATABASE_URL: _url,
    MIGRATION_DATABASE_URL: _owner,
    ...env
  }: Record<string, string>) => of(await found(env), 'proxy')
  expect(await proxyOf(without)).toMatchObject({
    state: 'note',
    says: expect.stringMatching(/^TRUST_PROXY is not set/),
  })
  expect((await proxyOf({ ...healthy, TRUST_PROXY: '10.0.7.0/24,10.0.0.0/8' }))?.says).toMatch(
    /^TRUST_PROXY names 10\.0\.0\.0\/8: /,
  )
  expect((await proxyOf({ ...healthy, TRUST_PROXY: '10.0.7.0/24' }))?.state).toBe('ok')
  expect((await proxyOf({ ...healthy, TRUST_PROXY: 'none' }))?.says).toBe('callers connect directly')
})

test('reports a low limit of open files', async () => {
  const findings = await found({ DATA_DIR: '/nowhere' }, Date.now, 64)
  expect(wrongs(findings)).toEqual([
    'open files: this process may open only 64 files, and each connection is one',
  ])
  expect(of(findings, 'open files')?.mend).toContain('LimitNOFILE')
})

test('reports a misspelled variable', async () => {
  expect(wrongs(await found({ ...healthy, METRICS_PROT: '9464' }))).toEqual([
    'configuration: METRICS_PROT is not a setting: did you mean METRICS_PORT? Correct the name, or remove the variable.',
  ])
})

test('reports a key file that every user can read, in a variable or in the data folder, and a missing one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanewise-doctor-'))
  const file = join(folder, 'secret-key')
  writeFileSync(file, keyText)
  chmodSync(file, 0o644)
  const { LANEWISE_SECRET_KEY: _, ...rest } = healthy
  const readable = /^(configuration|secret key): Every user of this machine can read the secret key/
  expect(wrongs(await found({ ...rest, LANEWISE_SECRET_KEY_FILE: file }))).toEqual([
    expect.stringMatching(readable),
  ])
  makePlace(folder)
  mkdirSync(findPlace(folder)?.cluster ?? '', { recursive: true })
  expect(wrongs(await found({ DATA_DIR: folder }))).toEqual([expect.stringMatching(readable)])
  chmodSync(file, 0o600)
  expect(wrongs(await found({ DATA_DIR: folder }))).toEqual([])
  rmSync(file)
  expect(wrongs(await found({ DATA_DIR: folder }))).toEqual([
    expect.stringMatching(/^secret key: .* is missing/),
  ])
  rmSync(folder, { recursive: true })
})

test('reports the age of the last verified backup, and that none is known', async () => {
  const later = () => Date.now() + 40 * 3_600_000
  expect(of(await found(healthy, later), 'backup')).toMatchObject({
    state: 'note',
    says: 'the last one that was restored and compared is 40 hours old',
  })
  await asOwner(`comment on table installation is 'our remark'`)
  try {
    expect(of(await found(healthy), 'backup')?.says).toBe('no backup is known that was restored and compared')
  } finally {
    await asOwner(`comment on table installation is 'backup verified ${new Date().toISOString()}'`)
  }
})

test('reports a pooler in session mode', async () => {
  const pooler = await sessionPooler(database.serviceUrl)
  try {
    const findings = await found({ ...healthy, DATABASE_URL: pooler.url })
    expect(wrongs(findings)).toEqual([expect.stringMatching(/^pooler: the pooler .* is in session mode/)])
    expect(of(findings, 'pooler')?.mend).toBe('Set pool_mode = transaction in it.')
  } finally {
    await pooler.close()
  }
})

/** Passes connections on to PostgreSQL as a pooler in session mode does, which gives each session a number of its own. */
async function sessionPooler(serviceUrl: string): Promise<{ url: string; close(): Promise<void> }> {
  const { host, port } = new pg.Client({ connectionString: serviceUrl })
  const open = new Set<Socket>()
  const server = createServer((caller) => {
    const behind = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    for (const socket of [caller, behind]) {
      open.add(socket)
      socket.on('error', () => {}).on('close', () => open.delete(socket))
    }
    caller.pipe(behind)
    behind.on('end', () => caller.end())
    behind.on('data', (bytes: Buffer) => caller.write(renumbered(bytes)))
  })
  const at = await freePort()
  await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve))
  const url = new URL(serviceUrl)
  url.searchParams.delete('host')
  url.host = `127.0.0.1:${at}`
  return {
    url: url.href,
    close: async () => {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** BackendKeyData: its type, its length of 12, the number of the process, and the key to cancel with. */
function renumbered(bytes: Buffer): Buffer {
  const at = bytes.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]))
  if (at !== -1) bytes.writeInt32BE(bytes.readInt32BE(at + 5) + 1_000_000, at + 5)
  return bytes
}
