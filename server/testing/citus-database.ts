import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { migrate } from '#server/database/schema/index.ts'
import { makeDatabase, makeRoles, roleNames } from '#server/embedded-postgres/index.ts'
import type { TestDatabase } from './cloned-database.ts'

/**
 * Where there is a Citus cluster for tests: the address of its coordinator, as a superuser, in a database that knows the
 * workers. Every node must let that superuser, and the two roles of the service, in from the others without a password.
 */
export const citusUrl = process.env.LANEWISE_TEST_CITUS_URL

/** A migrated database of a test's own on the Citus cluster, with the extension and its workers, and nothing spread yet. */
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
    throw new Error('LANEWISE_TEST_CITUS_URL names a database that knows of no coordinator and workers.')
  }
  const at = ({ host, port }: { host: string; port: number }, database: string) => {
    const changed = new URL(url)
    changed.hostname = host
    changed.port = String(port)
    changed.pathname = `/${database}`
    return changed.href
  }
  // One at a time: databases that are made at once change the same roles on the workers.
  const turn = new pg.Client({ connectionString: url })
  await turn.connect()
  await turn.query('select pg_advisory_lock(7205914)')
  const passwords = { owner: 'tests of lanewise', service: 'tests of lanewise' }
  for (const node of nodes) {
    await on(at(node, new URL(url).pathname.slice(1)), async (client) => {
      // Each node is told by itself: roles that are made while others make them would wait for each other.
      await client.query('set citus.enable_ddl_propagation = off')
      await makeRoles(client, passwords)
      await makeDatabase(client, name)
    })
    await on(at(node, name), (client) => client.query('create extension citus'))
  }
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
  await turn.end()
  return database
}

async function on<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
