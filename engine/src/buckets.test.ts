import { describe, expect, it } from 'vitest'
import { BUCKETS_MAX, bucketQuotes } from './buckets.ts'

const NOW = Date.UTC(2026, 5, 15, 12)
const DAY = 86_400_000
const quote = (daysAgo: number, outcome: 'won' | 'lost' | 'pending' = 'won') => ({
  quotedAt: NOW - daysAgo * DAY,
  outcome,
})

describe('bucketQuotes', () => {
  it('runs from the first bucket with a quote to now, oldest first, with empty ones between', () => {
    expect(bucketQuotes([quote(1, 'pending'), quote(95), quote(99, 'lost')], NOW).buckets).toEqual([
      { quotes: 2, wins: 1, losses: 1 },
      { quotes: 0, wins: 0, losses: 0 },
      { quotes: 0, wins: 0, losses: 0 },
      { quotes: 1, wins: 0, losses: 0 },
    ])
  })

  it('keeps the empty buckets after the last quote: silence counts', () => {
    expect(bucketQuotes([quote(70)], NOW).buckets.map((bucket) => bucket.quotes)).toEqual([1, 0, 0])
  })

  it('cuts at exactly 30 days', () => {
    expect(bucketQuotes([quote(0)], NOW).buckets).toHaveLength(1)
    expect(bucketQuotes([{ quotedAt: NOW - 30 * DAY + 1, outcome: 'won' }], NOW).buckets).toHaveLength(1)
    expect(bucketQuotes([quote(30)], NOW).buckets).toHaveLength(2)
  })

  it('holds at most 13 and counts the older and the future quotes apart', () => {
    const kept = bucketQuotes([quote(389.9), quote(390), quote(4000), quote(-0.001)], NOW)
    expect(kept.buckets).toHaveLength(BUCKETS_MAX)
    expect([kept.older, kept.future]).toEqual([2, 1])
  })

  it('is empty when nothing is recent', () => {
    expect(bucketQuotes([quote(500), quote(-3)], NOW)).toEqual({ buckets: [], older: 1, future: 1 })
    expect(bucketQuotes([], NOW)).toEqual({ buckets: [], older: 0, future: 0 })
  })
})
