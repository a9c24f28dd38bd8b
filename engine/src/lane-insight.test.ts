import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Outcome, PastQuote } from './history.ts'
import { countHistory } from './history-counts.ts'
import { countMiles, describeLane, type LaneQuestion, rescaledAverage } from './lane-insight.ts'

const NOW = Date.UTC(2026, 5, 15, 12)
const DAY = 86_400_000

const past = (daysAgo: number, outcome: Outcome = 'won', rateCents = 200_000): PastQuote => ({
  quoteId: 1,
  rateCents,
  costCents: null,
  outcome,
  quotedAt: NOW - daysAgo * DAY,
  miles: null,
})

const describeQuotes = (quotes: PastQuote[], rest: Partial<LaneQuestion> = {}) =>
  describeLane({
    counts: countHistory(quotes, NOW),
    parent: { wins: 0, decided: 0 },
    askedScope: 'equipment',
    usedScope: 'equipment',
    avgRateCents: null,
    ...rest,
  })

/** Creates won, lost and pending quotes that are a given number of days old. */
const some = (daysAgo: number, won: number, lost: number, pending = 0) => [
  ...Array.from({ length: won }, () => past(daysAgo)),
  ...Array.from({ length: lost }, () => past(daysAgo, 'lost')),
  ...Array.from({ length: pending }, () => past(daysAgo, 'pending')),
]

const GROWING = [...some(100, 0, 1, 1), ...some(70, 1, 2), ...some(40, 2, 1, 1), ...some(10, 4, 1, 1)]

describe('describeLane', () => {
  it('states the month of the last quote when all quotes are too old to score', () => {
    expect(describeQuotes(some(3_000, 3, 0)).summary).toBe(
      'On this lane with this equipment you won all 3 decided quotes (100.0%) over 1 month at an average rate of $2,000: the last quote was in March 2018, too long ago to judge by.',
    )
  })

  it('omits the average rate when no quote has a rate', () => {
    expect(describeQuotes([past(3, 'won', 0)]).summary).not.toContain('average rate')
  })

  it('combines history, scores, signals and evidence', () => {
    const insight = describeQuotes(GROWING, { parent: { wins: 7, decided: 12 } })
    expect(insight.scope).toBe('equipment')
    expect(insight.history).toEqual({
      totalQuotes: 15,
      wins: 7,
      losses: 5,
      winRatePct: 58.3,
      monthsActive: 4,
      avgRateCents: 200_000,
    })
    expect(insight.scores.integral).toBeCloseTo(2.308968, 6)
    expect(insight.scores.derivative).toBeCloseTo(0.774592, 6)
    expect(insight.scores.harmonic).toBeCloseTo(0.64588, 6)
    expect(insight.scores.correlation).toBeCloseTo(0.890314, 6)
    expect(insight.signals).toEqual({
      strength: 'strong',
      trend: 'heating',
      consistency: 'reliable',
      timing: 'aligned',
    })
    expect(insight.evidence).toMatchObject({
      par: 0.4,
      bucketCount: 4,
      decidedBuckets: 4,
      decided: 12,
      olderQuotes: 0,
      futureQuotes: 0,
    })
    expect(insight.evidence.buckets.map((bucket) => bucket.quotes)).toEqual([2, 3, 4, 6])
    expect(insight.summary).toBe(
      'On this lane with this equipment you won 7 of 12 decided quotes (58.3%) over 4 months at an average rate of $2,000: strong against your other lanes, won more often lately than before, won steadily month after month, and won in step with how busy it was.',
    )
  })

  it('compares the lane with the brokerage’s other lanes only', () => {
    const { evidence } = describeQuotes(GROWING, { parent: { wins: 37, decided: 62 } })
    expect(evidence.par).toBeCloseTo((30 + 8) / (50 + 20), 12)
  })

  it('counts old and future quotes in the history but not in the scores', () => {
    const insight = describeQuotes([...some(500, 3, 0), ...some(5, 1, 1), ...some(-2, 0, 4)])
    expect(insight.history).toMatchObject({ totalQuotes: 9, wins: 4, losses: 5, winRatePct: 44.4 })
    expect(insight.evidence).toMatchObject({ decided: 2, bucketCount: 1, olderQuotes: 3, futureQuotes: 4 })
  })

  it('counts calendar months in UTC', () => {
    const at = (iso: string) => ({ ...past(0), quotedAt: Date.parse(iso) })
    const quotes = [at('2026-01-31T23:59:59.999Z'), at('2026-02-01T00:00:00Z'), at('2026-02-28T12:00:00Z')]
    expect(describeQuotes(quotes).history.monthsActive).toBe(2)
    expect(
      describeQuotes([at('2025-02-01T00:00:00Z'), at('2026-02-01T00:00:00Z')]).history.monthsActive,
    ).toBe(2)
  })

  it('averages the rates above zero, unless an average is given', () => {
    const quotes = [past(1, 'won', 200_000), past(1, 'lost', 210_001), past(1, 'won', 0)]
    expect(describeQuotes(quotes).history.avgRateCents).toBe(205_000.5)
    expect(describeQuotes(quotes, { avgRateCents: 123_456 }).history.avgRateCents).toBe(123_456)
    expect(describeQuotes([past(1, 'won', 0)]).history.avgRateCents).toBe(0)
  })

  it('does not depend on the order of the quotes', () => {
    const shuffled = fc.shuffledSubarray(GROWING, { minLength: GROWING.length })
    fc.assert(
      fc.property(shuffled, (quotes) => {
        expect(describeQuotes(quotes)).toEqual(describeQuotes(GROWING))
      }),
    )
  })
})

describe('the summary sentence', () => {
  it('names the scope only when it is wider than requested', () => {
    const sentence = (askedScope: LaneQuestion['askedScope'], usedScope: LaneQuestion['usedScope']) =>
      describeQuotes(some(5, 1, 1), { askedScope, usedScope }).summary
    expect(sentence('corridor', 'corridor')).toMatch(/^On this lane across all equipment you won 1 of 2/)
    expect(sentence('equipment', 'corridor')).toMatch(
      /^With too little history on this lane with this equipment, this looks at this lane across all equipment, where you won/,
    )
    expect(sentence('corridor', 'market')).toContain(
      'this looks at lanes between the same two markets, where',
    )
    expect(sentence('equipment', 'state_pair')).toContain(
      'this looks at lanes between the same two states, where',
    )
    expect(sentence('equipment', 'region')).toContain(
      'this looks at lanes between the same two regions, where',
    )
    expect(sentence('equipment', 'tenant')).toContain('this looks at all your lanes, where')
  })

  it('makes no comparison with other lanes for the scope of all lanes', () => {
    const tenant = { askedScope: 'equipment', usedScope: 'tenant' } as const
    expect(describeQuotes(GROWING, tenant).summary).not.toContain('other lanes')
    expect(describeQuotes(some(1, 1, 1), tenant).summary).toMatch(/at an average rate of \$2,000\.$/)
  })

  it('states that no quote is decided, for one quote and for several', () => {
    const one = describeQuotes([past(1, 'pending')])
    expect(one.history.winRatePct).toBe(0)
    expect(one.summary).toBe(
      'On this lane with this equipment you sent 1 quote over 1 month at an average rate of $2,000, and it is not decided yet.',
    )
    expect(describeQuotes(some(1, 0, 0, 3)).summary).toBe(
      'On this lane with this equipment you sent 3 quotes over 1 month at an average rate of $2,000, and none of them is decided yet.',
    )
  })

  it('states when there are too few outcomes to compare', () => {
    expect(describeQuotes([past(1)]).summary).toBe(
      'On this lane with this equipment you won the only decided quote (100.0%) over 1 month at an average rate of $2,000: too few recent outcomes to compare with your other lanes.',
    )
  })

  it('describes the past and makes no forecast', () => {
    const faded = [...some(100, 5, 1), ...some(70, 4, 2), ...some(40, 1, 5), ...some(10, 0, 6)]
    const { summary, signals } = describeQuotes(faded)
    expect(signals).toMatchObject({ strength: 'weak', trend: 'cooling' })
    expect(summary).toBe(
      'On this lane with this equipment you won 10 of 24 decided quotes (41.7%) over 4 months at an average rate of $2,000: weak against your other lanes, won less often lately than before, and won more in some months than in others.',
    )
    expect(summary).not.toMatch(/\bwill\b|expect|likely|should/)
  })
})

describe('bad history', () => {
  it.each([
    ['all won', some(5, 20, 0), 100],
    ['all lost', some(5, 0, 20), 0],
    ['rates of zero', [past(5, 'won', 0), past(5, 'lost', 0)], 50],
    ['all in the future', some(-5, 2, 1), 66.7],
    ['all long ago', some(3000, 2, 1), 66.7],
  ])('%s', (_name, quotes, winRatePct) => {
    const insight = describeQuotes(quotes)
    expect(insight.history.winRatePct).toBe(winRatePct)
    expect(JSON.parse(JSON.stringify(insight))).toEqual(insight)
    expect(insight.summary).not.toMatch(/NaN|null|undefined|Infinity/)
  })

  it('gives finite numbers and one complete sentence for any history', () => {
    const quote = fc
      .tuple(
        fc.integer({ min: -100, max: 1000 }),
        fc.constantFrom('won', 'lost', 'pending') as fc.Arbitrary<Outcome>,
        fc.oneof(fc.constantFrom(0, 1, 999_999_999), fc.integer({ min: 0, max: 500_000 })),
      )
      .map(([daysAgo, outcome, rateCents]) => past(daysAgo, outcome, rateCents))
    fc.assert(
      fc.property(
        fc.array(quote, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 0, max: 500 }),
        fc.integer({ min: 0, max: 500 }),
        (quotes, wins, more) => {
          const insight = describeQuotes(quotes, { parent: { wins, decided: wins + more } })
          expect(JSON.parse(JSON.stringify(insight))).toEqual(insight)
          expect(insight.summary).toMatch(/^[A-Z][^\n]*\.$/)
          expect(insight.summary).not.toMatch(/NaN|null|undefined|\. [A-Z]| {2}/)
        },
      ),
      { numRuns: 500 },
    )
  })
})

it('says that the average of a wider scope is of rates that were scaled', () => {
  const quotes = [past(3), past(4), past(5)]
  expect(describeQuotes(quotes, { usedScope: 'state_pair', avgRateCents: 199_623 }).summary).toContain(
    "at an average rate of $1,996.23 scaled to this lane's miles",
  )
  expect(describeQuotes(quotes).summary).not.toContain('scaled')
})

describe('rescaledAverage', () => {
  const haulLog = (miles: number | null) => Math.log(miles ?? 400)

  it('scales each rate to the requested miles, with the curve’s value for unknown miles', () => {
    const loads = [
      { rateCents: 100_000, miles: 100 },
      { rateCents: 300_000, miles: 200 },
      { rateCents: 0, miles: 200 },
      { rateCents: 500_000, miles: null },
    ]
    expect(rescaledAverage(countMiles(loads), 200, haulLog)).toBeCloseTo((200_000 + 300_000 + 250_000) / 3, 6)
  })

  it('is null when no quote has a rate', () => {
    expect(rescaledAverage(countMiles([{ rateCents: 0, miles: 100 }]), 200, haulLog)).toBeNull()
    expect(rescaledAverage([], 200, haulLog)).toBeNull()
  })

  it('is the mean of the scaled rates, identical to the last bit in any order', () => {
    const load = fc.record({
      rateCents: fc.integer({ min: 0, max: 999_999 }),
      miles: fc.oneof(
        fc.constant(null),
        fc.integer({ min: 0, max: 12 }).map((tens) => 5 + tens * 10.3),
      ),
    })
    const shuffled = fc
      .array(load, { maxLength: 40 })
      .chain((loads) => fc.tuple(fc.constant(loads), fc.shuffledSubarray(loads, { minLength: loads.length })))
    fc.assert(
      fc.property(shuffled, fc.integer({ min: 1, max: 3000 }), ([loads, others], miles) => {
        const found = rescaledAverage(countMiles(loads), miles, haulLog)
        expect(rescaledAverage(countMiles(others), miles, haulLog)).toBe(found)
        const scaled = loads
          .filter((one) => one.rateCents > 0)
          .map((one) => one.rateCents * Math.exp(haulLog(miles) - haulLog(one.miles)))
        const mean = scaled.reduce((sum, cents) => sum + cents, 0) / scaled.length
        if (found === null) expect(scaled).toEqual([])
        else expect(Math.abs(found / mean - 1)).toBeLessThan(1e-12)
      }),
    )
  })
})
