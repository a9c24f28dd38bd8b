import { withDatabaseClient } from '#server/database/hosts/index.ts'
import type { DatabaseRole } from '#server/embedded-postgres/index.ts'
import { cloneDatabase, type TestDatabase } from '#testing/cloned-database.ts'
import { type DatabaseCluster, databaseUrl } from '#testing/database-cluster.ts'

/** A database in the shared cluster, for proofs that do not restart PostgreSQL. */
export interface ProofDatabase {
  url(role: DatabaseRole): string
  /** Where PostgreSQL listens: the path of a Unix socket, or host and port. */
  readonly target: string | { host: string; port: number }
  /** Runs a query as the superuser, without row-level security, and returns its rows. */
  ask<Row extends object>(question: string, values?: readonly unknown[]): Promise<Row[]>
  drop(): Promise<void>
}

export async function proofDatabase(
  cluster: DatabaseCluster,
): Promise<ProofDatabase & { readonly forTests: TestDatabase }> {
  const database = await cloneDatabase(cluster)
  const { searchParams, hostname, port } = new URL(database.serviceUrl)
  const folder = searchParams.get('host')
  const makerUrl = databaseUrl(cluster.makerUrl, database.name)
  const urls = { service: database.serviceUrl, owner: database.ownerUrl, superuser: makerUrl }
  return {
    url: (role) => urls[role],
    target:
      folder === null ? { host: hostname, port: Number(port || 5432) } : `${folder}/.s.PGSQL.${port || 5432}`,
    async ask<Row extends object>(question: string, values: readonly unknown[] = []) {
      return withDatabaseClient({ connectionString: makerUrl }, async (client) => {
        return (await client.query<Row>(question, [...values])).rows
      })
    },
    drop: database.drop,
    forTests: database,
  }
}

/** Returns the URL with the host and port of a local proxy. */
export function throughProxy(url: string, port: number): string {
  const changed = new URL(url)
  changed.hostname = '127.0.0.1'
  changed.port = String(port)
  changed.searchParams.delete('host')
  return changed.href
}
