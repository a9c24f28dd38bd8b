import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HAUL_QUOTES_MAX, haulQuotes, type MeasuredQuote, rateByMiles } from './rate-by-miles.ts'

const DAY_MS = 86_400_000
const TODAY = 20_000

/** Quotes at many times, some at the same time, some without a rate or miles, some in the future. */
const anyQuotes = fc
  .array(
    fc.record({
      rateCents: fc.oneof(
        { weight: 9, arbitrary: fc.integer({ min: 30_000, max: 900_000 }) },
        { weight: 1, arbitrary: fc.constantFrom(0, Number.NaN, Number.POSITIVE_INFINITY) },
      ),
      miles: fc.oneof(
        { weight: 9, arbitrary: fc.integer({ min: 15, max: 3_000 }) },
        { weight: 1, arbitrary: fc.constantFrom(null, 0, Number.NaN) },
      ),
      quotedAt: fc
        .tuple(fc.integer({ min: -400, max: 2 }), fc.constantFrom(0, 1, DAY_MS / 2, DAY_MS - 1))
        .map(([day, ms]) => (TODAY + day) * DAY_MS + ms),
    }),
    { maxLength: 150 },
  )
  .map((quotes) => quotes.map((quote, at): MeasuredQuote => ({ ...quote, quoteId: at + 1 })))

const milesAsked = [null, 0, 15, 90, 120, 240, 333.3, 500, 780, 1_000, 2_600]
const drawn = (quotes: readonly MeasuredQuote[]) => milesAsked.map(rateByMiles(quotes, TODAY))

describe('the curve of rates by miles', () => {
  test('has the same digits from all quotes in any order, and from those that haulQuotes returns', () => {
    fc.assert(
      fc.property(anyQuotes, (quotes) => {
        const curve = drawn(quotes)
        expect(drawn(haulQuotes(quotes, TODAY))).toEqual(curve)
        expect(drawn(quotes.toReversed())).toEqual(curve)
      }),
      { numRuns: 60 },
    )
  })

  test('ignores quotes of today and of the future if there is an earlier one', () => {
    fc.assert(
      fc.property(anyQuotes, (quotes) => {
        const earlier = quotes.filter(({ quotedAt }) => quotedAt < TODAY * DAY_MS)
        fc.pre(haulQuotes(earlier, TODAY).length > 0)
        expect(drawn(quotes)).toEqual(drawn(earlier))
      }),
      { numRuns: 60 },
    )
  })

  test('uses quotes of today if there are no earlier ones, and is 0 without quotes', () => {
    const today: MeasuredQuote = { quoteId: 1, rateCents: 200_000, miles: 500, quotedAt: TODAY * DAY_MS }
    const tomorrow = { ...today, quoteId: 2, quotedAt: (TODAY + 1) * DAY_MS }
    expect(haulQuotes([tomorrow, today], TODAY)).toEqual([today])
    expect(haulQuotes([tomorrow], TODAY)).toEqual([])
    expect(rateByMiles([tomorrow], TODAY)(500)).toBe(0)
  })

  test('uses only the newest quotes, ordered by quoteId if their times are equal', () => {
    const quotes = Array.from(
      { length: HAUL_QUOTES_MAX + 7 },
      (_, at): MeasuredQuote => ({
        quoteId: at + 1,
        rateCents: 100_000 + at,
        miles: 100 + (at % 900),
        quotedAt: (TODAY - 3) * DAY_MS,
      }),
    )
    expect(haulQuotes(quotes.toReversed(), TODAY)).toEqual(quotes.slice(7))
    const dearer = quotes.map((quote) => (quote.quoteId <= 7 ? { ...quote, rateCents: 900_000 } : quote))
    expect(drawn(dearer)).toEqual(drawn(quotes))
  })
})
