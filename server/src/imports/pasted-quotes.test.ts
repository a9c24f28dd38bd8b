import { describe, expect, test } from 'vitest'
import { pastedRowsMax, unknownPlacesLookedUpMax } from '#contract/limits.ts'
import { finished } from '#engine/steps.ts'
import { readPasted } from './pasted-quotes.ts'

const now = Date.UTC(2026, 10, 25)

const pasted = (text: string, more: Partial<Parameters<typeof readPasted>[1]> = {}) =>
  finished(
    readPasted(text, {
      now,
      assumed: 'all_in',
      dates: { timeZone: 'UTC', order: 'month_first', chosen: null },
      ...more,
    }),
  )
const lanes = (text: string) =>
  pasted(text).rows.map(({ quote, errors }) =>
    [
      quote.origin,
      quote.destination,
      quote.equipment,
      quote.quoted_rate,
      quote.estimated_cost,
      ...errors.map(({ detail }) => detail),
    ].join(' | '),
  )
const fields = (text: string) => pasted(text).columns.map(({ field }) => field)
const dallasToAtlanta = 'Dallas, TX | Atlanta, GA | V | '

describe('without a header line', () => {
  test('a number in the third column is the rate, not the equipment', () => {
    expect(fields('Dallas, TX\tAtlanta, GA\t2150')).toEqual(['origin', 'destination', 'quoted_rate'])
    expect(lanes('Dallas, TX\tAtlanta, GA\t2150')).toEqual(['Dallas, TX | Atlanta, GA |  | 2150 | '])
  })

  test.each([
    'Dallas, TX\tAtlanta, GA\tV\t2150',
    'Dallas, TX 75201\tATL\tdry van\t$2,150.00',
    "Dallas TX;Atlanta GA;53' van;2150 USD",
    '75201\t30303\tVAN\t2150',
    'Dallas\tTX\tAtlanta\tGA\tV\t2150',
    'Dallas\tTX\t75201\tAtlanta\tGA\t30303\tV\t2150',
    'Dallas, TX, Atlanta, GA, V, 2150',
    'Dallas, TX 75201, Atlanta, GA 30303, V, "$2,150"',
    'V\tDallas, TX\tAtlanta, GA\t2150',
    '2150\tDallas, TX\tAtlanta, GA\tV',
  ])('reads %s', (text) => {
    expect(lanes(text)).toEqual([`${dallasToAtlanta}2150 | `])
  })

  test('a ZIP code after a place belongs to it only when both agree', () => {
    expect(fields('Reno\tNV\t83702\t1400')).toEqual(['origin', 'origin_state', 'destination', 'quoted_rate'])
    expect(fields('Reno, NV\t83702\t1400')).toEqual(['origin', 'destination', 'quoted_rate'])
    expect(fields('Reno, NV\t89501\tBoise, ID\t1400')).toEqual([
      'origin',
      'origin_zip',
      'destination',
      'quoted_rate',
    ])
    expect(fields('Dallas, TX\tAtlanta, GA\t12500')).toEqual(['origin', 'destination', 'quoted_rate'])
  })

  test('distinguishes a city code from a state', () => {
    expect(lanes('ORD\tLA\tV\t2150')).toEqual(['Chicago, IL | Los Angeles, CA | V | 2150 | '])
    expect(lanes('New York City\tNY\tLA\tCA\tR\t2150')).toEqual([
      'New York, NY | Los Angeles, CA | R | 2150 | ',
    ])
  })

  test('an amount split by commas stays one amount, and never becomes a rate of two dollars', () => {
    expect(lanes('Dallas, TX, Atlanta, GA, V, $2,150')).toEqual([`${dallasToAtlanta}2150 | `])
    expect(lanes('Dallas, TX, Atlanta, GA, V, 2,150.50, 1,800')).toEqual([`${dallasToAtlanta}2150.5 | 1800`])
    expect(lanes('Dallas, TX, Atlanta, GA, V, 950, 800')).toEqual([`${dallasToAtlanta}950 | 800`])
  })

  test.each([
    ['12/5\tV\tF\tDallas, TX\t25\tAtlanta, GA\t781\t45000\t$2,100', 'miles, weights'],
    ['4100\tDallas, TX\tAtlanta, GA\tV\t2100 USD', 'ids'],
    ['Dallas, TX\tAtlanta, GA\tV\t781\tC$2,100', 'miles before an amount in Canadian dollars'],
  ])('%s: beside an amount with a currency, other numbers are none (%s)', (text) => {
    expect(pasted(text).rows[0]?.quote).toMatchObject({ quoted_rate: 2100 })
    expect(fields(text).filter((field) => field === 'estimated_cost' || field === 'market_rate')).toEqual([])
  })

  test('several amounts with a currency are the rate and the cost', () => {
    expect(lanes('Dallas, TX\tAtlanta, GA\tV\t781\t$2,100\t$1,800')).toEqual([
      `${dallasToAtlanta}2100 | 1800`,
    ])
  })

  test('a date is the pickup day and a name is the customer, in any column', () => {
    const text =
      'Acme Foods\tDallas, TX\t3/5/2026\tAtlanta, GA\tRFR\t2150\nAcme Foods\tReno, NV\t3/6/2026\tBoise, ID\tFB\t1400'
    expect(fields(text)).toEqual([
      'customer_name',
      'origin',
      'pickup_date',
      'destination',
      'equipment',
      'quoted_rate',
    ])
    expect(pasted(text).rows).toMatchObject([
      {
        quote: { customer_name: 'Acme Foods', pickup_date: '2026-03-05', equipment: 'R', quoted_rate: 2150 },
        errors: [],
      },
      {
        quote: { customer_name: 'Acme Foods', pickup_date: '2026-03-06', equipment: 'F', quoted_rate: 1400 },
        errors: [],
      },
    ])
  })

  test('rows without two places are not interpreted', () => {
    expect(pasted('hello\tworld').problem).toMatch(/cannot tell which columns are the pickup/)
    // Their cells stay, so that a person can choose the columns.
    expect(pasted('Dallas, TX\t2150')).toMatchObject({
      rows: [{ cells: ['Dallas, TX', '2150'], quote: {}, errors: [{ column: null }] }],
      problem: expect.any(String),
    })
  })
})

describe('with a header line', () => {
  test.each([
    ['Pick up\tDrop\tTrailer Type\tQuoted Rate ($)', 'Dallas, TX\tAtlanta, GA\tR\t2150'],
    ['FROM\tTO\tMode\tAll-in', 'Dallas TX\tAtlanta GA\tR\t2150 USD'],
    ['O\tD\tEq\tAmount', 'DFW\tATL\tR\t2150'],
    ['Origin City\tOrigin State\tDest City\tDest State\tEquip\tLinehaul', 'Dallas\tTX\tAtlanta\tGA\tR\t2150'],
    [
      'Origin City\tST\tZip\tDest City\tST\tZip\tEquip\tRate',
      'Dallas\tTX\t75201\tAtlanta\tGA\t30303\tR\t2150',
    ],
    ['Origin Zip\tDest Zip\tEquip\tRate', '75201\t30303\tR\t2150'],
    ['Origin,State,Destination,State,Equipment,Rate', 'Dallas,TX,Atlanta,GA,R,2150'],
    ['Origin;Destination;Equipment;Rate', 'Dallas, TX;Atlanta, GA;R;2150'],
    ['Sell Rate\tShipper\tConsignee\tEquipment', '2150\tDallas, TX\tAtlanta, GA\trfr'],
  ])('columns are recognized by common names: %s', (header, row) => {
    expect(fields(`${header}\n${row}`)).not.toContain(null)
    expect(lanes(`${header}\n${row}`)).toEqual(['Dallas, TX | Atlanta, GA | R | 2150 | '])
  })

  test('an ambiguous column name is decided by its cells', () => {
    const text = 'Shipper\tPickup\tDelivery\tRate\nAcme\tDallas, TX\tAtlanta, GA\t2150'
    expect(fields(text)).toEqual(['customer_name', 'origin', 'destination', 'quoted_rate'])
    const dated = 'Origin\tDest\tPickup\tRate\nDallas, TX\tAtlanta, GA\t3/5/2026\t2150'
    expect(fields(dated)).toEqual(['origin', 'destination', 'pickup_date', 'quoted_rate'])
  })

  test('an ignored column is reported', () => {
    const { columns } = pasted('Origin\tDestination\tTemp\tRate\nDallas, TX\tAtlanta, GA\t34F\t2150')
    expect(columns[2]).toEqual({ column: 3, name: 'Temp', field: null })
  })

  test('a rate below "Equipment" is an error', () => {
    const [row] = pasted('Origin\tDestination\tEquipment\nDallas, TX\tAtlanta, GA\t2150').rows
    expect(row?.errors).toEqual([
      {
        column: 3,
        detail: expect.stringContaining('2150 looks like a rate'),
        suggestions: ['V', 'R', 'F'],
        is_unknown: false,
      },
    ])
  })
})

/** The same three rows as people copy them: from Excel, a German or Canadian spreadsheet, a TMS, an e-mail. */
const shapes: Readonly<Record<string, string>> = {
  'tabs without a header': [
    'Dallas, TX\tAtlanta, GA\tV\t2150.50',
    'Toronto, ON\tChicago, IL\tR\t3100',
    'Reno, NV\tBoise, ID\tF\t950',
  ].join('\n'),
  'tabs with a header': [
    'Origin\tDestination\tEquipment\tRate',
    'Dallas, TX\tAtlanta, GA\tV\t2150.50',
    'Toronto, ON\tChicago, IL\tR\t3100',
    'Reno, NV\tBoise, ID\tF\t950',
  ].join('\n'),
  'commas, with quotes where a cell has one': [
    'Origin,Destination,Equipment,Rate',
    '"Dallas, TX","Atlanta, GA",V,"2,150.50"',
    '"Toronto, ON","Chicago, IL",R,"3,100"',
    '"Reno, NV","Boise, ID",F,950',
  ].join('\n'),
  'commas without quotes or a header': [
    'Dallas, TX, Atlanta, GA, V, $2,150.50',
    'Toronto, ON, Chicago, IL, R, $3,100',
    'Reno, NV, Boise, ID, F, $950',
  ].join('\n'),
  'German: semicolons and decimal commas': [
    'Origin;Destination;Equipment;Rate',
    'Dallas, TX;Atlanta, GA;V;2.150,50',
    'Toronto, ON;Chicago, IL;R;3.100,00',
    'Reno, NV;Boise, ID;F;950,00',
  ].join('\n'),
  'Canadian French: spaces and a dollar sign after the amount': [
    'Toronto, ON\tChicago, IL\tR\t3\u00a0100,00\u00a0$',
    'Dallas, TX\tAtlanta, GA\tV\t2\u202f150,50\u00a0$',
    'Reno, NV\tBoise, ID\tF\t950,00\u00a0$',
  ].join('\n'),
  'Excel: carriage returns, padded amounts, an empty column and empty lines': [
    'Customer Name\tOrigin\tDestination\t\tEquipment\tRate',
    'Acme\tDallas, TX\tAtlanta, GA\t\tV\t $2,150.50 ',
    '\t\t\t\t\t',
    'Acme\tToronto, ON\tChicago, IL\t\tR\t $3,100.00 ',
    'Acme\tReno, NV\tBoise, ID\t\tF\t $950.00 ',
    '',
  ].join('\r\n'),
  'city, state and ZIP code in columns': [
    'Origin City\tState\tZip\tDest City\tState\tZip\tEquip\tAll In Rate',
    'Dallas\tTX\t75201\tAtlanta\tGA\t30303\tVan\tUSD 2150.50',
    'Toronto\tON\tM5V 2T6\tChicago\tIL\t60601\tReefer\tUSD 3100',
    'Reno\tNV\t89501\tBoise\tID\t83702\tFlatbed\tUSD 950',
  ].join('\n'),
  'city and state in columns, without a header': [
    'Dallas\tTX\tAtlanta\tGA\tV\t2150.50',
    'Toronto\tON\tChicago\tIL\tR\t3100',
    'Reno\tNV\tBoise\tID\tF\t950',
  ].join('\n'),
  'ZIP codes alone': [
    'Origin Zip\tDest Zip\tEquip\tRate',
    '75201\t30303\tV\t2150.50',
    'M5V 2T6\t60601\tR\t3100',
    '89501\t83702\tF\t950',
  ].join('\n'),
  'with dates, miles and a cost, in another order': [
    'Pickup Date\tPickup\tDelivery\tMiles\tTruck Cost\tSell Rate\tMode',
    '11/30/2026\tDallas TX\tAtlanta GA\t781\t$1,700\t$2,150.50\tV',
    '12/1/2026\tToronto ON\tChicago IL\t523\t$2,600\t$3,100\tR',
    '12/2/2026\tReno NV\tBoise ID\t423\t$700\t$950\tF',
  ].join('\n'),
}

describe('the same rows in any shape', () => {
  test.each(Object.entries(shapes))('%s', (_, text) => {
    const { problem, rows } = pasted(text)
    expect(problem).toBeNull()
    expect(rows.flatMap(({ errors }) => errors)).toEqual([])
    expect(
      rows
        .map(({ quote }) => [quote.origin, quote.destination, quote.equipment, quote.quoted_rate].join(' | '))
        .sort(),
    ).toEqual([
      'Dallas, TX | Atlanta, GA | V | 2150.5',
      'Reno, NV | Boise, ID | F | 950',
      'Toronto, ON | Chicago, IL | R | 3100',
    ])
  })

  test('decimal commas between commas are not read as a cost of fifty dollars', () => {
    expect(lanes('Dallas, TX, Atlanta, GA, V, 2150,50')).toEqual([`${dallasToAtlanta}2150.5 | `])
    expect(lanes('Dallas, TX, Atlanta, GA, V, 2.150,50')).toEqual([`${dallasToAtlanta}2150.5 | `])
    expect(lanes('75201,30303,53')).not.toEqual([expect.stringContaining('30303')])
  })

  test('5,000 rows are refused as a whole, with the limit and what to do', () => {
    const { problem, rows } = pasted('Dallas, TX\tAtlanta, GA\tV\t2150\n'.repeat(5_000))
    expect(rows).toEqual([])
    expect(problem).toBe(
      `At most ${pastedRowsMax} rows are read at once; these are 5,000. Paste them in parts, or import a file of past quotes.`,
    )
  })

  const stepsOf = (text: string) =>
    [
      ...readPasted(text, {
        now,
        assumed: 'all_in',
        dates: { timeZone: 'UTC', order: 'month_first', chosen: null },
      }),
    ].length

  test('20,000 lines are counted in steps', () => {
    expect(stepsOf('a\n'.repeat(20_000))).toBeGreaterThan(100)
  })

  test('lines of 15,000 cells are refused after a look at sixty of their columns', () => {
    const text = `${'x;'.repeat(15_000)}\n`.repeat(2)
    expect(pasted(text).problem).toBe('Rows may have at most 60 cells.')
    expect(stepsOf(text)).toBeLessThan(5_000)
  })
})

describe('a row', () => {
  test('an unknown place is an error with suggestions', () => {
    const [, bad] = pasted('Dallas, TX\tAtlanta, GA\tV\t2150\nPortland\tBoise, ID\tV\t1400').rows
    expect(bad).toMatchObject({ line: 2, cells: ['Portland', 'Boise, ID', 'V', '1400'] })
    expect(bad?.quote.origin).toBeUndefined()
    expect(bad?.errors[0]?.suggestions[0]).toBe('Portland, OR')
  })

  test('suggestions are looked up for the first different wrong places only', () => {
    const misspelled = (at: number) => `Portlan${'abcdef'[at % 6]}${'vwxyz'[at % 5]}`
    const rows = Array.from({ length: 60 }, (_, at) => `${misspelled(at % 30)}\tAtlanta, GA\tV\t2150`)
    const read = pasted(`Origin\tDestination\tEquipment\tRate\n${rows.join('\n')}`).rows
    const suggested = read.map(({ errors }) => errors[0]?.suggestions ?? [])
    expect(new Set(suggested.slice(0, 30)).size).toBe(30)
    expect(suggested.slice(unknownPlacesLookedUpMax, 30).flat()).toEqual([])
    expect(suggested.slice(0, unknownPlacesLookedUpMax).flat()).toContain('Portland, OR')
    // The rows that repeat a place have its suggestions.
    expect(suggested[30]).toBe(suggested[0])
  })

  test('an error repeats at most 60 characters of a cell', () => {
    const long = 'x'.repeat(2_000)
    const [row] = pasted(
      `Origin\tDestination\tEquipment\tRate\n${long}\tAtlanta, GA\t${long}\t${'0'.repeat(50_000)}`,
    ).rows
    expect(row?.errors).toHaveLength(3)
    for (const { detail } of row?.errors ?? []) expect(detail.length).toBeLessThan(300)
    expect(row?.errors.at(-1)?.detail).not.toContain('x'.repeat(61))
  })

  test.each(['1.850', '1,85', '€2150', '2150 MXN', '$-5'])('does not misread %s as dollars', (amount) => {
    const [row] = pasted(`Origin\tDestination\tRate\nDallas, TX\tAtlanta, GA\t${amount}`).rows
    expect(row?.quote.quoted_rate).toBeUndefined()
    expect(row?.errors[0]?.detail).toMatch(/^The rate must be/)
  })

  test("an accountant's dash is an empty amount, not an error", () => {
    expect(lanes('Dallas, TX\tAtlanta, GA\tV\t $2,150.00 \t $-   ')).toEqual([`${dallasToAtlanta}2150 | `])
  })

  test('with more cells than columns is an error', () => {
    expect(lanes('Origin\tDestination\tRate\nDallas, TX\tAtlanta, GA\t2150\tmore')[0]).toMatch(
      /4 cells for 3 columns/,
    )
  })
})

test('the cells of a row are read as those of a file: charges with a currency, and words for no value', () => {
  const header = 'Origin\tDestination\tRate\tQuoted Charges\tMiles\tPickup Date\tCustomer'
  const { rows } = pasted(
    [
      header,
      'Dallas, TX\tAtlanta, GA\t2150 CAD\tlumper 75 CAD\tN/A\tTBD\t-',
      'Dallas, TX\tAtlanta, GA\t2150\tlumper 75 CAD\t780\t3/5/2026\tAcme',
    ].join('\n'),
  )
  const quoted_charges = [{ name: 'lumper', amount: 75 }]
  expect(rows).toMatchObject([
    { errors: [], quote: { quoted_rate: 2150, quoted_currency: 'CAD', quoted_charges } },
    { errors: [{ column: 4, detail: expect.stringContaining('in the currency of the rate, which is USD') }] },
  ])
  expect(Object.keys(rows[0]?.quote ?? {})).not.toContain('miles')
})

test('too many rows are rejected as a whole', () => {
  const row = 'Dallas, TX\tAtlanta, GA\tV\t2150\n'
  expect(pasted(row.repeat(pastedRowsMax)).rows).toHaveLength(pastedRowsMax)
  expect(pasted(row.repeat(pastedRowsMax + 1))).toMatchObject({
    rows: [],
    problem: expect.any(String),
  })
})

test('a pickup day may have the name of its month, and lack its year: it is the nearest such day', () => {
  const days = ['25-Jun-2025', 'Dec 3', '3 December', 'Wed, Dec 3, 2026', '12/3/26', 'Jan 5', '1-Sep-26']
  const text = ['Origin\tDestination\tPickup', ...days.map((day) => `Dallas, TX\tAtlanta, GA\t${day}`)].join(
    '\n',
  )
  expect(pasted(text).rows.map(({ quote }) => quote.pickup_date)).toEqual([
    '2025-06-25',
    '2026-12-03',
    '2026-12-03',
    '2026-12-03',
    '2026-12-03',
    '2027-01-05',
    '2026-09-01',
  ])
})

describe('cells as people write them', () => {
  const head = 'Origin\tDestination\tEquipment\tRate\tPickup Date\n'
  const cell = (rate: string, pickup = '') =>
    pasted(`${head}Dallas, TX\tAtlanta, GA\tV\t${rate}\t${pickup}`).rows[0]

  test.each([
    ['2k', { quoted_rate: 2000 }],
    ['$2.1K', { quoted_rate: 2100 }],
    ['2,35k CAD', { quoted_rate: 2350, quoted_currency: 'CAD' }],
    ['2,350 CAD', { quoted_rate: 2350, quoted_currency: 'CAD' }],
    ['1500 + fsc', { quoted_rate: 1500, quoted_basis: 'linehaul' }],
    ['1,500 + $350 fuel', { quoted_rate: 1500, quoted_basis: 'linehaul', quoted_fuel: 350 }],
    ['1850 all in', { quoted_rate: 1850, quoted_basis: 'all_in' }],
  ])('the rate %s', (rate, quote) => {
    expect(cell(rate)).toMatchObject({ quote, errors: [] })
  })

  test('a cell that is read in another form is noted', () => {
    expect(cell('1.5k + fsc', 'tomorrow')?.notes).toEqual([
      '"1.5k + fsc" is read as 1500 linehaul.',
      '"tomorrow" is read as 2026-11-26.',
    ])
  })

  test('what a cell says must agree with the name of its column', () => {
    const [row] = pasted('Origin\tDestination\tAll In Rate\nDallas, TX\tAtlanta, GA\t1500 + fsc').rows
    expect(row?.errors).toMatchObject([
      { column: 3, detail: expect.stringContaining('linehaul by its cell') },
    ])
  })

  test.each(['tomrow', 'ASAP', '31/31/2026'])('the day %s is asked about', (day) => {
    expect(cell('2000', day)?.errors).toMatchObject([
      { column: 5, suggestions: ['2026-11-25', '2026-11-26'] },
    ])
  })

  test('a weekday is the next one, or the one a week later', () => {
    expect(cell('2000', 'Fri')?.errors[0]?.suggestions).toEqual(['2026-11-27', '2026-12-04'])
  })

  test('tomorrow is that of the brokerage', () => {
    const at = { timeZone: 'America/Los_Angeles', order: 'month_first', chosen: null } as const
    const { rows } = pasted(`${head}Dallas, TX\tAtlanta, GA\tV\t2000\ttomorrow`, { dates: at })
    expect(rows[0]?.quote.pickup_date).toBe('2026-11-25')
  })

  test('a city without its state is asked about', () => {
    const [row] = pasted('Kansas City\tDallas\tV\t2k\nHouston\tAtlanta, GA\tV\t1900').rows
    expect(row?.errors[0]?.suggestions).toEqual(
      expect.arrayContaining(['Kansas City, MO', 'Kansas City, KS']),
    )
    expect(row?.errors[1]?.suggestions[0]).toBe('Dallas, TX')
  })

  test('dates in two orders are errors of single rows', () => {
    const { problem, understood, rows } = pasted(
      `${head}${['3/25/2026', '25/3/2026'].map((day) => `Dallas, TX\tAtlanta, GA\tV\t2000\t${day}`).join('\n')}`,
    )
    expect(problem).toBeNull()
    expect(understood[0]?.detail).toMatch(/must all be day first, or all be month first/)
    expect(rows).toMatchObject([
      { errors: [], quote: { pickup_date: '2026-03-25' } },
      { errors: [{ column: 5, suggestions: ['2026-03-25'] }] },
    ])
  })
})

describe('a value that is not known', () => {
  const text = 'Origin\tDestination\tEquipment\tRate\nChicgo, IL\tAtlanta, GA\tReefr\t2150'

  test('is asked about, with its near ones', () => {
    expect(pasted(text).rows).toMatchObject([
      {
        errors: [
          { column: 1, is_unknown: true, suggestions: expect.arrayContaining(['Chicago, IL']) },
          { column: 3, is_unknown: true, suggestions: ['R', 'V', 'F'] },
        ],
      },
    ])
  })

  test('stays as it is when a person confirmed it', () => {
    expect(pasted(text, { confirmed: ['Chicgo, IL', 'Reefr'] }).rows).toMatchObject([
      { errors: [], quote: { origin: 'Chicgo, IL', equipment: 'REEFR' } },
    ])
  })

  test('is an own code of equipment if no known one is near', () => {
    expect(lanes('Origin\tDestination\tEquipment\nDallas, TX\tAtlanta, GA\tTARPED')).toEqual([
      'Dallas, TX | Atlanta, GA | TARPED |  | ',
    ])
  })
})

test('totals and repeated headers are left out, and counted', () => {
  const head = 'Origin\tDestination\tRate'
  const row = 'Dallas, TX\tAtlanta, GA\t2150'
  const { rows, understood } = pasted([head, row, head, row, 'Total\t\t$4,300'].join('\n'))
  expect(rows.map(({ errors }) => errors)).toEqual([[], []])
  expect(understood.map(({ detail }) => detail)).toEqual([
    '1 line with a total was left out.',
    '1 line with the header again was left out.',
  ])
})

test.each(['', 'Origin\tDestination\tEquip\tRate\tDenom\n'])(
  'a column of currencies is read, with the header "%s"',
  (head) => {
    const text = `${head}Toronto, ON\tDetroit, MI\tV\t1850\tCAD\nToronto, ON\tDetroit, MI\tV\t1850\tUSD`
    expect(pasted(text).rows.map(({ quote }) => quote.quoted_currency)).toEqual(['CAD', 'USD'])
  },
)

test('two tables are not read by the columns of the first one', () => {
  const row = 'Dallas, TX\tAtlanta, GA\t2150'
  const { rows, problem } = pasted(
    ['Origin\tDestination\tRate', row, 'Destination\tOrigin\tRate', row].join('\n'),
  )
  expect(rows).toEqual([])
  expect(problem).toBe('Line 3 is another header, with other columns. Paste each table by itself.')
})

describe('a header without one known word', () => {
  const text = 'Von\tNach\tArt\tPreis\nDallas, TX\tAtlanta, GA\tV\t2150\nReno, NV\tBoise, ID\tR\t1500'

  test('is the names of columns that are found by their cells', () => {
    expect(pasted(text).columns).toEqual([
      { column: 1, name: 'Von', field: 'origin' },
      { column: 2, name: 'Nach', field: 'destination' },
      { column: 3, name: 'Art', field: 'equipment' },
      { column: 4, name: 'Preis', field: 'quoted_rate' },
    ])
  })

  test('the columns can be chosen', () => {
    const chosen = [{ column: 4, field: 'estimated_cost' as const }]
    expect(pasted(text, { chosen }).rows[0]?.quote).toMatchObject({ estimated_cost: 2150 })
    const places = (['origin', 'destination'] as const).map((field, at) => ({ column: at + 1, field }))
    expect(pasted('Xyz\tAbc', { chosen: places }).problem).toBeNull()
  })

  test('a person can say whether there is one', () => {
    expect(pasted(text, { hasHeader: false }).rows).toHaveLength(3)
    expect(pasted('Dallas, TX\tReno, NV\nDallas, TX\tReno, NV', { hasHeader: true }).header).toBe(
      'Dallas, TX\tReno, NV',
    )
  })

  test('a row with mistakes is no header', () => {
    expect(pasted('Houston\tDallas\tVan\tcheap\nDallas, TX\tAtlanta, GA\tV\t2150').header).toBeNull()
  })
})

test('a column in another currency is an error of its cells, until it is left out', () => {
  const text = 'Origin\tDestination\tRate (€)\nDallas, TX\tAtlanta, GA\t2150\nReno, NV\tBoise, ID\t'
  expect(pasted(text).rows.map(({ errors }) => errors.map(({ column }) => column))).toEqual([[3], []])
  expect(pasted(text, { chosen: [{ column: 3, field: null }] }).rows[0]?.errors).toEqual([])
})

test.each(['26-12-05', '26/12/05', '26.12.05'])('%s may be two days, so it is an error of its row', (day) => {
  const text = `Origin\tDest\tEquip\tRate\tPickup\nDallas, TX\tAtlanta, GA\tV\t2150\t${day}\nDallas, TX\tMacon, GA\tV\t2150\t`
  const { rows, understood } = pasted(text)
  expect(rows.map(({ quote }) => quote.pickup_date)).toEqual([undefined, undefined])
  expect(rows.map(({ errors }) => errors.map(({ column }) => column))).toEqual([[5], []])
  expect(understood).toMatchObject([
    {
      code: 'date_order',
      detail: expect.stringContaining('December 5, 2026 or December 26, 2005') as string,
    },
  ])
  const dates = { timeZone: 'UTC', order: 'month_first', chosen: 'day_first' } as const
  expect(pasted(text, { dates }).rows[0]?.quote.pickup_date).toBe('2005-12-26')
})
