import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  approvals,
  dueEndpoints,
  eventQueue,
  signInNetworks,
  silentUndos,
  tenantsWithEndedQuotes,
  unannouncedExpiries,
  writeEventsOn,
} from '#server/database/queries/index.ts'
import { distribute, type TenantTransaction } from '#server/database/schema/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { citusDatabase, citusUrl } from '#testing/citus-database.ts'
import { makeLane, makeTenant } from '#testing/make.ts'
import type { TestDatabase } from '#testing/test-database.ts'
import { prepareImport, recordsOf, rolledBack } from './call-method.ts'
import { methods } from './database-methods.ts'
import { leakIn } from './route-walk.ts'
import { idsOf } from './seeded-ids.ts'
import { type SeededTenants, seededTenants } from './seeded-tenants.ts'

/**
 * Promise: every statement and every database function of the service runs on a distributed database.
 *
 * How: on the Citus cluster of LANEWISE_TEST_CITUS_URL, every database function is called for a seeded tenant, with events on.
 * The planner of Citus decides, not an imitation of its rules. Only `npm run prove:cluster` runs this file.
 */
describe.skipIf(citusUrl === undefined)('on the Citus cluster of LANEWISE_TEST_CITUS_URL', () => {
  const tenantB = tenantId(idsOf('B').tenant)
  let database: TestDatabase
  let tenants: SeededTenants
  let app: TestApp

  beforeAll(async () => {
    database = await citusDatabase(citusUrl ?? '')
    await distribute(database.owner, { shards: 4, onTable: () => {}, stopped: () => false })
    app = await appOn(database)
    await app.database.outsideTenants((transaction) => writeEventsOn(transaction, true))
    tenants = await seededTenants(app)
    await tenants.seed('A')
    await tenants.seed('B')
  })
  afterAll(async () => {
    await tenants?.close()
    await app?.close()
    await database?.drop()
  })

  test('every database function works for a tenant', async () => {
    const records = await recordsOf('B', app, tenants)
    const faults: Record<string, string> = {}
    for (const [name, method] of Object.entries(methods)) {
      try {
        const result = await rolledBack(app.database, tenantB, async (transaction) => {
          await prepareImport(method, transaction, 'B')
          return (await method.call({ ...records, tenant: tenantB, transaction })) ?? null
        })
        if (method.evidence === 'canary' && leakIn(JSON.stringify(result), 'B') === null)
          faults[name] = `does not return the rows: ${JSON.stringify(result)}`
      } catch (error) {
        // A function without evidence may fail because the row exists: the cluster has run its statement by then.
        const exists = method.evidence === 'none' && (error as { code?: string }).code === '23505'
        if (!exists) faults[name] = (error as Error).message
      }
      if (method.commits === true) await tenants.seed('B')
    }
    expect(faults).toEqual({})
  })

  test('every query over all tenants works', async () => {
    const at = new Date(tenants.sentAtSeconds * 1000)
    // Something to find for each query.
    await makeLane(app, await makeTenant(app))
    const superuser = new URL(citusUrl ?? '')
    superuser.pathname = `/${database.name}`
    const client = new pg.Client({ connectionString: superuser.href })
    await client.connect()
    await client.query(`
      update event_deliveries set state = 'due', next_at = '2020-01-01';
      update event_endpoints set state = 'active';
      update approvals set state = 'waiting', expires_at = '2020-01-01';
      update imports set status = 'undoing', progress_at = '2020-01-01';
      update tenant_facts set facts_version = facts_version + 1000;
      update lanes set valid_until = '2020-01-01', outcome_source = null
      where outcome = 'pending' and voided_at is null and customer_rate_cents is null and truck_cost_cents is null`)
    await client.end()
    const queries: Record<string, (transaction: TenantTransaction) => Promise<unknown>> = {
      dueEndpoints: (transaction) => dueEndpoints(transaction, 10),
      eventQueue: (transaction) => eventQueue(transaction, at),
      silentUndos: (transaction) => silentUndos(transaction),
      tenantsWithEndedApprovals: (transaction) => approvals.tenantsWithEndedApprovals(transaction),
      tenantsWithEndedQuotes: (transaction) => tenantsWithEndedQuotes(transaction),
      tenantsWithOldNetworks: (transaction) => signInNetworks.tenantsWithOldNetworks(transaction, -36_500),
      unannouncedExpiries: (transaction) => unannouncedExpiries(transaction, 30),
    }
    const faults: Record<string, string> = {}
    for (const [name, query] of Object.entries(queries)) {
      try {
        const found = await app.database.outsideTenants(query)
        // As while a worker is away that has no rows: each of the others is asked.
        const byWorker = await app.database.outsideTenants(async (transaction) => {
          await sql`select set_config('app.workers_away', '999', true)`.execute(transaction)
          return query(transaction)
        })
        if (Array.isArray(found) && found.length === 0) faults[name] = 'finds nothing'
        const inOrder = (list: unknown) => (list as unknown[]).map((one) => JSON.stringify(one)).sort()
        if (Array.isArray(found)) expect(inOrder(byWorker), name).toEqual(inOrder(found))
      } catch (error) {
        faults[name] = (error as Error).message
      }
    }
    expect(faults).toEqual({})
  })
})
