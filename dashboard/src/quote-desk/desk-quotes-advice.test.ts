import { expect, test } from 'vitest'
import { blankQuote } from './desk-draft.ts'
import { totalsOf } from './desk-quotes-advice.ts'

test('the total of several quotes never adds Canadian to US dollars', () => {
  const row = (rate: string, currency: 'USD' | 'CAD') => ({
    lane: { ...blankQuote(1), rate, currency },
    advice: null,
  })
  expect(totalsOf([row('2420', 'USD'), row('2000', 'CAD')])).toMatchObject({ rated: 2, rate: null })
  expect(totalsOf([row('2420', 'USD'), row('2000', 'USD')])).toMatchObject({ rated: 2, rate: 4420 })
})
