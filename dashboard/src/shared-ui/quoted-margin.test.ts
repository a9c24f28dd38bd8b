import { expect, test } from 'vitest'
import { exampleQuote } from '#contract/quote.ts'
import { quotedMargin } from './quoted-margin.ts'

const quote = {
  ...exampleQuote,
  quoted_rate: 2000,
  estimated_cost: null,
  expected_cost: { ...exampleQuote.expected_cost, amount: 1700 },
  quoted_basis: null,
  expected_basis: null,
  quoted_currency: null,
} as Parameters<typeof quotedMargin>[0]

test('the margin is the rate minus the estimate, else minus the cost expected from history', () => {
  expect(quotedMargin({ ...quote, estimated_cost: 1500 })).toEqual({
    cost: 1500,
    source: 'estimate',
    margin: 500,
    marginPct: 25,
  })
  expect(quotedMargin(quote)).toEqual({ cost: 1700, source: 'history', margin: 300, marginPct: 15 })
})

test('a cost in US dollars is not subtracted from a rate in Canadian dollars or on another basis', () => {
  expect(quotedMargin({ ...quote, quoted_currency: 'CAD' })).toBeNull()
  expect(quotedMargin({ ...quote, quoted_basis: 'linehaul', expected_basis: 'all_in' })).toBeNull()
  // A rep's cost estimate is in the currency of the rate.
  expect(quotedMargin({ ...quote, quoted_currency: 'CAD', estimated_cost: 1500 })?.margin).toBe(500)
})
