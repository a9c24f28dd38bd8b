import { describe, expect, test } from 'vitest'
import type { Outcome } from '../history.ts'
import type { LaneQuote } from '../quotes/quoted-lanes.ts'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { estimateOffer } from './estimate-offer.ts'
import { type Estimator, prepareEstimator } from './estimator.ts'
import { referenceRateCents } from './lane-reference.ts'
import { type TenantRates, weightsOfRates } from './left-out.ts'

const DAY = 86_400_000
const NOW = 20_000 * DAY
const SPREAD = 0.1

const laneNamed = (n: number) => ({
  key: `lane ${n}`,
  scopes: [
    { name: 'region', key: 'region' },
    { name: 'state_pair', key: `pair ${n % 3}` },
  ],
  costKeys: [],
})

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random())
}

/** Lanes with levels of their own, and rates 10 % around the level: `count` quotes on lane 0, twelve on each other. */
function brokerage(count: number, seed: number, lanes: number) {
  const random = seededNumbers(seed)
  const quotes: LaneQuote[] = []
  let levelOfFirst = 0
  for (let n = 0; n < lanes; n++) {
    const level = 200_000 * Math.exp(0.25 * normal(random))
    if (n === 0) levelOfFirst = level
    for (let at = 0; at < (n === 0 ? count : 12); at++) {
      const x = SPREAD * normal(random)
      const won = random() < 1 / (1 + Math.exp(8 * x))
      quotes.push({
        quoteId: quotes.length + 1,
        rateCents: Math.round(level * Math.exp(x)),
        costCents: null,
        outcome: random() < 0.15 ? 'pending' : won ? 'won' : 'lost',
        quotedAt: NOW - Math.floor((1 + random() * 179) * DAY),
        miles: null,
        lane: laneNamed(n),
      })
    }
  }
  return { quotes, level: levelOfFirst }
}

const lane = laneNamed(0)
const goingRate = (estimator: Estimator) => referenceRateCents(estimator, lane, null) ?? Number.NaN
const chanceAt = (estimator: Estimator, offerRateCents: number) =>
  estimateOffer({ estimator, lane, offerRateCents, miles: null, expectedCostCents: null }).probability ??
  Number.NaN

/** The moves by one more quote on the lane at some times its level: of the going rate in spreads, and of the chance in points. */
function movesBy(count: number, times: number, outcome: Outcome, lanes = 12) {
  const { quotes, level } = brokerage(count, count, lanes)
  const before = prepareEstimator({ quotes, now: NOW })
  const typo: LaneQuote = {
    quoteId: 1_000_000,
    rateCents: Math.round(level * times),
    costCents: null,
    outcome,
    quotedAt: NOW - 0.1 * DAY,
    miles: null,
    lane,
  }
  const after = prepareEstimator({ quotes: [...quotes, typo], now: NOW })
  const old = goingRate(before)
  return {
    spreads: Math.abs(Math.log(goingRate(after) / old)) / SPREAD,
    points: 100 * Math.abs(chanceAt(after, old) - chanceAt(before, old)),
  }
}

describe('one more quote on a lane', () => {
  const sizes = [5, 20, 100]
  test.each(sizes.flatMap((count) => [0.1, 0.26, 0.5, 2, 3.9, 10].map((times) => [count, times] as const)))(
    'of %i, at %f times its rate, moves it by at most a quarter of its spread, and the chance by 5 points',
    (count, times) => {
      for (const outcome of ['pending', 'won', 'lost'] as const) {
        const moved = movesBy(count, times, outcome)
        expect(moved.spreads).toBeLessThan(0.25)
        expect(moved.points).toBeLessThan(5)
      }
    },
  )

  test.each([
    [5, 10],
    [20, 6],
    [100, 4],
  ])('of %i, at any factor, moves the chance by at most %i points where lanes are alike', (count, most) => {
    for (const times of [0.6, 0.7, 0.9, 1.1, 1.5])
      for (const outcome of ['pending', 'won', 'lost'] as const)
        expect(movesBy(count, times, outcome).points).toBeLessThan(most)
  })

  test.each([1, 12].flatMap((lanes) => [5, 8, 20, 60].map((count) => [count, lanes] as const)))(
    'of %i, in a brokerage of %i lanes, at any factor, moves it by at most a quarter of its spread',
    (count, lanes) => {
      for (const times of [0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5])
        for (const outcome of ['pending', 'won', 'lost'] as const)
          expect(movesBy(count, times, outcome, lanes).spreads).toBeLessThan(0.25)
    },
  )
})

describe('how much rates count', () => {
  const tenant: TenantRates = { middle: 7.6, deviation: 0.3, spread: 0.1, tail: 1 }
  const weights = (logRates: number[], isPending = (_: number) => false, dayOf = (at: number) => at) => [
    ...weightsOfRates({ logRates, isPending, dayOf }, tenant).weights,
  ]

  test('a rate in cents sent as dollars does not count, and its neighbors fully', () => {
    expect(weights([7.6, 7.7, 12.2])).toEqual([1, 1, 0])
  })

  test('the only rate of a lane is compared with those of the brokerage', () => {
    expect(weights([7.9])).toEqual([1])
    expect(weights([7.6 + Math.log(10)])).toEqual([0])
  })

  test('of two rates that differ, the one far from those of the brokerage does not count', () => {
    expect(weights([7.6, 7.6 + Math.log(4)])).toEqual([1, 0])
    expect(weights([7.6 - Math.log(4), 7.65])).toEqual([0, 1])
  })

  test('a pending rate beyond three spreads waits outside, a decided one counts less', () => {
    const rates = [7.5, 7.55, 7.6, 7.65, 7.7, 7.6 + 0.36]
    const [pending, decided] = [weights(rates, (at) => at === 5), weights(rates)].map((all) => all[5] ?? 1)
    expect(pending).toBe(0)
    expect(decided).toBeGreaterThan(0)
    expect(decided).toBeLessThan(1)
  })

  test('five hundred pending rates of one day do not look right', () => {
    const logRates = [7.55, 7.6, 7.6, 7.65, ...Array.from({ length: 500 }, () => 5.3)]
    const found = weights(
      logRates,
      (at) => at > 3,
      (at) => Math.min(at, 4),
    )
    expect(found.slice(0, 4)).toEqual([1, 1, 1, 1])
    expect(Math.max(...found.slice(4))).toBe(0)
  })

  test('where rates far from the others are usual, they count', () => {
    const rates = { logRates: [7.5, 7.55, 7.6, 7.65, 8.1], isPending: () => false, dayOf: () => 0 }
    expect(weightsOfRates(rates, tenant).weights[4]).toBe(0)
    expect(weightsOfRates(rates, { ...tenant, tail: 3 }).weights[4]).toBe(1)
  })
})
