import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type PerformanceSums, performanceOf, shortfall } from '#engine/performance.ts'
import { DEVIATIONS_80, normalCdf } from '#engine/statistics/normal-cdf.ts'

const nothing: PerformanceSums = {
  quotes: 0,
  won: 0,
  lost: 0,
  shipments: 0,
  customerRateCents: 0,
  truckCostCents: 0,
  comparableShipments: 0,
  comparableMarginCents: 0,
  quotedMarginCents: 0,
  lostToCostCents: 0,
  lostToRateCents: 0,
  quotesWithCost: 0,
  quotedTooLow: 0,
  quotedTooLowWon: 0,
  quotedTooLowCents: 0,
}

describe('the performance of a selection of quotes', () => {
  test('is null, not zero, without bookings', () => {
    expect(performanceOf({ ...nothing, quotes: 3 })).toEqual({
      pending: 3,
      decided: 0,
      winRatePct: null,
      winRateInterval: null,
      customerRateCents: null,
      truckCostCents: null,
      marginCents: null,
      marginPct: null,
      quotedMarginCents: null,
      landedVsQuotedCents: null,
      lostToCostCents: null,
      lostToRateCents: null,
      gainedCents: null,
      quotedTooLowCents: null,
    })
  })

  test('matches the example in its comment', () => {
    const found = performanceOf({
      ...nothing,
      quotes: 5,
      won: 3,
      lost: 1,
      shipments: 1,
      customerRateCents: 200_000,
      truckCostCents: 170_000,
      comparableShipments: 1,
      comparableMarginCents: 30_000,
      quotedMarginCents: 35_000,
    })
    expect(found).toMatchObject({
      decided: 4,
      pending: 1,
      winRatePct: 75,
      marginCents: 30_000,
      marginPct: 15,
    })
    expect(found.landedVsQuotedCents).toBe(-5_000)
  })

  test('a shipment with a customer rate of zero has a margin but no margin percentage', () => {
    const found = performanceOf({ ...nothing, quotes: 1, shipments: 1, truckCostCents: 100 })
    expect([found.marginCents, found.marginPct]).toEqual([-100, null])
  })
})

describe('the interval of a win rate', () => {
  const interval = (won: number, lost: number) =>
    performanceOf({ ...nothing, quotes: won + lost, won, lost }).winRateInterval

  test('is Wilson’s score interval at 80 %', () => {
    expect(normalCdf(DEVIATIONS_80)).toBeCloseTo(0.9, 12)
    expect(interval(7, 3)).toEqual({ lowPct: 49.7, highPct: 84.6 })
    expect(interval(2, 0)).toEqual({ lowPct: 54.9, highPct: 100 })
    expect(interval(0, 5)).toEqual({ lowPct: 0, highPct: 24.7 })
  })

  test('contains the win rate, stays within 0 and 100, and is mirrored when wins and losses are swapped', () => {
    const count = fc.integer({ min: 0, max: 100_000 })
    fc.assert(
      fc.property(count, count, (won, lost) => {
        fc.pre(won + lost > 0)
        const found = interval(won, lost)
        const rate = performanceOf({ ...nothing, quotes: won + lost, won, lost }).winRatePct ?? -1
        const { lowPct, highPct } = found ?? { lowPct: 1, highPct: 0 }
        expect(lowPct).toBeGreaterThanOrEqual(0)
        expect(lowPct).toBeLessThanOrEqual(rate)
        expect(highPct).toBeGreaterThanOrEqual(rate)
        expect(highPct).toBeLessThanOrEqual(100)
        const mirrored = interval(lost, won)
        expect(Math.abs(100 - highPct - (mirrored?.lowPct ?? -1))).toBeLessThan(0.11)
      }),
    )
  })

  test('narrows with more quotes at the same win rate', () => {
    const widths = [1, 2, 5, 20, 100].map((times) => {
      const found = interval(3 * times, 2 * times)
      return found === null ? 0 : found.highPct - found.lowPct
    })
    expect(widths).toEqual(widths.toSorted((a, b) => b - a))
  })
})

describe('a shortfall', () => {
  const shipment = { quotedRateCents: 215_000, quotedCostCents: 180_000, customerRateCents: 215_000 }

  test('is caused by a higher truck cost, a lower customer rate, or both', () => {
    expect(shortfall({ ...shipment, truckCostCents: 190_000 })).toEqual({
      shortfallCents: 10_000,
      because: 'cost',
    })
    const lower = { ...shipment, customerRateCents: 210_000 }
    expect(shortfall({ ...lower, truckCostCents: 180_000 })).toEqual({
      shortfallCents: 5_000,
      because: 'rate',
    })
    expect(shortfall({ ...lower, truckCostCents: 181_000 })).toEqual({
      shortfallCents: 6_000,
      because: 'both',
    })
    // A higher truck cost, partly offset by a higher customer rate.
    expect(shortfall({ ...shipment, customerRateCents: 216_000, truckCostCents: 190_000 })).toEqual({
      shortfallCents: 9_000,
      because: 'cost',
    })
  })

  test('is null when the actual margin is at or above the quoted margin', () => {
    expect(shortfall({ ...shipment, truckCostCents: 180_000 })).toBeNull()
    expect(shortfall({ ...shipment, truckCostCents: 170_000 })).toBeNull()
  })
})
