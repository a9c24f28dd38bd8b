import { expect, test } from 'vitest'
import { termsWords } from './rules-words.ts'

test('the terms of a rule say what they are a limit of', () => {
  expect(termsWords({ minimum: { margin_pct: 12, margin: 150 }, outside: 'approval' })).toBe(
    'at least 12% margin and $150 margin; otherwise needs approval',
  )
  expect(
    termsWords({ minimum: { rate_per_mile: 2.1 }, maximum: { margin_per_mile: 0.9 }, round_to: 25 }),
  ).toBe('at least a rate of $2.10 a mile; at most $0.90 margin a mile; rounded up to $25')
})
