import { expect, test } from 'vitest'
import { exampleQuote } from '#contract/quote.ts'
import { deskQuote } from '#contract/quotes-advice.ts'
import { pricedFields, quoteTable } from '#engine/quote-fields.ts'
import { adviceOn, type PricedQuote, reasonsToConfirm } from './quote-facts.ts'

/** A saved quote with a value in each field that its price depends on. */
const contractQuote = {
  ...exampleQuote,
  estimated_cost: 2600,
  quoted_basis: 'linehaul' as const,
  quoted_fuel: 320,
  quoted_accessorials: 195,
  quoted_charges: [{ name: 'lumper', amount: 195 }],
  quoted_currency: 'USD' as const,
  miles: 792,
  rate_type: 'contract' as const,
  mode: 'partial' as const,
  stops: ['Memphis, TN'],
}

test('advice on a saved quote has every field that its price depends on', () => {
  const { customer, lanes: quotes } = adviceOn(contractQuote.quoted_customer_name, [contractQuote])
  const names = pricedFields.map((field) => quoteTable[field].sent)
  expect(customer).toBe(exampleQuote.quoted_customer_name)
  expect(Object.keys(quotes[0] ?? {}).sort()).toEqual(names.filter((name) => name !== 'customer_name').sort())
  expect(quotes[0]).toMatchObject({
    rate_type: 'contract',
    miles: 792,
    estimated_cost: 2600,
    quoted_fuel: 320,
  })
  // The service reads all of these fields.
  expect(Object.keys(deskQuote.properties)).toEqual(expect.arrayContaining(Object.keys(quotes[0] ?? {})))
})

test('what is not known is left out: a cost of zero is not known, a charge of zero is', () => {
  const ends = { origin: 'Dallas, TX', destination: 'Atlanta, GA' }
  const nothing = Object.fromEntries(pricedFields.map((field) => [quoteTable[field].sent, null]))
  const bare = { ...nothing, ...ends, estimated_cost: 0, quoted_fuel: 0 } as unknown as PricedQuote
  expect(adviceOn(' ', [bare])).toEqual({ lanes: [{ ...ends, quoted_fuel: 0 }] })
})

test('what a rule refuses is not asked about', () => {
  const warned = { status: 200, warnings: [{ detail: 'Below the cost.' }], outside_rules: [] }
  const asked = (result: object) => reasonsToConfirm(result as Parameters<typeof reasonsToConfirm>[0])
  expect(asked(warned)).toEqual(['Below the cost.'])
  expect(asked({ ...warned, outside_rules: [{ code: 'blocked', detail: '' }] })).toEqual([])
  expect(reasonsToConfirm(undefined)).toEqual([])
})
