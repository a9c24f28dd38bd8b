import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AMOUNT_CENTS_MAX, centsFromDollars, dollarsFromCents, formatDollars, roundToCent } from './money.ts'

describe('centsFromDollars', () => {
  it('accepts every amount with at most two decimals, exactly', () => {
    expect(centsFromDollars(0)).toBe(0)
    expect(centsFromDollars(0.01)).toBe(1)
    expect(centsFromDollars(0.29)).toBe(29)
    expect(centsFromDollars(1.1)).toBe(110)
    expect(centsFromDollars(2140.5)).toBe(214050)
    expect(centsFromDollars(4.35)).toBe(435)
    expect(centsFromDollars(9_999_999.99)).toBe(AMOUNT_CENTS_MAX)
  })

  it.each([
    -0,
    -1,
    -0.01,
    1.005,
    0.001,
    0.1 + 0.2,
    2140.505,
    1e-9,
    9_999_999.991,
    10_000_000,
    2 ** 53 + 2,
    Infinity,
    -Infinity,
    NaN,
  ])('refuses %s', (dollars) => {
    expect(centsFromDollars(dollars)).toBeNull()
  })

  it('converts the output of dollarsFromCents back to the same cents', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: AMOUNT_CENTS_MAX }), (cents) => {
        expect(centsFromDollars(dollarsFromCents(cents))).toBe(cents)
      }),
      { numRuns: 2000 },
    )
  })

  it('agrees with the decimal text of an amount', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: AMOUNT_CENTS_MAX }), (cents) => {
        const text = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
        expect(centsFromDollars(Number(text))).toBe(cents)
      }),
    )
  })

  it('rejects a nonzero third decimal', () => {
    const thousandths = fc.integer({ min: 1, max: 9_999_999_990 }).filter((n) => n % 10 !== 0)
    fc.assert(
      fc.property(thousandths, (n) => {
        expect(centsFromDollars(n / 1000)).toBeNull()
      }),
    )
  })
})

describe('dollarsFromCents', () => {
  it('rounds a fraction of a cent, with halves away from zero', () => {
    expect(dollarsFromCents(206780.5)).toBe(2067.81)
    expect(dollarsFromCents(-206780.5)).toBe(-2067.81)
    expect(dollarsFromCents(206780.49)).toBe(2067.8)
  })

  it('never returns minus zero', () => {
    expect(Object.is(dollarsFromCents(-0.2), 0)).toBe(true)
    expect(Object.is(roundToCent(-0), 0)).toBe(true)
  })
})

describe('formatDollars', () => {
  it.each([
    [0, '$0'],
    [5, '$0.05'],
    [99900, '$999'],
    [214000, '$2,140'],
    [214050, '$2,140.50'],
    [206780, '$2,067.80'],
    [999_999_999, '$9,999,999.99'],
    [100_000_000, '$1,000,000'],
    [-9000, '-$90'],
    [-0.3, '$0'],
    [214049.6, '$2,140.50'],
  ])('writes %d cents as %s', (cents, text) => {
    expect(formatDollars(cents)).toBe(text)
  })
})
