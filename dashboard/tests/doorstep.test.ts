import { randomUUID } from 'node:crypto'
import type { Page } from '@playwright/test'
import { makePerson, makeQuote, makeTenant, password } from '#testing/make.ts'
import { app, expect, loaded, openWindow, test } from '../testing/pages.ts'

test.describe('sign-up', () => {
  test('creates a brokerage and opens the first steps', async () => {
    const { page, troubles } = await openWindow({ refusalsExpected: true })
    await page.goto('/')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByRole('link', { name: 'Create a brokerage' }).click()
    await expect(page.getByLabel('Brokerage name')).toBeFocused()
    await page.getByLabel('Brokerage name').fill('Blue Mesa Logistics')
    await page.getByLabel('Your name').fill('Ana Ortiz')
    await page.getByLabel('Your email').fill(`${randomUUID()}@example.com`)
    await page.getByRole('textbox', { name: 'Password' }).fill('short')
    await page.getByRole('button', { name: 'Create brokerage' }).click()
    await page.getByText('Must be 15 to 128 characters long').waitFor()
    await page.getByRole('textbox', { name: 'Password' }).fill(password)
    await page.getByRole('button', { name: 'Create brokerage' }).click()
    await page.getByRole('heading', { name: 'Get started' }).waitFor()
    await expect(page).toHaveURL((url) => url.pathname === '/start')
    // The brokerage has the zone of the test's browser.
    const me = await (await page.request.get('/api/me')).json()
    expect(me.tenant.time_zone).toBe('America/Chicago')
    expect(troubles).toEqual([])
  })
})

test.describe('sign-in', () => {
  test('returns to the requested page, and reports failures', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow()
    await page.goto('/settings/people')
    await page.getByLabel('Email').fill(tenant.email)
    await page.getByRole('textbox', { name: 'Password' }).fill('not the password at all')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('Not signed in').waitFor()
    await page.getByRole('textbox', { name: 'Password' }).fill(tenant.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expect(page.getByRole('heading', { name: 'People and teams', level: 1 })).toBeFocused()
    await expect(page).toHaveURL((url) => url.pathname === '/settings/people')
  })

  test('never redirects to another site, whatever the address contains', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow()
    await page.goto('/sign-in?next=//elsewhere.example/')
    await page.getByLabel('Email').fill(tenant.email)
    await page.getByRole('textbox', { name: 'Password' }).fill(tenant.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Quote desk', level: 1 }).waitFor()
    await expect(page).toHaveURL(`${app.url}/`)
  })

  test('reports a browser that saves no session, instead of asking for the password again', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ refusalsExpected: true })
    // Simulates plain HTTP from another machine: the next call has no cookie.
    await page.route('**/api/me', async (route) => {
      const answer = await fetch(`${app.url}/api/me`)
      await route.fulfill({
        status: answer.status,
        contentType: answer.headers.get('Content-Type') ?? '',
        body: await answer.text(),
      })
    })
    await page.goto('/sign-in')
    await page.getByLabel('Email').fill(tenant.email)
    await page.getByRole('textbox', { name: 'Password' }).fill(tenant.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText(/your browser did not save the session/).waitFor()
    await expect(page).toHaveURL((url) => url.pathname === '/sign-in')
  })

  test('ends with sign-out: Back shows the sign-in page', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant })
    await page.goto('/')
    await page.getByRole('button', { name: /your account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeFocused()
    await page.goto('/quotes')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })
})

test.describe('the keyboard', () => {
  const skipLink = (page: Page) => page.getByRole('link', { name: 'Skip to main content' })
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })

  /** Holds the requests of an address back until `release` is called. `isHeld` resolves with the first one. */
  async function heldBack(page: Page, address: string) {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const isHeld = page.waitForRequest(address)
    await page.route(address, async (route) => {
      await promise
      await route.continue()
    })
    return { isHeld, release }
  }

  /** Goes to a page of the menu with the keyboard alone. */
  async function choose(page: Page, name: string): Promise<void> {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).focus()
    await page.keyboard.press('Enter')
  }

  test('starts a visit at the skip link, and moves the focus to each page chosen in the menu', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant })
    await page.goto('/customers?name=Harvest Table Foods')
    await loaded(page)
    await page.keyboard.press('Tab')
    await expect(skipLink(page)).toBeFocused()
    // The list has the same path as the page of a customer.
    for (const name of ['Customers', 'Results', 'Customers']) {
      await choose(page, name)
      await expect(heading(page, name)).toBeFocused()
    }
  })

  for (const { missing, address, alone } of [
    { missing: 'session is known', address: '**/api/me', alone: false },
    // A window that was used before may have the code in memory.
    { missing: 'code of the first page has arrived', address: '**/assets/team-*.js', alone: true },
  ]) {
    test(`moves the focus to a page chosen before the ${missing}`, async () => {
      const tenant = await makeTenant(app)
      const { page } = await openWindow({ person: tenant, alone })
      const { isHeld, release } = await heldBack(page, address)
      await page.goto('/settings/people')
      await isHeld
      await choose(page, 'Customers')
      await page.waitForURL('**/customers')
      release()
      await expect(heading(page, 'Customers')).toBeFocused()
    })

    test(`stays at the skip link that had the focus before the ${missing}`, async () => {
      const tenant = await makeTenant(app)
      const { page } = await openWindow({ person: tenant, alone })
      const { isHeld, release } = await heldBack(page, address)
      await page.goto('/settings/people')
      await isHeld
      await skipLink(page).waitFor({ state: 'attached' })
      await page.keyboard.press('Tab')
      await expect(skipLink(page)).toBeFocused()
      release()
      // The page sets its title when it decides about the focus.
      await expect(page).toHaveTitle('People and teams – Lanewise')
      await expect(skipLink(page)).toBeFocused()
    })
  }

  test('starts at the skip link of a quote, too, which has another heading when its answer arrives', async () => {
    const tenant = await makeTenant(app)
    const { lane_ref } = await makeQuote(app, tenant)
    const { page } = await openWindow({ person: tenant })
    await page.goto(`/quotes/${lane_ref}`)
    await expect(page).toHaveTitle('Dallas, TX → Atlanta, GA – Lanewise')
    await page.keyboard.press('Tab')
    await expect(skipLink(page)).toBeFocused()
  })

  test('goes on at the heading after a retry, whose button is gone', async () => {
    const tenant = await makeTenant(app)
    const { lane_ref } = await makeQuote(app, tenant)
    const { page } = await openWindow({ person: tenant, refusalsExpected: true })
    const answer = `**/api/lanes/${lane_ref}`
    await page.route(answer, (route) => route.fulfill({ status: 500, body: 'no' }))
    await page.goto(`/quotes/${lane_ref}`)
    const retry = page
      .getByRole('alert')
      .filter({ hasText: 'The quote could not be loaded' })
      .getByRole('button')
    await retry.focus()
    await page.unroute(answer)
    await page.keyboard.press('Enter')
    await expect(heading(page, 'Dallas, TX → Atlanta, GA')).toBeFocused()
  })
})

test.describe('a session that ends while a page is open', () => {
  test('is renewed without leaving the page', async () => {
    const tenant = await makeTenant(app)
    const { page, context } = await openWindow({ person: tenant })
    await page.goto('/')
    await page.getByRole('heading', { name: 'Quote desk', level: 1 }).waitFor()
    // The last link of the menu is there when all answers have arrived.
    await page.getByRole('link', { name: /Get started/ }).waitFor()
    await context.clearCookies()
    await page.getByRole('link', { name: 'Customers' }).click()
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByRole('textbox', { name: 'Password' }).fill(tenant.password)
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('heading', { name: 'Customers', level: 1 }).waitFor()
  })
})

test.describe('pages', () => {
  test('a mistyped address shows a page, with status 404', async () => {
    const { page } = await openWindow()
    const answer = await page.goto('/shipmints')
    expect(answer?.status()).toBe(404)
    await page.getByText('Page not found').waitFor()
    expect((await fetch(`${app.url}/shipmints`)).headers.get('Content-Type')).toContain('problem+json')
  })

  test('a viewer sees no links to admin pages', async () => {
    const tenant = await makeTenant(app)
    const viewer = await makePerson(app, tenant, 'viewer')
    const { page } = await openWindow({ person: viewer })
    await page.goto('/')
    // The links that depend on the role come with the session.
    await page.getByRole('button', { name: /your account/ }).waitFor()
    for (const name of ['Settings', 'Pricing rules']) {
      await expect(page.getByRole('link', { name, exact: true })).toHaveCount(0)
    }
  })
})
