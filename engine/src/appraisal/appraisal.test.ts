import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { identityOf } from '../book/quote-book.ts'
import { prepareEstimator } from '../estimate/estimator.ts'
import { prepareCosts } from '../estimate/expected-cost.ts'
import type { LaneQuote } from '../quotes/quoted-lanes.ts'
import type { PricingRule, RuleTerms } from '../rules/pricing-rules.ts'
import type { RuleConditions } from '../rules/rule-conditions.ts'
import { finished } from '../steps.ts'
import { appraise, type QuoteToAppraise } from './appraisal.ts'
import { decidedMiles } from './decided-miles.ts'

const now = Date.UTC(2026, 5, 1, 15)
const places = {
  originKey: 'dallas|TX',
  destinationKey: 'fort worth|TX',
  originState: 'TX',
  destinationState: 'TX',
  originMarket: null,
  destinationMarket: null,
  equipmentCode: 'V',
}
const lane = identityOf(places)
const quotes = Array.from({ length: 40 }, (_, nth) => ({
  quoteId: nth + 1,
  rateCents: 190_000 + 1_000 * nth + 7,
  costCents: 170_000 + 333 * nth,
  outcome: nth < 20 ? ('won' as const) : ('lost' as const),
  quotedAt: now - (60 - nth) * 86_400_000,
  miles: 780,
  lane,
}))
const book = {
  estimator: prepareEstimator({ quotes, now }),
  costs: prepareCosts(
    quotes.map(({ quoteId, costCents, miles, quotedAt }) => ({
      quoteId,
      costCents,
      miles,
      at: quotedAt,
      costKeys: lane.costKeys,
    })),
    now,
  ),
}
const rule = (ruleId: number, conditions: RuleConditions, terms: RuleTerms): PricingRule => ({
  ruleId,
  conditions,
  terms,
})
const input: QuoteToAppraise = {
  lane: places,
  miles: { typed: null, measured: 780 },
  parties: { customerKeys: [], tier: null, repId: null, teamIds: [], rateType: null },
  customer: null,
  terms: { basis: null, fuelCents: null, accessorialCents: null },
  day: { fuelMillsPerMile: null, usdPerCad: null },
  enteredCents: null,
  now,
}
const appraised = (
  rules: readonly PricingRule[],
  changed: Partial<QuoteToAppraise> = {},
  models: typeof book = book,
) =>
  finished(
    appraise(
      { spot: models, contract: null },
      { rules, basis: 'all_in', rateType: 'spot' },
      { ...input, ...changed },
    ),
  )
const twelve = rule(1, {}, { minimum: { pct: 12 }, outside: 'block' })

describe('an appraisal', () => {
  test('has a cost and limits in whole cents, and the limit is the first rate that passes', () => {
    const { expected, rules, cost, at } = appraised([twelve])
    expect(Number.isInteger(expected?.costCents)).toBe(true)
    expect(cost).toEqual({ cents: expected?.costCents, source: 'expected' })
    const minimum = rules.minimum?.rateCents ?? 0
    expect(minimum).toBe(Math.ceil((cost?.cents ?? 0) / 0.88 - 1e-6))
    expect(at(minimum).verdict.state).toBe('within')
    expect(at(minimum - 1).verdict.state).toBe('block')
    expect(at(minimum - 1).warnings.map(({ detail }) => detail)).toContainEqual(
      expect.stringContaining(`$0.01 below your minimum of $${(minimum / 100).toLocaleString('en-US')}`),
    )
  })

  test('recommends rates within the limits: whole dollars, or multiples of the rule', () => {
    const whole = appraised([twelve]).rates.toQuote?.rateCents ?? 0
    expect(whole % 100).toBe(0)
    const rounded = appraised([twelve, rule(2, {}, { roundToCents: 2_500 })]).rates
    expect((rounded.toQuote?.rateCents ?? 1) % 2_500).toBe(0)
    expect(rounded.toQuote?.isRounded).toBe(true)
    fc.assert(
      fc.property(
        fc.record({
          pct: fc.integer({ min: 1, max: 45 }),
          most: fc.integer({ min: 1, max: 60 }),
          target: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
          roundToCents: fc.constantFrom(undefined, 500, 2_500),
        }),
        ({ pct, most, target, roundToCents }) => {
          const terms: RuleTerms = {
            minimum: { pct },
            maximum: { pct: most },
            outside: 'block',
            ...(target === undefined ? {} : { target: { pct: target } }),
            ...(roundToCents === undefined ? {} : { roundToCents }),
          }
          const { rates, at } = appraised([rule(1, {}, terms)])
          for (const rate of [rates.toQuote, rates.best, rates.safer]) {
            if (rate !== null) expect(at(rate.rateCents).verdict.state).toBe('within')
          }
        },
      ),
      { numRuns: 50 },
    )
  })

  test('explains a rate with the chance, the cost and the optimum that it has at the rate', () => {
    const appraisal = appraised([twelve])
    const explained = appraisal.explain(205_000)
    const { chance } = appraisal.at(205_000)
    expect(explained?.probability).toBe(chance?.probability)
    expect(explained?.interval80).toEqual(chance?.interval80)
    expect(explained?.optimum).toBe(appraisal.optimum)
    expect(appraisal.optimum?.floorCents).toBe(appraisal.rules.minimum?.rateCents)
  })

  test('converts the rate and the cost with the fuel charge of the distance that counts', () => {
    const terms = { basis: 'linehaul', fuelCents: null, accessorialCents: null } as const
    const day = { fuelMillsPerMile: 500, usdPerCad: null }
    const short = appraised([twelve], { terms, day, enteredCents: 150_000 })
    const long = appraised([twelve], {
      terms,
      day,
      enteredCents: 150_000,
      miles: { typed: 9_000, measured: 780 },
    })
    expect(short.at(160_000).rateCents).toBe(160_000 + 39_000)
    expect(short.cost).toEqual({ cents: 150_000 + 39_000, source: 'entered' })
    expect(long.at(160_000).rateCents).toBe(short.at(160_000).rateCents)
    expect(appraised([twelve], { terms }).at(160_000).verdict.reasons[0]?.detail).toContain(
      'cannot be converted',
    )
  })

  test('applies the rules without a book as far as they can be computed', () => {
    const settings = { rules: [twelve], basis: 'all_in', rateType: 'spot' } as const
    const without = finished(appraise(null, settings, { ...input, enteredCents: 176_000 }))
    expect(without.at(199_999).verdict.state).toBe('block')
    expect(without.at(200_000)).toMatchObject({ verdict: { state: 'within' }, chance: null, warnings: [] })
    expect([without.expected, without.belief, without.optimum, without.explain(200_000)]).toEqual([
      null,
      null,
      null,
      null,
    ])
  })

  test('takes the miles of a lane that nobody measured from its quotes', () => {
    expect(appraised([], { miles: { typed: null, measured: null } }).miles).toBe(780)
  })

  test('has no rate and no chance for a lane with an unknown end and few decided quotes, whatever miles are typed', () => {
    const unknownEnd = { ...places, destinationKey: 'smallville|TX' }
    const typed = { typed: 300, measured: null }
    const { goingCents, at, rates } = appraised([], { lane: unknownEnd, miles: typed })
    expect([goingCents, at(190_000).chance, rates.best]).toEqual([null, null, null])
    const known = appraised([], { lane: unknownEnd, miles: { typed: null, measured: 300 } })
    expect(known.goingCents).toBeGreaterThan(0)
    expect(appraised([], { miles: { typed: 780, measured: null } }).goingCents).toBeGreaterThan(0)
  })
})

describe('a rate to quote', () => {
  const decidedAs = (outcomeOf: (nth: number) => Pick<LaneQuote, 'outcome' | 'otherReason'>) =>
    prepareEstimator({ quotes: quotes.map((quote, nth) => ({ ...quote, ...outcomeOf(nth) })), now })

  const cases: [string, Parameters<typeof decidedAs>[0]][] = [
    ['no_outcomes', () => ({ outcome: 'pending' })],
    ['only_won', () => ({ outcome: 'won' })],
    ['only_lost', () => ({ outcome: 'lost' })],
    ['only_won', (nth) => (nth % 2 === 0 ? { outcome: 'won' } : { outcome: 'lost', otherReason: true })],
  ]
  test.each(cases)('needs a win and a loss on price, and so does a chance: %s', (flag, outcomeOf) => {
    const estimator = decidedAs(outcomeOf)
    const found = appraised([], {}, { ...book, estimator })
    expect([found.optimum, found.rates.toQuote, found.rates.best]).toEqual([null, null, null])
    expect(found.at(205_000).chance).toBeNull()
    const explained = found.explain(205_000)
    expect(explained).toMatchObject({ probability: null, curve: [], optimum: null })
    expect(explained?.flags[0]).toBe(flag)
    // The rates are usual all the same.
    expect(explained?.referenceRateCents).toBe(found.goingCents)
    expect(found.goingCents).toBeGreaterThan(190_000)
    const other = flag === 'only_won' ? 'lost' : 'won'
    const enough = decidedAs((nth) => ({ outcome: nth === 0 ? other : nth === 1 ? 'won' : 'lost' }))
    expect(appraised([], {}, { ...book, estimator: enough }).at(205_000).chance).not.toBeNull()
  })

  test('is never below the cost', () => {
    for (const enteredCents of [150_000, 230_000, 265_000, 290_000, 400_000]) {
      const { rates, optimum, explain, goingCents } = appraised([], { enteredCents })
      const isPaid = enteredCents < 1.34 * (goingCents ?? 0)
      expect(optimum === null).toBe(!isPaid)
      expect(explain(205_000)?.flags.includes('no_rate_earns')).toBe(!isPaid)
      for (const rate of [rates.toQuote, rates.best, rates.safer]) {
        if (isPaid && rate !== null) expect(rate.rateCents).toBeGreaterThanOrEqual(enteredCents)
        else expect(rate).toBeNull()
      }
    }
  })

  test('does not follow one undecided rate of a small brokerage', () => {
    const few = quotes.slice(15, 25)
    const elsewhere = { ...places, destinationKey: 'houston|TX' }
    const typo = {
      ...few[0]!,
      quoteId: 99,
      rateCents: 25_000,
      outcome: 'pending' as const,
      lane: identityOf(elsewhere),
    }
    const [without, with_] = [few, [...few, typo]].map((all) => {
      const estimator = prepareEstimator({ quotes: all, now })
      return appraised([], { lane: elsewhere }, { ...book, estimator })
    })
    expect(with_?.goingCents).toBeGreaterThan(190_000)
    expect(with_?.rates).toEqual(without?.rates)
  })
})

describe('the distance', () => {
  test.each([
    { typed: null, measured: 781, counts: 781 },
    { typed: 800, measured: null, counts: 800 },
    { typed: null, measured: null, counts: null },
    { typed: 976, measured: 781, counts: 976 },
    { typed: 977, measured: 781, counts: 781 },
    { typed: 586, measured: 781, counts: 586 },
    { typed: 585, measured: 781, counts: 781 },
  ])('typed $typed and measured $measured counts as $counts', ({ counts, ...miles }) => {
    expect(decidedMiles(miles)).toBe(counts)
  })

  test('no typed distance, short or long, escapes a rule for a measured one', () => {
    const band = rule(
      1,
      { milesOver: 10, milesTo: 1_000 },
      { minimum: { centsPerMile: 30, pct: 12 }, outside: 'block' },
    )
    const { rules } = appraised([band])
    for (const typed of [0, 1, 9, 1_001, 9_000]) {
      expect(appraised([band], { miles: { typed, measured: 780 } }).rules).toEqual(rules)
    }
  })
})
