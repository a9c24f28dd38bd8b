import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LaneBucket } from './buckets.ts'
import { laneScores, par } from './scores.ts'
import { consistencyOf, consistencyScale, type LaneSignals, laneSignals } from './signals.ts'

const bucketsOf = (quotes: number[], wins: number[], losses: number[]): LaneBucket[] =>
  quotes.map((q, at) => ({ quotes: q, wins: wins[at] ?? 0, losses: losses[at] ?? 0 }))

interface Lane {
  name: string
  buckets: LaneBucket[]
  /** integral, derivative, harmonic, correlation at par 0.4 */
  scores: [number, number, number, number]
  signals: LaneSignals
  /** The consistency signal with unscaled thresholds. */
  unscaled: LaneSignals['consistency']
}

// Expected values from an independent computation. Par 0.4 scales the consistency thresholds by two thirds.
const LANES: Lane[] = [
  {
    name: 'growing',
    buckets: bucketsOf([2, 3, 4, 6], [0, 1, 2, 4], [1, 2, 1, 1]),
    scores: [2.308968, 0.774592, 0.64588, 0.890314],
    signals: { strength: 'strong', trend: 'heating', consistency: 'reliable', timing: 'aligned' },
    unscaled: 'mixed',
  },
  {
    name: 'one quote, won',
    buckets: bucketsOf([1], [1], [0]),
    scores: [0.6, 0.639953, 0.713287, 0],
    signals: { strength: 'unproven', trend: 'new', consistency: 'unproven', timing: 'unknown' },
    unscaled: 'unproven',
  },
  {
    name: 'always busy, mostly won',
    buckets: bucketsOf([5, 5, 5, 5, 5, 5], [4, 3, 4, 4, 3, 4], [1, 2, 1, 1, 2, 1]),
    scores: [6.080432, 0.536603, 0.804483, 0],
    signals: { strength: 'strong', trend: 'steady', consistency: 'reliable', timing: 'neutral' },
    unscaled: 'reliable',
  },
  {
    name: 'lost lately',
    buckets: bucketsOf([6, 6, 6, 6], [5, 4, 1, 0], [1, 2, 5, 6]),
    scores: [-1.203244, 0.064134, 0.334465, 0],
    signals: { strength: 'weak', trend: 'cooling', consistency: 'mixed', timing: 'neutral' },
    unscaled: 'erratic',
  },
  {
    name: 'silent between',
    buckets: bucketsOf([4, 0, 0, 4], [2, 0, 0, 2], [2, 0, 0, 2]),
    scores: [0.6, 0.511109, 0.493243, 1.329761],
    signals: { strength: 'moderate', trend: 'steady', consistency: 'reliable', timing: 'aligned' },
    unscaled: 'mixed',
  },
]

describe.each(LANES)('$name', ({ buckets, scores, signals, unscaled }) => {
  const answer = laneScores(buckets, 0.4)

  it('has the known scores', () => {
    const { integral, derivative, harmonic, correlation } = answer.scores
    for (const [at, value] of [integral, derivative, harmonic, correlation].entries()) {
      expect(value).toBeCloseTo(scores[at] ?? Number.NaN, 6)
    }
  })

  it('has the known signals', () => {
    expect(laneSignals(answer)).toEqual(signals)
    expect(consistencyOf(answer.scores.harmonic, answer.basis, 1)).toBe(unscaled)
  })
})

it('is neutral without buckets', () => {
  const answer = laneScores([], 0.4)
  expect(answer.scores).toEqual({ harmonic: 0, integral: 0, derivative: 0.5, correlation: 0 })
  expect(laneSignals(answer)).toEqual({
    strength: 'unproven',
    trend: 'new',
    consistency: 'unproven',
    timing: 'unknown',
  })
})

it('is misaligned when wins do not rise with volume', () => {
  const answer = laneScores(bucketsOf([1, 12, 1, 14], [1, 0, 1, 0], [0, 2, 0, 2]), 0.4)
  expect(answer.scores.correlation).toBeLessThan(0)
  expect(laneSignals(answer).timing).toBe('misaligned')
})

it('lowers the consistency thresholds for a low par and never raises them', () => {
  expect([consistencyScale(0.3), consistencyScale(0.6), consistencyScale(0.9)]).toEqual([0.5, 1, 1])
})

describe('par', () => {
  it('is the win rate of the other lanes, shrunk towards 8 of 20', () => {
    expect(par({ wins: 30, decided: 60 }, { wins: 8, decided: 10 })).toBeCloseTo(30 / 70, 12)
  })

  it('is 0.4 when there are no other lanes', () => {
    expect(par({ wins: 8, decided: 10 }, { wins: 8, decided: 10 })).toBe(0.4)
    expect(par({ wins: 0, decided: 0 }, { wins: 0, decided: 0 })).toBe(0.4)
  })

  it('stays between 0 and 1 when the totals were counted at slightly different times', () => {
    expect(par({ wins: 5, decided: 6 }, { wins: 8, decided: 10 })).toBe(0.4)
    expect(par({ wins: 9, decided: 10 }, { wins: 0, decided: 5 })).toBe(13 / 25)
  })
})

describe('properties', () => {
  const count = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 5000 }))
  const bucket = fc
    .tuple(count, count, count)
    .map(([wins, losses, pending]) => ({ quotes: wins + losses + pending, wins, losses }))
  const lane = fc.array(bucket, { maxLength: 13 })
  const parShare = fc.double({ min: 0.001, max: 0.999, noNaN: true })

  it('every score is a number, and scores that are shares stay within 0 and 1', () => {
    fc.assert(
      fc.property(lane, parShare, (buckets, share) => {
        const { scores, basis } = laneScores(buckets, share)
        for (const value of [...Object.values(scores), ...Object.values(basis)])
          expect(Number.isFinite(value)).toBe(true)
        for (const value of [scores.harmonic, scores.derivative, basis.rate]) {
          expect(value >= 0 && value <= 1).toBe(true)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('one more win now raises the integral', () => {
    fc.assert(
      fc.property(lane, bucket, parShare, (before, last, share) => {
        const more = { quotes: last.quotes + 1, wins: last.wins + 1, losses: last.losses }
        const one = laneScores([...before, last], share).scores
        const other = laneScores([...before, more], share).scores
        expect(other.integral).toBeGreaterThan(one.integral)
      }),
    )
  })

  it('swapping wins and losses, and par with 1 - par, mirrors the derivative', () => {
    fc.assert(
      fc.property(lane, parShare, (buckets, share) => {
        const swapped = buckets.map(({ quotes, wins, losses }) => ({ quotes, wins: losses, losses: wins }))
        const sum =
          laneScores(buckets, share).scores.derivative + laneScores(swapped, 1 - share).scores.derivative
        expect(sum).toBeCloseTo(1, 9)
      }),
    )
  })
})
