import { appOn, type TestApp, type TestAppOptions } from './app-on-database.ts'
import { testDatabase } from './test-database.ts'

export type { TestApp } from './app-on-database.ts'

/** Starts the service for a test file on its own database, which `close()` drops. See `appOn`. */
export async function testApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = await testDatabase()
  const app = await appOn(database, options)
  const { close } = app
  return Object.assign(app, {
    close: async () => {
      await close()
      await database.drop()
    },
  })
}
