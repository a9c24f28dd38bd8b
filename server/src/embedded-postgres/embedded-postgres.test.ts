import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Holder, holdDataFolder } from '#testing/data-folder-holder.ts'
import { canEnter } from './account.ts'
import { findPlace } from './cluster-location.ts'
import {
  type EmbeddedConnection,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  embeddedConnections,
  runningEmbeddedPostgres,
  startEmbeddedPostgres,
  stopAbandonedPostgres,
} from './embedded-postgres.ts'
import { restartsMax } from './kept-running.ts'
import { clusterIsGone, clusterProcesses, signal } from './postmaster.ts'

const nobody = { uid: 65534, gid: 65534 }
const asRoot = process.getuid?.() === 0

/** A folder whose PostgreSQL was started once. This PostgreSQL runs during the first tests, which only look at it. */
let startedBefore = ''
let first: EmbeddedPostgres
let directory = ''

function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lanewise-postgres-')))
  if (asRoot) chmodSync(folder, 0o711)
  return folder
}

beforeAll(async () => {
  startedBefore = newFolder()
  first = await startEmbeddedPostgres({ directory: startedBefore })
})
afterAll(async () => {
  await first.stop()
  rmSync(startedBefore, { recursive: true, force: true })
})

beforeEach(() => {
  directory = newFolder()
})

/** Spares a test the first start, which creates the cluster and takes longer than later starts. */
async function asStartedBefore(): Promise<void> {
  await first.stop()
  execFileSync('cp', ['-a', `${startedBefore}/.`, directory])
}

afterEach(async () => {
  await stopAbandonedPostgres(directory)
  rmSync(directory, { recursive: true, force: true })
})

const clusterOf = (folder: string) => join(folder, 'postgres', 'cluster')

async function ask(options: pg.ClientConfig, question: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(options)
  await client.connect()
  try {
    return (await client.query(question)).rows
  } finally {
    await client.end()
  }
}

/** Runs a task with PostgreSQL, and always stops it afterwards. */
async function withPostgres<Answer>(
  options: EmbeddedPostgresOptions,
  task: (postgres: EmbeddedConnection) => Promise<Answer>,
): Promise<Answer> {
  const postgres = await startEmbeddedPostgres(options)
  try {
    return await task(postgres)
  } finally {
    await postgres.stop()
  }
}

async function writeRow(postgres: EmbeddedConnection): Promise<void> {
  const { owner } = embeddedConnections(postgres)
  await ask(owner, 'create table if not exists kept (id int)')
  await ask(owner, 'insert into kept values (1)')
}

async function rows(postgres: EmbeddedConnection): Promise<number> {
  return (await ask(embeddedConnections(postgres).owner, 'select id from kept')).length
}

function running(holder: Holder): EmbeddedConnection {
  const postgres = runningEmbeddedPostgres(directory)
  if (postgres === null) throw new Error(`Process ${holder.pid} does not run PostgreSQL: ${holder.refusal}`)
  return postgres
}

describe('a started PostgreSQL', () => {
  // The default data folder is ./data, and each start looks for the cluster there before anything else.
  test('is found by the relative path of its data folder, too', () => {
    const found = findPlace(relative(process.cwd(), startedBefore))
    expect(found).toEqual(findPlace(startedBefore))
    expect(found?.cluster).toBe(clusterOf(startedBefore))
  })

  test('a commit is on disk, the clock is UTC, text is UTF-8, and no network can reach it', async () => {
    const { service } = embeddedConnections(first)
    const shown: Record<string, unknown> = {}
    for (const name of ['fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums', 'TimeZone']) {
      Object.assign(shown, (await ask(service, `show ${name}`))[0])
    }
    for (const name of [
      'server_encoding',
      'listen_addresses',
      'jit',
      'max_connections',
      'autovacuum_naptime',
    ]) {
      Object.assign(shown, (await ask(service, `show ${name}`))[0])
    }
    expect(shown).toEqual({
      fsync: 'on',
      full_page_writes: 'on',
      synchronous_commit: 'on',
      data_checksums: 'on',
      TimeZone: 'UTC',
      autovacuum_naptime: '10s',
      server_encoding: 'UTF8',
      listen_addresses: '',
      jit: 'off',
      max_connections: '60',
    })
    expect(statSync(first.host).mode & 0o777).toBe(0o700)
    expect(statSync(join(startedBefore, 'postgres', 'passwords.json')).mode & 0o777).toBe(0o600)
  })

  test('neither role is a superuser, only the owner may make tables, and a wrong password is refused', async () => {
    const { owner, service } = embeddedConnections(first)
    const powers =
      'select current_user as name, rolsuper or rolbypassrls or rolcreaterole or rolcreatedb as any from pg_roles where rolname = current_user'
    expect(await ask(owner, powers)).toEqual([{ name: 'lanewise_owner', any: false }])
    expect(await ask(service, powers)).toEqual([{ name: 'lanewise_service', any: false }])
    await expect(ask(service, 'create table mine (id int)')).rejects.toThrow('permission denied')
    await expect(ask({ ...service, password: 'guess' }, 'select 1')).rejects.toThrow(
      'password authentication',
    )
  })

  test.runIf(asRoot && process.platform === 'linux')(
    'as root, it runs as another user, without root’s groups',
    async () => {
      const [pid] = clusterProcesses(clusterOf(startedBefore))
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      expect(status).toMatch(/^Uid:\s+65534\s+65534\s+65534\s+65534$/m)
      expect(status).toMatch(/^Groups:\s*$/m)
    },
  )

  test('stopping leaves no process, and the next start finds the rows', { tags: 'long' }, async () => {
    await asStartedBefore()
    await withPostgres({ directory }, writeRow)
    expect(clusterProcesses(clusterOf(directory))).toEqual([])
    expect(await withPostgres({ directory }, rows)).toBe(1)
  })

  test('a path too long for a socket works', { tags: 'long' }, async () => {
    const long = join(directory, 'l'.repeat(60), 'o'.repeat(60))
    expect(
      await withPostgres({ directory: long }, async (postgres) => {
        expect(statSync(postgres.host).mode & 0o777).toBe(0o700)
        await writeRow(postgres)
        return rows(postgres)
      }),
    ).toBe(1)
  })
})

describe('after kill -9', { tags: 'long' }, () => {
  test('of PostgreSQL: it is started again with every acknowledged row, and after three times the service is notified', async () => {
    await asStartedBefore()
    let told = (_reason: string) => {}
    const reason = new Promise<string>((resolve) => {
      told = resolve
    })
    const said: string[] = []
    const postgres = await startEmbeddedPostgres({
      directory,
      onExit: (text) => told(text),
      log: (line) => said.push(line),
    })
    await writeRow(postgres)
    const kill = () => {
      for (const pid of clusterProcesses(clusterOf(directory))) signal(pid, 'SIGKILL')
    }
    for (let nth = 1; nth <= restartsMax; nth++) {
      const { pid } = postgres
      kill()
      await vi.waitUntil(() => postgres.pid !== 0 && postgres.pid !== pid, { timeout: 120_000 })
      expect(await rows(postgres)).toBe(1)
    }
    expect(said.filter((line) => line.includes('(SIGKILL) and is started again'))).toHaveLength(restartsMax)
    kill()
    expect(await reason).toContain('SIGKILL')
    await postgres.stop()
    expect(await withPostgres({ directory }, rows)).toBe(1)
  })

  test('of the service: the next start stops the orphaned PostgreSQL and finds every row', {
    tags: 'long',
  }, async () => {
    await asStartedBefore()
    const holder = await holdDataFolder(directory, 'postgres')
    await writeRow(running(holder))
    await holder.kill()
    expect(clusterProcesses(clusterOf(directory))).toContain(holder.postgresPid)
    const said: string[] = []
    const count = await withPostgres({ directory, log: (line) => said.push(line) }, async (postgres) => {
      expect(clusterProcesses(clusterOf(directory))).not.toContain(holder.postgresPid)
      return rows(postgres)
    })
    expect(count).toBe(1)
    expect(said.join('\n')).toContain('left PostgreSQL running')
  })

  test('of both: stale pid files do not prevent the next start', async () => {
    await asStartedBefore()
    const holder = await holdDataFolder(directory, 'postgres')
    await writeRow(running(holder))
    await holder.kill()
    for (const pid of clusterProcesses(clusterOf(directory))) signal(pid, 'SIGKILL')
    expect(await withPostgres({ directory }, rows)).toBe(1)
  })

  test('a program that has reused a pid from a stale file is not affected', async () => {
    await asStartedBefore()
    await withPostgres({ directory }, writeRow)
    const note = join(clusterOf(directory), 'postmaster.pid')
    writeFileSync(
      note,
      `${process.pid}\n${clusterOf(directory)}\n1\n5432\n\n\n  5432001         0\nready   \n`,
    )
    expect(await withPostgres({ directory }, rows)).toBe(1)
  })
})

describe('a second service on the same folder', { tags: 'long' }, () => {
  test('is refused with one line that names the folder and process, and the first keeps working', async () => {
    await asStartedBefore()
    const holder = await holdDataFolder(directory, 'postgres')
    await writeRow(running(holder))
    const second = await holdDataFolder(directory, 'postgres')
    expect(second.refusal).toContain(directory)
    expect(second.refusal).toContain(`process ${holder.pid} `)
    await expect(startEmbeddedPostgres({ directory })).rejects.toThrow(`process ${holder.pid} `)
    expect(await rows(running(holder))).toBe(1)
    await holder.end()
    expect(runningEmbeddedPostgres(directory)).toBeNull()
    expect(await clusterIsGone(clusterOf(directory), 0)).toBe(true)
  })

  test('started concurrently with six others: one runs, the others are refused', {
    tags: 'long',
  }, async () => {
    const holders = await Promise.all(Array.from({ length: 7 }, () => holdDataFolder(directory, 'postgres')))
    const [winner, ...more] = holders.filter(({ refusal }) => refusal === null)
    expect(more).toEqual([])
    for (const { refusal } of holders.filter((holder) => holder !== winner))
      expect(refusal).toContain(directory)
    await Promise.all(holders.map((holder) => holder.end()))
  })
})

describe.runIf(asRoot)('as root', () => {
  test('a data folder that PostgreSQL cannot enter keeps its mode, and the cluster goes elsewhere and stays there', {
    tags: 'long',
  }, async () => {
    const closed = join(directory, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    const options = { directory: join(closed, 'data'), elsewhere: join(directory, 'elsewhere') }
    mkdirSync(options.directory)
    const said: string[] = []
    await withPostgres({ ...options, log: (line) => said.push(line) }, writeRow)
    expect(said.join('\n')).toContain(options.elsewhere)
    expect(statSync(closed).mode & 0o777).toBe(0o700)
    expect(await withPostgres(options, rows)).toBe(1)
    rmSync(options.elsewhere, { recursive: true })
    await expect(startEmbeddedPostgres(options)).rejects.toThrow('is gone')
  })

  const project = fileURLToPath(new URL('.', import.meta.url))
  test.runIf(asRoot && canEnter(nobody, project))(
    'a normal user can do the same in a folder of its own',
    { tags: 'long' },
    async () => {
      chownSync(directory, nobody.uid, nobody.gid)
      const holder = await holdDataFolder(directory, 'postgres', nobody)
      expect(holder.refusal).toBeNull()
      await writeRow(running(holder))
      expect(statSync(clusterOf(directory)).uid).toBe(nobody.uid)
      await holder.end()
      expect(await withPostgres({ directory }, rows)).toBe(1)
    },
  )
})
