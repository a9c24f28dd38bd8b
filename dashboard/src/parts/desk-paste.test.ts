import { expect, test } from 'vitest'
import { readPasted } from './desk-paste.ts'

const lanes = (text: string) =>
  readPasted(text).rows.map(({ lane: { origin, destination, equipment, rate, cost }, errors }) =>
    [origin, destination, equipment, rate, cost, ...errors].join(' | '),
  )
const dallasToAtlanta = 'Dallas, TX | Atlanta, GA | V | '

test('an amount that commas divide stays one amount, and never becomes a rate of two dollars', () => {
  expect(lanes('Dallas, TX, Atlanta, GA, V, $2,150')).toEqual([`${dallasToAtlanta}$2,150 | `])
  expect(lanes('Dallas, TX, Atlanta, GA, V, 2,150.50, 1,800')).toEqual([`${dallasToAtlanta}2,150.50 | 1,800`])
  expect(lanes('Dallas, TX, Atlanta, GA, V, 950, 800')).toEqual([`${dallasToAtlanta}950 | 800`])
})

test.each([
  ['Pick up\tDrop\tTrailer Type\tQuoted Rate ($)', 'Dallas, TX\tAtlanta, GA\tR\t2150'],
  ['FROM\tTO\tMode\tAll-in', 'Dallas TX\tAtlanta GA\tR\t2150 USD'],
  ['O\tD\tEq\tAmount', 'Dallas, TX\tAtlanta, GA\tR\t2150'],
  ['Origin City\tOrigin State\tDest City\tDest State\tEquip\tLinehaul', 'Dallas\tTX\tAtlanta\tGA\tR\t2150'],
  ['Origin,State,Destination,State,Equipment,Rate', 'Dallas,TX,Atlanta,GA,R,2150'],
  ['Origin;Destination;Equipment;Rate', 'Dallas, TX;Atlanta, GA;R;2150'],
])('columns are known by the names that people give them: %s', (header, row) => {
  const { unread } = readPasted(`${header}\n${row}`)
  expect(unread).toEqual([])
  expect(lanes(`${header}\n${row}`)).toEqual(['Dallas, TX | Atlanta, GA | R | 2150 | '])
})

test('a column that is none of the desk is named, so that nobody believes it was read', () => {
  const { unread } = readPasted('Origin\tDestination\tTemp\tRate\nDallas, TX\tAtlanta, GA\t34F\t2150')
  expect(unread).toEqual(['Temp'])
})

test("an accountant's dash is no amount, and no error", () => {
  expect(lanes('Dallas, TX\tAtlanta, GA\tV\t $2,150.00 \t $-   ')).toEqual([`${dallasToAtlanta}$2,150.00 | `])
})
