import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  approvals,
  dueEndpoints,
  eventQueue,
  findQuote,
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
import { makeQuote, makeTenant } from '#testing/make.ts'
import type { TestDatabase } from '#testing/test-database.ts'
import { otherMethods } from './other-methods.ts'
import { expectations } from './route-expectations.ts'
import { type Operation, requestOf } from './route-requests.ts'
import { credentialOf, endlessThread, endpoints, send } from './route-walk.ts'
import { idsOf } from './seeded-ids.ts'
import { type SeededTenants, seededTenants } from './seeded-tenants.ts'
import { settled } from './settled.ts'

/**
 * Promise: every statement and every database function of the service runs on a distributed database.
 *
 * How: on the Citus cluster of LANEWISE_TEST_CITUS_URL, a seeded tenant sends every request, with events on, and the database functions
 * that no request reaches are called. The planner of Citus decides what runs, not an imitation of its rules. Only
 * `npm run prove:cluster` runs this file.
 */
describe.skipIf(citusUrl === undefined)('on the Citus cluster of LANEWISE_TEST_CITUS_URL', () => {
  const tenantB = tenantId(idsOf('B').tenant)
  let database: TestDatabase
  let tenants: SeededTenants
  let app: TestApp

  beforeAll(async () => {
    database = await citusDatabase(citusUrl ?? '')
    await distribute(database.owner, { shards: 4, onTable: () => {}, stopped: () => false })
    app = await appOn(database, { backtestThread: endlessThread })
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

  test('every request gets its usual status', async () => {
    const faults: string[] = []
    for (const { operation, about, statuses } of expectations) {
      const endpoint = endpoints.get(operation)
      if (about === 'A' || endpoint === undefined || endpoint.who.kind === 'anyone') continue
      const caller = endpoint.who.kind === 'service' ? 'service-B' : 'owner-B'
      const request = requestOf[operation as Operation](idsOf('B'))
      const credential = credentialOf(app, caller, tenants, request)
      const { status, body } = await send(app, endpoint.method, request, credential)
      if (status !== statuses[caller])
        faults.push(`${operation} returned ${status}, not ${statuses[caller]}: ${body.slice(0, 300)}`)
      if (endpoint.method === 'GET') continue
      await settled(app, tenants, 'B')
      await tenants.seed('B')
    }
    expect(faults).toEqual([])
  })

  test.each(Object.entries(otherMethods))('%s works for a tenant', async (_name, method) => {
    const ids = idsOf('B')
    await tenants.seed('B')
    await app.database.inTenant(tenantB, async (transaction) => {
      const quote = await findQuote(transaction, tenantB, ids.laneRef)
      if (quote === null) throw new Error('Tenant B has not been seeded.')
      const now = new Date(tenants.sentAtSeconds * 1000)
      await method({ database: app.database, transaction, tenant: tenantB, ids, lane: quote, now })
    })
  })

  test('every query over all tenants works', async () => {
    const at = new Date(tenants.sentAtSeconds * 1000)
    // Each query needs a row to find.
    await makeQuote(app, await makeTenant(app))
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
      update quotes set valid_until = '2020-01-01', outcome_source = null
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
        // While a worker is away (here 999, which does not exist), the service asks each other worker separately.
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
