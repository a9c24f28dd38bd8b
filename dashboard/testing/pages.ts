import { type Browser, test as base } from '@playwright/test'
import { appAndDatabase, type TestApp, type TestAppOptions } from '#testing/app-on-database.ts'
import { cloneDatabase } from '#testing/cloned-database.ts'
import '#testing/least-password-work.ts'
import { endWindow, openBrowser, openWindow as openOn, type Window, type WindowOptions } from './browser.ts'
import { pagesRun } from './prepare-pages.ts'

export { expect } from '@playwright/test'
export { accessibilityProblems, loaded, looks, type Window } from './browser.ts'

/** The service that the tests of this worker share. Each file makes its own brokerages. Its clock is the present when a test starts. */
export let app: TestApp

let browser: Browser

/** Starts a service of its own for tests that need other options, with a database that `close()` drops. */
export async function ownApp(options: TestAppOptions): Promise<TestApp> {
  return appAndDatabase(await cloneDatabase(pagesRun().cluster), options)
}

/** A window that is open, and until when: the end of the present test, or of all tests of a file. */
interface OpenWindow {
  readonly until: 'test' | { readonly file: string }
  readonly end: () => Promise<void>
}

let openWindows: OpenWindow[] = []
let isInTest = false

async function endWindows(isOver: (window: OpenWindow) => boolean): Promise<void> {
  const ending = openWindows.filter(isOver)
  openWindows = openWindows.filter((window) => !isOver(window))
  for (const { end } of ending) await end()
}

/**
 * Opens a clean window on the service, or at `url`. It ends with the test that opens it. A `kept` one, and one that a hook opens,
 * ends with the tests of the file.
 */
export async function openWindow(
  options: WindowOptions & { readonly url?: string; readonly kept?: boolean } = {},
): Promise<Window> {
  const { url = app.url, kept = !isInTest, alone = false } = options
  const window = await openOn(browser, url, options)
  openWindows.push({
    until: kept ? { file: test.info().file } : 'test',
    end: () => endWindow(browser, url, window.page, !alone && url === app.url),
  })
  return window
}

/** Playwright's test, with one service and one browser for each worker. */
export const test = base.extend<{ windows: undefined }, { service: undefined }>({
  browser: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright requires a pattern as the first parameter.
    async ({}, use) => {
      browser = await openBrowser(pagesRun().browser)
      await use(browser)
      await browser.close()
    },
    { scope: 'worker' },
  ],
  service: [
    async ({ browser: _ }, use) => {
      app = await ownApp({})
      await use(undefined)
      await app.close()
    },
    { scope: 'worker', auto: true },
  ],
  windows: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright requires a pattern as the first parameter.
    async ({}, use, { file }) => {
      await endWindows(({ until }) => until !== 'test' && until.file !== file)
      app.now = Date.now()
      isInTest = true
      await use(undefined)
      isInTest = false
      await endWindows(({ until }) => until === 'test')
    },
    { auto: true },
  ],
})
