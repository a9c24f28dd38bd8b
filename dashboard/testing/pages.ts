import { type Browser, test as base, type Page } from '@playwright/test'
import { appAndDatabase, type TestApp, type TestAppOptions } from '#testing/app-on-database.ts'
import { cloneDatabase } from '#testing/cloned-database.ts'
import '#testing/least-password-work.ts'
import { makeBlank, openBrowser, openWindow as openOn, type Window, type WindowOptions } from './browser.ts'
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

/** An open window. It ends with the current test, or, if it is kept, with the tests of its file. */
interface OpenWindow {
  readonly keptFor: string | null
  readonly end: () => Promise<void>
}

let openWindows: OpenWindow[] = []
let isInTest = false
/**
 * Pages of ended windows, to open again. Loading the dashboard in one takes half as long as in a new window, which must start a
 * process and parse all code.
 */
const blankPages: Page[] = []

async function endWindows(isOver: (window: OpenWindow) => boolean): Promise<void> {
  const ending = openWindows.filter(isOver)
  openWindows = openWindows.filter((window) => !isOver(window))
  for (const { end } of ending) await end()
}

/**
 * Opens a clean window on the service, or at `url`. The window ends with its test. A `kept` window, or a window that a hook opens,
 * ends with the tests of the file.
 */
export async function openWindow(
  options: WindowOptions & { readonly url?: string; readonly kept?: boolean } = {},
): Promise<Window> {
  const { url = app.url, kept = !isInTest, alone = false } = options
  const isReused = !alone && url === app.url
  const window = await openOn(browser, url, options, isReused ? blankPages.pop() : undefined)
  openWindows.push({
    keptFor: kept ? test.info().file : null,
    end: async () => {
      const { page, context } = window
      if (!isReused || page.isClosed()) return context.close()
      await makeBlank(page)
      blankPages.push(page)
    },
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
      await endWindows(({ keptFor }) => keptFor !== null && keptFor !== file)
      app.now = Date.now()
      isInTest = true
      await use(undefined)
      isInTest = false
      await endWindows(({ keptFor }) => keptFor === null)
    },
    { auto: true },
  ],
})
