import axe, { type RunOnly } from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'
import type { TestBrowser } from './prepare-browser.ts'

interface Look {
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
}

/**
 * The themes and widths in which tests visit each page. By default this is the light theme on a desktop, because
 * `accessibilityProblems` also checks the dark theme and a phone's width. `EVERY_LOOK=1 npm test` visits each page in every
 * combination of theme and width.
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

/** Starts the browser that the global setup found. A script passes its own. */
export async function openBrowser(found: TestBrowser = inject('testBrowser')): Promise<Browser> {
  const { executablePath, libraryPath } = found
  return chromium.launch({
    executablePath,
    headless: true,
    // The bundled browser's default arguments disable web security, so they are not used. A container needs the first
    // three of these arguments. The other two turn off software rendering of 3D graphics, which took 10 % of the CPU time.
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

/** A window of the dashboard. It collects script errors, console errors and violations of the Content-Security-Policy. */
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
  /** Keeps the window open after the test that opens it. A window opened in `beforeAll` always stays open. */
  kept?: boolean
  /** Never reuses the window for another test: for changes that cannot be undone, such as init scripts. */
  alone?: boolean
  /** Ignores the console errors that the browser writes for responses of 400 and above. */
  refusalsExpected?: boolean
}

/** Opens a window with no stored state. Signs `person` in if given. */
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
 * Windows to reuse, by service, after their tests have finished. Loading the dashboard into a reused window takes half the
 * time of a new one, which must start a process and compile all scripts.
 */
const idleWindows = new WeakMap<Browser, Map<string, Page[]>>()

function idleWindow(browser: Browser, url: string): Page | null {
  return idleWindows.get(browser)?.get(url)?.pop() ?? null
}

/** Navigates to a blank page when the test ends, because a page in the background still renders and polls. */
function endWithTest(browser: Browser, url: string, page: Page, isAlone: boolean): void {
  try {
    onTestFinished(async () => {
      if (isAlone || page.isClosed()) return page.context().close()
      await makeBlank(page)
      const ofBrowser = idleWindows.get(browser) ?? new Map<string, Page[]>()
      idleWindows.set(browser, ofBrowser.set(url, [...(ofBrowser.get(url) ?? []), page]))
    })
  } catch {
    // Not inside a test: closing the browser closes the window.
  }
}

const listenedEvents = [
  'console',
  'pageerror',
  'request',
  'requestfailed',
  'requestfinished',
  'response',
  'dialog',
]

/** Removes listeners, routes, cookies and storage, so that the next test gets a clean window. */
async function makeBlank(page: Page): Promise<void> {
  const context = page.context()
  for (const event of listenedEvents) page.removeAllListeners(event)
  await Promise.all(context.pages().map((other) => (other === page ? null : other.close())))
  await Promise.all([page, context].map((one) => one.unrouteAll({ behavior: 'ignoreErrors' })))
  await context.setOffline(false)
  // A tiny page of the same origin keeps the renderer process alive for the next page.
  await page.goto('/healthz')
  await page.evaluate('sessionStorage.clear(); localStorage.clear()')
  await context.clearCookies()
}

/**
 * Signs in over HTTP and sets the cookie in the browser. Signing in through the page would load the dashboard twice;
 * `doorstep.test.ts` covers that page.
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
  const body = await answer.text()
  if (answer.status !== 200) {
    throw new Error(`sign-in of ${person.email} returned ${answer.status}, expected 200: ${body}`)
  }
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

/** Waits until the page has a heading or a dialog, and no part of the page is loading (`aria-busy`). */
export async function loaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).or(page.getByRole('dialog')).first().waitFor()
  await expect.poll(() => page.locator('[aria-busy="true"]').count(), { timeout: 15_000 }).toBe(0)
}

/**
 * Returns the accessibility problems of the current page: violations of WCAG 2.2 AA, insufficient contrast in the other
 * theme, and horizontal scrolling at the current width and at a phone's width. Empty if there are none. The page keeps its
 * width but stays in the other theme, because switching back would take as long as the check itself.
 */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  await loaded(page)
  // Loads axe once per page: parsing half a megabyte of rules takes longer than running some of them.
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
/** The themes differ only in colors. */
const colorRules: RunOnly = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }

type Scheme = Look['colorScheme']

const schemeOf = (page: Page) => page.evaluate<Scheme>('document.documentElement.dataset.mantineColorScheme')

async function showIn(page: Page, scheme: Scheme): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme })
  await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor()
  // The colors apply after the next frame is rendered.
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
}

/**
 * Returns the width that the content needs, in CSS pixels, once the page has fitted into `width` for `forMs` milliseconds.
 * Charts render again some frames after a change of width, so the check repeats for up to 5 s.
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

/** Returns the problems that persist for three seconds, which excludes colors in the middle of a transition. */
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
