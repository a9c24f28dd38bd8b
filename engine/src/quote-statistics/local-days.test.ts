import { expect, test } from 'vitest'
import { localDay } from './local-days.ts'

test('a day begins at midnight of the time zone, also where the clock changes in between', () => {
  const noon = Date.UTC(2026, 2, 10, 17)
  expect(localDay('America/Chicago', noon, 0)).toBe(Date.UTC(2026, 2, 10, 5))
  // Until 8 March 2026, Chicago was six hours behind UTC.
  expect(localDay('America/Chicago', noon, 3)).toBe(Date.UTC(2026, 2, 7, 6))
  expect(localDay('UTC', noon, 1)).toBe(Date.UTC(2026, 2, 9))
  expect(localDay('Pacific/Auckland', Date.UTC(2026, 2, 10, 13), 0)).toBe(Date.UTC(2026, 2, 10, 11))
})
