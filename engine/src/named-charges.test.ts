import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chargesFault, chargesOf, chargesText, readCharges } from './named-charges.ts'

describe('charges by name', () => {
  test('have their names, amounts and order in the text', () => {
    const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9 /&()-]{0,38}[A-Za-z]$/)
    const charge = fc.record({ name, cents: fc.integer({ min: 0, max: 49_999_999 }) })
    fc.assert(
      fc.property(
        fc.uniqueArray(charge, { maxLength: 20, selector: (one) => one.name.toLowerCase() }),
        (charges) => {
          expect(readCharges(chargesText(charges))).toEqual(charges)
        },
      ),
    )
  })

  test('are read as people write them, and nothing else is', () => {
    expect(readCharges('Detention: $75; lumper 1,120.5')).toEqual([
      { name: 'Detention', cents: 7500 },
      { name: 'lumper', cents: 112050 },
    ])
    expect(readCharges('Stop off 2 = 50')).toEqual([{ name: 'Stop off 2', cents: 5000 }])
    for (const text of ['75', 'detention', 'detention -75', 'detention 75 lumper', 'a 1; A 2']) {
      expect(readCharges(text), text).toBeNull()
    }
    expect(chargesFault([{ name: 'a;b', cents: 1 }])).toContain('without a semicolon')
  })

  test('sum to at most the largest amount', () => {
    const charges = [
      { name: 'a', cents: 999_999_999 },
      { name: 'b', cents: 1 },
    ]
    expect(chargesFault(charges.slice(0, 1))).toBeNull()
    expect(chargesFault(charges)).toBe('must sum to at most 9999999.99; they sum to 10000000')
    expect(readCharges('a 9999999.99; b 0.01')).toBeNull()
  })

  test('are read in time that grows with the length of the text only', () => {
    for (const run of [' ', '1', ',', '.', '$', ':', '=', 'a ', '1,111', ' \t']) {
      // A pattern that backtracks takes hours for these texts.
      for (const text of [`a${run.repeat(50_000)}x`, `a${run.repeat(50_000)}75`, run.repeat(50_000)]) {
        readCharges(text)
      }
    }
    expect(readCharges(`detention${' '.repeat(1_000)}$75`)).toEqual([{ name: 'detention', cents: 7500 }])
  })

  test('are shown only while their sum is the saved accessorial total', () => {
    expect(chargesOf('detention 75.00', 7500)).toHaveLength(1)
    expect(chargesOf('detention 75.00', 9000)).toEqual([])
    expect(chargesOf(null, null)).toEqual([])
  })
})
