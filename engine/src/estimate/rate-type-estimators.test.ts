import { describe, expect, test } from 'vitest'
import type { LaneQuote } from '../quotes/quoted-lanes.ts'
import type { RateType } from '../rate-type.ts'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { borrowedType } from './borrowed-type.ts'
import { laneOf } from './current-lane.ts'
import { estimateOffer } from './estimate-offer.ts'
import { prepareEstimator } from './estimator.ts'
import { costsByType, expectedCost } from './expected-cost.ts'
import { referenceRateCents } from './lane-reference.ts'
import { estimatorFor, estimatorsByType } from './rate-type-estimators.ts'

const DAY = 86_400_000
const now = 20_000 * DAY

const laneNamed = (n: number) => ({
  key: `lane ${n}`,
  scopes: [
    { name: 'region', key: 'region' },
    { name: 'state_pair', key: `pair ${n % 2}` },
  ],
  costKeys: [`lane ${n}`],
})

/** Quotes on some lanes, with rates around `rate` and a win rate that falls with the rate. */
function quotesOf(
  rateType: RateType,
  count: number,
  { rate = 2_000, lanes = 6, seed = 1 } = {},
): LaneQuote[] {
  const random = seededNumbers(seed)
  return Array.from({ length: count }, (_, n) => {
    const x = 0.3 * (random() - 0.5)
    return {
      quoteId: (rateType === 'spot' ? 0 : 100_000) + n,
      rateCents: Math.round(100 * rate * (1 + 0.05 * (n % lanes)) * Math.exp(x)),
      costCents: null,
      outcome: random() < 1 / (1 + Math.exp(10 * x)) ? 'won' : 'lost',
      quotedAt: now - (1 + Math.floor(random() * 90)) * DAY,
      miles: null,
      lane: laneNamed(n % lanes),
      rateType,
    }
  })
}

describe('spot and contract', () => {
  test('a brokerage with quotes of one type has the same digits as without types, for both', () => {
    for (const rateType of ['spot', 'contract'] as const) {
      const quotes = quotesOf(rateType, 120)
      const both = estimatorsByType({ quotes, now })
      const plain = prepareEstimator({ quotes, now })
      const asked = { offerRateCents: 205_000, miles: null, expectedCostCents: 170_000 }
      for (const lane of [laneNamed(0), laneNamed(99)]) {
        for (const one of ['spot', 'contract'] as const) {
          expect(estimateOffer({ ...asked, lane, estimator: estimatorFor(both, one) })).toEqual(
            estimateOffer({ ...asked, lane, estimator: plain }),
          )
        }
      }
      expect(both[rateType === 'spot' ? 'contract' : 'spot']).toBeNull()
    }
  })

  test('contract quotes do not change the spot estimate of a lane with spot quotes', () => {
    const spot = quotesOf('spot', 120)
    const alone = estimatorFor(estimatorsByType({ quotes: spot, now }), 'spot')
    const cheap = quotesOf('contract', 300, { rate: 1_000, seed: 2 })
    const both = estimatorFor(estimatorsByType({ quotes: [...spot, ...cheap], now }), 'spot')
    const { knots, level, quotes } = laneOf(both, 'lane 0') ?? {}
    expect({ knots, level, quotes }).toEqual({
      knots: laneOf(alone, 'lane 0')?.knots,
      level: laneOf(alone, 'lane 0')?.level,
      quotes: laneOf(alone, 'lane 0')?.quotes,
    })
    // One pool of all quotes has a going rate between the two.
    const mixed = prepareEstimator({ quotes: [...spot, ...cheap], now })
    const [own = 0, apart = 0, together = 0] = [alone, both, mixed].map(
      (estimator) => referenceRateCents(estimator, laneNamed(0), null) ?? 0,
    )
    expect(Math.abs(apart / own - 1)).toBeLessThan(0.03)
    expect(together / own).toBeLessThan(0.75)
  })

  test('a lane that was never quoted on contract takes the spot rate, less the usual difference', () => {
    const quotes = [
      ...quotesOf('spot', 400, { lanes: 8 }),
      ...quotesOf('contract', 200, { rate: 1_800, lanes: 6, seed: 3 }),
    ]
    const both = estimatorsByType({ quotes, now })
    const contract = estimatorFor(both, 'contract')
    expect(contract.borrowing?.rateOffset).toBeCloseTo(Math.log(0.9), 1)
    expect(contract.borrowing?.lanesOfBoth).toBe(6)
    const spotRate = referenceRateCents(estimatorFor(both, 'spot'), laneNamed(7), null) ?? 0
    const rate = referenceRateCents(contract, laneNamed(7), null) ?? 0
    expect(rate / spotRate).toBeGreaterThan(0.83)
    expect(rate / spotRate).toBeLessThan(0.97)
    const [known, unseen] = [0, 7].map((n) => borrowedType(contract, laneNamed(n), 0.5))
    expect(unseen?.rateShare).toBeGreaterThan(0.5)
    expect(known?.rateShare).toBeLessThan(0.3)
    expect(known?.curveShare).toBeGreaterThan(0)
    expect(known?.curveShare).toBeLessThan(0.5)
  })

  test('the same quotes in another order give the same digits', () => {
    const quotes = [...quotesOf('spot', 150), ...quotesOf('contract', 60, { seed: 4 })]
    const asked = { offerRateCents: 205_000, miles: null, expectedCostCents: 170_000, lane: laneNamed(1) }
    const [one, other] = [quotes, quotes.toReversed()].map((list) =>
      estimateOffer({
        ...asked,
        estimator: estimatorFor(estimatorsByType({ quotes: list, now }), 'contract'),
      }),
    )
    expect(one).toEqual(other)
  })
})

describe('the expected cost', () => {
  const loads = (count: number, dollars: number, lane = 0) =>
    Array.from({ length: count }, (_, n) => ({
      quoteId: n,
      costCents: 100 * dollars,
      miles: 500,
      at: now - (n + 1) * DAY,
      costKeys: ['region', 'from', 'to', 'states', 'corridor', `lane ${lane}`],
    }))
  const asked = { costKeys: loads(1, 0)[0]?.costKeys ?? [], miles: 500 }

  test('is that of the own loads of a type if there are enough', () => {
    const { spot, contract } = costsByType({ spot: loads(30, 1_500), contract: loads(30, 1_200) }, now)
    expect(expectedCost(spot, asked)?.borrowed).toBe(0)
    expect((expectedCost(spot, asked)?.costCents ?? 0) / 150_000).toBeCloseTo(1, 2)
    expect((expectedCost(contract, asked)?.costCents ?? 0) / 120_000).toBeCloseTo(1, 2)
  })

  test('of the type with more loads is its own, also on a lane without loads of it', () => {
    const { spot } = costsByType({ spot: loads(30, 1_500), contract: loads(10, 1_200, 1) }, now)
    const { spot: alone } = costsByType({ spot: loads(30, 1_500), contract: [] }, now)
    const thin = { costKeys: loads(1, 0, 1)[0]?.costKeys ?? [], miles: 500 }
    expect(expectedCost(spot, thin)?.borrowed).toBe(0)
    expect(expectedCost(spot, thin)).toEqual(expectedCost(alone, thin))
  })

  test('takes a part from the other type with few own loads, and all of it with none', () => {
    const few = costsByType({ spot: loads(30, 1_500), contract: loads(2, 1_200) }, now)
    const mixed = expectedCost(few.contract, asked)
    expect(mixed?.borrowed).toBeGreaterThan(0.2)
    expect(mixed?.costCents).toBeGreaterThan(121_000)
    expect(mixed?.costCents).toBeLessThan(149_000)
    const none = costsByType({ spot: loads(30, 1_500), contract: [] }, now)
    expect(expectedCost(none.contract, asked)).toMatchObject({
      borrowed: 1,
      costCents: expectedCost(none.spot, asked)?.costCents,
    })
  })
})
