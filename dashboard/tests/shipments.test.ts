import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import {
  call,
  type Integration,
  type MadeTenant,
  makeIntegration,
  makePerson,
  makeTenant,
  pushUpdate,
} from '#testing/make.ts'
import { accessibilityProblems, app, expect, looks, openWindow, test } from '../testing/pages.ts'

let integration: Integration
let booked: { ref: string; origin: string; destination: string }[]

/** Quotes a van lane at $2,000 with an expected truck cost of $1,700 and returns its lane_ref. */
async function quote(tenant: MadeTenant, origin: string, destination: string, customer: string) {
  const made = await call(app, 'POST', '/api/quote-requests', {
    token: tenant.owner,
    body: {
      customer_name: customer,
      lanes: [{ origin, destination, equipment: 'V', quoted_rate: 2000, estimated_cost: 1700 }],
    },
  })
  return { ref: String(made.body.lanes[0].lane_ref), origin, destination }
}

test.beforeAll(async () => {
  integration = await makeIntegration(app)
  const { tenant } = integration
  booked = [
    await quote(tenant, 'Dallas, TX', 'Atlanta, GA', 'Harvest Table Foods'),
    await quote(tenant, 'Chicago, IL', 'Denver, CO', '=HYPERLINK("http://x.example")'),
    await quote(tenant, 'Memphis, TN', 'Laredo, TX', '<script>window.ran = true</script>'),
  ]
  await pushUpdate(app, integration, {
    lane_ref: booked[0]?.ref,
    customer_rate: 1920,
    truck_cost: 1650,
    customer_name: 'Harvest Table Foods Billing',
    carrier_name: 'Blue Mesa Trucking',
    carrier_mc: 'MC-481920',
    booked_at: '2026-03-01T14:00:00Z',
  })
  await pushUpdate(app, integration, { lane_ref: booked[1]?.ref, customer_rate: 2000, truck_cost: 2100 })
  await pushUpdate(app, integration, { lane_ref: booked[2]?.ref, customer_rate: 2300 })
})

const rowOf = (page: Page, words: string) => page.getByRole('row').filter({ hasText: words })
const totals = (page: Page) => page.getByRole('region', { name: 'Totals of the selection' })
const query = (page: Page) => new URL(page.url()).searchParams
const refOf = (index: number) => booked[index]?.ref ?? ''

test.describe('a cancelled booking', () => {
  test('stays in the list with a label, is in no total, and its history names the rule', {
    tag: '@long',
  }, async () => {
    const own = await makeIntegration(app)
    const { ref } = await quote(own.tenant, 'Dallas, TX', 'Atlanta, GA', 'Harvest Table Foods')
    const at = Math.floor(app.now / 1000)
    await pushUpdate(app, own, { lane_ref: ref, customer_rate: 1920, truck_cost: 1650 }, at - 2)
    await pushUpdate(app, own, { lane_ref: ref, cancelled: true, cancel_reason: 'No truck' }, at - 1)
    const { page, troubles } = await openWindow({ person: own.tenant })
    await page.goto('/shipments')
    const row = rowOf(page, ref)
    await row.getByText('Booking cancelled').waitFor()
    await expect(totals(page)).toContainText('1 cancelled, not counted')
    await row.getByRole('button', { name: 'Dallas, TX' }).first().click()
    const record = page.getByRole('dialog')
    await record.getByText(': No truck').waitFor()
    await record
      .getByText('Pending, because the booking was cancelled; before: won, set by the TMS')
      .waitFor()
    await record.getByText('Won, because the TMS booked it; before: pending.').waitFor()
    await page.goto(`/quotes?lane=${ref}`)
    expect(await accessibilityProblems(page)).toEqual([])
    expect(troubles).toEqual([])
    await page.context().close()
  })
})

test.describe('the list', () => {
  test('shows a booking from the TMS with its margin and its quote', async () => {
    const { page, troubles } = await openWindow({ person: integration.tenant })
    await page.goto('/shipments')
    const row = rowOf(page, refOf(0))
    await row.waitFor()
    const text = await row.innerText()
    for (const words of [
      'Dallas, TX → Atlanta, GA',
      'Harvest Table Foods Billing',
      'quoted for Harvest Table Foods',
      'Blue Mesa Trucking',
      'MC-481920',
      '$1,920',
      '$1,650',
      '$270',
      '14.1%',
      '−$80 below',
      'quoted $2,000',
      'Mar 1, 2026',
    ]) {
      expect(text).toContain(words)
    }
    await expect(rowOf(page, refOf(1))).toContainText('= as quoted')
    await expect(rowOf(page, refOf(1))).toContainText('−$100')
    await expect(rowOf(page, refOf(2))).toContainText('+$300 above')
    await row.getByRole('button', { name: `Copy quote number ${refOf(0)}` }).click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(refOf(0))
    expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false)
    expect(troubles).toEqual([])
  })

  test('shows the API’s totals of the selection', async () => {
    const { page } = await openWindow({ person: integration.tenant })
    await page.goto('/shipments?period=all')
    await rowOf(page, refOf(0)).waitFor()
    const answer = await call(app, 'GET', '/api/shipments', { token: integration.tenant.owner })
    expect(answer.body.totals).toMatchObject({ shipments: 3, margin: 170, landed_vs_quoted: -430 })
    const text = await totals(page).innerText()
    const amount = (value: number) => `$${Math.abs(value).toLocaleString('en-US')}`
    const { customer_rate, truck_cost, margin, quoted_margin, landed_vs_quoted } = answer.body.totals
    for (const value of [customer_rate, truck_cost, margin, quoted_margin, landed_vs_quoted]) {
      expect(text).toContain(amount(value))
    }
    expect(text).toContain(`${answer.body.totals.margin_pct}% of AR, over 2 with AR and AP`)
    expect(text).toContain('less than quoted, over 2 shipments')
  })

  test('has filters, sort order and period in the URL', { tag: '@long' }, async () => {
    const { page } = await openWindow({ person: integration.tenant })
    await page.goto('/shipments')
    await rowOf(page, refOf(0)).waitFor()
    await page.getByRole('combobox', { name: 'Origin' }).fill('Dallas, TX')
    await rowOf(page, refOf(1)).waitFor({ state: 'detached' })
    expect(query(page).get('origin')).toBe('Dallas, TX')
    await expect(totals(page)).toContainText('$1,920')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await rowOf(page, refOf(1)).waitFor()
    expect(query(page).has('origin')).toBe(false)
    await expect(page.getByRole('combobox', { name: 'Origin' })).toHaveValue('')
    await page.getByRole('button', { name: 'Margin' }).click()
    await page.waitForURL(/sort=margin_high/)
    await page.getByRole('button', { name: /^Margin/ }).click()
    await page.waitForURL(/sort=margin_low/)
    await page.reload()
    await rowOf(page, refOf(1)).waitFor()
    await expect(page.getByRole('row').nth(1)).toContainText(refOf(1))
    await page.getByLabel('Quoted in').selectOption('Last month')
    await page.getByText('No shipments were quoted in this period').waitFor()
    expect(query(page).get('period')).toBe('last-month')
    await page.getByRole('button', { name: 'Show all time' }).click()
    await rowOf(page, refOf(1)).waitFor()
    await page.getByLabel('Quoted in').selectOption('Custom dates')
    await page.getByLabel('First day').fill('2026-05-02')
    await page.getByLabel('Last day').fill('2026-05-01')
    await page.getByText('The last day is before the first day').waitFor()
    await page.goBack()
    await page.goForward()
    expect(query(page).get('period')).toBe('custom')
  })

  test('goes to the next page and back', { tag: '@long' }, async () => {
    const { page } = await openWindow({ person: integration.tenant })
    await page.route('**/api/shipments?**', async (route) => {
      const url = new URL(route.request().url())
      url.searchParams.set('limit', '2')
      await route.continue({ url: url.href })
    })
    await page.goto('/shipments')
    await page.getByText('Page 1: 2 of 3 shipments').waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('Page 2: 1 of 3 shipments').waitFor()
    expect(query(page).get('cursor')).not.toBeNull()
    await page.getByRole('button', { name: 'Previous page' }).click()
    await page.getByText('Page 1: 2 of 3 shipments').waitFor()
  })

  test('is exported as CSV with the same filters and escaped formulas', { tag: '@long' }, async () => {
    const { page } = await openWindow({ person: integration.tenant })
    await page.goto('/shipments?q=Denver')
    await rowOf(page, refOf(1)).waitFor()
    await rowOf(page, refOf(0)).waitFor({ state: 'detached' })
    const saved = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export CSV' }).click()
    const file = await readFile(await (await saved).path(), 'utf8')
    const lines = file.trim().split('\r\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain(refOf(1))
    expect(lines[1]).toContain(`"'=HYPERLINK(""http://x.example"")"`)
  })

  test('explains how bookings get here while there are none', { tag: '@long' }, async () => {
    const tenant = await makeTenant(app)
    const viewer = await makePerson(app, tenant, 'viewer')
    const owned = await openWindow({ person: tenant })
    await owned.page.goto('/shipments')
    await owned.page.getByText('No shipments yet').waitFor()
    await owned.page.getByRole('link', { name: 'Connect the TMS' }).waitFor()
    await owned.page.getByRole('link', { name: 'Import past bookings' }).waitFor()
    const viewed = await openWindow({ person: viewer })
    await viewed.page.goto('/shipments')
    await viewed.page.getByText('An admin of your brokerage connects the TMS').waitFor()
    await expect(viewed.page.getByRole('link', { name: 'Connect the TMS' })).toHaveCount(0)
  })
})

test.describe('the record of a shipment', () => {
  test('is opened by keyboard, and lets an admin roll back a booking', async () => {
    const { tenant } = integration
    const lane = await quote(tenant, 'Omaha, NE', 'Tulsa, OK', 'Rollback Foods')
    await pushUpdate(app, integration, { lane_ref: lane.ref, customer_rate: 2100, truck_cost: 1800 })
    await pushUpdate(
      app,
      integration,
      { lane_ref: lane.ref, truck_cost: 1950 },
      Math.floor(app.now / 1000) + 1,
    )
    const { page } = await openWindow({ person: tenant })
    await page.goto('/shipments?customer=Rollback+Foods')
    await page.getByRole('button', { name: /details and changes/ }).focus()
    await page.keyboard.press('Enter')
    const record = page.getByRole('dialog', { name: `Shipment ${lane.ref}` })
    await record.getByText('$150 · 7.1%').waitFor()
    expect(query(page).get('shipment')).toBe(lane.ref)
    await record
      .getByRole('button', { name: /^Roll back/ })
      .first()
      .click()
    const asked = page.getByRole('dialog', { name: /^Roll back change/ })
    await asked.getByRole('button', { name: /^Roll back change/ }).click()
    await record.getByText('$300 · 14.3%').waitFor()
    await page.keyboard.press('Escape')
    await record.waitFor({ state: 'hidden' })
    await totals(page).getByText('$1,800').waitFor()
    await expect(rowOf(page, lane.ref)).toContainText('14.3%')
  })

  test('shows viewers the changes without rollback', { tag: '@long' }, async () => {
    const viewer = await makePerson(app, integration.tenant, 'viewer')
    const { page } = await openWindow({ person: viewer })
    await page.goto(`/shipments?shipment=${refOf(0)}`)
    const record = page.getByRole('dialog', { name: `Shipment ${refOf(0)}` })
    await record.getByText('TMS, over the API').waitFor()
    await record.getByText('Admins of your brokerage can roll back changes').waitFor()
    await expect(record.getByRole('button', { name: /^Roll back/ })).toHaveCount(0)
  })
})

test.describe('a failure', () => {
  test('is shown in the place of the list, with what to do', { tag: '@long' }, async () => {
    const { page } = await openWindow({
      person: integration.tenant,
      refusalsExpected: true,
    })
    let isDown = true
    await page.route('**/api/shipments?**', (route) => (isDown ? route.abort() : route.continue()))
    await page.goto('/shipments')
    await page.getByText('The shipments could not be loaded').waitFor()
    isDown = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await rowOf(page, refOf(0)).waitFor()
    await page.goto('/shipments?origin=Dallas')
    await page.getByRole('alert').getByText('origin must be a city with its state').waitFor()
  })
})

test.describe('accessibility', () => {
  for (const { colorScheme, width } of looks)
    test(`${colorScheme}, ${width} pixels wide`, { tag: '@long' }, async () => {
      const { page } = await openWindow({ person: integration.tenant, colorScheme, width })
      await page.goto('/shipments')
      await rowOf(page, refOf(0)).waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      await page.goto(`/shipments?shipment=${refOf(0)}`)
      await page.getByText('TMS, over the API').waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
    })
})
