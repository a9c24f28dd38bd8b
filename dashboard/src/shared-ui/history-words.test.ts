import { expect, test } from 'vitest'
import { historyInWords } from './history-words.ts'

const query = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
const signals = { strength: 'strong', trend: 'heating', consistency: 'unproven', timing: 'neutral' } as const
const history = {
  total_quotes: 14,
  wins: 7,
  losses: 5,
  win_rate_pct: 58.3,
  months_active: 4,
  avg_rate_usd: 2140.4,
}

test('the history of a lane is one sentence in the words of the pages', () => {
  expect(historyInWords({ query, scope: 'equipment', history, signals })).toBe(
    'On this lane with this equipment you won 7 of 12 answered quotes (58.3%) over 4 months, at an average of $2,140: strong against your other lanes, won more often lately than before.',
  )
})

test('a wider scope is named, without the average rate of other lanes', () => {
  const words = historyInWords({ query, scope: 'state_pair', history, signals })
  expect(words).toContain('this looks at lanes between the same two states, where you won 7 of 12')
  expect(words).not.toContain('$')
})

test('quotes without an answer are no win rate', () => {
  const none = { ...history, wins: 0, losses: 0 }
  expect(historyInWords({ query, scope: 'equipment', history: none, signals })).toMatch(
    /you sent 14 quotes over 4 months.*\. None is answered yet\.$/,
  )
})
