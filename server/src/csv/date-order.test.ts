import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { DateOrder } from '#contract/date-orders.ts'
import { readDay } from './date-cells.ts'
import { columnOrders, noDates, orderConflict, orderNote, seeDate } from './date-order.ts'
import { dateTerms } from './date-terms.ts'
import { lookedUpName } from './guessed-columns.ts'

const column = (name: string, dates: readonly string[]) => {
  const seen = noDates()
  for (const [at, date] of dates.entries()) seeDate(seen, date, at + 2)
  return { name, seen }
}
const decided = (
  columns: Readonly<Record<string, readonly string[]>>,
  by: { chosen?: DateOrder; setting?: DateOrder } = {},
) =>
  columnOrders(
    Object.entries(columns).map(([name, dates]) => column(name, dates)),
    { chosen: by.chosen ?? null, setting: by.setting ?? 'month_first' },
  )
const orders = (...of: Parameters<typeof decided>) => decided(...of).map(({ order }) => order)
const details = (...of: Parameters<typeof decided>) => decided(...of).map((one) => orderNote(one)?.detail)

describe('the name of a column', () => {
  it.each([
    ['Quote Date (DD/MM/YYYY)', 'quotedate', 'day_first', null],
    ['Quote Date dd.mm.yy', 'quotedate', 'day_first', null],
    ['Pickup Date [MM-DD-YYYY]', 'pickupdate', 'month_first', null],
    ['Booked On (mm/dd/yyyy hh:mm)', 'bookedon', 'month_first', null],
    ['Quote Date (YYYY-MM-DD)', 'quotedate', null, null],
    ['Created At (UTC)', 'createdat', null, 'UTC'],
    ['created_at utc', 'createdat', null, 'UTC'],
    ['Created (EST) DD/MM/YYYY', 'created', 'day_first', 'EST'],
    ['Quote Date Est', 'quotedateest', null, null],
    ['Customer PST', 'customerpst', null, 'PST'],
    ['Quote Date', 'quotedate', null, null],
  ])('%s is looked up as %s, and states %s and %s', (name, folded, order, zone) => {
    expect(lookedUpName(name)).toBe(folded)
    expect(dateTerms(name)).toMatchObject({ order, zone })
  })

  it('decides the order, unless its dates or a person do', () => {
    const name = 'Quoted DD/MM/YYYY'
    expect(orders({ [name]: ['3/1/2026'], Pickup: ['4/2/2026'] })).toEqual(['day_first', 'month_first'])
    expect(orders({ [name]: ['3/1/2026', '3/25/2026'] })).toEqual(['month_first'])
    expect(orders({ [name]: ['3/1/2026'] }, { chosen: 'month_first' })).toEqual(['month_first'])
  })
})

describe('the order of a column', () => {
  it('is that of its dates, if one of them can only be read so', () => {
    const dates = { Quoted: ['3/1/2026', '25/1/2026'] }
    expect(orders(dates, { chosen: 'month_first' })).toEqual(['day_first'])
    expect(decided(dates).map((one) => orderNote(one))).toEqual([
      {
        column: 'Quoted',
        detail: 'Quoted: day first as in 25/1/2026 on line 3, so 3/1/2026 is 3 January 2026.',
        choices: [],
      },
    ])
  })

  it('is otherwise chosen, else that of the other columns, else the setting, and is said with the choice', () => {
    const both = { Quoted: ['3/1/2026'], Pickup: ['25/1/2026 08:00'] }
    expect(orders(both)).toEqual(['day_first', 'day_first'])
    expect(details(both)).toEqual([
      'Quoted: day first like Pickup, so 3/1/2026 is 3 January 2026.',
      undefined,
    ])
    expect(orders(both, { chosen: 'month_first' })).toEqual(['month_first', 'day_first'])
    expect(orders({ Quoted: ['3/1/2026'] }, { setting: 'day_first' })).toEqual(['day_first'])
    expect(decided({ Quoted: ['3/1/2026 8:30 PM', '3/2/26'] }).map((one) => orderNote(one))).toEqual([
      {
        column: 'Quoted',
        detail: 'Quoted: month first, so 3/1/2026 is March 1, 2026.',
        choices: [{ map: 'dates=day_first', detail: 'Day first: 3 January 2026' }],
      },
    ])
  })

  it('follows no other column if the columns contradict each other', () => {
    const three = {
      Quoted: ['25/1/2026', '3/1/2026'],
      Booked: ['1/25/2026', '3/1/2026'],
      Pickup: ['3/1/2026'],
    }
    expect(orders(three, { setting: 'day_first' })).toEqual(['day_first', 'month_first', 'day_first'])
    expect(orders(three)).toEqual(['day_first', 'month_first', 'month_first'])
    expect(details(three)).toHaveLength(3)
  })

  it('is day first for dots, unless a date, a person or another column says something else', () => {
    expect(orders({ Quoted: ['01.03.2026'] })).toEqual(['day_first'])
    expect(orders({ Quoted: ['01.03.2026', '02/03/2026'] })).toEqual(['month_first'])
    expect(orders({ Quoted: ['01.03.2026', '01.31.2026'] })).toEqual(['month_first'])
    expect(orders({ Quoted: ['01.03.2026'] }, { chosen: 'month_first' })).toEqual(['month_first'])
  })

  it('is not said if it does not matter', () => {
    const dates = ['3/3/2026', '3/25/2026', '2026-03-01', '1-Mar-2026', 'Mar 2, 2026', '1.5', '99/99/2026']
    expect(details({ Quoted: dates })).toEqual([undefined])
  })
})

it('a column whose dates need both orders is refused, with both lines', () => {
  const { seen } = column('Quote Date', ['3/1/2026', '1/25/2026', '2026-01-01', '26/1/2026'])
  expect(orderConflict('Quote Date', seen)).toEqual({
    of: 'order',
    line: 5,
    detail:
      'The dates of Quote Date must all be day first, or all be month first: 1/25/2026 on line 3 can only be month first, and 26/1/2026 on line 5 can only be day first. Correct one of them, or write the dates as 2026-03-01.',
  })
})

describe('dates with two digits of their year', () => {
  const conflict = (dates: readonly string[], chosen: DateOrder | null = null) =>
    orderConflict('Quoted', column('Quoted', dates).seen, chosen)

  it('are refused if they seem to begin with it, unless a person says that they are day first', () => {
    const dates = ['26-03-15', '26-03-02']
    expect(conflict(dates)).toEqual({
      of: 'years',
      line: 3,
      detail:
        'The dates of Quoted must have years of four digits: 26-03-02 on line 3 may be March 2, 2026 or March 26, 2002. Write the dates as 2026-03-01, or if they are day first, state dates=day_first.',
    })
    expect(conflict(dates, 'day_first')).toBeNull()
    expect(conflict(['25-03-26', '26-03-25', '3-4-26'])).toBeNull()
  })

  test.each([
    ['the year', true],
    ['the day', false],
  ])('are refused if they begin with %s: %s, whatever the days of a month', (_, isYearFirst) => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: isYearFirst ? 1 : 13, max: 28 }), { minLength: 2, maxLength: 20 }),
        fc.integer({ min: 13, max: 31 }),
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom('/', '-', '.'),
        (days, year, month, mark) => {
          const cells = days.map((day) =>
            (isYearFirst ? [year, month, day] : [day, month, year])
              .map((part) => String(part).padStart(2, '0'))
              .join(mark),
          )
          expect(conflict(cells)?.of).toBe(isYearFirst ? 'years' : undefined)
        },
      ),
    )
  })
})

test('dates written in one order all come back as they were, or in the other order if no date tells', () => {
  const days = fc.date({ min: new Date('1971-01-01'), max: new Date('2069-12-31'), noInvalidDate: true })
  fc.assert(
    fc.property(
      fc.array(days, { minLength: 1, maxLength: 30 }),
      fc.constantFrom('month_first', 'day_first'),
      fc.constantFrom('/', '-', '.'),
      fc.boolean(),
      (dates, written, mark, hasZeros) => {
        const wanted = dates.map((date) => date.toISOString().slice(0, 10))
        const cells = wanted.map((day) => {
          const [year = '', month = '', date = ''] = day
            .split('-')
            .map((part) => (hasZeros ? part : String(Number(part))))
          return (written === 'day_first' ? [date, month, year] : [month, date, year]).join(mark)
        })
        const { seen } = column('Quoted', cells)
        expect(orderConflict('Quoted', seen)).toBeNull()
        const [order] = orders({ Quoted: cells }, { setting: 'month_first' })
        const read = cells.map((cell) => readDay(cell, order))
        const right = wanted.map((value) => ({ value }))
        const tells = dates.some((date) => date.getUTCDate() > 12)
        if (tells || order === written) expect(read).toEqual(right)
        else {
          expect(read.every((cell) => 'value' in cell)).toBe(true)
          const said = decided({ Quoted: cells }).map((one) => orderNote(one)?.choices[0]?.map)
          const matters = dates.some((date) => date.getUTCDate() !== date.getUTCMonth() + 1)
          expect(said).toEqual([matters ? `dates=${written}` : undefined])
        }
      },
    ),
  )
})
