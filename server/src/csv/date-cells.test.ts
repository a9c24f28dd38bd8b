import { describe, expect, it } from 'vitest'
import { LocalClock } from '#engine/local-clock.ts'
import { dateReader, readDay, readDayNear, readMoment } from './date-cells.ts'

const chicago = dateReader('month_first', new LocalClock('America/Chicago'))
const dayFirst = dateReader('day_first', new LocalClock('America/Chicago'))
const iso = (cell: ReturnType<typeof chicago.time>) =>
  'value' in cell ? new Date(cell.value.at).toISOString() : cell.wrong

describe('a time without a zone is in the zone of the brokerage', () => {
  it.each([
    ['3/1/2026', '2026-03-01T06:00:00.000Z'],
    ['3/1/2026 8:30 PM', '2026-03-02T02:30:00.000Z'],
    ['2026-07-01', '2026-07-01T05:00:00.000Z'],
    ['2026-03-01T14:30:00.250', '2026-03-01T20:30:00.000Z'],
    ['2026.03.01', '2026-03-01T06:00:00.000Z'],
    ['20260301', '2026-03-01T06:00:00.000Z'],
    ['20260301 14:30', '2026-03-01T20:30:00.000Z'],
    ['01.03.2026 14:30', '2026-01-03T20:30:00.000Z'],
    ['1-Mar-2026', '2026-03-01T06:00:00.000Z'],
    ['Mar 1, 2026 2:30 PM', '2026-03-01T20:30:00.000Z'],
    // The clock skips 2:30 on March 8, and repeats 1:30 on November 1.
    ['3/8/2026 2:30 AM', '2026-03-08T08:30:00.000Z'],
    ['11/1/2026 1:30 AM', '2026-11-01T06:30:00.000Z'],
  ])('%s', (text, at) => expect([iso(chicago.time(text)), hasZone(text)]).toEqual([at, false]))
})

describe('a stated zone is the zone, with its fixed offset', () => {
  it.each([
    ['2026-03-01T14:30:00Z', '2026-03-01T14:30:00.000Z'],
    ['2026-03-01T14:30:00.250Z', '2026-03-01T14:30:00.000Z'],
    ['2026-03-01T24:00:00Z', '2026-03-02T00:00:00.000Z'],
    ['2026-03-01 14:30 utc', '2026-03-01T14:30:00.000Z'],
    ['2026-03-01 14:30 GMT', '2026-03-01T14:30:00.000Z'],
    ['2026-03-01 14:30 CST', '2026-03-01T20:30:00.000Z'],
    // An abbreviation of winter means its own offset in summer, too.
    ['2026-07-01 14:30 CST', '2026-07-01T20:30:00.000Z'],
    ['2026-07-01 14:30 CDT', '2026-07-01T19:30:00.000Z'],
    ['3/1/2026 2:30 PM EST', '2026-03-01T19:30:00.000Z'],
    ['3/1/2026 2:30 PM EDT', '2026-03-01T18:30:00.000Z'],
    ['3/1/2026 14:30 MST', '2026-03-01T21:30:00.000Z'],
    ['3/1/2026 14:30 MDT', '2026-03-01T20:30:00.000Z'],
    ['3/1/2026 14:30 PST', '2026-03-01T22:30:00.000Z'],
    ['3/1/2026 14:30 PDT', '2026-03-01T21:30:00.000Z'],
    ['3/1/2026 14:30 AKST', '2026-03-01T23:30:00.000Z'],
    ['3/1/2026 14:30 AKDT', '2026-03-01T22:30:00.000Z'],
    ['3/1/2026 14:30 HST', '2026-03-02T00:30:00.000Z'],
    ['3/1/2026 14:30 AST', '2026-03-01T18:30:00.000Z'],
    ['3/1/2026 14:30 ADT', '2026-03-01T17:30:00.000Z'],
    ['3/1/2026 14:30 NST', '2026-03-01T18:00:00.000Z'],
    ['3/1/2026 14:30 NDT', '2026-03-01T17:00:00.000Z'],
    ['Mar 1, 2026 14:30 PST', '2026-03-01T22:30:00.000Z'],
    ['2026-03-01T14:30:00-0600', '2026-03-01T20:30:00.000Z'],
    ['2026-03-01 14:30+05:45', '2026-03-01T08:45:00.000Z'],
    ['2026-03-01 14:30 -03', '2026-03-01T17:30:00.000Z'],
  ])('%s', (text, at) => expect([iso(chicago.time(text)), hasZone(text)]).toEqual([at, true]))
})

function hasZone(text: string): boolean | string {
  const cell = chicago.time(text)
  return 'value' in cell ? cell.value.hasZone : cell.wrong
}

it.each([
  '2026-03-01 14:30 CT',
  '2026-03-01 14:30 BST',
  '2026-03-01 14:30 +25:00',
  '3/1/2026 13:30 PM',
  '20261301',
  '2026-3.01',
  '1.3/2026',
  '32.1.2026',
  '2026030',
])('refuses %s', (text) => expect(chicago.time(text)).toHaveProperty('wrong'))

it('reads the numbers in the order of the column, and the error says the order', () => {
  expect(dayFirst.day('3/1/2026')).toEqual({ value: '2026-01-03' })
  expect(dayFirst.day('01.03.26')).toEqual({ value: '2026-03-01' })
  expect(dayFirst.day('2026-03-01')).toEqual({ value: '2026-03-01' })
  expect(dayFirst.day('Mar 1, 2026')).toEqual({ value: '2026-03-01' })
  expect(dayFirst.day('3/25/2026')).toMatchObject({ wrong: expect.stringContaining('(day first)') })
  expect(chicago.day('25/3/2026')).toMatchObject({ wrong: expect.stringContaining('(month first)') })
})

it('a pickup day is the day as written, whatever the zone, and the nearest one without a year', () => {
  expect(readDay('2026-03-01 23:30 PST')).toEqual({ value: '2026-03-01' })
  const now = Date.parse('2026-11-25T12:00:00Z')
  expect(readDayNear('12/3', now)).toEqual({ value: '2026-12-03' })
  expect(readDayNear('3/12', now, 'day_first')).toEqual({ value: '2026-12-03' })
  expect(readDayNear('5/1', now, 'day_first')).toEqual({ value: '2027-01-05' })
  // In Chicago, it is still the year 2026.
  expect(chicago.dayNear('7/2', Date.parse('2027-01-01T03:00:00Z'))).toEqual({ value: '2026-07-02' })
})

it('the interface reads a time without a zone as UTC', () => {
  expect(readMoment('3/1/2026 2:30 PM')).toEqual({ value: Date.parse('2026-03-01T14:30:00Z') })
})

it('for digests, a local time is as if it were UTC, and a time with a zone is the time', () => {
  const asUtc = (text: string) => {
    const cell = chicago.time(text)
    return 'value' in cell ? new Date(cell.value.asUtc).toISOString() : cell.wrong
  }
  expect(asUtc('3/1/2026 2:30 PM')).toBe('2026-03-01T14:30:00.000Z')
  expect(asUtc('2026-03-01T14:30:00-06:00')).toBe('2026-03-01T20:30:00.000Z')
})
