import { randomUUID } from 'node:crypto'
import type { Page } from '@playwright/test'
import {
  call,
  makeIntegration,
  makePerson,
  makeQuote,
  makeTenant,
  password,
  pushUpdate,
} from '#testing/make.ts'
import { has, run } from '../../checks/page.ts'
import { accessibilityProblems, app, expect, looks, openWindow, test } from '../testing/pages.ts'

const lanePath = '/api/integrations/insights/lane?origin=Dallas,%20TX&destination=Atlanta,%20GA'

test.beforeAll(async () => {
  // The first read of a process loads its places, which must not count toward the measured time.
  const { token, tenant } = await makeIntegration(app)
  await makeQuote(app, tenant)
  await call(app, 'GET', lanePath, { token })
})

const step = (page: Page, title: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title, exact: true }) })

async function isDone(page: Page, title: string): Promise<void> {
  await step(page, title).getByText('Done', { exact: true }).waitFor()
}

test.describe('get started', () => {
  test('has four steps for people; the page for developers leads to the first API call', async () => {
    const { page, troubles } = await openWindow()
    await page.goto('/sign-up')
    await page.getByLabel('Brokerage name').fill('Blue Mesa Logistics')
    await page.getByLabel('Your name').fill('Ana Ortiz')
    await page.getByLabel('Your email').fill(`${randomUUID()}@example.com`)
    await page.getByRole('textbox', { name: 'Password' }).fill(password)
    await page.getByRole('button', { name: 'Create brokerage' }).click()
    await page.getByText('0 of 4 done. Next: import past quotes.').waitFor()
    await page
      .getByRole('link', { name: /Get started/ })
      .getByLabel('4 steps left')
      .waitFor()

    await expect(page.getByRole('listitem').getByRole('heading')).toHaveText([
      'Import past quotes',
      'Quote a lane',
      'Mark a quote won or lost',
      'Invite your team',
    ])

    await page.goto('/integration')
    await page.getByText('0 of 4 done. Next: create a service token.').waitFor()
    await page.getByRole('link', { name: 'Show the steps' }).click()
    await step(page, 'Create a service token').getByRole('link', { name: 'Create a token' }).click()
    await page.getByLabel('Name of the new token').fill('First')
    await page.getByRole('button', { name: 'Create token' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save this service token now' })
    const token = (await dialog.locator('code').textContent()) ?? ''
    await dialog.getByRole('button', { name: 'I have saved it' }).click()
    await page.getByRole('tab', { name: 'First steps' }).click()
    await isDone(page, 'Create a service token')

    const read = step(page, 'Make your first API call')
    const lines = (await read.getByRole('region', { name: 'First API call' }).textContent()) ?? ''
    const pasted = `${lines.replace('put the service token here', token)}\n`
    const printed = has('curl')
      ? (await run('bash', ['-euo', 'pipefail'], { input: pasted })).output
      : `HTTP ${(await call(app, 'GET', lanePath, { token })).status}`
    expect(printed).toContain('HTTP 200')
    // The page polls while the user works in the terminal.
    await isDone(page, 'Make your first API call')
    await expect(read.getByRole('region')).toHaveCount(0)
    expect(troubles).toEqual([])
  })

  test('marks each step as done after its action, and reports when all are done', {
    tag: '@long',
  }, async () => {
    const integration = await makeIntegration(app)
    const { tenant } = integration
    const { page } = await openWindow({ person: tenant })
    await page.goto('/start')
    await page.getByText('0 of 4 done').waitFor()
    const quote = await makeQuote(app, tenant, { outcome: 'lost' })
    await isDone(page, 'Mark a quote won or lost')
    await isDone(page, 'Quote a lane')
    await page.goto('/integration?tab=steps')
    await page.getByText('2 of 4 done').waitFor()
    await expect(step(page, 'Send your first booking').getByText('To do')).toHaveCount(1)
    await call(app, 'GET', lanePath, { token: integration.token })
    await isDone(page, 'Make your first API call')
    await pushUpdate(app, integration, { lane_ref: quote.lane_ref, customer_rate: 2100 })
    await page.getByText('All steps are done.').waitFor()
    // The credentials then have no bar above them.
    await page.getByRole('tab', { name: 'Credentials' }).click()
    await page.getByLabel('Name of the new token').waitFor()
    await expect(page.getByRole('region', { name: 'Steps' })).toHaveCount(0)
    await page.goto('/start')
    await makePerson(app, tenant, 'viewer')
    const imported = await fetch(`${app.url}/api/imports?file_name=past.csv`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
      body: 'customer_name,origin,destination,equipment,quoted_rate,outcome,quoted_at\nAcme,"Dallas, TX","Atlanta, GA",V,2000,won,2026-01-05\n',
    })
    expect(imported.status).toBe(202)
    await page.getByText('All done.').waitFor()
    await page.getByRole('link', { name: /Get started/ }).waitFor({ state: 'detached' })
  })

  test('can be hidden from the menu and shown again', { tag: '@long' }, async () => {
    const { page } = await openWindow({ person: await makeTenant(app) })
    await page.goto('/start')
    const link = page.getByRole('link', { name: /Get started/ })
    await link.waitFor()
    await page.getByRole('button', { name: 'Hide from menu' }).click()
    await link.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('button', { name: 'Show in menu' }).click()
    await link.waitFor()
  })

  test('offers a viewer no step that needs a higher role', { tag: '@long' }, async () => {
    const viewer = await makePerson(app, await makeTenant(app), 'viewer')
    const { page, troubles } = await openWindow({ person: viewer })
    await page.goto('/start')
    // A viewer was invited.
    await isDone(page, 'Invite your team')
    for (const title of ['Import past quotes', 'Quote a lane', 'Mark a quote won or lost']) {
      await step(page, title).getByText('Your role is read-only').waitFor()
    }
    await expect(page.getByRole('listitem').getByRole('link')).toHaveCount(0)
    expect(troubles).toEqual([])
  })

  test('reports that the service is unavailable, and retries on click', { tag: '@long' }, async () => {
    const { page } = await openWindow({
      person: await makeTenant(app),
      refusalsExpected: true,
    })
    await page.route('**/api/first-steps', (route) => route.abort())
    await page.goto('/start')
    const alert = page.getByRole('alert', { name: 'The steps could not be loaded' })
    await alert.waitFor()
    await page.unrouteAll()
    await alert.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('0 of 4 done').waitFor()
  })

  for (const options of looks)
    test(`is accessible in ${options.colorScheme} at ${options.width} pixels`, { tag: '@long' }, async () => {
      const { page, troubles } = await openWindow({
        ...options,
        person: await makeTenant(app),
      })
      await page.goto('/start')
      await page.getByText('0 of 4 done').waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      await page.goto('/integration?tab=steps')
      await page.getByRole('region', { name: 'First API call' }).waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(options.width)
      expect(troubles).toEqual([])
    })
})
