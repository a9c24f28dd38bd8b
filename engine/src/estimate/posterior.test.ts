import { describe, expect, test } from 'vitest'
import { bankLogLikelihood } from './curve-bank.ts'
import { intervalCurve, intervalsAt, winQuantiles, withEnds } from './interval.ts'
import { addQuote, emptyKnots, type Knots } from './knots.ts'
import { bestRate } from './optimum.ts'
import { posteriorOf, winMean } from './posterior.ts'
import { FULL_WEIGHT } from './price-response.ts'
import { priorOf } from './prior.ts'
import { LANE_KINSHIP, messageDown, messageUp, rootBelief, SCOPE_KINSHIP } from './tree.ts'
import { addInto, difference } from './vector.ts'

const LANE: readonly [number, boolean][] = [
  [1800, true],
  [1850, true],
  [1900, true],
  [1950, true],
  [2000, false],
  [2050, true],
  [2100, false],
  [2150, false],
  [2200, false],
  [2250, false],
]

function knotsOf(quotes: readonly (readonly [number, boolean])[]): Knots {
  const knots = emptyKnots()
  for (const [x, won] of quotes) addQuote(knots, { x, won, weight: 1 })
  return knots
}

const digits = (value: number) => value.toFixed(6)

describe('the posterior of ten quotes around 2,025', () => {
  const prior = { a: 0.5, b: Math.log(8), varianceA: 2.25, covariance: 0, varianceB: 1 }
  const knots = knotsOf(LANE.map(([rate, won]) => [Math.log(rate / 2025), won]))
  const posterior = { ...posteriorOf(knots, prior), noise: 0.25 }

  // Known values from an independent prototype of the same definitions.
  test('has the known mode, mean and covariance', () => {
    expect(digits(posterior.mode.a)).toBe('0.096405')
    expect(digits(posterior.mode.b)).toBe('3.341743')
    const { a, b, varianceA, covariance, varianceB } = posterior.belief
    expect([a, b, varianceA, covariance, varianceB].map(digits)).toEqual([
      '0.111186',
      '3.252223',
      '0.613295',
      '0.030645',
      '0.510871',
    ])
  })

  test('has narrower intervals with a smaller reach, around the same probability', () => {
    const [wide = [], narrow = []] = [1, 0.5].map((reach) =>
      winQuantiles({ ...posterior, noise: 0, reach }, 0, [0.1, 0.5, 0.9]).map((p) => Math.log(p / (1 - p))),
    )
    expect((narrow[2] ?? 0) - (narrow[0] ?? 0)).toBeCloseTo(((wide[2] ?? 0) - (wide[0] ?? 0)) / 2, 9)
    expect(winMean({ ...posterior, reach: 0.5 }, 0)).toBe(winMean(posterior, 0))
  })

  test.each([
    [1800, 0.915017, 0.563851, 0.740053, 0.999492, 0.999985],
    [1900, 0.827356, 0.448406, 0.585951, 0.986547, 0.998289],
    [2000, 0.60782, 0.245304, 0.354836, 0.841922, 0.917845],
    [2025, 0.524162, 0.189474, 0.281543, 0.75577, 0.838382],
    [2100, 0.298071, 0.02449, 0.079919, 0.548681, 0.687542],
    [2200, 0.147902, 0.000422, 0.005169, 0.382908, 0.535823],
    [4000, 0.000711, 0, 0, 0.000306, 0.00734],
  ])('has the known mean and quantiles at %d', (rate, ...known) => {
    const x = Math.log(rate / 2025)
    const found = [winMean(posterior, x), ...winQuantiles(posterior, x, [0.025, 0.1, 0.9, 0.975])]
    expect(found.map(digits)).toEqual(known.map(digits))
  })

  test('has the highest expected margin at 1,975 if the truck costs 1,700', () => {
    const optimum = bestRate({
      posterior,
      referenceCents: 202_500,
      priceWeight: FULL_WEIGHT,
      costCents: 170_000,
      floorCents: null,
    })
    expect((optimum.rateCents / 100).toFixed(2)).toBe('1975.00')
    expect(digits(optimum.expectedMarginCents / 100)).toBe('187.320239')
    expect(digits(optimum.winProbability)).toBe('0.681158')
    expect((optimum.flatZone.lowCents / 100).toFixed(2)).toBe('1945.60')
    expect((optimum.flatZone.highCents / 100).toFixed(2)).toBe('1994.85')
    expect(optimum.atEdge).toBe(false)
  })

  test('is raised to the floor, and both rates are returned', () => {
    const optimum = bestRate({
      posterior,
      referenceCents: 202_500,
      priceWeight: FULL_WEIGHT,
      costCents: 170_000,
      floorCents: 200_000,
    })
    expect(optimum.floorCents).toBeCloseTo(200_000, 6)
    expect(optimum.flooredRateCents).toBeCloseTo(200_000, 6)
    expect(optimum.rateCents / 100).toBeCloseTo(1975, 1)
    expect(optimum.flooredExpectedMarginCents).toBeLessThan(optimum.expectedMarginCents)
  })

  test('a higher rate never has a higher bound', () => {
    const curve = intervalCurve(posterior)
    let last = intervalsAt(curve, { x: -2, mean: winMean(posterior, -2) })
    for (let x = -2; x < 2; x += 0.003) {
      const here = intervalsAt(curve, { x, mean: winMean(posterior, x) })
      for (const name of ['interval80', 'interval95'] as const) {
        expect(here[name].low).toBeLessThanOrEqual(last[name].low)
        expect(here[name].high).toBeLessThanOrEqual(last[name].high)
      }
      last = here
    }
  })

  test('agrees with the quantiles within 1 percentage point, or 3.5 where `withEnds` moves an end', () => {
    const curve = intervalCurve(posterior)
    for (const [rate] of LANE) {
      const x = Math.log(rate / 2025)
      const [low = 0, high = 0] = winQuantiles(posterior, x, [0.1, 0.9])
      const { interval80 } = intervalsAt(curve, { x, mean: winMean(posterior, x) })
      const expected = withEnds({ low, high })
      expect(Math.abs(interval80.low - expected.low)).toBeLessThan(0.01)
      expect(Math.abs(interval80.high - expected.high)).toBeLessThan(0.035)
    }
  })
})

describe('three lanes under two parents', () => {
  const lane1 = knotsOf([
    [-0.1, true],
    [-0.05, true],
    [-0.02, true],
    [0, true],
    [0.02, false],
    [0.05, true],
    [0.08, false],
    [0.12, false],
  ])
  const lane2 = knotsOf([
    [-0.05, true],
    [0, true],
    [0.05, false],
  ])
  const lane3 = knotsOf([
    [-0.08, true],
    [-0.04, false],
    [0, false],
    [0.03, false],
    [0.06, false],
    [0.1, false],
  ])
  const [up1, up2, up3] = [lane1, lane2, lane3].map((lane) =>
    messageUp(bankLogLikelihood(lane), LANE_KINSHIP),
  ) as [Float64Array, Float64Array, Float64Array]
  const parent1 = new Float64Array(up1)
  addInto(parent1, up2)
  const parentUp1 = messageUp(parent1, SCOPE_KINSHIP)
  const root = rootBelief()
  addInto(root, parentUp1)
  addInto(root, messageUp(up3, SCOPE_KINSHIP))
  const believed1 = messageDown(difference(root, parentUp1), SCOPE_KINSHIP)
  addInto(believed1, parent1)

  // Known values from an independent prototype of the same definitions.
  test('give lane 2 the known prior, posterior and own share', () => {
    const prior = priorOf(messageDown(difference(believed1, up2), LANE_KINSHIP))
    expect([prior.a, prior.b, prior.varianceA, prior.covariance, prior.varianceB].map(digits)).toEqual([
      '0.202637',
      '2.936196',
      '4.135922',
      '0.062398',
      '0.571706',
    ])
    const posterior = posteriorOf(lane2, prior)
    expect([posterior.belief.a, posterior.belief.b].map(digits)).toEqual(['0.854437', '3.338799'])
    expect(digits(1 - posterior.belief.varianceA / prior.varianceA)).toBe('0.614433')
    expect([-0.1, -0.05, 0, 0.05, 0.1, 0.2].map((x) => digits(winMean(posterior, x)))).toEqual([
      '0.921952',
      '0.850915',
      '0.656270',
      '0.345800',
      '0.191566',
      '0.075700',
    ])
  })

  test('give an unseen lane of parent 1 the known prior and win probabilities', () => {
    const prior = priorOf(messageDown(believed1, LANE_KINSHIP))
    expect([prior.a, prior.b].map(digits)).toEqual(['0.393021', '3.058172'])
    const posterior = posteriorOf(emptyKnots(), prior)
    expect([-0.1, 0, 0.1].map((x) => digits(winMean(posterior, x)))).toEqual([
      '0.824721',
      '0.558325',
      '0.242963',
    ])
  })

  test('give a lane of an unseen parent the known win probabilities', () => {
    const prior = priorOf(messageDown(messageDown(root, SCOPE_KINSHIP), LANE_KINSHIP))
    const posterior = posteriorOf(emptyKnots(), prior)
    expect([-0.1, 0, 0.1].map((x) => digits(winMean(posterior, x)))).toEqual([
      '0.789739',
      '0.523363',
      '0.236506',
    ])
  })
})
