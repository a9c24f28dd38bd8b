import { expect, test } from 'vitest'
import { openQuote } from '#contract/quote.ts'
import { nothingTyped, readRequote, requoteAdvice, requoteBody } from './requote-facts.ts'

const charges = [
  { name: 'lumper', amount: 120 },
  { name: 'detention', amount: 75 },
]
/** A contract quote of $2,500 with terms of its own. */
const made = {
  ...openQuote,
  quoted_rate: 2500,
  estimated_cost: 1900,
  rate_type: 'contract' as const,
  miles: 792,
  quoted_basis: 'linehaul' as const,
  quoted_fuel: 320,
  quoted_accessorials: 195,
}
const advised = (typed: object, quote = made) => {
  const read = readRequote(quote, { ...nothingTyped, ...typed })
  return requoteAdvice(quote, read, 'all_in').lanes
}

test('the advice is about the quote: its type and miles, and the terms and the cost that it keeps', () => {
  const kept = { rate_type: 'contract', miles: 792, quoted_basis: 'linehaul', quoted_fuel: 320 }
  expect(advised({ rate: '2,300' })).toEqual([
    expect.objectContaining({ ...kept, quoted_rate: 2300, estimated_cost: 1900, quoted_accessorials: 195 }),
  ])
  expect(advised({}, { ...made, quoted_charges: charges } as typeof made)[0]).toMatchObject({
    quoted_charges: charges,
  })
  expect(advised({})[0]).not.toHaveProperty('quoted_rate')
})

test('stated charges replace all earlier ones; a cost on another basis is left out', () => {
  const [charged] = advised({ fuel: '300' })
  expect(charged).toMatchObject({ quoted_basis: 'linehaul', quoted_fuel: 300, estimated_cost: 1900 })
  expect(charged).not.toHaveProperty('quoted_accessorials')
  const [allIn] = advised({ basis: 'all_in' })
  expect(allIn).toMatchObject({ quoted_basis: 'all_in' })
  expect(allIn).not.toHaveProperty('estimated_cost')
  expect(advised({ cost: '2,000', basis: 'all_in' })[0]).toMatchObject({
    estimated_cost: 2000,
  })
})

test('advice on a counter-offer is requested at the rate to answer with and at the named one, on the terms of the quote', () => {
  const counter_offer = { refused_rate: 2500, counter_rate: 2100 }
  expect(advised({ named: '2,100', basis: 'all_in' })).toMatchObject([
    { counter_offer, quoted_basis: 'linehaul' },
    { counter_offer, quoted_basis: 'linehaul', quoted_rate: 2100 },
  ])
  const read = (named: string, rate = '') => readRequote(made, { ...nothingTyped, named, rate })
  expect(read('2,100', '2,300')).toMatchObject({ counterRate: 2100, rate: 2300 })
  for (const outside of ['2,100', '2,500', '2,600', 'x'])
    expect(read('2,100', outside)).toMatchObject({ rate: null, isRateTyped: true })
  expect(read('2,500').counterRate).toBeNull()
  expect(requoteBody(read('2,100', '2,300'), 2300, 24)).toEqual({
    quoted_rate: 2300,
    counter_rate: 2100,
    valid_hours: 24,
  })
})
