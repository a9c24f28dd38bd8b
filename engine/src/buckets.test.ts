import { describe, expect, it } from 'vitest'
import { BUCKETS_MAX, laneBuckets } from './buckets.ts'
import type { PastQuote } from './history.ts'
import { countHistory } from './history-counts.ts'

const NOW = Date.UTC(2026, 5, 15, 12)
const DAY = 86_400_000
const quote = (daysAgo: number, outcome: PastQuote['outcome'] = 'won') => ({
  rateCents: 0,
  quotedAt: NOW - daysAgo * DAY,
  outcome,
})
const bucketsOf = (quotes: ReturnType<typeof quote>[]) => laneBuckets(countHistory(quotes, NOW))

describe('laneBuckets', () => {
  it('covers all buckets from the first with a quote until now, oldest first, including empty buckets', () => {
    expect(bucketsOf([quote(1, 'pending'), quote(95), quote(99, 'lost')]).buckets).toEqual([
      { quotes: 2, wins: 1, losses: 1 },
      { quotes: 0, wins: 0, losses: 0 },
      { quotes: 0, wins: 0, losses: 0 },
      { quotes: 1, wins: 0, losses: 0 },
    ])
  })

  it('has empty buckets after the last quote', () => {
    expect(bucketsOf([quote(70)]).buckets.map((bucket) => bucket.quotes)).toEqual([1, 0, 0])
  })

  it('starts a new bucket at exactly 30 days', () => {
    expect(bucketsOf([quote(0)]).buckets).toHaveLength(1)
    expect(bucketsOf([{ ...quote(0), quotedAt: NOW - 30 * DAY + 1 }]).buckets).toHaveLength(1)
    expect(bucketsOf([quote(30)]).buckets).toHaveLength(2)
  })

  it('has at most 13 buckets and counts older and future quotes separately', () => {
    const kept = bucketsOf([quote(389.9), quote(390), quote(4000), quote(-0.001)])
    expect(kept.buckets).toHaveLength(BUCKETS_MAX)
    expect([kept.older, kept.future]).toEqual([2, 1])
  })

  it('is empty when no quote is recent', () => {
    expect(bucketsOf([quote(500), quote(-3)])).toEqual({ buckets: [], older: 1, future: 1 })
    expect(bucketsOf([])).toEqual({ buckets: [], older: 0, future: 0 })
  })

  it('accepts counts in any order and any bucket number for older and future quotes', () => {
    const count = (bucket: number) => ({ bucket, won: 1, lost: 2, pending: 3 })
    expect(laneBuckets([count(40), count(1), count(-2), count(0), count(1), count(13)])).toEqual({
      buckets: [
        { quotes: 12, wins: 2, losses: 4 },
        { quotes: 6, wins: 1, losses: 2 },
      ],
      older: 12,
      future: 6,
    })
  })
})
