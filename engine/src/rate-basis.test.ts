import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AmountTerms, amountConversion, convertedCents, unconvertedCents } from './rate-basis.ts'

const cents = fc.integer({ min: 20_000, max: 2_000_000 })
const charges = fc.option(fc.integer({ min: 0, max: 15_000 }))
const terms: fc.Arbitrary<AmountTerms> = fc.record({
  basis: fc.constantFrom(null, 'linehaul', 'all_in'),
  fuelCents: charges,
  accessorialCents: charges,
  currency: fc.constantFrom(null, 'USD', 'CAD'),
})
const day = fc.record({
  scheduledFuelCents: charges,
  usdPerCad: fc.option(fc.double({ min: 0.5, max: 1.1, noNaN: true })),
})

describe('the inverse of a conversion', () => {
  test('of $1,460 US on the all-in basis is the linehaul rate of $1,600 Canadian with $400 of fuel, at 0.73', () => {
    const linehaul = {
      basis: 'linehaul',
      fuelCents: 40_000,
      accessorialCents: null,
      currency: 'CAD',
    } as const
    const conversion = amountConversion(linehaul, 'all_in', { scheduledFuelCents: null, usdPerCad: 0.73 })
    expect(conversion).toEqual({ times: 0.73, plusCents: 29_200, by: 'exchange' })
    if (conversion === null) return
    expect(convertedCents(conversion, 160_000)).toBe(146_000)
    expect(unconvertedCents(conversion, 146_000)).toBeCloseTo(160_000, 6)
  })

  test('returns every converted amount to within a cent', () => {
    fc.assert(
      fc.property(terms, fc.constantFrom('linehaul', 'all_in'), day, cents, (amount, wanted, of, from) => {
        const conversion = amountConversion(amount, wanted, of)
        const converted = conversion === null ? null : convertedCents(conversion, from)
        if (conversion === null || converted === null) return
        expect(Math.abs(unconvertedCents(conversion, converted) - from)).toBeLessThanOrEqual(
          0.5 / conversion.times + 1e-6,
        )
      }),
    )
  })
})
