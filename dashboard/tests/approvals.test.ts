import type { Page } from '@playwright/test'
import { call, type MadeTenant, makePerson, makeQuote, makeTenant } from '#testing/make.ts'
import { accessibilityProblems, app, expect, openWindow, test } from '../testing/pages.ts'

let tenant: MadeTenant
let rep: Awaited<ReturnType<typeof makePerson>>

/** The longest wait for a badge. It is due within five seconds, but a busy machine draws it later. */
const badgeMs = 15_000

test.beforeAll(async () => {
  tenant = await makeTenant(app)
  rep = await makePerson(app, tenant, 'member')
  for (const rate of [1900, 1950, 2000, 2050, 2100, 2150]) {
    await makeQuote(app, tenant, { rate, outcome: rate < 2050 ? 'won' : 'lost' })
  }
  const { status } = await call(app, 'POST', '/api/pricing-rules', {
    token: tenant.owner,
    body: { conditions: {}, terms: { minimum: { rate_per_mile: 2 }, outside: 'approval' } },
  })
  expect(status).toBe(201)
})

const customer = (page: Page) => page.getByRole('combobox', { name: 'Customer' })
const requests = (page: Page) => page.getByRole('status', { name: 'Your requests for approval' })
const menu = (page: Page) => page.getByRole('navigation', { name: 'Pages' })

async function askFor(page: Page, rate: string): Promise<void> {
  await page.goto('/')
  await customer(page).fill('Harvest Table Foods')
  await page.getByRole('combobox', { name: 'Origin' }).fill('Dallas, TX')
  await page.getByRole('combobox', { name: 'Destination' }).fill('Atlanta, GA')
  await page.getByRole('textbox', { name: 'Rate', exact: true }).fill(rate)
  await page.getByRole('textbox', { name: 'Cost', exact: true }).fill('1150')
  await page.keyboard.press('Control+Enter')
  // The page asks only about the rule: no dialog asks first whether the rate is right.
  await page.getByRole('button', { name: 'Ask for approval' }).click()
  await requests(page).getByText('Waiting for approval:').waitFor()
  await expect(customer(page)).toHaveValue('')
}

test.describe('a quote outside the rules', () => {
  test('is asked for, decided with the keyboard and sent, and both sides see it without a reload', async () => {
    const mine = await openWindow({ person: rep, refusalsExpected: true })
    const approver = await openWindow({ person: tenant })
    await approver.page.goto('/quotes')
    await approver.page.getByRole('heading', { name: 'Quotes', level: 1 }).waitFor()
    await askFor(mine.page, '1200')
    // The form is empty, and no message says that a draft is not saved.
    await expect(customer(mine.page)).toHaveValue('')
    await expect(mine.page.getByText('Not saved')).toHaveCount(0)
    await expect(mine.page.getByText('needs an approval')).toHaveCount(0)
    await mine.page.reload()
    await requests(mine.page).getByText('Waiting for approval:').waitFor()
    await expect(customer(mine.page)).toHaveValue('')

    const link = menu(approver.page).getByRole('link', { name: /^Approvals/ })
    await link.getByLabel('1 request for approval').waitFor({ timeout: badgeMs })
    await link.click()
    const card = approver.page.getByRole('region', { name: /^Approval \d/ })
    const facts = card.getByRole('group', { name: 'What the rate means' })
    await facts.getByText('Cost $1,150 as entered').waitFor()
    await facts.getByText('Margin $50 (4.2%)').waitFor()
    await facts.getByText(/^Chance [<>]?\d+%/).waitFor()
    await facts.getByText(/^To quote \$\d/).waitFor()
    await expect(card.getByRole('table').locator('tbody tr')).toHaveCount(5)
    // Somebody else's request cannot be withdrawn here.
    await expect(card.getByRole('button', { name: 'Withdraw' })).toHaveCount(0)
    expect(await accessibilityProblems(approver.page)).toEqual([])
    await approver.page.getByRole('heading', { name: 'Approvals', level: 1 }).click()
    await approver.page.keyboard.press('a')
    await card.getByText('approved', { exact: true }).waitFor()
    await link.getByLabel(/for approval$/).waitFor({ state: 'detached' })

    await requests(mine.page).getByText('Approved: send this.').waitFor({ timeout: badgeMs })
    await menu(mine.page).getByLabel('1 answer about an approval').waitFor()
    await requests(mine.page).getByText('Quote for Harvest Table Foods').waitFor()
    await requests(mine.page).getByRole('button', { name: 'Copy as e-mail' }).click()
    const text = String(await mine.page.evaluate('navigator.clipboard.readText()'))
    expect(text).toContain('Dallas, TX → Atlanta, GA, Van (V): $1,200')
    expect(text).not.toMatch(/minimum|margin|approv/i)
    expect(await accessibilityProblems(mine.page)).toEqual([])
    await requests(mine.page).getByRole('button', { name: 'Done' }).click()
    await menu(mine.page)
      .getByLabel(/about an approval$/)
      .waitFor({ state: 'detached' })
    await mine.page.reload()
    await customer(mine.page).waitFor()
    await expect(requests(mine.page).getByText('Approved')).toHaveCount(0)
    expect([mine.troubles, approver.troubles]).toEqual([[], []])
  })

  test('can be countered with the keyboard, and the rep accepts on the desk; a typed text stays', async () => {
    const mine = await openWindow({ person: rep, refusalsExpected: true })
    const approver = await openWindow({ person: tenant })
    await askFor(mine.page, '1210')
    await customer(mine.page).fill('Next Customer')
    await approver.page.goto('/approvals')
    const card = approver.page.getByRole('region', { name: /^Approval \d/ }).first()
    await card.getByRole('button', { name: 'Approve' }).waitFor()
    await approver.page.getByRole('heading', { name: 'Approvals', level: 1 }).click()
    await approver.page.keyboard.press('o')
    await approver.page.keyboard.type('1,300')
    await approver.page.keyboard.press('Enter')
    await card.getByText('countered', { exact: true }).waitFor()
    await requests(mine.page).getByRole('button', { name: 'Accept $1,300' }).click({ timeout: badgeMs })
    await requests(mine.page).getByText('Approved: send this.').waitFor()
    // While the next quote is typed, the text opens on request, so that the form does not move.
    await expect(requests(mine.page).getByText('Quote for Harvest Table Foods')).toBeHidden()
    await expect(customer(mine.page)).toHaveValue('Next Customer')
  })
})
