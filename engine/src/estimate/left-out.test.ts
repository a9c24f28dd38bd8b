import { describe, expect, test } from 'vitest'
import type { Outcome } from '../history.ts'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { laneOf, prepareEstimator, referenceRateCents } from './estimator.ts'
import { outlierTest } from './left-out.ts'
import type { LaneQuote } from './quoted-lanes.ts'
import { levelWeight } from './reference-rate.ts'

const DAY = 86_400_000
const NOW = 20_000 * DAY

const laneNamed = (n: number) => ({
  key: `lane ${n}`,
  scopes: [
    { name: 'region', key: 'region' },
    { name: 'state_pair', key: `pair ${n % 3}` },
  ],
  costKeys: [`lane ${n}`],
})

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random())
}

/** Quotes of eight lanes within 180 days, 8 % around the level of their lane: `count` on lane 0, and twelve on each other. */
function quotesOf(count: number, seed: number): LaneQuote[] {
  const random = seededNumbers(seed)
  const quotes: LaneQuote[] = []
  for (let lane = 0; lane < 8; lane++) {
    const level = 2_000 * Math.exp(0.4 * normal(random))
    for (let n = 0; n < (lane === 0 ? count : 12); n++) {
      const x = 0.08 * normal(random)
      const won = random() < 1 / (1 + Math.exp(8 * x))
      quotes.push({
        laneId: quotes.length,
        rateCents: Math.round(100 * level * Math.exp(x)),
        costCents: null,
        outcome: random() < 0.15 ? 'pending' : won ? 'won' : 'lost',
        quotedAt: NOW - Math.floor((1 + random() * 179) * DAY),
        miles: null,
        lane: laneNamed(lane),
        rateType: 'spot',
      })
    }
  }
  return quotes.toSorted((one, other) => one.quotedAt - other.quotedAt)
}

/** How far a further quote at `factor` times a typical rate moves lane 0's reference rate, in spreads of the lane. */
function movedBy(
  quotes: readonly LaneQuote[],
  { factor, outcome, age }: { factor: number; outcome: Outcome; age: number },
): number {
  const before = prepareEstimator({ quotes, now: NOW })
  const reference = referenceRateCents(before, laneNamed(0), null) ?? Number.NaN
  const rates = quotes.filter(({ lane }) => lane.key === 'lane 0').map(({ rateCents }) => rateCents)
  const typical = rates.toSorted((one, other) => one - other)[rates.length >> 1] ?? Number.NaN
  const [first] = quotes
  if (first === undefined) throw new Error('no quotes')
  const planted: LaneQuote = {
    ...first,
    laneId: 1_000_000,
    lane: laneNamed(0),
    rateCents: Math.round(typical * factor),
    outcome,
    quotedAt: NOW - age * DAY,
  }
  const all = [...quotes, planted].toSorted((one, other) => one.quotedAt - other.quotedAt)
  const after = referenceRateCents(prepareEstimator({ quotes: all, now: NOW }), laneNamed(0), null)
  return (
    Math.abs(Math.log((after ?? Number.NaN) / reference)) / (laneOf(before, 'lane 0')?.level?.spread ?? 0)
  )
}

const OUTCOMES = ['pending', 'won', 'lost'] as const

describe('one wrong rate', () => {
  test.each([5, 8, 15, 50, 200, 500])(
    'a tenth of the rate or ten times it moves nothing on a lane of %i',
    (count) => {
      for (const factor of [0.1, 10]) {
        for (const outcome of OUTCOMES) {
          for (const age of [0.1, 200]) {
            expect(movedBy(quotesOf(count, count), { factor, outcome, age })).toBeLessThan(0.01)
          }
        }
      }
    },
  )

  test.each([5, 8, 15, 50, 200, 500])(
    'no quote moves a lane of %i by more than its share of three spreads',
    (count) => {
      for (let seed = 1; seed <= 4; seed++) {
        const quotes = quotesOf(count, seed)
        const level = laneOf(prepareEstimator({ quotes, now: NOW }), 'lane 0')?.level
        const weight = level === undefined ? 0 : levelWeight(level, 20_000)
        for (const factor of [0.3, 0.55, 0.8, 1.25, 1.8, 3]) {
          for (const outcome of OUTCOMES) {
            const moved = movedBy(quotes, { factor, outcome, age: 0.1 })
            // The quote also moves the index of all lanes, and gives the lane more weight beside the tenant's average.
            expect(moved).toBeLessThan(3 / (weight + 1) + 0.2)
          }
        }
      }
    },
  )

  test('a pending quote at half the rate counts from the moment it is decided', () => {
    const quotes = quotesOf(12, 3)
    expect(movedBy(quotes, { factor: 0.45, outcome: 'pending', age: 0.1 })).toBeLessThan(0.01)
    expect(movedBy(quotes, { factor: 0.45, outcome: 'won', age: 0.1 })).toBeGreaterThan(0.1)
  })

  test('a pending rate far from the only decided one of its lane is an outlier, the decided one is not', () => {
    const pending = [false, true]
    const rates = { logRates: [1_680, 250].map(Math.log), isPending: (at: number) => pending[at] === true }
    expect([0, 1].filter(outlierTest(rates, null))).toEqual([1])
  })

  test('a lane of wrong pending rates does not exclude the decided rates', () => {
    const rates = {
      logRates: [2_000, 2_050, 2_100, 200, 200, 200, 200, 200].map(Math.log),
      isPending: (at: number) => at > 2,
    }
    expect([0, 1, 2, 3, 4, 5, 6, 7].filter(outlierTest(rates, null))).toEqual([3, 4, 5, 6, 7])
  })

  test('a rate in cents sent as dollars is an outlier', () => {
    const rates = { logRates: [7.6, 7.7, 12.2], isPending: () => false }
    expect([0, 1, 2].filter(outlierTest(rates, null))).toEqual([2])
  })

  test('the first quote of a lane is compared with the rates of the tenant', () => {
    const rates = (logRate: number, isPending: boolean) => ({
      logRates: [logRate],
      isPending: () => isPending,
    })
    const tenant = { middle: 7.6, deviation: 0.3 }
    const isOutlier = (factor: number, isPending: boolean) =>
      outlierTest(rates(7.6 + Math.log(factor), isPending), tenant)(0)
    expect([0.2, 0.38, 0.6, 1, 1.8, 3, 4.5].map((factor) => isOutlier(factor, true))).toEqual([
      true,
      true,
      false,
      false,
      false,
      true,
      true,
    ])
    expect([0.2, 0.38, 1, 3, 4.5].map((factor) => isOutlier(factor, false))).toEqual([
      true,
      false,
      false,
      false,
      true,
    ])
  })

  test('a level follows a market that moved by 40 percent within a few quotes', () => {
    const quotes = quotesOf(40, 5)
    const [first] = quotes
    if (first === undefined) throw new Error('no quotes')
    const reference = referenceRateCents(prepareEstimator({ quotes, now: NOW }), laneNamed(0), null) ?? 0
    const moved = [...quotes]
    for (let n = 0; n < 10; n++) {
      const quote = {
        ...first,
        laneId: 1_000_000 + n,
        rateCents: Math.round(reference * 1.4),
        outcome: 'won' as const,
      }
      moved.push({ ...quote, lane: laneNamed(0), quotedAt: NOW + (n + 1) * DAY })
    }
    const later = NOW + 12 * DAY
    const after = referenceRateCents(prepareEstimator({ quotes: moved, now: later }), laneNamed(0), null) ?? 0
    expect(after / reference).toBeGreaterThan(1.12)
  })
})
