import { expect, test } from 'vitest'
import { greatCircleMiles, roadMiles } from './miles.ts'

const dallas = { latitude: 32.7831, longitude: -96.8067 }
const atlanta = { latitude: 33.749, longitude: -84.388 }

// Known values from an independent prototype of the same definitions.
test('Dallas to Atlanta has the known miles, both ways', () => {
  expect(greatCircleMiles(dallas, atlanta).toFixed(6)).toBe('720.099739')
  expect(roadMiles(dallas, atlanta).toFixed(6)).toBe('856.932003')
  expect(roadMiles(atlanta, dallas)).toBe(roadMiles(dallas, atlanta))
})

test('a haul within one city is 15 miles', () => {
  expect(roadMiles(dallas, dallas)).toBe(15)
})
