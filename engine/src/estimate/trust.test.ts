import { describe, expect, test } from 'vitest'
import { daysSince, nearbyDecided, quotesUsed, trustOf } from './trust.ts'

const solid = { interval80: { low: 0.4, high: 0.62 }, borrowedShare: 0.2, newestDays: 12, nearby: 5 }
const dayMs = 86_400_000
const now = Date.UTC(2026, 5, 1)

describe('trust', () => {
  test('is good with a narrow interval, own quotes and a recent one', () => {
    expect(trustOf(solid)).toBe('good')
  })

  test.each([
    ['a wider interval', { interval80: { low: 0.3, high: 0.7 } }],
    ['most of the evidence from other lanes', { borrowedShare: 0.51 }],
    ['only old quotes', { newestDays: 91 }],
    ['no quote of its own', { newestDays: null }],
  ])('is only fair with %s', (_, changed) => {
    expect(trustOf({ ...solid, ...changed })).toBe('fair')
  })

  test('is weak when the interval contains nearly everything, however many quotes there are', () => {
    expect(trustOf({ ...solid, interval80: { low: 0.06, high: 0.95 } })).toBe('weak')
  })

  test('is weak with fewer than five decided quotes on the lane and in its state pair, however narrow the interval is', () => {
    const far = { scope: 'region', decided: 900 }
    const nearby = (decided: number) =>
      nearbyDecided({ decided: 1 }, [
        { scope: 'state_pair', decided },
        far,
        { scope: 'tenant', decided: 2_000 },
      ])
    expect(trustOf({ ...solid, newestDays: null, borrowedShare: 1, nearby: nearby(4) })).toBe('fair')
    expect(trustOf({ ...solid, nearby: nearby(3) })).toBe('weak')
    expect(trustOf({ ...solid, nearby: nearbyDecided({ decided: 0 }, [far]) })).toBe('weak')
  })

  test('is none without an estimate', () => {
    expect(trustOf({ interval80: null, borrowedShare: null, newestDays: null, nearby: 0 })).toBe('none')
  })
})

describe('the quotes that an estimate uses', () => {
  const quote = (
    quoteId: number,
    daysAgo: number,
    outcome: 'won' | 'lost' | 'pending' = 'won',
    rateCents = 200_000,
  ) => ({
    quoteId,
    rateCents,
    outcome,
    quotedAt: now - daysAgo * dayMs,
  })

  test('are decided, priced, at most 600 days old, and not left out', () => {
    const quotes = [
      quote(1, 10),
      quote(2, 30, 'lost'),
      quote(3, 5, 'pending'),
      quote(4, 601),
      quote(5, 20, 'won', 0),
      quote(6, 1),
    ]
    expect(quotesUsed(quotes, new Set([6]), now)).toEqual({ decided: 2, won: 1, newestAt: now - 10 * dayMs })
  })

  test('are none on a lane that was quoted only years ago', () => {
    const quotes = Array.from({ length: 876 }, (_, at) => quote(at, 3_000 + at))
    expect(quotesUsed(quotes, new Set(), now)).toEqual({ decided: 0, won: 0, newestAt: null })
  })
})

test('days are whole and never negative', () => {
  expect([daysSince(now - 3.5 * dayMs, now), daysSince(now + dayMs, now)]).toEqual([3, 0])
})
