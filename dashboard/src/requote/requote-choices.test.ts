import { expect, test } from 'vitest'
import type { QuoteAdvice } from '../shared-ui/index.ts'
import { bestOf, choiceAt, expectedCost } from './requote-choices.ts'

type Rules = QuoteAdvice['outside_rules']
const asItIs: QuoteAdvice['conversion'] = { times: 1, plus: 0, by: null }
/** The advice on a rate after a counter-offer. */
const advised = (win_probability: number, outside_rules: Rules = []) =>
  ({
    estimate: { probability: 0.4, expected_cost: { amount: 1800 } },
    counter_offer: { win_probability, interval_80: null },
    outside_rules,
    conversion: asItIs,
  }) as unknown as QuoteAdvice
const blocked: Rules = [{ code: 'blocked', detail: '' }]

test('a choice has the chance after the counter-offer, its margin, and what it earns on average', () => {
  expect(choiceAt(2000, 1700, advised(1))).toMatchObject({
    chance: 1,
    margin: 300,
    marginPct: 15,
    worth: 300,
  })
  expect(choiceAt(2100, 1700, advised(0.75))).toMatchObject({ chance: 0.75, margin: 400, worth: 300 })
  const plain = { ...advised(1), counter_offer: null }
  expect(choiceAt(2100, 1700, plain)).toMatchObject({ chance: 0.4, margin: 400, worth: 160 })
  expect(choiceAt(2100, null, advised(0.75))).toMatchObject({ margin: null, worth: null })
})

test('a rate that cannot be converted has a margin over its own cost, and no chance', () => {
  const apart = { ...advised(0.75), conversion: null }
  expect(choiceAt(2100, 1700, apart)).toMatchObject({ chance: null, margin: 400, worth: null })
  expect(expectedCost(apart)).toBeNull()
  expect(expectedCost({ ...advised(1), conversion: { times: 1, plus: 300, by: 'charges' } })).toBe(1500)
})

test('the best choice earns most; of two equal ones, the certain one; a blocked one is never best', () => {
  const accept = choiceAt(2000, 1700, advised(1))
  expect(bestOf(accept, choiceAt(2100, 1700, advised(0.75)))).toBe('accept')
  expect(bestOf(accept, choiceAt(2050, 1700, advised(0.9)))).toBe('requote')
  expect(bestOf(accept, choiceAt(2050, 1700, advised(0.9, blocked)))).toBe('accept')
  expect(bestOf(choiceAt(2000, 2500, advised(1)), choiceAt(2100, 2500, advised(0.75)))).toBe('decline')
  expect(bestOf(accept, choiceAt(2100, 1700, null))).toBeNull()
  expect(bestOf(null, accept)).toBeNull()
})
