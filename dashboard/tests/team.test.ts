import { call, makePerson, makeQuote, makeServiceToken, makeTenant, password } from '#testing/make.ts'
import { accessibilityProblems, app, expect, looks, openWindow, test } from '../testing/pages.ts'

test.describe('the team page', () => {
  test('an invitation is shown once, and opening it signs the person in', async () => {
    const tenant = await makeTenant(app)
    const { page, troubles } = await openWindow({ person: tenant })
    await page.goto('/settings/people')
    await page.getByRole('button', { name: 'Invite a person' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Sam Reyes')
    await dialog.getByRole('textbox', { name: 'Email' }).fill('not an address')
    await dialog.evaluate((node) => node.querySelector('form')?.setAttribute('novalidate', ''))
    await dialog.getByRole('button', { name: 'Create the invitation' }).click()
    await dialog.getByText(/^Must be/).waitFor()
    const email = `sam-${Date.now()}@example.com`
    await dialog.getByRole('textbox', { name: 'Email' }).fill(email)
    await dialog.getByRole('button', { name: 'Create the invitation' }).click()
    const message = (await dialog.getByText(/\/invitation#/).textContent()) ?? ''
    expect(message).toMatch(
      /^Hello Sam Reyes,\s+Olive Quay invites you to the brokerage .+ Your role is member\./,
    )
    expect(message).toContain(`sign in with ${email}`)
    const link = /http\S+#\S+/.exec(message)?.[0]
    await dialog.getByRole('button', { name: 'Done' }).click()
    expect(await page.content()).not.toContain('lwinv_')

    const other = await openWindow()
    await other.page.goto(link ?? '')
    await other.page.getByText(/Olive Quay invites you to the brokerage/).waitFor()
    await other.page.getByText(email).waitFor()
    expect(await accessibilityProblems(other.page)).toEqual([])
    await other.page.getByLabel(/Choose a password/).fill(password)
    await other.page.getByRole('button', { name: 'Join' }).click()
    await other.page.getByRole('heading', { name: 'Quote desk', level: 1 }).waitFor()

    await page.reload()
    await page
      .getByRole('row', { name: /Sam Reyes/ })
      .getByText('active')
      .waitFor()
    expect(troubles.filter((text) => !text.includes('422'))).toEqual([])
  })

  test('a role is changed in the list, and the last owner stays an owner', async () => {
    const tenant = await makeTenant(app)
    const member = await makePerson(app, tenant, 'member')
    const { page } = await openWindow({ person: tenant })
    await page.goto('/settings/people')
    await page.getByLabel('Role of A member').selectOption('admin')
    await page.getByText('A member is now admin.').waitFor()
    const users = await call(app, 'GET', '/api/users', { token: tenant.owner })
    expect(users.body.users.find(({ id }: { id: number }) => id === member.id).role).toBe('admin')
    await page.getByLabel('Role of Olive Quay').selectOption('viewer')
    await page.getByText(/Not changed: .*owner/).waitFor()
    await expect(page.getByLabel('Role of Olive Quay')).toHaveValue('owner')
  })

  test('removing a person with service tokens asks what should happen to the tokens', async () => {
    const tenant = await makeTenant(app)
    const admin = await makePerson(app, tenant, 'admin')
    await makeServiceToken(app, admin.token)
    const { page } = await openWindow({ person: tenant, refusalsExpected: true })
    await page.goto('/settings/people')
    await page.getByRole('button', { name: 'Remove A admin' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await dialog.getByLabel(/Revoke them/).check()
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('A admin was removed.').waitFor()
    const tokens = await call(app, 'GET', '/api/integrations/tokens', { token: tenant.owner })
    expect(tokens.body.tokens[0].revoked_at).not.toBeNull()
    expect((await call(app, 'GET', '/api/me', { token: admin.token })).status).toBe(401)
  })

  test('a member sees the team but cannot change it', { tag: '@long' }, async () => {
    const tenant = await makeTenant(app)
    const member = await makePerson(app, tenant, 'member')
    const { page } = await openWindow({ person: member })
    await page.goto('/settings/people')
    await page.getByRole('row', { name: /Olive Quay/ }).waitFor()
    await expect(page.getByRole('button', { name: /Invite|Remove/ })).toHaveCount(0)
    await expect(page.getByLabel(/^Role of/)).toHaveCount(0)
  })
})

test.describe('the settings page', () => {
  test('saves the minimum rates, and reports which one is not a number', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant })
    await page.goto('/settings')
    await page.getByLabel('Minimum margin, % of the rate').fill('eight')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Enter a number, or leave the field empty for no minimum.').waitFor()
    await page.getByLabel('Minimum margin, % of the rate').fill('8 %')
    await page.getByLabel('Minimum rate per loaded mile').fill('$1.90')
    await page.getByText('Files and the API').click()
    await page.getByLabel(/Wins at this rate or lower, of all/).check()
    await page.getByRole('combobox', { name: 'Time zone' }).fill('los ang')
    await page.getByRole('option', { name: 'America/Los_Angeles' }).click()
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Settings saved.').waitFor()
    await page.getByLabel('Minimum margin, % of the rate').fill('-5')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Must be a number of percent from 0 to 90; it is -5.', { exact: true }).waitFor()
    const me = await call(app, 'GET', '/api/me', { token: tenant.owner })
    expect(me.body.tenant.floors).toEqual({ margin_pct: 8, margin: null, rate_per_mile: 1.9 })
    expect(me.body.tenant.win_probability_method).toBe('literal')
    expect(me.body.tenant.time_zone).toBe('America/Los_Angeles')
    await page.goto('/results')
    await page.getByText('Days and months are in the time zone America/Los_Angeles.').waitFor()
  })

  test('changes the password of a user who knows the current one', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant, refusalsExpected: true })
    await page.goto('/settings/account')
    await page.getByLabel('Current password').fill('something else entirely')
    await page.getByLabel('New password').fill('seven quiet trucks at dawn')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Password not changed').waitFor()
    await page.getByLabel('Current password').fill(tenant.password)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText(/Password changed/).waitFor()
    const again = { email: tenant.email, password: 'seven quiet trucks at dawn' }
    expect((await call(app, 'POST', '/api/auth/sign-in', { body: again })).status).toBe(200)
  })
})

test.describe('the fuel settings', () => {
  test('an admin loads prices and saves a schedule, refusals are shown at their place, and a member only reads', {
    tag: '@long',
  }, async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant, refusalsExpected: true })
    await page.goto('/settings/fuel')
    const prices = page.getByRole('form', { name: 'Load diesel prices from a file' })
    await page.getByText('Load diesel prices from a file', { exact: true }).click()
    const week = (days: number) => new Date(app.now - days * 86_400_000).toISOString().slice(0, 10)
    const load = async (...rows: string[]) => {
      const file = rows.map((row) => row.replace(',', ',EMD_EPD2D_PTE_NUS_DPG,'))
      const buffer = Buffer.from(['period,series,value', ...file].join('\n'))
      await page
        .locator('input[type=file]')
        .first()
        .setInputFiles({ name: 'diesel.csv', mimeType: 'text/csv', buffer })
      await prices.getByRole('button', { name: 'Load the file' }).click()
    }
    await load(`${week(9)},360`, `${week(2)},3.6`, `${week(1)},n/a?`)
    await prices
      .getByRole('listitem')
      .getByText('Line 2: the price "360" must be dollars per gallon')
      .waitFor()
    await prices
      .getByRole('listitem')
      .getByText('Line 4: the price "n/a?" must be dollars per gallon')
      .waitFor()
    await page.getByText('No diesel prices are loaded.').waitFor()
    await load(`${week(9)},3.45`, `${week(2)},3.6`)
    await prices.getByText('2 weeks read').waitFor()
    const weeks = page.getByRole('table', { name: 'Newest diesel prices' })
    await weeks.getByRole('row').filter({ hasText: '$3.600' }).waitFor()

    await page.getByRole('button', { name: 'Add your schedule' }).click()
    const form = page.getByRole('form', { name: 'The schedule of your brokerage' })
    const period = (number: number) => form.getByRole('group', { name: `Period ${number}` })
    await period(1).getByLabel('First day').fill('2025-01-01')
    await period(1).getByLabel('Last day').fill('2025-12-31')
    await period(1).getByLabel('Base price').fill('$1.20')
    await period(1).getByLabel('Miles per gallon').fill('six')
    await form.getByRole('button', { name: 'Add a period' }).click()
    await period(2).getByLabel('First day').fill('2026-02-01')
    await period(2).getByRole('combobox').selectOption('steps')
    await period(2).getByLabel('Steps').fill('3.00\t0.30\n3.50\t0.40')
    const save = form.getByRole('button', { name: 'Save the schedule' })
    await save.click()
    await period(1).getByText('Must be a number of miles per gallon from 1 to 30').waitFor()
    await period(1).getByLabel('Miles per gallon').fill('6')
    await save.click()
    await period(2).getByText('No period covers 2026-01-01 to 2026-01-31').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await period(2).getByLabel('First day').fill('2026-01-01')
    await save.click()
    const schedule = page.getByRole('table', { name: 'Surcharge schedule of Your brokerage' })
    await schedule.getByText('$0.300 from $3.000, $0.400 from $3.500').waitFor()

    const member = await makePerson(app, tenant, 'member')
    const other = await openWindow({ person: member, refusalsExpected: true })
    await other.page.goto('/settings/fuel')
    const load780 = other.page.getByRole('form', { name: 'Surcharge of a load' })
    await load780.getByLabel('Loaded miles').fill('many')
    await load780.getByRole('button', { name: 'Compute the surcharge' }).click()
    await load780.getByText('Must be a number of miles').waitFor()
    await load780.getByLabel('Loaded miles').fill('780')
    await load780.getByRole('button', { name: 'Compute the surcharge' }).click()
    await load780.getByText('$312').waitFor()
    await expect(other.page.getByRole('button', { name: /Load the file|Add|Edit|Remove the/ })).toHaveCount(0)
    expect(await accessibilityProblems(other.page)).toEqual([])
  })
})

for (const { colorScheme, width } of looks)
  test.describe(`accessible in ${colorScheme} at ${width}`, () => {
    test('team, audit log, settings and the pages without a session', { tag: '@long' }, async () => {
      const tenant = await makeTenant(app)
      const { page } = await openWindow({ person: tenant, colorScheme, width })
      for (const path of [
        '/settings/people',
        '/settings/audit',
        '/settings',
        '/settings/fuel',
        '/sign-in',
        '/sign-up',
        '/invitation',
      ]) {
        await page.goto(path)
        expect(await accessibilityProblems(page), path).toEqual([])
        const scrolls = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')
        expect(scrolls, `${path} scrolls sideways`).toBe(false)
      }
    })
  })

test('a team hides its customers from others, says who sees what, and names wrong fields', async () => {
  const tenant = await makeTenant(app)
  const member = await makePerson(app, tenant, 'member')
  await makeQuote(app, tenant, { customer: 'Harvest Foods' })
  await makeQuote(app, tenant, { customer: 'Polar' })
  const seen = async () =>
    (await call(app, 'GET', '/api/customers/list', { token: member.token })).body.customers.map(
      ({ name }: { name: string }) => name,
    )
  const { page, troubles } = await openWindow({ person: tenant, refusalsExpected: true })
  await page.goto('/settings/people')
  await page.getByText('There are no teams, so everybody sees and edits all customers.').waitFor()
  await page.getByRole('button', { name: 'Add a team' }).click()
  const form = page.getByRole('form', { name: 'New team' })
  await form.getByRole('button', { name: 'Save the team' }).click()
  await form
    .getByText(/^Must be|^must be|^name/i)
    .first()
    .waitFor()
  await form.getByLabel('Name of the team').fill('Produce')
  await form.getByRole('combobox', { name: 'Add a customer that only this team sees' }).fill('Harvest Foods')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await form.getByRole('listitem').getByText('Harvest Foods').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await form.getByRole('button', { name: 'Save the team' }).click()

  const team = page.getByRole('region', { name: 'Team Produce' })
  await team.getByText('none, so only admins and owners see its customers').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  expect(await seen()).toEqual(['Polar'])
  await team.getByRole('button', { name: 'Edit the team Produce' }).click()
  const edited = page.getByRole('form', { name: 'Team Produce' })
  await edited.getByRole('checkbox', { name: 'A member' }).check()
  await edited.getByRole('button', { name: 'Save the team' }).click()
  await team.getByText('A member').waitFor()
  expect((await seen()).toSorted()).toEqual(['Harvest Foods', 'Polar'])
  await team.getByRole('button', { name: 'Remove the team Produce' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove the team' }).click()
  await page.getByText('There are no teams, so everybody sees and edits all customers.').waitFor()
  expect(troubles).toEqual([])
})
