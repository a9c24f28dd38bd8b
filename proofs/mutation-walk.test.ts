/** @module-tag long */
import { describe, expect, test } from 'vitest'
import { testDatabase } from '#testing/test-database.ts'
import {
  countTenantConditions,
  disableRowLevelSecurity,
  filesWithTenantConditions,
  leaksFoundBy,
  makeMutant,
  mutationWalk,
  root,
  withoutTenantConditions,
} from './mutation-walk.ts'

/**
 * Promise: each of the two layers of tenant isolation alone keeps every route from showing or changing rows of another tenant.
 *
 * How: one walk runs with row-level security disabled, another with the tenant conditions removed from the queries in lanes.ts.
 * `npm run prove` removes the conditions from each file.
 *
 * Planted fault: both layers removed.
 */

test('the patterns match the tenant conditions of the queries', async () => {
  const files = filesWithTenantConditions()
  expect(files.length).toBeGreaterThan(10)
  expect(files.reduce((sum, file) => sum + countTenantConditions(file), 0)).toBeGreaterThan(70)
  expect(
    withoutTenantConditions(`.where('call.tenant_id', '=', tenant) where x.tenant_id = \${tenant} and`),
  ).toBe(' where true and')
})

describe('with one layer of tenant isolation', () => {
  test('the tenant conditions alone prevent leaks, without row-level security', async () => {
    const database = await testDatabase()
    try {
      await disableRowLevelSecurity(database)
      expect(await leaksFoundBy(root, database)).toEqual([])
    } finally {
      await database.drop()
    }
  })

  test('row-level security alone prevents leaks, without the tenant conditions of one file', {
    tags: 'long',
  }, async () => {
    const [result] = await mutationWalk({
      files: ['quotes/lanes.ts'],
      withoutIsolation: false,
      makeDatabase: testDatabase,
    })
    expect(result?.conditionsRemoved).toBeGreaterThan(5)
    expect(result?.leaksWithRowLevelSecurity).toEqual([])
  })
})

test('without row-level security and without any tenant condition, the walk finds leaks in most reads of B', {
  tags: 'long',
}, async () => {
  const database = await testDatabase()
  await disableRowLevelSecurity(database)
  const mutant = makeMutant(filesWithTenantConditions())
  try {
    const leaks = await leaksFoundBy(mutant.folder, database)
    const leaking = new Set(leaks.flatMap((leak) => /: ([a-z-]+) .* showed /.exec(leak)?.[1] ?? []))
    expect([...leaking]).toEqual(
      expect.arrayContaining(['list-users', 'list-lanes', 'get-lane', 'list-imports', 'lane-record']),
    )
  } finally {
    mutant.remove()
    await database.drop()
  }
})
