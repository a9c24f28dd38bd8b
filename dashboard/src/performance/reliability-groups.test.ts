import { expect, test } from 'vitest'
import { groupsOf } from './reliability-groups.ts'

test('the 80% range of 17 in 26 is 53% to 76%', () => {
  const [group] = groupsOf([{ quotes: 26, forecast: 0.6, won: 17 / 26 }])
  expect(group).toMatchObject({ number: 1, wins: 17, verdict: 'as forecast' })
  // Wilson score interval: (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n), with z = 1.28155
  expect(group?.low).toBeCloseTo(0.5288, 3)
  expect(group?.high).toBeCloseTo(0.7611, 3)
})

test('a forecast outside the range is reported with its direction', () => {
  const verdicts = groupsOf([
    { quotes: 342, forecast: 0.29, won: 0.2 },
    { quotes: 342, forecast: 0.29, won: 0.4 },
  ]).map(({ verdict }) => verdict)
  expect(verdicts).toEqual(['less often than forecast', 'more often than forecast'])
})

test('a group that never or always won has a range within 0 and 1', () => {
  const [never, always] = groupsOf([
    { quotes: 10, forecast: 0.1, won: 0 },
    { quotes: 10, forecast: 0.9, won: 1 },
  ])
  expect(never?.low).toBe(0)
  expect(never?.high).toBeGreaterThan(0)
  expect(always?.high).toBeCloseTo(1, 12)
  expect(always?.low).toBeLessThan(1)
})
