import { type Browser, type BrowserContext, chromium, expect, type Page } from '@playwright/test'
import axe, { type RunOnly } from 'axe-core'
import type { TestBrowser } from './find-browser.ts'

interface Look {
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
}

/**
 * The looks that tests use for each page: by default only light and wide. `accessibilityProblems` also checks dark and narrow
 * at each step. `EVERY_LOOK=1 npx playwright test` runs the pages in every pair of theme and width.
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

export async function openBrowser({ executablePath, libraryPath }: TestBrowser): Promise<Browser> {
  return chromium.launch({
    executablePath,
    headless: true,
    // The bundled browser's default flags disable web security. A container needs only the first three flags. The other
    // flags turn off software rendering of a GPU, which used a tenth of the browser's CPU time.
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

/** A window of the dashboard that collects script errors and CSP violations. */
export interface Window {
  readonly page: Page
  readonly context: BrowserContext
  readonly troubles: readonly string[]
}

export interface WindowOptions {
  person?: { readonly email: string; readonly password: string }
  width?: number
  height?: number
  colorScheme?: 'light' | 'dark'
  /**
   * Never reuses the window, for changes that cannot be undone, such as scripts that run in every page. Its page is not patient: see
   * `makePatient`.
   */
  alone?: boolean
  /** Ignores the console errors that browsers write for rejected calls. */
  refusalsExpected?: boolean
}

/** A clean window on the service, optionally with a signed-in person: a new one, or a blank page of the same service. */
export async function openWindow(
  browser: Browser,
  url: string,
  options: WindowOptions = {},
  blank?: Page,
): Promise<Window> {
  const { width = 1280, height = 900, colorScheme = 'light' } = options
  const page = blank ?? (await newWindow(browser, url, options))
  const context = page.context()
  page.setDefaultTimeout(180_000)
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
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

async function newWindow(browser: Browser, url: string, { alone }: WindowOptions): Promise<Page> {
  const context = await browser.newContext({
    baseURL: url,
    locale: 'en-US',
    timezoneId: 'America/Chicago',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  if (alone !== true) await context.addInitScript(makePatient)
  return context.newPage()
}

/**
 * Runs in the page before its scripts: timers of six seconds or more take thirty times as long. Otherwise, on a busy machine, a
 * notice with Undo would be gone before the test clicks it, and a call would time out. A test of such a timer opens its window
 * `alone`.
 */
function makePatient(): void {
  const patient = (ms = 0) => (ms >= 6_000 ? ms * 30 : ms)
  const { setTimeout: after } = globalThis
  const until = AbortSignal.timeout.bind(AbortSignal)
  globalThis.setTimeout = ((task: () => void, ms?: number, ...rest: []) =>
    after(task, patient(ms), ...rest)) as typeof setTimeout
  AbortSignal.timeout = (ms) => until(patient(ms))
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

/** Resets a window: settings, storage and cookies. It then shows a tiny page, because hidden pages still render and poll. */
export async function makeBlank(page: Page): Promise<void> {
  const context = page.context()
  for (const event of listenedEvents) page.removeAllListeners(event)
  await Promise.all(context.pages().map((other) => (other === page ? null : other.close())))
  await Promise.all([page, context].map((one) => one.unrouteAll({ behavior: 'ignoreErrors' })))
  await context.setOffline(false)
  // A tiny page of the same origin, so that the next page reuses the process.
  await page.goto('/healthz', { timeout: 180_000 })
  await page.evaluate('sessionStorage.clear(); localStorage.clear()')
  await context.clearCookies()
}

/**
 * Signs in over HTTP and sets the browser's cookie. Signing in through a page would load the dashboard twice.
 * `doorstep.test.ts` tests the sign-in page.
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

/**
 * Waits until the page has a heading and nothing is loading. The heading alone is there before the session and the code of the page:
 * until then, no key has an effect, and the links that depend on the role are missing.
 */
export async function loaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).or(page.getByRole('dialog')).first().waitFor()
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0)
}

/**
 * The accessibility problems of the page: WCAG 2.2 AA violations, low contrast in the other theme, and horizontal
 * scrolling, also at phone width. Empty without problems. The page keeps its width but stays in the other theme, because
 * switching back would cost as much as the check.
 */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  await loaded(page)
  // Loaded once per page, because parsing half a megabyte of rules takes longer than running some of them.
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
/** Themes differ only in colors. */
const colorRules: RunOnly = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }

type Scheme = Look['colorScheme']

const schemeOf = (page: Page) => page.evaluate<Scheme>('document.documentElement.dataset.mantineColorScheme')

async function showIn(page: Page, scheme: Scheme): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme })
  await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor()
  // The new colors apply after the next frame.
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
}

/**
 * The width of the page's content after it has been stable. Charts re-render some frames after a change of width. A page
 * that is still too wide after a minute counts as too wide.
 */
async function settledWidth(page: Page, width: number, forMs: number): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const until = performance.now() + 60_000
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

/** Problems that persist for a minute. A shorter problem can be a color in transition, on a busy machine for many seconds. */
async function lastingProblems(page: Page, rules: RunOnly): Promise<string[]> {
  const until = performance.now() + 60_000
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
