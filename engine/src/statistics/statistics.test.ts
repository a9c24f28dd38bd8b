import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { groupOfNth } from './group-of-nth.ts'
import { nonIncreasingFit } from './isotonic.ts'
import { median } from './median.ts'
import { normalCdf } from './normal-cdf.ts'
import { percentOf } from './percent-of.ts'
import { roundHalfAway } from './round-half-away.ts'

describe('median', () => {
  it('is null for no values and the value itself for one value', () => {
    expect(median([])).toBeNull()
    expect(median([7])).toBe(7)
  })

  it('accepts unsorted values and does not modify them', () => {
    const values = [2200, 1800, 10_000, 900]
    expect(median(values)).toBe(2000)
    expect(values).toEqual([2200, 1800, 10_000, 900])
  })

  it('sorts numerically, not as text', () => {
    expect(median([9, 10, 100])).toBe(10)
  })
})

describe('groupOfNth', () => {
  it('skips empty groups, and is undefined beyond the last item', () => {
    const groups = [
      { name: 'a', size: 2 },
      { name: 'b', size: 0 },
      { name: 'c', size: 1 },
    ]
    const nameOf = (nth: number) => groupOfNth(groups, (group) => group.size, nth)?.name
    expect([0, 1, 2, 3].map(nameOf)).toEqual(['a', 'a', 'c', undefined])
    expect(groupOfNth([], () => 1, 0)).toBeUndefined()
  })
})

describe('nonIncreasingFit', () => {
  it('pools rising values and does not change falling ones', () => {
    expect(nonIncreasingFit([], [])).toEqual([])
    expect(nonIncreasingFit([0, 0.5, 0.2], [1, 1, 1])).toEqual([0.25, 0.25, 0.2])
    expect(nonIncreasingFit([3, 2, 1], [1, 5, 1])).toEqual([3, 2, 1])
    expect(nonIncreasingFit([0, 1, 1, 0, 1], [1, 1, 1, 1, 1])).toEqual([2 / 3, 2 / 3, 2 / 3, 0.5, 0.5])
    expect(nonIncreasingFit([0, 1], [3, 1])).toEqual([0.25, 0.25])
  })

  it('rejects values without weights', () => {
    expect(() => nonIncreasingFit([1], [])).toThrow(RangeError)
  })

  it('never rises and preserves the weighted total', () => {
    const points = fc.array(
      fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 50 })),
    )
    fc.assert(
      fc.property(points, (pairs) => {
        const values = pairs.map(([value]) => value)
        const weights = pairs.map(([, weight]) => weight)
        const fit = nonIncreasingFit(values, weights)
        expect(fit).toHaveLength(values.length)
        for (let at = 1; at < fit.length; at += 1) expect(fit[at]).toBeLessThanOrEqual(fit[at - 1] ?? -1)
        const total = (numbers: number[]) => numbers.reduce((sum, n, at) => sum + n * (weights[at] ?? 0), 0)
        expect(total(fit)).toBeCloseTo(total(values), 8)
      }),
    )
  })
})

describe('normalCdf', () => {
  // Abramowitz and Stegun, table 26.1.
  it.each([
    [0, 0.5],
    [0.5, 0.691462461274013],
    [1, 0.841344746068543],
    [1.96, 0.97500210485178],
    [2.5, 0.993790334674224],
    [-1, 0.158655253931457],
    [-3, 0.001349898031630095],
    [5, 0.999999713348428],
  ])('gives the tabled value at %d', (z, share) => {
    expect(normalCdf(z)).toBeCloseTo(share, 14)
  })

  it('stays within 0 and 1 and never falls', () => {
    let before = 0
    for (let z = -40; z <= 40; z += 0.01) {
      const share = normalCdf(z)
      expect(share).toBeGreaterThanOrEqual(before - 1e-14)
      expect(share).toBeLessThanOrEqual(1)
      before = share
    }
    expect([normalCdf(-Infinity), normalCdf(Infinity)]).toEqual([0, 1])
    expect(normalCdf(Number.NaN)).toBeNaN()
  })
})

describe('roundHalfAway', () => {
  it('rounds halves away from zero and never returns minus zero', () => {
    expect(roundHalfAway(1.25, 1)).toBe(1.3)
    expect(roundHalfAway(-1.25, 1)).toBe(-1.3)
    expect(Object.is(roundHalfAway(-0.04, 1), 0)).toBe(true)
  })
})

describe('percentOf', () => {
  it('has one decimal, and is null for a whole of 0', () => {
    expect([percentOf(17, 26), percentOf(-1, 3), percentOf(0, 5)]).toEqual([65.4, -33.3, 0])
    expect(percentOf(0, 0)).toBeNull()
  })
})
