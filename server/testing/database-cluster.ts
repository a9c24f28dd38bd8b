import { createHash, randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import type { TestProject } from 'vitest/node'
import { withDatabaseClient } from '#server/database/hosts/index.ts'
import { migrate } from '#server/database/schema/index.ts'
import { roleTimeouts } from '#server/database/session/index.ts'
import {
  type DatabaseRole,
  lockDataFolder,
  makeDatabase,
  makeRoles,
  roleNames,
  startEmbeddedPostgres,
  stopAbandonedPostgres,
} from '#server/embedded-postgres/index.ts'

/** The PostgreSQL server of a test run. Tests clone the template database and do not use the databases in these URLs. */
export type DatabaseCluster = {
  /** Connects as a role that may create databases. */
  readonly makerUrl: string
  readonly ownerUrl: string
  readonly serviceUrl: string
  /** The name of a migrated database without rows, to be cloned. */
  readonly template: string
}

declare module 'vitest' {
  interface ProvidedContext {
    databaseCluster: DatabaseCluster
  }
}

/** Vitest's global setup: one PostgreSQL server for all projects of a run. Returns the teardown function. */
export default async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  // Another project of this run has started the server.
  if (vitest.getProvidedContext().databaseCluster !== undefined) return undefined
  const started = performance.now()
  const { cluster, name, stop } = await startPatientCluster()
  vitest.provide('databaseCluster', cluster)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(`Test database ready after ${seconds} s (${name}).\n`)
  return stop
}

/** Starts the PostgreSQL server of a test run: see `startCluster` and `makePatient`. */
export async function startPatientCluster(): ReturnType<typeof startCluster> {
  const started = await startCluster()
  await makePatient(started.cluster)
  return started
}

/**
 * Gives statements of the service the longest time that is still safe, because a busy machine takes longer for each. And stops
 * the automatic analysis of tables, which would make plans differ from run to run.
 */
async function makePatient({ makerUrl }: DatabaseCluster): Promise<void> {
  await asMaker(makerUrl, async (maker) => {
    for (const { name } of roleTimeouts)
      await maker.query(`alter role ${roleNames.service} set ${name} = '60s'`)
    if (process.env.LANEWISE_TEST_DATABASE_URL !== undefined) return
    await maker.query('alter system set autovacuum = off')
    await maker.query('select pg_reload_conf()')
  })
}

/**
 * Starts a PostgreSQL server with a migrated template database. It is the embedded PostgreSQL in a temporary folder, or the
 * server in `LANEWISE_TEST_DATABASE_URL` (PostgreSQL 14 or newer; a superuser, or a role that may create roles and
 * databases). `stop` removes everything that was created.
 */
export async function startCluster(): Promise<{
  readonly cluster: DatabaseCluster
  readonly name: string
  readonly stop: () => Promise<void>
}> {
  const url = process.env.LANEWISE_TEST_DATABASE_URL
  const server = url === undefined ? await startOwnServer() : await preparedServer(url)
  const template = `lanewise_template_${randomBytes(4).toString('hex')}`
  const cluster: DatabaseCluster = { ...server.urls, template }
  const stop = async () => {
    await asMaker(cluster.makerUrl, async (maker) => {
      const ours = 'select datname as name from pg_database where starts_with(datname, $1)'
      const { rows } = await maker.query<{ name: string }>(ours, [template])
      for (const { name } of rows) await maker.query(`drop database ${name} with (force)`)
    })
    await server.stop()
  }
  try {
    await asMaker(cluster.makerUrl, (maker) => makeDatabase(maker, template))
    await migrate({ connectionString: databaseUrl(cluster.ownerUrl, template) })
  } catch (error) {
    await stop()
    throw error
  }
  return { cluster, name: server.name, stop }
}

/** Returns the URL with another database name. */
export function databaseUrl(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

/** Runs `task` on a connection of the role that may create databases. */
export async function asMaker<Answer>(
  makerUrl: string,
  task: (maker: pg.Client) => Promise<Answer>,
): Promise<Answer> {
  return withDatabaseClient({ connectionString: makerUrl }, task)
}

type Server = {
  readonly name: string
  readonly urls: Pick<DatabaseCluster, 'makerUrl' | 'ownerUrl' | 'serviceUrl'>
  readonly stop: () => Promise<void>
}

const folderPrefix = 'lanewise-test-'

/** A file system in memory, on most machines with Linux. */
const memory = '/dev/shm'
/** The log of PostgreSQL takes up to half a gigabyte, and the databases of two workers less than that. */
const memoryBytesMin = 2 * 1024 ** 3

/**
 * The folder for the databases of tests: in memory, if there is enough. The 500 files of a clone take 0.2 s of processor time on a
 * disk, and 0.02 s in memory: 30 of 280 s of a run.
 */
function folderOfClusters(): string {
  try {
    accessSync(memory, constants.W_OK)
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= memoryBytesMin ? memory : tmpdir()
  } catch {
    return tmpdir()
  }
}

async function startOwnServer(): Promise<Server> {
  await removeAbandonedFolders()
  const directory = mkdtempSync(join(folderOfClusters(), folderPrefix))
  // If the tests run as root, PostgreSQL runs as another user, which must be able to enter the folder.
  if (process.getuid?.() === 0) chmodSync(directory, 0o711)
  const folder = await lockDataFolder(directory)
  const remove = async () => {
    const others = await stopAbandonedPostgres(directory)
    folder.release()
    for (const path of [directory, ...others]) rmSync(path, { recursive: true, force: true })
  }
  try {
    const postgres = await startEmbeddedPostgres({
      directory: folder.directory,
      onExit: (reason) => process.stderr.write(`${reason}\n`),
    })
    const url = (role: DatabaseRole) => {
      const { user, password } = postgres.connection('postgres', role)
      const host = encodeURIComponent(postgres.host)
      return `postgres://${user}:${password}@localhost:${postgres.port}/postgres?host=${host}`
    }
    return {
      name: 'embedded PostgreSQL',
      urls: { makerUrl: url('superuser'), ownerUrl: url('owner'), serviceUrl: url('service') },
      stop: async () => {
        await postgres.stop()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** The folders of clusters in a folder, which may not exist. */
function clustersIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter((entry) => entry.startsWith(folderPrefix))
  return names.map((name) => join(folder, name))
}

/** Removes the folders and PostgreSQL servers of killed test runs. The lock of a live run is held, so its folder stays. */
async function removeAbandonedFolders(): Promise<void> {
  for (const directory of [tmpdir(), memory].flatMap(clustersIn)) {
    try {
      // A folder this new may belong to a run that has not locked it yet.
      if (Date.now() - statSync(directory).ctimeMs < 10_000) continue
      const folder = await lockDataFolder(directory)
      const others = await stopAbandonedPostgres(directory)
      folder.release()
      for (const path of [directory, ...others]) rmSync(path, { recursive: true, force: true })
    } catch {
      // The folder is in use or belongs to another user.
    }
  }
}

/**
 * Prepares an external server. The roles have the same names as in production, and tests set their passwords. A server with
 * a database named `lanewise` is therefore refused. Passwords are derived from the URL, so that concurrent runs agree.
 */
async function preparedServer(makerUrl: string): Promise<Server> {
  const password = (role: string) => createHash('sha256').update(`${role} ${makerUrl}`).digest('base64url')
  const passwords = { owner: password('owner'), service: password('service') }
  await asMaker(makerUrl, async (maker) => {
    const { rowCount } = await maker.query("select from pg_database where datname = 'lanewise'")
    if (rowCount !== 0) {
      throw new Error(
        'LANEWISE_TEST_DATABASE_URL names a server with a database "lanewise". Tests would change its passwords.',
      )
    }
    await maker.query('select pg_advisory_lock(7205914)')
    await makeRoles(maker, passwords)
    // Needed to create databases for the owner, and to drop databases that still have connections.
    await maker.query(`grant ${roleNames.owner}, ${roleNames.service} to current_user`)
  })
  const url = (role: 'owner' | 'service') => {
    const changed = new URL(makerUrl)
    changed.username = roleNames[role]
    changed.password = passwords[role]
    return changed.href
  }
  return {
    name: `PostgreSQL at ${new URL(makerUrl).host}`,
    urls: { makerUrl, ownerUrl: url('owner'), serviceUrl: url('service') },
    stop: async () => {},
  }
}
