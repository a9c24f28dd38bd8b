import { describe, expect, test } from 'vitest'
import { type ImportFieldName, importFieldNames } from '../csv/index.ts'
import { readColumns } from './columns.ts'
import { knownCells } from './known-cells.ts'
import { constantFields } from './map-constants.ts'
import { readRow } from './rows.ts'

const now = Date.parse('2026-06-01T00:00:00Z')

/** A value of each field that can have one for all rows. */
const values: Readonly<Partial<Record<ImportFieldName, string>>> = {
  origin: 'Dallas, TX',
  origin_city: 'Dallas',
  origin_state: 'Texas',
  origin_zip: '75201',
  destination: 'ft worth tx',
  destination_city: 'Ft Worth',
  destination_state: 'TX',
  destination_zip: '76101',
  equipment: 'Van',
  customer_name: 'Acme, Inc',
  carrier_name: 'Fast "Freight"',
  carrier_mc: '123456',
  outcome: 'Won',
  outcome_reason: 'price',
  quoted_at: '2026-03-01 14:30',
  decided_at: '2026-03-02',
  booked_at: '2026-03-03T10:00:00-06:00',
  pickup_date: '2026-03-04',
  rate_type: 'Contracted',
  mode: 'LTL',
  rep_name: 'Dana',
}

function rowOf(header: readonly string[], cells: readonly string[], map?: string) {
  const read = readColumns(header, map)
  if ('problems' in read) throw new Error(read.problems.map(({ detail }) => detail).join('\n'))
  return readRow(cells, { columns: read.columns, now, assumed: 'all_in', known: knownCells() })
}

function refusal(map: string): string {
  const read = readColumns(['Origin', 'Destination', 'Quoted Rate'], map)
  return 'problems' in read ? read.problems.map(({ code, detail }) => `${code}: ${detail}`).join(' ') : ''
}

const quotedAs = (text: string) => `"${text.replaceAll('"', '""')}"`

describe('a value for all rows', () => {
  test('is possible for every field with a value above, and for no other', () => {
    expect([...constantFields].sort()).toEqual(Object.keys(values).sort())
  })

  // A row with all other columns; one column for a place, or three.
  const whole = ['origin', 'destination']
  const parts = whole.flatMap((end) => [`${end}_city`, `${end}_state`, `${end}_zip`])
  test.each([...constantFields])(
    '%s: the row is that of a file with such a cell, and so is its digest',
    (field) => {
      const places = parts.includes(field) ? whole : parts
      const all = { ...values, quoted_rate: '2150', customer_rate: '2200', outcome_reason: undefined }
      const given = Object.entries(all).filter(
        ([name, value]) => value !== undefined && !places.includes(name),
      )
      const cells = [...given.filter(([name]) => name !== field), [field, values[field] ?? '']] as [
        string,
        string,
      ][]
      const [names, texts] = [cells.map(([name]) => name), cells.map(([, text]) => text)]
      const inFile = rowOf(names, texts)
      const inMap = rowOf(
        names.slice(0, -1),
        texts.slice(0, -1),
        `${field}==${quotedAs(values[field] ?? '')}`,
      )
      expect(inFile.kind).toBe('quote')
      expect(inMap).toEqual(inFile)
    },
  )

  test.each([
    ['equipment==FTL', 'FTL is a mode'],
    ['equipment==', 'it must be a value, as in equipment==Van'],
    ['equipment==TBD', 'The map says equipment==TBD; it must be'],
    ['customer_name==N/A', 'it must be a value, not a word for none'],
    ['origin==Dallas', 'a city with its state'],
    ['origin_state==ZZ', 'a state of the US, Canada or Mexico'],
    ['origin_zip==00000', 'we know no city'],
    ['outcome==maybe', 'a known word for won'],
    ['quoted_at==3/1/2026', 'a day such as 2026-03-01'],
    ['quoted_at==2026-02-31', 'a date such as'],
    ['rate_type==both', 'spot or contract'],
    ['quoted_currency==CAD', 'currency=USD or currency=CAD'],
    ['truck_basis==linehaul', 'basis=linehaul or'],
    ['reference==7', 'each row has its own reference'],
    ['miles==500', 'each row has its own miles'],
    ['equipment==Van,equipment==Reefer', 'names equipment twice'],
    ['origin_city==Dallas', 'but origin is the whole place'],
    ['origin=="Dallas, TX",origin_state==TX', 'but origin is the whole place'],
  ])('%s is refused', (map, reason) => {
    expect(refusal(map)).toContain('map: ')
    expect(refusal(map)).toContain(reason)
  })

  test('takes precedence over the column that would be read, which is then listed as not read', () => {
    const read = readColumns(
      ['Origin', 'Origin State', 'Destination', 'Equipment', 'Quoted Rate'],
      'origin=="Dallas, TX",equipment==V',
    )
    expect('columns' in read && read.columns.ignored).toEqual(['Origin', 'Origin State', 'Equipment'])
  })

  test('a state completes the cities without one, and contradicts none that has its own', () => {
    const at = (origin: string, map = 'origin_state==TX,equipment==V') => {
      const read = rowOf(['Origin', 'Destination', 'Quoted Rate'], [origin, 'Atlanta, GA', '2000'], map)
      return read.kind === 'quote' ? read.quote.columns.origin : read.kind
    }
    expect(['Dallas', 'ft worth', 'Dallas, TX', 'Atlanta, GA', 'N/A', ''].map((city) => at(city))).toEqual([
      'Dallas, TX',
      'Fort Worth, TX',
      'Dallas, TX',
      'Atlanta, GA',
      'refused',
      'refused',
    ])
    expect(at('Dallas', 'equipment==V')).toBe('refused')
  })

  test('a column of states completes the cities of another column', () => {
    for (const header of [
      ['Origin', 'Origin State'],
      ['Pickup City', 'PU State'],
      ['From', 'From State'],
    ]) {
      const read = rowOf(
        [...header, 'Destination', 'Equipment', 'Quoted Rate'],
        ['Laredo', 'Texas', 'Atlanta, GA', 'V', '2000'],
      )
      expect(read.kind === 'quote' && read.quote.columns.origin).toBe('Laredo, TX')
    }
  })

  test('every field that takes none is of one row, or of the whole file', () => {
    for (const field of importFieldNames.filter((one) => !constantFields.has(one))) {
      expect(refusal(`${field}==1`)).toMatch(/each row has its own|for all rows, it must be/)
    }
  })
})
