import { appOn, type TestApp, type TestAppOptions } from './app-on-database.ts'
import { testDatabase } from './test-database.ts'

export type { TestApp } from './app-on-database.ts'

/** Starts the whole service for a test file, on a database of its own that goes with it: see appOn. */
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
