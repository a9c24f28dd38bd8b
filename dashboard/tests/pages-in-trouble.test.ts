import { randomUUID } from 'node:crypto'
import type { Locator, Page } from '@playwright/test'
import type { pagePaths } from '#contract/pages.ts'
import { call, type MadeTenant, makeQuote, makeTenant, password, requireStatus } from '#testing/make.ts'
import { app, expect, loaded, openWindow, test } from '../testing/pages.ts'

let tenant: MadeTenant

test.beforeAll(async () => {
  tenant = await makeTenant(app)
  // A lane has a win curve if quotes were won and lost.
  await makeQuote(app, tenant, { outcome: 'won' })
  await makeQuote(app, tenant, { outcome: 'lost', rate: 2400 })
})

const calls = '**/api/**'

/** A failure of the connection, the service or the session. */
interface Trouble {
  readonly begin: (page: Page) => Promise<unknown>
  /** The message that the page must show meanwhile. Null if it must only wait. */
  readonly says: ((page: Page) => Locator) | null
  /** Ends the trouble, with an action of the person if one is necessary. */
  readonly end: (page: Page) => Promise<void>
}

const alerts = (page: Page) => page.getByRole('alert').filter({ visible: true })

/** Each call fails with a problem of the service. */
const problem = (code: string, status: number, retryAfterSeconds: number): Trouble => ({
  begin: (page) =>
    page.route(calls, (route) =>
      route
        .fulfill({
          status,
          headers: { 'Retry-After': String(retryAfterSeconds) },
          contentType: 'application/problem+json',
          body: JSON.stringify({
            type: `/problems/${code}`,
            code,
            title: code,
            status,
            detail: `The service returned ${status}.`,
            instance: randomUUID(),
            request_id: randomUUID(),
          }),
        })
        // A page cancels calls that it no longer needs.
        .catch(() => {}),
    ),
  says: (page) =>
    status === 429
      ? alerts(page).getByText(/Wait \d+ s, then try again/)
      : alerts(page).getByText('Nothing was lost.'),
  end: (page) => page.unroute(calls),
})

const latencyMs = 2_000

const troubles = {
  'an answer after 2 s': {
    begin: (page) =>
      page.route(calls, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, latencyMs))
        await route.continue().catch(() => {})
      }),
    says: null,
    end: async () => {},
  },
  '503': problem('unavailable', 503, 1),
  '429 with a countdown': problem('quota-exceeded', 429, 30),
  'a lost connection': {
    begin: (page) => page.context().setOffline(true),
    says: (page) => alerts(page).getByText('The service cannot be reached.'),
    end: (page) => page.context().setOffline(false),
  },
  'the end of the session': {
    begin: (page) => page.context().clearCookies(),
    says: (page) => page.getByRole('dialog', { name: 'Your session has ended' }),
    end: async (page) => {
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
      await dialog.getByRole('textbox', { name: 'Password' }).fill(tenant.password)
      await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
      await dialog.waitFor({ state: 'hidden' })
    },
  },
} as const satisfies Record<string, Trouble>
type TroubleName = keyof typeof troubles

/** The steps of a person on a page. */
interface Visit {
  /** The address of the page with something to do on it. */
  readonly address: () => Promise<string> | string
  /** An element that needs the service's answers. Null if the page sends no request when it opens. */
  readonly content: ((page: Page) => Locator) | null
  /** The field with typed text that must remain. Null if the page has only choices. */
  readonly field: ((page: Page) => Locator) | null
  /** Types, up to the click or key that sends it. */
  readonly type: (page: Page) => Promise<void>
  readonly send: (page: Page) => Promise<void>
  /** An element that the page shows after success. */
  readonly done: (page: Page) => Locator
  /** True if the person signs up, signs in or joins. */
  readonly isDoorstep?: true
  /** Its calls send a token of the session, which stays valid for minutes after the session. */
  readonly outlivesSession?: true
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' })
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name })
const fill = (locator: (page: Page) => Locator, text: string) => (page: Page) => locator(page).fill(text)
const press = (name: string) => (page: Page) => button(page, name).click()

const tab = (page: Page, name: string) => page.getByRole('tab', { name })
const passwordField = (page: Page) => page.getByLabel(/assword/).and(page.getByRole('textbox'))

/** A page that is left through the menu. */
const left = (address: string, content: Visit['content']): Visit => ({
  address: () => address,
  content,
  field: null,
  type: async () => {},
  send: (page) =>
    page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: 'Quotes', exact: true })
      .click(),
  done: (page) => heading(page, 'Quotes'),
})

const visits: Record<keyof typeof pagePaths, Visit> = {
  desk: {
    address: () => '/',
    content: null,
    field: (page) => page.getByLabel('Rate', { exact: true }),
    type: async (page) => {
      await page.getByRole('combobox', { name: 'Customer' }).fill('Blue Mesa Foods')
      await page.getByRole('combobox', { name: 'Origin' }).fill('Dallas, TX')
      await page.getByRole('combobox', { name: 'Destination' }).fill('Atlanta, GA')
      await page.getByLabel('Rate', { exact: true }).fill('2150')
    },
    send: async (page) => {
      await page.keyboard.press('Control+Enter')
      const unchecked = button(page, 'Save without the check')
      const others = [heading(page, '1 quote saved'), alerts(page), page.getByRole('dialog')]
      await others
        .reduce((all, one) => all.or(one), unchecked)
        .first()
        .waitFor()
      if (await unchecked.isVisible()) await unchecked.click()
    },
    done: (page) => heading(page, '1 quote saved'),
  },
  start: {
    address: () => '/start',
    content: (page) => page.getByRole('progressbar', { name: 'Steps done' }),
    field: null,
    type: async () => {},
    send: (page) => page.getByRole('main').getByRole('link', { name: 'Quotes' }).first().click(),
    done: (page) => heading(page, 'Quotes'),
  },
  quotes: {
    address: () => '/quotes',
    content: (page) => page.getByRole('table').first(),
    field: (page) => page.getByLabel('Search quotes'),
    type: fill((page) => page.getByLabel('Search quotes'), 'harvest'),
    // The list searches after a pause in typing, which may be over before the trouble begins. A chosen outcome always sends a
    // request.
    send: async (page) => {
      await page.getByRole('radiogroup', { name: 'Outcome' }).getByText('Won').click()
    },
    done: (page) => page.getByRole('row').filter({ hasText: 'Harvest Table Foods' }).first(),
  },
  quote: {
    address: async () => `/quotes/${(await makeQuote(app, tenant)).lane_ref}`,
    content: (page) => button(page, 'Void'),
    field: (page) => page.getByLabel('Reason'),
    type: async (page) => {
      await button(page, 'Void').click()
      await page.getByLabel('Reason').fill('The customer asked twice')
    },
    send: press('Void quote'),
    done: (page) => button(page, 'Restore'),
  },
  shipments: {
    address: () => '/shipments',
    content: (page) => page.getByText(/No shipments/).first(),
    field: (page) => page.getByRole('combobox', { name: 'Origin' }),
    type: fill((page) => page.getByRole('combobox', { name: 'Origin' }), 'Dallas, TX'),
    // A chosen period always sends a request, as above.
    send: async (page) => {
      await page.getByLabel('Quoted in').selectOption('Last 12 months')
    },
    done: (page) => button(page, 'Clear filters').first(),
  },
  lane: {
    address: () => '/lane',
    content: (page) => page.getByRole('row').filter({ hasText: 'Atlanta' }).first(),
    field: (page) => page.getByRole('combobox', { name: 'Origin' }),
    type: async (page) => {
      await page.getByRole('combobox', { name: 'Origin' }).fill('Dallas, TX')
      await page.getByRole('combobox', { name: 'Destination' }).fill('Atlanta, GA')
      // Otherwise the request for suggestions could open the sign-in dialog before the click.
      await page.getByRole('option', { name: 'Atlanta, GA' }).first().waitFor()
      await page.keyboard.press('Escape')
    },
    send: press('Show lane'),
    done: (page) => page.getByRole('slider').first(),
  },
  approvals: left('/approvals', (page) => page.getByText('No requests.')),
  market: left('/market', (page) => page.getByText('No quote has a market rate')),
  account: left('/settings/account', null),
  fuel: left('/settings/fuel', (page) => page.getByRole('heading', { level: 2 }).first()),
  results: {
    address: () => '/results',
    content: (page) => page.getByLabel('Overview of the selection').getByText('Win rate'),
    field: null,
    type: async () => {},
    send: (page) => tab(page, 'Forecast quality').click(),
    done: (page) => page.getByText(/decided quotes/).first(),
  },
  customers: {
    address: () => '/customers?name=Harvest Table Foods',
    content: (page) => page.getByRole('region', { name: 'Figures of Harvest Table Foods' }),
    field: (page) => page.getByRole('textbox', { name: 'Tier' }),
    // A tier that no earlier case saved: otherwise the text would equal the saved one, and the test could not see its loss.
    type: (page) => page.getByRole('textbox', { name: 'Tier' }).fill(`B${Date.now()}`),
    send: press('Save'),
    done: (page) => page.getByText('Tier and payment terms saved.').first(),
  },
  rules: {
    address: () => '/rules',
    content: (page) => page.getByRole('button', { name: 'Add a rule' }),
    field: (page) => page.getByRole('textbox', { name: 'Customer', exact: true }),
    type: async (page) => {
      await page.getByRole('button', { name: 'Add a rule' }).click()
      await page.getByRole('textbox', { name: 'Customer', exact: true }).fill('Polar Foods')
      await page.getByRole('textbox', { name: 'Minimum margin, %' }).fill('5')
    },
    send: press('Save rule'),
    done: (page) => page.getByRole('region', { name: /^Rule \d+$/ }),
  },
  marketRates: {
    address: () => '/settings/market?origin=Chicago, IL&destination=Memphis, TN',
    content: (page) => page.getByRole('form', { name: 'Enter a market rate' }),
    field: (page) =>
      page.getByRole('form', { name: 'Enter a market rate' }).getByRole('textbox', { name: 'Source' }),
    type: async (page) => {
      const form = page.getByRole('form', { name: 'Enter a market rate' })
      await form.getByRole('textbox', { name: 'Rate' }).fill('1,310')
      await form.getByLabel('Source').fill('Phone')
    },
    send: press('Save the rate'),
    done: (page) => page.getByRole('table', { name: 'Sources of market rates' }),
  },
  integration: {
    address: () => '/settings/developers',
    content: (page) => page.getByText('No service tokens yet').or(page.getByText('McLeod')).first(),
    field: (page) => page.getByLabel('Name of the new token'),
    type: fill((page) => page.getByLabel('Name of the new token'), 'McLeod'),
    send: press('Create token'),
    done: (page) => button(page, 'I have saved it'),
    outlivesSession: true,
  },
  imports: {
    address: () => '/settings/imports',
    content: (page) => button(page, /^Choose a/),
    field: null,
    type: async (page) => {
      const [picker] = await Promise.all([
        page.waitForEvent('filechooser'),
        button(page, /^Choose a/).click(),
      ])
      const text =
        'Ship From,Ship To,Equip,Sell Rate,Quote Date,Status\n"Dallas, TX","Macon, GA",Van,2150,3/1/2026,Won\n'
      await picker.setFiles({ name: 'loads.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
      await button(page, 'Check the file').waitFor()
    },
    send: press('Check the file'),
    done: (page) => heading(page, 'Result of the check'),
  },
  team: {
    address: () => '/settings/people',
    content: (page) => page.getByLabel('Role of Olive Quay'),
    field: (page) => page.getByRole('dialog').getByLabel('Name'),
    type: async (page) => {
      await button(page, 'Invite a person').click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Name').fill('Ana Ortiz')
      await dialog.getByLabel('Email').fill(`${randomUUID()}@example.com`)
    },
    send: press('Create the invitation'),
    done: (page) => page.getByRole('dialog', { name: 'Invitation for Ana Ortiz' }),
  },
  audit: {
    address: () => '/settings/audit',
    content: (page) => page.getByRole('table').first(),
    field: null,
    type: async () => {},
    send: async (page) => {
      await page.getByLabel('What happened').selectOption('Role changed')
    },
    done: (page) => page.getByText(/No events match|No matching events/),
  },
  settings: {
    address: () => '/settings',
    content: (page) => page.getByLabel('Brokerage name'),
    field: (page) => page.getByLabel('Brokerage name'),
    type: fill((page) => page.getByLabel('Brokerage name'), 'Blue Mesa Logistics'),
    send: press('Save settings'),
    done: (page) => page.getByText('Settings saved.'),
  },
  signIn: {
    address: () => '/sign-in',
    content: null,
    field: (page) => page.getByLabel('Email'),
    type: async (page) => {
      await page.getByLabel('Email').fill(tenant.email)
      await passwordField(page).fill(tenant.password)
    },
    send: press('Sign in'),
    done: (page) => heading(page, 'Quote desk'),
    isDoorstep: true,
  },
  signUp: {
    address: () => '/sign-up',
    content: null,
    field: (page) => page.getByLabel('Your name'),
    type: async (page) => {
      await page.getByLabel('Brokerage name').fill('Blue Mesa Logistics')
      await page.getByLabel('Your name').fill('Ana Ortiz')
      await page.getByLabel('Your email').fill(`${randomUUID()}@example.com`)
      await passwordField(page).fill(password)
    },
    send: press('Create brokerage'),
    done: (page) => heading(page, 'Get started'),
    isDoorstep: true,
  },
  invitation: {
    address: async () => {
      const body = { name: 'Ana Ortiz', email: `${randomUUID()}@example.com`, role: 'member' }
      const invited = await call(app, 'POST', '/api/users', { token: tenant.owner, body })
      return `/invitation#${requireStatus('invitation', invited, 201).invitation}`
    },
    content: (page) => heading(page, /^Join /),
    field: passwordField,
    type: (page) => page.getByLabel(/Choose a password/).fill(password),
    send: press('Join'),
    done: (page) => heading(page, /Quote desk|Get started/),
    isDoorstep: true,
  },
}

/** Clicks the retry buttons that the page offers until it shows the expected content without a failure. */
async function recovered(page: Page, shown: Locator, again: (() => Promise<void>) | null): Promise<void> {
  const retry = alerts(page).getByRole('button', { name: 'Try again' }).first()
  let isSentAgain = false
  await expect
    .poll(
      async () => {
        if ((await shown.isVisible()) && !(await retry.isVisible())) return true
        if (await retry.isVisible()) await retry.click({ timeout: 1_000 }).catch(() => {})
        else if (again !== null && !isSentAgain) {
          isSentAgain = true
          // The page may already be changing to the expected content, without the button to click.
          page.setDefaultTimeout(1_000)
          await again().catch(() => {})
        }
        return false
      },
      { timeout: 20_000, intervals: [250] },
    )
    .toBe(true)
}

/** Checks that the typed text is still in its field, or in the address if it asked for another view of the page. */
async function holds(page: Page, { field }: Visit, typed: string): Promise<void> {
  if (field === null) return
  if (await field(page).isVisible()) await expect(field(page)).toHaveValue(typed)
  else await expect.poll(() => new URL(page.url()).searchParams.values().toArray()).toContain(typed)
}

async function walk(name: keyof typeof pagePaths, troubleName: TroubleName): Promise<void> {
  const visit = visits[name]
  const trouble: Trouble = troubles[troubleName]
  const person = visit.isDoorstep ? {} : { person: tenant }
  const { page } = await openWindow({ ...person, refusalsExpected: true })
  page.setDefaultTimeout(12_000)
  const address = await visit.address()
  const shown = visit.content?.(page) ?? page.getByRole('heading', { level: 1 }).first()
  const isSession = troubleName === 'the end of the session'
  await page.goto(address)
  await loaded(page)
  await shown.waitFor()

  // The page is opened during the trouble. Offline, the browser would show its own page.
  if (visit.content !== null && !isSession && troubleName !== 'a lost connection') {
    await trouble.begin(page)
    await page.reload()
    // The invitation can be accepted before its details have arrived.
    const waits = visit.isDoorstep
      ? page.getByRole('heading', { level: 1 })
      : page.locator('[aria-busy="true"]')
    await (trouble.says?.(page) ?? waits).first().waitFor()
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await trouble.end(page)
    await recovered(page, shown, null)
    await expect
      .poll(() =>
        alerts(page)
          .getByText(/reached|lost\.|Wait/)
          .count(),
      )
      .toBe(0)
    if (trouble.says === null) await page.unroute(calls)
  }

  // The trouble begins while the person works.
  await visit.type(page)
  const typed = (await visit.field?.(page).inputValue()) ?? ''
  await trouble.begin(page)
  const sent = visit.send(page)
  // A page that polls can report the trouble before the click, which then waits below a dialog.
  if (trouble.says === null) await sent
  else sent.catch(() => {})
  if (trouble.says !== null) {
    await trouble.says(page).first().waitFor()
    await holds(page, visit, typed)
  }
  await trouble.end(page)
  await recovered(page, visit.done(page), trouble.says === null ? null : () => visit.send(page))
}

const names = Object.keys(visits) as (keyof typeof pagePaths)[]
const troubleNames = Object.keys(troubles) as TroubleName[]
const troublesOf = ({ isDoorstep, outlivesSession }: Visit) =>
  troubleNames.filter((one) => one !== 'the end of the session' || !(isDoorstep ?? outlivesSession))
/** This page and these troubles are in the short list; the others are only in the long one. */
const alwaysTested = { page: 'team', troubles: ['503', 'the end of the session'] } as const
const isAlwaysTested = (page: string, trouble: TroubleName) =>
  page === alwaysTested.page && alwaysTested.troubles.some((one) => one === trouble)

test.describe('a page says what is wrong, recovers, and keeps what was typed', () => {
  for (const name of names) {
    for (const trouble of troublesOf(visits[name])) {
      const tag = isAlwaysTested(name, trouble) ? [] : '@long'
      test(`${name}: ${trouble}`, { tag }, () => walk(name, trouble))
    }
  }
})
