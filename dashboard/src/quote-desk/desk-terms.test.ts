import { expect, test } from 'vitest'
import { missingOf } from './desk-terms.ts'

test('only what is missing is named as missing', () => {
  const cad = { currency: 'CAD', fuel: '' } as const
  expect(missingOf({ ...cad, basis: '' }, 'all_in')).toBe('the exchange rate of today')
  expect(missingOf({ ...cad, basis: 'all_in' }, 'all_in')).toBe('the exchange rate of today')
  expect(missingOf({ ...cad, basis: 'linehaul', fuel: '350' }, 'all_in')).toBe('the exchange rate of today')
  expect(missingOf({ ...cad, basis: 'linehaul' }, 'all_in')).toBe(
    'the exchange rate of today, or the fuel charge,',
  )
  expect(missingOf({ currency: '', basis: 'linehaul', fuel: '' }, 'all_in')).toBe('the fuel charge')
})
