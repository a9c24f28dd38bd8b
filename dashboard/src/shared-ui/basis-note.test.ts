import { expect, test } from 'vitest'
import { orderInWords, sentTerms } from './basis-note.tsx'

const nothingStated = {
  quoted_basis: null,
  customer_basis: null,
  truck_basis: null,
  quoted_currency: null,
  customer_currency: null,
  truck_currency: null,
  customer_rate: null,
  truck_cost: null,
}

test('an order by rate or margin says that it compares amounts as sent, if they are on different terms', () => {
  const inCad = { ...nothingStated, quoted_currency: 'CAD' as const }
  const linehaul = { ...nothingStated, truck_cost: 1500, truck_basis: 'linehaul' as const }
  expect(orderInWords('rate_high', [nothingStated, inCad])).toMatch(/as they were sent/)
  expect(orderInWords('margin_low', [linehaul])).toMatch(/different terms are last/)
  expect(orderInWords('newest', [inCad, linehaul])).toBeNull()
  expect(orderInWords('rate_low', [nothingStated, { ...nothingStated, quoted_currency: 'USD' }])).toBeNull()
  // Every amount states the same basis. An amount that is not known has no terms.
  const allIn = { ...nothingStated, quoted_basis: 'all_in' as const }
  const booked = { ...allIn, customer_rate: 2000, customer_basis: 'all_in' as const }
  expect(orderInWords('rate_high', [allIn, booked])).toBeNull()
  expect(orderInWords('rate_high', [allIn, nothingStated])).not.toBeNull()
})

test('an amount in a list says its currency if it is not US dollars, and its basis if it was stated', () => {
  expect(sentTerms('linehaul', 'CAD')).toBe('CAD linehaul')
  expect(sentTerms(null, 'CAD')).toBe('CAD')
  expect(sentTerms('all_in', 'USD')).toBe('all-in')
  expect(sentTerms(null, null)).toBeNull()
})
