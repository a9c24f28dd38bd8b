import { expect, test } from 'vitest'
import type { PricingRule } from '../rules/pricing-rules.ts'
import { type PastQuote, testRuleInSteps } from './rule-test.ts'

/** A won quote of $2,000 at a cost of $1,700. */
const quote = (nth: number): PastQuote => ({
  laneRef: String(nth),
  lane: `lane ${nth}`,
  rateCents: 200_000,
  outcome: 'won',
  facts: {
    customerKeys: [],
    tier: null,
    origin: { place: 'dallas|TX', market: null, state: 'TX' },
    destination: { place: 'atlanta|GA', market: null, state: 'GA' },
    equipmentCode: 'V',
    miles: 800,
    rateType: 'spot',
    repId: null,
    teamIds: [],
    confidence: 'low',
  },
  costs: { enteredCents: 170_000, expectedCents: null, miles: 800 },
  chanceAt: () => 0.5,
})

test('thousands of quotes are tested in steps, between which other requests are answered', () => {
  const tested: PricingRule = { ruleId: 1, conditions: {}, terms: { minimum: { cents: 40_000 } } }
  const quotes = Array.from({ length: 2_000 }, (_, nth) => quote(nth))
  const steps = testRuleInSteps({ tested, before: [], after: [tested] }, quotes)
  let count = 0
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) count++
  expect(step.value).toMatchObject({ applies: 2_000, estimate: { quotes: 2_000, winsBefore: 1_000 } })
  expect(step.value.changed).toHaveLength(2_000)
  // A hundred steps for the rules, a hundred for the chances, and the rest for the range.
  expect(count).toBeGreaterThan(250)
})
