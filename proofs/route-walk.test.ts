import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { findQuote } from '#server/database/queries/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { appAndDatabase, type TestApp } from '#testing/app-on-database.ts'
import { testDatabase } from '#testing/test-database.ts'
import { countCalls, databaseFunctions } from './called-functions.ts'
import { type WatchedStatements, watchStatements } from './distributable.ts'
import { otherMethods, withoutTenant } from './other-methods.ts'
import { type CallerName, expectations } from './route-expectations.ts'
import {
  credentialOf,
  endlessThread,
  endpoints,
  send,
  walkAlone,
  walkForeignIds,
  walkRoutes,
} from './route-walk.ts'
import { idsOf } from './seeded-ids.ts'
import { type SeededTenants, seededTenants } from './seeded-tenants.ts'
import { disableRowLevelSecurity } from './tenant-conditions.ts'

/**
 * Promise: every operation gives every kind of caller the expected status, and shows or changes nothing of another brokerage.
 *
 * How: the tests send every operation with the ids of both brokerages. Row-level security is disabled, so that only the tenant
 * conditions of the statements protect the other brokerage; `table-walk.test.ts` shows the other layer. The database reports the plan
 * of each statement, which must restrict each table to one tenant (also for Citus: see `distributable.ts`). Every database function
 * must be called: by a request, or from `other-methods.ts`.
 *
 * Fault that it finds: a statement without a tenant condition, in the service or in a function of the database.
 */

/**
 * Each kind of credential once: none, a service token, a session, and a cookie without the header that a page sends. The long
 * form has every role, so that no operation is open to one role more than the table says. `npm run prove` uses all callers.
 */
const oneOfEachKind = ['nobody', 'service-B', 'viewer-A', 'bare-cookie-A', 'owner-B'] as const
const rolesBetween = ['service-A', 'admin-A', 'member-A', 'admin-B', 'member-B'] as const
let app: TestApp
let tenants: SeededTenants
let watched: WatchedStatements
let calledFunctions: Awaited<ReturnType<typeof countCalls>>

beforeAll(async () => {
  calledFunctions = await countCalls()
  const database = await testDatabase()
  await disableRowLevelSecurity(database)
  watched = await watchStatements(database, inject('databaseCluster').makerUrl)
  app = await appAndDatabase(database, { backtestThread: endlessThread })
  tenants = await seededTenants(app)
})
afterAll(async () => {
  watched.stop()
  await tenants.close()
  await app.close()
})

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
}

test('every operation of the OpenAPI document has rows: one for A and one for B, or one for neither', async () => {
  const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument
  const operations = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  expect(operations.length).toBeGreaterThan(40)
  const rowsOf = (operation: string) =>
    expectations
      .filter((row) => row.operation === operation)
      .map(({ about }) => about)
      .join('')
  expect(operations.filter((operation) => !['-', 'AB'].includes(rowsOf(operation)))).toEqual([])
  expect(expectations.filter(({ operation }) => !operations.includes(operation))).toEqual([])
  // An operation with a path parameter needs rows for both brokerages.
  const incomplete = [...endpoints.values()].filter(
    ({ name, path }) => path.includes('{') && rowsOf(name) !== 'AB',
  )
  expect(incomplete).toEqual([])
})

describe('every operation, with every kind of credential, for records of both brokerages', () => {
  async function expectStatuses(callers: readonly CallerName[]): Promise<void> {
    // An earlier test moved the clock on, and the signatures would be too old.
    app.now = tenants.sentAtSeconds * 1000
    const { faults, seenOwn, calls } = await walkRoutes(app, tenants, callers)
    expect(faults.join('\n')).toBe('')
    expect(calls).toBe(expectations.length * callers.length)
    // The responses contain the caller's own canaries, so they could contain those of the other brokerage.
    expect(seenOwn.size).toBeGreaterThan(25)
  }

  test('returns the expected status to each kind of credential, and shows or changes nothing of the other brokerage', () =>
    expectStatuses(oneOfEachKind))

  test('does so to the other integration and the roles between', { tags: 'long' }, () =>
    expectStatuses(rolesBetween),
  )

  async function expectNoAccess(step: number): Promise<number> {
    const { faults, calls } = await walkForeignIds(app, tenants, step)
    expect(faults.join('\n')).toBe('')
    return calls
  }

  // About one id goes into every second parameter or member. `npm run prove` uses all of them.
  test('gives B no access with an id of A in any parameter', async () => {
    expect(await expectNoAccess(15)).toBeGreaterThan(75)
  })

  test('gives B no access with more ids of A in any parameter', { tags: 'long' }, async () => {
    expect(await expectNoAccess(6)).toBeGreaterThan(125)
  })

  test('returns the same bytes to B whether A exists or not', async () => {
    const { faults, calls } = await walkAlone(app, tenants)
    expect(faults.join('\n')).toBe('')
    expect(calls).toBeGreaterThan(40)
  })

  test('the log contains no data of either brokerage', () => {
    expect(app.logLines.length).toBeGreaterThan(1000)
    expect(app.logLines.filter((line) => /canary-[ab]-/i.test(line))).toEqual([])
  })
})

describe('every statement is restricted to one tenant', () => {
  test('among the statements of the requests above, also inside functions of the database', (context) => {
    if (!watched.hasPlans) context.skip('only a superuser can read the plans of statements')
    const { faults, statements } = watched.take()
    expect(faults.join('\n')).toBe('')
    expect(statements).toBeGreaterThan(1_000)
  })

  test.each(Object.entries(otherMethods))('among the statements of %s', async (_name, method) => {
    const ids = idsOf('B')
    const tenant = tenantId(ids.tenant)
    await tenants.seed('B')
    await app.database.inTenant(tenant, async (transaction) => {
      const quote = await findQuote(transaction, tenant, ids.laneRef)
      if (quote === null) throw new Error('Tenant B has not been seeded.')
      watched.take()
      const now = new Date(tenants.sentAtSeconds * 1000)
      await method({ database: app.database, transaction, tenant, ids, lane: quote, now })
    })
    const { faults, statements } = watched.take()
    expect(faults.join('\n')).toBe('')
    if (watched.hasPlans) expect(statements).toBeGreaterThan(0)
  })

  test('and every exported database function was called, or is listed as one that reads no rows of tenants', async () => {
    const functions = await databaseFunctions()
    const called = await calledFunctions()
    expect(functions.length).toBeGreaterThan(150)
    expect(functions.filter((name) => !called.has(name) && !(name in withoutTenant))).toEqual([])
    const listed = [...Object.keys(otherMethods), ...Object.keys(withoutTenant)]
    expect(listed.filter((name) => !functions.includes(name))).toEqual([])
  })
})

test('a signature with B’s token and A’s secret is refused, for quotes of A and of B', async () => {
  await tenants.seed('A')
  await tenants.seed('B')
  const before = await tenants.checksum('A')
  app.now = tenants.sentAtSeconds * 1000
  for (const label of ['A', 'B'] as const) {
    const bytes = JSON.stringify({ lane_ref: idsOf(label).laneRef, customer_rate: 1 })
    const request = {
      path: '/api/integrations/tms/shipment-update',
      text: { type: 'application/json', bytes },
    }
    const { Authorization = '' } = credentialOf(app, 'service-B', tenants, request)
    const signedByA = credentialOf(app, 'service-A', tenants, request)
    const answer = await send(app, 'POST', request, { ...signedByA, Authorization })
    expect(answer.status).toBe(401)
    expect(answer.body).toContain('signature-mismatch')
  }
  expect(await tenants.checksum('A')).toBe(before)
})
