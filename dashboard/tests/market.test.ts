import { pushMarketRates } from '#contract/market-rates.ts'
import type { TestApp } from '#testing/app-on-database.ts'
import { call, type Integration, makeIntegration, makeQuote, pushSigned, pushUpdate } from '#testing/make.ts'
import { accessibilityProblems, expect, openWindow, ownApp, test } from '../testing/pages.ts'

let app: TestApp
let ours: Integration

/** Two quotes on one lane, won at $1,900 with a truck of $2,100 and lost at $1,800, where the market is $2,000. */
test.beforeAll(async () => {
  app = await ownApp({})
  ours = await makeIntegration(app, 'integrations:write quotes:write')
  const { lane_ref } = await makeQuote(app, ours.tenant, { rate: 1900, outcome: 'won' })
  await pushUpdate(app, ours, { lane_ref, truck_cost: 2100 })
  await makeQuote(app, ours.tenant, { rate: 1800, outcome: 'lost' })
  const rate = {
    origin: 'Dallas, TX',
    destination: 'Atlanta, GA',
    equipment: 'V',
    basis: 'all_in',
    low: 1850,
    mid: 2000,
    high: 2150,
    sample: 48,
    source: 'DAT',
    as_of: new Date(app.now - 2 * 86_400_000).toISOString(),
  }
  await pushSigned(app, ours, pushMarketRates, {
    rates: [
      rate,
      { ...rate, kind: 'sell' },
      {
        ...rate,
        kind: 'sell',
        source: 'Truckstop',
        mid: 2120,
        as_of: new Date(app.now - 3 * 86_400_000).toISOString(),
      },
    ],
  })
})
test.afterAll(async () => {
  await app.close()
})

test('the comparison leads to the quotes and to the lane, where both references are side by side', async () => {
  const { page, troubles } = await openWindow({ url: app.url, person: ours.tenant })
  await page.goto('/market')
  const lanes = page.getByRole('table', { name: 'By lane' })
  const row = lanes.getByRole('row').filter({ hasText: 'Dallas, TX' })
  await row.waitFor()
  for (const words of ['−5.0%', '−10.0%', '+5.0%', '$100', '$300']) await expect(row).toContainText(words)
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('combobox', { name: 'Show' }).selectOption('paying_above')
  const file = await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href')
  expect(await (await page.request.get(file ?? '')).text()).toContain(
    '"Dallas, TX","Atlanta, GA",V,1,1900.00',
  )
  await row.getByRole('link', { name: /^Quotes of/ }).click()
  await page.getByRole('heading', { name: 'Quotes', level: 1 }).waitFor()
  await page.goBack()
  await row.getByRole('link', { name: /^Lane page of/ }).click()
  await page.getByText('Map, market and months', { exact: true }).click()
  const both = page.getByRole('region', { name: 'Your rates and the market' }).first()
  await both.getByText('DAT, what customers pay, all-in, city pair, 2 days old, 48 loads').waitFor()
  await expect(both).toContainText('Truckstop says $2,120, 6% more')
  expect(await accessibilityProblems(page)).toEqual([])
  expect(troubles).toEqual([])
})

test('a rate is entered by hand, a wrong one names its field, and a source is erased after a confirmation', {
  tag: '@long',
}, async () => {
  const { page } = await openWindow({ url: app.url, person: ours.tenant })
  await page.goto('/settings/market?origin=Chicago, IL&destination=Memphis, TN')
  const form = page.getByRole('form', { name: 'Enter a market rate' })
  await form.getByRole('textbox', { name: 'Rate' }).fill('2.51')
  await form.getByLabel('Source').fill('Phone')
  await form.getByRole('button', { name: 'Save the rate' }).click()
  await form.getByText('looks like dollars per mile').waitFor()
  await form.getByRole('textbox', { name: 'Rate' }).fill('1,310')
  await form.getByRole('button', { name: 'Save the rate' }).click()
  const sources = page.getByRole('table', { name: 'Sources of market rates' })
  await sources.getByRole('row').filter({ hasText: 'Phone' }).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Erase all rates of Phone' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Erase 1 rate' }).click()
  await page.getByText('1 market rate of Phone erased.').waitFor()
  await sources.getByRole('row').filter({ hasText: 'Phone' }).waitFor({ state: 'detached' })
})

test('a file of a Macintosh says how it was read, and another reading is chosen before it is saved', async () => {
  const { page, troubles } = await openWindow({ url: app.url, person: ours.tenant })
  await page.goto('/settings/market')
  const form = page.getByRole('form', { name: 'Load a file of market rates' })
  const year = new Date(app.now).getUTCFullYear() - 1
  // \x8e is é in the encoding of the Macintosh.
  const text = `Ship From;Ship To;Equip;All-In Rate;Date\nMontr\x8eal, QC;Qu\x8ebec, QC;V;1960;2/1/${year}\n`
  await form
    .locator('input[type=file]')
    .setInputFiles({ name: 'rates.csv', mimeType: 'text/csv', buffer: Buffer.from(text, 'latin1') })
  await form.getByLabel('Source, if the file has none').fill('Régie')
  const encoding = form.getByLabel('Encoding, if names look wrong')
  await encoding.selectOption('DOS (CP850)')
  await form.getByRole('button', { name: 'Check the file' }).click()
  const read = form.getByRole('region', { name: 'How it was read' })
  await read.getByText('The text is in the encoding DOS (CP850), with words such as "MontrÄal"').waitFor()
  await encoding.selectOption('As its words say')
  await form.getByRole('button', { name: 'Check the file' }).click()
  await read.getByText('The text is in the encoding Macintosh, with words such as "Montréal"').waitFor()
  await read.getByText(`Date: month first, so 2/1/${year} is February 1, ${year}.`).waitFor()
  await read.getByRole('button', { name: `Day first: 2 January ${year}` }).click()
  await read.getByText(`Date: day first, so 2/1/${year} is 2 January ${year}.`).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await form.getByRole('button', { name: 'Save 1 rate' }).click()
  await form.getByText('1 rate added').waitFor()
  const { body } = await call(app, 'GET', '/api/market-rates?source=R%C3%A9gie', { token: ours.tenant.owner })
  expect(body.rates).toMatchObject([{ origin: 'Montréal, QC', as_of: `${year}-01-02T00:00:00.000Z` }])
  expect(troubles).toEqual([])
})
