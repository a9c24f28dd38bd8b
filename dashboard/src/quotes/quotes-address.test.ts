import { expect, test } from 'vitest'
import { startOfDay } from '../shared-ui/index.ts'
import { type QuotesTotals, type QuotesView, requestedFilters } from './quotes-address.ts'
import { shownWords } from './quotes-pager.tsx'

test('the filter from the 2nd to the 4th of March asks for both of these days in full', () => {
  expect(requestedFilters({ from: '2026-03-02', to: '2026-03-04', outcome: 'won' })).toEqual({
    outcome: 'won',
    offers: 'last',
    from: startOfDay(2026, 2, 2).toISOString(),
    to: startOfDay(2026, 2, 5).toISOString(),
  })
  expect(requestedFilters({ from: '2026-03-04', to: '2026-03-04' }).to).toBe(
    startOfDay(2026, 2, 5).toISOString(),
  )
})

test('a filter by outcome has each load once, and the line above the list says so', () => {
  const words = (view: QuotesView, totals: QuotesTotals) =>
    shownWords({ page: 1, limit: 50, view }, Math.min(50, totals.total), totals)
  expect(requestedFilters({ outcome: 'lost', offers: '' })).toEqual({ outcome: 'lost', offers: 'last' })
  expect(requestedFilters({ outcome: 'superseded' })).toEqual({ offers: 'superseded' })
  expect(requestedFilters({ outcome: 'void' })).toEqual({ outcome: 'void' })
  expect(words({}, { total: 12309, loads: 11875 })).toBe('1–50 of 12,309 offers for 11,875 loads')
  expect(words({}, { total: 1, loads: 1 })).toBe('1 quote')
  expect(words({ outcome: 'lost' }, { total: 6615, loads: 6615 })).toBe(
    '1–50 of 6,615 quotes, without superseded offers',
  )
  expect(words({ outcome: 'superseded' }, { total: 434, loads: 0 })).toBe('1–50 of 434 superseded offers')
})

test('what is not a date is sent as it is, so that the service refuses it', () => {
  expect(requestedFilters({ to: 'yesterday' })).toEqual({ to: 'yesterday' })
})
