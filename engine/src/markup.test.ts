import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { laneHistory, ratesOf, WORKED_EXAMPLE } from '../testing/lane-history.ts'
import { adviseMarkup, type MarkupQuestion, markupPct } from './markup.ts'

const offer = (dollars: number, rest: Partial<MarkupQuestion> = {}): MarkupQuestion => ({
  proposedRateCents: Math.round(dollars * 100),
  marketRateCents: null,
  method: 'at_or_below',
  ...rest,
})
const advise = (quotes: string, dollars: number, rest: Partial<MarkupQuestion> = {}) =>
  adviseMarkup(ratesOf(laneHistory(quotes)), offer(dollars, rest))

describe('adviseMarkup', () => {
  it('gives all values of the worked example', () => {
    expect(adviseMarkup(ratesOf(WORKED_EXAMPLE), offer(2000))).toEqual({
      winProbability: 0.9,
      confidence: 'medium',
      markupPct: -1.2,
      suggestedRateCents: 191000,
      rateBand: { floorCents: 180000, medianCents: 202500, ceilingCents: 225000 },
      verdict:
        '$2,000 is 1.2% below the median of your quotes on this lane; you won 4 of 5 decided quotes at this rate or lower (smoothed to 90%); the suggested rate is $1,910, $90 lower (medium confidence: 10 decided quotes).',
      evidence: {
        quotes: 10,
        undecided: null,
        unpriced: 0,
        wins: 5,
        losses: 5,
        pending: 0,
        decided: 10,
        decidedToNextConfidence: 5,
        method: 'at_or_below',
        flags: [],
        winsAtOrBelow: 4,
        decidedAtOrBelow: 5,
        rawShare: 0.8,
        pooled: true,
        reference: { source: 'median', cents: 202500 },
        suggestion: { basis: 'average_win', winsUsed: 5, cappedByCents: null, lossesIgnored: 0 },
      },
    })
  })

  it('computes the markup against the market rate if one is given', () => {
    const advice = adviseMarkup(ratesOf(WORKED_EXAMPLE), offer(2100, { marketRateCents: 200000 }))
    expect(advice.markupPct).toBe(5)
    expect(advice.verdict).toContain('$2,100 is 5.0% above the market rate of $2,000;')
  })

  it('has only null values when no quote is decided, even with a market rate', () => {
    const advice = advise('2000P 2100P 2200P', 2100, { marketRateCents: 200000 })
    expect(advice).toMatchObject({
      winProbability: null,
      confidence: 'none',
      markupPct: null,
      suggestedRateCents: null,
      rateBand: { floorCents: null, medianCents: null, ceilingCents: null },
      verdict:
        'You have 3 quotes on this lane and none of them is decided yet, so there is no win probability or suggested rate to show.',
      evidence: { quotes: 3, pending: 3, decided: 0, reference: null, flags: [] },
    })
  })

  it('excludes rates of zero from every number and counts them as unpriced', () => {
    const advice = advise('0W 0L 0P 2000W', 2000)
    expect(advice.evidence).toMatchObject({
      quotes: 4,
      unpriced: 3,
      wins: 1,
      losses: 0,
      pending: 0,
      decided: 1,
    })
    expect(advice.rateBand.floorCents).toBe(200000)
    expect(advise('0W 2000P', 2000)).toMatchObject({
      confidence: 'none',
      markupPct: null,
      winProbability: null,
    })
  })

  it('counts a rate that is 100 times the others', () => {
    const advice = advise('2000W 2050W 2100L 2150L 210000L', 2000)
    expect(advice.rateBand.ceilingCents).toBe(21_000_000)
    expect(advice.evidence.decided).toBe(5)
  })
})

describe('the verdict', () => {
  const sentence = (quotes: string, dollars: number, rest: Partial<MarkupQuestion> = {}) =>
    advise(quotes, dollars, rest).verdict

  it('has the right wording for no quotes and for one quote', () => {
    expect(sentence('', 2000)).toBe(
      'You have no quotes on this lane yet, so there is nothing to compare this rate with.',
    )
    expect(sentence('2000P', 2000)).toBe(
      'You have 1 quote on this lane and it is not decided yet, so there is no win probability or suggested rate to show.',
    )
    expect(sentence('2000W', 2000)).toBe(
      '$2,000 is exactly the median of your quotes on this lane; you won the only decided quote at this rate or lower (smoothed to 75%); the suggested rate is $2,000, the same (low confidence: 1 decided quote).',
    )
    expect(sentence('2000L', 2000)).toBe(
      '$2,000 is exactly the median of your quotes on this lane; you lost the only decided quote at this rate or lower (smoothed to 25%); the suggested rate is $1,960, $40 lower (low confidence: 1 decided quote).',
    )
    expect(sentence('0W', 2000)).toBe(
      'You have 1 quote on this lane, but no won or lost quote has a rate, so there is no win probability or suggested rate yet.',
    )
  })

  it('has the right wording for two quotes', () => {
    expect(sentence('2000W 2100W', 2100)).toBe(
      '$2,100 is 2.4% above the median of your quotes on this lane; you won both decided quotes at this rate or lower (smoothed to 83%); the suggested rate is $2,050, $50 lower (low confidence: 2 decided quotes).',
    )
  })

  it('shows only the raw share when smoothing does not change it', () => {
    expect(sentence('1800W 1900W 2000L 2100L', 2100)).toContain(
      'you won 2 of 4 decided quotes at this rate or lower (50%);',
    )
  })

  it('states when the offer is outside the range of past rates', () => {
    expect(sentence('2000W 2100L', 2500)).toContain(
      'it is above every rate you have quoted on this lane, so the win probability is a pessimistic 17%;',
    )
    expect(sentence('2000W 2100L', 1000)).toContain(
      'it is below every decided rate on this lane, so the share of quotes won at your lowest rates is used (83%);',
    )
  })

  it('explains the literal and the revealed method', () => {
    expect(adviseMarkup(ratesOf(WORKED_EXAMPLE), offer(2000, { method: 'literal' })).verdict).toContain(
      'your wins at this rate or lower are 4 of all 10 decided quotes (40%);',
    )
    expect(adviseMarkup(ratesOf(WORKED_EXAMPLE), offer(2000, { method: 'revealed' })).verdict).toContain(
      'of your quotes that won at this rate or higher or lost at this rate or lower, 50% won;',
    )
  })

  it('shows cents only for amounts with cents', () => {
    expect(sentence('2000.50W 2100L', 2000.5)).toMatch(/^\$2,000\.50 is 2\.4% below/)
  })

  it('is one complete sentence for any history', () => {
    const word = fc
      .tuple(fc.integer({ min: 0, max: 9999 }), fc.constantFrom('W', 'L', 'P'))
      .map((pair) => pair.join(''))
    const method = fc.constantFrom('at_or_below', 'literal', 'revealed') as fc.Arbitrary<
      MarkupQuestion['method']
    >
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 30 }),
        fc.integer({ min: 1, max: 12_000 }),
        method,
        (words, dollars, m) => {
          const text = sentence(words.join(' '), dollars, { method: m })
          expect(text).toMatch(/^[A-Z$][^\n]*\.$/)
          expect(text).not.toMatch(/NaN|null|undefined|Infinity|\. [A-Z]|-\$| {2}/)
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('markupPct', () => {
  it.each([
    [214000, 200000, 7],
    [200000, 200000, 0],
    [200100, 200000, 0.1],
    [200099, 200000, 0],
    [199901, 200000, 0],
    [199900, 200000, -0.1],
    [210050, 200000, 5],
    [200900, 200000, 0.5],
    [1, 999_999_999, -100],
    [999_999_999, 1, 99_999_999_800],
  ])('%d against %d is %d %', (rate, reference, pct) => {
    expect(Object.is(markupPct(rate, reference), pct)).toBe(true)
  })

  it('rounds halves away from zero for both signs', () => {
    expect(markupPct(200_100 + 200_000 / 2000 - 100, 200_000)).toBe(0.1)
    expect(markupPct(2001, 2000)).toBe(0.1)
    expect(markupPct(1999, 2000)).toBe(-0.1)
    expect(markupPct(8025, 8000)).toBe(0.3)
    expect(markupPct(7980, 8000)).toBe(-0.3)
    expect(markupPct(7988, 8000)).toBe(-0.2)
  })
})

it('no history gives NaN or an infinite number', () => {
  const cents = fc.oneof(
    fc.constantFrom(0, 1, 200_000, 999_999_999),
    fc.integer({ min: 0, max: 999_999_999 }),
  )
  const outcome = fc.constantFrom('won', 'lost', 'pending') as fc.Arbitrary<'won' | 'lost' | 'pending'>
  fc.assert(
    fc.property(
      fc.array(fc.tuple(cents, outcome), { maxLength: 30 }),
      fc.integer({ min: 1, max: 999_999_999 }),
      fc.option(fc.integer({ min: 0, max: 999_999_999 })),
      (pairs, proposedRateCents, marketRateCents) => {
        const history = pairs.map(([rateCents, result]) => ({ rateCents, outcome: result }))
        const advice = adviseMarkup(ratesOf(history), {
          proposedRateCents,
          marketRateCents,
          method: 'at_or_below',
        })
        // JSON serializes NaN and Infinity as null, so a round trip would change them.
        expect(JSON.parse(JSON.stringify(advice))).toEqual(advice)
        const { winProbability, markupPct: markup, suggestedRateCents, rateBand } = advice
        const numbers = [winProbability, markup, suggestedRateCents, ...Object.values(rateBand)]
        const none = advice.confidence === 'none'
        expect(numbers.every((number) => (number === null) === none)).toBe(true)
      },
    ),
    { numRuns: 1000 },
  )
})
