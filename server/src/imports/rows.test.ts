import { describe, expect, it } from 'vitest'
import { threadMs } from '#testing/thread-time.ts'
import { readDay, readMiles, readMoment, readMoney, readOutcome, readReason } from '../csv/index.ts'
import { readColumns } from './columns.ts'
import { knownCells } from './known-cells.ts'
import { readRow } from './rows.ts'

const now = Date.parse('2026-06-01T00:00:00Z')

/** Reads one row given by column name, in a file with exactly these columns. */
function row(cells: Record<string, string>) {
  const read = readColumns(Object.keys(cells))
  if ('problems' in read) throw new Error(read.problems.map(({ detail }) => detail).join('\n'))
  return readRow(Object.values(cells), { columns: read.columns, now, assumed: 'all_in', known: knownCells() })
}

const good = {
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'Van',
  quoted_rate: '2150',
  quoted_at: '2026-03-01',
}

function quoteOf(cells: Record<string, string>) {
  const read = row(cells)
  if (read.kind !== 'quote') throw new Error(JSON.stringify(read))
  return read.quote
}

function errorsOf(cells: Record<string, string>) {
  const read = row(cells)
  return read.kind === 'refused' ? read.errors : []
}

const spaces = `1${' '.repeat(60_000)}x`
const tooLong = { quoted_rate: spaces, miles: spaces, pickup_date: spaces }

it('quickly rejects a cell that is too long for any value', { tags: 'measure' }, () => {
  const begun = threadMs()
  errorsOf({ ...good, ...tooLong })
  expect(threadMs() - begun).toBeLessThan(500)
})

it('rejects a cell that is too long for any value', () => {
  expect(errorsOf({ ...good, ...tooLong }).map(({ detail }) => detail.slice(0, 52))).toEqual([
    'quoted_rate must be at most 1,000 characters long; i',
    'miles must be at most 1,000 characters long; it is "',
    'pickup_date must be at most 1,000 characters long; i',
  ])
})

describe('amounts', () => {
  it.each([
    ['1850', 185000],
    ['$1,850.00', 185000],
    ['USD 1850.5', 185050],
    ['1,234,567.89', 123456789],
    ['.5', 50],
    ['540.760000', 54076],
    ['9999999.99', 999999999],
    ['1.850,00', 185000],
    ['1850,00', 185000],
    ['1 850,00 $', 185000],
  ])('reads %s', (text, cents) => expect(readMoney(text)).toEqual({ value: cents }))

  it.each(['1.850', '1,85', '12.345', '1e3', 'n/a', '0', '-5', '(1,850)', '10000000', '=A1+B1'])(
    'refuses %s',
    (text) => expect(readMoney(text)).toHaveProperty('wrong'),
  )

  it.each(['CAD 1850', 'C$1,850'])('does not take %s for US dollars', (text) =>
    expect(readMoney(text)).toEqual({
      wrong: 'in US dollars, or without a currency beside a column Currency that says CAD',
    }),
  )

  it('reads miles with or without a unit, zero as unknown', () => {
    expect(readMiles('1,234.5 mi')).toEqual({ value: 1234.5 })
    expect(readMiles('0')).toEqual({ value: null })
    expect(readMiles('10001')).toHaveProperty('wrong')
    expect(readMiles('far')).toHaveProperty('wrong')
  })
})

describe('dates', () => {
  it.each([
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01 14:30:00', '2026-03-01T14:30:00.000Z'],
    ['2026-03-01T14:30:00-06:00', '2026-03-01T20:30:00.000Z'],
    ['3/1/2026', '2026-03-01T00:00:00.000Z'],
    ['03/01/26 2:30 PM', '2026-03-01T14:30:00.000Z'],
    ['3/1/2026 12:05 am', '2026-03-01T00:05:00.000Z'],
  ])('reads %s, as UTC without a zone', (text, iso) => {
    const cell = readMoment(text)
    expect('value' in cell && new Date(cell.value).toISOString()).toBe(iso)
  })

  it.each(['13/1/2026', '2026-02-30', '42738', 'yesterday', '3/1/2026 14:30 PM', '2026-03-01T25:00'])(
    'refuses %s',
    (text) => expect(readMoment(text)).toHaveProperty('wrong'),
  )

  it('reads a pickup day without its year as the one nearest to the quote, else to now', () => {
    const pickup = (quoted_at: string, pickup_date: string) =>
      quoteOf({ ...good, quoted_at, decided_at: '2026-05-20', pickup_date }).columns.pickup_date
    expect(pickup('2024-12-28', '1/3')).toBe('2025-01-03')
    expect(pickup('2024-12-28', 'Dec 30')).toBe('2024-12-30')
    expect(pickup('', '1/3')).toBe('2026-01-03')
  })

  it('reads the pickup day as written, whatever the zone of its time', () => {
    expect(readDay('2026-03-01T23:30:00-06:00')).toEqual({ value: '2026-03-01' })
  })
})

describe('outcomes', () => {
  it.each([
    ['WON', 'won', null],
    ['Booked', 'won', null],
    ['LOST', 'lost', null],
    ['Lost - Price', 'lost', 'price'],
    ['EXPIRED', 'expired', null],
    ['no response', 'lost', 'no_response'],
    ['Customer withdrew', 'lost', 'withdrawn'],
    ['SENT', 'pending', null],
  ])('reads %s', (text, outcome, reason) => expect(readOutcome(text)).toEqual({ value: { outcome, reason } }))

  it('rejects a cancelled load and an unknown word', () => {
    expect(readOutcome('Cancelled')).toHaveProperty('wrong')
    expect(readOutcome('purple')).toHaveProperty('wrong')
  })

  it('classifies free-text reasons, with "other" for the rest', () => {
    expect([readReason('Rate too high'), readReason('No trucks'), readReason('went elsewhere')]).toEqual([
      'price',
      'capacity',
      'other',
    ])
  })
})

describe('a past quote', () => {
  it('is pending without an outcome', () => {
    const { columns: quote, customerName, quotedAt } = quoteOf(good)
    expect(quote).toMatchObject({
      origin: 'Dallas, TX',
      origin_key: 'dallas|TX',
      destination_state: 'GA',
      equipment: 'V',
      equipment_code: 'V',
      quoted_rate_cents: 215000,
      outcome: 'pending',
      outcome_source: null,
      decided_at: null,
    })
    expect(customerName).toBe('Customer not given')
    expect(new Date(quotedAt).toISOString()).toBe('2026-03-01T00:00:00.000Z')
  })

  it('is won by import when a customer rate or truck cost is booked', () => {
    const { columns: quote } = quoteOf({ ...good, AR: '2,100', AP: '$1,800', 'Book Date': '3/2/2026' })
    expect(quote).toMatchObject({
      outcome: 'won',
      outcome_source: 'import',
      customer_rate_cents: 210000,
      truck_cost_cents: 180000,
      truck_cost_source: 'import',
      decided_at: new Date('2026-03-02T00:00:00Z'),
    })
  })

  it('defaults the quoted rate to the booked rate', () => {
    const { quoted_rate, ...rest } = good
    expect(quoteOf({ ...rest, book_price: '1999.99' }).columns).toMatchObject({
      quoted_rate_cents: 199999,
      customer_rate_cents: 199999,
    })
  })

  it('has no booking unless it was won: its rate is then the quoted rate, its cost the estimated cost', () => {
    const { quoted_rate, ...rest } = good
    expect(
      quoteOf({ ...rest, 'Sell Rate': '2000', 'Buy Rate': '1700', Status: 'LOST', Reason: 'price' }).columns,
    ).toMatchObject({
      quoted_rate_cents: 200000,
      estimated_cost_cents: 170000,
      customer_rate_cents: null,
      truck_cost_cents: null,
      outcome: 'lost',
      outcome_reason: 'price',
    })
  })

  it('takes a truck cost of zero as unknown, and refuses a rate of zero', () => {
    expect(quoteOf({ ...good, AR: '2100', AP: '0.0' }).columns.truck_cost_cents).toBe(null)
    expect(errorsOf({ ...good, AR: '0.0' })).toEqual([
      { column: 'AR', detail: 'AR must be greater than 0; it is "0.0".' },
    ])
  })

  it('has the stated miles if plausible, else computed ones', () => {
    expect(quoteOf({ ...good, miles: '799' }).columns.miles).toBe(799)
    expect(quoteOf({ ...good, miles: '140' }).columns.miles).toBeGreaterThan(700)
    expect(quoteOf({ ...good, origin: 'Nowhere Yards, TX', miles: '140' }).columns.miles).toBe(140)
  })

  it('accepts an unknown city, and a site number with a state', () => {
    expect(quoteOf({ ...good, origin: 'Nowhere Yards, TX' }).columns.origin_key).toBe('nowhere yards|TX')
    const { origin, ...rest } = good
    expect(quoteOf({ origin_city: '1', origin_state: 'LA', ...rest }).columns).toMatchObject({
      origin: '1, LA',
      origin_state: 'LA',
    })
  })

  it('names every invalid cell of a row by its column', () => {
    const errors = errorsOf({
      'Ship From': 'Dallas',
      destination: 'Atlanta, ZZ',
      Equip: 'curtain side',
      'Quote Price': '1.850',
      'Quote Date': '13/13/2026',
    })
    expect(errors.map(({ column }) => column)).toEqual([
      'Ship From',
      'destination',
      'Equip',
      'Quote Price',
      'Quote Date',
    ])
    expect(errors[3]?.detail).toBe(
      'Quote Price must be an amount of dollars such as 1850.00 or $1,850.00, with at most two decimals; it is "1.850".',
    )
  })

  it('names the state column when the state is wrong, and the city column when the city is', () => {
    const { origin, ...rest } = good
    expect(errorsOf({ origin_city: 'Dallas', origin_state: 'ZZ', ...rest })[0]?.column).toBe('origin_state')
    expect(errorsOf({ origin_city: '???', origin_state: 'TX', ...rest })[0]?.column).toBe('origin_city')
    expect(errorsOf({ origin_city: 'Dallas, TX', origin_state: 'OK', ...rest })[0]?.column).toBe(
      'origin_state',
    )
  })

  it('rejects empty required cells', () => {
    expect(errorsOf({ ...good, origin: ' ', equipment: '' }).map(({ detail }) => detail)).toEqual([
      'origin is empty.',
      'equipment is empty.',
    ])
    expect(errorsOf({ ...good, quoted_rate: '' })[0]?.detail).toBe('quoted_rate is empty.')
    expect(errorsOf({ ...good, quoted_at: '' })[0]?.detail).toBe('quoted_at is empty.')
  })

  it.each(['quoted_rate', 'customer_rate', 'truck_cost', 'estimated_cost', 'market_rate'])(
    'refuses %s per mile or in cents, unless the load is short',
    (field) => {
      const won = { ...good, customer_rate: '2150', truck_cost: '1800' }
      const near = { destination: 'Fort Worth, TX' }
      for (const [amount, detail] of [
        ['2.35', 'looks like a rate per mile'],
        ['215000', 'looks like an amount in cents'],
      ] as const) {
        expect(errorsOf({ ...won, [field]: amount })).toEqual([
          { column: field, detail: expect.stringContaining(detail) as string },
        ])
        expect(errorsOf({ ...won, ...near, [field]: amount })).toEqual([])
      }
      expect(errorsOf({ ...won, [field]: '15' })).toEqual([])
    },
  )

  it('rejects a quote with a future date', () => {
    expect(errorsOf({ ...good, quoted_at: '2026-07-01' })[0]?.detail).toContain('must be a time in the past')
  })

  it('refuses formulas and hidden characters, and unwraps ="0012"', () => {
    expect(errorsOf({ ...good, customer_name: '=HYPERLINK("http://x")' })[0]?.detail).toContain(
      'not a formula',
    )
    expect(errorsOf({ ...good, quoted_rate: '=1+1' })[0]?.detail).toContain('not a formula')
    expect(errorsOf({ ...good, customer_name: 'A\u202eB' })[0]?.detail).toContain(
      'without control characters',
    )
    expect(quoteOf({ ...good, 'Load ID': '="0012"' }).reference).toBe('0012')
    expect(quoteOf({ ...good, 'Load ID': '\u200eL-12\u200b ' }).reference).toBe('L-12')
    expect(quoteOf({ ...good, origin: '\ufeffDallas, TX\u200b' }).columns.origin).toBe('Dallas, TX')
    expect(quoteOf({ ...good, 'Load ID': '100234.0' }).reference).toBe('100234')
    expect(quoteOf({ ...good, 'Load ID': 'A-1.0' }).reference).toBe('A-1.0')
  })

  it('refuses a row with more values than columns', () => {
    const read = readColumns(Object.keys(good))
    if ('problems' in read) throw new Error('header')
    const cells = [...Object.values(good), '', 'surplus']
    expect(
      readRow(cells, { columns: read.columns, now, assumed: 'all_in', known: knownCells() }),
    ).toMatchObject({
      kind: 'refused',
      errors: [{ detail: expect.stringContaining('7 values for 5 columns') }],
    })
  })
})

describe('a row with a lane_ref', () => {
  it('is the booking of that quote', () => {
    expect(row({ lane_ref: '48211093754-1-1', AR: '2150', Carrier: 'Blue Mesa', MC: '481920' })).toEqual({
      kind: 'booking',
      booking: {
        laneRef: '48211093754-1-1',
        reported: {
          quote: {},
          booking: { customerRateCents: 215000, carrierName: 'Blue Mesa', carrierNotes: '481920' },
          outcome: 'won',
          reason: null,
          decidedAt: null,
        },
        said: expect.stringContaining('Blue Mesa'),
      },
    })
  })

  it('may have only a carrier, which is no outcome; a row that says lost has no booking', () => {
    const reportedOf = (cells: Record<string, string>) => {
      const read = row({ lane_ref: '48211093754-1-1', ...cells })
      return read.kind === 'booking' ? read.booking.reported : read
    }
    expect(reportedOf({ Carrier: 'Blue Mesa', MC: '481920' })).toMatchObject({
      booking: { carrierName: 'Blue Mesa', carrierNotes: '481920' },
      outcome: null,
    })
    expect(reportedOf({ Carrier: 'Blue Mesa', Status: 'Lost' })).toMatchObject({
      booking: {},
      outcome: 'lost',
    })
  })

  it('must have a valid lane_ref', () => {
    expect(errorsOf({ lane_ref: 'load 7', AR: '2150' })[0]?.detail).toContain('48211093754-1-1')
  })
})

describe('an import is no stricter than the quote desk', () => {
  it.each(['$2,150.00', '2150 USD', '2,150 dollars'])('reads %s as an amount', (rate) => {
    const { columns: quote } = quoteOf({ ...good, quoted_rate: rate })
    expect(quote.quoted_rate_cents).toBe(215_000)
  })

  it.each(['-', '$ -', '–', 'n/a', 'TBD'])('reads %s as no amount', (cost) => {
    const { columns: quote } = quoteOf({ ...good, estimated_cost: cost })
    expect(quote.estimated_cost_cents ?? null).toBeNull()
  })
})

describe('a cancelled load', () => {
  const read = (said: string) => {
    const columns = readColumns([...Object.keys(good), 'load_was_cancelled'], 'cancelled=load_was_cancelled')
    if ('problems' in columns) throw new Error('The header is wrong.')
    return readRow([...Object.values(good), said], {
      columns: columns.columns,
      now,
      assumed: 'all_in',
      known: knownCells(),
    })
  }

  it.each(['True', 'yes', '1', 'X'])('is left out, with the reason: %s', (said) => {
    expect(read(said)).toEqual({
      kind: 'refused',
      errors: [
        {
          column: 'load_was_cancelled',
          detail: 'load_was_cancelled says that the load was cancelled, so the row is left out.',
        },
      ],
    })
  })

  it.each(['False', 'no', '0', ''])('is not meant by the value %j', (said) => {
    expect(read(said).kind).toBe('quote')
  })

  it('column with other values is an error', () => {
    expect(read('3/1/2026')).toMatchObject({ kind: 'refused' })
  })
})

describe('cells that say that there is no value', () => {
  const words = ['N/A', 'TBD', '-', '--', 'None', 'null', 'undefined', 'unknown', '#N/A', '#REF!', '#ERROR']
  const optional = {
    customer_name: 'N',
    carrier_name: 'N',
    carrier_mc: 'N',
    rep_name: 'N',
    miles: 'N',
    pickup_date: 'N',
    decided_at: 'N',
    booked_at: 'N',
    truck_cost: 'N',
    customer_rate: 'N',
    estimated_cost: 'N',
    market_rate: 'N',
    quoted_fuel: 'N',
    quoted_charges: 'N',
    reference: 'N',
    lane_ref: 'N',
    origin_zip: 'N',
  }
  const split = { ...good, origin_city: 'Dallas', origin_state: 'TX' }
  const values = ({ columns, reported, reference, customerName }: ReturnType<typeof quoteOf>) => ({
    columns,
    reported,
    reference,
    customerName,
  })
  const empty = values(
    quoteOf({ ...split, ...Object.fromEntries(Object.keys(optional).map((key) => [key, ''])) }),
  )

  it.each(words)('%s is an empty cell in every optional column', (word) => {
    const cells = Object.fromEntries(Object.keys(optional).map((key) => [key, word]))
    expect(values(quoteOf({ ...split, ...cells }))).toEqual(empty)
  })

  it.each(words)(
    '%s is an error in every needed column, and in one whose empty cells mean a default',
    (word) => {
      const named = (field: string, cells: Record<string, string> = { ...good, [field]: word }) =>
        errorsOf(cells).filter(({ column, detail }) => column === field && detail.includes(`"${word}"`))
          .length
      const needed = ['origin', 'destination', 'equipment', 'quoted_rate', 'quoted_at']
      expect(needed.map((field) => named(field))).toEqual([1, 1, 1, 1, 1])
      const city = { ...good, origin: '', origin_city: word, origin_state: 'TX' }
      expect(named('origin_city', city)).toBe(1)
      const defaults = ['quoted_currency', 'quoted_basis', 'rate_type']
      expect(defaults.map((field) => named(field))).toEqual([1, 1, 1])
    },
  )

  it.each(['0', '00', 'x', 'spot', 'various', 'multiple', 'see notes', '.'])('%s is no id', (word) => {
    expect(quoteOf({ ...good, reference: word }).reference).toBeNull()
  })

  it('a customer can be named Spot, zero miles are not known, and TBD is no city', () => {
    const read = quoteOf({ ...good, customer_name: 'Spot', miles: '0' })
    expect([read.customerName, read.columns.miles]).toEqual(['Spot', quoteOf(good).columns.miles])
    expect(errorsOf({ ...good, origin: 'TBD, TX' }).map(({ column }) => column)).toEqual(['origin'])
  })

  it.each(['1.23457E+11', '1E+11', '1,23457E+11'])('the id %s is refused, with the remedy', (id) => {
    expect(errorsOf({ ...good, reference: id }).map(({ detail }) => detail)).toEqual([
      `reference must be the whole id, not a number in scientific notation, which lacks digits; in the original file, format the column as text and save again; it is "${id}".`,
    ])
  })

  it('the digest of a row is that of earlier versions, which read N/A as a name or an id', () => {
    const named = { ...good, customer_name: 'N/A', carrier_name: 'TBD', carrier_mc: '0' }
    expect(quoteOf(named).said).not.toBe(quoteOf(good).said)
    expect(quoteOf(named).said).toContain('"N/A","TBD","0"')
    const { formerly } = quoteOf({ ...named, reference: 'N/A' })
    expect(formerly).toEqual({ reference: 'N/A', said: quoteOf({ ...named, reference: 'TMS-1' }).said })
    expect(quoteOf({ ...good, reference: '' }).formerly).toBeNull()
  })
})
