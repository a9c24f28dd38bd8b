/** @module-tag long */
import { beforeAll, describe, expect, test } from 'vitest'
import {
  auc,
  brier,
  calibrationError,
  calibrationSlope,
  logLoss,
} from '#engine/statistics/forecast-quality.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import { intervalScore } from './src/cost-ahead-check.ts'
import { REPORTINGS } from './src/long-tables.ts'
import { evaluateSample } from './src/sample.ts'
import { logisticBroker, sealedTenders } from './src/simulated-sellers.ts'
import { simulateCoverage } from './src/simulation.ts'
import { after, walkForward } from './src/walk.ts'
import { groupCoverage, isotonicBrier, orderCorrelations, walkedQuality } from './src/walked-tables.ts'

describe('the seeded sample', () => {
  let sample: ReturnType<typeof evaluateSample>
  beforeAll(() => {
    sample = evaluateSample({ tenants: 2, seed: 7 })
  })

  test('the calibrated model is not worse than the lane win rate', () => {
    const { model, winRateOfLane } = sample
    expect(model.count).toBeGreaterThan(1000)
    expect(model.brier).toBeLessThan(winRateOfLane.brier)
    expect(model.logLoss).toBeLessThan(winRateOfLane.logLoss)
  })

  test('the calibrated model is calibrated', () => {
    const { model } = sample
    expect(model.slope).toBeGreaterThan(0.85)
    expect(model.slope).toBeLessThan(1.2)
    expect(model.calibrationError).toBeLessThan(0.04)
  })

  test('intervals contain the truth as often as stated', () => {
    for (const row of simulateCoverage({ tenants: 6, seed: 7, days: 14 })) {
      expect(row.within80).toBeGreaterThan(0.77)
      expect(row.within95).toBeGreaterThan(0.93)
    }
  })
})

describe('sealed tenders, in short', () => {
  const tenders = sealedTenders({
    seed: 3,
    tenders: 500,
    days: 120,
    lanes: 40,
    spread: 0.3,
    spreadOfSpread: 0.7,
    rejected: 0.25,
  })
  const walked = walkForward(tenders, { reporting: after(1), warmUpDays: 60, everyDays: 6 })

  test('the model is far better than plain win rates, and not far from the best falling function of the rate', () => {
    const { model, winRateOfLane, scopeRate, calibrationError: error } = walkedQuality('', walked)
    expect(walked.length).toBeGreaterThan(150)
    expect(model).toBeLessThan(0.85 * Math.min(winRateOfLane, scopeRate))
    expect(model - isotonicBrier(walked)).toBeLessThan(0.02)
    expect(error).toBeLessThan(0.06)
  })
})

describe('late outcomes, in short', () => {
  const quotes = logisticBroker({
    seed: 5,
    quotes: 1_500,
    days: 120,
    lanes: 40,
    level: 0.5,
    steepness: 10,
    spread: 0.7,
  })

  test.each(REPORTINGS)('$name: not worse than the lane win rate', ({ reporting }) => {
    const { model, winRateOfLane } = walkedQuality(
      '',
      walkForward(quotes, { reporting, warmUpDays: 75, everyDays: 15 }),
    )
    expect(model).toBeLessThan(winRateOfLane)
  })

  test('the win rate of a group of independent quotes is within its range about as often as stated', () => {
    const walked = walkForward(quotes, { reporting: after(1), warmUpDays: 40, everyDays: 4 })
    const { groups, within80, within95 } = groupCoverage('', walked, {
      keyOf: ({ quote }) => quote.lane.key,
      least: 3,
      correlations: orderCorrelations(walked),
    })
    expect(groups).toBeGreaterThan(15)
    expect(within80).toBeGreaterThan(0.68)
    expect(within95).toBeGreaterThan(0.85)
  })
})

describe('the measures', () => {
  const forecasts = [
    { p: 0.1, won: false },
    { p: 0.4, won: true },
    { p: 0.4, won: false },
    { p: 0.8, won: true },
  ]

  // Expected values computed by hand.
  test('match known values', () => {
    expect(auc(forecasts)).toBeCloseTo(3.5 / 4, 12)
    expect(brier(forecasts)).toBeCloseTo((0.01 + 0.36 + 0.16 + 0.04) / 4, 12)
    expect(logLoss(forecasts)).toBeCloseTo(-Math.log(0.9 * 0.4 * 0.6 * 0.8) / 4, 12)
    expect(calibrationError(forecasts)).toBeCloseTo((0.1 + 0.6 + 0.4 + 0.2) / 4, 12)
  })

  test('the interval score is the width, plus ten times the distance of the actual value', () => {
    const range = { low: -0.1, high: 0.2 }
    expect([-0.15, -0.1, 0, 0.2, 0.25].map((actual) => intervalScore(range, actual).toFixed(6))).toEqual([
      '0.800000',
      '0.300000',
      '0.300000',
      '0.300000',
      '0.800000',
    ])
  })

  test('a calibrated forecast has slope 1, an overconfident one less', () => {
    const random = seededNumbers(1)
    const honest = Array.from({ length: 20_000 }, () => {
      const p = random()
      return { p, won: random() < p }
    })
    const doubled = honest.map(({ p, won }) => ({ p: p ** 2 / (p ** 2 + (1 - p) ** 2), won }))
    expect(Math.abs(calibrationSlope(honest) - 1)).toBeLessThan(0.05)
    expect(Math.abs(calibrationSlope(doubled) - 0.5)).toBeLessThan(0.05)
  })
})
