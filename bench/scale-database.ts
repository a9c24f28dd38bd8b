import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { makeSecretKey, secretKeysOf } from '#server/configuration/index.ts'
import { withDatabaseClient } from '#server/database/hosts/index.ts'
import { migrate } from '#server/database/schema/index.ts'
import {
  type DatabaseRole,
  databaseName,
  embeddedConnections,
  startEmbeddedPostgres,
} from '#server/embedded-postgres/index.ts'
import { readAccess, type ScaleAccess } from './scale/access-file.ts'
import { generate } from './scale/generate.ts'
import type { ScalePlan } from './scale/plan.ts'
import { withDatabase } from './scale/with-database.ts'

/** A running database with generated data, in a separate process from the measured servers. */
export interface ScaleDatabase {
  readonly access: ScaleAccess
  readonly directory: string
  /** The environment for a service process on this database. */
  readonly serviceEnv: Readonly<Record<string, string>>
  /** The first process of its PostgreSQL. */
  readonly postgresPid: number
  url(role: DatabaseRole): string
  /** Runs `work` on a new connection of a role. */
  as<Result>(role: DatabaseRole, work: (client: pg.Client) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/**
 * Opens the data of a plan in a folder under `root`, and generates missing data first. A second run finds the data complete.
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
  const name = `${asked.quotes}-quotes-${asked.tenants}-brokerages-seed-${asked.seed}`
  const brokerage = asked.brokerage === undefined ? '' : `-and-one-of-${asked.brokerage}`
  const directory = join(root, `${name}${brokerage}`)
  mkdirSync(directory, { recursive: true })
  // For root, PostgreSQL runs as another user, which must be able to enter the folders.
  if (process.getuid?.() === 0) for (const folder of [root, directory]) chmodSync(folder, 0o711)
  const accessFile = join(directory, 'generated-access.json')
  const plan = {
    ...asked,
    until: readAccess(accessFile)?.plan.until ?? new Date(now).toISOString().slice(0, 10),
  }
  makeSecretKey(directory)
  const postgres = await startEmbeddedPostgres({ directory })
  try {
    const { owner, service } = embeddedConnections(postgres)
    await migrate(owner)
    const secretKeys = secretKeysOf(directory)
    const made = await withDatabase(service, (database) =>
      generate({ owner, database, secretKeys, plan, accessFile, now, onProgress, isStopping }),
    )
    if (!made.finished) throw new Error('Stopped while generating data. The next run continues from there.')
    const url = (role: DatabaseRole) => {
      const { user, password } = postgres.connection(databaseName, role)
      return `postgres://${user}:${password}@localhost:${postgres.port}/${databaseName}?host=${encodeURIComponent(postgres.host)}`
    }
    return {
      access: made.access,
      directory,
      postgresPid: postgres.pid,
      url,
      serviceEnv: {
        DATABASE_URL: url('service'),
        MIGRATION_DATABASE_URL: url('owner'),
        LANEWISE_SECRET_KEY: '',
        LANEWISE_SECRET_KEY_FILE: join(directory, 'secret-key'),
        DATA_DIR: directory,
        SAMPLE_BROKERAGE: 'false',
      },
      as: (role, work) => withDatabaseClient(postgres.connection(databaseName, role), work),
      close: () => postgres.stop(),
    }
  } catch (error) {
    await postgres.stop()
    throw error
  }
}
