import { createHash } from 'node:crypto'
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findLane, findUser, type UserRow } from '#server/database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '#server/database/schema/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { methods } from './database-methods.ts'
import type { Method, MethodCall } from './method.ts'
import { takeOffRowLevelSecurity } from './mutation-walk.ts'
import { forNoTenant } from './no-tenant-methods.ts'
import { leakIn } from './route-walk.ts'
import { idsOf, type Label, type SeededTenants, seededTenants, updateOf } from './seeded-tenants.ts'

const folder = fileURLToPath(new URL('../server/src/database/queries/', import.meta.url))
const b = idsOf('B')

test('every function that the database folder exports has a row, or a reason why it works for no tenant', async () => {
  const names: string[] = []
  for (const file of globSync('*.ts', { cwd: folder }).filter(
    (name) => !name.endsWith('.test.ts') && name !== 'index.ts',
  )) {
    const exported = (await import(`${folder}${file}`)) as Record<string, unknown>
    for (const [name, value] of Object.entries(exported)) {
      const isClass = typeof value === 'function' && /^class\b/.test(value.toString())
      if (typeof value === 'function' && !isClass) names.push(`${basename(file, '.ts')}.${name}`)
    }
  }
  expect(names.length).toBeGreaterThan(70)
  const without = names.filter((name) => !(name in methods) && !(name in forNoTenant))
  expect(without).toEqual([])
  const gone = [...Object.keys(methods), ...Object.keys(forNoTenant)].filter((name) => !names.includes(name))
  expect(gone).toEqual([])
})

interface Outcome {
  readonly result: unknown
  readonly refused: string | null
  /** What all rows of B were before and after, within the same transaction. */
  readonly changedB: boolean
}

/** Unwinds a transaction whose work is only to be looked at. */
class TakenBack extends Error {}

describe.each(['both walls', 'the conditions of the queries alone'])('with %s', (walls) => {
  let app: TestApp
  let tenants: SeededTenants
  let lane: LaneRow
  let user: UserRow
  /** What A got while B was not there. */
  const alone = new Map<string, string>()

  beforeAll(async () => {
    app = await testApp()
    tenants = await seededTenants(app)
    if (walls !== 'both walls') await takeOffRowLevelSecurity(app.testDatabase)
    await tenants.seed('A')
    await tenants.seed('B')
    const found = await app.database.inTenant(tenantId(b.tenant), async (transaction) => ({
      lane: await findLane(transaction, tenantId(b.tenant), b.laneRef),
      user: await findUser(transaction, tenantId(b.tenant), b.person),
    }))
    if (found.lane === null || found.user === null) throw new Error('B has not been seeded.')
    lane = found.lane
    user = found.user
    await tenants.remove('B')
    for (const [name, method] of Object.entries(methods)) {
      if (method.commits !== true) alone.set(name, shown(await outcome(method, 'A', 'A')))
    }
    await tenants.seed('B')
  })
  afterAll(async () => {
    await tenants.close()
    await app.close()
  })

  const shown = ({ result, refused }: Outcome) => refused ?? JSON.stringify(result ?? null)

  async function whileSeenAs<T>(transaction: TenantTransaction, label: Label, work: () => Promise<T>) {
    const set = (tenant: string | null) =>
      sql`select set_config('app.tenant_id', ${tenant}, true)`.execute(transaction)
    const { rows } = await sql<{
      was: string
    }>`select current_setting('app.tenant_id', true) as was`.execute(transaction)
    await set(String(idsOf(label).tenant))
    const answer = await work()
    await set(rows[0]?.was ?? '')
    return answer
  }

  const sumOfB = (transaction: TenantTransaction) =>
    whileSeenAs(transaction, 'B', async () => {
      const parts = tenants.tables.map(
        (table) =>
          `select '${table}' as name, count(*), md5(coalesce(string_agg(t::text, '|' order by t::text), '')) from ${table} t where tenant_id = ${b.tenant}`,
      )
      return JSON.stringify((await sql.raw(parts.join(' union all ')).execute(transaction)).rows)
    })

  /** Calls a method in the transaction of one tenant, with the number of one, about B's records; and takes it back. */
  async function outcome(method: Method, within: Label, asTenant: Label): Promise<Outcome> {
    let found: Outcome | null = null
    const given: Omit<MethodCall, 'transaction'> = {
      database: app.database,
      tenant: tenantId(idsOf(asTenant).tenant),
      of: b,
      lane,
      user,
      requestDigest: createHash('sha256').update(`${tenants.sentAtSeconds}.`).update(updateOf(b)).digest(),
      fingerprint: createHash('sha256').update('row of B').digest(),
      now: new Date(tenants.sentAtSeconds * 1000),
    }
    await app.database
      .inTenant(tenantId(idsOf(within).tenant), async (transaction) => {
        if (method.importIs !== undefined) {
          await whileSeenAs(transaction, 'B', () =>
            sql`update imports set status = ${method.importIs}, finished_at = null where tenant_id = ${b.tenant}`.execute(
              transaction,
            ),
          )
        }
        const before = await sumOfB(transaction)
        await sql`savepoint before_the_call`.execute(transaction)
        let result: unknown = null
        let refused: string | null = null
        try {
          result = await method.call({ ...given, transaction })
        } catch (error) {
          refused = `${(error as Error).name} ${(error as { code?: string }).code ?? ''}`
          await sql`rollback to savepoint before_the_call`.execute(transaction)
        }
        found = { result, refused, changedB: (await sumOfB(transaction)) !== before }
        throw new TakenBack()
      })
      .catch((error: unknown) => {
        if (!(error instanceof TakenBack)) throw error
      })
    return found ?? { result: null, refused: 'nothing', changedB: false }
  }

  test.each(Object.entries(methods))(
    '%s called for A with B’s ids gives and does what it would without B',
    async (name, method) => {
      const sum = await tenants.checksum('B')
      const asA = await outcome(method, 'A', 'A')
      expect(leakIn(shown(asA), 'B', [])).toBeNull()
      expect(asA.changedB).toBe(false)
      if (method.commits !== true) expect(shown(asA)).toBe(alone.get(name))
      if (walls === 'both walls' && method.commits !== true) {
        // A mistake in the caller: A's transaction, and B's number.
        const mistaken = await outcome(method, 'A', 'B')
        expect(leakIn(shown(mistaken), 'B', [])).toBeNull()
        expect(mistaken.changedB).toBe(false)
      }
      expect(await tenants.checksum('B')).toBe(sum)
      await holdAgainstRightful(method)
      if (method.commits === true) for (const label of ['A', 'B'] as const) await tenants.seed(label)
    },
  )

  /** The same call within B does find or do it: what A was refused was there. */
  async function holdAgainstRightful(method: Method): Promise<void> {
    const asB = await outcome(method, 'B', 'B')
    switch (method.does) {
      case 'shows':
        expect(leakIn(shown(asB), 'B')).not.toBeNull()
        break
      case 'changes':
        expect(asB.refused).toBeNull()
        expect(asB.changedB).toBe(true)
        break
      case 'finds':
        expect(asB.refused).toBeNull()
        expect(shown(asB)).not.toMatch(/^(null|false|0|\[\]|\{\})$/)
        break
      case 'nothing':
        break
    }
  }
})
