import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Outcome } from '../history.ts'
import { freightLane, type LaneIdentity } from '../quotes/lane-identity.ts'
import { OUTCOMES } from '../quotes/quote-columns.ts'
import { type LaneQuote, quotedLanes } from '../quotes/quoted-lanes.ts'
import { finished } from '../steps.ts'
import { beforeChange } from './current-lane.ts'
import { estimateOffer, type OfferExplanation } from './estimate-offer.ts'
import { prepareEstimator, prepareEstimatorInSteps } from './estimator.ts'
import { offerPosition } from './lane-reference.ts'

/** Two property tests, with some and with many random values. */
const property = (name: string, check: (numRuns: number) => void) => {
  test(name, () => check(20))
  test(`${name}: many`, { tags: 'long' }, () => check(60))
}

const DAY = 86_400_000
const NOW = Date.UTC(2026, 5, 1, 15)

const TEXAS = { city: 'dallas tx', state: 'TX', region: 'SC' }
const GEORGIA = { city: 'atlanta ga', state: 'GA', region: 'SE' }
const FLORIDA = { city: 'miami fl', state: 'FL', region: 'SE' }
const LANE = freightLane({ origin: TEXAS, destination: GEORGIA, equipment: 'V' })
const OTHER = freightLane({ origin: TEXAS, destination: FLORIDA, equipment: 'V' })
const REEFER = freightLane({ origin: TEXAS, destination: GEORGIA, equipment: 'R' })

const EXAMPLE: readonly [number, Outcome][] = [
  [1800, 'won'],
  [1850, 'won'],
  [1900, 'won'],
  [1950, 'won'],
  [2000, 'lost'],
  [2050, 'won'],
  [2100, 'lost'],
  [2150, 'lost'],
  [2200, 'lost'],
  [2250, 'lost'],
]

function quotesOf(
  rates: readonly (readonly [number, Outcome])[],
  lane: LaneIdentity = LANE,
  firstId = 1,
): LaneQuote[] {
  return rates.map(([dollars, outcome], i) => ({
    quoteId: firstId + i,
    rateCents: dollars * 100,
    costCents: null,
    outcome,
    quotedAt: NOW - (20 - i) * DAY,
    miles: 780,
    lane,
  }))
}

function ask(
  quotes: readonly LaneQuote[],
  dollars: number,
  costDollars: number | null = 1700,
): OfferExplanation {
  return estimateOffer({
    estimator: prepareEstimator({ quotes, now: NOW }),
    lane: LANE,
    offerRateCents: dollars * 100,
    miles: 780,
    expectedCostCents: costDollars === null ? null : costDollars * 100,
  })
}

/** All numbers in an answer, at any depth. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  if (value === null || typeof value !== 'object') return []
  return Object.values(value).flatMap(numbersIn)
}

/** Checks that all numbers are finite and within their ranges, and that each interval contains its probability. */
function expectConsistent(answer: OfferExplanation): void {
  for (const number of numbersIn(answer)) expect(Number.isFinite(number)).toBe(true)
  const points = answer.probability === null ? [] : [answer, ...answer.curve]
  for (const { probability, interval80, interval95 } of points) {
    expect(probability).toBeGreaterThanOrEqual(0)
    expect(probability).toBeLessThanOrEqual(1)
    if (probability === null || !interval80 || !interval95) throw new Error('a probability without intervals')
    for (const { low, high } of [interval80, interval95]) {
      expect(low).toBeGreaterThanOrEqual(0)
      expect(high).toBeLessThanOrEqual(1)
      expect(low).toBeLessThanOrEqual(probability)
      expect(high).toBeGreaterThanOrEqual(probability)
    }
    expect(interval95.low).toBeLessThanOrEqual(interval80.low)
    expect(interval95.high).toBeGreaterThanOrEqual(interval80.high)
  }
}

describe('an offer on a lane with ten quotes', () => {
  const quotes = quotesOf(EXAMPLE)

  test('has at least 21 curve points, and counts each quote at the nearest one', () => {
    const answer = ask(quotes, 2000)
    expect(answer.curve.length).toBeGreaterThanOrEqual(21)
    const near = answer.curve.flatMap(({ nearby }) => [nearby.won, nearby.lost, nearby.pending])
    expect(near.reduce((sum, count) => sum + count, 0)).toBe(10)
    expectConsistent(answer)
  })

  test('falls as the rate rises: the probability and the bounds of both intervals', () => {
    const rates = Array.from({ length: 80 }, (_, i) => 800 * 1.02 ** i)
    const answers = rates.map((rate) => ask(quotes, rate))
    for (const [i, answer] of answers.entries()) {
      const before = answers[i - 1]
      if (!before) continue
      expect(answer.probability).toBeLessThanOrEqual(before.probability ?? 1)
      expect(answer.interval80?.low).toBeLessThanOrEqual(before.interval80?.low ?? 1)
      expect(answer.interval80?.high).toBeLessThanOrEqual(before.interval80?.high ?? 1)
      expect(answer.interval95?.low).toBeLessThanOrEqual(before.interval95?.low ?? 1)
      expect(answer.interval95?.high).toBeLessThanOrEqual(before.interval95?.high ?? 1)
    }
  })

  test('rises after a win and in a higher market, and falls after a loss and in a lower market', () => {
    const answer = ask(quotes, 2000)
    const changed = Object.fromEntries(
      answer.wouldChangeAnswer.map(({ change, probability }) => [change, probability]),
    )
    expect(changed.next_won).toBeGreaterThan(answer.probability ?? 1)
    expect(changed.next_lost).toBeLessThan(answer.probability ?? 0)
    expect(changed.market_up_5_pct).toBeGreaterThan(answer.probability ?? 1)
    expect(changed.market_down_5_pct).toBeLessThan(answer.probability ?? 0)
  })

  test('has narrower intervals with more quotes near its rate', () => {
    const [five, fifteen] = ask(quotes, 2000).wouldRaiseConfidence
    expect(five?.width80Then).toBeLessThan(five?.width80Now ?? 0)
    expect(fifteen?.width80Then).toBeLessThan(five?.width80Then ?? 0)
  })

  test('borrows less than half, and lists the scopes it borrows from', () => {
    const siblings = quotesOf(EXAMPLE, OTHER, 100)
    const reefer = quotesOf(EXAMPLE.slice(0, 3), REEFER, 200)
    const answer = ask([...quotes, ...siblings, ...reefer], 2000)
    expect(answer.borrowedShare).toBeLessThan(0.5)
    expect(answer.borrowedFrom.map(({ scope, decided, lanes }) => [scope, decided, lanes])).toEqual([
      ['state_pair', 3, 1],
      ['region', 13, 2],
      ['tenant', 13, 2],
    ])
  })

  test('has an optimum only when the cost is known', () => {
    const known = ask(quotes, 2200)
    expect(known.optimum).not.toBeNull()
    expect(known.atStakeCents).toBeGreaterThan(0)
    const unknown = ask(quotes, 2200, null)
    expect(unknown.optimum).toBeNull()
    expect(unknown.atStakeCents).toBeNull()
    expect(unknown.flags).toContain('no_cost')
  })
})

describe('bad input', () => {
  test.each([
    ['no quotes', [], 2000, 'no_quotes'],
    ['an offer of zero', quotesOf(EXAMPLE), 0, 'bad_offer'],
    ['an offer that is not a number', quotesOf(EXAMPLE), Number.NaN, 'bad_offer'],
    ['an absurd offer', quotesOf(EXAMPLE), 1e9, 'far_from_reference'],
    ['one quote', quotesOf([[2000, 'won']]), 2000, 'few_quotes'],
    ['all won', quotesOf(EXAMPLE.map(([rate]) => [rate, 'won'])), 2000, 'all_won'],
    ['all lost', quotesOf(EXAMPLE.map(([rate]) => [rate, 'lost'])), 2000, 'all_lost'],
    ['one rate repeated', quotesOf(EXAMPLE.map(([, outcome]) => [2000, outcome])), 2000, 'one_rate'],
    ['nothing decided', quotesOf(EXAMPLE.map(([rate]) => [rate, 'pending'])), 2000, 'no_decided_quotes'],
    ['only other lanes', quotesOf(EXAMPLE, OTHER), 2000, 'unseen_lane'],
    [
      'a rate of zero among them',
      [...quotesOf(EXAMPLE), ...quotesOf([[0, 'won']], LANE, 50)],
      2000,
      'bad_rates_left_out',
    ],
    ['a cost far above the market', quotesOf(EXAMPLE), 2000, 'few_quotes'],
  ] as const)('%s: the estimate has the flag', (name, quotes, offer, flag) => {
    const few = name.startsWith('a cost') ? quotes.slice(0, 4) : quotes
    const answer = ask(few, offer, name.startsWith('a cost') ? 9000 : 1700)
    expectConsistent(answer)
    expect(answer.flags).toContain(flag)
    if (name.startsWith('a cost')) expect(answer.flags).toContain('cost_above_market')
  })

  test('with all quotes won the probability is below 1, and with all lost above 0', () => {
    const won = ask(quotesOf(EXAMPLE.map(([rate]) => [rate, 'won'])), 2000)
    const lost = ask(quotesOf(EXAMPLE.map(([rate]) => [rate, 'lost'])), 2000)
    expect(won.probability).toBeGreaterThan(0.7)
    expect(won.probability).toBeLessThan(1)
    expect(lost.probability).toBeLessThan(0.3)
    expect(lost.probability).toBeGreaterThan(0)
  })

  test('a rate a hundred times too high is flagged and excluded', () => {
    const clean = ask(quotesOf(EXAMPLE), 2000)
    const wrong = ask([...quotesOf(EXAMPLE), ...quotesOf([[200_000, 'won']], LANE, 50)], 2000)
    expect(wrong.flags).toContain('outliers_left_out')
    expect(Math.abs((wrong.probability ?? 0) - (clean.probability ?? 1))).toBeLessThan(0.01)
  })

  test('a quote dated in the future is flagged and excluded', () => {
    const future = quotesOf([[1900, 'won']], LANE, 50).map((quote) => ({ ...quote, quotedAt: NOW + 3 * DAY }))
    const answer = ask([...quotesOf(EXAMPLE), ...future], 2000)
    expect(answer.flags).toContain('future_quotes_left_out')
    expect({ ...answer, flags: [] }).toEqual({ ...ask(quotesOf(EXAMPLE), 2000), flags: [] })
  })
})

const anyQuote = fc.record({
  rateCents: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 90_000, max: 400_000 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(0, -100, Number.NaN, Number.POSITIVE_INFINITY, 1, 20_000_000_000),
    },
  ),
  outcome: fc.constantFrom<Outcome>('won', 'lost', 'pending'),
  quotedAt: fc.integer({ min: -400, max: 5 }).map((day) => NOW + day * DAY),
  miles: fc.constantFrom(null, 0, 250, 780, 2000),
  lane: fc.constantFrom(LANE, OTHER, REEFER),
})
const anyQuotes = fc
  .array(anyQuote, { maxLength: 40 })
  .map((quotes) => quotes.map((quote, i): LaneQuote => ({ ...quote, quoteId: i + 1, costCents: null })))

describe('for any history', () => {
  property('all numbers are finite and within their ranges', (numRuns) => {
    fc.assert(
      fc.property(anyQuotes, fc.double({ min: 1, max: 1e6, noNaN: true }), (quotes, offer) => {
        expectConsistent(ask(quotes, offer))
      }),
      { numRuns },
    )
  })

  property('a higher offer never has a higher win probability', (numRuns) => {
    fc.assert(
      fc.property(
        anyQuotes,
        fc.double({ min: 100, max: 10_000, noNaN: true }),
        fc.double({ min: 1, max: 3, noNaN: true }),
        (quotes, offer, dearer) => {
          const one = ask(quotes, offer)
          const other = ask(quotes, offer * dearer)
          if (one.probability === null || other.probability === null) return
          expect(other.probability).toBeLessThanOrEqual(one.probability + 1e-12)
          expect(other.interval80?.high ?? 0).toBeLessThanOrEqual((one.interval80?.high ?? 0) + 1e-12)
        },
      ),
      { numRuns },
    )
  })

  property('the order of the quotes does not change a digit of the estimate', (numRuns) => {
    fc.assert(
      fc.property(anyQuotes, (quotes) => {
        expect(ask([...quotes].reverse(), 2000)).toEqual(ask(quotes, 2000))
      }),
      { numRuns },
    )
  })

  property(
    'after a change, the estimate uses the current quotes of its lane, and the prepared data of other lanes',
    (numRuns) => {
      fc.assert(
        fc.property(anyQuotes, fc.nat(39), (quotes, pick) => {
          const offer = { lane: LANE, offerRateCents: 200_000, miles: 780, expectedCostCents: 170_000 }
          const quoted = quotedLanes(quotes)
          const estimator = finished(
            prepareEstimatorInSteps(quoted, NOW, finished(quoted.columns.orderedRows())).steps,
          )
          const before = estimateOffer({ ...offer, estimator })
          const removed = quotes[pick]
          const lane = removed === undefined ? undefined : quoted.laneOf(removed.lane.key)
          if (removed === undefined || lane === undefined) return
          const { quoteId, rateCents, quotedAt } = removed
          const put = (outcome: number) => {
            beforeChange(estimator, lane)
            quoted.columns.put(lane, {
              quoteId,
              rateCents,
              quotedAt,
              outcome,
              costCents: Number.NaN,
              miles: removed.miles ?? Number.NaN,
            })
          }
          beforeChange(estimator, lane)
          quoted.columns.remove(quoteId)
          const without = estimateOffer({ ...offer, estimator })
          expect(without.borrowedFrom).toEqual(before.borrowedFrom)
          put(OUTCOMES.indexOf('pending'))
          put(OUTCOMES.indexOf(removed.outcome))
          expect(estimateOffer({ ...offer, estimator })).toEqual(before)
          put(OUTCOMES.indexOf('lost'))
          expect(
            estimateOffer({
              ...offer,
              estimator: finished(
                prepareEstimatorInSteps(quoted, NOW, finished(quoted.columns.orderedRows())).steps,
              ),
            }),
          ).toEqual(
            estimateOffer({
              ...offer,
              estimator: prepareEstimator({
                quotes: quotes.map((quote) => (quote === removed ? { ...quote, outcome: 'lost' } : quote)),
                now: NOW,
              }),
            }),
          )
        }),
        { numRuns },
      )
    },
  )

  test('multiplying all rates by one factor does not change the probability', () => {
    const plain = quotesOf(EXAMPLE)
    const scaled = plain.map((quote) => ({ ...quote, rateCents: quote.rateCents * 1.5 }))
    expect(ask(scaled, 3000).probability).toBeCloseTo(ask(plain, 2000).probability ?? 0, 9)
  })
})

describe('lanes with very different price levels', () => {
  const lanes = Array.from({ length: 30 }, (_, i) =>
    freightLane({
      origin: { ...TEXAS, city: `city ${i}` },
      destination: GEORGIA,
      equipment: 'V',
    }),
  )
  const quotes = lanes.flatMap((lane, i) =>
    quotesOf(
      EXAMPLE.map(([rate, outcome]) => [rate * 10 ** ((i % 5) / 2 - 1), outcome]),
      lane,
      1 + 20 * i,
    ).map((quote) => ({ ...quote, miles: null })),
  )
  const estimator = prepareEstimator({ quotes, now: NOW })

  test('let the offered rate have little effect on a lane never quoted', () => {
    const unseen = (rateCents: number) =>
      estimateOffer({
        estimator,
        lane: LANE,
        offerRateCents: rateCents,
        miles: null,
        expectedCostCents: null,
      })
    const [cheap, dear] = [unseen(100_000), unseen(400_000)]
    expectConsistent(cheap)
    expectConsistent(dear)
    expect(dear.probability).toBeLessThan(cheap.probability ?? 0)
    expect((cheap.probability ?? 1) - (dear.probability ?? 0)).toBeLessThan(0.3)
  })

  test('count a rate below the going rate of a lane never quoted half as much as one above', () => {
    const referenceCents = 200_000
    const at = (factor: number) =>
      offerPosition(estimator, LANE, { rateCents: referenceCents * factor, referenceCents })
    expect(at(1.1)).toBeGreaterThan(0)
    expect(at(1 / 1.1)).toBeCloseTo(-at(1.1) / 2, 10)
    const [quoted = LANE] = lanes
    expect(offerPosition(estimator, quoted, { rateCents: 180_000, referenceCents })).toBe(Math.log(0.9))
  })

  test('do not change the reference rate of a quoted lane', () => {
    const [lane] = lanes
    if (!lane) throw new Error('no lane')
    const answer = estimateOffer({
      estimator,
      lane,
      offerRateCents: 20_000,
      miles: null,
      expectedCostCents: null,
    })
    expect(Math.abs((answer.referenceRateCents ?? 0) / 20_250 - 1)).toBeLessThan(0.06)
  })
})

describe('pending quotes', () => {
  const pending = (count: number, dollars: number): LaneQuote[] =>
    quotesOf(
      Array.from({ length: count }, () => [dollars, 'pending'] as const),
      LANE,
      1000,
    ).map((quote) => ({ ...quote, quotedAt: NOW - DAY }))

  test('two hundred of them at a low rate move the going rate as little as one', () => {
    const decided = quotesOf(EXAMPLE)
    const withPending = (count: number) => ask([...decided, ...pending(count, 1500)], 2000)
    const [none, one, many] = [ask(decided, 2000), withPending(1), withPending(200)]
    expect(many.referenceRateCents).toBeCloseTo(one.referenceRateCents ?? 0, 4)
    expect(many.probability).toBeCloseTo(one.probability ?? 0, 9)
    const moved = Math.log((many.referenceRateCents ?? 1) / (none.referenceRateCents ?? 1))
    expect(moved).toBeLessThan(0)
    expect(moved).toBeGreaterThan(Math.log(1500 / 2000) / 7)
  })

  test('move the going rate with the market when outcomes are late', () => {
    const rising = Array.from({ length: 60 }, (_, i) => 2000 * Math.exp(0.004 * i))
    const late = quotesOf(
      rising.map((rate, i) => [rate, i < 30 ? 'won' : 'pending']),
      LANE,
    ).map((quote, i) => ({ ...quote, quotedAt: NOW - (60 - i) * DAY }))
    const reference = (ask(late, 2000).referenceRateCents ?? 0) / 100
    const known = (ask(late.slice(0, 30), 2000).referenceRateCents ?? 0) / 100
    expect(known).toBeLessThan(2150)
    expect(reference).toBeGreaterThan(2250)
  })

  test('their effect is stated as a range, from all lost to won as often as the decided ones', () => {
    const decided = quotesOf(EXAMPLE)
    expect(ask(decided, 2000).undecided).toBeNull()
    const { undecided, probability } = ask([...decided, ...pending(10, 2000)], 2000)
    expect(undecided?.quotes).toBe(10)
    expect(undecided?.ifLost).toBeLessThan(probability ?? 0)
    const lost = pending(10, 2000).map((quote) => ({ ...quote, outcome: 'lost' as const }))
    // The same outcomes as real losses; the going rate moves with those, so the two are only near each other.
    expect(undecided?.ifLost).toBeCloseTo(ask([...decided, ...lost], 2000).probability ?? 0, 1)
    expect(undecided?.ifWonAlike).toBeGreaterThan(undecided?.ifLost ?? 1)
  })
})
