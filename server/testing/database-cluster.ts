import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrate } from '#server/database/schema/index.ts'
import {
  type DatabaseRole,
  lockDataFolder,
  makeDatabase,
  makeRoles,
  roleNames,
  startEmbeddedPostgres,
  stopAbandonedPostgres,
} from '#server/embedded-postgres/index.ts'

/** The PostgreSQL of a test run. The addresses name no database that tests may use: they clone the template. */
export type DatabaseCluster = {
  /** Connects as a role that may make databases. */
  readonly makerUrl: string
  readonly ownerUrl: string
  readonly serviceUrl: string
  /** A migrated database without rows, to be cloned. */
  readonly template: string
}

declare module 'vitest' {
  interface ProvidedContext {
    databaseCluster: DatabaseCluster
  }
}

/** Vitest's global setup: one PostgreSQL for the whole run. Gives the function that takes everything away again. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = performance.now()
  const { cluster, name, stop } = await startCluster()
  project.provide('databaseCluster', cluster)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(`Test database ready after ${seconds} s (${name}).\n`)
  return stop
}

/**
 * One PostgreSQL with a migrated template database. It is the embedded one, in a temporary folder, or that of
 * `LANEWISE_TEST_DATABASE_URL`: a superuser's address, or that of a role that may make roles and databases, on
 * PostgreSQL 14 or newer. `stop` takes everything away again.
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
  const takeAway = async () => {
    await asMaker(cluster.makerUrl, (maker) =>
      maker.query(`drop database if exists ${template} with (force)`),
    )
    await server.stop()
  }
  try {
    await asMaker(cluster.makerUrl, (maker) => makeDatabase(maker, template))
    await migrate({ connectionString: databaseUrl(cluster.ownerUrl, template) })
  } catch (error) {
    await takeAway()
    throw error
  }
  return { cluster, name: server.name, stop: takeAway }
}

/** The same address with another database. */
export function databaseUrl(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

/** Connects to the maker's own database for the length of a task. */
export async function asMaker<Answer>(
  makerUrl: string,
  task: (maker: pg.Client) => Promise<Answer>,
): Promise<Answer> {
  const maker = new pg.Client({ connectionString: makerUrl })
  await maker.connect()
  try {
    return await task(maker)
  } finally {
    await maker.end()
  }
}

type Server = {
  readonly name: string
  readonly urls: Pick<DatabaseCluster, 'makerUrl' | 'ownerUrl' | 'serviceUrl'>
  readonly stop: () => Promise<void>
}

const folderPrefix = 'lanewise-test-'

async function startOwnServer(): Promise<Server> {
  await removeAbandonedFolders()
  const directory = mkdtempSync(join(tmpdir(), folderPrefix))
  // As root, PostgreSQL's own account must pass through it.
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

/** A run that was killed leaves its folder and its PostgreSQL. Its lock is free then; a living run's is not. */
async function removeAbandonedFolders(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(folderPrefix))) {
    const directory = join(tmpdir(), name)
    try {
      // A folder this young may belong to a run that has not locked it yet.
      if (Date.now() - statSync(directory).ctimeMs < 10_000) continue
      const folder = await lockDataFolder(directory)
      const others = await stopAbandonedPostgres(directory)
      folder.release()
      for (const path of [directory, ...others]) rmSync(path, { recursive: true, force: true })
    } catch {
      // In use, or another user's: not ours to remove.
    }
  }
}

/**
 * Prepares a server that is not ours. The roles have the names they have in production, so a server that holds a
 * database of the service's name is refused: tests would change its passwords. Passwords follow from the address, so
 * that several runs at once agree on them.
 */
async function preparedServer(makerUrl: string): Promise<Server> {
  const password = (role: string) => createHash('sha256').update(`${role} ${makerUrl}`).digest('base64url')
  const passwords = { owner: password('owner'), service: password('service') }
  await asMaker(makerUrl, async (maker) => {
    const { rowCount } = await maker.query("select from pg_database where datname = 'lanewise'")
    if (rowCount !== 0) {
      throw new Error(
        'LANEWISE_TEST_DATABASE_URL names a server with a database "lanewise": refusing to test there.',
      )
    }
    await maker.query('select pg_advisory_lock(7205914)')
    await makeRoles(maker, passwords)
    // To make databases of the owner's, and to end what still uses a database that goes.
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
