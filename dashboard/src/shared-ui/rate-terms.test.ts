import { expect, test } from 'vitest'
import { converted, onOwnTerms } from './rate-conversion.ts'
import { noTerms, saysTerms, termsBody, termsErrors, termsInWords } from './rate-terms.tsx'

test('only what was stated is sent', () => {
  expect([saysTerms(noTerms), termsBody(noTerms)]).toEqual([false, {}])
  const said = {
    basis: 'linehaul',
    fuel: '$320',
    charges: 'lumper 120; detention $75',
    currency: 'CAD',
  } as const
  expect(termsBody(said)).toEqual({
    quoted_basis: 'linehaul',
    quoted_fuel: 320,
    quoted_charges: [
      { name: 'lumper', amount: 120 },
      { name: 'detention', amount: 75 },
    ],
    quoted_currency: 'CAD',
  })
  expect(termsInWords(said, 'all_in')).toBe('linehaul, Canadian dollars')
  expect(termsInWords(noTerms, 'all_in')).toBe('all-in, US dollars')
})

test('charges that cannot be read are an error of their field', () => {
  expect(termsErrors({ ...noTerms, fuel: 'lots', charges: 'lumper' })).toEqual({
    fuel: expect.any(String),
    charges: expect.any(String),
  })
  expect(termsErrors({ ...noTerms, fuel: '320', charges: '' })).toEqual({})
})

test('a rate is compared on the terms of the brokerage, and taken over on its own', () => {
  const linehaul = { times: 1, plus: 400, by: 'charges' } as const
  expect([converted(linehaul, 2400), onOwnTerms(linehaul, 2800)]).toEqual([2800, 2400])
  const canadian = { times: 0.73, plus: 0, by: 'exchange' } as const
  expect([converted(canadian, 3000), onOwnTerms(canadian, 2190)]).toEqual([2190, 3000])
  expect(onOwnTerms({ times: 1, plus: 0, by: null }, 2780.5)).toBe(2780.5)
})
