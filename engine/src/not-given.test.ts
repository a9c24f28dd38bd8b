import { describe, expect, it } from 'vitest'
import { type GivenKind, isNotGiven, isScientific, isSheetError } from './not-given.ts'

const kinds: readonly GivenKind[] = ['id', 'name', 'city', 'zip', 'amount', 'miles', 'time', 'equipment']

describe('isNotGiven', () => {
  it.each(
    ['N/A', 'NA', 'n/a', 'n.a.', 'TBD', 'tba', ' TBD ', 'None', 'null', 'NULL', 'nil', 'undefined', 'unknown']
      .concat(['Pending', '-', '--', '—', '–', '.', '?', '(blank)', '<none>', '[null]', 'not available', ''])
      .concat(['#N/A', '#REF!', '#VALUE!', '#DIV/0!', '#NAME?', '#ERROR', '#ERROR!', '#####', 'Err:502']),
  )('%s is no value of any kind', (text) => {
    expect(kinds.filter((kind) => !isNotGiven(kind, text))).toEqual([])
  })

  it.each<[string, readonly GivenKind[]]>([
    ['Spot', ['id']],
    ['see notes', ['id', 'equipment']],
    ['various', ['id', 'city', 'equipment']],
    ['multiple', ['id', 'city', 'equipment']],
    ['x', ['id', 'equipment']],
    ['any', ['equipment']],
    ['all', ['equipment']],
    ['0', ['id', 'zip', 'time', 'equipment']],
    ['00', ['id', 'zip', 'time', 'equipment']],
    ['00000', ['id', 'zip', 'time', 'equipment']],
    ['0000-00-00', ['time']],
    ['1/0/1900', ['time']],
    ['00/00/0000 00:00:00', ['time']],
    ['1900-01-01', ['time']],
    ['1/1/0001 12:00:00 AM', ['time']],
    ['1753-01-01T00:00:00', ['time']],
    ['1899-12-30 00:00:00.000', ['time']],
    ['1970-01-01T00:00:00Z', ['time']],
    ['01/01/1970', ['time']],
    ['12/31/1969 6:00 PM', ['time']],
    ['1970-01-02', []],
    ['1/1/2026', []],
    ['$ -', ['amount']],
    ['NaN', ['id', 'city', 'zip', 'amount', 'miles', 'time', 'equipment']],
    ['TBD-1', []],
    ['N/A Logistics', []],
    ['000123', []],
    ['0.5', []],
    ['Spot Freight', []],
    ['#1 Foods', []],
    ['#12345', []],
    ['Nadia', []],
    ['10/10/2026', []],
  ])('%s is no value of the kinds %j only', (text, expected) => {
    expect(kinds.filter((kind) => isNotGiven(kind, text))).toEqual(expected)
  })

  it('reads a long text as a value', () => {
    expect(isNotGiven('id', '-'.repeat(100_000))).toBe(false)
  })
})

it('isSheetError finds errors only', () => {
  expect(['#N/A', '#ref!', '#####', '#CALC!'].filter((text) => !isSheetError(text))).toEqual([])
  expect(['#1', '#', 'N/A', 'REF', '#REFER'].filter(isSheetError)).toEqual([])
})

it('isScientific finds numbers that a spreadsheet shortened', () => {
  const shortened = ['1.23457E+11', '1E+11', '1,23457E+11', '-1.2e+5']
  expect(shortened.filter((text) => !isScientific(text))).toEqual([])
  expect(['123457', '1E11', '12E45', '1.23457E+11-A', 'E+11', 'LOAD-1E+5'].filter(isScientific)).toEqual([])
})
