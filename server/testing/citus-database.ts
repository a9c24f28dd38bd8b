import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { withDatabaseClient } from '#server/database/hosts/index.ts'
import { distribute, migrate } from '#server/database/schema/index.ts'
import { makeDatabase, makeRoles, roleNames } from '#server/embedded-postgres/index.ts'
import type { TestDatabase } from './cloned-database.ts'

/**
 * The URL of the coordinator of a Citus cluster for tests, as a superuser, in a database where the workers are registered.
 * Every node must accept connections from the other nodes without a password, for that superuser and the two service roles.
 */
export const citusUrl = process.env.LANEWISE_TEST_CITUS_URL

/** Creates a migrated database whose tables are distributed, for the tests that `npm run prove:cluster` runs on the cluster. */
export async function distributedDatabase(url: string): Promise<TestDatabase> {
  const database = await citusDatabase(url)
  try {
    await distribute(database.owner, { shards: 4, onTable: () => {}, stopped: () => false })
    return database
  } catch (error) {
    await database.drop()
    throw error
  }
}

const passwords = { owner: 'tests of lanewise', service: 'tests of lanewise' }

/** Makes the roles and the database on one node of a cluster. `url` is a superuser's. */
export async function makeOnNode(url: string, name: string): Promise<void> {
  await on(url, async (client) => {
    // Create the roles on each node directly, because propagated statements of several tests would deadlock.
    await client.query('set citus.enable_ddl_propagation = off')
    await makeRoles(client, passwords)
    await makeDatabase(client, name)
  })
  const there = new URL(url)
  there.pathname = `/${name}`
  await on(there.href, (client) => client.query('create extension citus'))
}

/** Creates a migrated database on the Citus cluster for one test. The workers are registered; no table is distributed yet. */
export async function citusDatabase(url: string): Promise<TestDatabase> {
  const name = `lanewise_test_${randomBytes(6).toString('hex')}`
  const nodes = await on(url, async (client) => {
    const { rows } = await client.query<{ host: string; port: number }>(
      `select nodename as host, nodeport as port from pg_dist_node
       where isactive and noderole = 'primary' order by groupid`,
    )
    return rows
  })
  const [coordinator, ...workers] = nodes
  if (coordinator === undefined || workers.length === 0) {
    throw new Error('LANEWISE_TEST_CITUS_URL names a database without a registered coordinator and workers.')
  }
  const at = ({ host, port }: { host: string; port: number }, database: string) => {
    const changed = new URL(url)
    changed.hostname = host
    changed.port = String(port)
    changed.pathname = `/${database}`
    return changed.href
  }
  // One at a time, because concurrent creation would change the same roles on the workers.
  const lock = new pg.Client({ connectionString: url })
  await lock.connect()
  await lock.query('select pg_advisory_lock(7205914)')
  for (const node of nodes) await makeOnNode(at(node, new URL(url).pathname.slice(1)), name)
  await on(at(coordinator, name), async (client) => {
    await client.query('select citus_set_coordinator_host($1, $2)', [coordinator.host, coordinator.port])
    for (const { host, port } of workers) await client.query('select citus_add_node($1, $2)', [host, port])
  })
  const urlOf = (role: 'owner' | 'service') => {
    const changed = new URL(at(coordinator, name))
    changed.username = roleNames[role]
    changed.password = passwords[role]
    return changed.href
  }
  const database: TestDatabase = {
    name,
    ownerUrl: urlOf('owner'),
    owner: { connectionString: urlOf('owner') },
    serviceUrl: urlOf('service'),
    service: { connectionString: urlOf('service') },
    drop: async () => {
      for (const node of nodes) {
        await on(at(node, new URL(url).pathname.slice(1)), async (client) => {
          await client.query('set citus.enable_ddl_propagation = off')
          await client.query(`drop database if exists ${name} with (force)`)
        })
      }
    },
  }
  await migrate(database.owner)
  await lock.end()
  return database
}

async function on<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withDatabaseClient({ connectionString: url }, work)
}
