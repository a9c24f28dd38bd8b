import { afterAll, expect, test } from 'vitest'
import { companyOnThisMachine, setProvider } from '#testing/company.ts'
import { call, makeTenant } from '#testing/make.ts'
import { nameServer } from '#testing/name-server.ts'
import { realProvider } from '#testing/real-provider.ts'
import { accessibilityProblems, openWindow } from '../testing/browser.ts'
import { serviceAndBrowser } from '../testing/service-and-browser.ts'

const names = await nameServer()
afterAll(() => names.close())
const { app, browser } = await serviceAndBrowser({ config: companyOnThisMachine(names) })

test('an owner proves a domain and sets the provider, a person joins through it, and passwords are refused', async () => {
  const tenant = await makeTenant(app)
  const real = await realProvider([`${app.url}/sign-in/company/${tenant.id}`])
  const { page, troubles } = await openWindow(browser, app.url, { person: tenant })
  const other = await openWindow(browser, app.url)
  try {
    await page.goto(`${app.url}/settings/company-sign-in`)
    await page.getByRole('textbox', { name: 'Domain' }).fill('blue-mesa.example.org')
    await page.getByRole('button', { name: 'Add the domain' }).click()
    const name = (await page.getByText('_lanewise.blue-mesa.example.org').textContent()) ?? ''
    const record = (await page.getByText(/^lanewise-domain=/).textContent()) ?? ''
    await page.getByRole('button', { name: 'Check blue-mesa.example.org' }).click()
    await page.getByText('The record is not there.', { exact: false }).waitFor()
    names.texts.set(name, [record])
    await page.getByRole('button', { name: 'Check blue-mesa.example.org' }).click()
    await page.getByText('✓ Proven').waitFor()
    await page.getByText(`${app.url}/sign-in/company/${tenant.id}`).waitFor()
    await page.getByRole('textbox', { name: 'Issuer' }).fill(real.issuer)
    await page.getByRole('textbox', { name: 'Client ID' }).fill(real.clientId)
    await page.getByLabel('Client secret').and(page.getByRole('textbox')).fill(real.clientSecret)
    await page.getByRole('checkbox', { name: 'Make an account at the first sign-in' }).check()
    await page.getByRole('button', { name: 'Add a group' }).click()
    await page.getByRole('textbox', { name: 'Group 1' }).fill('brokers')
    await page.getByRole('button', { name: 'Set the company sign-in' }).click()
    await page.getByText('Nobody has signed in through it yet.', { exact: false }).waitFor()
    await page.getByRole('button', { name: 'Ask the provider' }).click()
    await page.getByText('The provider answers.').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])

    const email = 'petra@blue-mesa.example.org'
    real.people.set('petra', { email, email_verified: true, name: 'Petra Quinn', groups: ['brokers'] })
    await other.page.goto(`${app.url}/sign-in?next=${encodeURIComponent('/settings/account')}`)
    await other.page.getByRole('textbox', { name: 'Email' }).fill(email)
    await other.page.getByRole('button', { name: 'Continue with your company' }).waitFor()
    expect(await accessibilityProblems(other.page)).toEqual([])
    await other.page.getByRole('button', { name: 'Continue with your company' }).click()
    await other.page.getByRole('textbox', { name: 'User name' }).fill('petra')
    await other.page.getByRole('button', { name: 'Sign in at the provider' }).click()
    await other.page.getByRole('heading', { name: 'Petra Quinn' }).waitFor()
    expect(other.page.url()).toBe(`${app.url}/settings/account`)

    await page.reload()
    await page.getByText('It works:', { exact: false }).waitFor()
    await page.getByRole('combobox', { name: 'Owner for emergencies' }).selectOption({ label: 'Olive Quay' })
    await page.getByRole('checkbox', { name: 'Require it: refuse passwords' }).check()
    await page.getByRole('button', { name: 'Save the company sign-in' }).click()
    await page.getByText('It is required: passwords are refused.', { exact: false }).waitFor()

    await page.getByRole('button', { name: 'Remove the company sign-in' }).click()
    const asked = page.getByRole('dialog', { name: 'Remove the company sign-in?' })
    await asked.getByText('Everybody signs in with a password again.', { exact: false }).waitFor()
    await asked.getByRole('button', { name: 'Remove the company sign-in' }).click()
    await page.getByText('The company sign-in is removed.').waitFor()
    expect(troubles).toEqual([])
  } finally {
    await real.close()
  }
})

test('a sign-in that comes back to a browser that did not begin it says so, and starts again', async () => {
  const tenant = await makeTenant(app)
  await setProvider(app, tenant, { issuer: 'https://login.example.com' })
  const { page } = await openWindow(browser, app.url)
  await page.goto(`${app.url}/sign-in/company/${tenant.id}?code=stolen&state=stolen`)
  await page.getByText('This sign-in was not started in this browser', { exact: false }).waitFor()
  // The code is not left in the address.
  expect(page.url()).toBe(`${app.url}/sign-in/company/${tenant.id}`)
  await page.getByRole('link', { name: 'Start again' }).click()
  await page.getByRole('textbox', { name: 'Email' }).waitFor()
  const { body } = await call(app, 'GET', '/api/company-sign-in', { token: tenant.owner })
  expect(body.provider.worked_at).toBe(null)
})
