import { inject } from 'vitest'
import { citusUrl, distributedDatabase } from './citus-database.ts'
import { cloneDatabase, type TestDatabase } from './cloned-database.ts'

export type { TestDatabase } from './cloned-database.ts'

/**
 * Clones the migrated template database of the test run, for one test file or one test.
 *
 * With `LANEWISE_TEST_ON_CITUS=yes`, the database is a distributed one on the Citus cluster instead.
 *
 * Example: `const database = await testDatabase()` ... `await database.drop()`
 */
export function testDatabase(): Promise<TestDatabase> {
  return citusUrl !== undefined && process.env.LANEWISE_TEST_ON_CITUS === 'yes'
    ? distributedDatabase(citusUrl)
    : cloneDatabase(inject('databaseCluster'))
}
