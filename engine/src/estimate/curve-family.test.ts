import { describe, expect, test } from 'vitest'
import type { LaneIdentity } from '../quotes/lane-identity.ts'
import type { LaneQuote } from '../quotes/quoted-lanes.ts'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { SHAPES, USUAL_FAMILY } from './curve-family.ts'
import { estimateOffer } from './estimate-offer.ts'
import { prepareEstimator } from './estimator.ts'
import { intervalCurve, intervalsAt } from './interval.ts'
import { addQuote, emptyKnots } from './knots.ts'
import { lanePosterior, lanePrior } from './lane-posterior.ts'
import { posteriorOf, winMean } from './posterior.ts'
import { effectiveRate, logLoss, sigmoid, winLogOdds } from './price-response.ts'

const NOW = Date.UTC(2026, 0, 1)
const DAY = 86_400_000

function laneOf(i: number): LaneIdentity {
  return { key: `lane ${i}`, scopes: [{ name: 'state_pair', key: `pair ${i % 3}` }], costKeys: [] }
}

/** Quotes on 12 lanes in the last 60 days, each 10 % around 2,000 dollars and won with the given chance. */
function quotesWith(chance: (x: number, day: number) => number, count: number, seed: number): LaneQuote[] {
  const random = seededNumbers(seed)
  return Array.from({ length: count }, (_, i) => {
    const x = 0.5 * (random() + random() + random() - 1.5)
    const age = 1 + (i % 60)
    return {
      quoteId: i + 1,
      rateCents: Math.round(200_000 * Math.exp(x)),
      costCents: null,
      outcome: random() < chance(x, age) ? 'won' : 'lost',
      quotedAt: NOW - age * DAY,
      miles: null,
      lane: laneOf(i % 12),
    }
  })
}

/** Sealed bids: no load is won far above the market, and a third of the loads is never won. */
const sealed = (x: number) => 0.66 * sigmoid(-0.5 - 40 * effectiveRate(x, { ceiling: 1, bend: 0.05 }))
const straight = (x: number) => sigmoid(0.5 - 8 * x)

describe('the family of a brokerage', () => {
  test('without quotes, with few, and with straight curves is the usual one', () => {
    expect(prepareEstimator({ quotes: [], now: NOW }).family).toBe(USUAL_FAMILY)
    expect(prepareEstimator({ quotes: quotesWith(sealed, 12, 1), now: NOW }).family.shape).toBe(SHAPES[0])
    for (const seed of [1, 2, 3]) {
      const { family } = prepareEstimator({ quotes: quotesWith(straight, 800, seed), now: NOW })
      expect(family.shape).toBe(SHAPES[0])
    }
  })

  test('of sealed bids has a bend, and predicts them better than the usual shape', () => {
    const model = prepareEstimator({ quotes: quotesWith(sealed, 800, 4), now: NOW })
    expect(model.family.shape.bend).toBeLessThan(1)
    const usual = { ...model, family: USUAL_FAMILY }
    const errorOf = (one: typeof model) => {
      const posterior = lanePosterior(one, laneOf(0))
      return [-0.3, -0.1, 0, 0.1, 0.2].reduce(
        (sum, x) => sum + Math.abs(winMean(posterior, x) - sealed(x)),
        0,
      )
    }
    expect(errorOf(model)).toBeLessThan(0.6 * errorOf(usual))
  })

  test('says how much lanes differ, and a lane takes more from lanes that are alike', () => {
    const alike = prepareEstimator({ quotes: quotesWith(straight, 1_200, 6), now: NOW })
    const differing = prepareEstimator({
      quotes: quotesWith(straight, 1_200, 6).map((quote, i) =>
        i % 12 < 6 ? quote : { ...quote, outcome: i % 5 === 0 ? quote.outcome : 'won' },
      ),
      now: NOW,
    })
    expect(alike.family.levelVariance).toBeLessThan(0.1)
    expect(differing.family.levelVariance).toBeGreaterThan(0.5)
    const priors = [alike, { ...alike, family: { ...alike.family, levelVariance: 5 } }].map((one) =>
      lanePrior(one, laneOf(0)),
    )
    expect(priors[0]?.a).toBe(priors[1]?.a)
    expect(priors[0]?.varianceA).toBeLessThan(0.5 * (priors[1]?.varianceA ?? 0))
  })

  test('moves toward a bend step by step: no quote switches it', () => {
    const quotes = quotesWith(sealed, 400, 4)
    const steps = Array.from({ length: 36 }, (_, i) => {
      const { family } = prepareEstimator({ quotes: quotes.slice(0, 294 + i), now: NOW })
      return SHAPES.indexOf(family.shape)
    })
    const moves = steps.slice(1).map((step, i) => Math.abs(step - steps[i]!))
    expect(steps[0]).toBe(0)
    expect(steps.at(-1)).toBeGreaterThan(7)
    expect(Math.max(...moves)).toBeLessThan(4)
  })

  test('is the same for the same quotes in another order', () => {
    const quotes = quotesWith(sealed, 400, 5)
    const [one, other] = [quotes, quotes.toReversed()].map((of) => prepareEstimator({ quotes: of, now: NOW }))
    expect(other?.family).toEqual(one?.family)
    expect(other?.swings).toEqual(one?.swings)
    expect(other && lanePosterior(other, laneOf(1)).weights).toEqual(
      one && lanePosterior(one, laneOf(1)).weights,
    )
  })
})

describe.each(SHAPES)('curves with bend $bend', (shape) => {
  const knots = emptyKnots()
  for (const [x, won] of [
    [-0.2, true],
    [-0.1, true],
    [-0.05, false],
    [0, true],
    [0.04, false],
    [0.1, false],
  ] as const)
    addQuote(knots, { x, won, weight: 1 })
  const posterior = posteriorOf(
    knots,
    { a: 0.5, b: Math.log(8), varianceA: 2.25, covariance: 0, varianceB: 1 },
    shape,
  )

  test('fall in the rate with their intervals, and never reach the ceiling', () => {
    const intervals = intervalCurve(posterior)
    let before = { mean: 1, ...intervalsAt(intervals, { x: -3, mean: winMean(posterior, -3) }) }
    for (let x = -3; x <= 2; x += 0.01) {
      const mean = winMean(posterior, x)
      const here = { mean, ...intervalsAt(intervals, { x, mean }) }
      expect(mean).toBeLessThanOrEqual(before.mean)
      expect(mean).toBeLessThanOrEqual(shape.ceiling)
      for (const name of ['interval80', 'interval95'] as const) {
        expect(here[name].low).toBeLessThanOrEqual(before[name].low)
        expect(here[name].high).toBeLessThanOrEqual(before[name].high)
        expect(here[name].high).toBeLessThanOrEqual(shape.ceiling)
        expect(here[name].low).toBeLessThanOrEqual(mean)
        expect(here[name].high).toBeGreaterThanOrEqual(mean)
      }
      before = here
    }
  })

  test('have a mode where the posterior does not rise in any direction', () => {
    const logPosterior = ({ a, b }: { a: number; b: number }) => {
      let sum = -0.5 * ((a - 0.5) ** 2 / 2.25 + (b - Math.log(8)) ** 2)
      for (let k = 0; k < knots.wins.length; k++) {
        const logOdds = winLogOdds({ a, b }, -0.6 + 0.02 * k, shape)
        sum += (knots.wins[k] ?? 0) * Math.log(shape.ceiling * sigmoid(logOdds))
        sum += (knots.losses[k] ?? 0) * logLoss(logOdds, shape.ceiling)
      }
      return sum
    }
    const best = logPosterior(posterior.mode)
    for (const [da, db] of [
      [0.02, 0],
      [-0.02, 0],
      [0, 0.02],
      [0, -0.02],
    ] as const)
      expect(logPosterior({ a: posterior.mode.a + da, b: posterior.mode.b + db })).toBeLessThan(best)
  })
})

describe('a drift of the win rate', () => {
  const shortOf = (quotes: readonly LaneQuote[]) => prepareEstimator({ quotes, now: NOW }).swings.drift

  test('that lasts is learned, and moves the estimate of every lane', () => {
    // The win rate swings slowly, and has been high for three weeks.
    const quotes = quotesWith((_, age) => (Math.floor(age / 20) % 2 === 0 ? 0.8 : 0.35), 3_000, 6)
    const drift = shortOf(quotes)
    expect(drift).toBeGreaterThan(0.1)
    const model = prepareEstimator({ quotes, now: NOW })
    const offer = { lane: laneOf(0), offerRateCents: 200_000, miles: null, expectedCostCents: null }
    const estimate = estimateOffer({ ...offer, estimator: model }).probability ?? 0
    expect(estimate).toBeGreaterThan(
      estimateOffer({ ...offer, estimator: { ...model, swings: { ...model.swings, drift: 0 } } })
        .probability ?? 1,
    )
  })

  test('that is chance is not followed', () => {
    for (const seed of [7, 8, 9])
      expect(Math.abs(shortOf(quotesWith(straight, 1_500, seed)))).toBeLessThan(0.05)
    expect(shortOf([])).toBe(0)
  })
})
