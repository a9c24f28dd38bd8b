import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { countError, errorAt, errorBelow, noErrors } from './cost-errors.ts'
import { errorSpread, expectedCost, prepareCosts } from './expected-cost.ts'
import { marginAtRisk, riskSentence } from './margin-at-risk.ts'
import { isOwnCost } from './own-cost.ts'

const DAY = 86_400_000

const spreads = fc
  .tuple(
    fc.array(fc.double({ min: -1.5, max: 1.5, noNaN: true }), { maxLength: 60 }),
    fc.double({ min: 0.02, max: 0.5, noNaN: true }),
  )
  .map(([errors, usual]) => {
    const counts = noErrors()
    for (const error of errors) countError(counts, error, 1)
    return { counts, usual }
  })

test('a higher rate never has a higher chance of losing money, and one in ten loads loses at the safe rate', () => {
  fc.assert(
    fc.property(spreads, fc.integer({ min: 10_000, max: 900_000 }), (spread, costCents) => {
      const chances = [0.5, 0.8, 1, 1.2, 2].map(
        (factor) => marginAtRisk({ costCents, spread }, factor * costCents).lossChance,
      )
      expect(chances).toEqual(chances.toSorted((one, other) => other - one))
      const { safeRateCents } = marginAtRisk({ costCents, spread }, costCents)
      expect(marginAtRisk({ costCents, spread }, safeRateCents).lossChance).toBeCloseTo(0.1, 6)
    }),
  )
})

test('the margin has the quantiles of the cost, in reverse', () => {
  fc.assert(
    fc.property(spreads, fc.double({ min: 0.01, max: 0.99, noNaN: true }), (spread, chance) => {
      expect(errorBelow(spread, errorAt(spread, chance))).toBeCloseTo(chance, 5)
    }),
  )
  const spread = { counts: noErrors(), usual: 0.2 }
  const { margin, costs } = marginAtRisk({ costCents: 170_000, spread }, 200_000)
  expect(margin.medianCents).toBeCloseTo(30_000, 0)
  expect(margin.lowCents).toBeCloseTo(200_000 - (costs.find(({ share }) => share === 0.9)?.cents ?? 0), 0)
})

test('costs that vary by a known amount give that distribution', () => {
  // Costs are e^(+-0.3) around the same lane's level, half each: a quarter above e^0.15 is one half.
  const loads = Array.from({ length: 400 }, (_, at) => ({
    quoteId: at,
    costCents: Math.round(150_000 * Math.exp(at % 2 === 0 ? 0.3 : -0.3)),
    miles: 500,
    at: at * DAY * 0.5,
    costKeys: ['lane'],
  }))
  const model = prepareCosts(loads, 200 * DAY)
  const cost = expectedCost(model, { costKeys: ['lane'], miles: 500 })
  if (!isOwnCost(cost)) throw new Error('no cost')
  const risk = marginAtRisk({ costCents: cost.costCents, spread: errorSpread(model, ['lane']) }, 150_000)
  expect(risk.lossChance).toBeGreaterThan(0.42)
  expect(risk.lossChance).toBeLessThan(0.58)
  expect(risk.safeRateCents / 150_000).toBeGreaterThan(Math.exp(0.25))
  expect(risk.safeRateCents / 150_000).toBeLessThan(Math.exp(0.4))
  expect(risk.ownErrors).toBeGreaterThan(50)
})

test('the safe rate is the upper end of the 80 % range of the cost', () => {
  const random = seededNumbers(4)
  const loads = Array.from({ length: 1_000 }, (_, at) => ({
    quoteId: at,
    costCents: Math.round(150_000 * Math.exp(random() ** 3)),
    miles: 500,
    at: at * DAY * 0.25,
    costKeys: ['lane'],
  }))
  const model = prepareCosts(loads, 250 * DAY)
  const cost = expectedCost(model, { costKeys: ['lane'], miles: 500 })
  if (!isOwnCost(cost)) throw new Error('no cost')
  const { safeRateCents, margin } = marginAtRisk(
    { costCents: cost.costCents, spread: errorSpread(model, ['lane']) },
    200_000,
  )
  expect(safeRateCents).toBeCloseTo(cost.highCents, 3)
  expect(margin.highCents).toBeCloseTo(200_000 - cost.lowCents, 3)
})

test('the sentence names the rate and the safe rate, and never claims certainty', () => {
  const spread = { counts: noErrors(), usual: 0.2 }
  const at = (rateCents: number) =>
    riskSentence(marginAtRisk({ costCents: 170_000, spread }, rateCents), rateCents)
  expect(at(200_000)).toBe(
    'At $2,000, about 22 of 100 such loads would lose money. From $2,346, at most 10 of 100 would.',
  )
  expect(at(900_000)).toBe(
    'At $9,000, fewer than 1 of 100 such loads would lose money. Below $2,346, more than 10 would.',
  )
})
