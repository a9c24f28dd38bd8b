import { expect, test } from 'vitest'
import { effectInWords, minutesInWords } from './mail-speed.tsx'

test('minutes are hours from an hour on, and days from two days on', () => {
  expect([null, 0.4, 59.4, 60, 95, 2_879, 2_880, 4_400].map(minutesInWords)).toEqual([
    '–',
    '0 min',
    '59 min',
    '1 h',
    '1 h 35 min',
    '47 h 59 min',
    '2 days',
    '3 days',
  ])
})

test('the effect is said with its range, or as no evidence', () => {
  const effect = {
    within_minutes: 16,
    fast: { won: 14, decided: 25 },
    slow: { won: 9, decided: 24 },
    difference: 0.185,
    low: -0.091,
    high: 0.425,
    evidence: 'none',
  } as const
  expect(effectInWords(effect)).toBe(
    'No evidence that faster answers win more. Within 16 min you won 14 of 25, later 9 of 24. The difference is between -9 and 43 points in 19 of 20 cases.',
  )
  expect(effectInWords({ ...effect, low: 0.1, evidence: 'fast-wins-more' })).toMatch(
    /^Faster answers win more\./,
  )
  expect(effectInWords(null)).toBe('Too few decided quotes to say whether faster answers win more.')
})
