import { expect, test } from 'vitest'
import { noTerms } from '../shared-ui/index.ts'
import { missingFor } from './desk-terms.ts'

test('what is missing for a comparison is named with its remedy', () => {
  const cad = { ...noTerms, currency: 'CAD' } as const
  const withFuel = missingFor({ ...cad, basis: 'linehaul', fuel: '350' }, 'all_in')
  // The fuel charge was entered, so it is not asked for.
  expect(withFuel.what).toBe('the exchange rate of today')
  expect(withFuel.remedy).not.toContain('fuel charge')
  expect(missingFor(cad, 'all_in')).toEqual(withFuel)
  expect(missingFor({ ...cad, basis: 'linehaul' }, 'all_in').what).toBe(
    'the exchange rate of today or the fuel charge',
  )
  expect(missingFor({ ...noTerms, basis: 'linehaul' }, 'all_in').what).toBe('the fuel charge')
})
