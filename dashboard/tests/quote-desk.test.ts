import type { Page } from '@playwright/test'
import { typingPauseMs } from '#client/debounce.ts'
import { call, type MadeTenant, makePerson, makeQuote, makeTenant } from '#testing/make.ts'
import {
  accessibilityProblems,
  app,
  expect,
  loaded,
  looks,
  openWindow,
  test,
  type Window,
} from '../testing/pages.ts'

let tenant: MadeTenant

/** Dallas to Atlanta, van: eight decided quotes, five won, cheaper quotes more often. */
const decided = [
  [1900, 'won'],
  [1950, 'won'],
  [2000, 'won'],
  [2050, 'lost'],
  [2100, 'won'],
  [2150, 'won'],
  [2250, 'lost'],
  [2300, 'lost'],
] as const

test.beforeAll(async () => {
  tenant = await makeTenant(app)
  for (const [rate, outcome] of decided) await makeQuote(app, tenant, { rate, outcome })
})

type Options = NonNullable<Parameters<typeof openWindow>[0]>
let ownersWindow: Window | null = null

/** A blank desk. The owner's desk shares one window across tests; other people or looks get a separate window. */
async function openDesk(options: Options = {}): Promise<Window> {
  const fresh = Object.keys(options).length > 0 || ownersWindow === null
  const window = fresh
    ? await openWindow({
        person: tenant,
        refusalsExpected: true,
        kept: Object.keys(options).length === 0,
        ...options,
      })
    : ownersWindow
  if (window === null) throw new Error('The window was not opened.')
  if (Object.keys(options).length === 0) ownersWindow = window
  await window.page.unrouteAll({ behavior: 'ignoreErrors' })
  // A test that failed while it printed must not hide the page from the next ones.
  await window.page.emulateMedia({ media: 'screen' })
  if (!fresh) await window.page.evaluate('sessionStorage.clear()')
  await window.page.goto('/')
  await window.page.getByRole('heading', { name: 'Quote desk', level: 1 }).waitFor()
  return window
}

const row = (page: Page, number = 1) => page.getByRole('group', { name: `Quote ${number}`, exact: true })
const rateOf = (page: Page, number = 1) =>
  row(page, number).getByRole('textbox', { name: 'Rate', exact: true })
const advice = (page: Page) => page.getByRole('region', { name: 'Advice' })
/** The line that compares a typed rate with the rate to quote. */
const typedAt = (page: Page, rate: string) =>
  advice(page)
    .locator('.desk-typed-line')
    .filter({ hasText: `Your ${rate}` })
/** The figures of the card, by their names: Buy, Quote, Chance, Margin, Per mile. */
const answerLine = (page: Page) => advice(page).locator('.desk-answer-figures')
const figure = (page: Page, name: string) =>
  answerLine(page).locator(`div:has(dt:text-is("${name}")) dd`).first()
/** A cell of a row: the rate to quote, the chance or the margin. */
const cell = (page: Page, name: 'to-quote' | 'chance' | 'margin', number = 1) =>
  row(page, number).locator(`.desk-${name} > span`).last()
const costOf = (page: Page, number = 1) =>
  row(page, number).getByRole('textbox', { name: 'Cost', exact: true })

/** The list of events that would change the estimate, behind Why?, when it is for the rate. */
const explainedAt = (page: Page, rate: RegExp) =>
  advice(page).getByRole('heading', { name: new RegExp(`^What would change the estimate at ${rate.source}`) })

async function typeQuote(
  page: Page,
  { number = 1, origin = 'Dallas, TX', destination = 'Atlanta, GA', rate = '2100' } = {},
) {
  await row(page, number).getByRole('combobox', { name: 'Origin' }).fill(origin)
  await row(page, number).getByRole('combobox', { name: 'Destination' }).fill(destination)
  await rateOf(page, number).fill(rate)
}

const customer = (page: Page) => page.getByRole('combobox', { name: 'Customer' })
const saveButton = (page: Page) => page.getByRole('button', { name: /^Save / })

test.describe('advice while typing', () => {
  test('is one answer first, even before a rate is typed, and fits above the fold', async () => {
    const { page, troubles } = await openDesk()
    await page.setViewportSize({ width: 1366, height: 657 })
    await typeQuote(page, { rate: '' })
    await expect(figure(page, 'Quote')).toHaveText(/^\$2,\d{3}$/)
    await expect(figure(page, 'Chance')).toHaveText(/^\d+%$/)
    await advice(page)
      .getByText(/^Confidence: (good|fair|weak)$/)
      .waitFor()
    const trust = advice(page).getByText('Based on 5 of 8 decided quotes won on this lane, the newest today.')
    await trust.waitFor()
    const frame = await advice(page).locator('.desk-answer').boundingBox()
    expect((frame?.y ?? 0) + (frame?.height ?? 0)).toBeLessThan(657)
    await page.keyboard.press('Alt+u')
    const best = await figure(page, 'Quote').textContent()
    expect(`$${Number(await rateOf(page).inputValue()).toLocaleString('en-US')}`).toBe(best)
    await rateOf(page).and(page.locator(':focus')).waitFor()
    await advice(page).getByText('this is the rate above').waitFor()
    await page.setViewportSize({ width: 1280, height: 900 })
    expect(troubles).toEqual([])
  })

  test('explains itself on request, with what the API says, in plain words', { tag: '@long' }, async () => {
    const { page } = await openDesk()
    await typeQuote(page)
    await advice(page).getByText('Why?').click()
    await explainedAt(page, /\$2,100$/).waitFor()
    await advice(page).getByText('What the API says').waitFor()
    await expect(advice(page)).not.toContainText(/[a-z]_[a-z]/)
    await advice(page)
      .getByText(/won \d of \d decided at this rate or lower/)
      .first()
      .waitFor()
    await advice(page).getByText('medium · 8 decided quotes').waitFor()
    await advice(page).getByText('$1,900 to $2,300', { exact: true }).waitFor()
    await advice(page)
      .getByRole('button', { name: /^Use \$[\d,]+, the suggested rate$/ })
      .click()
    await explainedAt(page, /\$(?!2,100)/).waitFor()
    // Lines about another rate are gone, also those with the same text as another line.
    await expect(explainedAt(page, /\$2,100$/)).toHaveCount(0)
  })

  test('follows every key without a request, and computes the margin from the typed cost', async () => {
    const { page } = await openDesk()
    await typeQuote(page, { rate: '2000' })
    await typedAt(page, '$2,000').waitFor()
    await page.route('**/api/advice/**', (route) => route.abort('internetdisconnected'))
    await costOf(page).fill('1700')
    await typedAt(page, '$2,000').getByText('$300 (15.0%)').waitFor()
    await rateOf(page).fill('1900')
    await typedAt(page, '$1,900').getByText('$200 (10.5%)').waitFor()
  })

  test('shows a loss in red, with a minus sign, and a rate far from the best one in amber', async () => {
    const { page } = await openDesk()
    await typeQuote(page, { rate: '1900' })
    await costOf(page).fill('2061')
    await typedAt(page, '$1,900').getByText('\u2212$161 (\u22128.5%)').waitFor()
    await typedAt(page, '$1,900').getByText('a loss of $161 if you win').waitFor()
    const colors = async () => [
      await advice(page).locator('.desk-typed-line').getAttribute('data-standing'),
      await advice(page)
        .locator('.desk-typed-line')
        .evaluate((line) => line.ownerDocument.defaultView?.getComputedStyle(line).color),
    ]
    expect(await colors()).toEqual(['low', 'rgb(179, 55, 43)'])
    await rateOf(page).fill('2062')
    await typedAt(page, '$2,062').waitFor()
    expect(await colors()).toEqual(['off', 'rgb(107, 95, 29)'])
  })

  test('an older answer never replaces a newer one, and its request is aborted', async () => {
    const { page } = await openDesk()
    const givenUp: string[] = []
    page.on('requestfailed', (request) => givenUp.push(request.url()))
    const [release, arrived] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/api/advice/markup?*proposed_rate=2003*', async (route) => {
      const answer = await route.fetch()
      await release.promise
      await route.fulfill({ response: answer }).catch(() => {})
      arrived.resolve()
    })
    await typeQuote(page, { rate: '' })
    await answerLine(page).waitFor()
    await advice(page).getByText('Why?').click()
    const asked = page.waitForRequest(/proposed_rate=2003/)
    await rateOf(page).fill('2003')
    await asked
    await rateOf(page).fill('2253')
    const explained = explainedAt(page, /\$2,253$/)
    await explained.waitFor()
    // The older answer arrives now.
    release.resolve()
    await arrived.promise
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    await expect(explained).toHaveCount(1)
    await expect.poll(() => givenUp.filter((url) => url.includes('proposed_rate=2003'))).toHaveLength(1)
  })

  test('is requested after a pause in typing, not with every key', async () => {
    const { page } = await openDesk()
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/api/advice/markup')) asked.push(request.url())
    })
    await typeQuote(page, { rate: '' })
    await page.evaluate(`
      globalThis.typedAt = []
      document.addEventListener('input', () => typedAt.push(performance.now()), { capture: true })`)
    await rateOf(page).pressSequentially('2175', { delay: 40 })
    await expect.poll(() => asked.some((url) => /proposed_rate=2175(&|$)/.test(url))).toBe(true)
    const typedAt = await page.evaluate<number[]>('typedAt')
    expect(typedAt).toHaveLength(4)
    // On a busy machine, two keys can be as far apart as a pause. Then a request is right.
    const withoutPause = ['2', '21', '217'].filter(
      (_, nth) => (typedAt[nth + 1] ?? 0) - (typedAt[nth] ?? 0) < typingPauseMs,
    )
    const early = asked.map((url) => new URL(url).searchParams.get('proposed_rate') ?? '')
    expect(early.filter((rate) => withoutPause.includes(rate))).toEqual([])
  })

  test('does not shift the layout while an answer is on its way; line, curve and handle always agree', async () => {
    const { page } = await openDesk()
    await typeQuote(page)
    await typedAt(page, '$2,100').waitFor()
    await expect(advice(page)).toHaveAttribute('aria-busy', 'false')
    const placeOf = () =>
      advice(page)
        .getByText(/^Based on/)
        .boundingBox()
    const curveOf = () =>
      page.getByRole('slider').evaluate((knob) => knob.parentElement?.getBoundingClientRect().top)
    const before = [await placeOf(), await curveOf()]
    const arrival = Promise.withResolvers<void>()
    // The history of the lane arrives before the advice on the rows, which has become less sure of a win.
    const history = Promise.withResolvers<void>()
    await page.route('**/api/advice/**', async (route) => {
      await arrival.promise
      if (route.request().method() === 'POST') {
        await history.promise
        const response = await route.fetch()
        // The exact chance at the rate differs from what the curve says between two points.
        const json = JSON.parse(await response.text(), (key, value) =>
          key === 'estimate' ? { ...value, probability: 0.9 * value.probability } : value,
        )
        await route.fulfill({ response, json })
        return
      }
      await route.continue()
      await (await route.request().response())?.finished()
      await page.evaluate('new Promise(requestAnimationFrame)')
      history.resolve()
    })
    await rateOf(page).fill('2105')
    await advice(page).getByText('updating').waitFor()
    const agreed = async () => {
      const line = await typedAt(page, '$2,105').textContent()
      const chance = /: (\d+%)/.exec(line ?? '')?.[1]
      await expect
        .poll(() => page.getByRole('slider').getAttribute('aria-valuetext'))
        .toContain(`At $2,105: ${chance}`)
    }
    await agreed()
    expect([await placeOf(), await curveOf()]).toEqual(before)
    // All lines that are shown as final, and not as updating.
    await page.evaluate(`
      finalLines = new Set()
      new MutationObserver(() => {
        const card = document.querySelector('.desk-advice[aria-busy="false"]')
        if (card !== null) finalLines.add(card.querySelector('.desk-typed-line').textContent)
      }).observe(document.body, { attributes: true, characterData: true, childList: true, subtree: true })
    `)
    arrival.resolve()
    await expect(advice(page)).toHaveAttribute('aria-busy', 'false')
    await agreed()
    expect(await page.evaluate<string[]>('[...finalLines]')).toEqual([
      await typedAt(page, '$2,105').textContent(),
    ])
    expect([await placeOf(), await curveOf()]).toEqual(before)
  })

  test('warns when the rate is below the minimum of the brokerage', async () => {
    const floor = (rate_per_mile: number) =>
      call(app, 'PATCH', '/api/tenant', { token: tenant.owner, body: { floors: { rate_per_mile } } })
    expect((await floor(2.6)).status).toBe(200)
    try {
      const { page } = await openDesk()
      await typeQuote(page)
      await typedAt(page, '$2,100').getByText('below your minimum of $2,').waitFor()
      await rateOf(page).fill('2300')
      await typedAt(page, '$2,300').waitFor()
      await expect(typedAt(page, '$2,300').getByText('below your minimum')).toHaveCount(0)
    } finally {
      await floor(0)
    }
  })

  test('asks for an exchange rate in place, and says to others who can enter it', async () => {
    const house = await makeTenant(app)
    for (const [rate, outcome] of decided) await makeQuote(app, house, { rate, outcome })
    const member = await makePerson(app, house, 'member')
    const lane = { origin: 'Toronto, ON', destination: 'Chicago, IL', rate: '2600' }
    const asked = (page: Page) => advice(page).getByRole('region', { name: 'Exchange rate' })
    const { page: members } = await openDesk({ person: member })
    await typeQuote(members, lane)
    await asked(members).getByText('can enter one here.').waitFor()
    await expect(asked(members).getByRole('textbox')).toHaveCount(0)

    const { page } = await openDesk({ person: house })
    await typeQuote(page, lane)
    await asked(page).getByText('quotes of this lane in Canadian dollars cannot be compared').waitFor()
    await row(page)
      .getByRole('button', { name: /^Quote 1 is .*: change$/ })
      .click()
    await page.getByRole('combobox', { name: 'Currency' }).selectOption('CAD')
    await asked(page).getByText('this quote cannot be compared with quotes in US dollars').waitFor()
    // A rate that nothing could be compared with is not saved without a question.
    await customer(page).fill('Harvest Table Foods')
    await rateOf(page).press('Control+Enter')
    const question = page.getByRole('dialog', { name: 'Is this rate right?' })
    await question
      .getByText('The rate cannot be compared: the exchange rate of today is not known.')
      .waitFor()
    await question.getByRole('button', { name: 'Change the rate' }).click()
    await expect(question).toHaveCount(0)
    const rate = asked(page).getByRole('textbox', { name: 'US dollars per Canadian dollar' })
    await rate.fill('1.37')
    await rate.press('Enter')
    await asked(page).getByText('A number from 0.5 to 1.1').waitFor()
    await rate.fill('0.75')
    await rate.press('Enter')
    await expect(asked(page)).toHaveCount(0)
    await advice(page)
      .getByText(/Your \$2,600 \(.*Canadian dollars\) is \$1,950/)
      .waitFor()
  })

  test('says what it is based on when a lane has no quotes', { tag: '@long' }, async () => {
    const { page } = await openDesk()
    await typeQuote(page, { origin: 'Reno, NV', destination: 'Boise, ID', rate: '1500' })
    await advice(page)
      .getByText(
        /No decided quotes on this lane, estimated from your other lanes\. Nearest: 8 decided quotes/,
      )
      .waitFor()
    await advice(page).getByText('Why?').click()
    await advice(page)
      .getByText(/You have no quotes on this lane with Van \(V\) yet/)
      .waitFor()
  })

  test('recommends no rate after wins only, and none below the cost', async () => {
    const fresh = await makeTenant(app)
    for (const rate of [2000, 2100]) await makeQuote(app, fresh, { rate, outcome: 'won' })
    const { page } = await openDesk({ person: fresh })
    await typeQuote(page)
    await advice(page).getByText('not enough to go on: none of your quotes was lost on price').waitFor()
    await expect(advice(page).getByRole('button', { name: /^Use / })).toHaveCount(0)
    await makeQuote(app, fresh, { rate: 2300, outcome: 'lost' })
    await page.reload()
    await advice(page).getByRole('button', { name: /^Use / }).waitFor()
    await costOf(page).fill('5000')
    await advice(page).getByText('No rate to quote: the cost is above all rates').waitFor()
    await expect(advice(page).getByRole('button', { name: /^Use / })).toHaveCount(0)
  })

  test('has nothing to say without any decided quote: one sentence and a button to import', async () => {
    const fresh = await makeTenant(app)
    const { page } = await openDesk({ person: fresh })
    await typeQuote(page)
    await advice(page).getByText('There is no estimate: this brokerage has no quotes').waitFor()
    // Miles and dollars per mile need no history, and neither do margin and markup.
    const arithmetic = advice(page).getByRole('group', { name: 'Arithmetic of the quote' })
    await arithmetic.getByText(/^8\d\d mi$/).waitFor()
    await arithmetic.getByText(/^Your \$2,100 is \$2\.\d\d\/mi$/).waitFor()
    await costOf(page).fill('1800')
    await arithmetic.getByText('margin $300 (14.3%)').waitFor()
    await advice(page)
      .getByRole('button', { name: /^Cost \+ 15%: \$2,070 · \$2\.\d\d\/mi$/ })
      .click()
    await expect(rateOf(page)).toHaveValue('2070')
    await expect(page.getByRole('slider')).toHaveCount(0)
    await advice(page).getByRole('link', { name: 'Import past quotes' }).click()
    await page.waitForURL('**/settings/imports')
  })

  test('on another load than a direct truckload is a sentence, and the load is saved with its mode and stops', async () => {
    const { page, troubles } = await openDesk()
    await customer(page).fill('Harvest Table Foods')
    await typeQuote(page, { rate: '480' })
    await typedAt(page, '$480').waitFor()
    await row(page)
      .getByRole('button', { name: /More fields of quote 1/ })
      .click()
    await row(page).getByLabel('Mode').selectOption('LTL')
    await advice(page)
      .getByText(/^An LTL load is saved, not priced: /)
      .waitFor()
    await row(page).getByLabel('Stops').fill('Memphis, TN; Dallas, TX')
    await advice(page)
      .getByText(/^An LTL load with stops is saved, not priced: /)
      .waitFor()
    await saveButton(page).click()
    await row(page)
      .getByText(/must be a place that is not on the route yet; it is "Dallas, TX"/)
      .waitFor()
    await row(page).getByLabel('Stops').fill('Memphis, TN; Birmingham, AL')
    await saveButton(page).click()
    await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
    const [saved] = (await call(app, 'GET', '/api/lanes?mode=ltl', { token: tenant.owner })).body.lanes
    expect(saved).toMatchObject({ quoted_rate: 480, mode: 'ltl', stops: ['Memphis, TN', 'Birmingham, AL'] })
    await page.goto(`/quotes/${saved.lane_ref}`)
    await page.getByText(/^LTL via Memphis, TN; Birmingham, AL\. An LTL load with stops is saved/).waitFor()
    await page.goto('/quotes?mode=multi_stop')
    await page.getByText(/LTL, 2 stops/).waitFor()
    expect(troubles).toEqual([])
  })

  test('on an unknown place shows an error at its field, with suggestions', async () => {
    const { page } = await openDesk()
    await typeQuote(page, { origin: 'Dalas, TX' })
    await row(page).getByText('Unknown place. Did you mean').waitFor()
    await advice(page).getByText('Not enough to go on: the origin is not known.').waitFor()
    await expect(advice(page).getByRole('button', { name: /^Use / })).toHaveCount(0)
    await expect(page.getByRole('slider')).toHaveCount(0)
    await row(page).getByRole('button', { name: 'Dallas, TX' }).click()
    await expect(row(page).getByRole('combobox', { name: 'Origin' })).toHaveValue('Dallas, TX')
    await advice(page).getByText('Based on 5 of 8').waitFor()
  })

  test('is announced to screen readers as one sentence when it is complete', async () => {
    const { page } = await openDesk()
    await typeQuote(page)
    await typedAt(page, '$2,100').waitFor()
    const live = advice(page).locator('[aria-live="polite"]')
    await expect
      .poll(() => live.textContent())
      .toMatch(/^Quote \$2,\d{3}: win \d+% \(.*\)\. Your \$2,100: win \d+% \(.*\)\.$/)
    await expect(live).toHaveCount(1)
  })

  test('comes back by itself after the service was unavailable', async () => {
    const { page } = await openDesk()
    await page.route('**/api/advice/**', (route) => route.fulfill({ status: 503, body: 'down' }))
    await typeQuote(page)
    await page.getByRole('alert').getByText('No advice right now').waitFor()
    await page.unroute('**/api/advice/**')
    await typedAt(page, '$2,100').waitFor()
    await expect(page.getByRole('alert')).toHaveCount(0)
  })

  test('comes back by itself when the connection is back', { tag: '@long' }, async () => {
    const { page, context } = await openDesk()
    await typeQuote(page, { rate: '' })
    await answerLine(page).waitFor()
    await context.setOffline(true)
    await typeQuote(page, { origin: 'Reno, NV', destination: 'Boise, ID', rate: '' })
    await page.getByRole('alert').getByText('No advice right now').waitFor()
    await context.setOffline(false)
    await answerLine(page).waitFor()
    await expect(page.getByRole('alert')).toHaveCount(0)
  })

  test('that cannot be loaded is reported and can be retried', { tag: '@long' }, async () => {
    const { page } = await openDesk()
    await page.route('**/api/advice/markup?*', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'Retry-After': '60' },
        contentType: 'application/problem+json',
        body: JSON.stringify({
          type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
          title: 'Too many requests',
          status: 429,
          detail: 'Too many requests.',
          request_id: 'r',
        }),
      }),
    )
    await typeQuote(page)
    await page.getByRole('alert').getByText('No advice right now').waitFor()
    await page.unroute('**/api/advice/markup?*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await typedAt(page, '$2,100').waitFor()
  })
})

test.describe('the curve', () => {
  test('moves the rate by keyboard and announces it', async () => {
    const { page } = await openDesk()
    await typeQuote(page)
    const handle = page.getByRole('slider', { name: 'Rate on the curve' })
    await handle.focus()
    await page.keyboard.press('ArrowRight')
    await expect(rateOf(page)).toHaveValue('2105')
    await page.keyboard.press('Shift+ArrowLeft')
    await expect(rateOf(page)).toHaveValue('2080')
    await expect(handle).toHaveAttribute('aria-valuenow', '2080')
    await expect(handle).toHaveAttribute(
      'aria-valuetext',
      /^At \$2,080: \d+%, 80% range .*, 5 of 8 decided quotes won on this lane$/,
    )
    await page.keyboard.press('Home')
    await expect(rateOf(page)).toHaveValue((await handle.getAttribute('aria-valuemin')) ?? '')
    await typedAt(page, '$2,080').waitFor({ state: 'detached' })
  })

  test('moves the rate by pointer, and has a table as text alternative', { tag: '@long' }, async () => {
    const { page } = await openDesk()
    await typeQuote(page)
    const handle = page.getByRole('slider')
    await handle.scrollIntoViewIfNeeded()
    const box = await handle.boundingBox()
    if (box === null) throw new Error('The handle is not on screen.')
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
    await page.mouse.down()
    await page.mouse.move(box.x + 90, box.y + 40, { steps: 4 })
    await page.mouse.up()
    expect(Number(await rateOf(page).inputValue())).toBeGreaterThan(2150)
    await page.getByText('Show as a table').click()
    const table = page.getByRole('table', { name: 'Chance of winning by rate' })
    await expect.poll(() => table.getByRole('row').count()).toBeGreaterThan(20)
    await table
      .getByText(/\d won, \d lost, \d pending/)
      .first()
      .waitFor()
  })
})

test.describe('quotes', () => {
  test('are entered by keyboard: Tab along the row, Enter for another row, Ctrl+Enter to save', async () => {
    const { page } = await openDesk()
    await customer(page).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('Harvest Table Foods')
    await page.keyboard.press('Tab')
    for (const text of ['LOAD 17', 'Dallas, TX', 'Atlanta, GA', 'V', '2100']) {
      await page.keyboard.press('Tab')
      if (text === 'LOAD 17') await page.keyboard.press('Shift+Tab')
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.type(text)
    }
    await page.keyboard.press('Enter')
    // Waits for the focus, which moves a moment after the row appears.
    await row(page, 2).locator(':focus').waitFor()
    await page.keyboard.type('Reno, NV')
    await page.keyboard.press('Tab')
    await page.keyboard.type('Boise, ID')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type('1500')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('heading', { name: '2 quotes saved' }).waitFor()
    await page.getByText('For Harvest Table Foods, reference LOAD 17').waitFor()
  })

  for (const into of ['Customer', 'Origin'])
    test(`pasted into the field ${into} are shown as they were read before they are added`, async () => {
      const { page } = await openDesk()
      await page.getByRole('combobox', { name: into }).focus()
      await page.evaluate(
        `navigator.clipboard.writeText(${JSON.stringify('Dallas, TX 75201\tATL\t2150\nReno NV\tBoise, ID\t1500\n')})`,
      )
      await page.keyboard.press('ControlOrMeta+v')
      // The third column is the rate, although it often is the equipment.
      await expect(page.getByRole('combobox', { name: 'Column 3' })).toHaveValue('quoted_rate')
      await page.getByRole('button', { name: 'Add 2 quotes' }).click()
      await row(page, 2).waitFor()
      await expect(row(page).getByRole('combobox', { name: 'Destination' })).toHaveValue('Atlanta, GA')
      await expect(rateOf(page, 2)).toHaveValue('1500')
    })

  test('are taken from the lane page once; the lane stays in the address', { tag: '@long' }, async () => {
    const { page } = await openDesk()
    await page.goto('/lane?origin=Dallas%2C+TX&destination=Atlanta%2C+GA&equipment=V')
    await page.getByRole('link', { name: 'Quote this lane' }).click()
    await row(page).waitFor()
    await expect(row(page).getByRole('combobox', { name: 'Origin' })).toHaveValue('Dallas, TX')
    await expect(row(page).getByRole('combobox', { name: 'Destination' })).toHaveValue('Atlanta, GA')
    await rateOf(page).fill('2222')
    await page.waitForURL((url) => url.searchParams.get('rate') === '2222')
    await page.reload()
    await row(page).waitFor()
    await expect(row(page, 2)).toHaveCount(0)
    await expect(rateOf(page)).toHaveValue('2222')
    // A colleague who opens the address sees the same lane.
    const colleague = await openDesk({ person: await makePerson(app, tenant, 'member') })
    await colleague.page.goto(page.url())
    await typedAt(colleague.page, '$2,222').waitFor()
    await row(page).getByRole('combobox', { name: 'Origin' }).fill('Dal')
    await page.waitForURL((url) => url.search === '')
  })

  test('of a link begin an empty form, and so does N; each draft stays as typed', async () => {
    const { page } = await openDesk()
    await customer(page).fill('Harvest Table Foods')
    await typeQuote(page, { rate: '2100' })
    await page.waitForURL(({ searchParams }) => searchParams.get('rate') === '2100')
    await page.goto('/?origin=Reno%2C+NV&destination=Boise%2C+ID&equipment=V')
    await row(page).waitFor()
    await expect(customer(page)).toHaveValue('')
    await expect(row(page, 2)).toHaveCount(0)
    await expect(row(page).getByRole('combobox', { name: 'Origin' })).toHaveValue('Reno, NV')
    const drafts = page.getByRole('group', { name: 'Drafts' })
    await drafts
      .getByRole('button', { name: 'Harvest Table Foods: Dallas, TX → Atlanta, GA', exact: true })
      .click()
    await expect(rateOf(page)).toHaveValue('2100')
    await page.reload()
    await row(page).waitFor()
    await expect(customer(page)).toHaveValue('Harvest Table Foods')
    await page.getByRole('heading', { name: 'Quote desk', level: 1 }).focus()
    await page.keyboard.press('n')
    await customer(page).and(page.locator(':focus')).waitFor()
    expect([await customer(page).inputValue(), await rateOf(page).inputValue()]).toEqual(['', ''])
    await expect(drafts.getByRole('button', { name: /^Discard/ })).toHaveCount(3)
    // N works on another page, too. A blank form is no draft.
    await page.goto('/quotes')
    await loaded(page)
    await page.keyboard.press('n')
    await customer(page).and(page.locator(':focus')).waitFor()
    await expect(drafts.getByRole('button', { name: /^Discard/ })).toHaveCount(3)
    await drafts.getByRole('button', { name: /^Discard the draft Harvest/ }).click()
    await expect(drafts.getByRole('button', { name: /^Discard/ })).toHaveCount(2)
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect(customer(page)).toHaveValue('Harvest Table Foods')
  })

  test('are read as users type them, and an invalid rate is reported', { tag: '@long' }, async () => {
    const { page } = await openDesk()
    await row(page).getByRole('combobox', { name: 'Origin' }).fill('Dallas TX')
    await row(page).getByRole('combobox', { name: 'Destination' }).fill('Atlanta, GA')
    await row(page).getByRole('combobox', { name: 'Equipment' }).fill('dry van')
    await rateOf(page).fill('2.1k')
    await row(page).getByText('Enter the rate in dollars, such as 2,150').waitFor()
    await expect(row(page).getByRole('combobox', { name: 'Origin' })).toHaveValue('Dallas, TX')
    await expect(row(page).getByRole('combobox', { name: 'Equipment' })).toHaveValue('V')
    await rateOf(page).fill('2100')
    await typedAt(page, '$2,100').waitFor()
  })

  test('are duplicated and removed', { tag: '@long' }, async () => {
    const { page } = await openDesk()
    await typeQuote(page)
    await page.getByRole('button', { name: 'Duplicate quote 1' }).click()
    await expect(rateOf(page, 2)).toHaveValue('2100')
    await page.getByRole('button', { name: 'Remove quote 1' }).click()
    await expect(row(page, 2)).toHaveCount(0)
    await customer(page).fill('Harvest Table Foods')
    await page.getByRole('button', { name: 'Clear the form' }).click()
    await expect(rateOf(page)).toHaveValue('')
    await expect(customer(page)).toHaveValue('')
  })

  test('survive a reload', { tag: '@long' }, async () => {
    const { page } = await openDesk()
    await customer(page).fill('Harvest Table Foods')
    await typeQuote(page, { rate: '2100' })
    await page.reload()
    await expect(customer(page)).toHaveValue('Harvest Table Foods')
    await expect(rateOf(page)).toHaveValue('2100')
    await typedAt(page, '$2,100').waitFor()
  })
})

test.describe('after saving', () => {
  test('W and L work at once, and Enter begins a new request', async () => {
    const { page, troubles } = await openDesk()
    await customer(page).fill('Harvest Table Foods')
    await typeQuote(page, { rate: '2121' })
    await rateOf(page).press('Control+Enter')
    await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
    const ref = await page.getByRole('link', { name: /^\d+-1-1$/ }).textContent()
    // The text for the customer is open and selected, and one key copies it.
    const shown = page.getByRole('region', { name: 'For the customer' }).locator('pre')
    await expect.poll(() => page.evaluate('String(getSelection())')).toContain('$2,121 all-in')
    await page.keyboard.press('c')
    await page.getByText('Copied the text for the customer').waitFor()
    const copied = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(copied).toBe(await shown.textContent())
    expect(copied).toMatch(/Valid until \w{3} \d+, \d{4}, \d+:\d\d [AP]M [A-Z]{3,4}\.\n\n.+\nTest Brokers$/)
    const outcome = async () =>
      (await call(app, 'GET', `/api/lanes/${ref}`, { token: tenant.owner })).body.outcome
    await page.keyboard.press('w')
    await page.getByRole('table').getByText('Won').waitFor()
    await expect.poll(outcome).toBe('won')
    await page.keyboard.press('l')
    await page.getByRole('dialog', { name: 'Why was it lost?' }).waitFor()
    await page.keyboard.press('1')
    await page.getByRole('table').getByText('Lost').waitFor()
    await expect.poll(outcome).toBe('lost')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect(page).toHaveURL((url) => url.search === '')
    await page.getByRole('heading', { name: '1 quote saved' }).focus()
    await page.keyboard.press('Enter')
    await customer(page).and(page.locator(':focus')).waitFor()
    await expect(rateOf(page)).toHaveValue('')
    expect(troubles).toEqual([])
  })

  test('the quote can be copied as an e-mail, only the quote is printed, and its page shows the forecast', {
    tag: '@long',
  }, async () => {
    const { page } = await openDesk()
    await customer(page).fill('Harvest Table Foods')
    await page.getByRole('textbox', { name: 'Reference (optional)' }).fill('PO-7781')
    await typeQuote(page, { rate: '2122' })
    await typedAt(page, '$2,122').waitFor()
    await page.getByRole('combobox', { name: 'Valid for' }).selectOption('72')
    await saveButton(page).click()
    await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
    const copied = async () => {
      await page.getByRole('button', { name: 'Copy as e-mail' }).click()
      return String(await page.evaluate('navigator.clipboard.readText()'))
    }
    const text = await copied()
    expect(text).toContain('Dallas, TX → Atlanta, GA, Van (V): $2,122 all-in')
    expect(text).toContain('Your reference: PO-7781')
    expect(text).toMatch(/Valid until \w{3} \d+, \d{4}/)
    await page.emulateMedia({ media: 'print' })
    await page.getByRole('heading', { name: 'Test Brokers' }).waitFor()
    const printed = page.getByRole('table').filter({ hasText: 'Our reference' })
    await expect(printed).toBeVisible()
    await page.getByRole('button', { name: 'New request', includeHidden: true }).waitFor({ state: 'hidden' })
    await page.emulateMedia({ media: 'screen' })
    await page.getByRole('link', { name: /^\d+-1-1$/ }).click()
    const given = page.locator('.quotes-facts > div').filter({ hasText: 'Forecast when quoted' })
    await given.waitFor()
    // The page offers the text again, with the validity that is saved and shown.
    expect(await copied()).toBe(text)
    const [, end = ''] = /Valid until (.+)\./.exec(text) ?? []
    const valid = page.locator('.quotes-facts > div').filter({ hasText: 'Valid until' })
    await expect(valid).toContainText(end)
    const stored = await quoteOf(new URL(page.url()).pathname.split('/').at(-1) ?? '')
    expect(Date.parse(stored.valid_until) - Date.parse(stored.created_at)).toBe(72 * 3_600_000)
    await expect(given).toHaveText(/win \d+% \(80% range: .+\) · going rate \$2,\d{3}/)
  })
})

const quoteOf = async (ref: string) =>
  (await call(app, 'GET', `/api/lanes/${ref}`, { token: tenant.owner })).body

test.describe('a counter-offer on the desk', () => {
  test('keeps the text for the customer, and Enter in its dialog begins no quote', async () => {
    const { page } = await openDesk()
    await customer(page).fill('Harvest Table Foods')
    await typeQuote(page, { rate: '2122' })
    await typedAt(page, '$2,122').waitFor()
    await saveButton(page).click()
    await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
    await page.keyboard.press('r')
    const dialog = page.getByRole('dialog', { name: 'Requote' })
    await dialog.getByLabel('The customer says').fill('1,900')
    await dialog.getByRole('button', { name: 'Accept $1,900' }).waitFor()
    await dialog.getByLabel('Valid for').selectOption('4')
    await dialog.getByLabel('New rate').fill('1900')
    await dialog.getByText('Between $1,900 and $2,122').waitFor()
    await dialog.getByLabel('New rate').fill('2000')
    await dialog.getByRole('button', { name: 'Requote at $2,000' }).click()
    await dialog.getByText('was requoted at $2,000').waitFor()
    await dialog.getByRole('button', { name: 'Copy as e-mail' }).click()
    expect(String(await page.evaluate('navigator.clipboard.readText()'))).toContain('Van (V): $2,000')
    // The keys of the page do not act behind the dialog, wherever the focus is.
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('Enter')
    await page.keyboard.press('w')
    await dialog.getByRole('button', { name: 'Done' }).focus()
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: '1 quote saved', exact: true }).waitFor()
    await page.getByText(/^Superseded: \d+-1-1 at \$2,122\.$/).waitFor()
    const next = await page.getByRole('link', { name: /^\d+-1-2$/ }).innerText()
    const { outcome, valid_until, created_at } = await quoteOf(next)
    expect([outcome, Date.parse(valid_until) - Date.parse(created_at)]).toEqual(['pending', 4 * 3_600_000])
    // One row is left, and W marks the new offer: one load, won once.
    await expect(page.getByRole('link', { name: /^\d+-1-\d+$/ })).toHaveCount(1)
    await page.keyboard.press('w')
    await page.getByText(`(${next}) was marked won`).waitFor()
    expect(await quoteOf(next.replace(/2$/, '1'))).toMatchObject({ outcome: 'lost', superseded_by: next })
  })
})

test.describe('a rate that nobody would quote', () => {
  const dialog = (page: Page) =>
    page.getByRole('dialog', { name: /^Is this rate right\?|^Are these \d rates right\?/ })
  const fill = async (page: Page, rate: string) => {
    await customer(page).fill('Harvest Table Foods')
    await typeQuote(page, { rate })
  }
  const quotesAt = async (rate: number) => {
    const { body } = await call(app, 'GET', '/api/lanes?sort=newest', { token: tenant.owner })
    return body.lanes.filter((quote: { quoted_rate: number }) => quote.quoted_rate === rate).length
  }

  test('is saved only after one confirmation, also with Ctrl+Enter before the advice has arrived', async () => {
    const { page } = await openDesk()
    await page.route('**/api/advice/markup?*', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      await route.continue().catch(() => {})
    })
    await fill(page, '210')
    await rateOf(page).press('Control+Enter')
    await dialog(page)
      .getByText(/\$210 is 90% below the going rate of \$2,0\d\d\./)
      .waitFor()
    expect(await quotesAt(210)).toBe(0)
    const change = dialog(page).getByRole('button', { name: 'Change the rate' })
    await change.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await dialog(page).waitFor({ state: 'detached' })
    await rateOf(page).and(page.locator(':focus')).waitFor()
    expect(await quotesAt(210)).toBe(0)
    // The rate is selected: what is typed replaces it.
    await page.keyboard.type('211')
    await expect(rateOf(page)).toHaveValue('211')
    await rateOf(page).fill('210')
    await rateOf(page).press('Control+Enter')
    await dialog(page).getByRole('button', { name: 'Save it as typed' }).click()
    await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
    expect(await quotesAt(210)).toBe(1)
  })

  test('is found in every row of several quotes, and a confirmed draft is not asked about again', {
    tag: '@long',
  }, async () => {
    const { page } = await openDesk()
    await fill(page, '2100')
    await page.getByRole('button', { name: 'Duplicate quote 1' }).click()
    await rateOf(page, 2).fill('21000')
    await page.getByRole('button', { name: 'Duplicate quote 2' }).click()
    await rateOf(page, 3).fill('212')
    await row(page, 3)
      .getByText(/\$212 is 90% below/)
      .waitFor()
    for (const from of [3, 4]) await page.getByRole('button', { name: `Duplicate quote ${from}` }).click()
    await page.getByText('4 rates to check').waitFor()
    await page.route('**/api/quote-requests', (route) => route.fulfill({ status: 503, body: 'down' }))
    await saveButton(page).click()
    await expect(dialog(page).getByRole('listitem')).toHaveCount(4)
    await dialog(page).getByRole('button', { name: 'Save them as typed' }).click()
    await page.getByRole('alert').getByText('Not saved. Everything you typed is still here.').waitFor()
    await page.unroute('**/api/quote-requests')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: '5 quotes saved' }).waitFor()
    // Many warnings do not push the text for the customer off the screen.
    await page.getByText('4 rates to check').waitFor()
    await expect(page.getByRole('list', { name: 'Rates to check' })).toBeHidden()
    await expect(page.getByRole('region', { name: 'For the customer' })).toBeInViewport()
  })

  test('that could not be checked takes one confirmation, and is marked after the save', {
    tag: '@long',
  }, async () => {
    const { page } = await openDesk()
    await fill(page, '213')
    await page.route('**/api/advice/lanes', (route) => route.fulfill({ status: 503, body: 'down' }))
    await saveButton(page).click()
    await page.getByRole('button', { name: 'Save without the check' }).click()
    await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
    await page.getByText(/\$213 is 90% below the going rate/).waitFor()
  })
})

test.describe('several quotes', () => {
  test('each has its chance, best rate and margin, with totals, from one request', async () => {
    const { page, troubles } = await openDesk()
    await typeQuote(page)
    await page.getByRole('button', { name: 'Add a quote' }).click()
    await typeQuote(page, { number: 2, origin: 'Reno, NV', destination: 'Boise, ID', rate: '' })
    const asked = page.waitForRequest('**/api/advice/lanes')
    await costOf(page, 2).fill('1000')
    expect((await asked).postDataJSON().lanes).toHaveLength(2)
    await expect(cell(page, 'chance')).toHaveText(/^\d+%$/)
    await expect(cell(page, 'to-quote', 2)).toHaveText(/^\$/)
    const all = page.getByRole('group', { name: 'All quotes' })
    await all.getByText('2 quotes, 1 with a rate').waitFor()
    await all.getByRole('button', { name: 'Use best for all' }).click()
    await all.getByText('2 quotes, 2 with a rate').waitFor()
    await expect(cell(page, 'margin', 2)).toHaveText(/^\$/)
    await all.getByText(/^total \$\d,\d{3}/).waitFor()
    expect(troubles).toEqual([])
  })

  test('are saved without those that still need a rate, which stay as a draft', async () => {
    const { page } = await openDesk()
    await customer(page).fill('Harvest Table Foods')
    await typeQuote(page, { rate: '2140' })
    await page.getByRole('button', { name: 'Add a quote' }).click()
    await typeQuote(page, { number: 2, origin: 'Reno, NV', destination: 'Boise, ID', rate: '' })
    await saveButton(page).click()
    await page.getByText('What is the rate?').waitFor()
    await page
      .getByRole('button', { name: 'Save the 1 quote with a rate, keep the others as a draft' })
      .click()
    await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
    await page.getByRole('button', { name: 'Next: Harvest Table Foods: Reno, NV → Boise, ID' }).waitFor()
    await page.keyboard.press('Enter')
    await expect(row(page).getByRole('combobox', { name: 'Origin' })).toHaveValue('Reno, NV')
    await expect(row(page, 2)).toHaveCount(0)
    await expect(rateOf(page)).toBeFocused()
  })

  test('show the same chance in a row and on its card, with the focus and without, also far from the curve', async () => {
    const { page } = await openDesk()
    await typeQuote(page, { rate: '250' })
    await page.getByRole('button', { name: 'Add a quote' }).click()
    await typeQuote(page, { number: 2, rate: '9000' })
    for (const [number, rate] of [
      [1, '$250'],
      [2, '$9,000'],
    ] as const) {
      // Beside the warning.
      const chance = row(page, number).locator('.desk-chance span').last()
      await rateOf(page, 3 - number).focus()
      await expect(chance).toHaveText(/^[<>]?\d+%$/)
      const apart = String(await chance.textContent())
      await rateOf(page, number).focus()
      await expect(typedAt(page, rate).locator('b').nth(1)).toHaveText(apart)
      await expect(typedAt(page, rate)).not.toContainText(/at (least|most)/)
      await expect(chance).toHaveText(apart)
    }
  })

  test('keep their rows low: the fields behind More close again, and the card sums them up', async () => {
    const { page } = await openDesk()
    await typeQuote(page)
    await page.getByRole('button', { name: 'Add a quote' }).click()
    await typeQuote(page, { number: 2 })
    const more = row(page, 2).getByRole('button', { name: /More fields of quote 2/ })
    await more.click()
    await row(page, 2).getByLabel('Miles').fill('790')
    await row(page, 2).getByLabel('Pickup date').fill('2026-12-03')
    await more.click()
    await expect(row(page, 2).getByLabel('Miles')).toHaveCount(0)
    await advice(page).getByText('790 miles').waitFor()
    await advice(page).getByText('pickup Dec 3, 2026').waitFor()
    expect((await row(page, 2).boundingBox())?.height).toBeLessThanOrEqual(36)
    // The card is about the row with the focus.
    await rateOf(page).focus()
    await expect(advice(page).getByText('790 miles')).toHaveCount(0)
  })

  test('of ten lanes stand on a laptop with their advice, the card and the button to save', async () => {
    const { page } = await openDesk()
    await page.setViewportSize({ width: 1366, height: 657 })
    await page.getByRole('button', { name: 'Paste rows' }).click()
    const dialog = page.getByRole('dialog', { name: 'Paste rows' })
    await dialog.getByRole('textbox', { name: 'Rows' }).fill('Dallas, TX\tAtlanta, GA\tV\n'.repeat(10))
    await dialog.getByRole('button', { name: 'Add 10 quotes' }).click()
    await dialog.waitFor({ state: 'detached' })
    for (const number of [1, 3, 10]) {
      await expect(cell(page, 'to-quote', number)).toHaveText(/^\$2,\d{3}$/)
      await expect(cell(page, 'chance', number)).toHaveText(/^\d+%$/)
    }
    await answerLine(page).waitFor()
    await page.evaluate('scrollTo(0, 0)')
    const seen = [
      row(page, 1),
      row(page, 10),
      answerLine(page),
      page.getByRole('slider').or(advice(page).locator('svg').first()),
      saveButton(page),
    ]
    for (const part of seen) await expect(part.first()).toBeInViewport({ ratio: 1 })
    for (const number of [2, 10]) expect((await row(page, number).boundingBox())?.height).toBe(36)
    // The card follows the focus.
    await rateOf(page, 3).focus()
    await advice(page)
      .getByRole('heading', { name: /^Quote 3: / })
      .waitFor()
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  test('sixty pasted rows without rates take one click to price', { tag: '@long' }, async () => {
    const { page } = await openDesk()
    await page.getByRole('button', { name: 'Paste rows' }).click()
    const dialog = page.getByRole('dialog', { name: 'Paste rows' })
    await dialog.getByRole('textbox', { name: 'Rows' }).fill('Dallas, TX\tAtlanta, GA\tV\n'.repeat(60))
    await dialog.getByRole('button', { name: 'Add 60 quotes' }).click()
    const all = page.getByRole('group', { name: 'All quotes' })
    await all.getByText('60 quotes, 0 with a rate').waitFor()
    await all.getByRole('button', { name: 'Use best for all' }).click()
    await all.getByText('60 quotes, 60 with a rate').waitFor()
    await expect(saveButton(page)).toHaveText('Save 60 quotes')
  })
})

test.describe('saving', () => {
  test('shows the number of every quote with copy and link, then starts a new request', async () => {
    const { page, troubles } = await openDesk()
    await customer(page).fill('<img src=x onerror=alert(1)>')
    await typeQuote(page)
    await page.getByRole('button', { name: 'Duplicate quote 1' }).click()
    await saveButton(page).click()
    await page.getByRole('heading', { name: '2 quotes saved' }).waitFor()
    const refs = await page.getByRole('link', { name: /^\d+-\d-1$/ }).allTextContents()
    expect(refs).toHaveLength(2)
    await page.getByRole('button', { name: `Copy quote number ${refs[0]}` }).click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(refs[0])
    await page.getByRole('button', { name: 'Copy all 2 lines' }).click()
    const copied = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(copied.split('\n').map((line) => line.split('\t')[0])).toEqual(refs)
    await expect(page.getByRole('link', { name: String(refs[0]) })).toHaveAttribute(
      'href',
      `/quotes/${refs[0]}`,
    )
    const lane = await page
      .getByRole('link', { name: 'Dallas, TX → Atlanta, GA' })
      .first()
      .getAttribute('href')
    expect(Object.fromEntries(new URL(String(lane), app.url).searchParams)).toEqual({
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      equipment: 'V',
    })
    await page.getByRole('button', { name: 'New request' }).click()
    await expect(rateOf(page)).toHaveValue('')
    expect(troubles).toEqual([])
  })

  test('is judged by the advice that the desk shows, with the typed miles and charges, without asking again', async () => {
    const { page } = await openDesk()
    const asked: { include?: string; miles?: number; quoted_fuel?: number }[] = []
    const answered: string[] = []
    await page.route('**/api/advice/lanes', async (route) => {
      const response = await route.fetch()
      const [result] = (await response.json()).results
      asked.push(route.request().postDataJSON().lanes[0])
      answered.push(result.advice)
      await route.fulfill({ response })
    })
    await customer(page).fill('Harvest Table Foods')
    await typeQuote(page, { rate: '1700' })
    await page.getByRole('button', { name: /^Quote 1 is .*: change$/ }).click()
    await row(page).getByLabel('The rate includes').selectOption('linehaul')
    await row(page).getByLabel('Fuel charge').fill('400')
    await row(page).getByLabel('Miles').fill('800')
    await typedAt(page, '$2,100').waitFor()
    await expect(advice(page)).toHaveAttribute('aria-busy', 'false')
    expect(asked.at(-1)).toMatchObject({
      quoted_rate: 1700,
      miles: 800,
      quoted_fuel: 400,
      include: 'curve,risk',
    })
    const shown = answered.at(-1)
    const saving = page.waitForRequest('**/api/quote-requests')
    await saveButton(page).click()
    expect((await saving).postDataJSON().lanes).toMatchObject([{ miles: 800, advice: shown }])
    await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
  })

  test('by advice that is older than ten minutes says what it is now, and the next try has the newer one', {
    tag: '@long',
  }, async () => {
    const { page } = await openDesk()
    await customer(page).fill('Blue River Mills')
    await typeQuote(page)
    await typedAt(page, '$2,100').waitFor()
    await expect(advice(page)).toHaveAttribute('aria-busy', 'false')
    const before = app.now
    try {
      app.now += 11 * 60_000
      await saveButton(page).click()
      await page.getByText(/^The advice is older than 10 minutes: it is now .+ Nothing was saved\./).waitFor()
      await rateOf(page).press('Control+Enter')
      await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
    } finally {
      app.now = before
    }
  })

  test('shows errors at their rows and fields', async () => {
    const { page } = await openDesk()
    await typeQuote(page)
    await page.getByRole('button', { name: 'Add a quote' }).click()
    await typeQuote(page, { number: 2, origin: 'Dalas, TX' })
    await saveButton(page).click()
    await page.getByText('Who is the quote for?').waitFor()
    await customer(page).and(page.locator(':focus')).waitFor()
    await customer(page).fill('harvest')
    await page.getByRole('option', { name: 'New customer “harvest”' }).click()
    await customer(page).press('Tab')
    await page.getByText('A new customer. Did you mean').waitFor()
    await page.getByRole('button', { name: 'Harvest Table Foods' }).click()
    await expect(customer(page)).toHaveValue('Harvest Table Foods')
    await saveButton(page).click()
    await row(page, 2).getByText('Unknown place: Dalas, TX. Did you mean').waitFor()
    await expect(row(page, 1).getByText('Did you mean')).toHaveCount(0)
    await page.getByRole('checkbox', { name: 'These places are correct: save them as typed' }).waitFor()
    await row(page, 2).getByRole('button', { name: 'Dallas, TX' }).click()
    await saveButton(page).click()
    await page.getByRole('heading', { name: '2 quotes saved' }).waitFor()
  })

  test('that fails loses nothing, and works on retry', { tag: '@long' }, async () => {
    const { page } = await openDesk()
    await customer(page).fill('Harvest Table Foods')
    await typeQuote(page, { rate: '2135' })
    await page.route('**/api/quote-requests', (route) => route.fulfill({ status: 503, body: 'down' }))
    await saveButton(page).click()
    await page.getByRole('alert').getByText('Not saved. Everything you typed is still here.').waitFor()
    await expect(customer(page)).toHaveValue('Harvest Table Foods')
    await expect(rateOf(page)).toHaveValue('2135')
    await page.unroute('**/api/quote-requests')
    await page.route('**/api/quote-requests', (route) => route.abort('internetdisconnected'))
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('alert').getByText('The service cannot be reached').waitFor()
    await page.unroute('**/api/quote-requests')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
  })

  test('whose response was lost is found on retry, not created twice', async () => {
    const { page } = await openDesk()
    await customer(page).fill('Answer Lost Foods')
    await typeQuote(page, { rate: '2137' })
    await page.route('**/api/quote-requests', async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    })
    await saveButton(page).click()
    await page.getByRole('alert').getByText('The service cannot be reached').waitFor()
    await page.unroute('**/api/quote-requests')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
    const lanes = await call(app, 'GET', '/api/lanes?customer=Answer%20Lost%20Foods', { token: tenant.owner })
    expect(lanes.body.lanes).toHaveLength(1)
  })

  test('continues after the session ended', { tag: '@long' }, async () => {
    const { page, context } = await openDesk()
    await customer(page).fill('Harvest Table Foods')
    await typeQuote(page, { rate: '2145' })
    await typedAt(page, '$2,145').waitFor()
    await context.clearCookies()
    await saveButton(page).click()
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByRole('textbox', { name: 'Password' }).fill(tenant.password)
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
    await dialog.waitFor({ state: 'hidden' })
    await expect(rateOf(page)).toHaveValue('2145')
    await page.getByRole('alert').getByText('Your session has ended.').first().waitFor()
    await saveButton(page).click()
    await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
  })

  test('without a response warns that the quote may have been saved', { tag: '@long' }, async () => {
    const { page } = await openDesk()
    await page.route('**/api/quote-requests', (route) => route.abort('connectionreset'))
    await customer(page).fill('Harvest Table Foods')
    await typeQuote(page)
    await saveButton(page).click()
    await page.getByText('The quote may have been saved.').waitFor()
    await expect(rateOf(page)).toHaveValue('2100')
  })

  test('twice in a row creates one request', async () => {
    const { page } = await openDesk()
    let sent = 0
    await page.route('**/api/quote-requests', async (route) => {
      sent += 1
      await new Promise((resolve) => setTimeout(resolve, 400))
      await route.continue()
    })
    await customer(page).fill('Harvest Table Foods')
    await typeQuote(page)
    await saveButton(page).dblclick()
    await page.keyboard.press('Control+Enter')
    await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
    expect(sent).toBe(1)
  })

  test('is disabled for viewers, with the reason; they still get advice', async () => {
    const viewer = await makePerson(app, tenant, 'viewer')
    const { page } = await openDesk({ person: viewer })
    await typeQuote(page)
    await typedAt(page, '$2,100').waitFor()
    await expect(saveButton(page)).toBeDisabled()
    await page.getByText(/Your role, viewer, can get advice but cannot save quotes/).waitFor()
  })
})

test.describe('accessibility', () => {
  for (const { colorScheme, width } of looks)
    test(`nothing in the way of anyone, ${colorScheme}, ${width} wide`, async () => {
      const { page } = await openDesk({ width })
      await page.emulateMedia({ colorScheme })
      await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
      const problems = () => accessibilityProblems(page)
      const widest = () => page.evaluate('document.documentElement.scrollWidth')
      expect(await problems()).toEqual([])
      await customer(page).fill('Chargoggagoggmanchauggagoggchaubunagungamaugg'.repeat(4))
      await typeQuote(page, { origin: 'Dalas, TX' })
      await row(page).getByText('Did you mean').waitFor()
      await row(page)
        .getByRole('button', { name: /More fields of quote 1/ })
        .click()
      await page.getByRole('button', { name: 'Add a quote' }).click()
      await typeQuote(page, { number: 2 })
      await advice(page)
        .getByText(/Based on \d of \d+ decided quotes/)
        .waitFor()
      await page.getByText('Show as a table').click()
      expect(await problems()).toEqual([])
      await expect.poll(widest).toBe(width)
      await page.getByRole('button', { name: 'Paste rows' }).click()
      await page
        .getByRole('textbox', { name: 'Rows' })
        .fill('Dallas, TX\tAtlanta, GA\tV\t2150\nReno\tBoise, ID')
      await page.getByText('1 quote read, 1 row with errors').waitFor()
      expect(await problems()).toEqual([])
      await page.getByRole('button', { name: 'Close', exact: true }).click()
      await page.getByRole('button', { name: 'Remove quote 1' }).click()
      await saveButton(page).click()
      await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
      expect(await problems()).toEqual([])
      await expect.poll(widest).toBe(width)
    })
})
