import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TenantTransaction } from '#server/database/schema/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { prepareImport, recordsOf, rolledBack } from './call-method.ts'
import { methods } from './database-methods.ts'
import { type Method, type MethodCall, returnsCanary } from './method.ts'
import { disableRowLevelSecurity } from './mutation-walk.ts'
import { forNoTenant } from './no-tenant-methods.ts'
import { leakIn } from './route-walk.ts'
import { idsOf, type Label } from './seeded-ids.ts'
import { type SeededTenants, seededTenants } from './seeded-tenants.ts'

/**
 * Promise: no database function returns, changes or depends on rows of another tenant, even with that tenant's ids.
 *
 * How: every function in server/src/database is called as tenant A with the ids of tenant B. The result must be the same as
 * when B does not exist, it must contain no canary of B, and no row of B may change. The same call as B must work, which
 * shows that the ids exist. Row-level security is disabled, so that only the tenant conditions of the queries protect B.
 * `npm run prove` does the same with both layers of isolation.
 *
 * Fault that it finds: a query without a tenant condition. The last test plants one.
 */

const folder = fileURLToPath(new URL('../server/src/database/queries/', import.meta.url))
const b = idsOf('B')

test('every exported database function is in the table, or is listed as working for no tenant', async () => {
  const names: string[] = []
  for (const file of globSync('**/*.ts', { cwd: folder }).filter(
    (name) => !name.endsWith('.test.ts') && basename(name) !== 'index.ts',
  )) {
    const exported = (await import(`${folder}${file}`)) as Record<string, unknown>
    for (const [name, value] of Object.entries(exported)) {
      const isClass = typeof value === 'function' && /^class\b/.test(value.toString())
      if (typeof value === 'function' && !isClass) names.push(`${basename(file, '.ts')}.${name}`)
    }
  }
  expect(names.length).toBeGreaterThan(70)
  const listed = [...Object.keys(methods), ...Object.keys(forNoTenant)]
  expect(names.filter((name) => !listed.includes(name))).toEqual([])
  expect(listed.filter((name) => !names.includes(name))).toEqual([])
})

interface Outcome {
  /** The result as JSON, or the name and code of the error. */
  readonly shown: string
  readonly failed: boolean
  /** Whether any row of B changed within the transaction of the call. */
  readonly changedB: boolean
}

describe('with the conditions in the queries alone', () => walkMethods(false))
describe('with both layers of tenant isolation', { tags: 'long' }, () => walkMethods(true))

function walkMethods(hasRowLevelSecurity: boolean): void {
  let app: TestApp
  let tenants: SeededTenants
  let recordsOfB: Omit<MethodCall, 'transaction' | 'tenant'>
  /** What each call returned to A while B did not exist. */
  const withoutB = new Map<string, string>()

  beforeAll(async () => {
    app = await testApp()
    tenants = await seededTenants(app)
    if (!hasRowLevelSecurity) await disableRowLevelSecurity(app.testDatabase)
    await tenants.seed('A')
    await tenants.seed('B')
    recordsOfB = await recordsOf('B', app, tenants)
    await tenants.remove('B')
    for (const [name, method] of Object.entries(methods)) {
      if (method.commits !== true)
        withoutB.set(name, (await outcomeOf(method, 'A', { watchesB: false })).shown)
    }
    await tenants.seed('B')
  })
  afterAll(async () => {
    await tenants.close()
    await app.close()
  })

  /** Runs `work` in the same transaction, but with row-level security set to another tenant. */
  async function asTenant<T>(transaction: TenantTransaction, label: Label, work: () => Promise<T>) {
    const set = (tenant: string | null) =>
      sql`select set_config('app.tenant_id', ${tenant}, true)`.execute(transaction)
    const { rows } = await sql<{
      tenant: string
    }>`select current_setting('app.tenant_id', true) as tenant`.execute(transaction)
    await set(String(idsOf(label).tenant))
    const result = await work()
    await set(rows[0]?.tenant ?? '')
    return result
  }

  const checksumOfB = (transaction: TenantTransaction) =>
    asTenant(transaction, 'B', async () => {
      const parts = tenants.tables.map(
        (table) =>
          `select '${table}' as name, count(*), md5(coalesce(string_agg(t::text, '|' order by t::text), '')) from ${table} t where tenant_id = ${b.tenant}`,
      )
      return JSON.stringify((await sql.raw(parts.join(' union all ')).execute(transaction)).rows)
    })

  /**
   * Calls a function with the ids of B, in a transaction of `label` that is rolled back. `argument` is the tenant that the
   * caller passes to the function; it differs from `label` only to imitate a mistake in the caller. Without `watchesB`, the rows of
   * B are not compared: that takes longer than the call.
   */
  function outcomeOf(
    method: Method,
    label: Label,
    { argument = label, watchesB = true }: { argument?: Label; watchesB?: boolean } = {},
  ): Promise<Outcome> {
    return rolledBack(app.database, tenantId(idsOf(label).tenant), async (transaction) => {
      await asTenant(transaction, 'B', () => prepareImport(method, transaction, 'B'))
      const before = watchesB ? await checksumOfB(transaction) : ''
      await sql`savepoint before_the_call`.execute(transaction)
      let [shown, failed] = ['', false]
      try {
        const tenant = tenantId(idsOf(argument).tenant)
        shown = JSON.stringify((await method.call({ ...recordsOfB, tenant, transaction })) ?? null)
      } catch (error) {
        failed = true
        shown = `${(error as Error).name} ${(error as { code?: string }).code ?? ''}`
        await sql`rollback to savepoint before_the_call`.execute(transaction)
      }
      return { shown, failed, changedB: watchesB && (await checksumOfB(transaction)) !== before }
    })
  }

  /** Checks that the same call works for B: what A could not reach exists. */
  async function expectToWorkForB(method: Method): Promise<void> {
    const { shown, failed, changedB } = await outcomeOf(method, 'B', {
      watchesB: method.evidence === 'changed rows',
    })
    switch (method.evidence) {
      case 'canary':
        expect(leakIn(shown, 'B')).not.toBeNull()
        break
      case 'changed rows':
        expect({ failed, changedB }).toEqual({ failed: false, changedB: true })
        break
      case 'result':
        expect(failed).toBe(false)
        expect(shown).not.toMatch(/^(null|false|0|\[\]|\{\})$/)
        break
      case 'none':
        break
    }
  }

  test.each(Object.entries(methods))(
    '%s, called as A with the ids of B, does the same as without B',
    async (name, method) => {
      // The other methods are rolled back: `outcomeOf` looks at the rows within their transaction.
      const before = method.commits === true ? await tenants.checksum('B') : null
      const asA = await outcomeOf(method, 'A')
      expect(leakIn(asA.shown, 'B', [])).toBeNull()
      expect(asA.changedB).toBe(false)
      if (method.commits !== true) expect(asA.shown).toBe(withoutB.get(name))
      if (hasRowLevelSecurity && method.commits !== true) {
        // Row-level security also protects B from a caller that passes the wrong tenant.
        const mistaken = await outcomeOf(method, 'A', { argument: 'B' })
        expect(leakIn(mistaken.shown, 'B', [])).toBeNull()
        expect(mistaken.changedB).toBe(false)
      }
      if (before !== null) expect(await tenants.checksum('B')).toBe(before)
      await expectToWorkForB(method)
      if (method.commits === true) for (const label of ['A', 'B'] as const) await tenants.seed(label)
    },
  )

  test('a planted query without a tenant condition is found, unless row-level security stops it', async () => {
    const planted = returnsCanary(async ({ transaction }) =>
      transaction.selectFrom('lanes').selectAll().execute(),
    )
    const { shown } = await outcomeOf(planted, 'A')
    expect(leakIn(shown, 'B', []) !== null).toBe(!hasRowLevelSecurity)
  })
}
