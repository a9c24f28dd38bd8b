import { type TestApp, testApp } from './test-app.ts'

export type { TestApp } from './test-app.ts'

let shared: Promise<TestApp> | undefined

/**
 * The service that the test files of a worker share, because a database and a service for each file take a second. A file may use it if
 * it makes its own brokerages and looks at nothing else. The clock starts at the present in each file. The service ends with the worker.
 */
export async function sharedApp(): Promise<TestApp> {
  shared ??= testApp()
  const app = await shared
  app.now = Date.now()
  return app
}
