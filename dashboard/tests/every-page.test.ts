import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { pagePaths } from '#contract/pages.ts'
import { companyOnThisMachine } from '#testing/company.ts'
import { call, type MadeTenant } from '#testing/make.ts'
import { nameServer } from '#testing/name-server.ts'
import { accessibilityProblems, loaded, openWindow } from '../testing/browser.ts'
import { busyTenant } from '../testing/busy-tenant.ts'
import { serviceAndBrowser } from '../testing/service-and-browser.ts'

const names = await nameServer()
afterAll(() => names.close())
const { app, browser } = await serviceAndBrowser({ config: companyOnThisMachine(names) })

let tenant: MadeTenant
/** What the parts of addresses in braces stand for. */
let parts: Readonly<Record<string, string>>
beforeAll(async () => {
  tenant = await busyTenant(app, names)
  const get = async (path: string) => (await call(app, 'GET', path, { token: tenant.owner })).body
  const [lane] = (await get('/api/performance?by=lane&limit=1')).rows
  const [customer] = (await get('/api/performance?by=customer&limit=1')).rows
  const [quote] = (await get('/api/lanes?limit=1')).lanes
  parts = {
    '{lane}': String(new URLSearchParams(lane.lane)),
    '{customer}': encodeURIComponent(customer.label),
    '{lane_ref}': quote.lane_ref,
    '{mail}': (await get('/api/received-mails')).mails[0].id,
  }
})

/** The addresses of each page with its views. A new page does not compile without its addresses here. */
const addresses: Record<keyof typeof pagePaths, readonly string[]> = {
  desk: ['/', '/?{lane}&rate=2100'],
  start: ['/start'],
  quotes: ['/quotes', '/quotes?outcome=pending&view=Pending+too+long'],
  quote: ['/quotes/{lane_ref}'],
  shipments: ['/shipments'],
  approvals: ['/approvals'],
  inbox: ['/inbox'],
  received: ['/mail'],
  receivedMail: ['/mail/{mail}'],
  myDay: ['/my-day'],
  bids: ['/bids', '/bids?bid=1', '/bids?bid=2'],
  lane: ['/lane', '/lane?{lane}'],
  market: ['/market'],
  customers: ['/customers', '/customers?view=variants', '/customers?name={customer}'],
  results: [
    '/results',
    ...['figures', 'missed', 'gaps'].map((view) => `/results?view=${view}`),
    ...['customer', 'rep', 'carrier', 'equipment', 'rate_type', 'month'].map(
      (by) => `/results?view=figures&by=${by}`,
    ),
    '/results?view=calibration',
    '/results?view=pilot',
  ],
  rules: ['/rules'],
  settings: ['/settings'],
  account: ['/settings/account'],
  team: ['/settings/people'],
  fuel: ['/settings/fuel'],
  mail: ['/settings/mail'],
  companySignIn: ['/settings/company-sign-in'],
  companyReturn: ['/sign-in/company/1'],
  marketRates: ['/settings/market'],
  imports: ['/settings/imports'],
  integration: ['/settings/developers'],
  audit: ['/settings/audit'],
  signIn: ['/sign-in'],
  signUp: ['/sign-up'],
  invitation: ['/invitation'],
  connect: ['/connect'],
}

const addressOf = (address: string) => address.replaceAll(/\{\w+\}/g, (part) => parts[part] ?? part)

/** Words of the API and of statistics. They are on the pages for developers and behind “What the API says” only. */
const wordsOfTheApi =
  /\b\d[\d,]* decided\b|\bdecided (spot |contract )?quotes?\b|\bRPM\b|dollars per load|\bverdict\b|\bsuggested rate\b|\bband\b|harmonic|integral|derivative|lane_ref|rate_band|going rate|\bundefined\b|\bNaN\b/i
const forDevelopers: readonly string[] = [
  'integration',
  'audit',
  'imports',
] satisfies (keyof typeof pagePaths)[]

/** Buttons and summaries that open a part of the page, which is then looked at, too. */
const opens: Partial<Record<keyof typeof pagePaths, readonly RegExp[]>> = {
  account: [/^Show the report$/, /^Add a passkey$/],
  bids: [/^New bid$/, /^(Changed|New|Gone): /],
  team: [/^Add a team$/],
}

const widths = [390, 683, 1366, 1440]
const heightOf = (width: number) => (width === 683 ? 384 : 768)

async function opened(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await loaded(page)
  await page.waitForLoadState('networkidle')
}

/** Opens what has these words. A page without them has nothing to open. */
async function openAll(page: Page, words: RegExp): Promise<void> {
  for (const one of await page.locator('button, summary').filter({ hasText: words }).all()) await one.click()
  await loaded(page)
}

describe.each(Object.keys(addresses) as (keyof typeof pagePaths)[])('the page %s', (name) => {
  test('is accessible in four widths and both themes, and speaks the words of a rep', {
    tags: 'long',
    timeout: 300_000,
  }, async () => {
    const { page, troubles } = await openWindow(browser, app.url, { person: tenant, refusalsExpected: true })
    for (const address of addresses[name].map(addressOf)) {
      await opened(page, address)
      for (const words of opens[name] ?? []) await openAll(page, words)
      if (!forDevelopers.includes(name)) {
        const [found] = wordsOfTheApi.exec(await page.locator('body').innerText()) ?? []
        expect(found, `${address} says a word of the API`).toBeUndefined()
      }
      for (const width of widths) {
        await page.setViewportSize({ width, height: heightOf(width) })
        expect(await accessibilityProblems(page), `${address} at ${width}`).toEqual([])
      }
    }
    expect(troubles).toEqual([])
  })
})
