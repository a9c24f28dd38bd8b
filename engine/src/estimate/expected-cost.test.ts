import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chainResidual } from './cost-scopes.ts'
import { type CostSeen, expectedCost, prepareCosts } from './expected-cost.ts'
import { DEFAULT_HAUL_CURVE, fitHaulCurve, haulLogDollars } from './length-of-haul.ts'

const DAY = 86_400_000
const KEYS = ['region', 'from', 'to', 'states', 'corridor', 'lane']

describe('the length-of-haul curve', () => {
  // Known values from an independent prototype of the same definitions.
  test.each([
    [50, 423.3882],
    [120, 423.3882],
    [200, 699.4027],
    [500, 1480.1278],
    [800, 1946.1607],
    [1500, 3090.1439],
  ])('of 2017 has the expected dollars for %d miles', (miles, dollars) => {
    expect(Math.exp(haulLogDollars(DEFAULT_HAUL_CURVE, miles)).toFixed(4)).toBe(dollars.toFixed(4))
  })

  test('of a brokerage with enough loads is fitted to them, and robust against a few outliers', () => {
    const loads = Array.from({ length: 300 }, (_, i) => {
      const miles = 60 * 1.012 ** i
      const logDollars = haulLogDollars(DEFAULT_HAUL_CURVE, miles) + 0.25 + 0.05 * Math.sin(i)
      return { miles, logDollars: i % 30 === 7 ? logDollars + 4 : logDollars, ageDays: i % 60 }
    })
    const { curve, own } = fitHaulCurve(loads)
    expect(own).toBe(true)
    for (const miles of [100, 300, 800, 1600]) {
      const lift = haulLogDollars(curve, miles) - haulLogDollars(DEFAULT_HAUL_CURVE, miles)
      expect(Math.abs(lift - 0.25)).toBeLessThan(0.05)
    }
  })

  test('of a brokerage whose loads have equal miles is the default', () => {
    const loads = Array.from({ length: 200 }, () => ({ miles: 500, logDollars: 7, ageDays: 0 }))
    expect(fitHaulCurve(loads).own).toBe(false)
  })
})

describe('the residual of a lane', () => {
  const levels = [
    { weight: 40, mean: 0.05 },
    { weight: 12, mean: 0.1 },
    null,
    null,
    { weight: 5, mean: 0.08 },
    { weight: 2, mean: 0.15 },
    { weight: 1, mean: 0.12 },
  ]

  // Known values from an independent prototype. It had no single-state scopes, so they have no loads here.
  test('shrinks each scope toward the wider one, with the known values', () => {
    const steps = [1, 2, 5, 6, 7].map((length) => chainResidual(levels.slice(0, length)))
    expect(steps.map((step) => step.toFixed(4))).toEqual(['0.0400', '0.0800', '0.0800', '0.1150', '0.1175'])
    const dollars = Math.exp(haulLogDollars(DEFAULT_HAUL_CURVE, 500) + chainResidual(levels))
    expect(dollars.toFixed(6)).toBe('1664.672557')
  })
})

describe('the expected cost', () => {
  const load = (quoteId: number, costCents: number): CostSeen => ({
    quoteId,
    costCents,
    miles: 500,
    at: quoteId * DAY,
    costKeys: KEYS,
  })

  test('is null without miles or without loads', () => {
    expect(expectedCost(prepareCosts([], DAY), { costKeys: KEYS, miles: 500 })).toBeNull()
    expect(
      expectedCost(prepareCosts([load(1, 150_000)], 2 * DAY), { costKeys: KEYS, miles: null }),
    ).toBeNull()
  })

  test('approaches the past cost of the lane, and its range narrows with own loads', () => {
    const model = prepareCosts(
      Array.from({ length: 20 }, (_, i) => load(i + 1, 180_000)),
      21 * DAY,
    )
    const own = expectedCost(model, { costKeys: KEYS, miles: 500 })
    const other = expectedCost(model, { costKeys: ['a', 'b', 'c', 'd', 'e', 'f'], miles: 500 })
    expect(Math.abs((own?.costCents ?? 0) / 180_000 - 1)).toBeLessThan(0.02)
    expect(own?.ownLoads).toBe(20)
    expect(other?.ownLoads).toBe(0)
    const width = (cost: typeof own) => Math.log((cost?.highCents ?? 0) / (cost?.lowCents ?? 1))
    expect(width(own)).toBeLessThan(width(other))
  })

  test('does not depend on the order of the loads, and is within its range for any loads', () => {
    const loads = fc.array(
      fc.record({
        quoteId: fc.nat(1000),
        costCents: fc.oneof(fc.double({ min: 0, max: 1e9 }), fc.constant(Number.NaN), fc.constant(-5)),
        miles: fc.oneof(fc.double({ min: 0, max: 5000 }), fc.constant(Number.NaN)),
        at: fc.integer({ min: 0, max: 100 }).map((day) => day * DAY),
        costKeys: fc.constantFrom(KEYS, ['r2', 'f2', 't2', 's2', 'c2', 'l2']),
      }),
      { maxLength: 80 },
    )
    fc.assert(
      fc.property(loads, (seen) => {
        const unique = [...new Map(seen.map((one) => [one.quoteId, one])).values()]
        const lane = { costKeys: KEYS, miles: 700 }
        const forward = expectedCost(prepareCosts(unique, 60 * DAY), lane)
        const backward = expectedCost(prepareCosts([...unique].reverse(), 60 * DAY), lane)
        expect(backward).toEqual(forward)
        if (forward) {
          expect(forward.lowCents).toBeLessThan(forward.costCents)
          expect(forward.highCents).toBeGreaterThan(forward.costCents)
        }
      }),
      { numRuns: 100 },
    )
  })
})
