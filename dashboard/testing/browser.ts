import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { inject } from 'vitest'
import type { TestBrowser } from './prepare-browser.ts'

interface Look {
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
}

/**
 * How people see a page, for tests of what everybody can read: each scheme and each width once, for contrast hangs on the one
 * and room on the other. All pairs with `EVERY_LOOK=1 npm test`.
 */
export const looks: readonly Look[] = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 390 },
  ...(process.env.EVERY_LOOK === undefined
    ? []
    : ([
        { colorScheme: 'dark', width: 1280 },
        { colorScheme: 'light', width: 390 },
      ] as const)),
]

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

/**
 * What the accessibility rules of WCAG 2.2 AA find on the page as it stands: nothing, when all is well. In the dark theme
 * those about colors are asked, the others in the light one: the themes differ in nothing else.
 */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  // What is still on its way is greyed, and is judged once it stands.
  const busy = page.locator('[aria-busy="true"]')
  for (let looks = 0; looks < 100 && (await busy.count()) > 0; looks++) await page.waitForTimeout(100)
  await page.evaluate(axe.source)
  const found = await problemsNow(page)
  if (found.length === 0) return found
  // Colors may have been caught on their way from one theme to the other: what is wrong stays wrong.
  await page.waitForTimeout(1_000)
  return problemsNow(page)
}

async function problemsNow(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const { axe: rules, document } = globalThis as unknown as {
      axe: typeof axe
      document: { documentElement: { dataset: Record<string, string> } }
    }
    const isDark = document.documentElement.dataset.mantineColorScheme === 'dark'
    const { violations } = await rules.run({
      runOnly: isDark
        ? { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }
        : { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
      resultTypes: ['violations'],
    })
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map((node) => `${id}: ${help} (${node.target.join(' ')}: ${node.html.slice(0, 160)})`),
    )
  })
}
