import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { laneHistory, ratesOf, WORKED_EXAMPLE } from '../testing/lane-history.ts'
import type { PastQuote } from './history.ts'
import { revealedShare, type WinProbabilityMethod, winProbability } from './win-probability.ts'

const METHODS: WinProbabilityMethod[] = ['at_or_below', 'literal', 'revealed']
const probabilityAt = (history: PastQuote[], dollars: number, method: WinProbabilityMethod = 'at_or_below') =>
  winProbability(ratesOf(history), Math.round(dollars * 100), method).probability

describe('the worked example', () => {
  it.each([
    [1500, 0.954545, 0, 1],
    [1800, 0.954545, 0.1, 1],
    [1960, 0.954545, 0.4, 1],
    [1990, 0.9, 0.4, 1],
    [2000, 0.9, 0.4, 0.5],
    [2100, 0.714286, 0.5, 0],
    [2200, 0.555556, 0.5, 0],
    [2250, 0.5, 0.5, 0],
    [2250.01, 0.045455, 0.045455, 0],
    [2500, 0.045455, 0.045455, 0],
  ])('at $%d: %d at or below, %d literal, %d revealed', (dollars, atOrBelow, literal, revealed) => {
    expect(probabilityAt(WORKED_EXAMPLE, dollars)).toBeCloseTo(atOrBelow, 6)
    expect(probabilityAt(WORKED_EXAMPLE, dollars, 'literal')).toBeCloseTo(literal, 6)
    expect(revealedShare(ratesOf(WORKED_EXAMPLE), Math.round(dollars * 100))).toBeCloseTo(revealed, 6)
  })

  it('returns the counts that the probability is based on', () => {
    expect(winProbability(ratesOf(WORKED_EXAMPLE), 200000, 'at_or_below')).toEqual({
      probability: 0.9,
      flags: [],
      winsAtOrBelow: 4,
      decidedAtOrBelow: 5,
      rawShare: 0.8,
      pooled: true,
      decided: 10,
    })
    expect(winProbability(ratesOf(WORKED_EXAMPLE), 210000, 'at_or_below').pooled).toBe(false)
  })

  it('clamps the revealed method away from 0 and 1', () => {
    expect(probabilityAt(WORKED_EXAMPLE, 1800, 'revealed')).toBeCloseTo(1 - 0.5 / 11, 12)
    expect(probabilityAt(WORKED_EXAMPLE, 2200, 'revealed')).toBeCloseTo(0.5 / 11, 12)
  })
})

it('pools rates that won more often than cheaper ones', () => {
  const history = laneHistory('1000L 1100W 1200W 1300L 1400W')
  const raw = [0, 0.5, 0.666667, 0.5, 0.6]
  const pooled = [0.666667, 0.666667, 0.666667, 0.625, 0.6]
  for (const [at, rate] of [1000, 1100, 1200, 1300, 1400].entries()) {
    const answer = winProbability(ratesOf(history), rate * 100, 'at_or_below')
    expect(answer.rawShare).toBeCloseTo(raw[at] ?? -1, 6)
    expect(answer.probability).toBeCloseTo(pooled[at] ?? -1, 6)
    expect(answer.pooled).toBe(raw[at] !== pooled[at])
  }
})

describe('the edges', () => {
  it('treats a rate exactly 2 % higher as comparable, but not a rate one cent above that', () => {
    expect(winProbability(ratesOf(laneHistory('1020W 2000L')), 100000, 'at_or_below').decidedAtOrBelow).toBe(
      1,
    )
    expect(
      winProbability(ratesOf(laneHistory('1020.01W 2000L')), 100000, 'at_or_below').decidedAtOrBelow,
    ).toBe(0)
    // In floating point 110 * 1.02 exceeds 112.2, and other pairs err the other way. Integer arithmetic is exact.
    for (let cents = 50; cents <= 1_000_000; cents += 50 * 37) {
      const history = [
        { ...laneHistory('1W')[0], rateCents: (cents * 102) / 100 },
        ...laneHistory('99999L'),
      ] as PastQuote[]
      expect(winProbability(ratesOf(history), cents, 'at_or_below').decidedAtOrBelow).toBe(1)
    }
  })

  it('is null when no quote is decided', () => {
    for (const method of METHODS) {
      for (const quotes of ['', '2000P', '0W 0L', '0W 2000P']) {
        expect(winProbability(ratesOf(laneHistory(quotes)), 200000, method)).toEqual({
          probability: null,
          flags: [],
          winsAtOrBelow: 0,
          decidedAtOrBelow: 0,
          rawShare: null,
          pooled: false,
          decided: 0,
        })
      }
    }
  })

  it('never returns 0 or 1', () => {
    expect(probabilityAt(laneHistory('2000W 2000W 2000W'), 2000)).toBe(0.875)
    expect(probabilityAt(laneHistory('2000L 2000L 2000L'), 2000)).toBe(0.125)
    expect(probabilityAt(laneHistory('2000W'), 2000)).toBe(0.75)
    expect(probabilityAt(laneHistory('2000L'), 2000)).toBe(0.25)
  })

  it('uses an undecided quote only for the ceiling', () => {
    const history = laneHistory('2000W 2500P')
    expect(winProbability(ratesOf(history), 240000, 'at_or_below').flags).toEqual([])
    expect(winProbability(ratesOf(history), 250001, 'at_or_below').flags).toEqual(['above_ceiling'])
  })

  it('returns the pessimistic floor above the ceiling, even if every quote was won', () => {
    for (const method of METHODS) {
      const answer = winProbability(ratesOf(laneHistory('2000W 2000W 2000W')), 200001, method)
      expect([answer.probability, answer.flags]).toEqual([0.125, ['above_ceiling']])
    }
  })

  it('flags an offer below every decided rate and uses the lowest rate', () => {
    const answer = winProbability(ratesOf(laneHistory('2000W 2100L')), 100000, 'at_or_below')
    expect(answer.flags).toEqual(['below_floor'])
    expect(answer.probability).toBeCloseTo(1 - 0.5 / 3, 12)
    expect([answer.decidedAtOrBelow, answer.rawShare]).toEqual([0, null])
  })

  it('falls back to the overall share of wins if the revealed method has no relevant quote', () => {
    const history = laneHistory('1800W 1850W 2200L 2300L 2400L')
    expect(revealedShare(ratesOf(history), 200000)).toBeNull()
    expect(probabilityAt(history, 2000, 'revealed')).toBe(0.4)
  })
})

const rateCents = fc.oneof(
  fc.integer({ min: 150_000, max: 250_000 }),
  fc.integer({ min: 0, max: 999_999_999 }),
  fc.constantFrom(0, 1, 200_000, 999_999_999),
)
const quote = fc.tuple(
  rateCents,
  fc.constantFrom('won', 'lost', 'pending') as fc.Arbitrary<PastQuote['outcome']>,
)
const history = fc.array(quote, { maxLength: 60 }).map((pairs) =>
  pairs.map(
    ([cents, outcome], at): PastQuote => ({
      quoteId: at,
      rateCents: cents,
      costCents: null,
      outcome,
      quotedAt: at,
      miles: null,
    }),
  ),
)
const offerCents = fc.oneof(
  fc.integer({ min: 1, max: 999_999_999 }),
  fc.integer({ min: 140_000, max: 260_000 }),
)
const method = fc.constantFrom(...METHODS)

describe('properties', () => {
  it('is a number between 0 and 1 whenever a quote is decided', () => {
    fc.assert(
      fc.property(history, offerCents, method, (quotes, offer, reading) => {
        const { probability, decided, rawShare } = winProbability(ratesOf(quotes), offer, reading)
        expect(probability === null).toBe(decided === 0)
        for (const share of [probability, rawShare]) {
          if (share !== null) expect(share >= 0 && share <= 1).toBe(true)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('the order of the quotes does not matter', () => {
    const shuffled = history.chain((quotes) =>
      fc.tuple(fc.constant(quotes), fc.shuffledSubarray(quotes, { minLength: quotes.length })),
    )
    fc.assert(
      fc.property(shuffled, offerCents, method, ([quotes, other], offer, reading) => {
        expect(winProbability(ratesOf(other), offer, reading)).toEqual(
          winProbability(ratesOf(quotes), offer, reading),
        )
      }),
    )
  })

  it('scaling all rates and the offer changes nothing', () => {
    fc.assert(
      fc.property(
        history,
        offerCents,
        method,
        fc.integer({ min: 2, max: 1000 }),
        (quotes, offer, reading, factor) => {
          const scaled = quotes.map((past) => ({ ...past, rateCents: past.rateCents * factor }))
          expect(winProbability(ratesOf(scaled), offer * factor, reading)).toEqual(
            winProbability(ratesOf(quotes), offer, reading),
          )
        },
      ),
    )
  })

  it('never rises with the offer: 1,000 random lanes, 200 offers each', () => {
    let rises = 0
    for (const quotes of fc.sample(history, { numRuns: 1000, seed: 7 })) {
      const priced = quotes.filter((past) => past.rateCents > 0).map((past) => past.rateCents)
      const top = Math.max(1, ...priced.map((cents) => Math.min(cents, 300_000))) * 1.1
      const lane = ratesOf(quotes)
      let before = 1
      for (let step = 1; step <= 200; step += 1) {
        const offer = Math.max(1, Math.round((top * step) / 200))
        const { probability } = winProbability(lane, offer, 'at_or_below')
        if (probability === null) continue
        if (probability > before) rises += 1
        before = probability
      }
    }
    expect(rises).toBe(0)
  })

  it('never rises with the offer for revealed, and never falls up to the ceiling for literal', () => {
    fc.assert(
      fc.property(history, offerCents, offerCents, (quotes, one, other) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)]
        const at = (offer: number, reading: WinProbabilityMethod) =>
          winProbability(ratesOf(quotes), offer, reading)
        const [cheap, dear] = [at(low, 'revealed').probability, at(high, 'revealed').probability]
        if (cheap !== null && dear !== null) expect(dear).toBeLessThanOrEqual(cheap)
        const literal = [at(low, 'literal'), at(high, 'literal')]
        if (literal.some((answer) => answer.probability === null || answer.flags.includes('above_ceiling')))
          return
        expect(literal[1]?.probability ?? 0).toBeGreaterThanOrEqual(literal[0]?.probability ?? 1)
      }),
    )
  })
})
