import { describe, expect, test } from 'vitest'
import { type LaneQuote, quotedLanes } from '../quotes/quoted-lanes.ts'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { finished } from '../steps.ts'
import { answerTimesInSteps, leaningAt } from './answer-times.ts'
import { prepareEstimator } from './estimator.ts'
import { lanePosterior } from './lane-posterior.ts'
import { winMean } from './posterior.ts'

const NOW = Date.UTC(2026, 0, 1)
const DAY = 86_400_000
const LANE = { key: 'lane', scopes: [], costKeys: [] }

/** Twenty quotes a day for 200 days, 60 % of them won, with answers after exponential times. */
function quotesAnswered(meanDays: { won: number; lost: number }, seed = 1): LaneQuote[] {
  const random = seededNumbers(seed)
  return Array.from({ length: 4_000 }, (_, i) => {
    const age = 1 + Math.floor(i / 20)
    const outcome = random() < 0.6 ? 'won' : 'lost'
    const isKnown = -Math.log(1 - random()) * meanDays[outcome] <= age
    return {
      quoteId: i + 1,
      rateCents: 200_000,
      costCents: null,
      outcome: isKnown ? outcome : 'pending',
      quotedAt: NOW - age * DAY,
      miles: null,
      lane: LANE,
    }
  })
}

const timesOf = (quotes: readonly LaneQuote[]) =>
  finished(answerTimesInSteps(quotedLanes(quotes), Math.floor(NOW / DAY)))

describe('an undecided quote', () => {
  test('says little if wins and losses are answered equally fast, however slowly', () => {
    for (const days of [7, 20]) {
      const times = timesOf(quotesAnswered({ won: days, lost: days }, 2))
      for (const age of [2, 6, 13]) expect(leaningAt(times, age).weight).toBeLessThan(0.35)
    }
  })

  test('is mostly a loss if wins are answered at once and losses after weeks', () => {
    const times = timesOf(quotesAnswered({ won: 0.5, lost: 15 }))
    for (const age of [4, 8, 13]) {
      expect(leaningAt(times, age).won).toBe(false)
      expect(leaningAt(times, age).weight).toBeGreaterThan(0.5)
    }
    expect(leaningAt(times, 90).weight).toBe(0)
  })

  test('is mostly a win if losses are answered at once and wins after weeks', () => {
    const times = timesOf(quotesAnswered({ won: 15, lost: 0.5 }))
    expect(leaningAt(times, 8).won).toBe(true)
    expect(leaningAt(times, 8).weight).toBeGreaterThan(0.5)
  })

  test('says nothing where there are few settled quotes, or none are pending', () => {
    const all = quotesAnswered({ won: 0.5, lost: 15 })
    const recent = all.filter(({ quotedAt }) => quotedAt > NOW - 50 * DAY)
    for (const quotes of [[], recent, all.filter(({ outcome }) => outcome !== 'pending')])
      expect(timesOf(quotes).every(({ weight }) => weight === 0)).toBe(true)
  })
})

test('late losses do not make the estimate too high', () => {
  const atMarket = (quotes: readonly LaneQuote[]) =>
    winMean(lanePosterior(prepareEstimator({ quotes, now: NOW }), LANE), 0)
  const late = quotesAnswered({ won: 0.5, lost: 15 })
  const decided = atMarket(late.filter(({ outcome }) => outcome !== 'pending'))
  expect(decided).toBeGreaterThan(0.65)
  expect(Math.abs(atMarket(late) - 0.6)).toBeLessThan(0.05)
})
