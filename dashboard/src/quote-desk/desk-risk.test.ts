import { expect, test } from 'vitest'
import { chanceInWords, type MarginRisk, riskAt } from './desk-risk.ts'

const risk: MarginRisk = {
  cost: 1000,
  cost_source: 'expected',
  margin: { low: 0, median: 0, high: 0 },
  loss_chance: 0,
  safe_rate: 1200,
  costs: [
    { share: 0.01, amount: 700 },
    { share: 0.1, amount: 800 },
    { share: 0.5, amount: 1000 },
    { share: 0.9, amount: 1200 },
    { share: 0.99, amount: 1400 },
  ],
  own_loads: 20,
  sentence: '',
}

test('the chance of losing money falls as the rate rises, and one in ten is lost at the safe rate', () => {
  expect(riskAt(risk, { rate: 1200, typedCost: null })).toMatchObject({
    lossChance: expect.closeTo(0.1),
    low: 0,
    median: 200,
    high: 400,
    safeRate: 1200,
  })
  expect(riskAt(risk, { rate: 1100, typedCost: null })?.lossChance).toBeCloseTo(0.3)
})

test('a typed cost moves the distribution, and the bars contain all loads between the ends', () => {
  const moved = riskAt(risk, { rate: 1320, typedCost: 1100 })
  expect(moved?.safeRate).toBeCloseTo(1320)
  expect(moved?.bars.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 1)
})

test('a rate beyond the known costs has a limit instead of a chance', () => {
  const [far, near] = [
    riskAt(risk, { rate: 2000, typedCost: null }),
    riskAt(risk, { rate: 500, typedCost: null }),
  ]
  expect([far, near].map((one) => one && chanceInWords(one))).toEqual(['less than 1%', 'more than 99%'])
  expect(riskAt(null, { rate: 2000, typedCost: null })).toBeNull()
})
