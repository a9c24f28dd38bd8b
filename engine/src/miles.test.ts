import { expect, test } from 'vitest'
import { greatCircleMiles, roadMiles } from '#engine/miles.ts'

const dallas = { latitude: 32.7831, longitude: -96.8067 }
const atlanta = { latitude: 33.749, longitude: -84.388 }

test('Dallas to Atlanta has the published great-circle and road miles', () => {
  expect(greatCircleMiles(dallas, atlanta)).toBeCloseTo(720.099739, 5)
  expect(roadMiles(dallas, atlanta)).toBeCloseTo(856.932003, 5)
})

test('a haul is as long in both directions', () => {
  expect(roadMiles(atlanta, dallas)).toBe(roadMiles(dallas, atlanta))
})

test('a haul within one city is fifteen miles', () => {
  expect(roadMiles(dallas, dallas)).toBe(15)
})

test('short hauls wind more than long ones', () => {
  const suburb = { latitude: 32.9, longitude: -96.9 }
  expect(roadMiles(dallas, suburb) / greatCircleMiles(dallas, suburb)).toBeGreaterThan(1.3)
  expect(roadMiles(dallas, atlanta) / greatCircleMiles(dallas, atlanta)).toBeLessThan(1.2)
})
