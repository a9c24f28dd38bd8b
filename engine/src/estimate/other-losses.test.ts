import { describe, expect, test } from 'vitest'
import type { LaneQuote } from '../quotes/quoted-lanes.ts'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { laneOf } from './current-lane.ts'
import { estimateOffer } from './estimate-offer.ts'
import { prepareEstimator } from './estimator.ts'
import { aboutPrice, decidedByPrice, NO_OTHER_LOSSES, weightOfWeights } from './other-losses.ts'

const DAY = 86_400_000
const NOW = 20_000 * DAY

const laneNamed = (n: number) => ({
  key: `lane ${n}`,
  scopes: [{ name: 'region', key: 'region' }],
  costKeys: [`lane ${n}`],
})

/**
 * Quotes on four lanes. A fifth is lost for capacity, at any rate; of the others, the price decides.
 *
 * @param reasonOf whether a loss names another reason than the price
 */
function quotesOf(
  count: number,
  reasonOf: (loss: { forPrice: boolean }) => boolean,
  forOthers = 0.2,
): LaneQuote[] {
  const random = seededNumbers(7)
  return Array.from({ length: count }, (_, n) => {
    const x = 0.3 * (random() - 0.5)
    const other = random() < forOthers
    const won = random() < 1 / (1 + Math.exp(12 * x - 0.5)) && !other
    return {
      quoteId: n + 1,
      rateCents: Math.round(200_000 * Math.exp(x)),
      costCents: null,
      outcome: won ? 'won' : 'lost',
      otherReason: !won && reasonOf({ forPrice: !other }),
      quotedAt: NOW - (1 + Math.floor(random() * 60)) * DAY,
      miles: null,
      lane: laneNamed(n % 4),
    }
  })
}

const ask = (quotes: readonly LaneQuote[], dollars: number) =>
  estimateOffer({
    estimator: prepareEstimator({ quotes, now: NOW }),
    lane: laneNamed(0),
    offerRateCents: 100 * dollars,
    miles: null,
    expectedCostCents: 170_000,
  })

describe('losses for other reasons than the price', () => {
  test('do not say that a rate was too high, but that a fifth is lost at every rate', () => {
    const quotes = quotesOf(600, ({ forPrice }) => !forPrice)
    const { otherLosses } = prepareEstimator({ quotes, now: NOW })
    expect(otherLosses.mislabeled).toBeLessThan(0.25)
    expect(otherLosses.share).toBeGreaterThan(0.15)
    expect(otherLosses.share).toBeLessThan(0.25)
    // Nearly every quote that the price decides is won at $1,500: the rest is lost for other reasons.
    expect(ask(quotes, 1_500).probability).toBeGreaterThan(0.72)
    expect(ask(quotes, 1_500).probability).toBeLessThan(0.84)
  })

  test('are counted on their lane: among the decided ones, and by their reason', () => {
    const quotes = quotesOf(400, ({ forPrice }) => !forPrice)
    const ofLane = quotes.filter(({ lane }) => lane.key === 'lane 0')
    const { decided, won, lostForOtherReasons } = ask(quotes, 2_000)
    expect(decided).toBe(ofLane.length)
    expect(won).toBe(ofLane.filter(({ outcome }) => outcome === 'won').length)
    expect(lostForOtherReasons).toBe(ofLane.filter(({ otherReason }) => otherReason).length)
    const fold = laneOf(prepareEstimator({ quotes, now: NOW }), 'lane 0')
    expect(fold?.byPrice).toBeLessThanOrEqual(decided - Math.round(0.7 * lostForOtherReasons))
  })

  test('that are at the rates of losses about price count as such', () => {
    const { mislabeled } = prepareEstimator({ quotes: quotesOf(600, () => true, 0), now: NOW }).otherLosses
    expect(mislabeled).toBeGreaterThan(0.85)
  })

  test('that are the only ones of a brokerage with few quotes leave a falling curve and a finite answer', () => {
    for (const count of [1, 2, 5, 20]) {
      const quotes = quotesOf(count, () => true, 1)
      const [low, high] = [ask(quotes, 1_800).probability ?? 0, ask(quotes, 2_300).probability ?? 1]
      expect(high).toBeLessThan(low)
      expect(low).toBeGreaterThan(0)
      expect(low).toBeLessThan(1)
    }
  })

  test('that nobody has change no digit', () => {
    const plain = quotesOf(200, () => false)
    const without = plain.map(({ otherReason: _, ...quote }) => quote)
    expect(ask(plain, 2_000)).toEqual(ask(without, 2_000))
    expect(prepareEstimator({ quotes: plain, now: NOW }).otherLosses).toBe(NO_OTHER_LOSSES)
  })

  test('a brokerage that marks everything won has none', () => {
    const quotes = quotesOf(50, () => false).map((quote): LaneQuote => ({ ...quote, outcome: 'won' }))
    expect(prepareEstimator({ quotes, now: NOW }).otherLosses).toBe(NO_OTHER_LOSSES)
  })

  test('the share that the price decides mixes the lane with the tenant', () => {
    const tenant = { mislabeled: 0, slope: 0, share: 0.1 }
    expect(decidedByPrice(tenant, null)).toBeCloseTo(0.9, 12)
    expect(decidedByPrice(tenant, { decidedWeight: 10, otherWeight: 5 })).toBeCloseTo(0.7, 12)
    expect(decidedByPrice(NO_OTHER_LOSSES, { decidedWeight: 20, otherWeight: 0 })).toBe(1)
  })

  test('a loss at a high rate is more likely about the price', () => {
    const half = { mislabeled: 0.5, slope: 6, share: 0.1 }
    expect(aboutPrice(half, 0.1)).toBeCloseTo(0.6457, 4)
    expect(aboutPrice(half, 0.1)).toBeGreaterThan(aboutPrice(half, -0.1))
    expect(aboutPrice({ ...half, mislabeled: 0 }, 5)).toBe(0)
  })
})

test('old quotes leave less chance in a sum of outcomes than their weight', () => {
  expect(weightOfWeights(null)).toBe(1)
  expect(weightOfWeights({ decidedWeight: 0, decidedSquares: 0 })).toBe(1)
  expect(weightOfWeights({ decidedWeight: 1.5, decidedSquares: 1.25 })).toBeCloseTo(0.833333, 6)
})
