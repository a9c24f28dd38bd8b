import { randomUUID } from 'node:crypto'
import { makePerson, makeTenant, password } from '#testing/make.ts'
import { app, expect, openWindow, test } from '../testing/pages.ts'

test.describe('sign-up', () => {
  test('creates a brokerage and opens the first steps', async () => {
    const { page, troubles } = await openWindow({ refusalsExpected: true })
    await page.goto('/')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByRole('link', { name: 'Create a brokerage' }).click()
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
    await page.getByRole('heading', { name: 'People and teams', level: 1 }).waitFor()
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
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goto('/quotes')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })
})

test.describe('the keyboard', () => {
  test('starts a visit at the skip link, and moves the focus to the page chosen in the menu', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant })
    await page.goto('/quotes')
    await page.getByRole('heading', { name: 'Quotes', level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    const focused = () => page.evaluate<string>('document.activeElement.textContent')
    expect(await focused()).toBe('Skip to main content')
    await page.getByRole('link', { name: 'Customers' }).focus()
    await page.keyboard.press('Enter')
    const heading = page.getByRole('heading', { name: 'Customers', level: 1 })
    // The link has the same text, so the test looks at the element.
    await heading.and(page.locator(':focus')).waitFor()
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
    await page.getByRole('link', { name: 'Quotes' }).waitFor()
    for (const name of ['Settings', 'Pricing rules']) {
      await expect(page.getByRole('link', { name, exact: true })).toHaveCount(0)
    }
  })
})
