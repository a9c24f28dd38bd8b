import { expect, it } from 'vitest'
import { laneHistory, WORKED_EXAMPLE } from '../testing/lane-history.ts'
import { outliersInSteps } from './outliers.ts'
import { finished } from './steps.ts'

const outliers = (history: Parameters<typeof outliersInSteps>[0]) => finished(outliersInSteps(history))
const ratesOf = (quotes: string) => outliers(laneHistory(quotes)).map((outlier) => outlier.rateCents / 100)

it('flags a rate 100 times the others and a rate of one hundredth', () => {
  expect(ratesOf('2000W 2050L 2100W 205000L')).toEqual([205000])
  expect(ratesOf('2000W 2050L 2100W 2150L 20P')).toEqual([20])
})

it('flags a rate beyond three robust deviations if there are five quotes', () => {
  expect(ratesOf('2000W 2050L 2100W 2075L 4000L')).toEqual([4000])
  expect(ratesOf('2000W 2050L 4000L')).toEqual([])
})

it('flags nothing on an ordinary lane, with one or two quotes, or for small changes of one repeated rate', () => {
  expect(outliers(WORKED_EXAMPLE)).toEqual([])
  expect(ratesOf('2000W')).toEqual([])
  expect(ratesOf('20W 2000L')).toEqual([])
  expect(ratesOf('2000W 2000W 2000W 2000W 2000W 2040L')).toEqual([])
  expect(ratesOf('2000W 2000W 2000W 2000W 2000W 3000L')).toEqual([3000])
})

it('ignores rates of zero', () => {
  expect(ratesOf('0W 0W 0W 2000W 2050L 2100W')).toEqual([])
  expect(ratesOf('')).toEqual([])
})

it('returns the ratio to the median', () => {
  expect(outliers(laneHistory('2000W 2050L 2100W 19000L'))).toEqual([
    { quoteId: 4, rateCents: 1_900_000, outcome: 'lost', timesMedian: 1_900_000 / 207_500 },
  ])
})
