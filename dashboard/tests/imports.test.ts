import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { utils, write } from '@e965/xlsx'
import type { Page } from '@playwright/test'
import { gazetteer } from '#geography/gazetteer.ts'
import { call, type MadeTenant, makeIntegration, makePerson, makeTenant, pushUpdate } from '#testing/make.ts'
import { accessibilityProblems, app, expect, looks, openWindow, test } from '../testing/pages.ts'

gazetteer()

const header = 'Ship From,Ship To,Equip,Sell Rate,Quote Date,Status\n'
const rowTo = (city: string, rate = '2150.00') => `"Dallas, TX","${city}, GA",Van,${rate},3/1/2026,Won\n`
const naughty = '<img src=x onerror="window.ran=true">'

/** An Excel workbook with these sheets. */
function workbook(sheets: Readonly<Record<string, (string | number)[][]>>): Buffer {
  const book = utils.book_new()
  for (const [name, rows] of Object.entries(sheets)) {
    utils.book_append_sheet(book, utils.aoa_to_sheet(rows), name)
  }
  return write(book, { type: 'buffer', bookType: 'xlsx' })
}

/** Selects a file like the system's file dialog. */
async function choose(page: Page, text: string | Buffer, name = 'loads.csv') {
  const [picker] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: /^Choose a/ }).click(),
  ])
  await picker.setFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
}

async function check(page: Page) {
  await page.getByRole('button', { name: 'Check the file' }).click()
  await page.getByRole('heading', { name: 'Result of the check' }).waitFor()
}

async function quotesOf(tenant: MadeTenant) {
  const { body } = await call(app, 'GET', '/api/lanes', { token: tenant.owner })
  return body.lanes as {
    customer_rate: number
    destination: string
    equipment: string
    quoted_rate: number
  }[]
}

async function saved(page: Page, button: string): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).click(),
  ])
  return readFile(await download.path(), 'utf8')
}

test.describe('a file', () => {
  test('of linehaul rates is asked about once, and pages say what was converted and what was not counted', {
    tag: '@long',
  }, async () => {
    const tenant = await makeTenant(app)
    const { page, troubles } = await openWindow({ person: tenant })
    await page.goto('/settings/imports')
    const row = (rate: string, fuel: string) =>
      `"Dallas, TX","Atlanta, GA",Van,${rate},${fuel},3/1/2026,Won\n`
    const file = `Ship From,Ship To,Equip,Linehaul,FSC,Quote Date,Status\n${row('1700', '350')}${row('1800', '')}`
    await choose(page, file)
    const question = page.getByLabel('These rates are')
    await expect(question).toContainText('Assumed: linehaul, by the name “Linehaul”')
    await check(page)
    await page.getByText('count as linehaul, because of the name of their column').waitFor()
    await question.selectOption('linehaul')
    await check(page)
    await page.getByRole('button', { name: /^Import/ }).click()
    await expect.poll(async () => (await quotesOf(tenant)).length).toBe(2)
    await page.goto('/shipments?period=all')
    await page.getByText('1 quote with linehaul amounts converted by their charges').waitFor()
    await page.getByText('1 quote with linehaul amounts not counted: neither a fuel charge').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    expect(troubles).toEqual([])
  })

  test('without equipment and states gets them for all rows, and misspelled places are named', async () => {
    const tenant = await makeTenant(app)
    const { page, troubles } = await openWindow({ person: tenant })
    await page.goto('/settings/imports')
    const row = (city: string) => `Dallas,"${city}",2150,2026-03-01\n`
    await choose(page, `Ship From,Ship To,Quoted Rate,Quote Date\n${row('Atlanta, GA')}${row('Savanah, GA')}`)
    await page.getByText('Or write a value below that is the same for all rows.').waitFor()
    const same = page.getByRole('group', { name: /^Same value for all rows, because/ })
    // Only what is missing is open.
    await expect(page.getByRole('textbox')).toHaveCount(1)
    await same.getByLabel('Equipment').fill('FTL')
    await page.getByText('Same value for all rows in other fields').click()
    await page.getByLabel('Origin state').fill('TX')
    await same.getByText('FTL is a mode, not equipment').waitFor()
    await expect(page.getByRole('button', { name: 'Check the file' })).toBeDisabled()
    await same.getByLabel('Equipment').fill('Van')
    await same.getByLabel('Equipment').press('Enter')
    await check(page)
    await page.getByText('equipment is "Van" in all rows, as the map says.').waitFor()
    await page.getByText('"Savanah, GA" (line 3) is not known. Did you mean Savannah, GA?').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByRole('button', { name: /^Import/ }).click()
    await expect.poll(async () => (await quotesOf(tenant)).length).toBe(2)
    expect(await quotesOf(tenant)).toMatchObject([{ origin: 'Dallas, TX' }, { origin: 'Dallas, TX' }])
    expect(troubles).toEqual([])
  })

  test('with unusual headers is mapped manually, checked, imported and undone', async () => {
    const tenant = await makeTenant(app)
    const { page, troubles } = await openWindow({ person: tenant })
    await page.goto('/settings/imports')
    const odd = `"City","City","a=b, ""c""",Rate,Quote Date,${'x'.repeat(300)}\n`
    const good = `"Dallas, TX","Atlanta, GA",Van,"$2,150.00",3/1/2026,1\n`
    const bad = `"Dallas, TX","Macon, GA",Van,=cmd,3/1/2026,2\n`
    await choose(page, odd + good + bad)
    await page.getByText('the place of pickup: Origin, or Origin city with Origin state').waitFor()
    await expect(page.getByRole('button', { name: 'Check the file' })).toBeDisabled()

    await page.getByLabel('Read City (column 1) as').selectOption('Origin')
    await page.getByLabel('Read City (column 2) as').selectOption('Destination')
    await page.getByLabel('Read a=b, "c" as').selectOption('Equipment')
    await page.getByRole('button', { name: 'Read Quoted rate from Rate' }).click()
    await page.getByText('$2,150.00 · =cmd').waitFor()
    // One row for each of the six columns of the file.
    await expect(page.getByRole('table', { name: /^The columns of/ }).getByRole('row')).toHaveCount(7)
    await check(page)
    const row = page.getByRole('row', { name: /^3 Rate .*"=cmd"/ })
    await row.waitFor()
    expect(await quotesOf(tenant)).toEqual([])
    await expect(page.getByRole('link', { name: 'Download 1 refused row' })).toHaveAttribute(
      'href',
      /\/api\/imports\/\d+\/refused-rows$/,
    )

    await page.getByRole('button', { name: 'Import 1 row' }).click()
    await page.getByRole('button', { name: 'Undo this import' }).waitFor()
    expect(await quotesOf(tenant)).toMatchObject([{ destination: 'Atlanta, GA' }])
    await page.getByRole('link', { name: 'View quotes' }).waitFor()

    await page.getByRole('button', { name: 'Undo this import' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/1 quote that the import added is removed/).waitFor()
    await dialog.getByRole('button', { name: 'Undo the import' }).click()
    await page.getByText('This import was undone').waitFor()
    await page.getByText('1 quote removed.', { exact: false }).first().waitFor()
    await expect(dialog).toHaveCount(0)
    expect(await quotesOf(tenant)).toEqual([])
    expect(troubles).toEqual([])
  })

  test('shows won, lost and pending, warns without lost quotes, and asks about a status column', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant })
    await page.goto('/settings/imports')
    const row = (day: number, cancelled: string) =>
      `"Dallas, TX","Atlanta, GA",Van,2150,3/${day}/2026,Won,${cancelled}\n`
    await choose(
      page,
      `Pickup,Delivery,Type,Price,Quote Date,Status,load_was_cancelled\n${row(1, 'False')}${row(2, 'True')}`,
    )
    await page
      .getByText('The column “load_was_cancelled” looks like it says whether a load was cancelled.')
      .waitFor()
    await expect(page.getByText('guessed: check the values')).toHaveCount(4)
    await page.getByRole('button', { name: 'Leave them out' }).click()
    await check(page)
    await page.getByText('No lost quotes: win chances cannot be learned.').waitFor()
    const figure = (name: string) =>
      page.locator('dl > div').filter({ has: page.getByText(name, { exact: true }) })
    await expect(figure('Won')).toContainText('1')
    await expect(figure('Lost')).toContainText('0')
    await page
      .getByText('load_was_cancelled says that the load was cancelled, so the row is left out.')
      .waitFor()
  })

  test('with new values for existing quotes shows the changes and the skipped values before the import', {
    tag: '@long',
  }, async () => {
    const integration = await makeIntegration(app)
    const { tenant } = integration
    const file = (rate: string, status: string) =>
      `Load ID,${header}L1,${rowTo('Atlanta', rate).replace('Won', status)}L2,${rowTo('Macon', '1800')}`
    const { page, troubles } = await openWindow({ person: tenant })
    await page.goto('/settings/imports')
    await choose(page, file('2150.00', 'Open'))
    await check(page)
    await page.getByRole('button', { name: 'Import 2 rows' }).click()
    await page.getByRole('heading', { name: 'Result of the import' }).waitFor()
    const { body } = await call(app, 'GET', '/api/lanes?q=Macon', { token: tenant.owner })
    const macon = body.lanes[0]
    await pushUpdate(app, integration, { lane_ref: macon.lane_ref, customer_rate: 1900 })

    await choose(page, file('2250.00', 'Won').replace('1800', '1850'))
    await check(page)
    await page.getByRole('heading', { name: 'Values that will change' }).waitFor()
    await page.getByRole('row', { name: /^2 .* Customer rate \(AR\) none \$2,250/ }).waitFor()
    await page.getByRole('row', { name: /^2 .* Outcome Pending Won/ }).waitFor()
    await page.getByRole('heading', { name: 'Skipped values' }).waitFor()
    await page.getByText('Sell Rate stays $1,900, which the TMS set; the file has $1,850.').waitFor()
    await page
      .getByText('0 quotes would be added, 1 quote will change, 1 row skipped.')
      .waitFor({ state: 'attached' })
    const rates = (await quotesOf(tenant)).map(({ destination, customer_rate }) => [
      destination,
      customer_rate,
    ])
    expect(Object.fromEntries(rates)).toEqual({ 'Macon, GA': 1900, 'Atlanta, GA': null })
    if (process.env.SCREENSHOT !== undefined)
      await page.screenshot({ path: process.env.SCREENSHOT, fullPage: true })
    await page.getByRole('button', { name: 'Import 1 row' }).click()
    await page.getByRole('heading', { name: 'Changed values' }).waitFor()
    expect(troubles).toEqual([])
  })

  test('with the example is valid, also compressed', { tag: '@long' }, async () => {
    const tenant = await makeTenant(app)
    const { page, troubles } = await openWindow({ person: tenant })
    await page.goto('/settings/imports')
    const example = await saved(page, 'Download example CSV')
    await choose(page, gzipSync(example), 'example.csv.gz')
    await page.getByText('Dallas, TX · Chicago, IL · Savannah, GA').waitFor()
    await check(page)
    await page.getByText('Every row of the file is valid.').waitFor()
    await page.getByRole('button', { name: 'Import 4 rows' }).waitFor()
    expect(troubles).toEqual([])
  })

  test('with titles, semicolons and Windows-1252 is read as the service reads it, and its columns are saved for the next', async () => {
    const tenant = await makeTenant(app)
    const { page, troubles } = await openWindow({ person: tenant })
    await page.goto('/settings/imports')
    const text = (rate: string) =>
      Buffer.from(
        `Loads of March;;;;;\nShip From;Ship To;Equip;Bedrag;Quote Date;Customer\nDallas, TX;Atlanta, GA;Van;${rate};25-Jun-2025;C\xf4t\xe9 Foods\n`,
        'latin1',
      )
    await choose(page, text('2150'), 'march.csv')
    await page.getByText('Header in line 2, values between semicolons, Windows-1252').waitFor()
    await page.getByText('Côté Foods').waitFor()
    await page.getByLabel('Read Bedrag as').selectOption('Quoted rate')
    await check(page)
    await page.getByRole('button', { name: 'Import 1 row' }).waitFor()
    await page.reload()
    await choose(page, text('2250'), 'april.csv')
    await page.getByText('that you chose for an earlier file with this header').waitFor()
    await expect(page.getByLabel('Read Bedrag as')).toHaveValue('quoted_rate')
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Match by name instead' }).click()
    await expect(page.getByLabel('Read Bedrag as')).toHaveValue('')
    expect(troubles).toEqual([])
  })

  test('of Excel is read by sheet', async () => {
    const tenant = await makeTenant(app)
    const { page, troubles } = await openWindow({ person: tenant })
    await page.goto('/settings/imports')
    const rows = (rate: number) => [
      ['Ship From', 'Ship To', 'Equip', 'Sell Rate', 'Quote Date'],
      ['Dallas, TX', 'Atlanta, GA', 'Van', rate, '3/1/2026'],
    ]
    await choose(page, workbook({ March: rows(2150), April: rows(2250) }), 'loads.xlsx')
    await page.getByText('Sheet “March”, header in line 1').waitFor()
    await page.getByLabel('Sheet').selectOption('April')
    await page.getByText('Sheet “April”, header in line 1').waitFor()
    await check(page)
    await page.getByRole('button', { name: 'Import 1 row' }).click()
    await expect.poll(async () => (await quotesOf(tenant)).map((quote) => quote.quoted_rate)).toEqual([2250])
    expect(troubles).toEqual([])
  })

  test('that is not a table is rejected before the upload, with what to do', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant, refusalsExpected: true })
    await page.goto('/settings/imports')
    await choose(page, Buffer.from('PK\u0003\u0004rest of a workbook'), 'loads.xlsx')
    await page.getByText(/This file cannot be imported/).waitFor()
    await choose(page, '')
    await page.getByText(/The file is empty/).waitFor()
    await choose(page, header + rowTo('Atlanta'))
    await page.getByRole('button', { name: 'Check the file' }).waitFor()
    await expect(page.getByText('This file cannot be imported')).toHaveCount(0)
  })

  test('whose words fit two encodings is read in the one that is chosen', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant, refusalsExpected: true })
    await page.goto('/settings/imports')
    // \x88 is ê in a DOS program, and à on a Macintosh.
    const text = `Customer,${header}Caf\x88,${rowTo('Atlanta')}`
    await choose(page, Buffer.from(text, 'latin1'))
    const refusal = page.getByRole('alert').filter({ hasText: 'its encoding cannot be told from its words' })
    await refusal.getByLabel('Encoding').selectOption('Macintosh')
    await page.getByText('Header in line 1, values between commas, Macintosh').waitFor()
    await page.getByText('Cafà').waitFor()
    await expect(refusal).toHaveCount(0)
    await check(page)
    await page.getByRole('button', { name: 'Import 1 row' }).click()
    await page.getByRole('button', { name: 'Undo this import' }).waitFor()
    expect(await quotesOf(tenant)).toMatchObject([{ customer_name: 'Cafà' }])
  })

  test('whose words fit two encodings far below its header is read in the one that is chosen', async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant, refusalsExpected: true })
    await page.goto('/settings/imports')
    // The header is read from the first 256 kB, which are ASCII.
    const rows = `Customer,${header}Acme,${rowTo('Macon')}`
    await choose(page, Buffer.from(`${rows}${'\n'.repeat(262_144)}Caf\x88,${rowTo('Atlanta')}`, 'latin1'))
    await page.getByRole('button', { name: 'Check the file' }).click()
    await page.getByText('its encoding cannot be told from its words').waitFor()
    await page.getByLabel('Encoding').selectOption('Macintosh')
    await page.getByText('values between commas, Macintosh').waitFor()
    await check(page)
    await page.getByRole('button', { name: 'Import 2 rows' }).click()
    await page.getByRole('button', { name: 'Undo this import' }).waitFor()
    expect(await quotesOf(tenant)).toContainEqual(expect.objectContaining({ customer_name: 'Cafà' }))
  })

  test('can be dropped on the page', { tag: '@long' }, async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant })
    await page.goto('/settings/imports')
    await page.getByText('Drop a file here').waitFor()
    await page.evaluate(`
      const carried = new DataTransfer()
      carried.items.add(new File([${JSON.stringify(header + rowTo('Atlanta'))}], 'dropped.csv', { type: 'text/csv' }))
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: carried, bubbles: true }))
    `)
    await page.getByText('dropped.csv', { exact: true }).waitFor()
    await page.getByText('Dallas, TX', { exact: true }).first().waitFor()
  })

  test('with hostile column names runs no script', { tag: '@long' }, async () => {
    const tenant = await makeTenant(app)
    const { page, troubles } = await openWindow({ person: tenant, width: 390 })
    await page.goto('/settings/imports')
    const name = `${naughty} ${'long'.repeat(60)}`
    const quoted = `"${name.replaceAll('"', '""')}"`
    await choose(
      page,
      header.replace('Sell Rate', quoted) + rowTo('Macon', 'x').replace('Van', naughty.replaceAll('"', '')),
      `${naughty}.csv`,
    )
    await page
      .getByLabel(/^Read .* as$/)
      .nth(3)
      .selectOption('Quoted rate')
    await check(page)
    await page
      .getByText(/0 quotes would be added|No row can be imported/)
      .first()
      .waitFor()
    expect(await page.evaluate('window.ran')).toBeUndefined()
    expect(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')).toBe(false)
    expect(troubles).toEqual([])
  })
})

test.describe('a failure', () => {
  test('keeps the file selected for another try', { tag: '@long' }, async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant, refusalsExpected: true })
    await page.goto('/settings/imports')
    await choose(page, header + rowTo('Atlanta'))
    let answers = ['full', 'offline']
    await page.route('**/api/imports?*', (route) => {
      const [next, ...rest] = answers
      answers = rest
      if (next === 'offline') return route.abort('connectionreset')
      if (next === undefined) return route.continue()
      return route.fulfill({
        status: 503,
        headers: { 'Retry-After': '60' },
        contentType: 'application/problem+json',
        body: JSON.stringify({
          type: '/problems/unavailable',
          detail: 'Too many imports are waiting. Send the file again in a minute.',
          request_id: 'test',
        }),
      })
    })
    await page.getByRole('button', { name: 'Check the file' }).click()
    await page.getByText(/Too many imports are waiting/).waitFor()
    await page.getByText('The file and its columns are still selected', { exact: false }).waitFor()
    await page.getByRole('button', { name: 'Check the file' }).click()
    await page.getByText(/cannot be reached/).waitFor()
    await check(page)
    await page.getByRole('button', { name: 'Import 1 row' }).waitFor()
  })

  test('shows the service’s message about the file', { tag: '@long' }, async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant, refusalsExpected: true })
    await page.goto('/settings/imports')
    await choose(page, `Ship\0From,${header}`)
    await page.getByText(/contains a NUL|not a text file/).waitFor()
  })

  test('of the list of imports can be retried', { tag: '@long' }, async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant, refusalsExpected: true })
    await page.route('**/api/imports', (route) => route.abort('connectionreset'))
    await page.goto('/settings/imports')
    const again = page.getByRole('button', { name: 'Try again' })
    await again.waitFor()
    await page.unroute('**/api/imports')
    await again.click()
    await page.getByText('No imports yet.').waitFor()
  })
})

test('a running import is shown again after a reload, and stopped', async () => {
  const tenant = await makeTenant(app)
  const { page, troubles } = await openWindow({ person: tenant })
  await page.goto('/settings/imports')
  const rows = Array.from({ length: 30_000 }, (_, at) => rowTo('Atlanta', (1_000 + at / 100).toFixed(2)))
  await choose(page, header + rows.join(''))
  await check(page)
  await page.getByRole('button', { name: 'Import 30,000 rows' }).click()
  await page.getByRole('progressbar').waitFor()
  await page.goto('/settings/imports')
  await page.getByText(/rows? read, \d+% of the file/).waitFor()
  await page.getByText(/continues when you leave this page/).waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('The import was stopped').waitFor()
  const { body } = await call(app, 'GET', '/api/imports/2', { token: tenant.owner })
  expect(body.status).toBe('stopped')
  expect(body.rows_added).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Undo this import' }).waitFor()
  expect(troubles).toEqual([])
})

test('a viewer sees imports but cannot import or undo; a member cannot undo', { tag: '@long' }, async () => {
  const tenant = await makeTenant(app)
  const viewer = await makePerson(app, tenant, 'viewer')
  const member = await makePerson(app, tenant, 'member')
  await fetch(`${app.url}/api/imports?file_name=march.csv`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
    body: header + rowTo('Atlanta'),
  })
  for (const person of [viewer, member]) {
    const { page } = await openWindow({ person })
    await page.goto('/settings/imports?import=1')
    await page.getByText('An admin or owner can undo this import.').waitFor()
    await page.getByRole('link', { name: 'march.csv' }).waitFor()
    await expect(page.getByRole('button', { name: /Undo/ })).toHaveCount(0)
    await expect(page.getByText('Your role is viewer')).toHaveCount(person === viewer ? 1 : 0)
    await expect(page.getByRole('button', { name: 'Choose a file' })).toHaveCount(person === viewer ? 0 : 1)
  }
})

test('a check says how the file was read, and checks it again with another reading', async () => {
  const tenant = await makeTenant(app)
  const { page } = await openWindow({ person: tenant })
  await page.goto('/settings/imports')
  const odd = rowTo('Macon').replace('Won', '"Lost to ""CHR"", a=b"')
  const [picker] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Choose a file' }).click(),
  ])
  await picker.setFiles({
    name: 'loads.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`Loads of March\n${header}${rowTo('Atlanta').replace(',Van,', ',Tarped,')}${odd}`),
  })
  await page.getByRole('button', { name: 'Check the file' }).click()
  const read = page.getByRole('region', { name: 'How it was read' })
  await read.getByText('1 line above the header was left out: "Loads of March".').waitFor()
  await read.getByText('month first, so 3/1/2026 is March 1, 2026.').waitFor()
  await read.getByRole('button', { name: 'Day first: 3 January 2026' }).click()
  await read.getByText('day first, so 3/1/2026 is 3 January 2026.').waitFor()

  await page.getByRole('button', { name: 'Import 1 row' }).waitFor()
  await page.getByText('1 of 2 rows are refused, most of them lost').waitFor()
  const words = page.getByRole('region', { name: 'Words', exact: true })
  await expect(words.getByLabel('Meaning of Lost to "CHR", a=b in Status')).toHaveValue('lost')
  await words.getByText('1 code of equipment is not known. It is saved as written').waitFor()
  const tarped = words.getByLabel('Meaning of TARPED in Equip')
  await expect(tarped).toHaveValue('TARPED')
  await tarped.selectOption('F (flatbed)')
  await words.getByLabel('Meaning of Lost').selectOption('lost: price')
  await words.getByRole('button', { name: 'Check again with these words' }).click()
  await words.getByText('The words of the file are read as chosen.').waitFor()
  await expect(words.getByRole('button', { name: 'Check again with these words' })).toBeDisabled()
  await read.getByText('day first, so 3/1/2026 is 3 January 2026.').waitFor()
  await page.getByRole('button', { name: 'Import 2 rows' }).click()
  await page.getByRole('button', { name: 'Undo this import' }).waitFor()
  const day = '2026-01-03T00:00:00.000Z'
  const saved = await quotesOf(tenant)
  expect(saved).toMatchObject([{ created_at: day }, { created_at: day }])
  expect(saved.map(({ equipment }) => equipment).sort()).toEqual(['F', 'V'])

  await choose(page, header + odd)
  await check(page)
  await expect(words.getByLabel('Meaning of')).toHaveValue('lost price')
})

test('the import works by keyboard', async () => {
  const tenant = await makeTenant(app)
  const { page } = await openWindow({ person: tenant })
  await page.goto('/settings/imports')
  await page.getByText('No imports yet.').waitFor()
  const [picker] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Choose a file' }).press('Enter'),
  ])
  await picker.setFiles({
    name: 'loads.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(header.replace('Ship To', 'Far end') + rowTo('Atlanta')),
  })
  await page.getByLabel('Read Far end as').focus()
  await page.keyboard.type('Destination')
  await page.getByText('A check reads every row and imports nothing.').waitFor()
  await page.getByRole('button', { name: 'Check the file' }).focus()
  await page.keyboard.press('Enter')
  const result = page.getByRole('heading', { name: 'Result of the check' })
  await result.waitFor()
  const focused = () => page.evaluate('document.activeElement.textContent')
  await expect.poll(focused).toBe('Result of the check')
  // The other readings of the file come first, each with a button.
  const steps = 10
  for (let step = 0; step < steps && (await focused()) !== 'Import 1 row'; step++)
    await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Undo this import' }).waitFor()
  expect(await quotesOf(tenant)).toHaveLength(1)
})

for (const { colorScheme, width } of looks)
  test.describe(`accessible in ${colorScheme} at ${width}`, () => {
    test('empty, with missing columns, with the result of a check, and undone', {
      tag: '@long',
    }, async () => {
      const tenant = await makeTenant(app)
      const { page } = await openWindow({ person: tenant, colorScheme, width })
      const look = async (at: string) => {
        expect(await accessibilityProblems(page), at).toEqual([])
        const scrolls = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')
        expect(scrolls, `${at} scrolls sideways`).toBe(false)
      }
      await page.goto('/settings/imports')
      await page.getByText('No imports yet.').waitFor()
      await look('empty')
      const bad = Array.from({ length: 40 }, () => rowTo('Macon', 'x')).join('')
      await choose(page, header.replace('Sell Rate', 'Rate') + rowTo('Atlanta') + bad)
      await page.getByText('Choose the missing columns', { exact: true }).waitFor()
      await look('columns')
      await page.getByRole('button', { name: 'Read Quoted rate from Rate' }).click()
      await check(page)
      await look('checked')
      await page.getByRole('button', { name: 'Import 1 row' }).click()
      await page.getByRole('button', { name: 'Undo this import' }).click()
      await page
        .getByRole('dialog')
        .getByText(/is removed/)
        .waitFor()
      await look('before undoing')
      await page.getByRole('dialog').getByRole('button', { name: 'Undo the import' }).click()
      await page.getByText('This import was undone').waitFor()
      await look('undone')
    })
  })
