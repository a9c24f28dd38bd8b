import { call, makeQuote, makeTenant } from '#testing/make.ts'
import { accessibilityProblems, app, expect, openWindow, test } from '../testing/pages.ts'

test('an admin enters the test brokerage, creates a test token, and resets it', async () => {
  app.now = Date.now()
  const tenant = await makeTenant(app)
  await makeQuote(app, tenant, { rate: 1900, outcome: 'won' })
  const { page, troubles } = await openWindow({ person: tenant })
  await page.goto('/settings/developers?tab=test')
  await page.getByRole('button', { name: 'Enter the test brokerage' }).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Enter the test brokerage' }).click()
  const banner = page.getByRole('region', { name: 'Test brokerage' }).first()
  await banner.getByText('This is the test brokerage').waitFor()

  await page.getByRole('tab', { name: 'Credentials' }).click()
  await page.getByLabel('Name of the new token').fill('Trial')
  const choice = page.getByRole('group', { name: 'What the token permits' })
  await expect(choice.getByRole('checkbox', { checked: true })).toHaveCount(1)
  await choice.getByRole('checkbox', { name: 'Quotes (quotes:write)' }).check()
  await page.getByRole('button', { name: 'Create token' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save this service token now' })
  const token = (await dialog.locator('code').textContent()) ?? ''
  await dialog.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByRole('cell', { name: 'quotes:write read', exact: true }).waitFor()
  const path = '/api/integrations/insights/lane?origin=Dallas,%20TX&destination=Atlanta,%20GA'
  expect((await call(app, 'GET', path, { token })).body).toMatchObject({ found: false })

  await page.getByRole('tab', { name: 'Test brokerage' }).click()
  await page.getByRole('button', { name: 'Reset the test brokerage' }).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Reset the test brokerage' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Reset', exact: true }).click()
  await page.getByText(/Test brokerage reset: /).waitFor()
  expect((await call(app, 'GET', path, { token })).status).toBe(200)
  expect(troubles).toEqual([])
})
