import { expect, test } from 'vitest'
import { termsWords } from './rules-words.ts'

test('the terms of a rule say of what each number is', () => {
  expect(termsWords({ minimum: { margin_pct: 12 }, outside: 'approval' })).toBe(
    'at least a margin of 12%; otherwise needs approval',
  )
  expect(
    termsWords({
      minimum: { margin: 150, rate_per_mile: 2 },
      target: { margin_pct: 15 },
      maximum: { margin_per_mile: 1 },
    }),
  ).toBe(
    'at least a margin of $150 and a rate of $2 a mile; target: a margin of 15%; at most a margin of $1 a mile',
  )
})
