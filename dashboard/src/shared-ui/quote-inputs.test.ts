import { expect, test } from 'vitest'
import { knownFields } from './quote-facts.ts'
import {
  faultOf,
  noTerms,
  nothingTyped,
  readFields,
  saysTerms,
  termsFields,
  termsInWords,
  typedAs,
  typedInWords,
  unreadable,
} from './quote-inputs.tsx'
import { converted, onOwnTerms } from './rate-conversion.ts'

test('only what was stated is sent', () => {
  const body = (terms: typeof noTerms) => knownFields(readFields(terms, termsFields))
  expect([saysTerms(noTerms), body(noTerms)]).toEqual([false, {}])
  const said = {
    basis: 'linehaul',
    fuel: '$320',
    charges: 'lumper 120; detention $75',
    currency: 'CAD',
  } as const
  expect(body(said)).toEqual({
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

test('a text that cannot be read is an error of its field, and so is an empty one that a quote needs', () => {
  const wrong = {
    rate: 'lots',
    cost: '-5',
    fuel: 'lots',
    charges: 'lumper',
    miles: '12,000',
    market: '2k',
  } as const
  for (const [field, text] of Object.entries(wrong)) {
    expect(unreadable(field as keyof typeof wrong, text)).toEqual(expect.any(String))
  }
  const right = { rate: '$2,150', cost: '', fuel: '320', charges: 'lumper 120', miles: '1,250 mi' } as const
  for (const [field, text] of Object.entries(right)) {
    expect(unreadable(field as keyof typeof right, text)).toBeNull()
  }
  // A dollar sign is the start of an amount.
  expect([unreadable('rate', '$'), faultOf('rate', '$')]).toEqual([null, 'What is the rate?'])
  expect([faultOf('cost', ''), faultOf('stops', '')]).toEqual([null, null])
})

test('values of the API are typed as they are read', () => {
  const sent = {
    quoted_rate: 2150,
    quoted_accessorials: 195,
    quoted_charges: [
      { name: 'lumper', amount: 120 },
      { name: 'detention', amount: 75 },
    ],
    stops: ['Memphis, TN', 'Tulsa, OK'],
    miles: 792,
  }
  const typed = typedAs(sent)
  expect(typed).toEqual({
    ...nothingTyped,
    rate: '2150',
    charges: 'lumper 120; detention 75',
    stops: 'Memphis, TN; Tulsa, OK',
    miles: '792',
  })
  expect(readFields(typed, ['rate', 'charges', 'stops', 'miles'])).toEqual({
    ...sent,
    quoted_accessorials: null,
  })
  expect(typedInWords(typed, 'all_in')).toEqual([
    'all-in, US dollars',
    'lumper 120; detention 75',
    'via Memphis, TN; Tulsa, OK',
    '792 miles',
  ])
})

test('a rate is compared on the terms of the brokerage, and taken over on its own', () => {
  const linehaul = { times: 1, plus: 400, by: 'charges' } as const
  expect([converted(linehaul, 2400), onOwnTerms(linehaul, 2800)]).toEqual([2800, 2400])
  const canadian = { times: 0.73, plus: 0, by: 'exchange' } as const
  expect([converted(canadian, 3000), onOwnTerms(canadian, 2190)]).toEqual([2190, 3000])
  expect(onOwnTerms({ times: 1, plus: 0, by: null }, 2780.5)).toBe(2780.5)
})
