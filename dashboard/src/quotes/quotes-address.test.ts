import { expect, test } from 'vitest'
import { startOfDay } from '../shared-ui/index.ts'
import { requestedFilters } from './quotes-address.ts'

test('the filter from the 2nd to the 4th of March asks for both of these days in full', () => {
  expect(requestedFilters({ from: '2026-03-02', to: '2026-03-04', outcome: 'won' })).toEqual({
    outcome: 'won',
    from: startOfDay(2026, 2, 2).toISOString(),
    to: startOfDay(2026, 2, 5).toISOString(),
  })
  expect(requestedFilters({ from: '2026-03-04', to: '2026-03-04' }).to).toBe(
    startOfDay(2026, 2, 5).toISOString(),
  )
})

test('what is not a date is sent as it is, so that the service refuses it', () => {
  expect(requestedFilters({ to: 'yesterday' })).toEqual({ to: 'yesterday' })
})
