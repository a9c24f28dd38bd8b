import { expect, test } from 'vitest'
import { clockDifferenceMs } from './clock-difference.ts'

test.each([
  ['within a slow answer', 5_000, 0, 9_000, 0],
  ['before the question', 1_000, 4_000, 4_010, 3_000],
  ['after the answer', 9_000, 4_000, 4_010, 4_990],
])('a time %s differs by its distance from the two', (_, told, asked, answered, difference) => {
  expect(clockDifferenceMs(told, asked, answered)).toBe(difference)
})
