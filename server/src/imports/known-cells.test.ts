import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readPlace } from '#engine/place.ts'
import { locate } from '#geography/locate.ts'
import { readDay, readOutcome, readText } from '../csv/index.ts'
import { readColumns } from './columns.ts'
import { knownCells } from './known-cells.ts'
import { readRow } from './rows.ts'

const now = Date.parse('2026-06-01T00:00:00Z')

/** Valid and invalid cells in several spellings. */
const cells = {
  origin: [
    'Dallas, TX',
    'dallas , texas',
    'St. Louis, MO',
    'Nowhere, TX',
    'Monterrey, NL',
    'Dallas',
    '12, TX',
    '',
  ],
  origin_city: ['Dallas', 'Saint Louis', 'Dallas, TX', '4711', '', '?'],
  origin_state: ['TX', 'Texas', 'MO', 'XX', ''],
  destination: ['Atlanta, GA', 'ATLANTA,GA', 'Toronto, ON', 'Atlanta GA', 'a'.repeat(300)],
  equipment: ['V', 'Dry Van', 'reefer', 'no such thing', ''],
  quoted_rate: ['2150', '$2,150.00', '0', ''],
  miles: ['780', '1', '0', ''],
  customer_name: ['Acme', 'acme', 'A\u0007', '=1+1', 'x'.repeat(150), 'x'.repeat(250), ''],
  outcome: ['won', 'Lost - Price', 'cancelled', 'purple', ''],
  pickup_date: ['2026-03-01', '3/1/2026', '2026-03-01 14:30', '2026-02-30', ''],
  quoted_at: ['2026-03-01T10:00:00Z', '2030-01-01', ''],
}

function fileOf(names: readonly (keyof typeof cells)[]) {
  const read = readColumns(names)
  if ('problems' in read) throw new Error(read.problems.map(({ detail }) => detail).join('\n'))
  return {
    columns: read.columns,
    row: fc.tuple(...names.map((name) => fc.constantFrom(...cells[name]))),
  }
}

describe('rows read with a cache', () => {
  const common = ['destination', 'equipment', 'quoted_rate', 'miles', 'customer_name', 'outcome'] as const
  it.each([
    ['a place in one column', fileOf(['origin', ...common, 'pickup_date', 'quoted_at'])],
    ['city and state apart', fileOf(['origin_city', 'origin_state', ...common, 'pickup_date', 'quoted_at'])],
  ])('equal rows read without a cache: %s', (_, { columns, row }) => {
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        (rows, max) => {
          const known = knownCells(max)
          for (const one of rows) {
            expect(readRow(one, { columns, now, assumed: 'all_in', known })).toEqual(
              readRow(one, { columns, now, assumed: 'all_in', known: knownCells() }),
            )
          }
        },
      ),
      { numRuns: 50 },
    )
  })
})

describe('known cells', () => {
  it('has separate entries for each reader', () => {
    const known = knownCells()
    for (let round = 0; round < 2; round++) {
      expect(known.read(readText, '2026-03-01')).toEqual(readText('2026-03-01'))
      expect(known.read(readDay, '2026-03-01')).toEqual(readDay('2026-03-01'))
      expect(known.read(readOutcome, '2026-03-01')).toEqual(readOutcome('2026-03-01'))
    }
  })

  it('reads a text once, a long text each time, and stays within its limit', () => {
    const known = knownCells(3)
    const asked: string[] = []
    const reader = (text: string) => {
      asked.push(text)
      return { value: text }
    }
    const long = 'x'.repeat(101)
    for (const text of ['a', 'a', 'b', 'c', 'a', long, long, 'd', 'a']) known.read(reader, text)
    expect(asked).toEqual(['a', 'b', 'c', long, long, 'd', 'a'])
  })

  it('finds every place that the geography has, also after eviction', () => {
    const known = knownCells(2)
    const places = ['Dallas, TX', 'Ft. Worth, TX', 'St. Louis, MO', 'Nowhere, TX', 'Dallas, Texas'].flatMap(
      (text) => readPlace(text) ?? [],
    )
    for (const place of [...places, ...places]) expect(known.locate(place)).toEqual(locate(place))
  })
})
