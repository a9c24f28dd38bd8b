import { describe, expect, test } from 'vitest'
import { freightLane } from '../quotes/lane-identity.ts'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { type BacktestQuote, backtest } from './backtest.ts'
import { MISSED_KINDS, type MissedKind, missedRange } from './missed-margin.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 5, 1, 9)
const TODAY = Math.floor(NOW / DAY)

const lanes = Array.from({ length: 12 }, (_, i) => {
  const place = (name: string, state: string, region: string) => ({ city: `${name} ${i}`, state, region })
  return {
    going: 80_000 + 15_000 * i,
    level: 0.6 * Math.sin(i),
    lane: freightLane({
      origin: place('from', i % 2 === 0 ? 'TX' : 'IL', i % 2 === 0 ? 'SC' : 'MW'),
      destination: place('to', 'GA', 'SE'),
      equipment: 'V',
    }),
  }
})

interface Truth {
  readonly chance: (cents: number) => number
  readonly costCents: number
}

/**
 * A brokerage that quotes within 14 % of the going rate. Customers pay up to a rate with a known distribution, and the true cost of
 * a truck is spread around the one that was known when the quote was made.
 */
function simulated(seed: number, days = 70) {
  const random = seededNumbers(seed)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const truth = new Map<number, Truth>()
  const quotes = Array.from({ length: days * 12 }, (_, i): BacktestQuote => {
    const { going, level, lane } = lanes[Math.floor(random() * lanes.length)] as (typeof lanes)[number]
    const chance = (cents: number) => 1 / (1 + Math.exp(14 * Math.log(cents / going) - level))
    const rateCents = Math.round(going * Math.exp(0.28 * (random() - 0.5)))
    const quotedCostCents = Math.round(going * 0.85 * Math.exp(0.05 * normal()))
    const costCents = Math.round(quotedCostCents * Math.exp(0.08 * normal()))
    const outcome = random() < 0.1 ? 'pending' : random() < chance(rateCents) ? 'won' : 'lost'
    truth.set(i + 1, { chance, costCents })
    return {
      quoteId: i + 1,
      rateCents,
      quotedRateCents: rateCents,
      costCents: quotedCostCents,
      quotedCostCents,
      truckCostCents: outcome === 'won' ? costCents : null,
      outcome,
      quotedAt: (TODAY - days + Math.floor(i / 12)) * DAY + 15 * 3_600_000,
      miles: going / 250,
      lane,
    }
  })
  return { quotes, truth }
}

function judged(quotes: readonly BacktestQuote[], now = NOW) {
  const found = backtest({ quotes, now, windowDays: 180 })
  if (!found.enough) throw new Error(found.why)
  return found
}

type Found = ReturnType<typeof judged>

const rowsOf = ({ missed }: Found, kind: MissedKind) =>
  [...missed.quoteId.keys()].filter((row) => MISSED_KINDS[missed.kind[row] as number] === kind)

/** The estimated missed margin of a kind with its range, and the true one of the same quotes. */
function sums(found: Found, { quotes, truth }: ReturnType<typeof simulated>, kind: MissedKind) {
  const { missed } = found
  const byLane = new Map<string, { win: number; cost: number }>()
  let [amountCents, trueCents] = [0, 0]
  for (const row of rowsOf(found, kind)) {
    const quoteId = missed.quoteId[row] as number
    const quote = quotes[quoteId - 1] as BacktestQuote
    const { chance, costCents } = truth.get(quoteId) as Truth
    const [rate, better] = [missed.rateCents[row] as number, missed.betterRateCents[row] as number]
    const { win, cost } = byLane.get(quote.lane.key) ?? { win: 0, cost: 0 }
    byLane.set(quote.lane.key, {
      win: win + (missed.winSdCents[row] as number),
      cost: cost + (missed.costSdCents[row] as number) ** 2,
    })
    amountCents += missed.amountCents[row] as number
    trueCents +=
      kind === 'won_too_low'
        ? (chance(better) / chance(rate)) * (better - costCents) - (rate - costCents)
        : (quote.outcome === 'pending' ? chance(rate) : 1) * (costCents - rate)
  }
  const sds = [...byLane.values()].map(({ win, cost }) => Math.sqrt(win ** 2 + cost))
  const sum = sds.reduce((all, sd) => all + sd, 0)
  return {
    amountCents,
    trueCents,
    ...missedRange(amountCents, { sum, sumOfSquares: sds.reduce((all, sd) => all + sd * sd, 0) }),
  }
}

const brokerage = simulated(1)
const found = judged(brokerage.quotes)

/** The same brokerage with half of the tested days, for the tests that change the quotes and judge them again. */
const small = simulated(1, 50)

describe('a simulated brokerage with a known truth', () => {
  test.each(MISSED_KINDS)('the true amount of %s is within the range, and above zero', (kind) => {
    const { amountCents, trueCents, lowCents, highCents } = sums(found, brokerage, kind)
    expect(rowsOf(found, kind).length).toBeGreaterThan(5)
    expect(trueCents).toBeGreaterThan(0)
    expect(lowCents).toBeLessThan(trueCents)
    expect(highCents).toBeGreaterThan(trueCents)
    // The range is not so wide that it says nothing.
    expect(highCents - lowCents).toBeLessThan(8 * Math.max(amountCents, trueCents))
  })

  test('a quote that was won too low was won, above its cost and below the better rate; one not worth winning is below its cost', () => {
    const { missed } = found
    for (const row of rowsOf(found, 'won_too_low')) {
      expect(brokerage.quotes[(missed.quoteId[row] as number) - 1]?.outcome).toBe('won')
      expect(missed.rateCents[row]).toBeLessThan(missed.betterRateCents[row] as number)
      expect(missed.rateCents[row]).toBeGreaterThanOrEqual(missed.costCents[row] as number)
      expect(missed.chanceAtBetter[row]).toBeLessThan(missed.chance[row] as number)
      expect(missed.amountCents[row]).toBeGreaterThanOrEqual(0)
    }
    for (const row of rowsOf(found, 'not_worth')) {
      expect(brokerage.quotes[(missed.quoteId[row] as number) - 1]?.outcome).not.toBe('lost')
      expect(missed.rateCents[row]).toBeLessThan(missed.costCents[row] as number)
    }
  })

  test('every won and pending quote of the tested days is judged, or counted with the reason', () => {
    const tested = brokerage.quotes.filter(
      ({ quotedAt, outcome }) => quotedAt >= found.firstTestedAt && outcome !== 'lost',
    )
    const left = Object.values(found.notJudged).reduce((sum, count) => sum + count, 0)
    expect(found.judged + left).toBe(tested.length)
    expect(found.judged).toBeGreaterThan(left)
  })

  test('outcomes and truck costs that are learned later change no judgment of an earlier quote', () => {
    const turnedAt = (TODAY - 8) * DAY
    const turned = small.quotes.map((quote) =>
      quote.quotedAt < turnedAt
        ? quote
        : { ...quote, outcome: 'lost' as const, truckCostCents: 2 * quote.quotedRateCents },
    )
    const earlier = ({ missed }: Found) =>
      [...missed.quoteId.keys()]
        .filter((row) => (small.quotes[(missed.quoteId[row] as number) - 1]?.quotedAt ?? 0) < turnedAt)
        .map((row) => [missed.quoteId[row], missed.amountCents[row], missed.betterRateCents[row]])
    const before = earlier(judged(small.quotes))
    expect(before.length).toBeGreaterThan(5)
    expect(earlier(judged(turned))).toEqual(before)
  })

  test('without any cost, nothing is judged', () => {
    const none = judged(
      small.quotes.map((quote) => ({
        ...quote,
        costCents: null,
        quotedCostCents: null,
        truckCostCents: null,
      })),
    )
    expect(none.judged).toBe(0)
    expect(none.missed.quoteId.length).toBe(0)
    expect(none.notJudged.without_cost).toBeGreaterThan(0)
  })
})

test('the range of one lane is 1.28155 standard deviations; many lanes share a part of their errors', () => {
  const one = missedRange(0, { sumOfSquares: 10_000, sum: 100 })
  expect(one.lowCents).toBeCloseTo(-128.155, 3)
  expect(one.highCents).toBeCloseTo(128.155, 3)
  const hundred = missedRange(0, { sumOfSquares: 100 * 10_000, sum: 100 * 100 })
  expect(hundred.highCents / one.highCents).toBeGreaterThan(10)
  expect(hundred.highCents / one.highCents).toBeLessThan(100)
})
