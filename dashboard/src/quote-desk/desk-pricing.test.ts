import { describe, expect, test } from 'vitest'
import { pricingOf, standingOf, typedValue } from './desk-pricing.ts'
import { basisInWords, standingInWords } from './desk-words.ts'

/** A chance that falls from 100% at $1,500 to 0% at $3,500, with points every $50. */
const curve = Array.from({ length: 41 }, (_, at) => {
  const probability = 1 - at / 40
  const interval = { low: Math.max(0, probability - 0.1), high: Math.min(1, probability + 0.1) }
  return {
    rate: 1500 + 50 * at,
    probability,
    interval_80: interval,
    interval_95: interval,
    nearby: { won: 0, lost: 0, pending: 0 },
  }
})
const estimate = {
  expected_cost: { amount: 2061, low: 1900, high: 2200, own_loads: 9, own_curve: true },
  probability: 0.4,
  reference_rate: 2700,
  miles: 781,
}
const optimum = {
  rate: 2780.4,
  win_probability: 0.36,
  expected_margin: 259,
  at_edge: false,
  floor: null,
  floored_rate: 2780.4,
  floored_expected_margin: 259,
  flat_zone: { low: 2680, high: 2880 },
}
const advice = { curve, estimate, optimum } as unknown as Parameters<typeof pricingOf>[0]
const noRules = {
  minimum: null,
  target: null,
  maximum: null,
  rounding: null,
  validity: null,
  rate: null,
  verdict: 'within' as const,
  reasons: [],
  explanation: [],
}
const limit = (rule_id: number, because: string, terms: object) => ({
  rate: null,
  missing: null,
  rule_id,
  because,
  outside: 'warn' as const,
  terms,
})
const ruled = (rules: object) => ({ ...advice, rules: { ...noRules, ...rules } })
const floored = (margin: number) => ruled({ minimum: limit(1, 'all quotes', { margin }) })
const pricing = (from: typeof advice = advice, typedCost: number | null = null) => {
  const found = pricingOf(from, typedCost)
  if (found === null) throw new Error('There is no price.')
  return found
}

describe('the rate to quote', () => {
  test('is the best one in whole dollars, with its chance, margin and worth', () => {
    const { quote, basis, safer, going } = pricing()
    expect(basis).toBe('best')
    expect(quote).toMatchObject({ rate: 2780, chance: expect.closeTo(0.36), margin: 719, beyond: null })
    expect(quote.marginPct).toBeCloseTo(25.86, 2)
    expect(quote.worth).toBeCloseTo(0.36 * 719, 6)
    expect([safer?.rate, going?.rate]).toEqual([2680, 2700])
    expect(safer?.chance).toBeGreaterThan(quote.chance)
  })

  test('is the floor when the best rate is below it; nothing below the floor is offered', () => {
    const lane = pricing(floored(839.2))
    expect([lane.quote.rate, lane.basis, lane.safer]).toEqual([2901, 'minimum', null])
    expect(basisInWords(lane)).toBe('raised to the minimum of rule 1 (all quotes)')
  })

  test('is rounded by the rules, with the reason', () => {
    const lane = pricing(ruled({ rounding: { to: 25, rule_id: 3, because: 'over 700 miles' } }))
    expect([lane.quote.rate, lane.safer?.rate]).toEqual([2800, 2700])
    expect(basisInWords(lane)).toBe('the best expected margin, rounded to $25 by rule 3 (over 700 miles)')
    expect(lane.rules).toEqual(['Rounded up to $25, because: over 700 miles.'])
  })

  test('is the target of the rules, but at most their maximum, and never rounded above it', () => {
    const target = limit(4, 'tier A', { margin_pct: 25 })
    const maximum = limit(5, 'customer Harvest', { margin: 600 })
    const rounding = { to: 25, rule_id: 3, because: 'all quotes' }
    const [free, limited] = [pricing(ruled({ target })), pricing(ruled({ target, maximum, rounding }))]
    expect([free.quote.rate, basisInWords(free)]).toEqual([2748, 'the target of rule 4 (tier A)'])
    expect([limited.quote.rate, limited.ceiling]).toEqual([2650, 2661])
    expect(basisInWords(limited)).toBe(
      'lowered to the maximum of rule 5 (customer Harvest), rounded to $25 by rule 3 (all quotes)',
    )
    expect(standingOf({ rate: 2700, margin: 639 }, limited)).toBe('high')
  })

  test('follows an entered cost, but a rule that does more than warn does not believe a lower one', () => {
    const warns = floored(839.2)
    expect(pricing(warns, 2200).floor).toBe(3039.2)
    expect(pricing(warns, 1900).floor).toBe(2739.2)
    const minimum = { ...limit(1, 'all quotes', { margin: 839.2 }), outside: 'approval' as const }
    expect(pricing(ruled({ minimum }), 1900).floor).toBe(2900.2)
  })

  test('follows an entered cost without a request', () => {
    // The worth (3500 - rate)(rate - cost) is highest in the middle between cost and $3,500.
    const { quote, cost, zone } = pricing(advice, 2300)
    expect(Math.abs(quote.rate - 2900)).toBeLessThan(8)
    expect(cost).toEqual({ amount: 2300, isTyped: true })
    expect(zone?.low).toBeLessThan(2900)
    expect(zone?.high).toBeGreaterThan(2900)
  })

  test('is the going rate without a cost, with a chance and without a margin', () => {
    const { quote, basis, zone } = pricing({
      ...advice,
      estimate: { ...estimate, expected_cost: null },
      optimum: null,
    } as unknown as Parameters<typeof pricingOf>[0])
    expect([quote.rate, basis, zone, quote.margin, quote.worth]).toEqual([2700, 'going', null, null, null])
    expect(quote.chance).toBeCloseTo(0.4)
  })

  test('does not exist without a curve', () => {
    expect(pricingOf({ curve: [], estimate: undefined, optimum: null } as never, null)).toBeNull()
  })
})

describe('a typed rate', () => {
  const standing = (rate: number, from = advice, typedCost: number | null = null) => {
    const lane = pricing(from, typedCost)
    const typed = typedValue(from, lane, rate)
    return typed === null ? null : standingOf(typed, lane)
  }

  test('is compared with the rate to quote: the same, nearly as good, or off on either side', () => {
    expect([2780, 2690, 2870, 2670, 2890].map((rate) => standing(rate))).toEqual([
      'same',
      'near',
      'near',
      'off',
      'off',
    ])
  })

  test('is too low below the cost or below the floor', () => {
    expect([standing(2060), standing(2061)]).toEqual(['low', 'off'])
    expect(standing(2700, floored(689))).toBe('low')
    expect(standing(2700, advice, 2750)).toBe('low')
  })

  test('outside of the curve has the chance of its end, and says so', () => {
    expect(typedValue(advice, pricing(), 250)).toMatchObject({ chance: 1, beyond: 'below', margin: -1811 })
    const higher = { ...advice, curve: curve.slice(0, 35) }
    const above = typedValue(higher, pricing(), 9000)
    // A chance of at most 15% times a margin of $6,939 would look better than every other rate.
    expect(above).toMatchObject({ chance: expect.closeTo(0.15), beyond: 'above', margin: 6939, worth: null })
    if (above !== null) {
      expect(standingInWords(above, pricing())).toBe(
        ': above the rates of the curve, so its expected profit is not known',
      )
    }
    expect(typedValue(advice, pricing(), null)).toBeNull()
  })
})
