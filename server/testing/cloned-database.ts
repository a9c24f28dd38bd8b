import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { makeDatabase } from '#server/embedded-postgres/index.ts'
import { asMaker, type DatabaseCluster, databaseUrl } from './database-cluster.ts'

/** A migrated database without rows, for one test file. */
export type TestDatabase = {
  readonly name: string
  /** Connects as the owner of the tables, with the rights of a migration. */
  readonly ownerUrl: string
  readonly owner: pg.ClientConfig
  /** Connects as the service does, subject to row-level security. */
  readonly serviceUrl: string
  readonly service: pg.ClientConfig
  /** Drops the database, even while connections are open. */
  readonly drop: () => Promise<void>
}

/**
 * Clones the migrated template of a cluster into a database for one test file or one proof. With `drop`, it takes about 0.3 s of
 * processor time on a disk, and less than 0.1 s in memory.
 */
export async function cloneDatabase(cluster: DatabaseCluster): Promise<TestDatabase> {
  const { makerUrl, ownerUrl, serviceUrl, template } = cluster
  // By this name, a database that is left behind is removed with its template.
  const name = `${template}_${randomBytes(6).toString('hex')}`
  await asMaker(makerUrl, (maker) => makeDatabase(maker, name, template))
  const owner = databaseUrl(ownerUrl, name)
  const service = databaseUrl(serviceUrl, name)
  return {
    name,
    ownerUrl: owner,
    owner: { connectionString: owner },
    serviceUrl: service,
    service: { connectionString: service },
    drop: async () => {
      await asMaker(makerUrl, (maker) => maker.query(`drop database if exists ${name} with (force)`))
    },
  }
}
