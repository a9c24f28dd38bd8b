import { inject } from 'vitest'
import { cloneDatabase, type TestDatabase } from './cloned-database.ts'

export type { TestDatabase } from './cloned-database.ts'

/**
 * Clones the migrated template database of the test run, for one test file or one test.
 *
 * Example: `const database = await testDatabase()` ... `await database.drop()`
 */
export function testDatabase(): Promise<TestDatabase> {
  return cloneDatabase(inject('databaseCluster'))
}
