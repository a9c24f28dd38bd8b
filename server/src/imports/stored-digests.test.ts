import { expect, it } from 'vitest'
import { readColumns } from './columns.ts'
import { knownCells } from './known-cells.ts'
import { bookingSaid, rowIdentities } from './row-fingerprint.ts'
import { readRow } from './rows.ts'

/*
 * Digests of rows are stored with their quotes. If the order or the presence of a field changes, every row of a file that was
 * imported before counts as new or changed. These digests were computed before the fields of a quote had a table.
 */

const now = Date.parse('2026-06-01T00:00:00Z')

function read(cells: Readonly<Record<string, string>>) {
  const columns = readColumns(Object.keys(cells))
  if ('problems' in columns) throw new Error(columns.problems.map(({ detail }) => detail).join('\n'))
  const context = { columns: columns.columns, now, assumed: 'all_in', known: knownCells() } as const
  return readRow(Object.values(cells), context)
}

const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'Van' }
const quote = { ...lane, quoted_rate: '2150', quoted_at: '2026-03-01T10:00:00Z' }
const everyQuoteField = {
  ...quote,
  estimated_cost: '1800.50',
  market_rate: '2010',
  miles: '790',
  pickup_date: '2026-03-04',
  customer_name: 'Acme Foods',
  quoted_basis: 'all_in',
  quoted_fuel: '210.25',
  quoted_charges: 'detention 75; lumper 120',
  quoted_currency: 'CAD',
  outcome: 'lost',
  outcome_reason: 'price',
  decided_at: '2026-03-02T08:00:00Z',
}
const everyBookingField = {
  ...quote,
  outcome: 'won',
  customer_name: 'Acme Foods',
  customer_rate: '2200',
  truck_cost: '1900',
  carrier_name: 'Blue Mesa Trucking',
  carrier_mc: 'MC-481920',
  booked_at: '2026-03-02T09:00:00Z',
  customer_basis: 'all_in',
  customer_fuel: '200',
  customer_charges: 'detention 50',
  customer_currency: 'USD',
  truck_basis: 'linehaul',
  truck_fuel: '150',
  truck_accessorials: '25',
  truck_currency: 'USD',
}

it.each<[string, Readonly<Record<string, string>>, string, string | null]>([
  ['a quote alone', quote, 'bRTJV78dBKCyspEIvFd4-w', null],
  ['every field of a quote', everyQuoteField, '-1wzsa0LHC7K9bgCdzu4bw', null],
  [
    'every field of a quote, with an id',
    { ...everyQuoteField, reference: 'TMS-1' },
    'fhFTgjIB3GNRYiMbZFn56A',
    '-1wzsa0LHC7K9bgCdzu4bw',
  ],
  ['every field of a booking', everyBookingField, '0i-wySphESVHqOTwaNTepg', null],
  [
    'every field of a booking, with an id',
    { ...everyBookingField, reference: 'TMS-2' },
    'EjT4edlPPCOSuSWLgeWEoA',
    '0i-wySphESVHqOTwaNTepg',
  ],
  [
    'amounts without a quoted rate',
    { ...lane, customer_rate: '2200', booked_at: '2026-03-02' },
    'VRmpuTnWylqGVZYiH9mUvA',
    null,
  ],
])('a row with %s has the digest that is stored for it', (_, cells, fingerprint, said) => {
  const row = read(cells)
  if (row.kind !== 'quote') throw new Error(JSON.stringify(row))
  const identity = rowIdentities()(row.quote, 2)
  if (!('fingerprint' in identity)) throw new Error('The first row of a file repeats no other.')
  expect([identity.fingerprint.toString('base64url', 0, 16), identity.said]).toEqual([fingerprint, said])
})

it('a row with a lane_ref has the digest that is stored for it', () => {
  const {
    origin: _,
    destination: __,
    equipment: ___,
    quoted_rate: ____,
    quoted_at: _____,
    ...end
  } = everyBookingField
  const row = read({ lane_ref: '48211093754-1-1', ...end })
  if (row.kind !== 'booking') throw new Error(JSON.stringify(row))
  expect(bookingSaid(row.booking)).toBe('wil1SLR-Vmc5t1Ae3RoYuw')
})
