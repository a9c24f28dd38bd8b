import { afterAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import {
  filteredFiles,
  filtersIn,
  mutationWalk,
  root,
  takeOffRowLevelSecurity,
  walkOf,
  withoutFilters,
} from './mutation-walk.ts'

const made: TestDatabase[] = []
const newDatabase = async () => {
  const database = await testDatabase()
  made.push(database)
  return database
}
afterAll(async () => {
  for (const database of made) await database.drop()
})

test('the conditions that name the tenant are known: none is written in a way that the mutation would miss', async () => {
  expect(filteredFiles().length).toBeGreaterThan(10)
  expect(filteredFiles().reduce((sum, file) => sum + filtersIn(file), 0)).toBeGreaterThan(70)
  expect(withoutFilters(`.where('call.tenant_id', '=', tenant) where x.tenant_id = \${tenant} and`)).toBe(
    ' where true and',
  )
})

// That the walk finds what both walls keep is mutation-walk.long.test.ts.
describe('one wall alone', () => {
  test('without row-level security the conditions of the queries hold', async () => {
    const database = await newDatabase()
    await takeOffRowLevelSecurity(database)
    expect(await walkOf(root, database)).toEqual([])
  }, 120_000)

  test('without the conditions of one file row-level security holds', async () => {
    const [result] = await mutationWalk({
      files: ['lanes.ts'],
      downTo: 'row-level security',
      makeDatabase: testDatabase,
    })
    expect(result?.taken).toBeGreaterThan(5)
    expect(result?.behindRowLevelSecurity).toEqual([])
  }, 120_000)
})
