import { randomUUID } from 'node:crypto'
import type { Page } from '@playwright/test'
import { password, pushUpdate } from '#testing/make.ts'
import { app, expect, openWindow, test } from '../testing/pages.ts'

async function signUp(page: Page): Promise<void> {
  await page.goto('/sign-up')
  await page.getByLabel('Brokerage name').fill('Blue Mesa Logistics')
  await page.getByLabel('Your name').fill('Ana Ortiz')
  await page.getByLabel('Your email').fill(`${randomUUID()}@example.com`)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Create brokerage' }).click()
  await page.getByRole('heading', { name: 'Get started', level: 1 }).waitFor()
}

/** Quotes one lane on the desk and returns the lane_ref that the desk shows. */
async function quoteALane(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Quote', exact: true }).click()
  await page.getByRole('combobox', { name: 'Customer' }).fill('Harvest Table Foods')
  const lane = page.getByRole('group', { name: 'Quote 1', exact: true })
  await lane.getByRole('combobox', { name: 'Origin' }).fill('Dallas, TX')
  await lane.getByRole('combobox', { name: 'Destination' }).fill('Atlanta, GA')
  await lane.getByRole('textbox', { name: 'Rate', exact: true }).fill('2150')
  await page.keyboard.press('Control+Enter')
  const text = await page
    .getByText(/^\d{5,}-1-1$/)
    .first()
    .textContent()
  return text ?? ''
}

/** Creates a credential on the Integration page and returns its plaintext, which is shown once. */
async function plaintextOf(page: Page, button: RegExp, form: RegExp): Promise<string> {
  await page.getByRole('button', { name: button }).click()
  const dialog = page.getByRole('dialog')
  const text = await dialog.getByText(form).first().textContent()
  await dialog.getByRole('button', { name: /saved it/ }).click()
  await dialog.waitFor({ state: 'hidden' })
  return (text ?? '').trim()
}

test('from sign-up to a quote, a win, a booking from the TMS, and the margin on the Shipments page', async () => {
  const { page, troubles } = await openWindow()
  await signUp(page)
  const laneRef = await quoteALane(page)

  await page.getByRole('link', { name: 'Quotes', exact: true }).click()
  // The desk lists the saved quote too, until the page of quotes is drawn.
  await page.getByRole('heading', { name: 'Quotes', level: 1 }).waitFor()
  const row = page.getByRole('row').filter({ hasText: laneRef })
  await row.getByText('Pending').waitFor()
  await row.getByRole('link').first().focus()
  await page.keyboard.press('w')
  await row.getByText('Won').first().waitFor()

  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await page.getByRole('link', { name: 'Developers', exact: true }).click()
  await page.getByRole('heading', { name: 'Developers', level: 1 }).waitFor()
  await page.getByLabel(/name/i).first().fill('McLeod production')
  await page.getByRole('checkbox', { name: /integrations:write/ }).check()
  const token = await plaintextOf(page, /create.*token/i, /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/)
  const secret = await plaintextOf(page, /create.*secret/i, /^lwsec_\w+$/)
  expect(await page.content()).not.toContain(token)
  expect(await page.content()).not.toContain(secret)

  const booked = {
    lane_ref: laneRef,
    customer_rate: 2100,
    truck_cost: 1790,
    carrier_name: 'Blue Mesa Trucking',
  }
  expect((await pushUpdate(app, { token, secret }, booked)).status).toBe(200)

  await page.getByRole('link', { name: 'Quotes', exact: true }).first().click()
  await page.getByRole('link', { name: 'Shipments', exact: true }).click()
  await page.getByRole('heading', { name: 'Shipments', level: 1 }).waitFor()
  const shipment = page.getByRole('row').filter({ hasText: laneRef })
  await shipment.waitFor()
  const text = await shipment.innerText()
  for (const words of ['Harvest Table Foods', 'Blue Mesa Trucking', '$2,100', '$1,790', '$310', '14.8%']) {
    expect(text).toContain(words)
  }

  // The booked cost is the brokerage's only one, so the costs ahead are near it.
  await page.getByRole('link', { name: 'Lanes', exact: true }).click()
  await page.getByRole('link', { name: /Dallas, TX.*Atlanta, GA/ }).click()
  await page
    .getByText(/^Expected cost ahead: 7 days \$1,[789]\d\d .*28 days .*No seasonal evidence: /)
    .waitFor()
  expect(troubles).toEqual([])
})
