import axe, { type RunOnly } from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'
import type { TestBrowser } from './prepare-browser.ts'

interface Look {
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
}

/**
 * The looks in which tests walk through each page: the ordinary one. `accessibilityProblems` turns the page dark and narrow
 * at each stop by itself. `EVERY_LOOK=1 npm test` walks through the pages in each pair of theme and width as well.
 */
export const looks: readonly Look[] = [
  { colorScheme: 'light', width: 1280 },
  ...(process.env.EVERY_LOOK === undefined
    ? []
    : ([
        { colorScheme: 'dark', width: 390 },
        { colorScheme: 'dark', width: 1280 },
        { colorScheme: 'light', width: 390 },
      ] as const)),
]

/** The width of a phone, in CSS pixels. */
const narrowWidth = 390

/** The browser that was found for this run of tests (or, for a script, the one that is handed in), started. */
export async function openBrowser(found: TestBrowser = inject('testBrowser')): Promise<Browser> {
  const { executablePath, libraryPath } = found
  return chromium.launch({
    executablePath,
    headless: true,
    // The bundled browser's own defaults switch the safety of the web off; the first three are all that a container
    // needs. With the others no graphics card is imitated, which took a tenth of the browser's processor time.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-gpu-compositing',
      '--disable-software-rasterizer',
    ],
    ...(libraryPath === null ? {} : { env: { LD_LIBRARY_PATH: libraryPath } }),
  })
}

/** A window of the dashboard that remembers what went wrong in it: errors of scripts and breaches of the page's policy. */
export interface Window {
  readonly page: Page
  readonly context: BrowserContext
  readonly troubles: readonly string[]
}

interface WindowOptions {
  person?: { readonly email: string; readonly password: string }
  width?: number
  height?: number
  colorScheme?: 'light' | 'dark'
  /** The window outlives the test that opens it. One that is opened in `beforeAll` always does. */
  kept?: boolean
  /** No other test gets the window: for what a browser does not take back, such as scripts that run in every page. */
  alone?: boolean
  /** Refusals of calls are written to the console by the browser itself; a test of refusals lets them be. */
  refusalsExpected?: boolean
}

/** A window on the service as if it were a fresh one, with nobody signed in, or with a person who is. */
export async function openWindow(
  browser: Browser,
  url: string,
  options: WindowOptions = {},
): Promise<Window> {
  const { width = 1280, height = 900, colorScheme = 'light' } = options
  const page = (options.alone === true ? null : idleWindow(browser, url)) ?? (await newWindow(browser, url))
  const context = page.context()
  page.setDefaultTimeout(30_000)
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  if (options.kept !== true) endWithTest(browser, url, page, options.alone === true)
  if (options.person !== undefined) await signIn(context, url, options.person)
  const troubles: string[] = []
  page.on('pageerror', (error) => troubles.push(`${error.name}: ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() !== 'error') return
    if (options.refusalsExpected === true && text.startsWith('Failed to load resource')) return
    troubles.push(text)
  })
  return { page, context, troubles }
}

async function newWindow(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({
    baseURL: url,
    locale: 'en-US',
    timezoneId: 'America/Chicago',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  return context.newPage()
}

/**
 * Windows whose tests are over, for each service. To load the dashboard into one of them takes half of what it takes in a
 * new one, whose process starts first and has all programs to read.
 */
const idleWindows = new WeakMap<Browser, Map<string, Page[]>>()

function idleWindow(browser: Browser, url: string): Page | null {
  return idleWindows.get(browser)?.get(url)?.pop() ?? null
}

/** A page that nobody looks at still draws and polls: when the test that opened it is over, it is blank. */
function endWithTest(browser: Browser, url: string, page: Page, isAlone: boolean): void {
  try {
    onTestFinished(async () => {
      if (isAlone || page.isClosed()) return page.context().close()
      await makeBlank(page)
      const ofBrowser = idleWindows.get(browser) ?? new Map<string, Page[]>()
      idleWindows.set(browser, ofBrowser.set(url, [...(ofBrowser.get(url) ?? []), page]))
    })
  } catch {
    // Outside a test there is nothing to finish with: the browser closes it.
  }
}

const heardEvents = [
  'console',
  'pageerror',
  'request',
  'requestfailed',
  'requestfinished',
  'response',
  'dialog',
]

/** Takes back what a test did to its window, and leaves nothing that the page remembered. */
async function makeBlank(page: Page): Promise<void> {
  const context = page.context()
  for (const event of heardEvents) page.removeAllListeners(event)
  await Promise.all(context.pages().map((other) => (other === page ? null : other.close())))
  await Promise.all([page, context].map((one) => one.unrouteAll({ behavior: 'ignoreErrors' })))
  await context.setOffline(false)
  // A page of the same origin, and next to nothing: the process of the next page is there already.
  await page.goto('/healthz')
  await page.evaluate('sessionStorage.clear(); localStorage.clear()')
  await context.clearCookies()
}

/**
 * Signs in over HTTP and hands the browser the cookie: to load a page for it would load the whole dashboard twice.
 * `doorstep.test.ts` signs in through the page.
 */
async function signIn(
  context: BrowserContext,
  url: string,
  person: { readonly email: string; readonly password: string },
): Promise<void> {
  const answer = await fetch(`${url}/api/auth/sign-in`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: person.email, password: person.password }),
  })
  await answer.arrayBuffer()
  if (answer.status !== 200) throw new Error(`The sign-in of ${person.email} answered ${answer.status}.`)
  for (const cookie of answer.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
    await context.addCookies([
      {
        name,
        value,
        domain: new URL(url).hostname,
        path: '/',
        httpOnly: /; HttpOnly/i.test(cookie),
        secure: /; Secure/i.test(cookie),
        sameSite: 'Strict',
      },
    ])
  }
}

/** Waits until the page has a heading, and nothing on it is still loading (and grayed out for that). */
export async function loaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).or(page.getByRole('dialog')).first().waitFor()
  await expect.poll(() => page.locator('[aria-busy="true"]').count(), { timeout: 15_000 }).toBe(0)
}

/**
 * What is wrong with the page as it stands: breaches of WCAG 2.2 AA, colors without contrast in the other theme, and a page
 * that scrolls sideways, also on a phone. Empty when all is well. The page keeps its width and stays in the other theme: to
 * draw it in the first one again would cost as much as to try it.
 */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  await loaded(page)
  // It is read once by each page: to read half a megabyte of rules takes longer than to try some of them.
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axe.source)
  const found = await lastingProblems(page, ruleTags)
  const other = (await schemeOf(page)) === 'light' ? 'dark' : 'light'
  await showIn(page, other)
  found.push(...(await lastingProblems(page, colorRules)).map((problem) => `in ${other}: ${problem}`))
  const size = page.viewportSize()
  if (size === null) return found
  const tooWide = async (width: number, forMs: number) => {
    const needed = await settledWidth(page, width, forMs)
    if (needed > width) found.push(`scrolls sideways: ${needed} pixels wide on ${width}`)
  }
  await tooWide(size.width, 0)
  if (size.width > narrowWidth) {
    await page.setViewportSize({ ...size, width: narrowWidth })
    await tooWide(narrowWidth, 250)
    await page.setViewportSize(size)
    await settledWidth(page, size.width, 0)
  }
  return found
}

const ruleTags: RunOnly = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
}
/** The themes differ in colors only. */
const colorRules: RunOnly = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }

type Scheme = Look['colorScheme']

const schemeOf = (page: Page) => page.evaluate<Scheme>('document.documentElement.dataset.mantineColorScheme')

async function showIn(page: Page, scheme: Scheme): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme })
  await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor()
  // The colors are in force once a frame was drawn with them.
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
}

/**
 * The width that the page needs once it has fitted for so long. Charts are drawn again some frames after a change of width;
 * a page that is still too wide after 5 s stays so.
 */
async function settledWidth(page: Page, width: number, forMs: number): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const until = performance.now() + 5_000
    let fitsSince = Infinity
    const look = () => {
      const needed = document.documentElement.scrollWidth
      const now = performance.now()
      fitsSince = needed <= ${width} ? Math.min(fitsSince, now) : Infinity
      if (now - fitsSince >= ${forMs} || now > until) resolve(needed)
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })`)
}

/** Problems that stay for three seconds: a color may have been caught in a transition, and what is wrong stays wrong. */
async function lastingProblems(page: Page, rules: RunOnly): Promise<string[]> {
  const until = performance.now() + 3_000
  for (;;) {
    const found = await problemsNow(page, rules)
    if (found.length === 0 || performance.now() > until) return found
  }
}

async function problemsNow(page: Page, runOnly: RunOnly): Promise<string[]> {
  return page.evaluate(async (rules) => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run({
      runOnly: rules,
      resultTypes: ['violations'],
    })
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map((node) => `${id}: ${help} (${node.target.join(' ')}: ${node.html.slice(0, 160)})`),
    )
  }, runOnly)
}
