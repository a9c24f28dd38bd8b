import { appAndDatabase, type TestApp, type TestAppOptions } from './app-on-database.ts'
import { testDatabase } from './test-database.ts'

export type { TestApp } from './app-on-database.ts'

/** Starts the service for a test file on its own database, which `close()` drops. See `appOn`. */
export async function testApp(options: TestAppOptions = {}): Promise<TestApp> {
  return appAndDatabase(await testDatabase(), options)
}
