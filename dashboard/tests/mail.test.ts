import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mailReceiver, sendMailTo } from '#testing/mail-receiver.ts'
import { call, type MadeTenant, makeLane, makePerson, makeTenant } from '#testing/make.ts'
import { storeMail } from '#testing/stored-mail.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { accessibilityProblems, openBrowser, openWindow, type Window } from '../testing/browser.ts'

let app: TestApp
let browser: Browser
let tenant: MadeTenant

beforeAll(async () => {
  app = await testApp({
    config: { mail: { operators: null, byBrokerage: true, allowPrivate: ['127.0.0.1'], publicUrl: null } },
    sendMail: { everyMs: 20, holdMs: 20 },
  })
  browser = await openBrowser()
  tenant = await makeTenant(app)
})
afterAll(async () => {
  await browser.close()
  await app.close()
})

const open = (person: { email: string; password: string } = tenant): Promise<Window> =>
  openWindow(browser, app.url, { person, refusalsExpected: true })

async function fitsPhone({ page }: Window): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await accessibilityProblems(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await page.setViewportSize({ width: 1366, height: 657 })
}

test('an admin sets the mailbox, sees that it fails, and removes it; the menu has a link to its mails meanwhile', async () => {
  const window = await open()
  const { page } = window
  await page.goto('/settings/mail')
  const menu = page.getByRole('navigation', { name: 'Pages' })
  const form = page.getByRole('form', { name: 'Mailbox' })
  await form.getByLabel('IMAP host').fill('10.0.0.5')
  await form.getByLabel('User').fill('quotes@example.com')
  await form.getByRole('textbox', { name: 'Password' }).fill('a password')
  await form.getByRole('button', { name: 'Set the mailbox' }).click()
  await form.getByText('Must be on the public internet').waitFor()
  await form.getByLabel('IMAP host').fill('imap.example.com')
  await form.getByRole('button', { name: 'Set the mailbox' }).click()
  await page.getByText('quotes@example.com at imap.example.com, port 993.').waitFor()
  await menu.getByRole('link', { name: 'Mail' }).waitFor()
  await fitsPhone(window)
  await page.getByRole('button', { name: 'Remove the mailbox' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await menu.getByRole('link', { name: 'Mail' }).waitFor({ state: 'detached' })
  expect(window.troubles.filter((trouble) => !trouble.includes('422'))).toEqual([])
})

test('an admin makes an address for forwarded mails, changes it, and removes it', async () => {
  const window = await open(await makePerson(app, tenant, 'admin'))
  const { page, troubles } = window
  await page.goto('/settings/mail')
  await page.getByRole('button', { name: 'Make an address' }).click()
  const address = page.getByText(/^quotes-\d+-[a-z2-7]{16}@in\.example\.com$/)
  const first = await address.textContent()
  await page.getByText('No mail has arrived yet.', { exact: false }).waitFor()
  await fitsPhone(window)
  const days = page.getByRole('textbox', { name: 'Days for which the text of a forwarded mail is kept' })
  await days.fill('none')
  await page.getByRole('button', { name: 'Save the days' }).click()
  await page.getByText('Must be a whole number', { exact: false }).waitFor()
  await days.fill('7')
  await page.getByRole('button', { name: 'Save the days' }).click()
  await page.getByText('The days are saved.').waitFor()
  await page.getByRole('button', { name: 'Replace the address' }).click()
  await expect.poll(() => address.textContent()).not.toBe(first)
  await page.getByRole('button', { name: 'Remove the address' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove the address' }).click()
  await page.getByRole('button', { name: 'Make an address' }).waitFor()
  expect(troubles).toEqual([])
})

test('a rep reads a mail with its words marked, names its customer, and makes quotes of it', async () => {
  const rep = await makePerson(app, tenant, 'member')
  const id = await storeMail(app, tenant, { subject: 'Two lanes' })
  const window = await open(rep)
  const { page, troubles } = window
  await page.goto('/mail')
  await fitsPhone(window)
  await page.getByRole('link', { name: 'Two lanes' }).click()
  await page.getByRole('heading', { name: 'Two lanes', level: 1 }).waitFor()
  const marked = await page.locator('mark').allTextContents()
  expect(marked).toEqual(expect.arrayContaining(['Dallas, TX', 'Atlanta, GA', 'dry van', 'Chicago, IL']))
  expect(marked).not.toContain('$1')
  await page.getByText('map.pdf: It is no table.').waitFor()
  await fitsPhone(window)
  await page.getByRole('textbox', { name: 'Customer' }).fill('Harvest Table Foods')
  await page.getByRole('button', { name: 'Set the customer' }).click()
  // The button is disabled while it sends, too.
  await expect
    .poll(async () => (await call(app, 'GET', `/api/received-mails/${id}`, { token: rep.token })).body.mail)
    .toMatchObject({ customer: 'Harvest Table Foods' })
  await page.getByRole('button', { name: 'Set the customer', disabled: true }).waitFor()
  await page.getByRole('link', { name: 'Make quotes' }).click()
  const dialog = page.getByRole('dialog', { name: 'Lanes of a mail' })
  await dialog.getByRole('button', { name: 'Portland, OR' }).click()
  await fitsPhone(window)
  await dialog.getByRole('button', { name: 'Add 3 lanes' }).click()
  await dialog.waitFor({ state: 'detached' })
  const rate = (nth: number) =>
    page.getByRole('group', { name: `Lane ${nth}`, exact: true }).getByLabel('Rate', { exact: true })
  for (const nth of [1, 2, 3]) {
    expect(await rate(nth).inputValue()).toBe('')
    await rate(nth).fill('2000')
  }
  expect(await page.getByRole('combobox', { name: 'Customer' }).inputValue()).toBe('Harvest Table Foods')
  await page.getByRole('button', { name: /^Save/ }).first().click()
  await page.getByRole('heading', { name: '3 lanes quoted' }).waitFor()
  await expect
    .poll(async () => (await call(app, 'GET', `/api/received-mails/${id}`, { token: rep.token })).body.mail)
    .toMatchObject({ state: 'done', has_quotes: true, assigned_to: { user_id: rep.id } })
  await page.goto(`/mail/${id}`)
  await page.getByText('Quoted', { exact: true }).waitFor()
  expect(troubles).toEqual([])
})

test('a rep sends the draft of an answer, and a reply becomes a counter-offer that the rep confirms', async () => {
  const own = await makeTenant(app)
  const receiver = await mailReceiver()
  await sendMailTo(app, own, receiver)
  const messageId = 'answer-1@harvesttable.example'
  const id = await storeMail(app, own, { subject: 'Rate needed', messageId })
  const { lane_ref: ref } = await makeLane(app, own, { rate: 2150 })
  const as = (method: string, path: string, body?: object) =>
    call(app, method, path, { token: own.owner, ...(body === undefined ? {} : { body }) })
  await as('PATCH', `/api/received-mails/${id}`, { state: 'done', lane_ref: ref })
  await as('PATCH', '/api/tenant', { answer_template: 'Hello {name},\n{quotes}\n{rep}' })
  const window = await open(own)
  const { page, troubles } = window
  await page.goto(`/mail/${id}`)
  const text = page.getByRole('textbox', { name: 'Text of the answer' })
  await expect.poll(() => text.inputValue()).toContain('$2,150')
  expect(await text.inputValue()).toContain('Hello Dana,')
  await fitsPhone(window)
  await page.getByRole('button', { name: 'Send the answer' }).click()
  await receiver.until((mails) => mails.length === 1)
  expect(receiver.received[0]?.header('In-Reply-To')).toBe(`<${messageId}>`)
  await page.getByRole('heading', { name: 'Answers' }).waitFor()
  const reply = await storeMail(app, own, {
    subject: 'Re: Rate needed',
    text: 'Too high, we have 2,050.',
    references: [messageId],
    minute: 5,
  })
  await page.goto(`/mail/${reply}`)
  await page.getByText('The customer seems to name $2,050: “Too high, we have 2,050.”').waitFor()
  await fitsPhone(window)
  await page.getByRole('button', { name: 'Counter-offer at $2,050' }).click()
  const dialog = page.getByRole('dialog', { name: 'Counter-offer' })
  expect(await dialog.getByLabel('The customer says').inputValue()).toBe('2050')
  const won = await storeMail(app, own, {
    subject: 'Re: Re: Rate needed',
    text: 'Go ahead and book it.',
    references: [messageId],
    minute: 9,
  })
  await page.goto(`/mail/${won}`)
  await page.getByRole('button', { name: 'Mark won' }).click()
  await page.getByText('Decided.').waitFor()
  await expect.poll(async () => (await as('GET', `/api/lanes/${ref}`)).body.outcome).toBe('won')
  await page.goto('/mail')
  const speed = page.getByRole('region', { name: 'How fast we answer' })
  await speed.getByText('100% of 1 answer').first().waitFor()
  await speed.getByText('Too few decided quotes to say whether faster answers win more.').waitFor()
  await fitsPhone(window)
  await receiver.close()
  expect(troubles).toEqual([])
})

test('an admin sets the template of answers, and it must contain the quotes', async () => {
  const { page } = await open()
  await page.goto('/settings/mail')
  const form = page.getByRole('form', { name: 'Template of answers' })
  await form.getByLabel('Template').fill('Hello')
  await form.getByRole('button', { name: 'Save the template' }).click()
  await form.getByText('that contains {quotes}').waitFor()
  await form.getByLabel('Template').fill('Hello {name}, {quotes}')
  await form.getByRole('button', { name: 'Save the template' }).click()
  await page.getByText('The template is saved.').waitFor()
})
