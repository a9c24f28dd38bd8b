import type { Page } from '@playwright/test'
import { problemType } from '#contract/errors.ts'
import { call, type MadeTenant, makePerson, makeTenant } from '#testing/make.ts'
import { accessibilityProblems, app, expect, loaded, openWindow, test } from '../testing/pages.ts'

/** A brokerage with four pending quotes at rates from $2,000 up. */
async function quoting(): Promise<{ tenant: MadeTenant; refs: string[] }> {
  const tenant = await makeTenant(app)
  const { body } = await call(app, 'POST', '/api/quote-requests', {
    token: tenant.owner,
    body: {
      customer_name: 'Harvest Table Foods',
      reference: 'PO-7781',
      lanes: Array.from({ length: 4 }, (_, at) => ({
        origin: 'Dallas, TX',
        destination: 'Atlanta, GA',
        equipment: 'V',
        quoted_rate: 2000 + at,
      })),
    },
  })
  return { tenant, refs: body.lanes.map((quote: { lane_ref: string }) => quote.lane_ref) }
}

const outcomes = async (tenant: MadeTenant) => {
  const { body } = await call(app, 'GET', '/api/lanes?sort=rate_low', { token: tenant.owner })
  return body.lanes.map(({ outcome }: { outcome: string }) => outcome)
}
const shown = (page: Page, words: string) => page.getByText(words, { exact: true }).waitFor()
const settingsOf = async (tenant: MadeTenant) =>
  (await call(app, 'GET', '/api/quote-list-settings', { token: tenant.owner })).body

test('several quotes are selected by keyboard or mouse, and marked and undone with one request each', async () => {
  const { tenant, refs } = await quoting()
  const { page, troubles } = await openWindow({ person: tenant })
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname)
  })
  await page.goto('/quotes?sort=rate_low')
  await shown(page, '4 quotes')
  await page.keyboard.press('j')
  await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('Shift+ArrowDown')
  await shown(page, '3 quotes selected')
  await page.keyboard.press('l')
  await page.getByRole('dialog', { name: 'Why was it lost?' }).waitFor()
  await page.keyboard.press('1')
  await shown(page, '3 quotes were marked lost (price)')
  expect(await outcomes(tenant)).toEqual(['lost', 'lost', 'lost', 'pending'])
  await page.getByRole('button', { name: 'Undo' }).click()
  await shown(page, '3 quotes were marked pending')
  expect(await outcomes(tenant)).toEqual(['pending', 'pending', 'pending', 'pending'])
  await page.getByLabel(`Select ${refs[0]}`).check()
  await page.getByLabel(`Select ${refs[3]}`).click({ modifiers: ['Shift'] })
  await shown(page, '4 quotes selected')
  await page.getByRole('button', { name: 'Mark won' }).click()
  await shown(page, '4 quotes were marked won')
  expect(await outcomes(tenant)).toEqual(['won', 'won', 'won', 'won'])
  expect(sent.filter((path) => path !== '/api/auth/session-token')).toEqual(
    Array.from({ length: 3 }, () => '/api/lane-outcomes'),
  )
  expect(troubles).toEqual([])
})

test('marks survive another person, a busy service, a failing database and the end of the session', {
  tag: '@long',
}, async () => {
  const { tenant, refs } = await quoting()
  const dana = await makePerson(app, tenant, 'member')
  const { page } = await openWindow({ person: tenant, refusalsExpected: true, alone: true })
  await page.goto('/quotes?sort=rate_low')
  await shown(page, '4 quotes')
  await call(app, 'POST', `/api/lanes/${refs[0]}/outcome`, {
    token: dana.token,
    body: { outcome: 'lost', reason: 'service' },
  })

  // 429: the service asks to wait for a second, and the page does. Then another person's mark is kept.
  let refusals = 0
  await page.route('**/api/lane-outcomes', async (route) => {
    refusals++
    const status = refusals === 1 ? 429 : refusals === 3 ? 503 : 0
    if (status === 0) return route.fallback()
    const code = status === 429 ? 'quota-exceeded' : 'unavailable'
    return route.fulfill({
      status,
      headers: { 'Content-Type': 'application/problem+json', 'Retry-After': '1' },
      body: JSON.stringify({
        type: problemType(code),
        title: 'Busy',
        status,
        code,
        detail: `Status ${status}.`,
      }),
    })
  })
  await page.getByLabel('Select all quotes on this page').check()
  await page.getByRole('button', { name: 'Mark won' }).click()
  const refused = page.getByRole('dialog', { name: '1 quote not marked' })
  await refused.getByText(/ marked this quote lost after you loaded it\.$/).waitFor()
  expect(await outcomes(tenant)).toEqual(['lost', 'won', 'won', 'won'])

  // 503: everything is reverted, and Try again replaces the mark as the person decided.
  await refused.getByRole('button', { name: 'Replace 1 outcome' }).click()
  await page.getByText('1 quote was not marked won. ').waitFor()
  expect(await outcomes(tenant)).toEqual(['lost', 'won', 'won', 'won'])
  await page.getByRole('button', { name: 'Try again' }).click()
  await shown(page, '1 quote was marked won')
  expect(await outcomes(tenant)).toEqual(['won', 'won', 'won', 'won'])

  // 401: the session ends in another window. After sign-in, Try again marks the quotes.
  await call(app, 'POST', '/api/auth/sign-out', { token: tenant.owner, body: { everywhere: true } })
  await page.getByLabel(`Select ${refs[1]}`).check()
  await page.getByLabel(`Select ${refs[2]}`).check()
  await page.getByRole('button', { name: 'Set pending' }).click()
  const ended = page.getByRole('dialog', { name: 'Your session has ended' })
  await ended.getByRole('textbox', { name: 'Password' }).fill(tenant.password)
  await ended.getByRole('button', { name: 'Sign in', exact: true }).click()
  await ended.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Try again' }).click()
  await shown(page, '2 quotes were marked pending')
  const signedIn = await call(app, 'GET', '/api/lanes?sort=rate_low', { token: dana.token })
  expect(signedIn.body.lanes.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
    'won',
    'pending',
    'pending',
    'won',
  ])
})

test('a view saves filters and columns on the server, is the default, and reports a filter that is no longer valid', {
  tag: '@long',
}, async () => {
  const { tenant, refs } = await quoting()
  await call(app, 'POST', `/api/lanes/${refs[0]}/outcome`, { token: tenant.owner, body: { outcome: 'won' } })
  const { page } = await openWindow({ person: tenant, refusalsExpected: true })
  await page.goto('/quotes')
  await shown(page, '4 quotes')
  const list = page.getByRole('region', { name: 'Quotes' })
  const choose = async (item: string) => {
    await page.getByRole('button', { name: /^View: / }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await page.getByText('Pending', { exact: true }).first().click()
  await shown(page, '3 quotes, without superseded offers')
  await choose('Save as a new view')
  await page.getByLabel('Name').fill('my quotes')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await shown(page, 'There is another view named "my quotes". Choose a different name.')
  await page.getByLabel('Name').fill('Open')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: 'View: Open' }).waitFor()

  // Another window of the same person changes the settings. This window's change is applied to them.
  const before = await settingsOf(tenant)
  await call(app, 'PATCH', '/api/quote-list-settings', {
    token: tenant.owner,
    body: { version: before.version, pending_days: 3 },
  })
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'Reference' }).check()
  await list.getByRole('columnheader', { name: 'Reference' }).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(async () => (await settingsOf(tenant)).views[0].columns).toContain('reference')
  await choose('Open Quotes with this view')
  await expect.poll(() => settingsOf(tenant)).toMatchObject({ default_view: 'Open', pending_days: 3 })

  // In another browser, the page opens with the view.
  const other = await openWindow({ person: tenant, refusalsExpected: true })
  await other.page.goto('/quotes')
  await shown(other.page, '3 quotes, without superseded offers')
  await other.page.getByRole('columnheader', { name: 'Reference' }).waitFor()
  await other.page.getByText('PO-7781').first().waitFor()
  expect(await accessibilityProblems(other.page)).toEqual([])

  const { version, views } = await settingsOf(tenant)
  await call(app, 'PATCH', '/api/quote-list-settings', {
    token: tenant.owner,
    body: {
      version,
      views: [...views, { name: 'Old', query: 'outcome=won&reason=mood&fuel=yes', columns: ['gone'] }],
    },
  })
  await other.page.goto('/quotes')
  await other.page.getByRole('button', { name: 'View: Open' }).click()
  await other.page.getByRole('menuitem', { name: 'Old' }).click()
  await other.page.getByText('has filters that no longer exist: fuel.').waitFor()
  await other.page.getByRole('button', { name: 'Remove this filter' }).click()
  await shown(other.page, '1 quote, without superseded offers')
  await other.page.getByRole('button', { name: 'View: Old (changed)' }).click()
  await other.page.getByRole('menuitem', { name: 'Save changes to this view' }).click()
  await expect.poll(async () => (await settingsOf(tenant)).views[1].query).toBe('outcome=won')
})

test('the palette and the keys work on every page, but not while typing', async () => {
  const { tenant, refs } = await quoting()
  const viewer = await makePerson(app, tenant, 'viewer')
  const { page, troubles } = await openWindow({ person: tenant, alone: true })
  await page.goto('/settings/people')
  await loaded(page)
  await page.keyboard.press('/')
  const palette = page.getByRole('dialog', { name: 'Search and commands' })
  const search = palette.getByRole('textbox', { name: 'Search pages, actions, customers and quotes' })
  await search.waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await search.pressSequentially('po-7781 dallas to atlanta')
  await palette.getByText(`${refs[0]} · PO-7781 · $2,000 · Pending`).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Dallas, TX → Atlanta, GA', level: 1 }).waitFor()
  // No shortcut of the page runs while a dialog is open.
  await palette.waitFor({ state: 'hidden' })
  await page.keyboard.press('n')
  const customer = page.getByRole('combobox', { name: 'Customer' })
  await customer.waitFor()
  await customer.pressSequentially('n?/')
  await expect(customer).toHaveValue('n?/')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.keyboard.press('Control+k')
  await search.pressSequentially('develop')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Developers', level: 1 }).waitFor()
  await palette.waitFor({ state: 'hidden' })
  await page.keyboard.press('?')
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await keys.getByText('Search pages, actions, customers and quotes').waitFor()
  await expect(keys.getByText('Mark won')).toHaveCount(0)
  await page.keyboard.press('Escape')
  await page.goto('/quotes')
  await shown(page, '4 quotes')
  await page.getByRole('heading', { name: 'Quotes', level: 1 }).focus()
  await page.keyboard.press('/')
  expect(
    await page.getByRole('searchbox', { name: 'Search quotes' }).evaluate((field) => field.matches(':focus')),
  ).toBe(true)
  expect(troubles).toEqual([])

  const reader = await openWindow({ person: viewer })
  await reader.page.goto('/quotes')
  await shown(reader.page, '4 quotes')
  await expect(reader.page.getByRole('checkbox')).toHaveCount(0)
  await reader.page.keyboard.press('Control+k')
  const entries = reader.page.getByRole('dialog', { name: 'Search and commands' })
  await entries.getByText('Quote desk').waitFor()
  await expect(entries.getByText(/Add a person|Import quotes|Audit log/)).toHaveCount(0)
})
