import type { Browser } from 'playwright-core'
import { afterAll } from 'vitest'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { openBrowser } from './browser.ts'

/** A service and a browser for the tests of a file, which close after its last test. */
export async function serviceAndBrowser(
  options: Parameters<typeof testApp>[0] = {},
): Promise<{ readonly app: TestApp; readonly browser: Browser }> {
  const app = await testApp(options)
  const browser = await openBrowser()
  afterAll(async () => {
    await browser.close()
    await app.close()
  })
  return { app, browser }
}
