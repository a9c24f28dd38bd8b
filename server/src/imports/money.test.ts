import { describe, expect, test } from 'vitest'
import { finished } from '#engine/steps.ts'
import { headerTerms, readNamedCharges, roundedAmount } from '../csv/index.ts'
import { readColumns, withCurrencyAbove } from './columns.ts'
import { knownCells } from './known-cells.ts'
import { readMarketFile } from './market-file.ts'
import { moneyNotes } from './money-notes.ts'
import { readPasted } from './pasted-quotes.ts'
import { rowIdentities } from './row-fingerprint.ts'
import { readRow } from './rows.ts'

const now = Date.UTC(2026, 10, 24, 12)

/** How an amount of 1850 is read: its currency, or the sentence that refuses it. */
type Reading = { readonly currency: string; readonly cents: number } | { readonly refused: string }

interface Source {
  /** The name of the column of the rate. */
  readonly header?: string
  readonly cell?: string
  /** The cell of a column Currency. */
  readonly column?: string
  /** A line above the header. */
  readonly above?: string
  readonly map?: string
  readonly more?: Readonly<Record<string, string>>
}

function columnsOf(names: readonly string[], { above, map }: Source) {
  const named = readColumns(names, map)
  return 'problems' in named || above === undefined
    ? named
    : withCurrencyAbove(named.columns, [{ cells: [above] }])
}

function fileRow({ header = 'Quoted Rate', cell = '1850', column, more = {}, ...source }: Source) {
  const cells: Record<string, string> = {
    Origin: 'Dallas, TX',
    Destination: 'Atlanta, GA',
    Equipment: 'Van',
    'Quote Date': '2026-03-01',
    [header]: cell,
    ...(column === undefined ? {} : { Currency: column }),
    ...more,
  }
  const columns = columnsOf(Object.keys(cells), source)
  if ('problems' in columns) return { problem: columns.problems.map(({ detail }) => detail).join(' ') }
  const context = { columns: columns.columns, now, assumed: 'all_in', known: knownCells() } as const
  return { columns: columns.columns, row: readRow(Object.values(cells), context) }
}

function quotesFile(source: Source): Reading {
  const { problem, row } = fileRow(source)
  if (row === undefined) return { refused: problem }
  if (row.kind !== 'quote') {
    return { refused: row.kind === 'refused' ? row.errors.map(({ detail }) => detail).join(' ') : row.kind }
  }
  const { quoted_rate_cents: cents, quoted_currency: currency } = row.quote.columns
  return { currency: currency ?? 'USD', cents }
}

async function marketFile({ header = 'Rate', cell = '1850', column, above }: Source): Promise<Reading> {
  const lines = [
    `Origin,Destination,Equipment,"${header}"${column === undefined ? '' : ',Currency'}`,
    `Dallas TX,Atlanta GA,V,"${cell}"${column === undefined ? '' : `,${column}`}`,
  ]
  const text = [...(above === undefined ? [] : [above]), ...lines].join('\n')
  try {
    const { rows } = await readMarketFile(
      [Buffer.from(text)],
      { source: 'Export', as_of: '2026-11-20', basis: 'all_in' },
      { now, dates: { timeZone: 'UTC', order: 'month_first' } },
    )
    const [row] = rows
    if (row === undefined) return { refused: 'no row' }
    const { item, errors } = row
    if (errors.length > 0) return { refused: errors.map(({ detail }) => detail).join(' ') }
    return { currency: String(item.currency ?? 'USD'), cents: Math.round(Number(item.mid) * 100) }
  } catch (error) {
    return { refused: (error as Error).message }
  }
}

function pastedRows({ header = 'Rate', cell = '1850', column }: Source): Reading {
  const lines = [
    ['Origin', 'Destination', 'Equipment', header, ...(column === undefined ? [] : ['Currency'])],
    ['Dallas, TX', 'Atlanta, GA', 'V', cell, ...(column === undefined ? [] : [column])],
  ]
  const text = lines.map((cells) => cells.join('\t')).join('\n')
  const { rows, problem } = finished(
    readPasted(text, {
      now,
      assumed: 'all_in',
      dates: { timeZone: 'UTC', order: 'month_first', chosen: null },
    }),
  )
  const [row] = rows
  if (problem !== null || row === undefined) return { refused: problem ?? 'no row' }
  if (row.errors.length > 0) return { refused: row.errors.map(({ detail }) => detail).join(' ') }
  const { quoted_currency: currency = 'USD', quoted_rate: rate = 0 } = row.quote
  return { currency, cents: Math.round(rate * 100) }
}

const readers = [
  ['a file of quotes', quotesFile],
  ['a file of market rates', marketFile],
  ['pasted rows', pastedRows],
] as const

const inCells: readonly [string, string][] = [
  ['1850 CAD', 'CAD'],
  ['C$1850', 'CAD'],
  ['CA$ 1,850.00', 'CAD'],
  ['CDN$1,850', 'CAD'],
  ['$1,850 CAD', 'CAD'],
  ['CAD $1,850.00', 'CAD'],
  ['1 850,00 $ CA', 'CAD'],
  ['1850 Canadian dollars', 'CAD'],
  ['1850 USD', 'USD'],
  ['US$1,850', 'USD'],
  ['1850 US dollars', 'USD'],
  ['$1,850.00', 'USD'],
]
const refusedInCells: readonly [string, string][] = [
  ['€1850', 'EUR'],
  ['1850,00 €', 'EUR'],
  ['1850 euros', 'EUR'],
  ['£1850', 'GBP'],
  ['¥1850', '¥'],
  ['MX$1850', 'MXN'],
  ['1850 MXN', 'MXN'],
  ['1850 pesos', 'MXN'],
  ['1850 AUD', 'AUD'],
  ['A$1850', 'AUD'],
  ['1850 inr', 'INR'],
  ['1850 CHF', 'CHF'],
]
const headers: readonly [string, string][] = [
  ['($)', 'USD'],
  ['(US$)', 'USD'],
  ['(USD)', 'USD'],
  ['(CAD)', 'CAD'],
  ['CAD', 'CAD'],
  ['in Canadian dollars', 'CAD'],
  ['(C$)', 'CAD'],
  ['[CDN]', 'CAD'],
]
const refusedHeaders: readonly [string, string][] = [
  ['(€)', 'EUR'],
  ['(EUR)', 'EUR'],
  ['(£)', 'GBP'],
  ['MXN', 'MXN'],
  ['(MX$)', 'MXN'],
  ['(CAD/USD)', 'CAD and USD'],
]

describe.each(readers)('%s', (name, read) => {
  const rate = name === 'a file of quotes' ? 'Quoted Rate' : 'Rate'

  const isOfMarket = name === 'a file of market rates'

  test.each(inCells)('reads the cell %s in %s', async (cell, currency) =>
    expect(await read({ cell })).toEqual({ currency, cents: 185_000 }),
  )
  /** Market rates are also stored in Mexican pesos. */
  const refusal = (currency: string, words = currency) =>
    isOfMarket && currency === 'MXN'
      ? { currency, cents: 185_000 }
      : { refused: expect.stringContaining(words) }
  test.each(refusedInCells)('refuses the cell %s by its currency %s', async (cell, currency) =>
    expect(await read({ cell })).toEqual(refusal(currency, `${currency} is not stored`)),
  )
  test('does not take "all in" for a currency', async () =>
    expect(JSON.stringify(await read({ cell: '1850 all in' }))).not.toContain('not stored'))
  test.each(['85%', '1850¢', '1.850', '18 CAD 50', '1850 CAD/cwt'])('refuses the cell %s', async (cell) =>
    expect(await read({ cell })).toHaveProperty('refused'),
  )
  test.each(headers)('reads a column with %s in its name in %s', async (words, currency) =>
    expect(await read({ header: `${rate} ${words}` })).toEqual({ currency, cents: 185_000 }),
  )
  test.each(refusedHeaders)('refuses a column with %s in its name, by %s', async (words, currency) =>
    expect(await read({ header: `${rate} ${words}` })).toEqual(refusal(currency)),
  )
  test.each(['(%)', '(¢)', '(cents)', '($/cwt)', 'per ton', 'per km', '/lb', '(percent)'])(
    'never takes a column with %s in its name for dollars per load',
    async (words) => {
      const reading = await read({ header: `${rate} ${words}` })
      // Pasted rows without a known column of rates have no rate.
      if ('cents' in reading) expect([name, reading.cents]).toEqual(['pasted rows', 0])
    },
  )
  test.each([
    ['CAD', 'CAD'],
    ['Canadian dollars', 'CAD'],
    ['USD', 'USD'],
  ])('reads the currency of the column Currency: %s', async (column, currency) =>
    expect(await read({ column })).toEqual({ currency, cents: 185_000 }),
  )
  test.each(['EUR', '€', 'MXN'])('refuses the column Currency with %s', async (column) =>
    expect(await read({ column })).toEqual(refusal(column)),
  )
  test.each<[string, Source]>([
    ['a cell and the column Currency', { cell: '1850 CAD', column: 'USD' }],
    ['a cell and the name of its column', { cell: '1850 USD', header: `${rate} (CAD)` }],
    ['the name of a column and the column Currency', { header: `${rate} (CAD)`, column: 'USD' }],
  ])('refuses a row with two currencies, and names both: %s', async (_, source) => {
    const reading = await read(source)
    expect(reading).toEqual({ refused: expect.stringContaining('CAD') })
    expect(reading).toEqual({ refused: expect.stringContaining('USD') })
  })
})

describe.each(readers.slice(0, 2))('a line above the header of %s', (name, read) => {
  const rate = name === 'a file of quotes' ? 'Quoted Rate' : 'Rate'
  test.each([
    ['All amounts in CAD', 'CAD'],
    ['Rates in Canadian dollars', 'CAD'],
    ['Currency: CAD', 'CAD'],
    ['All amounts in US dollars', 'USD'],
    ['TOP LANES OF ALL REGIONS', 'USD'],
  ])('%s: %s', async (above, currency) => expect(await read({ above })).toEqual({ currency, cents: 185_000 }))
  test.each([
    ['All amounts in EUR', 'EUR'],
    ['Rates in €', 'EUR'],
    ['Currency: INR', 'INR'],
    ['1 USD = 1.37 CAD', 'CAD'],
  ])('is refused: %s', async (above, currency) =>
    expect(await read({ above })).toEqual({ refused: expect.stringContaining(currency) }),
  )
  test.each<[string, Source]>([
    ['the name of a column', { header: `${rate} (USD)` }],
    ['a cell', { cell: '1850 USD' }],
    ['the column Currency', { column: 'USD' }],
  ])('contradicts %s', async (_, source) => {
    const reading = await read({ above: 'All amounts in CAD', ...source })
    expect(reading).toEqual({ refused: expect.stringMatching(/CAD.*USD|USD.*CAD/) })
  })
})

describe('the map of a file of quotes', () => {
  test.each<[string, Source, string]>([
    ['currency=CAD', {}, 'CAD'],
    ['currency=USD', { above: 'All amounts in CAD' }, 'USD'],
    ['currency=', { above: '1 USD = 1.37 CAD' }, 'USD'],
    ['currency=CAD', { cell: '1850 USD' }, 'USD'],
    ['currency=CAD', { column: 'USD' }, 'USD'],
    ['currency=USD', { header: 'Quoted Rate (CAD)' }, 'CAD'],
  ])('%s is the currency of amounts without their own', (map, source, currency) =>
    expect(quotesFile({ map, ...source })).toEqual({ currency, cents: 185_000 }),
  )
  test('currency=EUR is a problem', () =>
    expect(quotesFile({ map: 'currency=EUR' })).toEqual({
      refused: expect.stringContaining('it must be currency=USD or currency=CAD'),
    }))
})

describe('the amounts of one row', () => {
  const won = (more: Record<string, string>, source: Source = {}) =>
    fileRow({ ...source, more: { Status: 'won', ...more } }).row
  const booking = (more: Record<string, string>, source: Source = {}) => {
    const row = won(more, source)
    if (row?.kind !== 'quote') throw new Error(JSON.stringify(row))
    const { customer_currency, truck_currency, quoted_currency } = row.quote.columns
    return { customer_currency, truck_currency, quoted_currency }
  }

  test('state their own currencies', () => {
    const amounts = { 'Customer Rate': 'C$2,000', 'Truck Cost (USD)': '1200' }
    expect(booking(amounts, { header: 'Quoted Rate (CAD)' })).toEqual({
      customer_currency: 'CAD',
      truck_currency: 'USD',
      quoted_currency: 'CAD',
    })
  })
  test('have the currency of the row without their own', () =>
    expect(booking({ 'Customer Rate': '2000', 'Truck Cost': '1200' }, { column: 'CAD' })).toEqual({
      customer_currency: 'CAD',
      truck_currency: 'CAD',
      quoted_currency: 'CAD',
    }))
  test('a quote without a quoted rate has the currency of its customer rate', () =>
    expect(quotesFile({ header: 'Customer Rate', cell: '1850 CAD' })).toMatchObject({ currency: 'CAD' }))

  test.each([
    ['Estimated Cost', '1500 CAD', 'quoted rate'],
    ['Market Rate (CAD)', '1500', 'quoted rate'],
    ['Quoted Fuel', 'C$300', 'quoted rate'],
    ['Quoted Charges', 'detention 75 CAD', 'quoted rate'],
    ['Fuel Surcharge', '300 CAD', 'quoted rate'],
    ['Carrier Fuel', '300 CAD', 'truck cost'],
  ])('%s of %s must be in the currency of the %s', (header, cell, of) => {
    const { row } = fileRow({ more: { [header]: cell } })
    const errors = row?.kind === 'refused' ? row.errors : []
    expect(errors).toEqual([
      {
        column: header,
        detail: expect.stringMatching(
          `must be in the currency of the ${of}, which is USD; its (cell|name) says CAD`,
        ),
      },
    ])
  })
  test.each(['Estimated Cost', 'Market Rate', 'Quoted Fuel', 'Truck Cost'])(
    '%s in euros is refused by name',
    (header) => {
      const { row } = fileRow({ more: { [header]: '€300' } })
      expect(row).toMatchObject({
        kind: 'refused',
        errors: [{ column: header, detail: expect.stringContaining('EUR is not stored') }],
      })
    },
  )
})

describe('numbers of workbooks', () => {
  const cents = (cell: string, isWorkbook: boolean) => {
    const columns = readColumns(['Origin', 'Destination', 'Equipment', 'Quoted Rate'])
    if ('problems' in columns) throw new Error('columns')
    const context = {
      columns: columns.columns,
      now,
      assumed: 'all_in',
      known: knownCells(),
      isWorkbook,
    } as const
    const row = readRow(['Dallas, TX', 'Atlanta, GA', 'Van', cell], context)
    return row.kind === 'quote' ? row.quote.columns.quoted_rate_cents : null
  }
  test.each<[string, number | null]>([
    ['2117.6470588235293', 211_765],
    ['1850.3000000000002', 185_030],
    ['1849.9999999999998', 185_000],
    ['2240.455', 224_046],
    ['1850.1250001 CAD', 185_013],
    ['="1.855"', null],
    ['1.855 CAD', null],
  ])('%s is rounded half up to cents, unless it is text', (cell, rounded) => {
    expect([cents(cell, true), cents(cell, false)]).toEqual([rounded, null])
  })
  test('whole cents stay as they are', () =>
    expect(['1850', '1850.5', '-3.14', 'call'].map(roundedAmount)).toEqual([
      '1850',
      '1850.5',
      '-3.14',
      'call',
    ]))
})

describe('the name of a column', () => {
  test.each([
    ['Rate per mile', 'per mile'],
    ['RPM', 'per mile'],
    ['rate_per_mi', 'per mile'],
    ['Rate ($/km)', 'per kilometer'],
    ['Rate per ton', 'per ton'],
    ['Rate/CWT', 'per hundredweight'],
    ['Rate per 100 lbs', 'per hundredweight'],
    ['cost per lb', 'per pound'],
    ['Fuel %', 'in percent'],
    ['amount_cents', 'in cents'],
    ['Revenue ($K)', 'in thousands'],
    ['Rate per pallet', 'per another unit than a load'],
  ])('%s has a unit: %s', (header, unit) => expect(headerTerms(header).unit).toBe(unit))
  test.each(['Rate per load', 'Rate per trip', 'Sell', 'Rate ($)', 'Permitted', 'Centerville Rate'])(
    '%s is in dollars per load',
    (header) => expect(headerTerms(header)).toMatchObject({ unit: null, currencies: [] }),
  )
  test.each(['All In Rate', 'TOP RATE', 'Pen Rate', 'AR$'])('%s names no currency', (header) =>
    expect(headerTerms(header).currencies).toEqual([]),
  )
  test('a plain column is read before one in another currency or unit', () => {
    const names = [
      'Origin',
      'Destination',
      'Equipment',
      'Quoted Rate (CAD)',
      'Quoted Rate',
      'Quoted Rate (%)',
    ]
    expect(readColumns(names)).toMatchObject({ columns: { positions: { quoted_rate: 4 } } })
    const both = ['Origin', 'Destination', 'Equipment', 'Customer Rate (CAD)', 'Sell (USD)']
    expect(readColumns(both)).toMatchObject({ columns: { positions: { customer_rate: 4 } } })
  })
})

test.each([
  ['detention C$75', 'in US dollars'],
  ['detention €75', 'EUR is not stored'],
  ['lumper 75 MXN', 'MXN is not stored'],
])('a charge by name states its currency: %s', (text, wrong) =>
  expect(readNamedCharges(text)).toEqual({ wrong: expect.stringContaining(wrong) }),
)

test.each<[Source]>([
  [{ cell: '1850 USD' }],
  [{ header: 'Quoted Rate (USD)' }],
  [{ above: 'All amounts in USD' }],
])('a row in US dollars has the digest of the row without the currency: %o', (source) => {
  const digest = ({ row }: ReturnType<typeof fileRow>) => {
    if (row?.kind !== 'quote') throw new Error(JSON.stringify(row))
    return rowIdentities()(row.quote, 2)
  }
  expect(digest(fileRow(source))).toEqual(digest(fileRow({})))
})

describe('what is said about the amounts of a file', () => {
  const said = (source: Source) => {
    const { columns, problem } = fileRow(source)
    if (columns === undefined) throw new Error(problem)
    return moneyNotes(columns, 'all_in').map(({ detail, choices }) => [
      detail,
      ...choices.map(({ map }) => map),
    ])
  }
  const basis = ['Quoted rates: all-in, the default basis of the brokerage.', 'basis=linehaul']
  test.each<[Source, string[]]>([
    [{}, ['Quoted rates: US dollars, unless a cell says otherwise.', 'currency=CAD']],
    [{ map: 'currency=CAD' }, ['Quoted rates: Canadian dollars, as chosen.', 'currency=USD']],
    [
      { above: 'All amounts in CAD' },
      [
        'Quoted rates: Canadian dollars, because a line above the header says so: "All amounts in CAD".',
        'currency=USD',
      ],
    ],
    [{ column: 'CAD' }, ['Quoted rates: as the column "Currency" says, else US dollars.', 'currency=CAD']],
    [
      { header: 'Quoted Rate (CAD)' },
      ['Quoted rates: Canadian dollars, because the column "Quoted Rate (CAD)" says so.'],
    ],
  ])('%o', (source, currency) => expect(said(source)).toEqual([currency, basis]))

  test('one sentence for amounts with the same answer', () =>
    expect(said({ map: 'basis=linehaul', more: { 'Customer Rate': '2000', 'Truck Cost': '1500' } })).toEqual([
      [
        'Quoted rates, customer rates and truck costs: US dollars, unless a cell says otherwise.',
        'currency=CAD',
      ],
      ['Quoted rates and customer rates: linehaul, as chosen.', 'basis=all_in'],
      ['Truck costs: all-in, the default basis of the brokerage.', 'cost_basis=linehaul'],
    ]))
})
