import type { Page } from '@playwright/test'
import { getBacktest } from '#contract/backtest.ts'
import { getForecasts } from '#contract/forecasts.ts'
import { call, type Integration, makeIntegration, makeTenant, pushUpdate } from '#testing/make.ts'
import { accessibilityProblems, app, expect, looks, openWindow, test } from '../testing/pages.ts'

let integration: Integration
let refs: string[]

const customers = ['Harvest Table Foods', '<img src=x onerror="window.ran=true">']

/** Six quotes at $2,000 with an expected truck cost of $1,700: four booked, one lost, one pending. */
test.beforeAll(async () => {
  integration = await makeIntegration(app)
  const { tenant } = integration
  refs = []
  for (const customer_name of customers) {
    const made = await call(app, 'POST', '/api/quote-requests', {
      token: tenant.owner,
      body: {
        customer_name,
        lanes: ['Atlanta, GA', 'Denver, CO', 'Laredo, TX'].map((destination, index) => ({
          origin: 'Dallas, TX',
          destination,
          equipment: index === 2 ? 'R' : 'V',
          quoted_rate: 2000,
          estimated_cost: 1700,
        })),
      },
    })
    refs.push(...made.body.lanes.map(({ lane_ref }: { lane_ref: string }) => lane_ref))
  }
  const book = (index: number, customer_rate: number, truck_cost: number) =>
    pushUpdate(app, integration, { lane_ref: refs[index], customer_rate, truck_cost })
  await book(0, 2000, 2100)
  await book(1, 1900, 1700)
  await book(3, 1950, 1800)
  await book(4, 2100, 1700)
  await call(app, 'POST', `/api/lanes/${refs[2]}/outcome`, {
    token: tenant.owner,
    body: { outcome: 'lost', reason: 'price' },
  })
})

const open = async (path: string, options: { width?: number; colorScheme?: 'light' | 'dark' } = {}) => {
  const opened = await openWindow({ person: integration.tenant, ...options })
  await opened.page.goto(path)
  return opened
}
const rowOf = (page: Page, words: string) => page.getByRole('row').filter({ hasText: words })
const totals = (page: Page) => page.getByRole('row', { name: /^All / })
const groupBy = (page: Page, rows: string) => page.getByLabel('Group by').selectOption(rows)
const yearOf = (time: number) => new Date(time).getUTCFullYear()
const query = (page: Page) => new URL(page.url()).searchParams

test.describe('the overview', () => {
  test('has four figures against the period before, the trend, and the largest leak with its quotes', async () => {
    const { page, troubles } = await open('/results')
    const overview = page.getByRole('region', { name: 'Overview of the selection' })
    await overview
      .getByText(/against the period before|nothing to compare/)
      .first()
      .waitFor()
    for (const words of ['Margin %', 'Win rate', 'Quotes']) await overview.getByText(words).waitFor()
    await page.getByRole('img', { name: /^Win rate by month: 80\.0% in/ }).waitFor()
    const leak = page.getByText(/^Largest leak:/)
    await leak.getByText(/earned \$\d+ less than quoted/).waitFor()
    await leak.getByRole('link').click()
    await page.getByRole('heading', { name: 'Quotes', level: 1 }).waitFor()
    expect(query(page).get('origin')).toBe('Dallas, TX')
    expect(troubles).toEqual([])
  })

  test('a period that is chosen on one page is that of the other pages, too, and of each tab', async () => {
    const { page } = await open('/results')
    await page.getByLabel('Quoted in').selectOption('This year')
    const asked = page.waitForRequest(/\/api\/forecasts\?/)
    await page.getByRole('tab', { name: 'Forecast quality' }).click()
    const { searchParams } = new URL((await asked).url())
    expect(searchParams.get('from')).toContain(`${yearOf(app.now)}-01-01`)
    await expect(page.getByLabel('Quoted in')).toHaveCount(1)
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Lanes' }).click()
    await page.getByRole('link', { name: 'Market', exact: true }).click()
    await page.getByRole('heading', { name: 'Market', level: 1 }).waitFor()
    await expect(page.getByLabel('Quoted in')).toHaveValue('this-year')
  })

  test('counts the bookings at a loss, and leads to exactly these and to the newest', async () => {
    const { page } = await open('/results')
    const losses = page.getByText(/^Booked at a loss:/)
    await expect(losses).toContainText(
      '1 quote, the newest Dallas, TX → Atlanta, GA for Harvest Table Foods: −$100.',
    )
    const newest = losses.getByRole('link', { name: `Quote ${refs[0]}` })
    await expect(newest).toHaveAttribute('href', `/quotes/${refs[0]}`)
    await losses.getByRole('link', { name: '1 quote' }).click()
    await page.getByRole('heading', { name: 'Quotes', level: 1 }).waitFor()
    await rowOf(page, refs[0] ?? '').waitFor()
    await expect(page.getByRole('row')).toHaveCount(2)
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Quotes' }).waitFor()
    await expect(page.getByText('at a loss')).toHaveCount(0)
  })
})

test.describe('where margin goes', () => {
  test('shows what was lost by carrier, and the quotes behind each amount', async () => {
    const { page, troubles } = await open('/results?view=margin')
    await totals(page).waitFor()
    const all = await totals(page).innerText()
    for (const words of ['−$550', '$500', '$150', '$100 gained', '$7,950 − $7,300']) {
      expect(all).toContain(words)
    }
    await groupBy(page, 'Carrier')
    await rowOf(page, 'No carrier').getByText('$500').waitFor()
    const file = await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href')
    const csv = await (await page.request.get(file ?? '')).text()
    expect(csv).toContain('No carrier,6,4,1,1')
    await groupBy(page, 'Customer')
    await rowOf(page, 'Harvest Table Foods')
      .getByRole('link', { name: /that lost money to cost/ })
      .click()
    await page.getByRole('heading', { name: 'Quotes', level: 1 }).waitFor()
    await rowOf(page, refs[0] ?? '').waitFor()
    await expect(page.getByRole('row')).toHaveCount(2)
    await page.getByRole('button', { name: /^Filters/ }).click()
    await expect(page.getByRole('combobox', { name: 'Money' })).toHaveValue('lost_to_cost')
    expect(troubles).toEqual([])
  })

  test('defines each column when its header has the focus', async () => {
    const { page } = await open('/results?view=margin')
    for (const [header, words] of [
      ['Lost to cost', 'above the cost that was expected'],
      ['Quoted too low', 'below the minimum of the pricing rules'],
    ] as const) {
      const button = page.getByRole('button', { name: header })
      await button.focus()
      await page.getByRole('tooltip').filter({ hasText: words }).waitFor()
      await expect(button).toHaveAccessibleDescription(new RegExp(words))
    }
    expect(await accessibilityProblems(page)).toEqual([])
  })
})

test.describe('win rate and margin', () => {
  test('by month add up to the totals', async () => {
    const { page, troubles } = await open('/results?view=margin&by=month')
    const answer = await call(app, 'GET', '/api/performance?by=month', { token: integration.tenant.owner })
    const { totals: all, rows } = answer.body
    expect(all).toMatchObject({ quotes: 6, won: 4, decided: 5, margin: 650, landed_vs_quoted: -550 })
    expect(rows).toHaveLength(1)
    const row = rowOf(page, rows[0].label)
    await row.waitFor()
    for (const text of [await row.innerText(), await totals(page).innerText()]) {
      for (const words of ['80.0%', '4 of 5', '$7,950 − $7,300', '$650', '−$550']) {
        expect(text).toContain(words)
      }
      expect(text).toMatch(/80% range \d\d\.\d%( to |–)\d\d\.\d%/)
    }
    expect(troubles).toEqual([])
  })

  test('by customer, rep and equipment are one click away, with sort and filters in the address', async () => {
    const { page, troubles } = await open('/results?view=margin&by=month')
    await groupBy(page, 'Customer')
    await rowOf(page, 'Harvest Table Foods').waitFor()
    await rowOf(page, customers[1] ?? '').waitFor()
    expect(query(page).get('by')).toBe('customer')
    await page.getByRole('button', { name: 'Margin', exact: true }).click()
    await page.waitForURL(/sort=margin&order=desc/)
    await page.getByRole('button', { name: 'Margin', exact: true }).click()
    await page.waitForURL(/sort=margin&order=asc/)
    await page.reload()
    await rowOf(page, 'Harvest Table Foods').waitFor()
    await expect(page.getByRole('row').nth(2)).toContainText('Harvest Table Foods')
    await groupBy(page, 'Equipment')
    await rowOf(page, 'Reefer (R)').waitFor()
    expect(query(page).has('sort')).toBe(false)
    await page.getByRole('combobox', { name: 'Customer' }).fill('harvest table foods')
    await page.keyboard.press('Enter')
    await page.waitForURL(/customer=Harvest/)
    await totals(page).getByText('2 of 3').waitFor()
    await page.getByRole('combobox', { name: 'Customer' }).fill('')
    await totals(page).getByText('4 of 5').waitFor()
    await groupBy(page, 'Rep')
    await rowOf(page, 'Olive Quay').waitFor()
    await page.getByRole('combobox', { name: 'Equipment' }).fill('R')
    await page.waitForURL(/equipment=R/)
    await totals(page).getByText('0 of 1').waitFor()
    expect(await page.evaluate('"ran" in globalThis')).toBe(false)
    expect(troubles).toEqual([])
  })

  test('link a lane to its shipments, quotes and page, with the same filters', async () => {
    const { page } = await open('/results?view=margin&period=this-year')
    const row = rowOf(page, 'Dallas, TX → Atlanta, GA')
    await row.waitFor()
    const address = async (name: RegExp) => {
      const href = await row.getByRole('link', { name }).getAttribute('href')
      return new URL(href ?? '', app.url)
    }
    const quotes = await address(/^Quotes of/)
    expect(quotes.pathname).toBe('/quotes')
    expect(Object.fromEntries(quotes.searchParams)).toMatchObject({
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      equipment: 'V',
    })
    expect(Date.parse(quotes.searchParams.get('from') ?? '')).toBeLessThan(app.now)
    expect((await address(/^Dallas, TX → Atlanta, GA$/)).searchParams.get('destination')).toBe('Atlanta, GA')
    await row.getByRole('link', { name: 'Shipments of' }).click()
    await page.getByRole('heading', { name: 'Shipments', level: 1 }).waitFor()
    await page.getByText('2 shipments', { exact: true }).waitFor()
    expect(query(page).get('period')).toBe('this-year')
  })

  test('tell a new brokerage what is missing', { tag: '@long' }, async () => {
    const tenant = await makeTenant(app)
    const { page } = await openWindow({ person: tenant })
    await page.goto('/results')
    await page.getByText('No quotes in this selection').waitFor()
    await page.getByRole('tab', { name: 'Where margin goes' }).click()
    await page.getByText('No quotes in this selection').waitFor()
    await page.goto('/results?view=margin&by=shipment')
    await page.getByText('Nothing to compare in this selection').waitFor()
  })

  test('report a failure, and load on retry', { tag: '@long' }, async () => {
    const { page } = await openWindow({
      person: integration.tenant,
      refusalsExpected: true,
    })
    let isDown = true
    await page.route('**/api/performance?**', (route) =>
      isDown ? route.fulfill({ status: 500, body: 'no' }) : route.continue(),
    )
    await page.goto('/results?view=margin&by=month')
    await page.getByText('The figures could not be loaded').waitFor()
    isDown = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await totals(page).getByText('4 of 5').waitFor()
  })
})

test.describe('margins below the quote', () => {
  test('are listed largest first, each with its reason and a link to the quote', async () => {
    const { page } = await open('/results?view=margin&by=shipment')
    await page.getByText('3 of 4 compared shipments').waitFor()
    const rows = page.getByRole('row')
    const first = await rows.nth(1).innerText()
    for (const words of ['$400', 'Cost', 'Truck at $2,100, expected $1,700 (+$400)', '−$100 · −5.0%']) {
      expect(first).toContain(words)
    }
    const second = await rows.nth(2).innerText()
    for (const words of [
      '$150',
      'Rate and cost',
      'Booked at $1,950, quoted $2,000 (−$50)',
      'Truck at $1,800, expected $1,700 (+$100)',
    ]) {
      expect(second).toContain(words)
    }
    await expect(rows.nth(3)).toContainText('Booked at $1,900, quoted $2,000 (−$100)')
    const link = rows.nth(1).getByRole('link', { name: `Quote ${refs[0]}` })
    await expect(link).toHaveAttribute('href', `/quotes/${refs[0]}`)
  })
})

test.describe('the recorded forecasts', () => {
  test('say in one line whether they match the outcomes, and show the calibration and a row for each month', async () => {
    const { page, troubles } = await openWindow({ person: integration.tenant })
    const answer = getForecasts.examples?.answer
    await page.route('**/api/forecasts?*', (route) => route.fulfill({ json: answer }))
    await page.goto('/results?view=recorded&rate_type=spot')
    await expect(page.getByRole('status').getByText('The forecasts are reliable: 223 of 520')).toBeVisible()
    const row = page.getByRole('row', { name: /2026-02/ })
    await expect(row).toContainText('0.221')
    await expect(page.getByRole('img', { name: /Reliability diagram/ })).toBeVisible()
    const link = page.getByRole('link', { name: 'Export CSV' })
    await expect(link).toHaveAttribute('href', /^\/api\/forecasts\/export\?rate_type=spot&from=\d{4}/)
    expect(await accessibilityProblems(page)).toEqual([])
    expect(troubles).toEqual([])
  })

  test('warn on the page of the calibration, too, when they do not match the outcomes', async () => {
    const { page } = await openWindow({ person: integration.tenant })
    const broken = {
      standing: 'too_high',
      sentence: 'The forecasts are too high: 50 of 200 quotes were won.',
    }
    await page.route('**/api/forecasts?*', (route) =>
      route.fulfill({ json: { ...getForecasts.examples?.answer, ...broken } }),
    )
    await page.goto('/results?view=calibration')
    await expect(page.getByRole('alert').getByText(broken.sentence)).toBeVisible()
  })

  test('of real quotes are listed with the reasons why some are not scored', async () => {
    const { page } = await open('/results?view=recorded')
    await expect(page.getByText(/There are too few decided quotes with a forecast/)).toBeVisible()
    expect(await accessibilityProblems(page)).toEqual([])
  })
})

test.describe('the calibration of the advice', () => {
  test('shows how many quotes are needed while there are too few', { tag: '@long' }, async () => {
    const { page } = await open('/results?view=calibration')
    await page.getByText('Too few quotes to test the advice').waitFor()
    await page
      .getByText(/There are too few quotes to test the estimate on: 5 decided quotes, and \d+ are needed/)
      .waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('shows the progress of the test, then forecast vs outcome, the score, the dollars and the missed margin', async () => {
    const { page, troubles } = await openWindow({ person: integration.tenant })
    const running = [0, 0.4].map((progress) => ({ status: 'running', progress }))
    await page.route('**/api/backtest', (route) =>
      route.fulfill({ json: running.shift() ?? getBacktest.examples?.answer }),
    )
    await page.goto('/results?view=calibration')
    // Perhaps there are too few quotes to forecast any.
    await page.getByRole('status').getByText('Reading your quotes').waitFor()
    await page.getByRole('status').getByText('40% done').waitFor()
    await page
      .getByRole('img', { name: /^Reliability diagram: forecast 30%, won 31% \(529 of 1707\)/ })
      .waitFor()
    await page.getByText('On 3,414 quotes the estimate was better').waitFor()
    await page.getByText('Its squared error is 0.211, and 0.236 for the win rate of the lane').waitFor()
    await page.getByText('This is an estimate by the model itself, not an experiment.').waitFor()
    await page.getByText('+$103,134').waitFor()
    await page.getByText('80% range $1,650 to $4,590').waitFor()
    await page.getByText('1,604 won or pending quotes of the tested days judged').waitFor()
    await page.getByText(/^win 61(\.0)?%$/).waitFor()
    await page.getByText('The file has all 50 quotes.').waitFor()
    await page.getByText('Show as a table').click()
    await expect(page.getByRole('row').filter({ hasText: '31% · 529 of 1707' })).toContainText('as forecast')
    expect(await accessibilityProblems(page)).toEqual([])
    expect(troubles).toEqual([])
  })
})

test.describe('accessibility', () => {
  for (const { colorScheme, width } of looks)
    test(`${colorScheme}, ${width} pixels wide`, { tag: '@long' }, async () => {
      const { page } = await open('/results', { colorScheme, width })
      await page.getByText(/^Largest leak:/).waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      await page.getByRole('tab', { name: 'Where margin goes' }).click()
      await rowOf(page, 'Dallas, TX → Atlanta, GA').waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      await groupBy(page, 'Month')
      await rowOf(page, 'Dallas, TX → Atlanta, GA').waitFor({ state: 'detached' })
      expect(await accessibilityProblems(page)).toEqual([])
      await groupBy(page, 'Nothing: each shipment')
      await rowOf(page, refs[0] ?? '').waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    })
})
