import type { Page } from '@playwright/test'
import {
  call,
  type MadeTenant,
  makeIntegration,
  makePerson,
  makeQuote,
  makeTenant,
  pushUpdate,
} from '#testing/make.ts'
import { accessibilityProblems, app, expect, looks, openWindow, test } from '../testing/pages.ts'

let acme: MadeTenant

const customers = ['Harvest Table Foods', 'Umberlode Stores']
const routes = [
  { origin: 'Dallas, TX', destination: 'Atlanta, GA' },
  { origin: 'Chicago, IL', destination: 'Memphis, TN' },
]

/** A brokerage with `count` pending quotes at rates from $1,000 up. Every other quote has another customer and route. */
async function quoting(lanes: number, tenant?: MadeTenant): Promise<{ tenant: MadeTenant; refs: string[] }> {
  const of = tenant ?? (await makeTenant(app))
  const refs: string[] = []
  for (const [which, customer_name] of customers.entries()) {
    const made = await call(app, 'POST', '/api/quote-requests', {
      token: of.owner,
      body: {
        customer_name,
        lanes: Array.from({ length: Math.ceil(lanes / 2) }, (_, index) => ({
          ...routes[which],
          equipment: which === 0 ? 'V' : 'R',
          quoted_rate: 1000 + 20 * index + 10 * which,
          estimated_cost: 900,
        })),
      },
    })
    refs.push(...made.body.lanes.map((quote: { lane_ref: string }) => quote.lane_ref))
  }
  return { tenant: of, refs }
}

async function outcomeOf(tenant: MadeTenant, ref: string): Promise<[string, string | null]> {
  const { body } = await call(app, 'GET', `/api/lanes/${ref}`, { token: tenant.owner })
  return [body.outcome, body.outcome_reason]
}

const rows = (page: Page) => page.getByRole('region', { name: 'Quotes' }).locator('tbody tr')
const shown = (page: Page, words: string) => page.getByText(words, { exact: true }).waitFor()

test.beforeAll(async () => {
  acme = (await quoting(120)).tenant
})

test.describe('the list', () => {
  test('is filtered, sorted and paged in both directions, and its address restores the view', async () => {
    const { page, context, troubles } = await openWindow({ person: acme })
    await page.goto('/quotes')
    await shown(page, '1–50 of 120 quotes')
    const pages = page.getByRole('navigation', { name: 'Pages of quotes', exact: true })
    await pages.getByRole('button', { name: 'Next' }).click()
    await shown(page, '51–100 of 120 quotes')
    const second = await rows(page).first().innerText()
    await pages.getByRole('button', { name: 'Next' }).click()
    await shown(page, '101–120 of 120 quotes')
    await expect(pages.getByRole('button', { name: 'Next' })).toBeDisabled()
    await pages.getByRole('button', { name: 'Previous' }).click()
    await shown(page, '51–100 of 120 quotes')
    await expect(rows(page).first()).toHaveText(second, { useInnerText: true })
    await page.reload()
    await shown(page, '51–100 of 120 quotes')
    await pages.getByRole('button', { name: 'First page' }).click()
    await shown(page, '1–50 of 120 quotes')

    await page.getByRole('button', { name: /^Quoted$/ }).click()
    await page.waitForURL(/sort=rate_high/)
    await rows(page).first().getByText('$2,190').waitFor()
    await expect(page.getByRole('columnheader', { name: 'Quoted', exact: true })).toHaveAttribute(
      'aria-sort',
      'descending',
    )
    await page.getByRole('button', { name: /^Quoted$/ }).click()
    await rows(page).first().getByText('$1,000').waitFor()
    await page.getByRole('button', { name: 'Customer', exact: true }).click()
    await page.waitForURL(/sort=customer/)
    await expect(page.getByRole('columnheader', { name: 'Customer' })).toHaveAttribute(
      'aria-sort',
      'ascending',
    )

    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await page.getByRole('combobox', { name: 'Customer' }).fill('umberlode stores')
    await page.getByRole('combobox', { name: 'Customer' }).press('Enter')
    await shown(page, '1–50 of 60 quotes')
    await page.getByRole('combobox', { name: 'Equipment' }).fill('R')
    await page.getByRole('combobox', { name: 'Equipment' }).blur()
    await page.getByLabel('Rep').selectOption('Olive Quay')
    await page.waitForURL(/equipment=R.*quoted_by=/)
    await shown(page, '1–50 of 60 quotes')
    const other = await context.newPage()
    await other.goto(page.url())
    await shown(other, '1–50 of 60 quotes')
    await expect(other.getByRole('combobox', { name: 'Customer' })).toHaveCount(0)
    await other.getByRole('button', { name: 'Filters (3)' }).click()
    await expect(other.getByRole('combobox', { name: 'Customer' })).toHaveValue('Umberlode Stores')
    await expect(rows(other).first()).toHaveText(await rows(page).first().innerText(), { useInnerText: true })
    expect(await other.getByRole('link', { name: 'Export CSV' }).getAttribute('href')).toMatch(
      /^\/api\/lanes\/export\?customer=Umberlode\+Stores&equipment=R&quoted_by=\d+$/,
    )
    expect(troubles).toEqual([])
  })

  test('shows 12 rows of one line on a laptop, and its filters stay open while they are used', async () => {
    const { page, troubles } = await openWindow({ person: acme, width: 1366, height: 657 })
    await page.goto('/quotes')
    await shown(page, '1–50 of 120 quotes')
    await expect(page.getByRole('form', { name: 'Filters' })).toHaveCount(0)
    const bottoms = await page.evaluate<number[]>(
      '[...document.querySelectorAll("tbody tr")].map((row) => row.getBoundingClientRect().bottom)',
    )
    expect(bottoms.filter((bottom) => bottom <= 657).length).toBeGreaterThanOrEqual(12)
    expect((bottoms[11] ?? 0) - (bottoms[10] ?? 0)).toBe(36)
    expect(await accessibilityProblems(page)).toEqual([])

    // The filters that a person opened and set are open again after a look at a quote.
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await page.getByRole('combobox', { name: 'Loss reason' }).selectOption('Any reason')
    await page.getByRole('combobox', { name: 'Equipment' }).fill('R')
    await page.getByRole('combobox', { name: 'Equipment' }).press('Enter')
    await shown(page, '1–50 of 60 quotes')
    await rows(page).first().getByRole('link').first().click()
    await page.getByRole('heading', { name: 'Chicago, IL → Memphis, TN', level: 1 }).waitFor()
    await page.goBack()
    await shown(page, '1–50 of 60 quotes')
    await expect(page.getByRole('combobox', { name: 'Equipment' })).toHaveValue('R')

    // The number of a quote is in a column that a person can choose, and copies itself.
    const ref = page.getByRole('button', { name: /^Copy quote number / }).first()
    await expect(ref).toHaveCount(0)
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'Ref', exact: true }).check()
    await page.keyboard.press('Escape')
    await ref.click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(await ref.innerText())
    expect(troubles).toEqual([])
  })

  test('is searched while typing, and offers to clear filters without matches', async () => {
    const { page } = await openWindow({ person: acme })
    await page.goto('/quotes')
    await shown(page, '1–50 of 120 quotes')
    await page.getByLabel('Search quotes').fill('memphis')
    await shown(page, '1–50 of 60 quotes')
    await page.getByLabel('Search quotes').fill('memphis nowhere')
    await page.getByRole('heading', { name: 'No quotes match these filters' }).waitFor()
    await page.getByRole('main').getByRole('button', { name: 'Clear filters' }).last().click()
    await shown(page, '1–50 of 120 quotes')
    await expect(page).toHaveURL((url) => url.search === '')
  })

  test('reads dates as whole days in the brokerage’s time zone', { tag: '@long' }, async () => {
    const tenant = await makeTenant(app)
    await call(app, 'PATCH', '/api/tenant', { token: tenant.owner, body: { time_zone: 'America/New_York' } })
    const { page } = await openWindow({ person: tenant })
    const asked = page.waitForRequest(/\/api\/lanes\?/)
    await page.goto('/quotes?from=2026-03-01&to=2026-03-01')
    const { searchParams } = new URL((await asked).url())
    expect([searchParams.get('from'), searchParams.get('to')]).toEqual([
      '2026-03-01T05:00:00.000Z',
      '2026-03-02T05:00:00.000Z',
    ])
  })

  test('links a new brokerage to the quote desk and the import', { tag: '@long' }, async () => {
    const { page } = await openWindow({ person: await makeTenant(app) })
    await page.goto('/quotes')
    await page.getByRole('heading', { name: 'No quotes yet' }).waitFor()
    await page.getByRole('link', { name: 'Import past quotes' }).waitFor()
    await page.getByRole('link', { name: 'Quote a lane' }).click()
    await page.getByRole('heading', { name: 'Quote desk', level: 1 }).waitFor()
  })

  test('says what to do when the address is invalid or the service fails', { tag: '@long' }, async () => {
    const { page } = await openWindow({ person: acme, refusalsExpected: true })
    await page.goto('/quotes?origin=Dallas')
    await page.getByRole('alert').getByText('A filter is not valid').waitFor()
    await page.getByRole('button', { name: 'Show all quotes' }).click()
    await shown(page, '1–50 of 120 quotes')
    await page.goto('/quotes?cursor=nonsense&page=2')
    await page.getByRole('button', { name: 'Go to the first page' }).click()
    await shown(page, '1–50 of 120 quotes')
    await page.route(/\/api\/lanes\?/, (route) => route.abort())
    await page.goto('/quotes?sort=oldest')
    await page.getByRole('alert').getByText('The quotes could not be loaded').waitFor()
    await page.unroute(/\/api\/lanes\?/)
    // The page may have asked again by itself, when another of its requests was answered.
    const button = page.getByRole('button', { name: 'Try again' })
    await button.click({ timeout: 5_000 }).catch(() => {})
    await shown(page, '1–50 of 120 quotes')
  })
})

test.describe('marks by keyboard', () => {
  test('J moves into the list, W marks won, the notice undoes it', async () => {
    const { tenant, refs } = await quoting(2)
    const { page } = await openWindow({ person: tenant })
    await page.goto('/quotes?sort=rate_low')
    await shown(page, '2 quotes')
    await page.keyboard.press('j')
    await page.keyboard.press('w')
    await rows(page).first().getByText('Won').first().waitFor()
    const notice = page.getByText(`Dallas, TX → Atlanta, GA (${refs[0]}) was marked won`)
    await notice.waitFor()
    expect(await outcomeOf(tenant, refs[0] ?? '')).toEqual(['won', null])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(`(${refs[0]}) was marked pending`).waitFor()
    expect(await outcomeOf(tenant, refs[0] ?? '')).toEqual(['pending', null])
  })

  test('a list that the service read before a mark does not hide the mark', async () => {
    const { tenant, refs } = await quoting(2)
    const { page } = await openWindow({ person: tenant })
    await page.goto('/quotes?sort=rate_low')
    await shown(page, '2 quotes')
    const wasRead = Promise.withResolvers<void>()
    const wasMarked = Promise.withResolvers<void>()
    await page.route(
      '**/api/lanes?**',
      async (route) => {
        const answer = await route.fetch()
        wasRead.resolve()
        await wasMarked.promise
        // The page may no longer wait for this answer.
        await route.fulfill({ response: answer }).catch(() => {})
      },
      { times: 1 },
    )
    await page.getByRole('columnheader', { name: 'Quoted at' }).getByRole('button').click()
    await wasRead.promise
    await page.keyboard.press('j')
    await page.keyboard.press('w')
    await page.getByText(`(${refs[0]}) was marked won`).waitFor()
    wasMarked.resolve()
    await shown(page, '2 quotes')
    const row = rows(page).filter({ hasText: refs[0] ?? '' })
    await expect(row.getByText('Won').first()).toBeVisible()
  })

  test('arrows move between rows, L asks for the reason, U sets pending, Enter opens', async () => {
    const { tenant, refs } = await quoting(4)
    const { page } = await openWindow({ person: tenant })
    await page.goto('/quotes?sort=rate_low')
    await shown(page, '4 quotes')
    await page.keyboard.press('j')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('l')
    const dialog = page.getByRole('dialog', { name: 'Why was it lost?' })
    await dialog.waitFor()
    await page.keyboard.press('2')
    await page.getByText(`(${refs[2]}) was marked lost (service)`).waitFor()
    expect(await outcomeOf(tenant, refs[2] ?? '')).toEqual(['lost', 'service'])
    await dialog.waitFor({ state: 'hidden' })
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('l')
    await dialog.waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByText(`(${refs[1]}) was marked lost (capacity)`).waitFor()
    expect(await outcomeOf(tenant, refs[1] ?? '')).toEqual(['lost', 'capacity'])
    await dialog.waitFor({ state: 'hidden' })
    await page.keyboard.press('u')
    await page.getByText(`(${refs[1]}) was marked pending`).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Dallas, TX → Atlanta, GA', level: 1 }).waitFor()
    await expect(page).toHaveURL((url) => url.pathname === `/quotes/${refs[1]}`)
  })

  test('letters do nothing while typing, and can be turned off permanently', { tag: '@long' }, async () => {
    const { tenant, refs } = await quoting(2)
    const { page } = await openWindow({ person: tenant })
    await page.goto('/quotes')
    await shown(page, '2 quotes')
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await page.getByRole('combobox', { name: 'Customer' }).pressSequentially('wlj?')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await page.getByRole('combobox', { name: 'Customer' }).fill('')
    await page.getByRole('heading', { name: 'Quotes', level: 1 }).focus()
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await dialog.getByText('Mark lost, with a reason').waitFor()
    await dialog.getByRole('switch', { name: 'Use letter shortcuts' }).press('Space')
    await page.keyboard.press('Escape')
    await page.reload()
    await shown(page, '2 quotes')
    await rows(page).first().getByRole('link').first().focus()
    await page.keyboard.press('w')
    await page.keyboard.press('?')
    await page.keyboard.press('ArrowDown')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    expect((await Promise.all(refs.map((ref) => outcomeOf(tenant, ref)))).flat()).not.toContain('won')
  })
})

test.describe('marks by mouse', () => {
  test('a mark shows at once and is reverted when the service fails', async () => {
    const { tenant, refs } = await quoting(2)
    const { page } = await openWindow({ person: tenant, refusalsExpected: true })
    await page.goto('/quotes?sort=rate_low')
    await shown(page, '2 quotes')
    let refuse: () => void = () => {}
    const refused = new Promise<void>((resolve) => {
      refuse = resolve
    })
    await page.route('**/api/lane-outcomes', async (route) => {
      await refused
      await route.abort()
    })
    await page.getByRole('button', { name: `Mark ${refs[0]} won` }).click()
    await page.getByRole('button', { name: `Mark ${refs[0]} won` }).waitFor({ state: 'hidden' })
    refuse()
    await page.getByText(`(${refs[0]}) was not marked won`).waitFor()
    await page.getByRole('button', { name: `Mark ${refs[0]} won` }).waitFor()
    await page.unroute('**/api/lane-outcomes')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(`(${refs[0]}) was marked won`).waitFor()
    expect(await outcomeOf(tenant, refs[0] ?? '')).toEqual(['won', null])
  })

  test('a mark does not replace the mark that another person made meanwhile, until it is confirmed', async () => {
    const { tenant, refs } = await quoting(1)
    const { page } = await openWindow({ person: tenant })
    await page.goto('/quotes')
    await page.getByRole('button', { name: `Mark ${refs[0]} won` }).waitFor()
    const { token } = await makePerson(app, tenant, 'member')
    await call(app, 'POST', `/api/lanes/${refs[0]}/outcome`, { token, body: { outcome: 'lost' } })
    await page.getByRole('button', { name: `Mark ${refs[0]} won` }).click()
    await page
      .getByText(`(${refs[0]}) was not marked won. A member marked this quote lost after you loaded it.`)
      .waitFor()
    await rows(page)
      .filter({ hasText: refs[0] ?? '' })
      .getByText('Lost')
      .waitFor()
    expect(await outcomeOf(tenant, refs[0] ?? '')).toEqual(['lost', null])
    await page.getByRole('button', { name: 'Replace the outcome' }).click()
    await page.getByText(`(${refs[0]}) was marked won`).waitFor()
    expect(await outcomeOf(tenant, refs[0] ?? '')).toEqual(['won', null])
  })

  test('the menu of a row copies the text for the customer, marks lost with a reason, and requotes', {
    tag: '@long',
  }, async () => {
    const { tenant, refs } = await quoting(2)
    const { page } = await openWindow({ person: tenant })
    await page.goto('/quotes?sort=rate_low')
    await page.getByRole('button', { name: `Actions for ${refs[0]}` }).click()
    await page.getByRole('menuitem', { name: 'Copy as e-mail' }).click()
    await page.getByText('Copied the text for the customer').waitFor()
    const text = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(text).toContain('$1,000 all-in')
    expect(text).toContain(`Our reference ${refs[0]}`)
    await page.getByRole('button', { name: `Actions for ${refs[1]}` }).click()
    await page.getByRole('menuitem', { name: 'Mark lost' }).click()
    await page.getByRole('button', { name: 'No response' }).click()
    await page.getByText(`(${refs[1]}) was marked lost (no response)`).waitFor()
    await page.getByRole('button', { name: `Actions for ${refs[0]}` }).click()
    await page.getByRole('menuitem', { name: 'Requote' }).click()
    const dialog = page.getByRole('dialog', { name: 'Requote' })
    await dialog.getByText(`${refs[0]}: quoted $1,000`).waitFor()
    await dialog.getByLabel('New rate').fill('1,100')
    await dialog.getByText('+$100 vs the last quote').waitFor()
    await dialog.getByRole('button', { name: 'Requote' }).click()
    const next = `${refs[0]?.replace(/1$/, '2')}`
    await dialog.getByText(next).waitFor()
    await dialog.getByRole('button', { name: 'Copy quote number' }).click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(next)
    await dialog.getByRole('link', { name: 'Open the new quote' }).click()
    await page.getByRole('table').getByText('$1,100').first().waitFor()
    await expect(page).toHaveURL((url) => url.pathname === `/quotes/${next}`)
    await page.getByRole('link', { name: refs[0] ?? '', exact: true }).waitFor()
  })

  test('a viewer sees quotes but no marks', { tag: '@long' }, async () => {
    const viewer = await makePerson(app, acme, 'viewer')
    const { page } = await openWindow({ person: viewer })
    await page.goto('/quotes')
    await shown(page, '1–50 of 120 quotes')
    await expect(page.getByRole('button', { name: /^Mark .* won$/ })).toHaveCount(0)
    await page.keyboard.press('j')
    await page.keyboard.press('l')
    await expect(page.getByRole('dialog')).toHaveCount(0)
  })
})

test('amounts in Canadian dollars are named wherever a booked quote is shown', async () => {
  const integration = await makeIntegration(app)
  const { tenant } = integration
  const lane = { origin: 'Toronto, ON', destination: 'Montreal, QC', equipment: 'V' }
  const body = {
    customer_name: 'Harvest Table Foods',
    lanes: [{ ...lane, quoted_rate: 2600, estimated_cost: 2100, quoted_currency: 'CAD' }],
  }
  const { body: made } = await call(app, 'POST', '/api/quote-requests', { token: tenant.owner, body })
  const [{ lane_ref }] = made.lanes
  const booking = { customer_rate: 2700, truck_cost: 2000, customer_currency: 'CAD', truck_currency: 'CAD' }
  expect((await pushUpdate(app, integration, { lane_ref, ...booking })).status).toBe(200)
  const { page } = await openWindow({ person: tenant })
  const unnamed = async () =>
    (await page.locator('body').innerText()).match(/[+−]?\$[\d,]+(\.\d+)?(?![\d,.]|\s+CAD)/g) ?? []
  for (const path of [`/quotes/${lane_ref}`, '/shipments?period=all']) {
    await page.goto(path)
    await page.getByText('+$100 CAD').first().waitFor()
    expect(await unnamed(), path).toEqual([])
  }
  await page.getByRole('button', { name: /details and changes/ }).click()
  await page.getByRole('dialog').getByText('+$100 CAD').waitFor()
  expect(await unnamed()).toEqual([])
})

test.describe('a requote', () => {
  test('gets advice on the last typed rate, whatever the order of answers', async () => {
    const tenant = await makeTenant(app)
    for (const outcome of ['won', 'lost', 'won'] as const) await makeQuote(app, tenant, { outcome })
    const quote = await makeQuote(app, tenant)
    const { page } = await openWindow({ person: tenant })
    const [release, arrived] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const isAbout1900 = (request: { postData: () => string | null }) =>
      request.postData()?.includes('"quoted_rate":1900') === true
    await page.route('**/api/advice/lanes', async (route) => {
      if (!isAbout1900(route.request())) return route.continue()
      await release.promise
      await route.continue().catch(() => {})
      arrived.resolve()
    })
    await page.goto(`/quotes/${quote.lane_ref}`)
    await page.getByRole('button', { name: 'Requote' }).click()
    const dialog = page.getByRole('dialog', { name: 'Requote' })
    const asked = page.waitForRequest(isAbout1900)
    await dialog.getByLabel('New rate').fill('1900')
    await asked
    await dialog.getByLabel('New rate').fill('2100')
    const card = dialog.getByRole('region', { name: 'Our rate' })
    await card.getByText('$2,100', { exact: true }).waitFor()
    await card.getByText(/^\d+%$/).waitFor()
    const chance = await card.getByText(/^\d+%$/).innerText()
    await dialog.getByText(/2 of 3 decided quotes won on this lane/).waitFor()
    // The older request continues now.
    release.resolve()
    await arrived.promise
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    await expect(card.getByText(/^\d+%$/)).toHaveText(chance)
    await expect(card.getByText('$2,100', { exact: true })).toHaveCount(1)
  })
})

test.describe('a requote', () => {
  test('of a Canadian quote has its margin in Canadian dollars, by name', async () => {
    const tenant = await makeTenant(app)
    const places = { origin: 'Toronto, ON', destination: 'Montreal, QC', equipment: 'V' }
    const body = {
      customer_name: 'Harvest Table Foods',
      lanes: [{ ...places, quoted_rate: 2000, estimated_cost: 1800, quoted_currency: 'CAD' }],
    }
    const { body: made } = await call(app, 'POST', '/api/quote-requests', { token: tenant.owner, body })
    const { page } = await openWindow({ person: tenant })
    await page.goto(`/quotes/${made.lanes[0].lane_ref}`)
    await page.getByRole('button', { name: 'Requote' }).click()
    const dialog = page.getByRole('dialog', { name: 'Requote' })
    await dialog.getByLabel('New rate').fill('2,100')
    await dialog.getByRole('region', { name: 'Our rate' }).getByText('$300 CAD (14.3%)').waitFor()
    await dialog.getByLabel('Cost').fill('lots')
    await dialog.getByText('Enter the amount in dollars, such as 1,800').waitFor()
  })

  test('at a rate that nobody would quote is asked about before it is saved, beside the rate to quote', async () => {
    const tenant = await makeTenant(app)
    for (const outcome of ['won', 'lost', 'won'] as const) await makeQuote(app, tenant, { outcome })
    const quote = await makeQuote(app, tenant)
    const { page } = await openWindow({ person: tenant })
    await page.goto(`/quotes/${quote.lane_ref}`)
    await page.getByRole('button', { name: 'Requote' }).click()
    const dialog = page.getByRole('dialog', { name: 'Requote' })
    const next = quote.lane_ref.replace(/1$/, '2')
    const status = async () => (await call(app, 'GET', `/api/lanes/${next}`, { token: tenant.owner })).status
    await dialog.getByText(/^Rate to quote: \$\d,\d{3}$/).waitFor()
    await dialog.getByLabel('New rate').fill('200')
    await dialog.getByRole('button', { name: 'Requote' }).click()
    await dialog.getByText(/Is this rate right\? \$200 is 90% below the going rate/).waitFor()
    expect(await status()).toBe(404)
    // Another rate is checked again; the same one is saved as typed.
    await dialog.getByLabel('New rate').fill('210')
    await dialog.getByRole('button', { name: 'Requote', exact: true }).click()
    await dialog.getByText(/Is this rate right\? \$210/).waitFor()
    expect(await status()).toBe(404)
    await dialog.getByRole('button', { name: 'Requote as typed' }).click()
    await dialog.getByText(next).waitFor()
    expect(await status()).toBe(200)
  })
})

test.describe('a requote of a contract quote', () => {
  test('suggests a rate from contract quotes, and can answer, accept or decline a counter-offer', async () => {
    const tenant = await makeTenant(app)
    const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', estimated_cost: 1700 }
    const quoted = async (more: object) => {
      const body = { customer_name: 'Harvest Table Foods', lanes: [{ ...lane, ...more }] }
      const made = await call(app, 'POST', '/api/quote-requests', { token: tenant.owner, body })
      return made.body.lanes[0].lane_ref as string
    }
    for (const [rate_type, rates] of [
      ['spot', [2000, 2050, 2100]],
      ['contract', [3000, 3100, 3200]],
    ] as const) {
      for (const [nth, quoted_rate] of rates.entries()) {
        const ref = await quoted({ rate_type, quoted_rate })
        const body = { outcome: nth < 2 ? 'won' : 'lost' }
        await call(app, 'POST', `/api/lanes/${ref}/outcome`, { token: tenant.owner, body })
      }
    }
    const facts = { ...lane, rate_type: 'contract', miles: 790 }
    const refs = [
      await quoted({ ...facts, quoted_rate: 3300 }),
      await quoted({ ...facts, quoted_rate: 3300 }),
    ]
    const advised = async (asked: object) => {
      const body = { customer: 'Harvest Table Foods', lanes: [asked] }
      return (await call(app, 'POST', '/api/advice/lanes', { token: tenant.owner, body })).body.results[0]
        .rules.rate
    }
    const { rate_type: _, ...asSpot } = facts
    const [toQuote, ofSpot] = [await advised(facts), await advised(asSpot)]
    expect(toQuote).toBeGreaterThan(ofSpot + 500)

    const { page, troubles } = await openWindow({ person: tenant })
    await page.goto(`/quotes/${refs[0]}`)
    await page.getByRole('button', { name: 'Requote' }).click()
    const dialog = page.getByRole('dialog', { name: 'Requote' })
    await dialog.getByText(`Rate to quote: $${toQuote.toLocaleString('en-US')}`).waitFor()
    await dialog.getByLabel('The customer says').fill('3,100')
    await dialog.getByRole('region', { name: 'Accept' }).getByText('they named it').waitFor()
    await dialog.getByRole('button', { name: /^Requote at \$3,\d{3}$/ }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Accept $3,100' }).click()
    await dialog.getByText('which the customer named: it is won').waitFor()
    expect(await outcomeOf(tenant, `${refs[0]?.replace(/1$/, '2')}`)).toEqual(['won', null])
    expect(await outcomeOf(tenant, refs[0] ?? '')).toEqual(['lost', 'price'])

    await page.goto(`/quotes/${refs[1]}`)
    await page.getByRole('button', { name: 'Requote' }).click()
    await dialog.getByLabel('The customer says').fill('2,500')
    await dialog.getByRole('combobox', { name: 'Why it is lost' }).selectOption({ label: 'Price' })
    await dialog.getByRole('button', { name: 'Decline' }).click()
    await dialog.getByText('with the counter-offer of $2,500 in its history').waitFor()
    expect(await outcomeOf(tenant, refs[1] ?? '')).toEqual(['lost', 'price'])
    expect(troubles).toEqual([])
  })
})

test.describe('the page of a quote', () => {
  test('compares the booking with the quote, and lets an admin roll back a change after a preview', async () => {
    const integration = await makeIntegration(app)
    const { tenant } = integration
    const { lane_ref } = await makeQuote(app, tenant, { rate: 2000 })
    await pushUpdate(app, integration, {
      lane_ref,
      customer_rate: 2050,
      truck_cost: 1700,
      carrier_name: 'Blue Mesa Trucking',
      carrier_mc: 'MC-481920',
    })
    const admin = await makePerson(app, tenant, 'admin')
    const { page, troubles } = await openWindow({ person: admin })
    await page.goto(`/quotes/${lane_ref}`)
    await page.getByRole('row', { name: 'Customer rate (AR) $2,000 $2,050 +$50' }).waitFor()
    await page.getByRole('row', { name: /^Margin – \$350/ }).waitFor()
    await page.getByRole('definition').getByText('MC-481920').first().waitFor()
    await page.getByText('TMS, over the API').waitFor()
    await page.getByRole('button', { name: 'Roll back change 1' }).click()
    const dialog = page.getByRole('dialog', { name: 'Roll back change 1' })
    await dialog.getByRole('row', { name: 'Truck cost (AP) $1,700 none' }).waitFor()
    await dialog.getByRole('row', { name: 'Outcome Won Pending' }).waitFor()
    await dialog.getByRole('button', { name: 'Roll back change 1' }).click()
    await page.getByText('rolled back change 1').waitFor()
    await page.getByRole('row', { name: 'Customer rate (AR) $2,000 – –' }).waitFor()
    expect(await outcomeOf(tenant, lane_ref)).toEqual(['pending', null])
    expect(troubles).toEqual([])
  })

  test('a member sees the changes but no rollback', { tag: '@long' }, async () => {
    const tenant = await makeTenant(app)
    const { lane_ref } = await makeQuote(app, tenant, { outcome: 'won' })
    const member = await makePerson(app, tenant, 'member')
    const { page } = await openWindow({ person: member })
    await page.goto(`/quotes/${lane_ref}`)
    await page.getByText('Pending → Won').waitFor()
    await page.getByText('Admins of your brokerage can roll back changes.').waitFor()
    await expect(page.getByRole('button', { name: /Roll back/ })).toHaveCount(0)
  })

  test('any text that is not a lane_ref is reported', { tag: '@long' }, async () => {
    const { page } = await openWindow({ person: acme, refusalsExpected: true })
    for (const text of ['48211093754-1-1', '<script>alert(1)</script>', 'a/b?c=%', '\u202eevil', '..x']) {
      await page.goto(`/quotes/${encodeURIComponent(text)}`)
      await page.getByRole('heading', { name: 'No quote with this number' }).waitFor()
    }
  })

  test('links back to the list with its filters, and to the lane', { tag: '@long' }, async () => {
    const { page } = await openWindow({ person: acme })
    await page.goto('/quotes?customer=Umberlode+Stores&sort=rate_high')
    await shown(page, '1–50 of 60 quotes')
    await rows(page).first().getByRole('link').first().click()
    await page.getByRole('heading', { name: 'Chicago, IL → Memphis, TN', level: 1 }).waitFor()
    await expect(page.getByRole('link', { name: 'View lane' })).toHaveAttribute(
      'href',
      '/lane?origin=Chicago%2C+IL&destination=Memphis%2C+TN&equipment=R',
    )
    await page.getByRole('main').getByRole('link', { name: 'Quotes' }).last().click()
    await shown(page, '1–50 of 60 quotes')
    await expect(page).toHaveURL((url) => url.searchParams.get('sort') === 'rate_high')
  })
})

test.describe('a quote that was a mistake', () => {
  test('is voided with a reason, leaves the list, and counts again after Undo', async () => {
    const tenant = await makeTenant(app)
    const { lane_ref } = await makeQuote(app, tenant, { rate: 250 })
    const { page, troubles } = await openWindow({ person: tenant })
    await page.goto(`/quotes/${lane_ref}`)
    await page.getByRole('button', { name: 'Void', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Void this quote' })
    await dialog.getByText('Mistyped rate').click()
    await expect(dialog.getByRole('textbox', { name: 'Reason' })).toHaveValue('Mistyped rate')
    expect(await accessibilityProblems(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Void quote' }).click()
    await page.getByText(`${lane_ref} is void`).waitFor()
    const { body } = await call(app, 'GET', '/api/lanes', { token: tenant.owner })
    expect(body.lanes).toEqual([])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(`${lane_ref} counts again`).waitFor()
    await page.getByRole('button', { name: 'Mark won' }).waitFor()
    expect(troubles).toEqual([])
  })
})

test.describe('accessibility', () => {
  const hostileName = `<img src=x onerror="document.title='run'"> ${'W'.repeat(120)}`

  for (const look of looks)
    test(`${look.colorScheme}, ${look.width} pixels`, { tag: '@long' }, async () => {
      const { tenant, refs } = await quoting(4)
      // The newest quote is the first row, which is still pending.
      app.now += 1_000
      await call(app, 'POST', '/api/quote-requests', {
        token: tenant.owner,
        body: { customer_name: hostileName, lanes: [{ ...routes[0], equipment: 'V', quoted_rate: 5000 }] },
      })
      for (const [index, outcome] of (['won', 'lost'] as const).entries()) {
        await call(app, 'POST', `/api/lanes/${refs[index]}/outcome`, {
          token: tenant.owner,
          body: { outcome },
        })
      }
      const { page, troubles } = await openWindow({ person: tenant, ...look })
      await page.goto('/quotes')
      await shown(page, '5 quotes')
      expect(await accessibilityProblems(page)).toEqual([])
      const scrolls = () =>
        page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
      expect(await scrolls()).toBe(0)
      await page.keyboard.press('j')
      await page.keyboard.press('l')
      await page.getByRole('dialog', { name: 'Why was it lost?' }).waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      await page.keyboard.press('r')
      await page.getByRole('dialog', { name: 'Requote' }).getByLabel('New rate').fill('2100')
      await page.getByText('vs the last quote').waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      await page.goto(`/quotes/${refs[0]}`)
      await page.getByText('Pending → Won').waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      expect(await scrolls()).toBe(0)
      await page.getByRole('button', { name: 'Roll back change 1' }).click()
      await page.getByRole('dialog').waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      expect(await page.title()).not.toBe('run')
      expect(troubles).toEqual([])
    })
})
