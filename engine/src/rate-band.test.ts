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

it('leaves out pending quotes far from five decided ones, but no decided quote', () => {
  const decided = '2000W 2050L 2100W 2150L 1950W'
  const band = { floorCents: 195000, medianCents: 205000, ceilingCents: 215000 }
  expect(bandOf(`${decided} 205P 20500P`)).toEqual(band)
  expect(bandOf(`${decided} 2200P`)?.ceilingCents).toBe(220000)
  expect(bandOf(`${decided} 20500L`)?.ceilingCents).toBe(2050000)
  expect(bandOf('2000W 2050L 2100W 2150L 205P')?.floorCents).toBe(20500)
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
