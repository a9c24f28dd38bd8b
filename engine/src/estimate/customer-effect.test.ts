import { expect, test } from 'vitest'
import type { LaneQuote } from '../quotes/quoted-lanes.ts'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { finished } from '../steps.ts'
import { customerEffectsInSteps, customerShift, shiftedPosterior } from './customer-effect.ts'
import { prepareEstimator } from './estimator.ts'
import { winQuantiles } from './interval.ts'
import { lanePosterior } from './lane-posterior.ts'

const DAY = 86_400_000
const NOW = 20_000 * DAY
const CUSTOMERS = 10
const LANES = 12

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random())
}

const laneNamed = (n: number) => ({
  key: `lane ${n}`,
  scopes: [{ name: 'state_pair', key: `pair ${n % 3}` }],
  costKeys: [],
})

/** What the quotes of customers with levels of their own say, if these levels also move by `swing` from month to month. */
function foundWith(swing: number) {
  const random = seededNumbers(5)
  const levels = Array.from({ length: CUSTOMERS }, () => normal(random))
  const months = Array.from({ length: CUSTOMERS * 12 }, () => swing * normal(random))
  const customerOf: number[] = [0]
  const quotes = Array.from({ length: 3_000 }, (_, n): LaneQuote => {
    const customer = Math.floor(random() * CUSTOMERS)
    customerOf.push(customer)
    const day = 20_000 - 1 - Math.floor(random() * 180)
    const x = 0.08 * normal(random)
    const level = (levels[customer] ?? 0) + (months[12 * customer + (Math.floor(day / 30) % 12)] ?? 0)
    return {
      quoteId: n + 1,
      rateCents: Math.round(200_000 * Math.exp(x)),
      costCents: null,
      outcome: random() < 1 / (1 + Math.exp(8 * x - level)) ? 'won' : 'lost',
      quotedAt: day * DAY,
      miles: null,
      lane: laneNamed(n % LANES),
    }
  })
  const model = prepareEstimator({ quotes, now: NOW })
  const { columns } = model.quoted
  const effects = finished(customerEffectsInSteps(model, (row) => customerOf[columns.quoteId[row]!] ?? -1))
  const shift = customerShift(effects, { customer: 0, lane: 0, borrowedShare: 0 })
  if (shift === null) throw new Error('no effects')
  const [low = 0, high = 1] = winQuantiles(
    shiftedPosterior(lanePosterior(model, laneNamed(0)), shift),
    0,
    [0.1, 0.9],
  )
  return { swing: effects.swing, variance: shift.variance, width: high - low }
}

test('a customer whose win rate moves from month to month has a wider range', () => {
  const [steady, moving] = [foundWith(0), foundWith(1)]
  expect(steady.swing).toBeLessThan(0.3)
  expect(moving.swing).toBeGreaterThan(0.6)
  expect(moving.swing).toBeLessThan(1.3)
  expect(moving.variance).toBeGreaterThan(2 * steady.variance)
  expect(moving.width).toBeGreaterThan(1.5 * steady.width)
})

const GROUPS = 5

/** Quotes on lanes of two levels; customers with higher numbers say yes more often. */
function quotesOfGroups(count: number) {
  const random = seededNumbers(3)
  return Array.from({ length: count }, (_, quoteId) => {
    const lane = Math.floor(random() * 9)
    const x = 0.3 * (random() - 0.5)
    const logOdds = (quoteId % GROUPS) - 2 - 10 * x
    return {
      quoteId,
      rateCents: Math.round(200_000 * (1 + 0.05 * lane) * Math.exp(x)),
      costCents: null,
      outcome: random() < 1 / (1 + Math.exp(-logOdds)) ? ('won' as const) : ('lost' as const),
      quotedAt: NOW - (1 + Math.floor(random() * 90)) * DAY,
      miles: null,
      lane: {
        key: `lane ${lane}`,
        scopes: [{ name: 'region', key: 'region' }],
        costKeys: [`lane ${lane}`],
      },
    }
  })
}

test('the effects of customers have the same digits in whatever order an instance met the lanes', () => {
  const list = quotesOfGroups(400)
  const [one, other] = [list, list.toReversed()].map((met) => {
    const estimator = prepareEstimator({ quotes: met, now: NOW })
    const { columns } = estimator.quoted
    return finished(customerEffectsInSteps(estimator, (row) => Number(columns.quoteId[row]) % GROUPS))
  })
  if (one === undefined || other === undefined) throw new Error('Both were computed.')
  expect(one.spread).toBeGreaterThan(0.5)
  expect(one.effects.get(4)?.level).toBeGreaterThan(one.effects.get(0)?.level ?? 0)
  expect({ ...other, laneMeans: [...other.laneMeans.values()] }).toEqual({
    ...one,
    laneMeans: [...one.laneMeans.values()],
  })
})
