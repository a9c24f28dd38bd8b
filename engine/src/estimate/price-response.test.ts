import { expect, test } from 'vitest'
import { relativeRate } from './price-response.ts'

test('a relative rate is the logarithm of the ratio, at most 12 in either direction', () => {
  expect(relativeRate(210_000, 200_000)).toBeCloseTo(0.04879, 5)
  expect(relativeRate(1e12, 1)).toBe(12)
  expect(relativeRate(1, 1e12)).toBe(-12)
})
