import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { secretKeysOf } from '#server/configuration/index.ts'
import { migrate } from '#server/database/schema/index.ts'
import {
  type DatabaseRole,
  databaseName,
  embeddedConnections,
  startEmbeddedPostgres,
} from '#server/embedded-postgres/index.ts'
import { derivedKey } from '#server/security/index.ts'
import { readAccess, type ScaleAccess } from './scale/access-file.ts'
import { generate } from './scale/generate.ts'
import type { ScalePlan } from './scale/plan.ts'
import { withDatabase } from './scale/with-database.ts'

/** A database of scale data that runs while it is measured, apart from every server that is measured on it. */
export interface ScaleDatabase {
  readonly access: ScaleAccess
  readonly directory: string
  /** What a service process needs to work on it. */
  readonly serviceEnv: Readonly<Record<string, string>>
  /** What the ordinary peer needs: a way in past the walls, and the key that tokens are checked with. */
  readonly ordinaryEnv: Readonly<Record<string, string>>
  url(role: DatabaseRole): string
  /** Does a piece of work as a role, on a connection of its own. */
  as<Result>(role: DatabaseRole, work: (client: pg.Client) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/**
 * Opens the data of a plan in a folder of its own under `root`, and makes what is missing of it first: a second run
 * finds all of it there.
 */
export async function scaleDatabase(
  root: string,
  asked: Omit<ScalePlan, 'until'>,
  {
    now,
    onProgress,
    isStopping,
  }: {
    now: number
    onProgress: (written: number, total: number) => void
    isStopping: () => boolean
  },
): Promise<ScaleDatabase> {
  const name = `${asked.quotes}-quotes-${asked.tenants}-tenants-seed-${asked.seed}`
  const giants = `${asked.giantLane > 0 ? `-lane-${asked.giantLane}` : ''}${asked.giantTenant > 0 ? `-tenant-${asked.giantTenant}` : ''}${asked.brokerage === undefined ? '' : `-brokerage-${asked.brokerage}`}`
  const directory = join(root, `${name}${giants}`)
  mkdirSync(directory, { recursive: true })
  // As root PostgreSQL works under another account, which must pass through.
  if (process.getuid?.() === 0) for (const folder of [root, directory]) chmodSync(folder, 0o711)
  const accessFile = join(directory, 'generated-access.json')
  const plan = {
    ...asked,
    until: readAccess(accessFile)?.plan.until ?? new Date(now).toISOString().slice(0, 10),
  }
  const postgres = await startEmbeddedPostgres({ directory })
  try {
    const { owner, service } = embeddedConnections(postgres)
    await migrate(owner)
    const secretKeys = secretKeysOf(directory)
    const made = await withDatabase(service, (database) =>
      generate({ owner, database, secretKeys, plan, accessFile, now, onProgress, isStopping }),
    )
    if (!made.finished) throw new Error('Stopped while the data were being made; the next run goes on there.')
    const url = (role: DatabaseRole) => {
      const { user, password } = postgres.connection(databaseName, role)
      return `postgres://${user}:${password}@localhost:${postgres.port}/${databaseName}?host=${encodeURIComponent(postgres.host)}`
    }
    return {
      access: made.access,
      directory,
      url,
      serviceEnv: {
        DATABASE_URL: url('service'),
        MIGRATION_DATABASE_URL: url('owner'),
        LANEWISE_SECRET_KEY: '',
        LANEWISE_SECRET_KEY_FILE: join(directory, 'secret-key'),
        DATA_DIR: directory,
        SAMPLE_BROKERAGE: 'false',
      },
      ordinaryEnv: {
        DATABASE_URL: url('superuser'),
        BENCH_TOKEN_KEY: derivedKey(secretKeys[0], 'service tokens').toString('hex'),
      },
      async as(role, work) {
        const client = new pg.Client(postgres.connection(databaseName, role))
        await client.connect()
        try {
          return await work(client)
        } finally {
          await client.end()
        }
      },
      close: () => postgres.stop(),
    }
  } catch (error) {
    await postgres.stop()
    throw error
  }
}
