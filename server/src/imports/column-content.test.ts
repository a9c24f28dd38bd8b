import { describe, expect, it } from 'vitest'
import { finished } from '#engine/steps.ts'
import { readColumns } from './columns.ts'
import { openImport } from './open-import.ts'
import { readPasted } from './pasted-quotes.ts'
import { FileIds, sharedIdNotes } from './shared-ids.ts'

const numbers = (count: number, of: (nth: number) => number | string) =>
  Array.from({ length: count }, (_, nth) => of(nth))

/** Opens a file whose rate column has this name and these cells. */
const opened = (name: string, cells: readonly (number | string)[], map?: string) => {
  const rows = cells.map((cell) => `"Dallas, TX","Atlanta, GA",V,2026-03-01,"${cell}"\n`)
  const text = `Origin,Destination,Equipment,Quote Date,${name}\n${rows.join('')}`
  return openImport([Buffer.from(text)], map)
}

it.each([
  ['ids that count up', 'Quote', numbers(5, (nth) => 4100 + nth)],
  ['ids that count down', 'Bid', numbers(60, (nth) => 4100 - nth)],
  ['ids with gaps', 'Sell Rate', numbers(10, (nth) => 4100 + nth * 2 + (nth % 2))],
  ['ids in a column whose name was guessed', 'Price', numbers(12, (nth) => 4100 + nth)],
])('%s are not read as rates, unless the map says so', async (_, name, cells) => {
  await expect(opened(name, cells)).rejects.toThrow(
    new RegExp(`^The column "${name}" would be .*its cells look like ids: ${cells.slice(0, 3).join(', ')}`),
  )
  const { doubts } = await opened(name, cells, 'quoted_rate=#5')
  expect(doubts).toMatchObject([{ code: 'content', column: name }])
})

it.each([
  ['rates', 'Quote', [1800, 2450, 1750, 2100, 1990, 1991]],
  ['equal rates', 'Quote', numbers(20, () => 2100)],
  ['rates in order', 'Quote', numbers(20, (nth) => 1800 + nth * 25)],
  ['a few rates that happen to count', 'Quote', [2100, 2101, 2102, 2103]],
  ['amounts with a dollar sign', 'Quote', numbers(20, (nth) => `$${2100 + nth}`)],
  ['a column with the name of its field', 'quoted_rate', numbers(20, (nth) => 2100 + nth)],
])('%s are not in doubt', async (_, name, cells) => {
  expect((await opened(name, cells)).doubts).toEqual([])
})

/** Opens a file with these amounts and fuel charges. */
const withFuel = (
  { rates, fuel }: { readonly rates: string; readonly fuel: string },
  cells: readonly (readonly [string, string])[],
  map?: string,
) => {
  const amounts = cells.map(([rate, charge]) =>
    rates
      .split(',')
      .map(() => rate)
      .concat(charge),
  )
  const rows = amounts.map((of) => `"Dallas, TX","Atlanta, GA",V,2026-03-01,"${of.join('","')}"\n`)
  const head = `Origin,Destination,Equipment,Quote Date,${rates},${fuel}\n`
  return openImport([Buffer.from(head + rows.join(''))], map)
}
const fuelColumns = [
  { rates: 'Linehaul', fuel: 'FSC', field: 'customer_fuel' },
  { rates: 'Quoted Rate', fuel: 'Quoted FSC', field: 'quoted_fuel' },
  { rates: 'Sell,Carrier Pay', fuel: 'Carrier Fuel', field: 'truck_fuel' },
]

describe.each(fuelColumns)('fuel charges in $fuel', (names) => {
  it.each([
    ['equal', [['1800', '18.5']]],
    [
      'various',
      [
        ['$1,800.00', '18.5'],
        ['1500', '19'],
        ['2,200', '19.25'],
        ['900', '0'],
        ['', '20'],
      ],
    ],
    [
      'with a short load',
      [
        ['1800', '22'],
        ['1500', '22'],
        ['300', '22'],
      ],
    ],
  ] as const)('that look like percentages are asked about: %s', async (_, cells) => {
    await expect(withFuel(names, cells)).rejects.toThrow(
      `The column "${names.fuel}" would be ${names.field}, but its cells look like percentages: ${cells[0][1]}`,
    )
    const { doubts } = await withFuel(names, cells, `${names.field}=${names.fuel}`)
    expect(doubts).toMatchObject([{ code: 'content', column: names.fuel }])
  })

  it.each([
    [
      'dollars',
      [
        ['1800', '350'],
        ['1500', '300'],
      ],
    ],
    [
      'a small one among dollars',
      [
        ['1800', '350'],
        ['1500', '12'],
      ],
    ],
    [
      'of short loads',
      [
        ['250', '22'],
        ['300', '35'],
      ],
    ],
    [
      'none',
      [
        ['1800', '0'],
        ['1500', ''],
      ],
    ],
  ] as const)('are not in doubt: %s', async (_, cells) => {
    expect((await withFuel(names, cells)).doubts).toEqual([])
  })
})

it.each([
  [['1', '2', '3'], undefined, 'Status: 1 is read as won, but the column has other numbers, such as 2, 3.'],
  [['0', '1', '10', ''], undefined, 'Status: 1 is read as won and 0 is read as lost, but'],
  [['1', '0', '1'], undefined, null],
  [['2', '3'], undefined, null],
  [['Won', '2'], undefined, null],
  [['1', '2'], 'outcome:1=pending', null],
])('outcomes %j with the map %s may be codes: %s', async (cells, map, detail) => {
  const rows = cells.map((cell) => `"Dallas, TX","Atlanta, GA",V,2026-03-01,1850,${cell}\n`)
  const head = 'Origin,Destination,Equipment,Quote Date,Quoted Rate,Status\n'
  const { doubts } = await openImport([Buffer.from(head + rows.join(''))], map)
  expect(doubts).toEqual(
    detail === null
      ? []
      : [{ code: 'words', column: 'Status', detail: expect.stringContaining(detail) as string, choices: [] }],
  )
})

describe('a column that may say what became of the quotes, and is not read', () => {
  const notesOf = async (name: string, cells: readonly string[], map?: string, more = '') => {
    const rows = cells.map(
      (cell) => `"Dallas, TX","Atlanta, GA",V,2026-03-01,1850,${cell}${more && ',Won'}\n`,
    )
    const head = `Origin,Destination,Equipment,Quote Date,Quoted Rate,${name}${more && ',Status'}\n`
    return (await openImport([Buffer.from(head + rows.join(''))], map)).doubts
  }

  it.each([
    ['Cancelled', 'cancelled', ['', 'Y']],
    ['Load was canceled', 'cancelled', ['N']],
    ['Void?', 'cancelled', ['x']],
    ['Deal Stage', 'outcome', ['Closed Won', '']],
  ])('%s is named, unless the map says whether it is %s', async (name, field, cells) => {
    expect(await notesOf(name, cells)).toMatchObject([
      { code: 'columns', column: name, choices: [{ map: `${field}=#6` }] },
    ])
    for (const map of [`${field}=`, `${field}=#6`]) expect(await notesOf(name, cells, map)).toEqual([])
  })

  it.each([
    ['without cells', 'Cancelled', ['', 'N/A'], ''],
    ['beside the outcome', 'Deal Stage', ['Closed Won'], 'Status'],
    ['with a day', 'Cancelled On', ['2026-03-02'], ''],
  ])('is not named %s', async (_, name, cells, more) => {
    expect(await notesOf(name, cells, undefined, more)).toEqual([])
  })
})

it('pasted fuel charges that look like percentages are named', () => {
  const rows = 'Origin\tDest\tEquip\tRate\tFSC\nDallas, TX\tAtlanta, GA\tVan\t1800\t18.5'
  const dates = { order: 'month_first', timeZone: 'UTC', chosen: null } as const
  const reading = { now: Date.UTC(2026, 10, 24), assumed: 'all_in', dates } as const
  expect(finished(readPasted(rows, reading)).understood).toMatchObject([{ code: 'content' }])
  expect(finished(readPasted(rows.replace('18.5', '350'), reading)).understood).toEqual([])
})

it.each([
  ['Quote #', 'Rate', 'reference'],
  ['Quote#', 'Sell', 'reference'],
  ['Load #', 'Sell', 'reference'],
])('%s beside %s is an id', (id, rate, field) => {
  const read = readColumns(['Origin', 'Destination', 'Equipment', 'Date', id, rate], 'quoted_rate=#6')
  expect('columns' in read && read.columns.names[field as 'reference']).toBe(id)
})

it('a number of a bid is no rate', () => {
  const read = readColumns(['Origin', 'Destination', 'Equipment', 'Quote Date', 'Bid #'])
  expect('problems' in read && read.problems[0]?.detail).toContain('No column has the rate')
})

describe('a column of currencies with an unknown name', () => {
  const openedWith = (name: string, cells: readonly string[], map?: string, more = '') => {
    const rows = cells.map((cell) => `"Dallas, TX","Atlanta, GA",V,2026-03-01,1850,${cell}${more}\n`)
    const head = `Origin,Destination,Equipment,Quote Date,Quoted Rate,${name}${more === '' ? '' : ',Currency'}\n`
    return openImport([Buffer.from(head + rows.join(''))], map)
  }
  const cells = ['USD', '', 'CAD', 'N/A', 'US dollars']

  it('is asked about, unless the map or a known column states the currency', async () => {
    await expect(openedWith('Denom', cells)).rejects.toThrow(
      'The column "Denom" has currencies, and is not read. If they are those of the amounts, use the map quoted_currency=Denom; if not, state the currency of the amounts, as in currency=USD.',
    )
    await expect(openedWith('', ['MXN'])).rejects.toThrow('The column "#6" has currencies')
    const { columns } = await openedWith('Denom', cells, 'quoted_currency=Denom')
    expect(columns.names.quoted_currency).toBe('Denom')
    expect((await openedWith('Denom', cells, 'currency=CAD')).columns.ignored).toEqual(['Denom'])
    expect((await openedWith('Base', cells, '', ',CAD')).columns.ignored).toEqual(['Base'])
  })

  it.each([
    ['Ccy', cells],
    ['Moneda', cells],
  ])('%s is a known name', async (name, values) => {
    expect((await openedWith(name, values)).columns.names.quoted_currency).toBe(name)
  })

  it.each([
    ['of airports', ['DFW', 'ATL']],
    ['of rare codes', ['ALL', 'TOP']],
    ['of signs', ['$', '$']],
    ['with other texts', ['USD', 'Acme Foods']],
    ['without values', ['', 'N/A']],
  ])('is not one %s', async (_, values) => {
    expect((await openedWith('Note', values)).columns.ignored).toEqual(['Note'])
  })
})

it('asks about a column of ids with one value in all rows, and about an id of too many rows', () => {
  const notesOf = (ids: readonly (string | null)[]) => {
    const file = new FileIds()
    for (const [nth, id] of ids.entries()) if (id !== null) file.add(id, nth + 2)
    return sharedIdNotes(file.shared(100, 'Contract'), 0, 'Contract', '')
  }
  const asked = [{ column: 'Contract', choices: [{ map: 'reference=' }] }]
  expect(notesOf(['C-1', 'C-1', null, 'C-1', 'C-1', 'C-1'])).toMatchObject(asked)
  expect(notesOf(['C-2', ...numbers(51, () => 'C-1').map(String)])).toMatchObject(asked)
  expect(notesOf(['C-2', ...numbers(50, () => 'C-1').map(String)])).toEqual([])
  expect(notesOf(['C-1', 'C-1', 'C-1', 'C-1', 'C-2'])).toEqual([])
  expect(notesOf(['C-1', 'C-1'])).toEqual([])
})

it('refuses a file in which too many rows wait for the last row of their id, unless they are near each other', () => {
  const opened = (idAt: (nth: number) => number) => {
    const file = new FileIds()
    for (let nth = 0; nth < 4_000; nth++) file.add(`L-${idAt(nth)}`, nth + 2)
    return () => file.shared(20_000, 'Load ID')
  }
  expect(opened((nth) => nth % 2_000)).toThrow(
    '2,000 rows repeat the Load ID of a row far above or below. Sort',
  )
  expect(opened((nth) => Math.floor(nth / 2))).not.toThrow()
})
