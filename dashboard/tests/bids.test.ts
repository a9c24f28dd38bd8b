import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { call, makeLane, makePerson, makePricedBid, makeTenant, setColumns } from '#testing/make.ts'
import { accessibilityProblems, openWindow } from '../testing/browser.ts'
import { serviceAndBrowser } from '../testing/service-and-browser.ts'

const { app, browser } = await serviceAndBrowser()

test("a shipper's file is uploaded, mended, edited by keyboard by two people, and downloaded with the rates", {
  tags: 'long',
}, async () => {
  const tenant = await makeTenant(app)
  const other = await makePerson(app, tenant, 'member')
  for (const rate of [1900, 2000, 2100, 2200, 2300]) {
    await makeLane(app, tenant, { rate, rateType: 'contract', outcome: rate < 2150 ? 'won' : 'lost' })
  }
  const rows = Array.from({ length: 600 }, (_, at) => `L-${at + 1},"Dallas, TX","Atlanta, GA",V,52,`)
  const text = [
    'Lane,Origin,Destination,Equipment,Annual Volume,Bid Rate',
    'L-0,"Dalas, TX","Atlanta, GA",V,52,',
    ...rows,
  ].join('\n')
  const file = path.join(tmpdir(), `bid-${process.pid}.csv`)
  await writeFile(file, text)

  const { page, troubles } = await openWindow(browser, app.url, { person: tenant, refusalsExpected: true })
  await page.goto('/bids')
  await page.getByRole('button', { name: 'New bid' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('RFP 2027')
  await page.getByRole('combobox', { name: 'Shipper' }).fill('Harvest Table Foods')
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByText('The header is in line 1.').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Upload and price' }).click()
  await page.getByRole('heading', { name: 'RFP 2027', level: 1 }).waitFor()

  const unknown = page.getByRole('region', { name: 'origin Dalas, TX' })
  await unknown.getByRole('button', { name: 'Dallas, TX' }).click()
  await unknown.waitFor({ state: 'detached' })
  await page.getByText('Pricing the lanes').waitFor({ state: 'detached', timeout: 60_000 })
  expect(await accessibilityProblems(page)).toEqual([])

  const rateOf = (lane: number, on = page) =>
    on.getByRole('textbox', { name: `Rate of lane ${lane}`, exact: true })
  await expect.poll(() => rateOf(1).inputValue()).not.toBe('')
  await rateOf(1).fill('1234.56')
  await page.keyboard.press('Enter')
  await page.keyboard.type('1300')
  await page.keyboard.press('ArrowDown')
  await page.getByRole('button', { name: 'Undo change 3' }).waitFor()
  // Of 601 lanes, those on screen are drawn.
  expect(await page.getByRole('textbox', { name: /^Rate of lane/ }).count()).toBeLessThan(80)

  const second = await openWindow(browser, app.url, { person: other, refusalsExpected: true })
  await second.page.goto('/bids?bid=1')
  await expect.poll(() => rateOf(1, second.page).inputValue()).toBe('1234.56')
  await rateOf(1).fill('1250')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Undo change 4' }).waitFor()
  await rateOf(1, second.page).fill('999')
  await second.page.keyboard.press('Enter')
  const conflict = second.page.getByRole('alert').filter({ hasText: 'The rate was not saved' })
  await conflict.getByText('Lane 1 has $1,250').waitFor()
  await conflict.getByRole('button', { name: 'Keep theirs' }).click()
  await expect.poll(() => rateOf(1, second.page).inputValue()).toBe('1250')

  await page.getByRole('combobox', { name: 'Strategy' }).selectOption('move')
  await page.getByRole('textbox', { name: 'Percent' }).fill('10')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByRole('button', { name: 'Apply to 601 lanes' }).click()
  await expect.poll(() => rateOf(1).inputValue()).toBe('1375')
  await page.getByRole('button', { name: 'Undo change 5' }).click()
  await expect.poll(() => rateOf(1).inputValue()).toBe('1250')

  const arriving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download the file with rates' }).click()
  const stream = await (await arriving).createReadStream()
  const filled = Buffer.concat(await stream.toArray()).toString()
  expect(filled.split('\n').slice(0, 3)).toEqual([
    'Lane,Origin,Destination,Equipment,Annual Volume,Bid Rate',
    'L-0,"Dalas, TX","Atlanta, GA",V,52,1250',
    'L-1,"Dallas, TX","Atlanta, GA",V,52,1300',
  ])
  expect([troubles, second.troubles]).toEqual([[], []])
})

test('rates are chosen together within a cap, and awards show their loads and what their costs do', {
  tags: 'long',
}, async () => {
  const tenant = await makeTenant(app)
  const lanes = [
    ['Dallas, TX', 'Atlanta, GA', 1_800],
    ['Houston, TX', 'Memphis, TN', 1_300],
  ] as const
  for (const [origin, destination, cost] of lanes) {
    for (const markup of [1.05, 1.1, 1.15, 1.25]) {
      const isWon = markup < 1.12
      const { lane_id } = await makeLane(app, tenant, {
        origin,
        destination,
        rate: Math.round(cost * markup),
        outcome: isWon ? 'won' : 'lost',
        rateType: 'contract',
      })
      if (isWon) await setColumns(app, tenant, lane_id, { truck_cost_cents: cost * 100 })
    }
  }
  const file = `Lane,Origin,Destination,Equipment,Annual Volume,Rate
H-1,"Dallas, TX","Atlanta, GA",V,104,
H-2,"Houston, TX","Memphis, TN",V,104,
`
  const bid = await makePricedBid(app, tenant.owner, file)
  const { page, troubles } = await openWindow(browser, app.url, { person: tenant, refusalsExpected: true })
  await page.goto(`/bids?bid=${bid}`)
  const together = page.getByRole('region', { name: 'Rates together' })
  await together.getByRole('button', { name: 'Add a cap on loads' }).click()
  await together.getByRole('combobox', { name: 'Region or state' }).selectOption('TX')
  await together.getByRole('textbox', { name: 'At most per week' }).fill('1')
  await together.getByRole('button', { name: 'Choose rates' }).click()
  await together.getByText(/One more load per week out of TX would earn about \$/).waitFor()
  await together.getByRole('img', { name: /^Expected profit by expected loads/ }).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  const arriving = page.waitForEvent('download')
  await together.getByRole('button', { name: 'Download the certificate' }).click()
  expect((await arriving).suggestedFilename()).toBe(`bid-${bid}-certificate.json`)
  await together.getByRole('button', { name: /^Use the rates for/ }).click()
  await page.getByRole('cell', { name: 'Rates chosen together', exact: true }).waitFor()

  for (let week = 11; week > 0; week--) {
    const { lane_id } = await makeLane(app, tenant, { rate: 2_150, rateType: 'contract' })
    await setColumns(app, tenant, lane_id, {
      truck_cost_cents: 216_000,
      customer_rate_cents: 215_000,
      booked_at: new Date(app.now),
      created_at: new Date(app.now - week * 7 * 86_400_000),
    })
  }
  await page.getByRole('combobox', { name: 'Stage' }).selectOption('awarded')
  const awards = page.getByRole('region', { name: 'Awards', exact: true })
  const pasted = awards.getByRole('textbox', { name: 'Awarded lanes' })
  await pasted.fill('H-1\t2140\t104\nH-7')
  await awards.getByText('The bid has no lane “H-7”.').waitFor()
  expect(await awards.getByRole('button', { name: 'Save awards' }).isDisabled()).toBe(true)
  await pasted.fill('H-1\t2140\t104')
  await awards.getByRole('button', { name: 'Save awards' }).click()
  await awards.getByText('1 lane awarded, 1 lost, 0 open.').waitFor()
  const upload = (text: string) =>
    page
      .getByLabel('File with awards')
      .setInputFiles({ name: 'letter.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
  await upload('Lane ID,Award\nH-9,awarded\n')
  await awards.getByText('The bid has no lane "H-9".').waitFor()
  await upload('Lane ID,Award,Awarded Rate\nH-1,lost,\nH-2,awarded,2500\n')
  await awards.getByText('2 lanes changed.').waitFor()
  await upload('Lane ID,Award,Awarded Rate,Awarded Loads\nH-1,awarded,2140,104\nH-2,lost,,\n')
  await awards.getByText('1 lane awarded, 1 lost, 0 open.').waitFor()
  const day = new Date(app.now - 84 * 86_400_000).toISOString().slice(0, 10)
  await awards.getByLabel('First day of the contract').fill(day)
  await awards.getByRole('button', { name: 'Save the day' }).click()
  await awards.getByRole('cell', { name: /^Rising since week \d+: / }).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  expect(troubles).toEqual([])
})

test('the next round keeps its rates and says what changed, and an awarded rate is offered on the desk', {
  tags: 'long',
}, async () => {
  const tenant = await makeTenant(app)
  await makeLane(app, tenant, { rate: 2000, rateType: 'contract', outcome: 'won' })
  const header = 'Lane,Origin,Destination,Equipment,Annual Volume,Rank,Target,Rate'
  const first = await makePricedBid(
    app,
    tenant.owner,
    `${header}\nH-1,"Dallas, TX","Atlanta, GA",V,104,,,\nH-2,"Reno, NV","Boise, ID",V,52,,,\n`,
  )
  const file = path.join(tmpdir(), `round-${process.pid}.csv`)
  await writeFile(file, `${header}\nH-1,"Dallas, TX","Atlanta, GA",V,52,2,1900,\n`)
  const { page, troubles } = await openWindow(browser, app.url, { person: tenant })
  await page.goto(`/bids?bid=${first}`)
  const rate = page.getByRole('textbox', { name: 'Rate of lane 1', exact: true })
  await rate.fill('2150')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Undo change 1' }).waitFor()

  await page.goto('/bids')
  await page.getByRole('button', { name: 'New bid' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Round 2')
  await page.getByRole('combobox', { name: 'Shipper' }).fill('Harvest Table Foods')
  await page.getByRole('combobox', { name: 'Next round of' }).selectOption('RFP 2027')
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByText('The columns are those of your last bid with this header.').waitFor()
  await page.getByRole('button', { name: 'Upload and price' }).click()
  await page.getByRole('heading', { name: 'Round 2', level: 1 }).waitFor()
  const round = page.getByRole('region', { name: 'Since the last round' })
  await round.getByText('1 lane continues a lane of RFP 2027.').waitFor()
  await round.getByText('Changed: 1 lane').click()
  await round.getByText('Lane 1: loads 104, now 52').waitFor()
  await round.getByText('Gone: 1 lane').waitFor()
  expect(await rate.inputValue()).toBe('2150')
  expect(await accessibilityProblems(page)).toEqual([])

  await page.getByRole('combobox', { name: 'Stage' }).selectOption('awarded')
  const awards = page.getByRole('region', { name: 'Awards', exact: true })
  await awards.getByRole('textbox', { name: 'Awarded lanes' }).fill('H-1\t1950')
  await awards.getByRole('button', { name: 'Save awards' }).click()
  await awards.getByLabel('First day of the contract').fill(new Date(app.now).toISOString().slice(0, 10))
  await awards.getByRole('button', { name: 'Save the day' }).click()
  await awards.getByRole('table', { name: 'Awarded lanes' }).waitFor()

  const lane = new URLSearchParams({ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' })
  await page.goto(`/?${lane}`)
  await page.getByRole('combobox', { name: 'Customer' }).fill('Harvest Table Foods')
  const advice = page.getByRole('region', { name: 'Advice' })
  await advice.getByText(/^Awarded at \$1,950 until .* \(Round 2\)\.$/).waitFor()
  await advice.getByRole('button', { name: 'Use $1,950' }).click()
  await expect.poll(() => page.getByRole('textbox', { name: 'Rate', exact: true }).inputValue()).toBe('1950')
  expect(await accessibilityProblems(page)).toEqual([])
  expect(troubles).toEqual([])
})

test('the name and the deadline of a bid are changed, and the deadline is removed', async () => {
  const tenant = await makeTenant(app)
  const bid = await makePricedBid(
    app,
    tenant.owner,
    'Lane,Origin,Destination,Rate\nH-1,"Dallas, TX","Atlanta, GA",\n',
  )
  const { page, troubles } = await openWindow(browser, app.url, { person: tenant })
  await page.goto(`/bids?bid=${bid}`)
  const open = page.getByRole('button', { name: 'Name and deadline' })
  const dialog = page.getByRole('dialog', { name: 'Name and deadline' })
  await open.click()
  expect(await accessibilityProblems(page)).toEqual([])
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Round two')
  await dialog.getByLabel('Deadline').fill('2027-03-05T17:30')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Round two', level: 1 }).waitFor()
  await page.getByText(/due Mar 5, 2027/).waitFor()
  await open.click()
  await expect.poll(() => dialog.getByLabel('Deadline').inputValue()).toBe('2027-03-05T17:30')
  await dialog.getByLabel('Deadline').fill('')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/· no deadline ·/).waitFor()
  expect(troubles).toEqual([])
})

test('rates below a minimum that needs an approval are asked for, approved by another person, and sent', async () => {
  const tenant = await makeTenant(app)
  const member = await makePerson(app, tenant, 'member')
  await call(app, 'POST', '/api/pricing-rules', {
    token: tenant.owner,
    body: { conditions: {}, terms: { minimum: { rate_per_mile: 2 }, outside: 'approval' } },
  })
  const bid = await makePricedBid(
    app,
    tenant.owner,
    'Lane,Origin,Destination,Equipment,Rate\nH-1,"Dallas, TX","Atlanta, GA",V,\n',
  )
  const rep = await openWindow(browser, app.url, { person: member, refusalsExpected: true })
  await rep.page.goto(`/bids?bid=${bid}`)
  await rep.page.getByRole('textbox', { name: 'Rate of lane 1' }).fill('1500')
  await rep.page.keyboard.press('Enter')
  await rep.page.keyboard.press('Enter')
  const ask = rep.page.getByRole('button', { name: 'Ask for approval of 1 rate' })
  await ask.waitFor()
  // Enter in the only row saves it, and the focus stays.
  const rate = rep.page.getByRole('textbox', { name: 'Rate of lane 1' })
  expect(await rate.evaluate((input) => input === input.ownerDocument.activeElement)).toBe(true)
  expect(await rep.page.getByText('The rate was not saved').count()).toBe(0)
  await rep.page.getByRole('button', { name: 'Download the file with rates' }).click()
  await rep.page.getByText(/The pricing rules demand an approval of 1 rate of the bid/).waitFor()
  expect(await accessibilityProblems(rep.page)).toEqual([])
  await ask.click()
  await rep.page.getByText('waits for a decision.').waitFor()

  const owner = await openWindow(browser, app.url, { person: tenant })
  await owner.page.goto('/approvals')
  const card = owner.page.getByRole('region', { name: 'Approval 1' })
  await card.getByRole('link', { name: 'RFP 2027' }).waitFor()
  await card.getByText(/Lane 1 \(H-1\): \$1,500 is below the minimum/).waitFor()
  expect(await accessibilityProblems(owner.page)).toEqual([])
  await card.getByRole('button', { name: 'Approve' }).click()
  await card.getByText('approved', { exact: true }).waitFor()

  await rep.page.goto('/')
  await rep.page.getByText('Approved: send the file.').waitFor()
  await rep.page.getByRole('link', { name: 'RFP 2027' }).click()
  await rep.page.getByText('1 rate below the minimum is approved').waitFor()
  const arriving = rep.page.waitForEvent('download')
  await rep.page.getByRole('button', { name: 'Download the file with rates' }).click()
  await arriving
  expect([rep.troubles, owner.troubles]).toEqual([[], []])
})
