import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { pagePaths } from '#contract/pages.ts'
import { runService } from '#testing/running-service.ts'
import { openBrowser, openWindow } from './testing/browser.ts'
import { findBrowser } from './testing/find-browser.ts'

/**
 * Takes the screenshots of docs/dashboard.md from the sample brokerage: `npm run screenshots`. Starts its own service with a
 * temporary data folder, and leaves only the screenshots.
 */

const folder = join(import.meta.dirname, '../docs/screenshots')

interface Picture {
  readonly name: string
  readonly path: string
  readonly width?: number
  readonly colorScheme?: 'dark'
  /** Actions on the page before the screenshot. */
  readonly prepare?: (page: Page) => Promise<void>
}

/** Types a lane into the desk, and waits for its advice. */
async function quoteALane(page: Page): Promise<void> {
  const { origin, destination, equipment } = await busiestLane(page)
  await page.getByLabel('Customer').first().fill('Harvest Table Foods')
  await page.getByLabel('Origin').first().fill(origin)
  await page.getByLabel('Destination').first().fill(destination)
  await page.getByLabel('Equipment').first().fill(equipment)
  await page.getByLabel(/^Rate/).first().fill('2150')
  await page.getByRole('slider').first().waitFor()
}

async function busiestLane(page: Page): Promise<{ origin: string; destination: string; equipment: string }> {
  return page.evaluate(async () => {
    const answer = await fetch('/api/performance?by=lane&limit=1')
    const { rows } = (await answer.json()) as {
      rows: { lane: { origin: string; destination: string; equipment: string } }[]
    }
    const [row] = rows
    if (row === undefined) throw new Error('The sample brokerage has no lane.')
    return row.lane
  })
}

async function openBusiestLane(page: Page): Promise<void> {
  const lane = await busiestLane(page)
  await page.goto(`${pagePaths.lane}?${new URLSearchParams(lane)}`)
  await page.getByRole('slider').first().waitFor()
}

const pictures: readonly Picture[] = [
  { name: 'quote-desk', path: pagePaths.desk, prepare: quoteALane },
  { name: 'quote-desk-dark', path: pagePaths.desk, colorScheme: 'dark', prepare: quoteALane },
  { name: 'quote-desk-phone', path: pagePaths.desk, width: 390, prepare: quoteALane },
  { name: 'quotes', path: pagePaths.quotes },
  { name: 'shipments', path: pagePaths.shipments },
  { name: 'lane', path: pagePaths.lane, prepare: openBusiestLane },
  { name: 'results', path: pagePaths.results },
  { name: 'integration', path: pagePaths.integration },
  { name: 'imports', path: pagePaths.imports },
  { name: 'team', path: pagePaths.team },
  { name: 'audit', path: pagePaths.audit },
  { name: 'settings', path: pagePaths.settings },
  { name: 'get-started', path: pagePaths.start },
]

const heightMax = 1400

const dataDirectory = mkdtempSync(join(tmpdir(), 'lanewise-pictures-'))
const say = (line: string) => process.stdout.write(`lanewise: ${line}\n`)
try {
  say('starting a service with a sample brokerage')
  const service = await runService(dataDirectory)
  const [, email = '', password = ''] = /sign-in\s+(\S+)\s+(\S+)/.exec(service.printed()) ?? []
  const browser = await openBrowser(await findBrowser())
  mkdirSync(folder, { recursive: true })
  // All pictures share one sign-in, because each sign-in adds an event to the picture of the audit log.
  const signedIn = await openWindow(browser, service.url, { person: { email, password } })
  const cookies = await signedIn.context.cookies()
  for (const { name, path, width = 1280, colorScheme = 'light', prepare } of pictures) {
    const { page, context } = await openWindow(browser, service.url, { width, colorScheme })
    await context.addCookies(cookies)
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await prepare?.(page)
    await page.waitForLoadState('networkidle')
    const height = await page.evaluate('document.documentElement.scrollHeight')
    await page.setViewportSize({ width, height: Math.min(Number(height), heightMax) })
    // The menu gets the new height after the next frame.
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    await page.screenshot({ path: join(folder, `${name}.png`) })
    await context.close()
    say(`docs/screenshots/${name}.png`)
  }
  await browser.close()
  await service.end('SIGTERM')
} finally {
  rmSync(dataDirectory, { recursive: true, force: true })
}
