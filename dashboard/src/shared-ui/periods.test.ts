import { expect, test } from 'vitest'
import { daysOf, isBackwards, monthWithin, periodNames, periodOf } from './periods.ts'

/** Sunday, March 15, 2026, midday in any time zone. */
const now = new Date(2026, 2, 15, 13, 30)
const midnight = (year: number, month: number, day: number) => new Date(year, month - 1, day).toISOString()

test('a named period begins and ends at midnight in the time zone of the brokerage', () => {
  const edges = (period: string) => {
    const { from, to } = periodOf({ period }, 'all', now)
    return [from, to]
  }
  expect(edges('this-month')).toEqual([midnight(2026, 3, 1), midnight(2026, 4, 1)])
  expect(edges('last-month')).toEqual([midnight(2026, 2, 1), midnight(2026, 3, 1)])
  expect(edges('this-quarter')).toEqual([midnight(2026, 1, 1), midnight(2026, 4, 1)])
  expect(edges('last-90-days')).toEqual([midnight(2025, 12, 16), midnight(2026, 3, 16)])
  expect(edges('last-12-months')).toEqual([midnight(2025, 4, 1), midnight(2026, 4, 1)])
  expect(edges('this-year')).toEqual([midnight(2026, 1, 1), midnight(2027, 1, 1)])
  expect(edges('all')).toEqual([undefined, undefined])
})

test('last month in January is December of the year before', () => {
  const { from, to } = periodOf({ period: 'last-month' }, 'all', new Date(2026, 0, 31))
  expect([from, to]).toEqual([midnight(2025, 12, 1), midnight(2026, 1, 1)])
})

test('the same day gives the same period, so that its answer can be cached', () => {
  for (const period of Object.keys(periodNames)) {
    expect(periodOf({ period }, 'all', now)).toEqual(
      periodOf({ period }, 'all', new Date(2026, 2, 15, 23, 59)),
    )
  }
})

test('a custom period includes its first and last day, and either can be open', () => {
  const both = periodOf({ period: 'custom', from: '2026-02-27', to: '2026-02-28' }, 'all', now)
  expect([both.from, both.to]).toEqual([midnight(2026, 2, 27), midnight(2026, 3, 1)])
  expect(periodOf({ period: 'custom', from: '2026-02-27' }, 'all', now).to).toBeUndefined()
  expect(periodOf({ period: 'custom', to: '2026-02-27' }, 'all', now).from).toBeUndefined()
})

test('a month such as 2026-12 begins and ends at midnight', () => {
  const { from, to } = periodOf({ period: '2026-12' }, 'all', now)
  expect([from, to]).toEqual([midnight(2026, 12, 1), midnight(2027, 1, 1)])
})

test('a month that a period cuts keeps only the days in the period, in its address too', () => {
  const cut = periodOf({ period: 'custom', from: '2026-02-10', to: '2026-03-20' }, 'all', now)
  const february = monthWithin('2026-02', cut)
  const march = monthWithin('2026-03', cut)
  expect([february, march]).toEqual([
    { period: '2026-02', from: '2026-02-10', to: undefined },
    { period: '2026-03', from: undefined, to: '2026-03-20' },
  ])
  expect(periodOf(february, 'all', now)).toMatchObject({ from: cut.from, to: midnight(2026, 3, 1) })
  expect(periodOf(march, 'all', now)).toMatchObject({ from: midnight(2026, 3, 1), to: cut.to })
  expect(monthWithin('2026-01', periodOf({ period: 'all' }, 'all', now))).toEqual({ period: '2026-01' })
})

test('the days of a period give the same period again', () => {
  for (const period of Object.keys(periodNames)) {
    const { from, to } = periodOf({ period }, 'all', now)
    expect(periodOf({ period: 'custom', ...daysOf({ from, to }) }, 'all', now)).toMatchObject({ from, to })
  }
})

test('invalid address parameters are ignored', () => {
  expect(periodOf({ period: 'yesterweek' }, 'this-year', now).choice).toBe('this-year')
  expect(periodOf({ period: 'toString' }, 'this-year', now).choice).toBe('this-year')
  expect(periodOf({ period: '2026-13' }, 'this-year', now).choice).toBe('this-year')
  expect(periodOf({ period: 'custom', from: '2026-02-30', to: 'soon' }, 'all', now)).toMatchObject({
    from: undefined,
    to: undefined,
  })
})

test('a period whose last day is before its first day is backwards', () => {
  const custom = (from: string, to: string) => periodOf({ period: 'custom', from, to }, 'all', now)
  expect(isBackwards(custom('2026-03-02', '2026-03-01'))).toBe(true)
  expect(isBackwards(custom('2026-03-01', '2026-03-01'))).toBe(false)
})
