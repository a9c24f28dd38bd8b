import { expect, test } from 'vitest'
import { makeLane, makeTenant } from '#testing/make.ts'
import { accessibilityProblems, openWindow } from '../testing/browser.ts'
import { serviceAndBrowser } from '../testing/service-and-browser.ts'

const { app, browser } = await serviceAndBrowser()

test('a customer is found, gets terms, and takes in another name, which can be undone at once or later', async () => {
  const tenant = await makeTenant(app)
  await makeLane(app, tenant, { customer: 'Harvest Foods', outcome: 'won' })
  await makeLane(app, tenant, { customer: 'Harvest Foods', outcome: 'lost' })
  await makeLane(app, tenant, { customer: 'Harvest Foods, Inc.', outcome: 'won' })
  await makeLane(app, tenant, { customer: 'Polar', outcome: 'won' })
  const { page, troubles } = await openWindow(browser, app.url, { person: tenant, refusalsExpected: true })
  await page.goto('/customers')
  await page.getByLabel('Search', { exact: true }).fill('harvest')
  await page.getByText('2 customers').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('link', { name: 'Harvest Foods', exact: true }).click()

  const figures = page.getByRole('region', { name: 'Figures of Harvest Foods' })
  await figures.getByText(/1 of 2 decided; 80% range/).waitFor()
  await page.getByRole('textbox', { name: 'Tier' }).fill('A')
  await page.getByRole('textbox', { name: 'Pays in days' }).fill('soon')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/^Must be a whole number/).waitFor()
  await page.getByRole('textbox', { name: 'Pays in days' }).fill('30')
  await page.keyboard.press('Enter')
  await page.getByText(/^Tier A, pays in 30 days/).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])

  await page.getByRole('link', { name: 'All customers' }).click()
  await page.getByRole('tab', { name: 'Similar names' }).click()
  const merge = page.getByRole('button', { name: 'Merge into Harvest Foods: Harvest Foods, Inc.' })
  await merge.waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await merge.click()
  await page.getByText('No similar names').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await merge.click()
  await page.getByText('No similar names').waitFor()

  // The merged name leads to the customer that it counts for.
  await page.goto(`/customers?name=${encodeURIComponent('harvest foods, inc.')}`)
  await figures.getByText(/2 of 3 decided; 80%/).waitFor()
  await page.getByRole('button', { name: 'Unmerge Harvest Foods, Inc.' }).click()
  await page.getByRole('heading', { name: 'Harvest Foods, Inc.', level: 1 }).waitFor()
  await page
    .getByText(/1 of 1 decided/)
    .first()
    .waitFor()
  await page.getByRole('link', { name: '1 won' }).click()
  await page.getByRole('heading', { name: 'Quotes', level: 1 }).waitFor()
  await page.getByRole('row').filter({ hasText: 'Harvest Foods, Inc.' }).first().waitFor()
  expect(troubles).toEqual([])
})
