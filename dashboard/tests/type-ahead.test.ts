import type { BrowserContext, Locator, Page } from '@playwright/test'
import { seededRandom } from '#server/sample/index.ts'
import { call, type MadeTenant, makeQuote, makeTenant } from '#testing/make.ts'
import {
  addQuotes,
  answer,
  answerLate,
  cities,
  latencies,
  quotesAtOnce,
  suggestionsAsked,
  typeCities,
} from '../testing/late-suggestions.ts'
import { accessibilityProblems, app, expect, looks, openWindow, test } from '../testing/pages.ts'

let tenant: MadeTenant
/** One user with one tab per test, because signing in is the slowest step. */
let person: BrowserContext

test.beforeAll(async () => {
  tenant = await makeTenant(app)
  await makeQuote(app, tenant, { origin: 'Memphis, TN', destination: 'El Paso, TX' })
  person = (await openWindow({ person: tenant, refusalsExpected: true })).context
})

/** Delays the answer for one text until `release` is called. */
async function hold(page: Page, text: string) {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let ask = () => {}
  const asked = new Promise<void>((resolve) => {
    ask = resolve
  })
  let done = () => {}
  const answered = new Promise<void>((resolve) => {
    done = resolve
  })
  await page.route(
    (url) => suggestionsAsked(url) && url.searchParams.get('q') === text,
    async (route) => {
      ask()
      await released
      await answer(route)
      done()
    },
  )
  return {
    asked,
    release: async () => {
      release()
      await answered
    },
  }
}

async function openTab(address: string): Promise<Page> {
  const page = await person.newPage()
  page.setDefaultTimeout(180_000)
  await page.goto(address)
  return page
}

async function openDesk(): Promise<Page> {
  const page = await openTab('/')
  await origin(page).waitFor()
  return page
}

const { uniform } = seededRandom(2)
const field = (page: Page, name: string) => page.getByRole('combobox', { name, exact: true })
const origin = (page: Page) => field(page, 'Origin')
const destination = (page: Page) => field(page, 'Destination')
const options = (page: Page) => page.getByRole('listbox').getByRole('option')
const highlighted = (page: Page) => page.getByRole('listbox').getByRole('option', { selected: true })
const status = (page: Page, text: string | RegExp) => page.getByRole('status').filter({ hasText: text })

test.describe('Enter and Tab', () => {
  for (const key of ['Enter', 'Tab'])
    test(`${key} waits for the suggestions for the text, and announces it`, async () => {
      const page = await openDesk()
      const list = await hold(page, 'memphis')
      await origin(page).fill('memphis')
      await origin(page).press(key)
      await status(page, 'Searching for memphis…').waitFor({ state: 'attached' })
      // Tab moves the focus as usual.
      await (key === 'Tab' ? destination(page) : origin(page)).and(page.locator(':focus')).waitFor()
      await expect(origin(page)).toHaveValue('memphis')
      await list.release()
      await expect(origin(page)).toHaveValue('Memphis, TN')
      await status(page, 'Memphis, TN accepted.').waitFor({ state: 'attached' })
      await expect(destination(page)).toHaveValue('')
      await page.close()
    })

  for (const key of ['Enter', 'Tab'])
    test(`${key} stops waiting when other text is typed`, async () => {
      const page = await openDesk()
      const list = await hold(page, 'memphis')
      await origin(page).fill('memphis')
      await origin(page).press(key)
      await list.asked
      await origin(page).fill('memphi')
      await list.release()
      await highlighted(page).getByText('Memphis, TN').waitFor()
      await expect(origin(page)).toHaveValue('memphi')
      // Nor when the first text is typed again and its suggestions have arrived.
      await origin(page).fill('memphis')
      await highlighted(page).getByText('Memphis, TN').waitFor()
      await expect(origin(page)).toHaveValue('memphis')
      await page.close()
    })

  for (const key of ['Enter', 'Tab'])
    test(`${key} keeps the text as typed if the suggestions fail to load`, async () => {
      const page = await openDesk()
      await page.route(suggestionsAsked, (route) => route.fulfill({ status: 500, body: 'down' }))
      await origin(page).fill('dall')
      await origin(page).press(key)
      await page.getByText('Suggestions did not load. “dall” stays as typed.').first().waitFor()
      await expect(origin(page)).toHaveValue('dall')
      await page.unroute(suggestionsAsked)
      await origin(page).press(key)
      await expect(origin(page)).toHaveValue('Dallas, TX')
      await expect(page.getByText('stays as typed')).toHaveCount(0)
      await page.close()
    })

  test('neither accepts suggestions that arrive after the timeout', async () => {
    // A context has one clock for all of its pages, and the other tests' pages load while this one runs.
    const { page } = await openWindow({ person: tenant, alone: true })
    await page.clock.install()
    await page.goto('/')
    await origin(page).waitFor()
    const list = await hold(page, 'dall')
    await origin(page).fill('dall')
    await origin(page).press('Tab')
    await list.asked
    await page.clock.fastForward(10_000)
    await page.getByText('Suggestions took too long. “dall” stays as typed.').first().waitFor()
    await list.release()
    await origin(page).click()
    await options(page).first().getByText('Dallas, TX').waitFor()
    await expect(origin(page)).toHaveValue('dall')
  })

  test('a quote saved by the next key has the city, not the typed letters', async () => {
    const page = await openDesk()
    const list = await hold(page, 'el paso')
    await field(page, 'Customer').fill('Late City Foods')
    await origin(page).fill('Memphis, TN')
    await page.getByRole('textbox', { name: 'Rate', exact: true }).fill('2150')
    await destination(page).fill('el paso')
    await destination(page).press('Tab')
    await page.keyboard.press('Control+Enter')
    await list.release()
    await page.getByRole('heading', { name: '1 quote saved' }).waitFor()
    const { body } = await call(app, 'GET', '/api/lanes?customer=Late%20City%20Foods', {
      token: tenant.owner,
    })
    expect(body.lanes.map((lane: { destination: string }) => lane.destination)).toEqual(['El Paso, TX'])
    await page.close()
  })

  test('neither accepts a suggestion in an empty field, in an unchanged field, or after Escape', async () => {
    const page = await openTab('/quotes?customer=Harvest')
    await page.getByRole('button', { name: 'Filters (1)' }).click()
    await origin(page).focus()
    await options(page).first().waitFor()
    await expect(highlighted(page)).toHaveCount(0)
    await page.keyboard.press('Tab')
    await expect(origin(page)).toHaveValue('')
    await field(page, 'Customer').focus()
    await options(page).getByText('Harvest Table Foods').waitFor()
    await page.keyboard.press('Tab')
    await expect(field(page, 'Customer')).toHaveValue('Harvest')
    await field(page, 'Customer').fill('harv')
    await highlighted(page).getByText('Harvest Table Foods').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    await page.waitForURL(({ searchParams }) => searchParams.get('customer') === 'harv')
    await page.close()
  })
})

test.describe('keys that are pressed before a list has loaded', () => {
  test('apply to the field that they were pressed in, when its list arrives', async () => {
    const page = await openDesk()
    const lists = await Promise.all(['harvest t', 'dfw', 'milwaukee'].map((text) => hold(page, text)))
    await field(page, 'Customer').focus()
    await page.keyboard.type('harvest t')
    for (const key of ['ArrowDown', 'Tab', 'Tab']) await page.keyboard.press(key)
    await page.keyboard.type('dfw')
    await page.keyboard.press('Tab')
    await page.keyboard.type('milwaukee')
    for (const key of ['Tab', 'Tab']) await page.keyboard.press(key)
    await page.keyboard.type('2100')
    // The last list first.
    for (const list of lists.toReversed()) await list.release()
    const held = () =>
      Promise.all(
        [
          field(page, 'Customer'),
          page.getByLabel('Reference (optional)'),
          origin(page),
          destination(page),
        ].map((input) => input.inputValue()),
      )
    await expect.poll(held).toEqual(['Harvest Table Foods', '', 'Dallas, TX', 'Milwaukee, WI'])
    await expect(page.getByRole('textbox', { name: 'Rate', exact: true })).toHaveValue('2100')
    await expect(field(page, 'Equipment')).toHaveValue('V')
    await page.close()
  })

  test('also arrow keys, which lead as far as in a list that is there', async () => {
    const page = await openDesk()
    await origin(page).fill('columbus')
    await highlighted(page).getByText('Columbus, OH').waitFor()
    const second = await options(page).nth(1).innerText()
    const list = await hold(page, 'COLUMBUS')
    await destination(page).fill('COLUMBUS')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await list.release()
    await expect(destination(page)).toHaveValue(second)
    await page.close()
  })
})

test.describe('a typing error', () => {
  for (const text of ['altanta ga', 'altanta', 'Altanta, GA', 'chicgo il', 'Chicgo, IL'])
    test(`is the known city, with or without its state, unless the text is chosen: ${text}`, async () => {
      const page = await openDesk()
      await origin(page).fill(text)
      await page.keyboard.press('Tab')
      await expect(origin(page)).toHaveValue(
        text.startsWith('a') || text.startsWith('A') ? 'Atlanta, GA' : 'Chicago, IL',
      )
      await page.close()
    })
})

test.describe('the list', () => {
  test('is never replaced by the answer for older text', async () => {
    const page = await openDesk()
    const older = await hold(page, 'chi')
    await origin(page).fill('chi')
    await older.asked
    await origin(page).fill('chicago il')
    await highlighted(page).getByText('Chicago, IL').waitFor()
    const shown = await options(page).allTextContents()
    await older.release()
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    await expect(options(page)).toHaveText(shown)
    await page.close()
  })

  test('for older text is dimmed, highlights nothing, and a click accepts exactly the clicked option', {
    tag: '@long',
  }, async () => {
    const page = await openDesk()
    await origin(page).fill('colum')
    await highlighted(page).getByText('Columbus, OH').waitFor()
    const newer = await hold(page, 'columbia')
    await origin(page).fill('columbia')
    await page.getByText('Searching…', { exact: true }).waitFor()
    await expect(highlighted(page)).toHaveCount(0)
    await expect(origin(page)).not.toHaveAttribute('aria-activedescendant')
    // The arrow keys highlight nothing in it either, and Enter keeps waiting.
    await page.keyboard.press('ArrowDown')
    await expect(highlighted(page)).toHaveCount(0)
    await page.keyboard.press('Enter')
    await options(page).getByText('Columbus, GA').click()
    await expect(origin(page)).toHaveValue('Columbus, GA')
    await newer.release()
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    await expect(origin(page)).toHaveValue('Columbus, GA')
    await page.close()
  })

  test('shows and announces the option that Enter accepts, and arrow keys select another', async () => {
    const page = await openDesk()
    await origin(page).pressSequentially('columbus')
    await highlighted(page).getByText('Columbus, OH').waitFor()
    const pointedAt = async () => {
      const id = String(await origin(page).getAttribute('aria-activedescendant'))
      const option = page.locator(`[id="${id}"]`)
      return [
        await option.getAttribute('role'),
        await option.getAttribute('aria-selected'),
        await option.innerText(),
      ]
    }
    expect(await pointedAt()).toEqual(['option', 'true', 'Columbus, OH'])
    await expect(origin(page)).toHaveAttribute('aria-expanded', 'true')
    const listId = await origin(page).getAttribute('aria-controls')
    await expect(page.locator(`[id="${listId}"]`)).toHaveAttribute('role', 'listbox')
    await status(page, /^\d suggestions\. Press Enter or Tab to accept Columbus, OH\.$/).waitFor({
      state: 'attached',
    })
    const background = (option: Locator) =>
      option.evaluate((element) => {
        const { getComputedStyle } = globalThis as unknown as {
          getComputedStyle: (of: unknown) => { backgroundColor: string }
        }
        return getComputedStyle(element).backgroundColor
      })
    expect(await background(options(page).nth(0))).not.toBe(await background(options(page).nth(1)))
    await page.keyboard.press('ArrowDown')
    const second = await options(page).nth(1).innerText()
    expect(await pointedAt()).toEqual(['option', 'true', second])
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    const last = await options(page).last().innerText()
    expect(await pointedAt()).toEqual(['option', 'true', last])
    await page.keyboard.press('Tab')
    await expect(origin(page)).toHaveValue(last)
    await page.close()
  })
})

test.describe('what is typed stays', () => {
  for (const key of ['Enter', 'Tab'])
    test(`an unknown village, with ${key}`, { tag: '@long' }, async () => {
      const page = await openDesk()
      await answerLate(page, () => 100)
      await origin(page).fill('Smallville, Tx')
      await highlighted(page).getByText('Use “Smallville, TX” as typed').waitFor()
      await origin(page).press(key)
      await expect(origin(page)).toHaveValue('Smallville, TX')
      await page.close()
    })

  test('for a new customer whose name is part of a known one, if it is chosen', async () => {
    const page = await openDesk()
    const customer = field(page, 'Customer')
    await customer.fill('Harvest')
    await highlighted(page).getByText('Harvest Table Foods').waitFor()
    await page.keyboard.press('ArrowDown')
    // One arrow key never leads to a new customer.
    await highlighted(page).getByText('Harvest Table Foods').waitFor()
    await page.keyboard.press('ArrowDown')
    await highlighted(page).getByText('New customer “Harvest”').waitFor()
    await page.keyboard.press('Tab')
    await page.getByText('A new customer. Did you mean').waitFor()
    await expect(customer).toHaveValue('Harvest')
    // The name that is offered takes no Tab stop between the fields.
    await customer.focus()
    await page.keyboard.press('Tab')
    await page.getByRole('textbox', { name: 'Reference (optional)' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Tab')
    await origin(page).and(page.locator(':focus')).waitFor()
    await expect(customer).toHaveValue('Harvest')
    // A word that begins otherwise is another name.
    await customer.fill('ood')
    await highlighted(page).getByText('New customer “ood”').waitFor()
    await page.close()
  })

  test('a custom equipment code', { tag: '@long' }, async () => {
    const page = await openDesk()
    const equipment = field(page, 'Equipment')
    for (const [text, key, code] of [
      ['CURTAIN_48', 'Tab', 'CURTAIN_48'],
      ['RGN48', 'Tab', 'RGN'],
      ['flatbed', 'Enter', 'F'],
      ['r', 'Tab', 'R'],
    ] as const) {
      await equipment.fill(text)
      await equipment.press(key)
      await expect(equipment).toHaveValue(code)
    }
    await page.close()
  })
})

test.describe('accessibility', () => {
  for (const { colorScheme, width } of looks)
    test(`of the list, while waiting and after a failure, in ${colorScheme} at ${width} pixels`, {
      tag: '@long',
    }, async () => {
      const page = await openDesk()
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
      const isSound = async () => {
        expect(await accessibilityProblems(page)).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      }
      await origin(page).fill('smallville tx')
      await highlighted(page).waitFor()
      await isSound()
      await origin(page).fill('colum')
      await highlighted(page).getByText('Columbus, OH').waitFor()
      await isSound()
      const list = await hold(page, 'columbia')
      await origin(page).fill('columbia')
      await page.getByText('Searching…', { exact: true }).waitFor()
      await isSound()
      await page.keyboard.press('Tab')
      await status(page, 'Searching for columbia…').waitFor({ state: 'attached' })
      await isSound()
      await list.release()
      await expect(origin(page)).toHaveValue('Columbia, SC')
      await page.route(suggestionsAsked, (route) => route.fulfill({ status: 500, body: 'down' }))
      await origin(page).fill('xenia')
      await page.keyboard.press('Tab')
      await page.getByText('Suggestions did not load. “xenia” stays as typed.').first().waitFor()
      await isSound()
      await page.close()
    })
})

test.describe('every typed city is accepted correctly', () => {
  // suggest-places.test.ts tests the order of suggestions.
  test('on the desk, eight at a time, with Enter and with Tab', async () => {
    const page = await openDesk()
    await addQuotes(page)
    const [name, latency] = latencies.at(-1) ?? ['', () => 0]
    const asked = await answerLate(page, latency)
    const { wanted, held } = await typeCities(page, cities.slice(0, quotesAtOnce), asked)
    await expect.poll(held, { timeout: 60_000, message: name }).toEqual(wanted)
    await page.close()
  })

  test('40 cities on the desk, each at one latency', { tag: '@long' }, async () => {
    for (const [at, [name, latency]] of latencies.entries()) {
      const mine = cities.filter((_, index) => index % latencies.length === at)
      const page = await openDesk()
      await addQuotes(page)
      const asked = await answerLate(page, latency)
      for (let from = 0; from < mine.length; from += quotesAtOnce) {
        const { wanted, held } = await typeCities(page, mine.slice(from, from + quotesAtOnce), asked)
        await expect.poll(held, { timeout: 60_000, message: name }).toEqual(wanted)
      }
      await page.close()
    }
  })

  test('in the lane chooser and in the filters of every list, with Enter and with Tab', {
    tag: '@long',
  }, async () => {
    const some = [
      ['memphis', 'Memphis, TN'],
      ['el paso', 'El Paso, TX'],
      ['chicago il', 'Chicago, IL'],
    ] as const
    const typeSome = async (address: string) => {
      const page = await openTab(address)
      if (address === '/quotes') await page.getByRole('button', { name: 'Filters' }).click()
      await answerLate(page, () => uniform() * 300)
      for (const [text, place] of some) {
        await origin(page).fill(text)
        await origin(page).press('Tab')
        await destination(page).fill(text.toUpperCase())
        await destination(page).press('Enter')
        await expect(origin(page)).toHaveValue(place)
        await expect(destination(page)).toHaveValue(place)
        if (address === '/lane') continue
        await page.waitForURL(({ searchParams }) =>
          ['origin', 'destination'].every((end) => searchParams.get(end) === place),
        )
      }
      if (address === '/lane') {
        // Submitted before the suggestions for the last city arrive.
        await origin(page).fill('atlanta')
        await origin(page).press('Tab')
        await page.getByRole('button', { name: 'Show lane' }).click()
        await page.waitForURL(({ searchParams }) => searchParams.get('origin') === 'Atlanta, GA')
      }
      await page.close()
    }
    await Promise.all(['/lane', '/quotes', '/shipments'].map(typeSome))
  })

  test('and a customer in the filters is a known customer', async () => {
    const typeSome = async (address: string) => {
      const page = await openTab(address)
      if (address === '/quotes') await page.getByRole('button', { name: 'Filters' }).click()
      await answerLate(page, () => uniform() * 300)
      for (const [text, key] of [
        ['harv', 'Tab'],
        ['HARVEST T', 'Enter'],
      ] as const) {
        await field(page, 'Customer').fill(text)
        await field(page, 'Customer').press(key)
        await expect(field(page, 'Customer')).toHaveValue('Harvest Table Foods')
        await page.waitForURL(({ searchParams }) => searchParams.get('customer') === 'Harvest Table Foods')
        await field(page, 'Customer').fill('')
        await field(page, 'Customer').press('Enter')
        await page.waitForURL(({ searchParams }) => !searchParams.has('customer'))
      }
      await page.close()
    }
    await Promise.all(['/quotes', '/shipments', '/results'].map(typeSome))
  })
})
