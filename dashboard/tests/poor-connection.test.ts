import type { Page } from '@playwright/test'
import { makeTenant } from '#testing/make.ts'
import { app, expect, loaded, openWindow, test } from '../testing/pages.ts'

async function openDesk() {
  const tenant = await makeTenant(app)
  const person = { email: tenant.email, password: tenant.password }
  const window = await openWindow({ person, refusalsExpected: true })
  await window.page.goto('/')
  await loaded(window.page)
  return window
}

/** The texts of elements with their places on the page, in pixels. */
async function placesOfText(page: Page, selector: string): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => {
    const range = document.createRange()
    range.selectNodeContents(element)
    const { x, y, width, height } = range.getBoundingClientRect()
    return element.textContent + ' at ' + [x, y, width, height].map(Math.round).join(' ')
  })`)
}

test.describe('a click on a link, while the code of the next page is still on its way,', () => {
  for (const { what, path, type } of [
    {
      what: 'a rate typed on the desk',
      path: '/',
      type: async (page: Page) => {
        await page.getByRole('combobox', { name: 'Origin' }).fill('Dallas, TX')
        await page.getByRole('combobox', { name: 'Destination' }).fill('Atlanta, GA')
        await page.getByLabel('Rate', { exact: true }).fill('2150')
      },
    },
    {
      what: 'a search typed on the list of quotes',
      path: '/quotes',
      type: (page: Page) => page.getByRole('searchbox', { name: 'Search quotes' }).fill('acme'),
    },
  ])
    test(`is not undone by ${what}`, async () => {
      const tenant = await makeTenant(app)
      const { page } = await openWindow({ person: tenant, alone: true })
      await page.clock.install()
      await page.goto(path)
      await loaded(page)
      const arrived = Promise.withResolvers<void>()
      await page.route('**/assets/*.js', async (route) => {
        await arrived.promise
        await route.continue()
      })
      await page.clock.pauseAt(Date.now() + 3_600_000)
      await type(page)
      await page.getByRole('link', { name: 'Customers', exact: true }).click()
      await page.waitForURL('**/customers')
      await page.clock.runFor(2_000)
      arrived.resolve()
      await page.getByRole('heading', { name: 'Customers', level: 1 }).waitFor()
      await expect(page).toHaveURL((url) => url.pathname === '/customers')
    })
})

test.describe('without a connection', () => {
  test('a failed save is reported at once, is not retried in the background, and works on retry', async () => {
    const { page, context } = await openDesk()
    await page.getByRole('combobox', { name: 'Customer' }).fill('Blue Mesa Foods')
    await page.getByRole('combobox', { name: 'Origin' }).fill('Dallas, TX')
    await page.getByRole('combobox', { name: 'Destination' }).fill('Atlanta, GA')
    await page.getByLabel('Rate', { exact: true }).fill('2150')
    await context.setOffline(true)
    let saves = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/api/quote-requests')) saves += 1
    })
    await page.keyboard.press('Control+Enter')
    const alert = page
      .getByRole('alert')
      .filter({ hasText: 'Not saved. Everything you typed is still here.' })
    await alert.waitFor()
    await context.setOffline(false)
    await page.waitForTimeout(500)
    expect(saves).toBe(1)
    await alert.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
    await context.close()
  })

  test('a page reports it instead of waiting', async () => {
    const { page, context } = await openDesk()
    // The code of the page is loaded, its data is not.
    const script = page.waitForEvent('requestfinished', (request) =>
      /\/customers-[^/]*\.js$/.test(request.url()),
    )
    await page.getByRole('link', { name: 'Customers' }).hover()
    await script
    await context.setOffline(true)
    await page.getByRole('link', { name: 'Customers' }).click()
    await page.getByRole('alert').getByText('The service cannot be reached').first().waitFor()
    await page.getByRole('heading', { name: 'Customers' }).waitFor()
    await context.close()
  })

  test('a page whose code is not loaded reports it too, and loads when the connection is back', async () => {
    const { page, context } = await openDesk()
    await context.setOffline(true)
    await page.getByRole('link', { name: 'Customers' }).click()
    const alert = page.getByRole('alert').filter({ hasText: 'The service cannot be reached' })
    await alert.waitFor()
    await context.setOffline(false)
    await alert.getByRole('button').click()
    await page.getByRole('heading', { name: 'Customers' }).waitFor()
    await context.close()
  })
})

test.describe('a slow service', () => {
  for (const [visit, isLater] of [
    ['the first visit of a browser', false],
    ['a later visit', true],
  ])
    test(`on ${visit}, frame and heading appear before any script, then before any answer, and nothing in the menu moves`, async () => {
      const tenant = await makeTenant(app)
      const { page } = await openWindow({ person: tenant, alone: true })
      if (isLater) {
        await page.goto('/settings/people')
        await page.getByRole('link', { name: /Get started/ }).waitFor()
      }
      await page.addInitScript(`
      window.menuShifts = []
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
          for (const { node } of entry.sources)
            if ((node instanceof Element ? node : node?.parentElement)?.closest('nav')) menuShifts.push(node.textContent)
      }).observe({ type: 'layout-shift', buffered: true })`)
      let answer = () => {}
      const held = new Promise<void>((release) => {
        answer = release
      })
      await page.route('**/api/**', async (route) => {
        await held
        await route.continue()
      })
      let runScripts = () => {}
      const scriptsHeld = new Promise<void>((release) => {
        runScripts = release
      })
      await page.route('**/assets/*.js', async (route) => {
        await scriptsHeld
        await route.continue()
      })
      await page.goto('/shipments', { waitUntil: 'commit' })
      await page.locator('#outline').getByText('Results').waitFor()
      // The browser paints with the styles only; a measurement before they are loaded would compute a page without them.
      const isStyled = `[...document.querySelectorAll('link[rel=stylesheet]')].every((link) => link.sheet !== null)`
      await expect.poll(() => page.evaluate(isStyled)).toBe(true)
      const outlined = await placesOfText(page, '.outline-menu > div, .outline-heading')
      runScripts()
      await page.getByRole('heading', { name: 'Shipments', level: 1 }).waitFor()
      await page.getByRole('status', { name: /^Loading/ }).waitFor()
      await page.locator('#outline').waitFor({ state: 'detached' })
      const drawn = await placesOfText(page, 'nav[aria-label="Pages"] .mantine-NavLink-label, h1')
      expect(outlined.length).toBeGreaterThan(6)
      expect(drawn).toEqual(expect.arrayContaining(outlined))
      const menu = page.getByRole('navigation', { name: 'Pages' })
      const places = () =>
        menu
          .getByRole('link')
          .evaluateAll((links) => links.map((link) => [link.textContent, link.getBoundingClientRect().y]))
      const before = await places()
      expect(before.length).toBeGreaterThan(5)
      answer()
      await menu.getByRole('link', { name: /Get started/ }).waitFor()
      await menu.getByRole('link', { name: 'Settings' }).waitFor()
      expect((await places()).slice(0, before.length)).toEqual(before)
      expect(await page.evaluate('menuShifts')).toEqual([])
    })
})

test.describe('a proxy that asks for a long wait', () => {
  test('is reported at once with the seconds, without an earlier retry', async () => {
    const { page, context } = await openDesk()
    let asked = 0
    await page.route('**/api/lanes?**', (route) => {
      // Does not count requests of the notices, which have filters of their own.
      if (!/[?&](finding|pending_days)=/.test(route.request().url())) asked += 1
      return route.fulfill({
        status: 429,
        headers: { 'Retry-After': '90' },
        contentType: 'text/html',
        body: 'no',
      })
    })
    await page.getByRole('link', { name: 'Quotes' }).click()
    const wait = page.getByRole('alert').getByText(/Wait \d+ s, then try again\./)
    const seconds = async () => Number(/Wait (\d+) s/.exec((await wait.textContent()) ?? '')?.[1])
    await wait.waitFor()
    const first = await seconds()
    expect(first).toBeGreaterThan(30)
    expect(first).toBeLessThanOrEqual(90)
    await expect.poll(seconds).toBeLessThan(first)
    expect(asked).toBe(1)
    await context.close()
  })
})
