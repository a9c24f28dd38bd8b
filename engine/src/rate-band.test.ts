import { expect, it } from 'vitest'
import { laneHistory } from '../testing/lane-history.ts'
import { rateBand } from './rate-band.ts'
import { countRates } from './rate-counts.ts'

const bandOf = (quotes: string) => rateBand(countRates(laneHistory(quotes)))

it('covers all quotes, decided or not', () => {
  expect(bandOf('2000W 1500P 2600L 2100P')).toEqual({
    floorCents: 150000,
    medianCents: 205000,
    ceilingCents: 260000,
  })
})

it('has equal values for a single or repeated rate', () => {
  const one = { floorCents: 200000, medianCents: 200000, ceilingCents: 200000 }
  expect(bandOf('2000P')).toEqual(one)
  expect(bandOf('2000W 2000L 2000W')).toEqual(one)
})

it('rounds a median between two cents to the displayed cent', () => {
  expect(bandOf('2000W 2000.01L')?.medianCents).toBe(200001)
})

it('excludes rates of zero, and is null when no rate remains', () => {
  expect(bandOf('0W 2000L')?.floorCents).toBe(200000)
  expect(bandOf('0W 0P')).toBeNull()
  expect(bandOf('')).toBeNull()
})
