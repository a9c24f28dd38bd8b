import fc from 'fast-check'
import { expect, test } from 'vitest'
import { americanAmount } from './written-amount.ts'

test.each([
  ['2.150,50', '2150.50'],
  ['2.150,5', '2150.5'],
  ['1.002.150,00', '1002150.00'],
  ['1.002.150', '1002150'],
  ['2150,50', '2150.50'],
  ['950,00', '950.00'],
  ['2 150,50', '2150.50'],
  ['2\u00a0150,50 $', '2150.50'],
  ['2\u202f150', '2150'],
  ['2 150.50', '2150.50'],
])('%s has one reading: %s', (text, american) => expect(americanAmount(text)).toBe(american))

test.each(['1.850', '1,85', '1.85', '2,150', '2,150.50', '21 50', '2.15,50', '2150,5', '', 'cheap'])(
  '%s is left to the reader',
  (text) => expect(americanAmount(text)).toBe(text),
)

test('an amount in any of the notations has the same cents', () => {
  const written = (locale: string, dollars: number) =>
    dollars.toLocaleString(locale, { minimumFractionDigits: 2, useGrouping: 'always' })
  fc.assert(
    fc.property(fc.integer({ min: 10_000, max: 999_999_999 }), (cents) => {
      for (const locale of ['de-DE', 'fr-CA', 'fr-FR']) {
        expect(Number(americanAmount(written(locale, cents / 100)))).toBe(cents / 100)
      }
    }),
  )
})
