import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from '@playwright/test'
import type { TestApp } from '#testing/app-on-database.ts'
import {
  call,
  type Integration,
  type MadeTenant,
  makeIntegration,
  makePerson,
  makeQuote,
  makeTenant,
  pushUpdate,
  signedHeaders,
} from '#testing/make.ts'
import { has, run } from '../../checks/page.ts'
import { accessibilityProblems, expect, loaded, looks, openWindow, ownApp, test } from '../testing/pages.ts'

let app: TestApp
test.beforeAll(async () => {
  app = await ownApp({ rateLimit: 'real' })
})
test.afterAll(() => app.close())
test.beforeEach(() => {
  app.now = Date.now()
})

async function openIntegration(
  person: { email: string; password: string },
  words = '',
  options: Partial<Parameters<typeof openWindow>[0]> = {},
) {
  const window = await openWindow({ url: app.url, ...options, person })
  await window.page.goto(`/settings/developers${words}`)
  await window.page.getByRole('heading', { name: 'Developers', level: 1 }).waitFor()
  return window
}

/** All places of the page where a plaintext could remain: content, storage and address. */
const leftovers = (page: Page): Promise<string> =>
  page.evaluate(`[
    document.documentElement.outerHTML,
    ...[...document.querySelectorAll('input, textarea')].map(({ value }) => value),
    JSON.stringify({ ...localStorage }),
    JSON.stringify({ ...sessionStorage }),
    document.cookie,
    location.href,
  ].join('\\n')`)

const copied = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()')

/** Selects an option of a segmented control by its label. */
const choose = (page: Page, what: string, choice: string) =>
  page.getByRole('radiogroup', { name: what }).getByText(choice, { exact: true }).click()

/** Presses Tab until the focus is on `it`. */
async function tabTo(page: Page, it: Locator): Promise<void> {
  const focused = it.and(page.locator(':focus'))
  for (let step = 0; step < 12 && !(await focused.isVisible()); step++) await page.keyboard.press('Tab')
  await expect(it).toBeFocused()
}

const shownIn = async (dialog: Locator) => (await dialog.locator('code').textContent()) ?? ''

async function createToken(page: Page, name: string, scope?: string): Promise<string> {
  await page.getByLabel('Name of the new token').fill(name)
  if (scope !== undefined) await page.getByRole('checkbox', { name: new RegExp(scope) }).check()
  await page.getByRole('button', { name: 'Create token' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save this service token now' })
  const token = await shownIn(dialog)
  await dialog.getByRole('button', { name: 'I have saved it' }).click()
  await dialog.waitFor({ state: 'hidden' })
  return token
}

async function createSecret(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Create secret' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save this signing secret now' })
  const secret = await shownIn(dialog)
  await dialog.getByRole('button', { name: 'I have saved it' }).click()
  await dialog.waitFor({ state: 'hidden' })
  return secret
}

const readWith = (token: string) =>
  call(app, 'GET', '/api/integrations/insights/lane?origin=Dallas,%20TX&destination=Atlanta,%20GA', { token })

test('a service token that expires soon is shown on every page to admins, and in the list of tokens', {
  tag: '@long',
}, async () => {
  app.now = Date.now() - 350 * 86_400_000
  const { tenant } = await makeIntegration(app)
  const member = await makePerson(app, tenant, 'member')
  app.now = Date.now()
  const { page, context } = await openIntegration(tenant)
  const warning = page.getByRole('region', { name: 'Service tokens that expire soon' })
  await warning.getByText('A service token expires soon').waitFor()
  await page
    .getByRole('table', { name: 'Service tokens, newest first' })
    .getByText(/^until /)
    .waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await page.goto('/')
  await warning.getByRole('link', { name: 'Create a new token' }).click()
  await page.getByRole('button', { name: 'Revoke the token test' }).click()
  await page.getByRole('button', { name: 'Revoke token' }).click()
  await warning.waitFor({ state: 'detached' })
  await context.close()
  const theirs = await openWindow({ url: app.url, person: member })
  await theirs.page.goto('/')
  await loaded(theirs.page)
  await expect(theirs.page.getByText('expires soon')).toHaveCount(0)
  await theirs.context.close()
})

test.describe('a service token', () => {
  test('is shown once and remains nowhere', async () => {
    const tenant = await makeTenant(app)
    const { page, troubles } = await openIntegration(tenant)
    await page.getByText('No service tokens yet').waitFor()
    await page.getByLabel('Name of the new token').fill('McLeod production')
    await page.getByRole('button', { name: 'Create token' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save this service token now' })
    const token = await shownIn(dialog)
    expect((await readWith(token)).status).toBe(200)
    await dialog.getByRole('button', { name: 'Copy the service token' }).click()
    expect(await copied(page)).toBe(token)
    await page.keyboard.press('Escape')
    await dialog.getByText('is shown once').waitFor()
    expect(await leftovers(page)).toContain(token)
    await dialog.getByRole('button', { name: 'I have saved it' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await leftovers(page)).not.toContain(token)
    await page.reload()
    await page.getByRole('cell', { name: 'McLeod production', exact: true }).waitFor()
    expect(await leftovers(page)).not.toContain(token)
    await page.getByRole('tab', { name: 'Code' }).click()
    await page.getByText("LANEWISE_TOKEN='put the service token here'").waitFor()
    expect(await leftovers(page)).not.toContain(token)
    expect(troubles).toEqual([])
  })

  test('is listed with its last use, and stops working after it is revoked', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openIntegration(tenant)
    const token = await createToken(page, 'Load board')
    const row = page.getByRole('row', { name: /Load board/ })
    await row.getByText('never').waitFor()
    await readWith(token)
    await page.reload()
    await row.getByText('from 127.0.0.1').waitFor()
    await row.getByText('Live').waitFor()
    await row.getByRole('button', { name: 'Revoke the token Load board' }).click()
    const dialog = page.getByRole('dialog', { name: 'Revoke this token?' })
    await dialog.getByText('are rejected, starting with the next request').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect((await readWith(token)).status).toBe(200)
    await row.getByRole('button', { name: 'Revoke the token Load board' }).click()
    await dialog.getByRole('button', { name: 'Revoke token' }).click()
    await row.getByText('Revoked').waitFor()
    expect((await readWith(token)).status).toBe(401)
  })

  test('with a name that is too long gets an error at the field', { tag: '@long' }, async () => {
    const tenant = await makeTenant(app)
    const { page } = await openIntegration(tenant, '', { refusalsExpected: true })
    await page.getByLabel('Name of the new token').fill('x'.repeat(101))
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByText(/^Must be text of 1 to 100/).waitFor()
  })
})

test.describe('a signing secret', () => {
  async function secretOfPage(page: Page, button: string): Promise<string> {
    await page.getByRole('button', { name: button, exact: true }).click()
    const shown = page.getByRole('dialog', { name: 'Save this signing secret now' })
    const secret = await shownIn(shown)
    await shown.getByText('Both secrets are valid until').waitFor()
    await shown.getByRole('button', { name: 'I have saved it' }).click()
    await shown.waitFor({ state: 'hidden' })
    expect(await leftovers(page)).not.toContain(secret)
    return secret
  }

  test('is rotated with an overlap during which both are valid, until the old one is revoked', async () => {
    const old = await makeIntegration(app)
    const quote = await makeQuote(app, old.tenant)
    const push = async (secret: string, rate: number): Promise<number> => {
      const update = { lane_ref: quote.lane_ref, customer_rate: rate }
      const { status } = await pushUpdate(app, { ...old, secret }, update)
      if (status !== 429) return status
      await page.waitForTimeout(1_000)
      return push(secret, rate)
    }
    const { page } = await openIntegration(old.tenant, '', { refusalsExpected: true })
    await page.getByRole('button', { name: /^Rotate the secret tms/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Rotate the secret tms' })
    const hours = dialog.getByLabel('Overlap in hours')
    await expect(hours).toHaveValue('24')
    await hours.fill('169')
    await dialog.getByText('Enter a whole number from 0 to 168').waitFor()
    await hours.fill('0')
    await dialog.getByText('The old secret becomes invalid at once').waitFor()
    await hours.fill('48')
    // Pages show the brokerage's time zone, which is UTC here, not the browser's.
    const until = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' }).format(
      Date.now() + 48 * 3_600_000,
    )
    await dialog.getByText(`Both secrets are valid until ${until}`).waitFor()
    const successor = await secretOfPage(page, 'Rotate secret')
    expect(successor).not.toBe(old.secret)
    expect(await push(old.secret, 2101)).toBe(200)
    expect(await push(successor, 2102)).toBe(200)
    await page.getByRole('row', { name: /until/ }).getByText(until).waitFor()

    await page.getByRole('button', { name: 'Create secret' }).click()
    const refusal = page.getByRole('alert', { name: /Two live secrets are already named tms/ })
    await refusal.getByText('Revoke one of them, or wait until').waitFor()
    await refusal.getByText(`valid until ${until}`).waitFor()

    await page
      .getByRole('row', { name: /until/ })
      .getByRole('button', { name: /^Revoke the secret tms/ })
      .click()
    const revoke = page.getByRole('dialog', { name: 'Revoke this secret?' })
    await revoke.getByText('1 other secret stays live').waitFor()
    await revoke.getByRole('button', { name: 'Revoke secret' }).click()
    await page.getByText('Show 1 secret no longer valid').waitFor()
    expect(await push(old.secret, 2103)).toBe(401)
    expect(await push(successor, 2104)).toBe(200)
    await page.getByRole('switch', { name: 'Show 1 secret no longer valid' }).click()
    await page.getByRole('row', { name: /Revoked/ }).waitFor()
    await expect(page).toHaveURL(/ended_secrets=shown/)
  })

  test('is shown once and remains nowhere', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openIntegration(tenant)
    const secret = await createSecret(page)
    expect(secret).toMatch(/^lwsec_/)
    expect(await leftovers(page)).not.toContain(secret)
    await page.reload()
    await page.getByRole('button', { name: /^Rotate the secret tms/ }).waitFor()
    expect(await leftovers(page)).not.toContain(secret)
  })
})

test.describe('the example code', () => {
  let folder: string
  let page: Page
  let tenant: MadeTenant

  test.beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lanewise-code-'))
    tenant = await makeTenant(app)
    await makeQuote(app, tenant, { origin: "O'Fallon, MO", outcome: 'won' })
    await makeQuote(app, tenant, { origin: "O'Fallon, MO", outcome: 'lost' })
    ;({ page } = await openIntegration(tenant))
    await createToken(page, 'TMS', 'integrations:write')
    await createSecret(page)
  })
  test.afterAll(() => rmSync(folder, { recursive: true }))

  const languages = [
    { language: 'curl', label: 'curl', needs: ['curl', 'openssl'], file: 'lanewise.sh', command: 'source' },
    { language: 'python', label: 'Python', needs: ['python3'], file: 'lanewise.py', command: 'python3' },
    { language: 'typescript', label: 'TypeScript', needs: [], file: 'lanewise.mts', command: 'node' },
  ]
  const calls = [
    ['Booking', 'Send a booking'],
    ['Rate advice', 'Get rate advice'],
    ['Lane advice', 'Get lane advice'],
  ] as const

  for (const { language, label, needs, file, command } of languages) {
    test(`runs as shown in ${language}`, { tag: '@long' }, async () => {
      test.skip(!has(...needs), `needs ${needs.join(', ')}`)
      const quote = await makeQuote(app, tenant, { rate: 1950 })
      await page.getByRole('tab', { name: 'Credentials' }).click()
      await page.getByRole('tab', { name: 'Code' }).click()
      await choose(page, 'Language', label)
      for (const [choice, what] of calls) {
        await choose(page, 'What the program does', choice)
        const exports = await page.getByRole('region', { name: /^1\./ }).textContent()
        if (what === 'Send a booking') await page.getByRole('link', { name: quote.lane_ref }).waitFor()
        const code = await page.getByRole('region', { name: `2. ${what}` }).textContent()
        if (what !== 'Send a booking') expect(code).toContain('Fallon, MO')
        writeFileSync(join(folder, file), `${code}\n`)
        app.now = Date.now()
        const ran = await run('bash', ['-euo', 'pipefail'], {
          input: `${exports}\n${command} ${join(folder, file)}\n`,
          // Playwright asks programs for colors, which Node then adds to the status.
          env: { PATH: `${join(process.execPath, '..')}:${process.env.PATH}`, FORCE_COLOR: '0' },
        })
        expect(ran.complaint).toBe('')
        const [answer = '', status] = ran.output.trim().split('\n')
        expect(status).toBe('HTTP 200')
        if (what === 'Send a booking') expect(JSON.parse(answer)).toMatchObject({ updated: true })
      }
      const booked = await call(app, 'GET', `/api/lanes/${quote.lane_ref}`, { token: tenant.owner })
      expect(booked.body).toMatchObject({ customer_rate: 1950, outcome: 'won' })
    })
  }

  test('has plaintexts only in memory, until they are removed', async () => {
    await page.getByRole('tab', { name: 'Code' }).click()
    await page.getByText('export LANEWISE_SECRET=').waitFor()
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
    expect(kept).not.toContain('lwsec_')
    await page.getByRole('button', { name: 'Remove them from this page' }).click()
    await page.getByText("LANEWISE_SECRET='put the signing secret here'").waitFor()
    expect(await leftovers(page)).not.toContain('lwsec_')
  })

  test('asks a brokerage without quotes to quote a lane first', { tag: '@long' }, async () => {
    const { page } = await openIntegration(await makeTenant(app), '?tab=code')
    await page.getByRole('region', { name: '2. Get rate advice' }).waitFor()
    await choose(page, 'What the program does', 'Booking')
    await page.getByRole('heading', { name: 'No pending quote to book' }).waitFor()
    await page.getByRole('link', { name: 'Quote a lane' }).waitFor()
    await expect(page).toHaveURL((url) => url.search === '?tab=code&call=shipment-update')
  })
})

test.describe('the request log', () => {
  async function callsMade(integration: Integration) {
    const quote = await makeQuote(app, integration.tenant)
    const update = { lane_ref: quote.lane_ref, customer_rate: 2000 }
    await pushUpdate(app, integration, update)
    await pushUpdate(app, { ...integration, secret: `${integration.secret.slice(0, -1)}?` }, update)
    await readWith(integration.token)
  }

  test('shows a rejected call with its reason, live', async () => {
    const integration = await makeIntegration(app)
    const { page, troubles } = await openIntegration(integration.tenant, '?tab=log')
    await page.getByRole('status').getByText('Updates every 2 seconds').waitFor()
    await callsMade(integration)
    const refused = page.getByRole('row', { name: /401 rejected/ })
    const reason = refused.getByRole('link', { name: 'signature-mismatch' })
    await reason.waitFor()
    await expect(reason).toHaveAttribute('href', '/problems/signature-mismatch')
    await expect(refused).toContainText('shipment-update')
    await refused.getByText('127.0.0.1').waitFor()
    await refused.getByText(/\d ms/).waitFor()
    await refused.getByRole('button', { name: /Copy request ID/ }).click()
    expect(await copied(page)).toMatch(/^[0-9a-f-]{36}$/)
    await page.getByRole('row', { name: /origin Dallas, TX · destination Atlanta, GA/ }).waitFor()

    await choose(page, 'Outcome', 'OK')
    await refused.waitFor({ state: 'hidden' })
    await choose(page, 'Outcome', 'Rejected')
    await refused.waitFor()
    await page.getByLabel('Operation').selectOption('markup')
    await page.getByRole('heading', { name: 'No matching calls' }).waitFor()
    await expect(page).toHaveURL((url) => url.search === '?tab=log&outcome=refused&operation=markup')
    await page.getByRole('button', { name: 'Show all calls' }).click()
    await page.getByLabel('Token').selectOption({ label: 'test (ID 1)' })
    await page.getByRole('row', { name: /lane-insight/ }).waitFor()
    await page
      .getByRole('row', { name: /dashboard sign-in/ })
      .first()
      .waitFor({ state: 'detached' })
    expect(troubles).toEqual([])
  })

  test('can be paused and resumed', { tag: '@long' }, async () => {
    const integration = await makeIntegration(app)
    const { page } = await openWindow({ url: app.url, person: integration.tenant, alone: true })
    await page.clock.install()
    await page.goto('/settings/developers?tab=log')
    await page.getByRole('row', { name: /create-signing-secret/ }).waitFor()
    let requests = 0
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/api/integration-calls') requests += 1
    })
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    const atPause = requests
    await readWith(integration.token)
    await page.clock.fastForward(3_000)
    // A request made by the page after the interval would precede this one.
    await page.evaluate(`fetch('/ready')`)
    expect(requests).toBe(atPause)
    await expect(page.getByRole('row', { name: /lane-insight/ })).toHaveCount(0)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('row', { name: /lane-insight/ }).waitFor()
  })

  test('shows the remaining calls and the calls of the last minute', { tag: '@long' }, async () => {
    const integration = await makeIntegration(app)
    const { page } = await openIntegration(integration.tenant, '?tab=log')
    const budget = page.getByRole('region', { name: 'Rate limit' })
    await budget.getByText(/\d+ of 10 left in this second/).waitFor()
    await Promise.all(Array.from({ length: 16 }, () => readWith(integration.token)))
    await budget.getByText(/must be retried after Retry-After seconds/).waitFor()
    await budget.getByText('Counted by the server process that answers this page', { exact: false }).waitFor()
    const meter = page.getByRole('meter', { name: 'Calls left under the rate limit' })
    expect(Number(await meter.getAttribute('max'))).toBe(10)
  })
})

test.describe('the signature debugger', () => {
  let integration: Integration
  let page: Page

  test.beforeAll(async () => {
    integration = await makeIntegration(app)
    ;({ page } = await openIntegration(integration.tenant, '?tab=debugger'))
  })

  async function paste(signedText: string, fillBody: () => Promise<void>) {
    const timestamp = Math.floor(Date.now() / 1000)
    const headers = signedHeaders(integration, signedText, timestamp)
    await page.getByRole('textbox', { name: 'Timestamp' }).fill(String(timestamp))
    await page.getByRole('textbox', { name: 'Signature' }).fill(headers['X-Service-Signature'] ?? '')
    await fillBody()
    await page.getByRole('button', { name: 'Check', exact: true }).click()
  }
  const part = (name: string) => page.getByRole('region', { name, exact: true })
  const booking = { lane_ref: '48211093754-1-1', customer_rate: 2150 }

  test('detects a body that was serialized again after signing', async () => {
    await paste(JSON.stringify(booking, null, 2), () =>
      page.getByRole('textbox', { name: 'Body' }).fill(JSON.stringify(booking)),
    )
    await page.getByText('This signature is not valid').waitFor()
    await part('Body').getByText('Wrong').waitFor()
    await part('Body').getByText('How to fix it:').waitFor()
    await part('Timestamp').getByText('Correct').waitFor()
    await part('Secret').getByText('tms', { exact: false }).first().waitFor()
    expect(await leftovers(page)).not.toContain('lwsec_')
  })

  test('accepts a correct signature', async () => {
    const text = JSON.stringify(booking)
    await paste(text, () => page.getByRole('textbox', { name: 'Body' }).fill(text))
    await page.getByText('This signature is valid').waitFor()
  })

  test('reads the exact bytes of a file, which a text field would change', async () => {
    const text = JSON.stringify(booking, null, 2).replaceAll('\n', '\r\n')
    const load = () =>
      page
        .locator('input[type=file]')
        .setInputFiles({ name: 'booking.json', mimeType: 'application/json', buffer: Buffer.from(text) })
    await paste(text, load)
    await page.getByText('This signature is valid').waitFor()
    await page.getByText(/booking\.json: \d+ bytes, 3 CRLF/).waitFor()
    await page.locator('input[type=file]').setInputFiles({
      name: 'other.bin',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from([0xff, 0xfe, 0x00]),
    })
    await page.getByText('other.bin is not UTF-8 text').waitFor()
    await page.getByRole('button', { name: 'Paste instead' }).click()
    await expect(page.getByRole('textbox', { name: 'Body' })).toHaveValue('')
  })

  test('has an example', { tag: '@long' }, async () => {
    await page.getByRole('button', { name: 'Fill with an example that fails' }).click()
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await part('Secret').getByText('Not checked', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByText('The result appears here').waitFor()
  })

  test('asks to wait after too many checks', { tag: '@long' }, async () => {
    await page.route('**/api/signature-check', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'Retry-After': '20', 'Content-Type': 'application/problem+json' },
        body: JSON.stringify({
          type: '/problems/too-many-attempts',
          detail: 'Your brokerage has checked 30 signatures within a minute.',
          request_id: 'x',
        }),
      }),
    )
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page.getByRole('alert').getByText('Wait 20 s, then try again').waitFor()
    await page.unroute('**/api/signature-check')
  })
})

test.describe('a failure', () => {
  const refusal = (status: number, code: string) => ({
    status,
    headers: { 'Retry-After': '1', 'Content-Type': 'application/problem+json' },
    body: JSON.stringify({ type: `/problems/${code}`, detail: 'Not now.', request_id: 'x' }),
  })

  test('a change rejected by the rate limit is retried automatically', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openIntegration(tenant, '', { refusalsExpected: true })
    let refused = 0
    await page.route('**/api/integrations/tokens', (route) =>
      route.request().method() === 'POST' && refused++ === 0
        ? route.fulfill(refusal(429, 'quota-exceeded'))
        : route.continue(),
    )
    await createToken(page, 'Patient')
    await page.getByRole('row', { name: /Patient/ }).waitFor()
    expect(refused).toBe(2)
  })

  test('each section reports that the service is unavailable, and retries on click', {
    tag: '@long',
  }, async () => {
    const integration = await makeIntegration(app)
    const { page } = await openIntegration(integration.tenant, '?tab=log', { refusalsExpected: true })
    await page.getByRole('row', { name: /create-service-token/ }).waitFor()
    await page.route('**/api/integration*', (route) => route.fulfill(refusal(503, 'unavailable')))
    await page.route('**/api/integrations/**', (route) => route.fulfill(refusal(503, 'unavailable')))
    await page.getByText('Out of date: the service does not respond').waitFor()
    await page.getByRole('row', { name: /create-service-token/ }).waitFor()
    await page.getByRole('tab', { name: 'Credentials' }).click()
    const alert = page.getByRole('alert', { name: 'The secrets could not be loaded' })
    await alert.waitFor()
    await page.unrouteAll()
    await alert.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: /^Rotate the secret tms/ }).waitFor()
  })

  for (const role of ['member', 'viewer'] as const)
    test(`a ${role} sees that the role is too low`, { tag: '@long' }, async () => {
      const tenant = await makeTenant(app)
      const { page, troubles } = await openIntegration(await makePerson(app, tenant, role))
      await page.getByRole('heading', { name: 'Your role does not allow this' }).waitFor()
      await page.getByText(`your role is ${role}`).waitFor()
      await expect(page.getByRole('button', { name: 'Create token' })).toHaveCount(0)
      expect(troubles).toEqual([])
    })
})

test.describe('accessibility', () => {
  const hostileName = `<img src=x onerror=alert(1)>'"&\\u202e${'W'.repeat(60)}`

  for (const options of looks)
    test(`in ${options.colorScheme} at ${options.width} pixels`, { tag: '@long' }, async () => {
      const integration = await makeIntegration(app)
      const { tenant } = integration
      const made = await call(app, 'POST', '/api/integrations/tokens', {
        token: tenant.owner,
        body: { name: hostileName },
      })
      await readWith(made.body.token)
      const quote = await makeQuote(app, tenant)
      await pushUpdate(app, { ...integration, secret: 'lwsec_0' }, { lane_ref: quote.lane_ref })
      await makeQuote(app, tenant)
      const { page, troubles } = await openIntegration(tenant, '', options)
      const isClean = async () => {
        expect(await accessibilityProblems(page)).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(options.width)
      }
      await page.getByRole('button', { name: /^Rotate the secret tms/ }).waitFor()
      await page.getByRole('cell', { name: hostileName, exact: true }).waitFor()
      await isClean()
      await page.getByRole('button', { name: /^Rotate the secret tms/ }).click()
      await page.getByText('Both secrets are valid until').waitFor()
      await isClean()
      await page.getByRole('button', { name: 'Rotate secret', exact: true }).click()
      await page.getByRole('dialog', { name: 'Save this signing secret now' }).waitFor()
      await isClean()
      await page.getByRole('button', { name: 'I have saved it' }).click()
      await page.getByRole('tab', { name: 'Code' }).click()
      await choose(page, 'What the program does', 'Booking')
      await page.getByText('This books a real load').waitFor()
      await isClean()
      await page.getByRole('tab', { name: 'Request log' }).click()
      await page.getByRole('link', { name: 'signature-mismatch' }).waitFor()
      await isClean()
      await page.getByRole('tab', { name: 'Signature debugger' }).click()
      await page.getByRole('button', { name: 'Fill with an example that fails' }).click()
      await page.getByRole('button', { name: 'Check', exact: true }).click()
      await page.getByText('This signature is not valid').waitFor()
      await isClean()
      expect(troubles).toEqual([])
    })

  test('by keyboard: creates a token and changes the tab', { tag: '@long' }, async () => {
    const tenant = await makeTenant(app)
    const { page } = await openIntegration(tenant)
    await page.getByRole('tab', { name: 'Credentials' }).focus()
    await tabTo(page, page.getByLabel('Name of the new token'))
    await page.keyboard.type('By hand')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Save this service token now' })
    await dialog.waitFor()
    await tabTo(page, dialog.getByRole('button', { name: 'I have saved it' }))
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('row', { name: /By hand/ }).waitFor()
    await page.getByRole('tab', { name: 'Credentials' }).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Send your first booking' }).waitFor()
  })
})
