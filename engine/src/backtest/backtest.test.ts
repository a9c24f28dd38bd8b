import { describe, expect, test } from 'vitest'
import { freightLane } from '../quotes/lane-identity.ts'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { type BacktestQuote, backtest } from './backtest.ts'
import { backtestSentence } from './backtest-sentence.ts'
import { dollarEstimate, type PricedQuote, rangeOfSum } from './dollars.ts'
import { forecastOf, testDays } from './walk-forward.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 5, 1, 9)
const TODAY = Math.floor(NOW / DAY)
const GOING = [150_000, 180_000, 95_000, 240_000, 60_000, 310_000]

const lanes = GOING.map((_, i) =>
  freightLane({
    origin: { city: `from ${i}`, state: i < 3 ? 'TX' : 'IL', region: i < 3 ? 'SC' : 'MW' },
    destination: { city: `to ${i}`, state: 'GA', region: 'SE' },
    equipment: 'V',
  }),
)

/** Simulates quotes within 12 % of the market rate, with a cost of 85 % of it. `chance` is the win probability by relative rate. */
function history(options: {
  quotes: number
  perDay: number
  seed?: number
  chance?: (x: number) => number
}): BacktestQuote[] {
  const random = seededNumbers(options.seed ?? 1)
  const { chance = (x) => 1 / (1 + Math.exp(20 * x)) } = options
  const days = Math.ceil(options.quotes / options.perDay)
  return Array.from({ length: options.quotes }, (_, i) => {
    const which = Math.floor(random() * lanes.length)
    const going = GOING[which] ?? 0
    const x = 0.24 * (random() - 0.5)
    const won = random() < chance(x)
    const costCents = Math.round(going * (0.85 + 0.06 * (random() - 0.5)))
    return {
      quoteId: i + 1,
      rateCents: Math.round(going * Math.exp(x)),
      quotedRateCents: Math.round(going * Math.exp(x)),
      costCents,
      truckCostCents: won ? costCents : null,
      quotedCostCents: costCents,
      outcome: won ? 'won' : 'lost',
      quotedAt: (TODAY - days + Math.floor(i / options.perDay)) * DAY + 15 * 3_600_000,
      miles: going / 250,
      lane: lanes[which] ?? freightLane({ origin: end, destination: end, equipment: null }),
    }
  })
}

const end = { city: '', state: '', region: '' }
const sold = history({ quotes: 600, perDay: 6 })

function enough(
  quotes: readonly BacktestQuote[],
  more: { windowDays?: number; onProgress?: (share: number) => void } = {},
) {
  const result = backtest({ quotes, now: NOW, windowDays: 180, ...more })
  if (!result.enough) throw new Error(result.why)
  return result
}

/** One backtest, shared by the tests that only read its result, because it takes about a second. */
const shares: number[] = []
const found = enough(sold, { onProgress: (share) => shares.push(share) })

/** Half of the quotes, with a third of the tested days, for the tests that run a backtest of their own. */
const few = sold.slice(-300)
const ofFew = enough(few)

describe('too few quotes', () => {
  test('none at all', () => {
    expect(backtest({ quotes: [], now: NOW, windowDays: 180 })).toEqual({
      enough: false,
      why: 'too_few_decided',
      decided: 0,
      tested: 0,
      needed: { decided: 200, tested: 60 },
    })
  })

  test('needs 200 decided quotes; pending quotes do not count', () => {
    const quotes = history({ quotes: 200, perDay: 4 })
    expect(backtest({ quotes, now: NOW, windowDays: 180 }).enough).toBe(true)
    const one = quotes.map((quote, i) => (i === 0 ? { ...quote, outcome: 'pending' as const } : quote))
    expect(backtest({ quotes: one, now: NOW, windowDays: 180 })).toMatchObject({
      enough: false,
      why: 'too_few_decided',
      decided: 199,
    })
  })

  test('a brokerage with one month of quotes has too few tested quotes', () => {
    const tooNew = backtest({ quotes: history({ quotes: 580, perDay: 20 }), now: NOW, windowDays: 180 })
    expect(tooNew).toMatchObject({ enough: false, why: 'too_few_tested', decided: 580, tested: 0 })
    expect(backtestSentence(tooNew)).toBe(
      'There are too few recent quotes to test the estimate on: 0 decided quotes in the tested period, and 60 are needed.',
    )
  })
})

describe('the measured quality', () => {
  test('tests the decided quotes from day 30 on and counts them', () => {
    expect(found).toMatchObject({ quotes: 600, decided: 600, tested: 420, leftOut: 0 })
    expect(found.firstTestedAt).toBe((TODAY - 70) * DAY)
    expect(found.lastTestedAt).toBe((TODAY - 1) * DAY)
    for (const quality of Object.values(found.quality)) expect(quality.count).toBe(found.tested)
    expect(found.reliability.reduce((sum, row) => sum + row.count, 0)).toBe(found.tested)
  })

  test('tests only the days of a shorter window', () => {
    expect(enough(few, { windowDays: 15 })).toMatchObject({ tested: 14 * 6, windowDays: 15 })
  })

  test('beats the baselines that ignore the rate when the rate decides the outcome', { tags: 'long' }, () => {
    const { model, lane_rate: winRateOfLane, overall } = found.quality
    expect(model.brier).toBeLessThan(winRateOfLane.brier - 0.02)
    expect(model.logLoss).toBeLessThan(overall.logLoss)
    expect(model.auc).toBeGreaterThan(0.7)
    const blind = enough(sold.map((quote) => ({ ...quote, rateCents: 100_000 })))
    expect(model.brier).toBeLessThan(blind.quality.model.brier - 0.02)
  })

  test('claims no skill when outcomes are random', { tags: 'long' }, () => {
    const coin = enough(history({ quotes: 600, perDay: 6, seed: 3, chance: () => 0.4 }))
    const { model, overall } = coin.quality
    expect(model.auc).toBeGreaterThan(0.4)
    expect(model.auc).toBeLessThan(0.6)
    expect(model.brier).toBeGreaterThan(overall.brier - 0.01)
  })

  test('returns null for AUC and slope, and never NaN, when all quotes were won', () => {
    const won = enough(history({ quotes: 300, perDay: 6, chance: () => 1 }))
    expect(won.quality.model).toMatchObject({ auc: null, slope: null })
    const odd = (_: string, value: unknown) =>
      typeof value === 'number' && !Number.isFinite(value) ? 'not a number' : value
    expect(JSON.stringify(won, odd)).not.toContain('not a number')
  })

  test('excludes quotes that estimates do not use, and counts them', () => {
    const [first] = few
    if (!first) throw new Error('no quotes')
    const odd = [
      { ...first, quoteId: 9001, rateCents: 0 },
      { ...first, quoteId: 9002, quotedAt: NOW + 3 * DAY },
      { ...first, quoteId: 9003, rateCents: first.rateCents * 100, quotedAt: NOW - DAY },
    ]
    expect(enough([...few, ...odd])).toEqual({ ...ofFew, leftOut: 3 })
  })

  test('is deterministic and independent of the order of the quotes', () => {
    expect(enough(few.toReversed())).toEqual(ofFew)
  })

  test('progress increases to 1', () => {
    expect(shares).toEqual(shares.toSorted((one, other) => one - other))
    expect(shares.at(-1)).toBe(1)
  })
})

test('a forecast uses no outcome of the same day or later', () => {
  const fromDay = TODAY - 20
  const turned = sold.map((quote) =>
    Math.floor(quote.quotedAt / DAY) < fromDay
      ? quote
      : { ...quote, outcome: quote.outcome === 'won' ? ('lost' as const) : ('won' as const) },
  )
  const [one] = testDays(sold, fromDay)
  const [other] = testDays(turned, fromDay)
  if (!one || !other) throw new Error('no day to test')
  expect(one.tests.length).toBe(6)
  expect(one.tests.map((quote) => forecastOf(one, quote))).toEqual(
    other.tests.map((quote) => forecastOf(other, quote)),
  )
})

describe('the dollar estimate', () => {
  test('sums expected and actual margins, with a range for the difference', () => {
    const { dollars } = found
    if (!dollars) throw new Error('no dollars')
    expect(dollars.quotes).toBe(found.tested)
    expect(dollars.differenceCents).toBeCloseTo(dollars.bestCents - dollars.quotedCents, 6)
    expect(dollars.range80.lowCents).toBeLessThan(dollars.differenceCents)
    expect(dollars.range80.highCents).toBeGreaterThan(dollars.differenceCents)
    expect(dollars.below + dollars.asGood + dollars.above).toBe(dollars.quotes)
    const earned = sold
      .filter(({ quotedAt }) => quotedAt >= found.firstTestedAt)
      .reduce((sum, { outcome, rateCents, costCents }) => {
        return sum + (outcome === 'won' ? rateCents - (costCents ?? 0) : 0)
      }, 0)
    expect(dollars.earnedCents).toBe(earned)
    // The expected margin at the quoted rates is close to the actual margin.
    expect(Math.abs(dollars.quotedCents / earned - 1)).toBeLessThan(0.25)
  })

  test('never sets a best rate below the minimum of the rules', () => {
    const floored = backtest({ quotes: few, now: NOW, windowDays: 180, minimum: { pct: 60 } })
    if (!floored.enough || !floored.dollars || !ofFew.dollars) throw new Error('no dollars')
    expect(floored.dollars.bestCents).toBeLessThan(ofFew.dollars.bestCents)
    expect(floored.dollars.below).toBe(floored.dollars.quotes)
  })

  test('counts the quotes that cannot be priced by reason', () => {
    const costs = few.map((quote, i) =>
      i % 3 === 0
        ? { ...quote, costCents: null, truckCostCents: null }
        : i % 7 === 0
          ? { ...quote, costCents: 100 * (quote.costCents ?? 0), truckCostCents: null }
          : quote,
    )
    const { dollars, unpriced, tested } = enough(costs)
    expect(unpriced.without_cost).toBe(40)
    expect(unpriced.unlikely_cost).toBe(11)
    expect((dollars?.quotes ?? 0) + 51 + unpriced.without_optimum).toBe(tested)
    const without = enough(few.map((quote) => ({ ...quote, truckCostCents: null })))
    expect(without.dollars).toBeNull()
    expect(without.unpriced.without_optimum).toBe(without.tested)
    expect(backtestSentence(without)).toContain('No dollar figure is given')
  })

  test('is null for 29 quotes or for four lanes', () => {
    const quote = (lane: number): PricedQuote => ({
      lane: `lane ${lane}`,
      quotedCents: 10_000,
      bestCents: 12_000,
      earnedCents: 0,
      place: 'below',
      atEdge: false,
    })
    const priced = (quotes: number, on: number) => Array.from({ length: quotes }, (_, i) => quote(i % on))
    expect(dollarEstimate(priced(29, 5))).toBeNull()
    expect(dollarEstimate(priced(30, 4))).toBeNull()
    expect(dollarEstimate(priced(30, 5))).toMatchObject({
      differenceCents: 60_000,
      range80: { lowCents: 60_000, highCents: 60_000 },
      below: 30,
    })
  })

  // Ten lanes, one of which gains 100. The number of times this lane is drawn is binomial (10, .1): P10 is 0, P90 is 2.
  test('has the range of a known distribution', () => {
    expect(rangeOfSum([100, 0, 0, 0, 0, 0, 0, 0, 0, 0])).toEqual({ lowCents: 0, highCents: 200 })
  })

  test('is described as an estimate, with its range, in the sentence', () => {
    const sentence = backtestSentence(found)
    expect(sentence).toMatch(/^On 420 tested quotes the estimate forecast better than/)
    expect(sentence).toMatch(/By the model's own estimate, .* an estimated \$[\d,]+ more in expected margin/)
    expect(sentence).toMatch(/with an 80% range over resampled lanes of \$[\d,]+ to \$[\d,]+/)
  })
})
