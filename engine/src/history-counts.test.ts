import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Outcome, PastQuote } from './history.ts'
import { countHistory, countsSameUntil } from './history-counts.ts'
import { describeLane } from './lane-insight.ts'

/** Two property tests, with some and with many random values. */
const property = (name: string, check: (numRuns: number) => void) => {
  it(name, () => check(400))
  it(`${name}: many`, { tags: 'long' }, () => check(2_000))
}

const NOW = Date.UTC(2026, 1, 15, 12)
const DAY = 86_400_000
const PERIOD = 30 * DAY

type Quote = Pick<PastQuote, 'rateCents' | 'outcome' | 'quotedAt'>
const at = (quotedAt: number, outcome: Outcome = 'won', rateCents = 200_000): Quote => ({
  rateCents,
  outcome,
  quotedAt,
})

describe('countHistory', () => {
  it('counts by 30-day bucket and calendar month, newest first', () => {
    const late = Date.UTC(2026, 0, 31, 23, 59, 59, 999)
    expect(
      countHistory([at(NOW - 40 * DAY), at(late, 'lost', 0), at(late + 1, 'pending'), at(late + 2)], NOW),
    ).toEqual([
      {
        ...{ bucket: 0, month: 2026 * 12 + 1, won: 1, lost: 0, pending: 1 },
        ...{ priced: 2, rateSumCents: 400_000, oldestAt: late + 1 },
      },
      {
        ...{ bucket: 0, month: 2026 * 12, won: 0, lost: 1, pending: 0 },
        ...{ priced: 0, rateSumCents: 0, oldestAt: late },
      },
      {
        ...{ bucket: 1, month: 2026 * 12, won: 1, lost: 0, pending: 0 },
        ...{ priced: 1, rateSumCents: 200_000, oldestAt: NOW - 40 * DAY },
      },
    ])
  })

  it('puts a quote exactly 30 days old in the next bucket', () => {
    const bucketsAt = (ages: number[]) =>
      ages.map((age) => countHistory([at(NOW - age)], NOW).map((count) => count.bucket))
    expect(
      bucketsAt([0, PERIOD - 1, PERIOD, 13 * PERIOD - 1, 13 * PERIOD, 99 * PERIOD, -1, -PERIOD]),
    ).toEqual([[0], [0], [1], [12], [13], [13], [-1], [-1]])
  })

  it('sums any number of cents exactly', () => {
    const quotes = Array.from({ length: 1000 }, () => at(NOW, 'won', 999_999_999))
    expect(countHistory(quotes, NOW)[0]?.rateSumCents).toBe(999_999_999_000)
  })
})

const moment = fc.oneof(
  fc.integer({ min: NOW - 500 * DAY, max: NOW + 40 * DAY }),
  // Times at and next to bucket boundaries.
  fc
    .tuple(fc.integer({ min: -2, max: 15 }), fc.integer({ min: -1, max: 1 }))
    .map(([periods, ms]) => NOW - periods * PERIOD + ms),
)
const quote = fc.record({
  rateCents: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 999_999_999 })),
  outcome: fc.constantFrom('won', 'lost', 'pending') as fc.Arbitrary<Outcome>,
  quotedAt: moment,
})
const quotes = fc.array(quote, { minLength: 1, maxLength: 25 })

const described = (history: readonly Quote[], now: number) =>
  describeLane({
    counts: countHistory(history, now),
    parent: { wins: 20, decided: 70 },
    askedScope: 'equipment',
    usedScope: 'corridor',
    avgRateCents: null,
  })

describe('countsSameUntil', () => {
  it('is the millisecond at which the first quote moves to the next bucket', () => {
    const until = (history: Quote[]) => countsSameUntil(countHistory(history, NOW), NOW)
    expect(until([at(NOW - 40 * DAY), at(NOW - 41 * DAY)])).toBe(NOW + 19 * DAY)
    expect(until([at(NOW - 40 * DAY), at(NOW)])).toBe(NOW + 20 * DAY)
    expect(until([at(NOW - PERIOD)])).toBe(NOW + PERIOD)
    expect(until([at(NOW - PERIOD + 1)])).toBe(NOW + 1)
  })

  it('is the date of a future quote', () => {
    const history = [at(NOW + 70 * DAY), at(NOW + 65 * DAY), at(NOW + 9 * PERIOD)]
    expect(countsSameUntil(countHistory(history, NOW), NOW)).toBe(NOW + 65 * DAY)
  })

  it('is Infinity when all quotes are too old or there are none', () => {
    expect(countsSameUntil(countHistory([at(NOW - 13 * PERIOD), at(0)], NOW), NOW)).toBe(
      Number.POSITIVE_INFINITY,
    )
    expect(countsSameUntil([], NOW)).toBe(Number.POSITIVE_INFINITY)
    expect(countsSameUntil(countHistory([at(NOW - 13 * PERIOD + 1)], NOW), NOW)).toBe(NOW + 1)
  })

  property('gives the same insight before this time and different counts at this time', (numRuns) => {
    fc.assert(
      fc.property(quotes, fc.double({ min: 0, max: 1, noNaN: true }), (history, share) => {
        const until = countsSameUntil(countHistory(history, NOW), NOW)
        expect(until).toBeGreaterThan(NOW)
        const last = Number.isFinite(until) ? until - 1 : NOW + 1000 * DAY
        for (const before of [last, Math.floor(NOW + (last - NOW) * share)]) {
          expect(described(history, before)).toEqual(described(history, NOW))
        }
        if (Number.isFinite(until)) {
          expect(countHistory(history, until)).not.toEqual(countHistory(history, NOW))
        }
      }),
      { numRuns },
    )
  })
})

property('an insight from counts equals an insight from single quotes to the last bit', (numRuns) => {
  fc.assert(
    fc.property(quotes, (history) => {
      const { history: fromCounts, evidence } = described(history, NOW)
      const ageOf = ({ quotedAt }: Quote) => Math.floor((NOW - quotedAt) / PERIOD)
      const count = (wanted: (quote: Quote) => boolean) => history.filter(wanted).length
      const rates = history.map((one) => one.rateCents).filter((rateCents) => rateCents > 0)
      const wins = count((one) => one.outcome === 'won')
      const losses = count((one) => one.outcome === 'lost')
      expect(fromCounts).toEqual({
        totalQuotes: history.length,
        wins,
        losses,
        winRatePct: wins + losses === 0 ? 0 : Math.round((1000 * wins) / (wins + losses)) / 10,
        monthsActive: new Set(history.map((one) => new Date(one.quotedAt).toISOString().slice(0, 7))).size,
        avgRateCents: rates.length === 0 ? 0 : rates.reduce((sum, cents) => sum + cents, 0) / rates.length,
      })
      const recent = history.map(ageOf).filter((age) => age >= 0 && age < 13)
      const ages = Array.from({ length: Math.max(-1, ...recent) + 1 }, (_, age) => age).reverse()
      expect(evidence.buckets).toEqual(
        ages.map((age) => ({
          quotes: count((one) => ageOf(one) === age),
          wins: count((one) => ageOf(one) === age && one.outcome === 'won'),
          losses: count((one) => ageOf(one) === age && one.outcome === 'lost'),
        })),
      )
      expect(evidence.olderQuotes).toBe(count((one) => ageOf(one) >= 13))
      expect(evidence.futureQuotes).toBe(count((one) => ageOf(one) < 0))
    }),
    { numRuns },
  )
})
