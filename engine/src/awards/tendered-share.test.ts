import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { betaCdf, betaQuantile } from '../statistics/beta.ts'
import { type AwardRecord, type TenderedShare, tenderedShare } from './tendered-share.ts'

const anyRecord = fc.record({
  customer: fc.constantFrom('acme', 'birch', 'cedar', 'dune'),
  awardedLoads: fc.integer({ min: 1, max: 400 }),
  tenderedLoads: fc.integer({ min: 0, max: 500 }),
})
const anyRecords = fc.array(anyRecord, { minLength: 1, maxLength: 30 })
const shareOf = (records: readonly AwardRecord[], customer = 'acme') =>
  tenderedShare(records, customer) as TenderedShare

describe('the share of awarded loads that a customer tenders', () => {
  test('has the known values of an example', () => {
    const found = shareOf([{ customer: 'acme', awardedLoads: 10, tenderedLoads: 4 }])
    // Half, as six lanes count it less the doubt about it; own .4 of one lane.
    expect(found).toMatchObject({ own: 0.4, usual: 0.5, lanes: 1, ghostLanes: 0 })
    const counts = 1 / (1 / 7 + 1 / 2) - 1
    expect(Math.max(2, counts)).toBe(2)
    expect(found.share).toBeCloseTo((0.5 * 2 + 0.4) / 3, 12)
  })

  test('is unknown without any record', () => {
    expect(tenderedShare([], 'acme')).toBeNull()
    expect(tenderedShare([{ customer: 'acme', awardedLoads: 0, tenderedLoads: 3 }], 'acme')).toBeNull()
  })

  test('is within its range, and between the own and the usual share', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        const { share, low, high, own, usual } = shareOf(records)
        expect(share).toBeGreaterThan(0)
        expect(share).toBeLessThan(1)
        expect(low).toBeLessThan(high)
        if (share > 0.1 && share < 0.9) {
          expect(low).toBeLessThan(share)
          expect(high).toBeGreaterThan(share)
        }
        expect(share).toBeGreaterThanOrEqual(Math.min(own ?? usual, usual) - 1e-12)
        expect(share).toBeLessThanOrEqual(Math.max(own ?? usual, usual) + 1e-12)
      }),
    )
  })

  test('does not depend on the order of the records', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        expect(shareOf(records.toReversed()).share).toBeCloseTo(shareOf(records).share, 12)
      }),
    )
  })

  test('falls with each ghost lane of the customer', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        const equal = records.map((one) => ({
          ...one,
          awardedLoads: 10,
          tenderedLoads: Math.min(10, one.tenderedLoads),
        }))
        const more = [...equal, { customer: 'acme', awardedLoads: 10, tenderedLoads: 0 }]
        expect(shareOf(more).share).toBeLessThan(shareOf(equal).share)
        expect(shareOf(more).ghostLanes).toBe(shareOf(equal).ghostLanes + 1)
      }),
    )
  })

  test('a longer record of the same kind has a narrower range, near the own share', () => {
    const others = ['birch', 'cedar'].map((customer) => ({ customer, awardedLoads: 50, tenderedLoads: 40 }))
    const lanes = (count: number) =>
      Array.from({ length: count }, (_, nth) => ({
        customer: 'acme',
        awardedLoads: 20,
        tenderedLoads: nth % 5 === 0 ? 20 : 0,
      }))
    const [few, many] = [shareOf([...others, ...lanes(10)]), shareOf([...others, ...lanes(200)])]
    expect(many.high - many.low).toBeLessThan((few.high - few.low) / 2)
    expect(Math.abs(many.share - 0.2)).toBeLessThan(0.02)
    expect(few.share).toBeGreaterThan(many.share)
  })

  test('a customer without a record has the usual share with a wide range', () => {
    const records = Array.from({ length: 40 }, (_, nth) => ({
      customer: `customer ${nth % 8}`,
      awardedLoads: 10,
      tenderedLoads: nth % 2 === 0 ? 10 : 0,
    }))
    const { share, own, low, high } = shareOf(records)
    expect(own).toBeNull()
    expect(share).toBeCloseTo(0.5, 12)
    expect(high - low).toBeGreaterThan(0.3)
  })

  test('one huge lane is one lane: its loads are tendered or not together', () => {
    const huge = shareOf([{ customer: 'acme', awardedLoads: 5_000, tenderedLoads: 0 }])
    expect(huge.high).toBeGreaterThan(0.5)
  })
})

test('the beta distribution has known values, and its quantiles invert it', () => {
  expect(betaCdf(0.3, 2, 5)).toBeCloseTo(0.579825, 9)
  expect(betaCdf(0.5, 0.5, 0.5)).toBeCloseTo(0.5, 9)
  // 1 - (1 - x)^b for a = 1.
  expect(betaCdf(0.2, 1, 7.5)).toBeCloseTo(1 - 0.8 ** 7.5, 9)
  expect(betaCdf(0, 2, 2)).toBe(0)
  expect(betaCdf(1, 2, 2)).toBe(1)
  // Rounding puts this x above the middle from either side.
  expect(betaCdf(0.24684684684684688, 0.37, 3.18)).toBeCloseTo(betaCdf(0.2468, 0.37, 3.18), 4)
  fc.assert(
    fc.property(
      fc.double({ min: 0.01, max: 0.99, noNaN: true }),
      fc.double({ min: 0.3, max: 60, noNaN: true }),
      fc.double({ min: 0.3, max: 60, noNaN: true }),
      (p, a, b) => {
        expect(betaCdf(betaQuantile(p, a, b), a, b)).toBeCloseTo(p, 6)
      },
    ),
  )
})
