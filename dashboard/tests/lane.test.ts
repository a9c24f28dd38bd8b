import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from '@playwright/test'
import { call, type MadeTenant, makeTenant } from '#testing/make.ts'
import { accessibilityProblems, app, expect, loaded, looks, openWindow, test } from '../testing/pages.ts'

let tenant: MadeTenant

const hostileName = '<img src=x onerror=alert(1)>AVeryLongNameWithoutAnySpaceThatWouldWidenATableIfItCould'
const lanePage = '/lane?origin=Dallas, TX&destination=Atlanta, GA'

const newest = Date.now()

/** The date `days` days ago, as in a CSV file. */
function dayAgo(days: number): string {
  return new Date(newest - days * 86_400_000).toISOString().slice(0, 10)
}

/** Forty van quotes in four months, the cheaper half won, the newest two pending; and four reefer quotes. */
const rows = [
  ...Array.from({ length: 40 }, (_, at) => {
    const rate = 1800 + ((at * 37) % 40) * 15
    const outcome = at >= 38 ? 'Pending' : rate < 2100 ? 'Won' : 'Lost'
    const customer = at === 0 ? hostileName : 'Harvest Table Foods'
    return ['Dallas, TX', 'Atlanta, GA', 'V', rate, dayAgo(120 - at * 3), outcome, customer]
  }),
  ...[2500, 2550, 2600, 2650].map((rate, at) => [
    'Dallas, TX',
    'Atlanta, GA',
    'R',
    rate,
    dayAgo(10 + at),
    at < 2 ? 'Won' : 'Lost',
    'Quillhaven Home Goods',
  ]),
]

async function importQuotes(): Promise<void> {
  const file = ['Ship From,Ship To,Equip,Quoted Rate,Quote Date,Status,Customer', ...rows.map(asCsv)].join(
    '\n',
  )
  const sent = await fetch(`${app.url}/api/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
    body: `${file}\n`,
  })
  const { import_id } = (await sent.json()) as { import_id: number }
  for (;;) {
    const { body } = await call(app, 'GET', `/api/imports/${import_id}`, { token: tenant.owner })
    if (body.status === 'done') {
      expect(body.rows_added).toBe(rows.length)
      return
    }
    await delay(150)
  }
}

function asCsv(row: readonly (string | number)[]): string {
  return row.map((cell) => `"${cell}"`).join(',')
}

test.beforeAll(async () => {
  tenant = await makeTenant(app)
  await importQuotes()
})

async function openLane(path = `${lanePage}&equipment=V`, options: Parameters<typeof openWindow>[0] = {}) {
  const window = await openWindow({ person: tenant, ...options })
  const asked: string[] = []
  window.page.on('request', (request) => asked.push(request.url()))
  await window.page.goto(path)
  return { ...window, asked }
}

/** The number of drawn marks. Each mark begins one stroke, and a cross two. */
async function dotsDrawn(page: Page): Promise<Record<'won' | 'lost' | 'pending', number>> {
  const strokes = async (outcome: string, each: number) => {
    const path = await page.locator(`path[data-outcome="${outcome}"]`).getAttribute('d')
    return (path ?? '').split(/(?=[Mm])/).filter((part) => part !== '').length / each
  }
  return {
    won: await strokes('won', 1),
    lost: await strokes('lost', 2),
    pending: await strokes('pending', 1),
  }
}

/** Waits until the parts of the page that are open are loaded. */
async function allPartsLoaded(page: Page): Promise<void> {
  await page.getByRole('region', { name: 'At a glance' }).getByText('Best rate').waitFor()
  await page.getByRole('slider', { name: 'Rate on the curve' }).waitFor()
  await page
    .getByRole('region', { name: 'Quotes behind the numbers' })
    .getByText(/^Not in /)
    .filter({ visible: true })
    .first()
    .waitFor()
}

async function openMore(page: Page, title: 'Map, market and months' | 'What the API says'): Promise<void> {
  await page.getByText(title, { exact: true }).click()
}

test.describe('without a lane', () => {
  test('lists the lanes of the brokerage with quotes, win rate and counts, and links to each', async () => {
    const { page, troubles } = await openLane('/lane')
    const table = page.getByRole('region', { name: 'Your lanes' })
    const row = table.getByRole('row').filter({ hasText: 'Van (V)' })
    await row.getByRole('cell', { name: /^\d+\.\d% · \d+ of 38$/ }).waitFor()
    await row.getByRole('link', { name: 'Dallas, TX → Atlanta, GA' }).click()
    await page.getByRole('heading', { name: 'Dallas, TX → Atlanta, GA', level: 1 }).waitFor()
    await expect(page).toHaveURL((url) => url.searchParams.get('equipment') === 'V')
    expect(troubles).toEqual([])
  })

  test('opens the lane of two typed places', async () => {
    const { page } = await openLane('/lane')
    await page.getByRole('combobox', { name: 'Origin' }).fill('Dallas, TX')
    await page.getByRole('combobox', { name: 'Destination' }).fill('Atlanta, GA')
    await page.getByRole('button', { name: 'Show lane' }).click()
    await page.getByRole('heading', { name: 'Dallas, TX → Atlanta, GA', level: 1 }).waitFor()
  })

  test('tells a new brokerage how to add lanes', { tag: '@long' }, async () => {
    const { page } = await openLane('/lane', { person: await makeTenant(app) })
    await page.getByRole('heading', { name: 'No lanes yet' }).waitFor()
    await page.getByRole('link', { name: 'Import past quotes' }).waitFor()
  })
})

test.describe('a lane with history', () => {
  test('has a map with a text description, and loads it only from the service', async () => {
    const { page, asked, troubles } = await openLane()
    await allPartsLoaded(page)
    expect(asked.filter((url) => url.endsWith('.json'))).toEqual([])
    await openMore(page, 'Map, market and months')
    await page
      .getByRole('img', { name: 'Map: from Dallas, TX, east to Atlanta, GA, about 857 road miles.' })
      .waitFor()
    await expect.poll(() => asked.filter((url) => url.endsWith('.json')).length).toBe(2)
    expect(asked.filter((url) => new URL(url).origin !== app.url && !url.startsWith('data:'))).toEqual([])
    expect(troubles).toEqual([])
  })

  test('draws one mark per quote, filtered by outcome', async () => {
    const { page } = await openLane()
    await allPartsLoaded(page)
    await openMore(page, 'Map, market and months')
    const drawn = await dotsDrawn(page)
    expect(drawn.won + drawn.lost).toBe(38)
    expect(drawn.pending).toBe(2)
    await page.getByRole('button', { name: /Won/, pressed: false }).click()
    await page.getByText(`${drawn.won} quotes drawn (won only)`).waitFor()
    expect(await dotsDrawn(page)).toEqual({ won: drawn.won, lost: 0, pending: 0 })
    await page.getByRole('status').getByText(`${drawn.won} of 40 quotes: won.`).waitFor()
  })

  test('selects and opens a quote of the chart by keyboard', async () => {
    const { page } = await openLane()
    await allPartsLoaded(page)
    await openMore(page, 'Map, market and months')
    const chart = page.getByRole('slider', { name: 'Quotes by date' })
    await chart.focus()
    await page.keyboard.press('Home')
    expect(await chart.getAttribute('aria-valuetext')).toMatch(/: \$1,800, won, <img/)
    await page.keyboard.press('ArrowRight')
    expect(await chart.getAttribute('aria-valuetext')).toContain('Harvest Table Foods')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/quotes\/[\w-]+/)
  })

  test('lists every quote in a sortable table with pages, with the numbers that use it', {
    tag: '@long',
  }, async () => {
    const { page } = await openLane()
    await allPartsLoaded(page)
    const table = page.getByRole('region', { name: 'Quotes behind the numbers' })
    await expect(table.getByRole('row')).toHaveCount(11)
    const leftOut = table.getByText('Not in win probability, estimate: nobody has answered it yet')
    await leftOut.filter({ visible: true }).first().waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('11–20 of 40').waitFor()
    await table.getByRole('button', { name: 'Rate' }).click()
    await table.getByRole('row').nth(1).getByText('$2,385').waitFor()
    await expect(page).toHaveURL((url) => url.searchParams.get('sort') === 'dearest')
  })

  test('links a number to the quotes behind it', async () => {
    const { page } = await openLane()
    await allPartsLoaded(page)
    await openMore(page, 'Map, market and months')
    const months = page.getByRole('region', { name: 'Months of this lane, newest first' })
    const second = months.getByRole('row').nth(2)
    const name = await second.getByRole('link').first().textContent()
    const quotes = await second.getByRole('cell').nth(2).textContent()
    await second.getByRole('link').first().click()
    await page.getByText(`${quotes} of 40 quotes: in ${name}.`).waitFor()
    await page.getByRole('button', { name: 'Show all', exact: true }).click()
    await page.getByText('All 40 quotes. Booked').waitFor()
  })

  test('updates its numbers with the rate on the curve, and writes the rate to the address', async () => {
    const { page } = await openLane()
    await allPartsLoaded(page)
    const handle = page.getByRole('slider', { name: 'Rate on the curve' })
    const before = await handle.getAttribute('aria-valuetext')
    await handle.focus()
    for (let press = 0; press < 4; press++) await page.keyboard.press('Shift+ArrowRight')
    expect(await handle.getAttribute('aria-valuetext')).not.toBe(before)
    const rate = Number(await handle.getAttribute('aria-valuenow'))
    await page.waitForURL((url) => url.searchParams.get('rate') === String(rate))
    await openMore(page, 'What the API says')
    await page.getByText(`$${rate.toLocaleString('en-US')} is`).waitFor()
    await page.getByRole('link', { name: /\d+ of \d+ decided quotes, smoothed/ }).click()
    await page.getByText(`at $${rate.toLocaleString('en-US')} or lower`).waitFor()
  })

  test('shows other equipment, and all equipment, with separate counts', { tag: '@long' }, async () => {
    const { page } = await openLane()
    await allPartsLoaded(page)
    await openMore(page, 'Map, market and months')
    const equipment = page.getByRole('navigation', { name: 'Equipment' })
    await equipment.getByRole('link', { name: 'Reefer (R) · 4' }).click()
    await page.getByText('4 quotes drawn').waitFor()
    await expect(equipment.locator('[aria-current="page"]')).toHaveText('Reefer (R) · 4')
    await equipment.getByRole('link', { name: 'All · 44' }).click()
    await page.getByText('44 quotes drawn').waitFor()
  })

  test('links to the reverse lane and to the desk', async () => {
    const { page } = await openLane()
    await allPartsLoaded(page)
    const desk = await page.getByRole('link', { name: 'Quote this lane' }).getAttribute('href')
    expect(new URL(desk ?? '', app.url).searchParams.get('origin')).toBe('Dallas, TX')
    await page.getByRole('link', { name: 'Swap direction' }).click()
    await page.getByRole('heading', { name: 'Atlanta, GA → Dallas, TX', level: 1 }).waitFor()
    await page.getByText('You have no quotes on this lane yet').waitFor()
    await openMore(page, 'What the API says')
    await page
      .getByRole('row', { name: /All your lanes/ })
      .getByText('✓ answered')
      .waitFor()
  })

  test('runs no script from a name', { tag: '@long' }, async () => {
    const { page, troubles } = await openLane()
    await allPartsLoaded(page)
    await page.getByRole('button', { name: 'Quoted' }).click()
    await page.getByRole('cell', { name: hostileName }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(1280)
    expect(troubles).toEqual([])
  })
})

test.describe('a laptop', () => {
  const pages = [
    lanePage,
    '/lane',
    '/',
    '/quotes',
    '/shipments',
    '/customers',
    '/results',
    '/results?view=margin',
    '/market',
    '/rules',
    '/settings/people',
    '/settings/imports',
    '/settings/developers',
    '/settings/audit',
  ]
  for (const width of [1280, 1366])
    test(`of ${width} pixels shows whole tables`, async () => {
      const { page } = await openWindow({ person: tenant, width, height: 657 })
      for (const path of pages) {
        await page.goto(path)
        await loaded(page)
        for (const summary of await page.locator('main summary').all()) await summary.click()
        const tooWide = `[...document.querySelectorAll('.table-frame')].flatMap((frame) =>
          frame.scrollWidth > frame.clientWidth ? [[frame.ariaLabel, frame.scrollWidth, frame.clientWidth]] : [])`
        await expect.poll(async () => [path, ...(await page.evaluate<unknown[]>(tooWide))]).toEqual([path])
      }
    })
})

test.describe("the API's answer", () => {
  test('is closed at first, and has the suggested rate, the range of rates, the verdict and the scores', async () => {
    const { page } = await openLane()
    await allPartsLoaded(page)
    for (const words of ['Suggested rate', 'Range of your rates', 'Strength', 'Average rate']) {
      await expect(page.getByText(words, { exact: true })).toHaveCount(0)
    }
    await openMore(page, 'What the API says')
    const answer = async (path: string) =>
      (
        await call(app, 'GET', `/api/advice/${path}&origin=Dallas, TX&destination=Atlanta, GA&equipment=V`, {
          token: tenant.owner,
        })
      ).body
    const { signals, scores, summary } = await answer('lane?include=evidence')
    await page.getByText(summary).waitFor()
    await page.getByText(`${signals.trend} (${scores.derivative.toFixed(2)})`, { exact: true }).waitFor()
    const rate = await page.getByRole('slider', { name: 'Rate on the curve' }).getAttribute('aria-valuenow')
    const { verdict, rate_band } = await answer(`markup?proposed_rate=${rate}`)
    await page.getByText(verdict).waitFor()
    await page.getByText(`median $${rate_band.median.toLocaleString('en-US')}`).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
  })
})

test.describe('an unknown place', () => {
  test('gets suggestions, and no map', async () => {
    const { page } = await openLane('/lane?origin=Dalas, TX&destination=Atlanta, GA')
    await openMore(page, 'Map, market and months')
    await page.getByText('No map: the location of “Dalas, TX” is unknown').waitFor()
    await page.getByRole('link', { name: 'Dallas, TX', exact: true }).click()
    await page.getByRole('heading', { name: 'Dallas, TX → Atlanta, GA', level: 1 }).waitFor()
    await page.getByText('All 44 quotes.').waitFor()
  })

  test('that cannot be parsed gets suggestions too', { tag: '@long' }, async () => {
    const { page } = await openLane('/lane?origin=Dallas&destination=Atlanta, GA', { refusalsExpected: true })
    await page.getByText('This lane has an invalid place').waitFor()
    await page.getByRole('alert').getByRole('link', { name: 'Dallas, TX', exact: true }).click()
    await page.getByRole('heading', { name: 'Dallas, TX → Atlanta, GA', level: 1 }).waitFor()
  })
})

test.describe('a failure', () => {
  test('is shown in the place of the content, and can be retried', { tag: '@long' }, async () => {
    const { page, context } = await openWindow({ person: tenant, refusalsExpected: true })
    await context.route('**/api/lane-record*', (route) => route.abort())
    await page.goto(`${lanePage}&equipment=V`)
    await page.getByRole('alert').getByText('No connection to the service').waitFor()
    await context.unroute('**/api/lane-record*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await allPartsLoaded(page)
  })

  test('affects only the part that failed', { tag: '@long' }, async () => {
    const { page, context } = await openWindow({ person: tenant, refusalsExpected: true })
    await context.route('**/api/advice/lane*', (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/problem+json',
        body: JSON.stringify({
          type: '/problems/unavailable',
          title: 'Unavailable',
          status: 503,
          detail: 'The database does not answer.',
          request_id: 'r-1',
        }),
      }),
    )
    await page.goto(`${lanePage}&equipment=V`)
    await page.getByText('All 40 quotes.').waitFor()
    await openMore(page, 'What the API says')
    await page.getByRole('alert').waitFor()
  })
})

test.describe('accessibility', () => {
  for (const { colorScheme, width } of looks)
    test(`of the page in ${colorScheme}, ${width} pixels wide`, { tag: '@long' }, async () => {
      const { page } = await openLane(`${lanePage}&equipment=V`, { colorScheme, width })
      await allPartsLoaded(page)
      for (const summaryLine of await page.locator('summary').all()) await summaryLine.click()
      await page.getByRole('slider', { name: 'Quotes by date' }).focus()
      await page.keyboard.press('End')
      expect(await accessibilityProblems(page)).toEqual([])
    })

  for (const { colorScheme, width } of looks)
    test(`of the lane chooser in ${colorScheme}, ${width} pixels wide`, { tag: '@long' }, async () => {
      const { page } = await openLane('/lane?origin=Dalas, TX&destination=Atlanta, GA', {
        colorScheme,
        width,
      })
      await page.getByRole('link', { name: 'Dallas, TX', exact: true }).waitFor()
      await openMore(page, 'What the API says')
      await page.getByText('Strength', { exact: true }).waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      await page.goto('/lane')
      await page.getByRole('region', { name: 'Your lanes' }).getByRole('row').nth(1).waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
    })
})
