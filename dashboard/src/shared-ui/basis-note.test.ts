import { expect, test } from 'vitest'
import { orderInWords } from './basis-note.tsx'

const nothingSaid = {
  quoted_basis: null,
  customer_basis: null,
  truck_basis: null,
  quoted_currency: null,
  customer_currency: null,
  truck_currency: null,
}

test('an order by rate or margin says that it compares amounts as sent, if some are on their own terms', () => {
  const inCad = { ...nothingSaid, quoted_currency: 'CAD' as const }
  const linehaul = { ...nothingSaid, truck_basis: 'linehaul' as const }
  expect(orderInWords('rate_high', [nothingSaid, inCad])).toMatch(/as they were sent/)
  expect(orderInWords('margin_low', [linehaul])).toMatch(/different terms are last/)
  expect(orderInWords('newest', [inCad, linehaul])).toBeNull()
  expect(orderInWords('rate_low', [nothingSaid, { ...nothingSaid, quoted_currency: 'USD' }])).toBeNull()
})
