import { expect, test } from 'vitest'
import { makeTenant, password } from '#testing/make.ts'
import { accessibilityProblems, openWindow } from '../testing/browser.ts'
import { serviceAndBrowser } from '../testing/service-and-browser.ts'

const { app, browser } = await serviceAndBrowser()

test('a passkey is added, given again before a rule of sign-in changes, asked for after the password, and signs in alone', async () => {
  const tenant = await makeTenant(app)
  // Browsers make passkeys for hosts with a name.
  const url = app.url.replace('127.0.0.1', 'localhost')
  const { page, context } = await openWindow(browser, url, {
    ...{ person: tenant, refusalsExpected: true, alone: true },
  })
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true },
      ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
    },
  })

  await page.goto('/settings/account')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByLabel('Name of the passkey').fill('Laptop')
  await page.getByLabel('Password, to add it').fill(password)
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Make the passkey' }).click()
  await page.getByRole('button', { name: 'I have kept them' }).click()
  const own = page.getByRole('list', { name: 'Your passkeys' })
  await own.getByText('Laptop').waitFor()
  await page.getByText('Recovery codes left: 10').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await own.getByRole('button', { name: 'Rename the passkey Laptop' }).click()
  await own.getByLabel('New name').fill('Work laptop')
  await own.getByRole('button', { name: 'Save the name' }).click()
  await own.getByText('Work laptop').waitFor()

  app.now += 11 * 60_000
  await page.goto('/settings')
  await page.getByLabel('A second factor is required for').selectOption('owner')
  await page.getByRole('button', { name: 'Save the rule' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByText('Settings saved.').waitFor()

  const desk = page.getByRole('heading', { name: 'Quote desk', level: 1 })
  await context.clearCookies()
  await page.goto('/sign-in')
  await page.getByLabel('Email').fill(tenant.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Code of your authenticator app').waitFor()
  await page.getByRole('button', { name: 'Use a passkey', exact: true }).click()
  await desk.waitFor()

  await context.clearCookies()
  await page.goto('/sign-in')
  await page.getByRole('button', { name: 'Use a passkey instead' }).click()
  await desk.waitFor()

  // Somebody who finds the device, and is not recognized by it, does not sign in.
  await context.clearCookies()
  await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
  await page.goto('/sign-in')
  await page.getByRole('button', { name: 'Use a passkey instead' }).click()
  await page.getByText('The browser gave no passkey').waitFor()
})
