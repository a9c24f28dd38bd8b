import { expect, test } from 'vitest'
import { sentDifference } from './sent-difference.ts'

const quoted = { amount: 2000, basis: null, currency: null } as const

test.each([
  ['the same terms', { amount: 2100.1, basis: null, currency: 'USD' } as const, 100.1],
  ['the default basis, stated', { amount: 2100, basis: 'all_in', currency: null } as const, 100],
  ['another currency', { amount: 2700, basis: null, currency: 'CAD' } as const, null],
  ['another basis', { amount: 1700, basis: 'linehaul', currency: null } as const, null],
  ['an unknown amount', { amount: null, basis: null, currency: null } as const, null],
])('the difference from an amount on %s', (_, booked, difference) => {
  expect(sentDifference(quoted, booked, 'all_in')).toBe(difference)
})

test('the default basis decides what an amount without a basis is compared with', () => {
  const linehaul = { amount: 1700, basis: 'linehaul', currency: null } as const
  expect(sentDifference(quoted, linehaul, 'linehaul')).toBe(-300)
  expect(sentDifference(quoted, { ...linehaul, basis: 'all_in' }, 'linehaul')).toBeNull()
})
