import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { call, makeTenant, password } from '#testing/make.ts'
import { accessibilityProblems, openWindow } from '../testing/browser.ts'
import { serviceAndBrowser } from '../testing/service-and-browser.ts'

const { app, browser } = await serviceAndBrowser()

const verifier = 'v'.repeat(43)
/** The address at which a program opens the consent page. The code goes to a page of this service, which is not there. */
async function connectAddress(over: Record<string, string> = {}) {
  const redirect = `${app.url.replace('127.0.0.1', 'localhost')}/nowhere`
  const registered = await fetch(`${app.url}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name: 'Freight Helper', redirect_uris: [redirect] }),
  })
  const { client_id } = (await registered.json()) as { client_id: string }
  const asked = {
    client_id,
    redirect_uri: redirect,
    response_type: 'code',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'the state',
    ...over,
  }
  return { client_id, redirect, address: `/connect?${new URLSearchParams(asked)}` }
}

test('a person signs in, allows an assistant, sees it among their sessions, and ends it', async () => {
  const tenant = await makeTenant(app)
  const { page } = await openWindow(browser, app.url, { refusalsExpected: true })
  const { client_id, redirect, address } = await connectAddress()
  await page.goto(address)
  await page.getByLabel('Email').fill(tenant.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Freight Helper asks to read Lanewise as you.').waitFor()
  await page.getByText('Nobody has verified this name', { exact: false }).waitFor()
  await page.getByText('Your answer goes to: this computer').waitFor()
  await page.getByText('Brokerage: Test Brokers').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
  await page.waitForURL((url) => url.href.startsWith(redirect))
  const back = new URL(page.url()).searchParams
  expect([back.get('state'), back.get('iss')]).toEqual(['the state', app.url])
  const answer = await fetch(`${app.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: back.get('code') ?? '',
      client_id,
      code_verifier: verifier,
    }),
  })
  expect(answer.status).toBe(200)

  await page.goto(`${app.url}/settings/account`)
  const row = page.getByRole('row').filter({ hasText: 'Freight Helper (assistant)' })
  await row.getByText('only reads').waitFor()
  await row.getByRole('button', { name: /^End the session of Freight Helper/ }).click()
  await page.getByText('1 session ended.').waitFor()
  await row.waitFor({ state: 'detached' })
})

test('a person does not allow it, and the program is told so', async () => {
  const tenant = await makeTenant(app)
  const { page } = await openWindow(browser, app.url, { person: tenant, refusalsExpected: true })
  const { redirect, address } = await connectAddress()
  await page.goto(address)
  await page.getByRole('button', { name: 'Do not allow' }).click()
  await page.waitForURL((url) => url.href.startsWith(redirect))
  expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
  const { body } = await call(app, 'GET', '/api/sessions', { token: tenant.owner })
  expect(body.sessions.every((one: { assistant: string | null }) => one.assistant === null)).toBe(true)
})

test('a request that sends the code elsewhere is refused on the page, which sends the browser nowhere', async () => {
  const tenant = await makeTenant(app)
  const { page } = await openWindow(browser, app.url, { person: tenant, refusalsExpected: true })
  const { address } = await connectAddress({ redirect_uri: 'https://evil.example/callback' })
  await page.goto(address)
  await page.getByText('Nothing was connected').waitFor()
  await page.getByText('is not an address that the program registered', { exact: false }).waitFor()
  expect(await page.getByRole('button', { name: 'Allow', exact: true }).count()).toBe(0)
  expect(new URL(page.url()).pathname).toBe('/connect')
})

test('no other page can show the consent page within itself', async () => {
  const answer = await fetch(`${app.url}/connect`, { headers: { Accept: 'text/html' } })
  expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
})
