import fc from 'fast-check'
import Papa from 'papaparse'
import { expect, test } from 'vitest'
import { openQuote, type Quote } from '#contract/quote.ts'
import { finished } from '#engine/steps.ts'
import { quoteCsvHead, quoteCsvLines } from './quote-csv.ts'

/** A property test: with some random values in each run, and with all in the long tests. */
const property = (name: string, check: (numRuns: number) => void) => {
  test(name, () => check(500))
  test(`${name}: many`, { tags: 'long' }, () => check(3_000))
}

const quote: Quote = {
  ...openQuote,
  lane_ref: '48211093754-1-1',
  lane_id: 1,
  quoted_rate: 2150,
  estimated_cost: 1800.5,
  miles: 856.9,
  pickup_date: null,
  expected_cost: null,
  expected_basis: null,
  quoted_by: { user_id: 1, name: 'Olive Quay' },
  created_at: '2026-10-01T08:00:00Z',
  updated_at: '2026-10-01T08:00:00Z',
}

/** A minimal RFC 4180 parser: cells between commas, lines that end in CRLF, and doubled quotes inside quotes. */
function readRfc4180(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const cell = /"((?:[^"]|"")*)"|([^",\r\n]*)/y
    cell.lastIndex = at
    const [all = '', quoted, plain = ''] = cell.exec(text) ?? []
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    at += all.length
    if (text[at] === ',') at += 1
    else if (text.startsWith('\r\n', at)) {
      rows.push(row)
      row = []
      at += 2
    } else throw new Error(`Not RFC 4180 at ${at}: ${JSON.stringify(text.slice(at, at + 20))}`)
  }
  return rows
}

const columnNames = readRfc4180(quoteCsvHead.slice(1))[0] ?? []

const sign = fc.constantFrom(
  ...'=+-@＝＋－＠﹦﹢﹣﹫⁼⁺₌₊⩵⩶﬩"\',;|\t\r\n\u0000 \u00A0\u200B\uFEFF\u2028',
  'Café',
  '1',
  '.',
  '-5',
  '\r\n',
)
const cellText = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.array(sign, { minLength: 1, maxLength: 12 }).map((parts) => parts.join('')),
)

/** Text that a spreadsheet may run as a formula, defined independently of the implementation. */
function startsFormula(cell: string): boolean {
  const begun = cell.normalize('NFKC').replace(/^[\s\p{C}]+/u, '')
  return '=+-@'.includes(begun.charAt(0)) && begun !== '' && !/^-\d+(\.\d+)?$/.test(cell)
}

const linesOf = (quotes: Parameters<typeof quoteCsvLines>[0]) =>
  finished(quoteCsvLines(quotes, { basis: 'all_in', rateType: 'spot' }))

/** The cells that a spreadsheet with another list separator makes of a cell, and the separators between them. */
const partsOf = (cell: string) => cell.split(/([;\t|])/)

property('any cell is read back unchanged, except for the apostrophe before a formula', (numRuns) => {
  fc.assert(
    fc.property(cellText, cellText, cellText, (customer, reference, carrier) => {
      const text = linesOf([
        { ...quote, customer_name: customer, reference, carrier_name: carrier },
        { ...quote, customer_name: carrier, reference: customer, carrier_name: reference },
      ])
      const rows = readRfc4180(text)
      expect(
        Papa.parse<string[]>(text, { delimiter: ',', newline: '\r\n', skipEmptyLines: true }).data,
      ).toEqual(rows)
      const cells = rows.map((row) => Object.fromEntries(row.map((cell, at) => [columnNames[at], cell])))
      expect(rows.map((row) => row.length)).toEqual([columnNames.length, columnNames.length])
      const back = [cells[0]?.Customer, cells[0]?.['Customer reference'], cells[0]?.Carrier]
      const sent = [customer, reference, carrier]
      for (const [at, original] of sent.entries()) {
        const cell = back[at] ?? ''
        const parts = partsOf(cell)
        expect(parts).toHaveLength(partsOf(original).length)
        for (const [place, part] of partsOf(original).entries()) {
          expect([part, `'${part}`]).toContain(parts[place])
        }
        expect([cell, ...parts].filter(startsFormula)).toEqual([])
      }
      expect([cells[1]?.['Customer reference'], cells[1]?.Carrier, cells[1]?.Customer]).toEqual(back)
    }),
    { numRuns },
  )
})

test.each([
  '=1+1',
  '+1',
  '-2+3',
  '@sum',
  '\t=1',
  '\r=1',
  '\n=1',
  ' =1',
  '\u00A0=1',
  '\uFEFF=1',
  '\u200B@sum',
  '＝1+1',
  '＠sum',
  '﹢\u00001',
  '\uE000⁼1',
  '-5\n=1',
])('%j gets an apostrophe, so that no spreadsheet runs it', (name) => {
  const [row = []] = readRfc4180(linesOf([{ ...quote, customer_name: name }]))
  expect(row[columnNames.indexOf('Customer')]?.replace("\t'=", '\t=')).toBe(`'${name}`)
})

test.each([';=1+1', 'Acme;=1+1', 'Acme\t@sum', 'Acme|-2+3'])(
  '%j gets an apostrophe before the formula that another list separator begins',
  (name) => {
    const [row = []] = readRfc4180(linesOf([{ ...quote, customer_name: name }]))
    expect(row[columnNames.indexOf('Customer')]).toBe(name.replace(/([;\t|])/, "$1'"))
  },
)

test.each(['-5', '-200.50', '5', "O'Hare; Chicago", 'a=b', "'quoted", 'say "yes", twice'])(
  '%j is not changed',
  (name) => {
    const [row = []] = readRfc4180(linesOf([{ ...quote, customer_name: name }]))
    expect(row[columnNames.indexOf('Customer')]).toBe(name)
  },
)
