import { call, makeTenant } from '#testing/make.ts'
import { accessibilityProblems, app, expect, openWindow, test } from '../testing/pages.ts'

test('a rule has the usual fields in the open; one that is wrong or has a value is shown', async () => {
  const tenant = await makeTenant(app)
  const { page } = await openWindow({ person: tenant, width: 1366, height: 657 })
  await page.goto('/rules')
  await page.getByRole('button', { name: 'Add a rule' }).click()
  const rarely = page.getByLabel('Maximum margin, %')
  await expect(rarely).toBeHidden()
  await expect(page.getByRole('button', { name: 'Save rule' })).toBeInViewport()
  await page.getByLabel('Customer', { exact: true }).fill('Harbor Foods')
  await page.getByLabel('Minimum margin, %').fill('12')
  const more = page.getByText('More limits')
  await more.click()
  await rarely.fill('120')
  await more.click()
  await page.getByRole('button', { name: 'Save rule' }).click()
  await expect(rarely).toBeVisible()
  await page.getByText(/^Must be a number of percent/).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await rarely.fill('40')
  await page.getByRole('button', { name: 'Save rule' }).click()
  await page.getByText('The rule is saved.').waitFor()
  const { rules } = (await call(app, 'GET', '/api/pricing-rules', { token: tenant.owner })).body
  expect(rules).toMatchObject([
    {
      conditions: { customer: 'Harbor Foods' },
      terms: { minimum: { margin_pct: 12 }, maximum: { margin_pct: 40 } },
    },
  ])
  await page.getByRole('button', { name: /^(Edit|Change)/ }).click()
  await expect(rarely).toHaveValue('40')
  await expect(rarely).toBeVisible()
  await expect(page.getByLabel('Customer tier')).toBeHidden()
})
