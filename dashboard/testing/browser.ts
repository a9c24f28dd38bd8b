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

/** A fresh window on the service, with nobody signed in, or with a person who is. */
export async function openWindow(
  browser: Browser,
  url: string,
  options: {
    person?: { readonly email: string; readonly password: string }
    width?: number
    height?: number
    colorScheme?: 'light' | 'dark'
    /** The window outlives the test that opens it. One that is opened in `beforeAll` always does. */
    kept?: boolean
    /** Refusals of calls are written to the console by the browser itself; a test of refusals lets them be. */
    refusalsExpected?: boolean
  } = {},
): Promise<Window> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
    colorScheme: options.colorScheme ?? 'light',
    locale: 'en-US',
    timezoneId: 'America/Chicago',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  if (options.kept !== true) closeWithTest(context)
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const troubles: string[] = []
  page.on('pageerror', (error) => troubles.push(`${error.name}: ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() !== 'error') return
    if (options.refusalsExpected === true && text.startsWith('Failed to load resource')) return
    troubles.push(text)
  })
  if (options.person !== undefined) await signIn(page, options.person)
  return { page, context, troubles }
}

/** A page that nobody looks at still draws and polls: the test that opened it closes it. */
function closeWithTest(context: BrowserContext): void {
  try {
    onTestFinished(() => context.close())
  } catch {
    // Outside a test there is nothing to finish with: the browser closes it.
  }
}

/** Signs in as the form does, without its clicks. The cookie is the browser's own to keep. */
async function signIn(
  page: Page,
  person: { readonly email: string; readonly password: string },
): Promise<void> {
  await page.goto('/sign-in')
  const status = await page.evaluate(
    async ({ email, password }) => {
      const answer = await fetch('/api/auth/sign-in', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ email, password }),
      })
      return answer.status
    },
    { email: person.email, password: person.password },
  )
  if (status !== 200) throw new Error(`The sign-in of ${person.email} answered ${status}.`)
}

/** Waits until the page has a heading, and nothing on it is still loading (and grayed out for that). */
export async function loaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).or(page.getByRole('dialog')).first().waitFor()
  await expect.poll(() => page.locator('[aria-busy="true"]').count(), { timeout: 15_000 }).toBe(0)
}

/**
 * What is wrong with the page as it stands: breaches of WCAG 2.2 AA, colors without contrast in the other theme, and a page
 * that scrolls sideways on a phone. Empty when all is well. The page keeps its theme and its width.
 */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  await loaded(page)
  await page.evaluate(axe.source)
  const scheme = await schemeOf(page)
  const found = await lastingProblems(page, ruleTags)
  const other = scheme === 'light' ? 'dark' : 'light'
  await showIn(page, other)
  found.push(...(await lastingProblems(page, colorRules)).map((problem) => `in ${other}: ${problem}`))
  await showIn(page, scheme)
  const size = page.viewportSize()
  if (size !== null && size.width > narrowWidth) {
    for (const width of [narrowWidth, size.width]) {
      await page.setViewportSize({ ...size, width })
      const needed = await settledWidth(page, width)
      if (needed > width) found.push(`scrolls sideways: ${needed} pixels wide on ${width}`)
    }
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
 * The width that the page needs once it has fitted for a quarter of a second. Charts are drawn again some frames after a
 * change of width; a page that is still too wide after 5 s stays so.
 */
async function settledWidth(page: Page, width: number): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const until = performance.now() + 5_000
    let fitsSince = Infinity
    const look = () => {
      const needed = document.documentElement.scrollWidth
      const now = performance.now()
      fitsSince = needed <= ${width} ? Math.min(fitsSince, now) : Infinity
      if (now - fitsSince >= 250 || now > until) resolve(needed)
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
