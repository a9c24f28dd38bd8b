import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { appliedInWords } from './applied-in-words.ts'
import {
  applyRules,
  checkRate,
  limitsOf,
  type PricingRule,
  type RuleTerms,
  ruledRate,
  termsFor,
} from './pricing-rules.ts'
import { conditionsInWords, type QuoteFacts, type RuleConditions, sameConditions } from './rule-conditions.ts'

const facts: QuoteFacts = {
  customerKeys: ['harvest', 'harvest inc'],
  tier: 'A',
  origin: { place: 'dallas|TX', market: 'DAL', state: 'TX' },
  destination: { place: 'atlanta|GA', market: 'ATL', state: 'GA' },
  equipmentCode: 'V',
  miles: 1200,
  rateType: 'spot',
  repId: 7,
  teamIds: [3, 5],
  confidence: 'low',
}
const known = { enteredCents: null, expectedCents: 170_000, miles: 1200 }
const rule = (ruleId: number, conditions: RuleConditions, terms: RuleTerms): PricingRule => ({
  ruleId,
  conditions,
  terms,
})
const customer = { key: 'harvest inc', text: 'Harvest' }
const dallas = { kind: 'place', key: 'dallas|TX', text: 'Dallas, TX' } as const
const texas = { kind: 'state', key: 'TX', text: 'TX' } as const
const dallasMarket = { kind: 'market', key: 'DAL', text: 'Dallas, TX' } as const

describe('the most specific rule', () => {
  test('is chosen in the stated order: customer, corridor, tier, rep, team, equipment, distance, type, confidence', () => {
    const conditions: RuleConditions[] = [
      { customer },
      { origin: dallas },
      { origin: dallasMarket },
      { origin: texas },
      { tier: 'a' },
      { rep: { userId: 7, text: 'Dana' } },
      { team: { teamId: 5, text: 'East' } },
      { equipment: 'V' },
      { milesOver: 1000, milesTo: 1500 },
      { milesOver: 1000 },
      { rateType: 'spot' },
      { confidenceAtMost: 'low' },
      {},
    ]
    const rules = conditions.map((one, at) => rule(at + 1, one, { minimum: { pct: at + 1 } }))
    fc.assert(
      fc.property(fc.subarray(rules, { minLength: 1 }), fc.integer(), (some, seed) => {
        const shuffled = some.toSorted(
          (one, other) => ((one.ruleId * seed) % 7) - ((other.ruleId * seed) % 7),
        )
        const first = Math.min(...some.map(({ ruleId }) => ruleId))
        expect(termsFor(shuffled, facts).minimum?.rule.ruleId).toBe(first)
      }),
    )
  })

  test('gives each part that it has; the other parts come from less specific rules', () => {
    const applied = applyRules(
      [
        rule(1, {}, { minimum: { pct: 10 }, roundToCents: 2500, outside: 'block' }),
        rule(2, { customer, milesOver: 1000 }, { minimum: { pct: 15 }, validDays: 3 }),
      ],
      facts,
      known,
    )
    expect(applied.minimum).toMatchObject({ rateCents: 200_000, rule: { ruleId: 2 }, outside: 'block' })
    expect(appliedInWords(applied)).toEqual([
      'Minimum $2,000 (15% margin), because: customer Harvest, over 1,000 miles.',
      'Rounded up to $25, because: all quotes.',
      'Valid for 3 days, because: customer Harvest, over 1,000 miles.',
    ])
  })

  test('with equal conditions of a kind, the newer rule', () => {
    const rules = [
      rule(4, { milesOver: 500, milesTo: 1500 }, { minimum: { pct: 5 } }),
      rule(9, { milesOver: 1000, milesTo: 2000 }, { minimum: { pct: 6 } }),
    ]
    expect(termsFor(rules, facts).minimum?.rule.ruleId).toBe(9)
  })

  test('an unknown fact meets no condition about it', () => {
    const unknown = {
      ...facts,
      customerKeys: [],
      tier: null,
      miles: null,
      equipmentCode: null,
      repId: null,
      teamIds: [],
    }
    const rules = [
      { customer },
      { tier: 'A' },
      { milesTo: 100 },
      { equipment: 'V' },
      { rep: { userId: 7, text: '' } },
      { team: { teamId: 5, text: '' } },
    ]
    expect(
      termsFor(
        rules.map((one, at) => rule(at, one, { minimum: { pct: 5 } })),
        unknown,
      ).minimum,
    ).toBeNull()
  })
})

describe('limits', () => {
  const approval = (terms: RuleTerms) => termsFor([rule(1, {}, { outside: 'approval', ...terms })], facts)

  test('a cost that a rep enters below the expected one does not lower a minimum that needs approval', () => {
    const terms = approval({ minimum: { pct: 15 }, maximum: { pct: 30 } })
    const entered = limitsOf(terms, { ...known, enteredCents: 100_000 })
    expect(entered.minimum?.rateCents).toBe(200_000)
    expect(entered.maximum?.rateCents).toBe(142_857)
    const higher = limitsOf(terms, { ...known, enteredCents: 200_000 })
    expect(higher.minimum?.rateCents).toBe(235_295)
    const warns = limitsOf(termsFor([rule(1, {}, { minimum: { pct: 15 } })], facts), {
      ...known,
      enteredCents: 100_000,
    })
    expect(warns.minimum?.rateCents).toBe(117_648)
  })

  test('without a cost, a minimum that needs approval cannot be passed, and one that warns says nothing', () => {
    const unknown = { enteredCents: null, expectedCents: null, miles: 1200 }
    expect(checkRate(limitsOf(approval({ minimum: { pct: 15 } }), unknown), 900_000)).toMatchObject({
      state: 'approval',
      reasons: [{ detail: expect.stringContaining('no truck cost is known') }],
    })
    const warns = termsFor([rule(1, {}, { minimum: { pct: 15, rateCentsPerMile: 200 } })], facts)
    expect(checkRate(limitsOf(warns, unknown), 100).state).toBe('warn')
    expect(limitsOf(warns, unknown).minimum).toMatchObject({ rateCents: 240_000, missing: 'cost' })
  })

  test('a minimum above the maximum of another rule applies, and the maximum is ignored', () => {
    const applied = applyRules(
      [
        rule(1, {}, { maximum: { cents: 10_000 }, outside: 'block' }),
        rule(2, { customer }, { minimum: { pct: 15 } }),
      ],
      facts,
      known,
    )
    expect(applied.contradicts).toBe(true)
    expect(checkRate(applied, 200_000).state).toBe('within')
    expect(checkRate(applied, 199_999).state).toBe('block')
    expect(ruledRate(applied, 100_000)).toEqual({
      rateCents: 200_000,
      from: 'minimum',
      isRounded: false,
    })
    expect(appliedInWords(applied).at(-1)).toBe(
      'The minimum is above the maximum: the minimum applies, and the maximum is ignored.',
    )
  })

  test('the strictest consequence wins, and each reason names its rule', () => {
    const applied = applyRules(
      [
        rule(1, {}, { minimum: { pct: 15 }, outside: 'approval' }),
        rule(2, { customer }, { maximum: { pct: 40 }, outside: 'block' }),
      ],
      facts,
      known,
    )
    expect(checkRate(applied, 199_900)).toEqual({
      state: 'approval',
      reasons: [
        {
          ruleId: 1,
          outside: 'approval',
          detail: '$1,999 is below the minimum of $2,000 (rule 1, because: all quotes).',
        },
      ],
    })
    expect(checkRate(applied, 500_000).state).toBe('block')
  })
})

test('the rate to quote is never outside the limits that do not contradict each other', () => {
  const cents = fc.integer({ min: 0, max: 60_000 })
  const terms = fc.record({
    minimum: fc.option(fc.record({ cents }), { nil: undefined }),
    target: fc.option(fc.record({ cents }), { nil: undefined }),
    maximum: fc.option(fc.record({ cents }), { nil: undefined }),
    roundToCents: fc.constantFrom(undefined, 500, 2500, 10_000),
  })
  fc.assert(
    fc.property(terms, fc.integer({ min: 100, max: 400_000 }), (made, best) => {
      const present = Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined))
      const applied = applyRules([rule(1, {}, { ...present, outside: 'block' } as RuleTerms)], facts, known)
      const rate = ruledRate(applied, best)
      expect(rate).not.toBeNull()
      // Between close limits there may be no round rate: the rate then has cents.
      expect(checkRate(applied, rate?.rateCents ?? 0).state).toBe('within')
    }),
  )
})

test('conditions in words, and rules that apply to the same quotes', () => {
  expect(conditionsInWords({})).toBe('all quotes')
  expect(
    conditionsInWords({
      origin: dallasMarket,
      destination: texas,
      rateType: 'contract',
      confidenceAtMost: 'none',
    }),
  ).toBe('the market of Dallas, TX to TX, contract quotes, lanes without decided quotes')
  expect(sameConditions({ customer }, { customer: { key: 'harvest inc', text: 'HARVEST' } })).toBe(true)
  expect(sameConditions({ customer }, { customer, milesOver: 5 })).toBe(false)
  const east = { team: { teamId: 5, text: 'East' } }
  expect(conditionsInWords({ ...east, equipment: 'V' })).toBe('team East, equipment V')
  expect(sameConditions(east, { team: { teamId: 5, text: 'Renamed' } })).toBe(true)
  expect(sameConditions(east, { team: { teamId: 3, text: 'East' } })).toBe(false)
})
