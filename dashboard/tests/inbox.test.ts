import { expect, test } from 'vitest'
import { makeIntegration, makeLane, makePerson, makeTenant, pushUpdate } from '#testing/make.ts'
import { accessibilityProblems, openWindow } from '../testing/browser.ts'
import { serviceAndBrowser } from '../testing/service-and-browser.ts'

const { app, browser } = await serviceAndBrowser()

/** The bell must show it within five seconds; a busy machine draws it later. */
const bellMs = 15_000

test('what waits is on the bell of every page without a reload, and is put away with the keyboard', {
  tags: 'long',
  timeout: 90_000,
}, async () => {
  const acme = await makeIntegration(app)
  const viewer = await makePerson(app, acme.tenant, 'viewer')
  const lane = await makeLane(app, acme.tenant)
  const { page, troubles } = await openWindow(browser, app.url, { person: viewer })
  await page.goto('/settings')
  const bell = page.getByRole('link', { name: /^Inbox:/ })
  await page.getByRole('link', { name: 'Inbox: nothing new' }).waitFor()
  await pushUpdate(app, acme, { lane_ref: lane.lane_ref, customer_rate: 1900, truck_cost: 2061 })
  await page.getByRole('link', { name: 'Inbox: 1 new' }).waitFor({ timeout: bellMs })
  await bell.focus()
  await page.keyboard.press('Enter')
  const list = page.getByRole('list', { name: 'Inbox' })
  await list.getByText('Booked at a loss: Dallas, TX to Atlanta, GA').waitFor()
  await page.getByRole('link', { name: 'Inbox: nothing new' }).waitFor({ timeout: bellMs })
  expect(await accessibilityProblems(page)).toEqual([])
  await list.getByRole('button', { name: /^Done: Booked at a loss/ }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('Nothing waits for you').waitFor()
  expect(troubles).toEqual([])
})

test('a due follow-up has a draft with the stored quote, which the person sends', async () => {
  const tenant = await makeTenant(app)
  const { lane_ref: ref } = await makeLane(app, tenant)
  app.now += 5 * 3_600_000
  const { page, troubles } = await openWindow(browser, app.url, { person: tenant })
  await page.goto('/my-day')
  await page.getByRole('button', { name: /^Draft: Harvest Table Foods/ }).click()
  const dialog = page.getByRole('dialog')
  const text = dialog.getByRole('textbox', { name: 'Text for the customer' })
  await expect.poll(() => text.inputValue()).toContain(`Our reference ${ref}`)
  expect(await text.inputValue()).toContain('Dallas, TX → Atlanta, GA, Van (V): $2,000')
  expect(await accessibilityProblems(page)).toEqual([])
  await text.fill('Dana,\nany news?')
  const link = dialog.getByRole('link', { name: 'Open in your mail program' })
  expect(await link.getAttribute('href')).toMatch(
    /^mailto:\?subject=Our%20quote.*&body=Dana%2C%0D%0Aany%20news%3F$/,
  )
  expect(troubles).toEqual([])
})
