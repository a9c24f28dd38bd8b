import { expect, test } from 'vitest'
import { chanceInWords, pointsInWords } from './bid-words.ts'

test('chances of a bid are in percent: the service sends shares of one', () => {
  expect(chanceInWords({ probability: 0.4, low: 0.31, high: 0.5 })).toBe('40% (31–50%)')
  expect(chanceInWords(null)).toBe('–')
})

test('a change of the share of loads is in points', () => {
  expect(pointsInWords(0.05)).toBe('+5.0 points')
  expect(pointsInWords(-0.034)).toBe('−3.4 points')
  expect(pointsInWords(0)).toBe('0.0 points')
})
