import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { freightLane } from '../quotes/lane-identity.ts'
import { bestBetween, counterChances, REFUSES_ANY_INCREASE } from './counter-offer.ts'
import { estimateOffer } from './estimate-offer.ts'
import { prepareEstimator } from './estimator.ts'
import { laneWinCurve } from './lane-win-curve.ts'

const now = Date.UTC(2026, 5, 1, 15)
const lane = freightLane({
  origin: { city: 'dallas tx', state: 'TX', region: 'SC' },
  destination: { city: 'atlanta ga', state: 'GA', region: 'SE' },
  equipment: 'V',
})
/** Won up to $1,950, lost from $2,000, with one exception. */
const quotes = [1800, 1850, 1900, 1950, 2000, 2050, 2100, 2150, 2200, 2250].map((dollars, nth) => ({
  quoteId: nth + 1,
  rateCents: dollars * 100,
  costCents: null,
  outcome: dollars < 2000 || dollars === 2050 ? ('won' as const) : ('lost' as const),
  quotedAt: now - (20 - nth) * 86_400_000,
  miles: 780,
  lane,
}))
const estimator = prepareEstimator({ quotes, now })
const chanceOf = (rateCents: number) =>
  estimateOffer({ estimator, lane, offerRateCents: rateCents, miles: 780, expectedCostCents: null })
    .probability ?? Number.NaN
const found = laneWinCurve({ estimator, lane, miles: 780, customer: null })
if (found === null) throw new Error('There is no belief.')
const belief = found

describe('the chance after a counter-offer', () => {
  const offer = { quotedCents: 220_000, counterCents: 190_000 }
  const chance = counterChances(belief, offer)

  test('is one at and below the rate that the customer named, and none from the quoted rate up', () => {
    expect([180_000, 190_000, 220_000, 250_000].map((rate) => chance(rate).probability)).toEqual([1, 1, 0, 0])
  })

  test('between them is the share of such customers whose limit is at least the rate', () => {
    for (const rate of [195_000, 205_000, 215_000]) {
      const share =
        (chanceOf(rate) - chanceOf(offer.quotedCents)) /
        (chanceOf(offer.counterCents) - chanceOf(offer.quotedCents))
      expect(chance(rate).probability).toBeCloseTo((1 - REFUSES_ANY_INCREASE.share) * share, 6)
    }
  })

  test('drops at the first dollar by the share of customers who refuse any increase', () => {
    const { probability, interval80 } = chance(190_100)
    expect(probability).toBeLessThanOrEqual(1 - REFUSES_ANY_INCREASE.share)
    expect(probability).toBeGreaterThan(1 - REFUSES_ANY_INCREASE.share - 0.02)
    expect(interval80.high).toBeLessThanOrEqual(1 - REFUSES_ANY_INCREASE.low)
  })

  test('falls with the rate, stays within its range, and is defined on any curve', () => {
    const cents = fc.integer({ min: 30_000, max: 900_000 })
    fc.assert(
      fc.property(cents, cents, fc.double({ min: 0, max: 1, noNaN: true }), (one, other, at) => {
        fc.pre(one !== other)
        const [counterCents, quotedCents] = one < other ? [one, other] : [other, one]
        const of = counterChances(belief, { quotedCents, counterCents })
        const rate = counterCents + at * (quotedCents - counterCents)
        const [here, above] = [of(rate), of(rate + 1_000)]
        expect(above.probability).toBeLessThanOrEqual(here.probability + 1e-9)
        const { low, high } = here.interval80
        expect(0 <= low && low <= here.probability && here.probability <= high && high <= 1).toBe(true)
      }),
    )
  })

  test('falls evenly where the curve says nothing', () => {
    const far = counterChances(belief, { quotedCents: 9_000_000, counterCents: 8_000_000 })
    const { probability, interval80 } = far(8_250_000)
    expect(probability).toBeCloseTo(0.75 * (1 - REFUSES_ANY_INCREASE.share), 9)
    expect(interval80).toEqual({ low: 0, high: 1 - REFUSES_ANY_INCREASE.low })
  })
})

describe('the rate to counter with', () => {
  const terms = {
    quotedCents: 220_000,
    counterCents: 190_000,
    lowCents: null,
    highCents: null,
    roundToCents: null,
  }
  const chance = counterChances(belief, terms)
  const worth = (rate: number) => chance(rate).probability * (rate - 170_000)

  test('has the best expected margin of all whole dollars from one percent above the named rate', () => {
    const best = bestBetween(terms, worth) ?? 0
    for (let rate = 191_900; rate < 220_000; rate += 100)
      expect(worth(rate)).toBeLessThanOrEqual(worth(best) + 1e-9)
  })

  test('never lies a dollar above the named rate: it asks for one percent more, or for half of the difference', () => {
    const dollars = fc.integer({ min: 300, max: 9_000 })
    const unit = fc.constantFrom(null, 500, 2_500)
    fc.assert(
      fc.property(
        dollars,
        dollars,
        fc.integer({ min: 100, max: 9_000 }),
        unit,
        (one, other, cost, roundToCents) => {
          fc.pre(one !== other)
          const counterCents = Math.min(one, other) * 100
          const quotedCents = Math.max(one, other) * 100
          const of = counterChances(belief, { quotedCents, counterCents })
          const found = bestBetween(
            { quotedCents, counterCents, lowCents: null, highCents: null, roundToCents },
            (rate) => of(rate).probability * (rate - cost * 100),
          )
          const more = (found ?? quotedCents) - counterCents
          expect(more).toBeGreaterThanOrEqual(Math.min(0.01 * counterCents, (quotedCents - counterCents) / 2))
          if (found !== null) {
            expect(more).toBeGreaterThan(100)
            expect(found).toBeLessThan(quotedCents)
          }
        },
      ),
    )
  })

  test('is within the rules, or else as close to them as a rate between the two can be', () => {
    expect(bestBetween({ ...terms, lowCents: 215_050 }, worth)).toBe(215_100)
    expect(bestBetween({ ...terms, highCents: 192_050 }, worth)).toBe(192_000)
    expect(bestBetween({ ...terms, highCents: 190_950 }, worth)).toBe(bestBetween(terms, worth))
    expect((bestBetween({ ...terms, roundToCents: 2_500 }, worth) ?? 1) % 2_500).toBe(0)
    expect(bestBetween({ ...terms, lowCents: 230_000 }, worth)).toBe(bestBetween(terms, worth))
    expect(bestBetween({ ...terms, roundToCents: 50_000 }, worth)).toBe(200_000)
    expect(bestBetween({ ...terms, roundToCents: 1_000_000 }, worth)).toBe(bestBetween(terms, worth))
  })

  test('is in the middle without a cost, and does not exist for two rates within four dollars', () => {
    expect(bestBetween(terms, null)).toBe(205_000)
    expect(bestBetween({ ...terms, counterCents: 219_650 }, null)).toBeNull()
    expect(bestBetween({ ...terms, counterCents: 219_600 }, null)).toBe(219_800)
  })
})
