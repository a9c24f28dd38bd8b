import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { laneHistory, ratesOf } from '../testing/lane-history.ts'
import { isDecided, type Outcome } from './history.ts'
import { decidedIn, laneRates, winsIn } from './lane-rates.ts'
import { adviseMarkup, type MarkupQuestion } from './markup.ts'
import { roundToCent } from './money.ts'
import { countRates } from './rate-counts.ts'
import { nonIncreasingFit } from './statistics/isotonic.ts'
import { median } from './statistics/median.ts'
import type { WinProbabilityMethod } from './win-probability.ts'

/** Two property tests, with some and with many random values. */
const property = (name: string, check: (numRuns: number) => void) => {
  it(name, () => check(600))
  it(`${name}: many`, { tags: 'long' }, () => check(3_000))
}

interface Quote {
  readonly rateCents: number
  readonly outcome: Outcome
}

describe('countRates', () => {
  it('counts each rate once, cheapest first', () => {
    expect(countRates(laneHistory('2000L 1800W 2000W 2000L 0P'))).toEqual([
      { rateCents: 0, won: 0, lost: 0, pending: 1 },
      { rateCents: 180000, won: 1, lost: 0, pending: 0 },
      { rateCents: 200000, won: 1, lost: 2, pending: 0 },
    ])
    expect(countRates([])).toEqual([])
  })
})

describe('laneRates', () => {
  it('has the decided rates with cumulative wins and decided quotes', () => {
    const lane = ratesOf(laneHistory('2000W 1800W 2000L 2100P 0W 0P'))
    expect(lane).toMatchObject({
      ratesCents: [180000, 200000],
      pooledShares: [1, 2 / 3],
      quotes: 6,
      answered: 4,
      unpriced: 2,
      wins: 2,
      losses: 1,
      pending: 1,
      decided: 3,
      confidence: 'low',
    })
    expect(lane.countsOfCheapest.map(winsIn)).toEqual([0, 1, 2])
    expect(lane.countsOfCheapest.map(decidedIn)).toEqual([0, 1, 3])
  })

  it('counts tens of millions of quotes on a lane exactly', () => {
    const lane = laneRates([
      { rateCents: 180000, won: 20_000_001, lost: 13_000_000, pending: 0 },
      { rateCents: 200000, won: 3, lost: 30_000_002, pending: 0 },
    ])
    expect(lane.countsOfCheapest.map(winsIn)).toEqual([0, 20_000_001, 20_000_004])
    expect(lane.countsOfCheapest.map(decidedIn)).toEqual([0, 33_000_001, 63_000_006])
  })

  it('accepts counts in any order and several counts of the same rate', () => {
    fc.assert(
      fc.property(scattered, ([quotes, apart]) => {
        const counts = apart.map(({ rateCents, outcome }) => ({
          ...{ rateCents, won: 0, lost: 0, pending: 0 },
          [outcome]: 1,
        }))
        expect(laneRates(counts)).toEqual(ratesOf(quotes))
      }),
    )
  })
})

/** Without pending quotes that are more than three robust deviations from five or more decided ones. */
function withoutFarPending(priced: readonly Quote[]): readonly Quote[] {
  const logs = priced.filter(isDecided).map((quote) => Math.log(quote.rateCents))
  const middle = median(logs) ?? 0
  const deviation = 1.4826 * (median(logs.map((log) => Math.abs(log - middle))) ?? 0)
  return priced.filter(
    (quote) =>
      isDecided(quote) ||
      logs.length < 5 ||
      Math.abs(Math.log(quote.rateCents) - middle) <= 3 * Math.max(deviation, 0.05),
  )
}

/** Computes each number quote by quote, as docs/model.md defines it. */
function advisedFromRows(history: readonly Quote[], { proposedRateCents: offer, method }: MarkupQuestion) {
  const priced = withoutFarPending(history.filter((quote) => quote.rateCents > 0))
  const decided = priced.filter(isDecided)
  const rates = priced.map((quote) => quote.rateCents).sort((a, b) => a - b)
  const middle =
    ((rates[Math.ceil(rates.length / 2) - 1] ?? 0) + (rates[Math.floor(rates.length / 2)] ?? 0)) / 2
  const none = { winProbability: null, suggestedRateCents: null }
  const noBand = { floorCents: null, medianCents: null, ceilingCents: null }
  if (decided.length === 0) return { ...none, rateBand: noBand }
  return {
    winProbability: shareFromRows(priced, offer, method),
    suggestedRateCents: suggestedFromRows(decided),
    rateBand: { floorCents: rates[0], medianCents: roundToCent(middle), ceilingCents: rates.at(-1) },
  }
}

function shareFromRows(priced: readonly Quote[], offer: number, method: WinProbabilityMethod): number {
  const decided = priced.filter(isDecided)
  const won = (quotes: readonly Quote[]) => quotes.filter((quote) => quote.outcome === 'won').length
  const floor = 0.5 / (decided.length + 1)
  const held = (share: number) => Math.min(1 - floor, Math.max(floor, share))
  if (priced.every((quote) => offer > quote.rateCents)) return floor
  const comparable = decided.filter((quote) => quote.rateCents * 100 <= offer * 102)
  if (method === 'literal') return won(comparable) / decided.length
  if (method === 'revealed') {
    const wins = won(decided.filter((quote) => quote.rateCents >= offer))
    const below = decided.filter((quote) => quote.rateCents <= offer)
    const telling = wins + below.length - won(below)
    return held(telling === 0 ? won(decided) / decided.length : wins / telling)
  }
  const rates = [...new Set(decided.map((quote) => quote.rateCents))].sort((a, b) => a - b)
  const groups = rates.map((rateCents) => decided.filter((quote) => quote.rateCents === rateCents))
  const fitted = nonIncreasingFit(
    groups.map((group) => won(group) / group.length),
    groups.map((group) => group.length),
  )
  const upTo = Math.max(1, rates.filter((rateCents) => rateCents * 100 <= offer * 102).length)
  let lowest = 1
  let [pooled, weight] = [0, 0]
  for (const [at, group] of groups.slice(0, upTo).entries()) {
    pooled += (fitted[at] ?? 0) * group.length
    weight += group.length
    lowest = Math.min(lowest, pooled / weight)
  }
  return held(lowest)
}

function suggestedFromRows(decided: readonly Quote[]): number {
  const ratesOfOutcome = (outcome: Outcome) =>
    decided.filter((quote) => quote.outcome === outcome).map((quote) => quote.rateCents)
  const wins = ratesOfOutcome('won').sort((a, b) => a - b)
  const losses = ratesOfOutcome('lost')
  const belowLoss = (rateCents: number) => (rateCents * 98) / 100
  if (wins.length === 0) return roundToCent(belowLoss(Math.min(...losses)))
  const average = wins.reduce((sum, rateCents) => sum + rateCents, 0) / wins.length
  const typical = wins[Math.ceil(wins.length / 2) - 1] ?? 0
  const cap = belowLoss(Math.min(...losses.filter((rateCents) => rateCents >= typical)))
  return roundToCent(Math.min(average, cap))
}

const rateCents = fc.oneof(
  // Few rates (so that quotes share rates), many rates, and rates at which one cent is 2 %.
  fc.integer({ min: 15, max: 25 }).map((hundreds) => hundreds * 10_000),
  fc.integer({ min: 150_000, max: 250_000 }),
  fc.integer({ min: 1, max: 110 }),
  fc.constantFrom(0, 999_999_999),
)
const outcome = fc.constantFrom('won', 'lost', 'pending') as fc.Arbitrary<Outcome>
const lane = fc.array(fc.record({ rateCents, outcome }), { maxLength: 80 })
const scattered = lane.chain((quotes) =>
  fc.tuple(fc.constant(quotes), fc.shuffledSubarray(quotes, { minLength: quotes.length })),
)
const method = fc.constantFrom('at_or_below', 'literal', 'revealed') as fc.Arbitrary<WinProbabilityMethod>
/** The lane's rates, the rates one cent below and above, and the lowest offers to which the rates are comparable. */
const nearby = fc.tuple(fc.nat(), fc.integer({ min: -1, max: 1 }), fc.constantFrom(1, 1 / 1.02, 2))

property('advice from counts equals advice from single quotes to the last bit', (numRuns) => {
  fc.assert(
    fc.property(lane, fc.array(nearby, { minLength: 1, maxLength: 8 }), method, (quotes, offers, reading) => {
      const prepared = ratesOf(quotes)
      for (const [nth, cents, factor] of offers) {
        const near = quotes[nth % Math.max(1, quotes.length)]?.rateCents ?? 200_000
        const proposedRateCents = Math.max(1, Math.round(near * factor) + cents)
        const offer = { proposedRateCents, marketRateCents: null, method: reading }
        const advice = adviseMarkup(prepared, offer)
        // toEqual compares numbers with Object.is, to the last bit.
        expect({
          winProbability: advice.winProbability,
          suggestedRateCents: advice.suggestedRateCents,
          rateBand: advice.rateBand,
        }).toEqual(advisedFromRows(quotes, offer))
        const { evidence } = advice
        const count = (wanted: (quote: Quote) => boolean) => quotes.filter(wanted).length
        expect(evidence).toMatchObject({
          quotes: quotes.length,
          unpriced: count((quote) => quote.rateCents === 0),
          wins: count((quote) => quote.rateCents > 0 && quote.outcome === 'won'),
          losses: count((quote) => quote.rateCents > 0 && quote.outcome === 'lost'),
          pending: count((quote) => quote.rateCents > 0 && quote.outcome === 'pending'),
          decidedAtOrBelow: count(
            (quote) =>
              quote.rateCents > 0 && isDecided(quote) && quote.rateCents * 100 <= proposedRateCents * 102,
          ),
        })
      }
    }),
    { numRuns },
  )
})
