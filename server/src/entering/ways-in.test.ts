import { utils, write } from '@e965/xlsx'
import { beforeAll, describe, expect, test } from 'vitest'
import { pushQuotes } from '#contract/push-quotes.ts'
import type { Quote } from '#contract/quote.ts'
import {
  type QuoteFieldOf,
  type QuoteName,
  type QuoteWay,
  quoteFields,
  quoteFieldsOf,
  quoteTable,
} from '#engine/quote-fields.ts'
import { call, type Integration, makeIntegration, pushSigned } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

/**
 * Promise: a quote is the same quote, whichever way it came in: the same values are stored, the same mistakes are refused with the name
 * of the field, a refused quote changes nothing, and a repetition adds nothing.
 *
 * How: the same quotes go through every way in: a quote request, a signed push, a CSV file, an Excel workbook, pasted rows that are
 * saved, and a requote.
 */

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
})

type Sent = Readonly<Record<string, string | number>>
/** The quotes that exist after a call, and the errors of those that were refused. */
interface Outcome {
  readonly lanes: readonly Quote[]
  readonly refused: string
}
interface Way {
  readonly name: string
  readonly sets: QuoteWay
  /** True if the other quotes of a call are saved beside a wrong one. */
  readonly isPartial: boolean
  /** True if the values are cells of a table. */
  readonly isTable: boolean
  readonly enter: (by: Integration, quotes: readonly Sent[]) => Promise<Outcome>
}

const load = {
  customer_name: 'Harvest Table Foods',
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  quoted_rate: 2150,
} satisfies Sent

async function quotesOf({ tenant }: Integration): Promise<Quote[]> {
  const { body } = await call(app, 'GET', '/api/lanes?limit=100', { token: tenant.owner })
  return body.lanes
}
const text = (body: unknown) => JSON.stringify(body)

async function asked({ tenant }: Integration, quotes: readonly Sent[]): Promise<string> {
  const [{ customer_name = '' } = {}] = quotes
  const lanes = quotes.map(({ customer_name: _, ...lane }) => lane)
  const { status, body } = await call(app, 'POST', '/api/quote-requests', {
    token: tenant.owner,
    body: { customer_name, lanes },
  })
  return status === 201 ? '' : text(body.errors)
}

async function imported(
  { tenant }: Integration,
  bytes: string | Uint8Array<ArrayBuffer>,
  type: string,
): Promise<string> {
  const response = await fetch(`${app.url}/api/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': type },
    body: bytes,
  })
  const begun = (await response.json()) as { import_id: number }
  if (response.status !== 202) return text(begun)
  const read = async () =>
    (await call(app, 'GET', `/api/imports/${begun.import_id}`, { token: tenant.owner })).body
  await expect.poll(async () => (await read()).status).toBe('done')
  const { errors } = await read()
  return errors.length === 0 ? '' : text(errors)
}

/**
 * Pasted rows as the desk saves them: cells that are only not known are confirmed, and the quotes that were read are sent as a request. A
 * wrong row stays, and the others are saved.
 */
async function pasted(by: Integration, quotes: readonly Sent[]): Promise<string> {
  const { customer_name } = quotes[0] ?? {}
  const names = [...new Set(quotes.flatMap((quote) => Object.keys(quote)))]
  const rows = [names, ...quotes.map((quote) => names.map((name) => String(quote[name] ?? '')))]
  const { body } = await call(app, 'POST', '/api/pasted-lanes', {
    token: by.tenant.owner,
    body: {
      text: rows.map((cells) => cells.join('\t')).join('\n'),
      // Stops that nobody knows are asked about, and the person keeps them.
      confirmed: quotes.flatMap(({ stops }) => (stops === undefined ? [] : [String(stops)])),
    },
  })
  type Row = { quote: Sent; errors: { column: number | null; detail: string }[] }
  const read = body.rows as Row[]
  const fieldAt = (column: number | null) => names[(column ?? 0) - 1] ?? ''
  const wrong = read.flatMap(({ errors }) =>
    errors.map(({ column, detail }) => `${fieldAt(column)}: ${detail}`),
  )
  const good = read.flatMap(({ quote, errors }) => {
    const { customer_name: _, ...lane } = quote
    return errors.length > 0 ? [] : [lane]
  })
  const refused = []
  for (const lane of good) {
    const sent = { token: by.tenant.owner, body: { customer_name, lanes: [lane] } }
    const made = await call(app, 'POST', '/api/quote-requests', sent)
    if (made.status !== 201) refused.push(text(made.body.errors))
  }
  return [...wrong, ...refused].join('\n')
}

const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

/** The rows of a file: its header, and a line for each quote, decided on a day so that the row has a date. */
function rowsOf(quotes: readonly Sent[]): string[][] {
  const dated = quotes.map((quote, nth) => ({ reference: `ROW-${nth}`, quoted_at: '2026-03-01', ...quote }))
  const names = [...new Set(dated.flatMap((quote) => Object.keys(quote)))]
  return [names, ...dated.map((quote) => names.map((name) => String((quote as Sent)[name] ?? '')))]
}
const csvOf = (rows: readonly (readonly string[])[]) =>
  rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\n')

const said = async (by: Integration, refused: Promise<string>): Promise<Outcome> => ({
  refused: await refused,
  lanes: await quotesOf(by),
})

const ways: readonly Way[] = [
  {
    name: 'a quote request',
    sets: 'request',
    isPartial: false,
    isTable: false,
    enter: (by, quotes) => said(by, asked(by, quotes)),
  },
  {
    name: 'pasted rows',
    sets: 'request',
    isPartial: true,
    isTable: true,
    enter: (by, quotes) => said(by, pasted(by, quotes)),
  },
  {
    name: 'a signed push',
    sets: 'push',
    isPartial: true,
    isTable: false,
    enter: async (by, quotes) => {
      const items = quotes.map((quote, nth) => ({ external_id: `PUSH-${nth}`, ...quote }))
      const { body } = await pushSigned(app, by, pushQuotes, { quotes: items })
      const wrong = body.results.filter(({ status }: { status: number }) => status !== 200)
      return said(by, Promise.resolve(wrong.length === 0 ? '' : text(wrong)))
    },
  },
  {
    name: 'a CSV file',
    sets: 'file',
    isPartial: true,
    isTable: true,
    enter: (by, quotes) => said(by, imported(by, csvOf(rowsOf(quotes)), 'text/csv')),
  },
  {
    name: 'an Excel workbook',
    sets: 'file',
    isPartial: true,
    isTable: true,
    enter: (by, quotes) => {
      const book = utils.book_new()
      utils.book_append_sheet(book, utils.aoa_to_sheet(rowsOf(quotes)), 'Quotes')
      const bytes = write(book, { type: 'buffer', compression: true }) as Buffer
      return said(by, imported(by, new Uint8Array(bytes), workbookType))
    },
  },
]

type SentName = NonNullable<QuoteName<'sent', QuoteFieldOf<'request' | 'push' | 'file'>>>

/** Every field that a way in can set, except those of `load` and the accessorials, which are the sum of the charges. */
const details = {
  estimated_cost: 1800.5,
  quoted_basis: 'all_in',
  quoted_fuel: 210.25,
  quoted_charges: 'detention 75; lumper 45',
  quoted_currency: 'CAD',
  market_rate: 2050,
  miles: 790,
  pickup_date: '2026-03-04',
  rate_type: 'contract',
  mode: 'partial',
  stops: 'Memphis, TN; Birmingham, AL',
  quoted_at: '2026-02-27T14:30:00.000Z',
  rep_name: 'Avery Stone',
  valid_until: '2026-03-06T14:30:00.000Z',
} satisfies Record<Exclude<SentName, keyof typeof load | 'quoted_accessorials'>, string | number>

const charges = [
  { name: 'detention', amount: 75 },
  { name: 'lumper', amount: 45 },
]
const stopsIn = (text: unknown) => String(text).split('; ')

/** A value in the form of a body of JSON. */
const inBody = ({ quoted_charges, stops, ...quote }: Sent): Sent => ({
  ...quote,
  ...(quoted_charges === undefined ? {} : { quoted_charges: charges as unknown as string }),
  ...(stops === undefined ? {} : { stops: stopsIn(stops) as unknown as string }),
})
/** The fields that a way in can set. */
function setBy({ sets }: Way, quote: Sent): Sent {
  const names: readonly string[] = [
    'customer_name',
    ...quoteFieldsOf(sets).map((field) => quoteTable[field].sent),
  ]
  return Object.fromEntries(Object.entries(quote).filter(([name]) => names.includes(name)))
}
const sentBy = (way: Way, quote: Sent): Sent => (way.isTable ? setBy(way, quote) : inBody(setBy(way, quote)))

/** A wrong value for each field, except those of free text. */
const wrong = {
  origin: 'Dalas, ZZ',
  destination: 'Atlnta, ZZ',
  equipment: '1,250.00',
  quoted_rate: -5,
  estimated_cost: 'cheap',
  quoted_basis: 'door to door',
  quoted_fuel: 99_999,
  quoted_accessorials: 'some',
  quoted_charges: 'lumper',
  quoted_currency: 'EUR',
  market_rate: 'high',
  miles: 40_000,
  pickup_date: '2026-02-30',
  rate_type: 'auction',
  mode: 'airplane',
  stops: 'somewhere',
  quoted_at: '2026-02-30',
  valid_until: 'soon',
} satisfies Record<Exclude<SentName, 'customer_name' | 'rep_name'>, string | number>

describe.each(ways)('$name', (way) => {
  test('stores every field that it can set', async () => {
    const by = await makeIntegration(app, 'quotes:write')
    const quote = sentBy(way, { ...load, ...details })
    const { lanes: quotes, refused } = await way.enter(by, [quote])
    expect(refused).toBe('')
    const { customer_name, quoted_at, ...others } = quote
    expect(quotes).toEqual([
      expect.objectContaining({
        ...others,
        ...(quoted_at === undefined ? {} : { created_at: quoted_at }),
        quoted_customer_name: customer_name,
        stops: ['Memphis, TN', 'Birmingham, AL'],
        quoted_charges: charges,
        quoted_accessorials: 120,
      }),
    ])
  })

  test('refuses each wrong quote with the name of its field, and stores nothing of it', async () => {
    // These fields are looked up or compared with others only if each field is valid by itself.
    const { origin, destination, quoted_fuel, ...others } = setBy(way, wrong)
    const rest = Object.entries(others)
    // An answer with the errors of a whole request has at most eight.
    const most = way.isPartial ? rest.length : 8
    const looked = Object.entries({ origin, destination, quoted_fuel } as Sent)
    for (const fields of [looked, rest.slice(0, most), rest.slice(most)]) {
      if (fields.length === 0) continue
      const by = await makeIntegration(app, 'quotes:write')
      const quotes = fields.map(([field, value]) => ({ ...sentBy(way, load), [field]: value }))
      const { lanes: saved, refused } = await way.enter(by, [sentBy(way, load), ...quotes])
      for (const [field] of fields) expect(refused).toContain(field)
      expect(saved).toHaveLength(way.isPartial ? 1 : 0)
      expect(saved.every((quote) => quote.quoted_rate === 2150 && quote.origin === 'Dallas, TX')).toBe(true)
    }
  })

  test.each(Object.entries(setBy(way, wrong)))(
    'refuses a wrong %s alone with its name, and stores nothing of the quote',
    { tags: 'long' },
    async (field, value) => {
      const by = await makeIntegration(app, 'quotes:write')
      const right = sentBy(way, load)
      const { lanes: quotes, refused } = await way.enter(by, [
        right,
        { ...sentBy(way, load), [field]: value },
      ])
      expect(refused).toContain(field)
      expect(quotes).toHaveLength(way.isPartial ? 1 : 0)
      expect(quotes.every((quote) => quote.quoted_rate === 2150 && quote.origin === 'Dallas, TX')).toBe(true)
    },
  )

  test('a quote without one of the needed fields is refused with the name of the field', async () => {
    const by = await makeIntegration(app, 'quotes:write')
    const needed = ['destination', 'equipment', 'quoted_rate']
    const without = needed.map((field) => {
      const { [field]: _, ...rest } = sentBy(way, load)
      return rest
    })
    // A second quote has the missing fields, so that a file has columns for them.
    const { lanes: quotes, refused } = await way.enter(by, [sentBy(way, load), ...without])
    for (const field of needed) expect(refused).toContain(field)
    expect(quotes).toHaveLength(way.isPartial ? 1 : 0)
  })
})

const noEquipment = ['TBD', 'NA', 'None', 'null', 'undefined', 'Any', 'All', 'Unknown', 'x', '-', '0']
const modes = ['TL', 'FTL', 'LTL', 'Truckload', 'Partial', 'Drayage', 'IMC', 'Trailer']
test.each(ways)('by $name, a word that is no equipment is refused by name', async (way) => {
  const by = await makeIntegration(app, 'quotes:write')
  const quotes = [...noEquipment, ...modes].map((equipment) => ({ ...sentBy(way, load), equipment }))
  const { lanes: saved, refused } = await way.enter(by, quotes)
  expect(saved).toEqual([])
  for (const word of noEquipment) expect(refused).toContain(`such as V, R or F; ${word} names no equipment`)
  for (const word of modes) expect(refused).toContain(`such as V, R or F; ${word} is a mode, not equipment`)
  expect(refused).toContain('equipment must be')
})

test.each(['FTL', 'undefined', 'any'])(
  'a question about the equipment %s is refused by name',
  async (equipment) => {
    const by = await makeIntegration(app)
    const query = new URLSearchParams({ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment })
    const addresses = [
      `/api/integrations/insights/markup?${query}&proposed_rate=2000`,
      `/api/integrations/insights/lane?${query}`,
    ]
    for (const address of addresses) {
      const { status, body } = await call(app, 'GET', address, { token: by.token })
      expect([status, body.errors[0].parameter, body.errors[0].detail]).toEqual([
        422,
        'equipment',
        expect.stringContaining(`; ${equipment} `),
      ])
    }
    const list = await call(app, 'GET', `/api/lanes?equipment=${equipment}`, { token: by.tenant.owner })
    expect([list.status, list.body.errors[0].parameter]).toEqual([422, 'equipment'])
  },
)

const isRepeated = async (way: Way) => {
  const by = await makeIntegration(app, 'quotes:write')
  const quotes = [sentBy(way, { ...load, ...details }), sentBy(way, { ...load, quoted_rate: 2300 })]
  const first = await way.enter(by, quotes)
  const again = await way.enter(by, quotes)
  expect(again).toEqual(first)
  expect(again.lanes).toHaveLength(2)
}
const [, , push, csv, workbook] = ways as [Way, Way, Way, Way, Way]
test.each([push, csv])('the same quotes by $name again add nothing', isRepeated)
test('the same quotes by an Excel workbook again add nothing', { tags: 'long' }, () => isRepeated(workbook))

test('a load is one load, whichever ways it comes in by: later values replace, and nothing is added', async () => {
  const by = await makeIntegration(app, 'quotes:write')
  await csv.enter(by, [{ ...sentBy(csv, load), reference: 'LOAD-1' }])
  await workbook.enter(by, [{ ...sentBy(workbook, load), reference: 'LOAD-1', market_rate: 2050 }])
  const { lanes: quotes } = await push.enter(by, [
    { ...sentBy(push, load), external_id: 'LOAD-1', quoted_rate: 2200 },
  ])
  expect(quotes).toMatchObject([{ external_id: 'LOAD-1', quoted_rate: 2200, market_rate: 2050 }])
})

test('a requote has the values that are sent with it, and else those of the quote before it', async () => {
  const by = await makeIntegration(app, 'quotes:write')
  const [request] = ways as [Way]
  const { lanes: quotes } = await request.enter(by, [sentBy(request, { ...load, ...details })])
  const requote = (body: Sent) =>
    call(app, 'POST', `/api/lanes/${quotes[0]?.lane_ref}/requote`, { token: by.tenant.owner, body })
  const kept = await requote({ quoted_rate: 2250 })
  const charges = [{ name: 'tarp', amount: 50 }]
  const others = {
    quoted_rate: 2260,
    estimated_cost: 1790.25,
    quoted_basis: 'linehaul',
    quoted_fuel: 205.5,
    quoted_accessorials: 50,
    quoted_charges: charges as unknown as string,
    quoted_currency: 'USD',
    market_rate: 2040,
    pickup_date: '2026-03-09',
    rate_type: 'spot',
    mode: 'ltl',
  } satisfies Record<NonNullable<QuoteName<'sent', QuoteFieldOf<'requote'>>>, string | number>
  const copied = quoteFields.flatMap((field) =>
    quoteTable[field].copiedByRequote
      ? [[quoteTable[field].shown, quotes[0]?.[quoteTable[field].shown]]]
      : [],
  )
  expect(copied.length).toBeGreaterThan(10)
  expect(kept).toMatchObject({
    status: 201,
    body: { ...Object.fromEntries(copied), quoted_rate: 2250, market_rate: null },
  })
  expect(await requote(others)).toMatchObject({ status: 201, body: others })
  const wrong = await requote({ quoted_rate: 2270, rate_type: 'auction' })
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([422, '/rate_type'])
  expect(await quotesOf(by)).toHaveLength(3)
})

test.each(ways)(
  'miles that cannot be those of the lane give way to the measured ones, by $name',
  async (way) => {
    const by = await makeIntegration(app, 'quotes:write')
    const { lanes: quotes } = await way.enter(by, [
      sentBy(way, { ...load, miles: 500 }),
      sentBy(way, { ...load, quoted_rate: 2160, miles: 1100 }),
    ])
    const milesOf = (rate: number) => quotes.find(({ quoted_rate }) => quoted_rate === rate)?.miles
    expect([milesOf(2150), milesOf(2160)]).toEqual([856.9, 1100])
  },
)

/** Sets of stops that no load has, with a part of the reason. */
const wrongStops: readonly (readonly [why: string, stops: string, reason: RegExp])[] = [
  [
    'more than twelve with both ends',
    Array.from({ length: 11 }, (_, nth) => `Town ${'abcdefghijk'[nth]}, TX`).join('; '),
    /at most 12 stops/,
  ],
  ['a city twice', 'Memphis, TN; Nashville, TN; memphis tn', /(twice|not on the route yet)/],
  ['the origin again', 'Memphis, TN; Dallas, TX', /(twice|not on the route yet)/],
  ['a text that is no place', 'Memphis, TN; somewhere', /(a city|City, ST)/],
]
test.each(ways)('stops that no load has are refused with the reason, by $name', async (way) => {
  const by = await makeIntegration(app, 'quotes:write')
  for (const [why, stops, reason] of wrongStops) {
    const { lanes: saved, refused } = await way.enter(by, [sentBy(way, { ...load, stops })])
    expect(refused, why).toContain('stops')
    expect(refused, why).toMatch(reason)
    expect(saved, why).toEqual([])
  }
  const twelve = Array.from({ length: 10 }, (_, nth) => `Town ${'abcdefghij'[nth]}, TX`)
  const { lanes: saved } = await way.enter(by, [sentBy(way, { ...load, stops: twelve.join('; ') })])
  expect(saved).toMatchObject([{ stops: twelve }])
})

test.each(ways)('stops in any order are saved, without miles beyond 10,000, by $name', async (way) => {
  const by = await makeIntegration(app, 'quotes:write')
  const cities = ['Miami, FL', 'Seattle, WA', 'Boston, MA', 'San Diego, CA', 'Chicago, IL', 'Denver, CO']
  const more = ['Houston, TX', 'Portland, OR', 'Nashville, TN', 'Phoenix, AZ']
  for (const [nth, stops] of [cities.slice(0, 2), cities, [...cities, ...more]].entries()) {
    const quote = { ...load, quoted_rate: 2_200 + nth, stops: stops.join('; ') }
    const { lanes: saved } = await way.enter(by, [sentBy(way, quote)])
    const [made] = saved.filter(({ quoted_rate }) => quoted_rate === quote.quoted_rate)
    expect(made).toMatchObject({ stops })
    if (nth === 0) expect(made?.miles).toBeGreaterThan(5_000)
    else expect([made?.miles, made?.counted_miles]).toEqual([null, null])
  }
})

test('a number of stops in a file does not say where they are; two are the ends', async () => {
  const by = await makeIntegration(app, 'quotes:write')
  const rows = ['2', '0', '4'].map((stops) => ({ ...load, stops, quoted_rate: 2000 + Number(stops) }))
  const { lanes: saved, refused } = await csv.enter(by, rows)
  expect(saved.map(({ stops }) => stops)).toEqual([[], []])
  expect(refused).toContain('a number of stops does not say where they are')
})

test('the miles of a load with stops are those of its legs', async () => {
  const by = await makeIntegration(app, 'quotes:write')
  const { lanes: quotes } = await push.enter(by, [
    sentBy(push, load),
    sentBy(push, { ...load, quoted_rate: 2160, stops: 'Denver, CO' }),
  ])
  const milesOf = (rate: number) => quotes.find(({ quoted_rate }) => quoted_rate === rate)
  expect(milesOf(2150)).toMatchObject({ miles: 856.9, counted_miles: 856.9 })
  expect(milesOf(2160)?.miles).toBeGreaterThan(2000)
  expect(milesOf(2160)?.counted_miles).toBe(milesOf(2160)?.miles)
})

test('a row of a file that changes the stops of its load changes the miles', async () => {
  const by = await makeIntegration(app, 'quotes:write')
  const found: (number | null | undefined)[][] = []
  for (const stops of ['', 'Denver, CO', 'Nowhereville, TX']) {
    const { lanes: saved } = await csv.enter(by, [{ ...load, stops }])
    found.push(saved.flatMap(({ miles, counted_miles }) => [miles, counted_miles]))
  }
  expect(found).toEqual([
    [856.9, 856.9],
    [2227, 2227],
    [null, null],
  ])
})
