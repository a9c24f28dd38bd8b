import { expect, it } from 'vitest'
import { laneHistory } from '../testing/lane-history.ts'
import { rateBand } from './rate-band.ts'

it('spans all quotes, decided or not', () => {
  expect(rateBand(laneHistory('2000W 1500P 2600L 2100P'))).toEqual({
    floorCents: 150000,
    medianCents: 205000,
    ceilingCents: 260000,
  })
})

it('collapses onto a single or repeated rate', () => {
  const one = { floorCents: 200000, medianCents: 200000, ceilingCents: 200000 }
  expect(rateBand(laneHistory('2000P'))).toEqual(one)
  expect(rateBand(laneHistory('2000W 2000L 2000W'))).toEqual(one)
})

it('rounds a median between two cents to the cent it will be shown as', () => {
  expect(rateBand(laneHistory('2000W 2000.01L'))?.medianCents).toBe(200001)
})

it('leaves out a rate of zero, and is null when no rate is left', () => {
  expect(rateBand(laneHistory('0W 2000L'))?.floorCents).toBe(200000)
  expect(rateBand(laneHistory('0W 0P'))).toBeNull()
  expect(rateBand([])).toBeNull()
})
