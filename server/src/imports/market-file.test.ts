import { describe, expect, test } from 'vitest'
import { threadMs } from '#testing/thread-time.ts'
import { importFields, marketMeaning, utcDates } from '../csv/index.ts'
import type { DateSettings } from './file-dates.ts'
import { readPublished, zipAreaOf } from './market-cells.ts'
import { readMarketFile } from './market-file.ts'
import type { MarketFileDefaults } from './market-rows.ts'

const now = Date.UTC(2026, 10, 24, 12)
const assumed = { source: 'Export', as_of: '2026-11-20' } as const
const utc = { timeZone: 'UTC', order: 'month_first' } as const
const read = (text: string, defaults: MarketFileDefaults = {}, dates: DateSettings = utc) =>
  Promise.resolve().then(() =>
    readMarketFile([Buffer.from(text)], { ...assumed, ...defaults }, { now, dates }),
  )
/** As `read`, with the sentences of `understood` only. */
const readWords = async (text: string, defaults: MarketFileDefaults = {}, dates: DateSettings = utc) => {
  const { rows, understood } = await read(text, defaults, dates)
  return { rows, notes: understood.map(({ detail }) => detail) }
}
const refusal = (text: string, defaults: MarketFileDefaults = {}) =>
  read(text, defaults).then(
    () => 'read',
    (error: Error) => error.message,
  )
const items = async (text: string, defaults: MarketFileDefaults = {}) =>
  (await read(text, defaults)).rows.map(({ item }) => item)

/** Made-up rates in the columns that DAT documents for the output of a multi-lane request. */
const multiLane = (rows: readonly string[]) =>
  [
    'Orig City,Orig State,Orig Postal Code,Dest City,Dest State,Dest Postal Code,Truck Type,PC-Miler Practical Mileage,Spot Avg Linehaul Rate,Spot Low Linehaul Rate,Spot High Linehaul Rate,Spot Fuel Surcharge,Spot Time Frame,Spot Origin Geo Expansion,Spot # of Companies,Spot # of Reports,Spot Your Own # of Reports,Spot Error,Contract Avg Linehaul Rate,Contract Low Linehaul Rate,Contract High Linehaul Rate,Contract Fuel Surcharge,Contract # of Reports',
    ...rows,
  ].join('\n')
const dallas = 'DALLAS,TX,75201,ATLANTA,GA,30303'

test('a file with two tables is refused', async () => {
  const row = 'Dallas TX,Atlanta GA,V,all_in,2000'
  const text = [
    'Origin,Destination,Equipment,Basis,Rate',
    row,
    'Destination,Origin,Equipment,Basis,Rate',
    row,
  ]
  expect(await refusal(text.join('\n'))).toBe(
    'The file must have one header; line 3 is another one, with other columns than line 1. Send each table as a file of its own.',
  )
})

test('a column of currencies with an unknown name is asked about', async () => {
  const of = (name: string) =>
    `Origin,Destination,Equipment,Basis,Rate,${name}\nDallas TX,Atlanta GA,V,all_in,2000,USD\nReno NV,Boise ID,V,all_in,900,CAD`
  expect(await refusal(of('Denom'))).toBe(
    'The column "Denom" has currencies, and is not read. Rename it Currency, or remove it if they are not those of the rates.',
  )
  expect((await items(of('Ccy'))).map(({ currency }) => currency)).toEqual(['USD', 'CAD'])
})

test.each([
  ['Linehaul', 'Fuel Surcharge', '1960', '18.5', true],
  ['Linehaul', 'Fuel Surcharge', '1960', '328', false],
  ['Linehaul', 'Fuel', '310', '28.50', false],
  ['Linehaul RPM', 'Fuel RPM', '2.45', '0.42', false],
])(
  '%s with %s of %s and %s: a fuel charge that looks like a percentage is named',
  async (rate, fuel, ...amounts) => {
    const [linehaul, charge, isNamed] = amounts
    const text = `Origin,Destination,Equipment,Miles,${rate},${fuel}\nDallas TX,Atlanta GA,V,781,${linehaul},${charge}`
    const { understood } = await read(text)
    expect(understood.filter(({ code }) => code === 'content').map(({ detail }) => detail)).toEqual(
      isNamed
        ? [expect.stringContaining(`${fuel} is read as fuel, but its cells look like percentages: 18.5`)]
        : [],
    )
  },
)

describe('the output of a DAT multi-lane request', () => {
  const perMile = multiLane([
    `${dallas},VAN,800,2.11,1.875,2.4,0.38,15,20 - 3 Digit,14,63,,,2.6,2.3,2.9,0.38,240`,
    `${dallas},REEFER,800,0,0,0,0,,,0,0,,No data,,,,,`,
    `${dallas},VAN,800,2.11,1.875,2.4,0.38,15,20 - 3 Digit,14,63,,,2.6,2.3,2.9,0.38,240`,
  ])

  test('in dollars per mile is refused until the unit is chosen, and then multiplied by its miles', async () => {
    expect(await refusal(perMile)).toContain('unit must be chosen')
    const { rows, notes } = await readWords(perMile, { unit: 'per_mile' })
    expect(rows.map(({ item }) => item)).toEqual([
      {
        ...assumed,
        basis: 'linehaul',
        origin: 'DALLAS, TX',
        destination: 'ATLANTA, GA',
        equipment: 'VAN',
        sample: 63,
        mid: 1688,
        low: 1500,
        high: 1920,
        fuel: 304,
      },
    ])
    expect(notes).toEqual([
      expect.stringContaining('The spot rates are read, and the contract rates are not'),
      expect.stringContaining('multiplied by the miles in the column PC-Miler Practical Mileage'),
      '1 line is without a rate and was not read: 3.',
      '1 line is the same as an earlier line and was not read: 4.',
    ])
  })

  test('has contract rates, which customers pay, for the kind sell', async () => {
    expect(await items(perMile, { unit: 'per_mile', kind: 'sell' })).toMatchObject([
      { kind: 'sell', mid: 2080, low: 1840, high: 2320, fuel: 304, sample: 240 },
    ])
    const only = 'Origin,Destination,Equipment,Contract Rate\n"Dallas, TX","Atlanta, GA",V,2300\n'
    expect(await refusal(only, { basis: 'all_in', kind: 'buy' })).toContain('kind must be sell')
    expect(await items(only, { basis: 'all_in', kind: 'sell' })).toMatchObject([{ mid: 2300, kind: 'sell' }])
  })
})

test('a report with a title, both units, totals and a disclaimer is read per load, and the notes name the other lines', async () => {
  const text = `Lane report for Blue Freight LLC
Generated: 11/20/2026

Origin,Destination,Equipment,Mileage,Rate (per mile),Rate (per trip),Low (per trip),High (per trip),Reports,Date
"Dallas, TX","Atlanta, GA",Vans,781,$2.51,"$1,960.00","$1,790.00","$2,140.00",48,11/20/2026
"Dallas, TX","Atlanta, GA",Flatbeds,781,N/A,N/A,-,-,,11/20/2026
Total,,2,,,"$1,960.00",,,48,

"For internal use only, and not to be redistributed."
`
  const { rows, notes } = await readWords(text, { basis: 'all_in' })
  expect(rows).toMatchObject([
    { line: 5, item: { mid: 1960, low: 1790, high: 2140, sample: 48 }, errors: [] },
  ])
  expect(notes).toEqual([
    '2 lines are above the header and were not read: 1, 2.',
    '2 lines are text or totals and were not read: 7, 9.',
    '1 line is without a rate and was not read: 6.',
  ])
})

describe('the unit', () => {
  test('is that of the name of each column, and miles that are missing are computed', async () => {
    const text =
      'Origin,Destination,Equipment,Miles,RPM,Fuel Surcharge\n"Dallas, TX","Atlanta, GA",V,800,$2.455,200\n"Dallas, TX","Atlanta, GA",R,,2.50,200\n'
    const { rows, notes } = await readWords(text, { basis: 'all_in' })
    expect(rows[0]?.item).toMatchObject({ mid: 1964, fuel: 200 })
    expect(rows[1]?.item.mid).toBeGreaterThan(1900)
    expect(notes).toEqual([
      expect.stringContaining('or where it is blank by the road miles that Lanewise computes'),
    ])
  })

  test.each([
    ['dollars per load', '"Dallas, TX","Atlanta, GA",V,800,1960', 'at most $20'],
    ['more than $20 per mile', '"Dallas, TX","Atlanta, GA",V,800,20.01', 'at most $20'],
    ['kilometers', '"Dallas, TX","Atlanta, GA",V,1287,2.5', 'the miles of the lane, about'],
    ['no miles of ZIP areas', '752,303,V,,2.5', 'the miles of this row are not known'],
    ['no number', '"Dallas, TX","Atlanta, GA",V,800,2.5%', 'dollars per mile such as 2.45'],
  ])('%s in a column per mile: the row is an error, and has no amount', async (_, row, words) => {
    const { rows } = await read(`Origin,Destination,Equipment,Miles,Rate per mile\n${row}\n`, {
      basis: 'all_in',
    })
    expect(rows).toMatchObject([{ line: 2, errors: [{ detail: expect.stringContaining(words) }] }])
    expect(rows[0]?.item.mid).toBeUndefined()
  })
})

test('a file with a column for each equipment has a rate in each, of a pair of states in a month', async () => {
  const text =
    'Origin State,Destination State,Van Rate,Reefer Rate,Flatbed Rate,Month\nTX,GA,1900,2300,,Nov 2026\nTexas,Florida,,,2300,October 2026\nAverage,,1900,2300,2300,\n'
  expect(await items(text, { basis: 'all_in' })).toMatchObject([
    { scope: 'state_pair', origin: 'TX', equipment: 'V', mid: 1900, as_of: '2026-11-24T00:00:00.000Z' },
    { equipment: 'R', mid: 2300 },
    { origin: 'Texas', equipment: 'F', mid: 2300, as_of: '2026-10-31T00:00:00.000Z' },
  ])
})

test('of several time frames the shortest is read, and the delimiter is found behind a title', async () => {
  const text =
    'Rates, by lane, of the week\n\nOrigin City\tOrigin State\tDestination City\tDestination State\tTrailer\t15-Day Avg\t7-Day Avg\nDallas\tTX\tAtlanta\tGA\tDry Van\t1,941\t1,960\n'
  const { rows, notes } = await readWords(text, { basis: 'all_in' })
  expect(rows).toMatchObject([{ line: 4, item: { origin: 'Dallas, TX', mid: 1960 } }])
  expect(notes[1]).toContain('Of the time frames, the 7 days are read')
})

test('markets, ZIP areas and postal codes say what the rate covers', async () => {
  expect(
    await items(
      'sep=;\nOrigin Market;Destination Market;Equipment;Linehaul RPM;Week\nDallas Mkt;Atlanta Mkt;FB;2,21;11/16/2026 - 11/22/2026\n',
    ),
  ).toMatchObject([
    { scope: 'market', origin: 'Dallas Mkt', basis: 'linehaul', as_of: '2026-11-22T00:00:00.000Z' },
  ])
  expect(
    await items('Origin Zip3,Dest Zip3,Equipment,Avg Linehaul Rate,Range\n21,100,V,650,$600 - $700\n'),
  ).toMatchObject([{ scope: 'zip3', origin: '021', destination: '100', low: 600, high: 700 }])
  // The columns of a Greenscreens batch: a postal code instead of a city; the pickup date is not the date of the rate.
  const batch = await items(
    'load_id,pickup_date,transport_type,origin_city,origin_state,origin_zip,destination_city,destination_state,destination_zip,distance,target_buy_rate,low_buy_rate,high_buy_rate,confidence_level\n1,2026-12-01,REEFER,,,60601,,,38103,533,1399.9,1310,1500,71%\n',
    { basis: 'all_in' },
  )
  expect(batch).toMatchObject([{ origin: '60601', mid: 1399.9, low: 1310, as_of: '2026-11-20' }])
})

test.each([
  [
    'a range as the rate',
    'Origin,Destination,Equipment,Rate\nA,B,V,1790 - 2140\n',
    'one amount; a range belongs in',
  ],
  ['one amount as the range', 'Origin,Destination,Equipment,Rate,Range\nA,B,V,1900,1790\n', 'two amounts'],
  [
    'a date of another form',
    'Origin,Destination,Equipment,Rate,Date\nA,B,V,1900,13/45/2026\n',
    'a date such as',
  ],
])('%s is an error of the row', async (_, text, words) => {
  const { rows } = await read(text, { basis: 'all_in' })
  expect(rows).toMatchObject([{ line: 2, errors: [{ detail: expect.stringContaining(words) }] }])
})

test('the linehaul rate is read instead of a total without a basis, and a date instead of the number of its week', async () => {
  const { rows } = await read(
    'Week,Date,Origin,Destination,Equipment,Total Rate,Linehaul,Fuel\n47,11/17/2026,"Dallas, TX","Atlanta, GA",V,1900,1600,300\n',
    { basis: 'linehaul' },
  )
  expect(rows).toMatchObject([{ item: { basis: 'linehaul', mid: 1600, fuel: 300 } }])
  expect(rows[0]?.item.as_of).toBe('2026-11-17T00:00:00.000Z')
})

test('what a column says takes precedence over the defaults of the upload', async () => {
  const defaults = { equipment: 'R', source: 'Chosen', as_of: '2026-11-01', kind: 'sell' } as const
  const text =
    'Origin,Destination,Equipment,All-In Rate,Date,Source,Kind,Basis\nDallas TX,Atlanta GA,V,1960,2026-11-20,Named,buy,linehaul\n'
  expect(await items(text, { ...defaults, basis: 'all_in' })).toMatchObject([
    {
      equipment: 'V',
      source: 'Named',
      as_of: '2026-11-20T00:00:00.000Z',
      kind: 'buy',
      basis: 'linehaul',
    },
  ])
})

test('the name of a column decides over the default where the cell of the basis is empty', async () => {
  const text = 'Origin,Destination,Equipment,Linehaul Rate,Basis\nDallas TX,Atlanta GA,V,1960,\n'
  expect(await items(text, { basis: 'all_in' })).toMatchObject([{ basis: 'linehaul' }])
})

test('a range on the other basis is not read with the rate', async () => {
  const { rows, notes } = await readWords(
    'Origin,Destination,Equipment,All-In Rate,Low Linehaul Rate\n"Dallas, TX","Atlanta, GA",V,1960,1400\n',
  )
  expect(rows).toMatchObject([{ item: { basis: 'all_in', mid: 1960 } }])
  expect(rows[0]?.item.low).toBeUndefined()
  expect(notes).toEqual([expect.stringContaining('on the other basis: Low Linehaul Rate')])
})

test.each([
  ['half a workbook', 'PK\u0003\u0004\u0014', 'workbook'],
  ['a web page saved as .xls', '<html><table>', 'a web page'],
  [
    'a file without a rate',
    'Origin,Destination,Equipment,Rate\nDallas TX,Atlanta GA,V,N/A\n',
    'no line has an amount in "Rate"',
  ],
  ['no equipment', 'Origin,Destination,Rate\nDallas TX,Atlanta GA,1900\n', 'equipment (or choose one'],
])('%s is refused', async (_, text, words) => {
  expect(await refusal(text, { basis: 'all_in' })).toContain(words)
})

const ends = 'Dallas TX,Atlanta GA,V'
const spaces = ' '.repeat(100_000)
const long: readonly (readonly [what: string, text: string, words: string])[] = [
  ['zeros', `Rate\n${ends},${'0'.repeat(100_000)}x`, 'Rate must be at most 1,000 characters long'],
  ['an amount and spaces', `Rate\n${ends},$${spaces}x`, 'Rate must be at most 1,000 characters long'],
  ['dollars per mile and spaces', `RPM\n${ends},$${spaces}x`, 'RPM must be at most 1,000 characters long'],
  ['a day and spaces', `Rate,Date\n${ends},1900,1${spaces}x`, 'Date must be at most 1,000 characters long'],
  [
    'a market and spaces',
    `RPM,Scope\nA${spaces}x,B,V,2.5,market`,
    'Origin must be at most 1,000 characters long',
  ],
  ['columns', `Rate${',x'.repeat(100_000)}\n${ends},1900`, 'at most 200 columns; it has 100,004'],
  ['lines', `Rate\n${`${ends},1900\n`.repeat(20_001)}`, 'at most 20,000 lines'],
]
const sayingOf = (text: string) =>
  read(`Origin,Destination,Equipment,${text}\n`, { basis: 'all_in' }).then(
    ({ rows }) => rows[0]?.errors[0]?.detail,
    (error: Error) => error.message,
  )
test.each(long)('a file with 20,000 or more %s is refused', async (_, text, words) => {
  expect(await sayingOf(text)).toContain(words)
})
test.each(long)(
  'a file with 20,000 or more %s is refused in a moment',
  { tags: 'measure' },
  async (_, text) => {
    const begun = threadMs()
    await sayingOf(text)
    expect(threadMs() - begun).toBeLessThan(1_000)
  },
)

test('a line of two million characters is refused, and takes its turns', async () => {
  for (const line of [';'.repeat(1_900_000), `"${'a'.repeat(1_900_000)}`]) {
    expect(await refusal(`Origin,Destination,Equipment,Rate\n${line}\n`)).toContain(
      'Line 2 must have at most 512,000 characters.',
    )
  }
})

test('a long name of a column is shortened in answers and errors', async () => {
  const name = 'n'.repeat(200_000)
  const { columns } = await read(`Origin,Destination,Equipment,Rate,${name}\nDallas TX,Reno NV,V,2000,x\n`, {
    basis: 'all_in',
  })
  expect(columns.at(-1)?.name).toBe(`${'n'.repeat(60)}…`)
  expect(await refusal(`Origin,Destination,${name}\nDallas TX,Reno NV,x\n`)).toContain(
    `it is "Origin", "Destination", "${'n'.repeat(60)}…".`,
  )
})

test.each([
  ['origin', ['origin', 'origin_city']],
  ['origin_state', ['origin_state']],
  ['origin_zip', ['origin_zip']],
  ['destination', ['destination', 'destination_city']],
  ['destination_state', ['destination_state']],
  ['destination_zip', ['destination_zip']],
  ['equipment', ['equipment']],
  ['miles', ['miles']],
] as const)('%s has each name that it has in files of quotes', (field, ofQuotes) => {
  const names = ofQuotes.flatMap((one) => [one, ...importFields[one].aliases])
  expect(names.filter((name) => marketMeaning(name)?.field !== field)).toEqual([])
})

test('a file with the names of a TMS is read', async () => {
  const file = await read(
    'Ship From City,Ship From State,Ship To,EQP,Loaded Miles,Market Rate ($/mi)\nDallas,TX,"Atlanta, GA",V,800,2.50\n',
    { basis: 'all_in' },
  )
  expect(file.rows).toMatchObject([
    { errors: [], item: { origin: 'Dallas, TX', destination: 'Atlanta, GA', mid: 2000 } },
  ])
})

test('names of columns and cells', () => {
  expect(marketMeaning('Flat Rate')).toMatchObject({ field: 'mid', equipment: null })
  expect(marketMeaning('Spot Your Own Avg Linehaul Rate')).toBeNull()
  expect(marketMeaning('Rate in cents')).toBeNull()
  expect(marketMeaning('start_buy_rate')).toBeNull()
  expect(marketMeaning('Van % change')).toBeNull()
  expect(marketMeaning('Van %')).toBeNull()
  expect(marketMeaning('DAT Spot Rate Per Mile')).toMatchObject({
    field: 'mid',
    unit: 'per mile',
    market: 'spot',
  })
  expect(zipAreaOf('752xx')).toBe('752')
  expect(zipAreaOf('75201')).toBeNull()
  const day = (text: string) => {
    const cell = readPublished(text, now, utcDates)
    return 'value' in cell ? new Date(cell.value).toISOString().slice(0, 10) : cell.wrong
  }
  expect(['22-Nov-26', 'Nov 2, 2026', 'Week ending 11/21/2026', '2026-02', 'Sep-25'].map(day)).toEqual([
    '2026-11-22',
    '2026-11-02',
    '2026-11-21',
    '2026-02-28',
    '2025-09-30',
  ])
  const today = new Date(now).toISOString().slice(0, 10)
  const ahead = (days: number) => new Date(now + days * 86_400_000).toISOString().slice(0, 10)
  expect(day(`${ahead(-1)} to ${ahead(5)}`)).toBe(today)
  expect(day(`${ahead(1)} to ${ahead(7)}`)).toBe(ahead(7))
  expect(day('31-Feb-26')).toContain('a date such as')
})

describe('the truck rates of the USDA', () => {
  test('are read by week; a report with low and high only is refused, because its rate is not stated', async () => {
    const header =
      'Date,Week,Month,Quarter,Year,Region,Origin,Destination,Distance,Commodity,Week Low,Week High,Midpoint,Rate Per Mile,Availability'
    const of = { equipment: 'R', basis: 'all_in', source: 'USDA' }
    const row =
      '11/17/2026,47,11,4,2026,California,"Fresno, CA","Boston, MA",3000,CITRUS,7000,7600,7250,2.42,3'
    expect(await items(`${header}\n${row}`, of)).toEqual([
      {
        ...of,
        as_of: '2026-11-17T00:00:00.000Z',
        origin: 'Fresno, CA',
        destination: 'Boston, MA',
        low: 7000,
        mid: 7250,
        high: 7600,
      },
    ])
    expect(
      await refusal('report_date,origin,destination,rate_low,rate_high\n"November 17,2026",A,B,1,2', of),
    ).toContain('the rate (which is not always the middle of low and high)')
    expect(readPublished('November 17,2026', now, utcDates)).toEqual({ value: Date.UTC(2026, 10, 17) })
  })
})
