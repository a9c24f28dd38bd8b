import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  chooseMarketRate,
  compareRates,
  MARKET_RATE_RULE,
  MARKET_SCOPES,
  type MarketRate,
  marketAmountFaults,
  marketRateState,
} from './market-rate.ts'
import {
  abovePct,
  addDay,
  addStanding,
  noStanding,
  paidAboveCents,
  quotedBelowCents,
} from './market-standing.ts'

const day = 86_400_000
const now = 20_000 * day
const rate: MarketRate = {
  scope: 'lane',
  source: 'DAT',
  basis: 'all_in',
  kind: 'buy',
  currency: 'USD',
  lowCents: null,
  midCents: 200_000,
  highCents: null,
  sample: null,
  asOf: now - 2 * day,
  validUntil: null,
}
const wanted = { at: now, basis: 'all_in' } as const

describe('the choice of a market rate', () => {
  test('is the most specific usable one, and then the newest', () => {
    const older = { ...rate, asOf: now - 9 * day, midCents: 190_000 }
    const market = { ...rate, scope: 'market' as const, asOf: now - day }
    expect(chooseMarketRate([market, older, rate], wanted)).toMatchObject({
      used: rate,
      others: [
        { rate: older, state: 'usable' },
        { rate: market, state: 'usable' },
      ],
    })
  })

  test.each([
    ['expired', { validUntil: now }, 'stale', 'too old'],
    ['a year old', { asOf: now - MARKET_RATE_RULE.staleDays * day }, 'stale', 'too old'],
    ['linehaul', { basis: 'linehaul' as const }, 'other_basis', 'linehaul'],
    ['Canadian', { currency: 'CAD' }, 'other_currency', 'US dollars'],
    ['of tomorrow', { asOf: now + day }, 'future', 'future'],
  ] as const)('an own rate that is %s is shown and not used', (_, over, state, words) => {
    const wrong = { ...rate, ...over }
    const alone = chooseMarketRate([wrong], wanted)
    expect(alone).toMatchObject({ used: null, others: [{ rate: wrong, state }] })
    expect(alone.why).toContain(words)
    const wider = { ...rate, scope: 'region' as const }
    expect(chooseMarketRate([wrong, wider], wanted).used).toEqual(wider)
  })

  test('is a rate that customers pay before one that carriers are paid, and says which', () => {
    const sell = { ...rate, kind: 'sell' as const, scope: 'region' as const }
    expect(chooseMarketRate([rate, sell], wanted)).toMatchObject({
      used: sell,
      why: expect.stringContaining('It is what customers pay.'),
    })
    expect(chooseMarketRate([rate], wanted).why).toContain('It is what carriers are paid')
  })

  test('names a second source that disagrees, and averages nothing', () => {
    const other = { ...rate, source: 'Truckstop', midCents: 230_000, asOf: now - 3 * day }
    const { used, others, why } = chooseMarketRate([other, rate], wanted)
    expect(used).toEqual(rate)
    expect(others).toEqual([{ rate: other, state: 'usable' }])
    expect(why).toContain('Truckstop says $2,300, 15% more: both are shown, and they are not averaged.')
  })

  const anyRate = fc.record({
    scope: fc.constantFrom(...MARKET_SCOPES),
    source: fc.constantFrom('DAT', 'Truckstop'),
    basis: fc.constantFrom('all_in' as const, 'linehaul' as const),
    kind: fc.constantFrom('buy' as const, 'sell' as const),
    currency: fc.constantFrom('USD', 'CAD'),
    lowCents: fc.constant(null),
    midCents: fc.integer({ min: 1_000, max: 900_000 }),
    highCents: fc.constant(null),
    sample: fc.option(fc.nat(50)),
    asOf: fc.integer({ min: -500, max: 2 }).map((days) => now + days * day),
    validUntil: fc.option(fc.integer({ min: -20, max: 20 }).map((days) => now + days * day)),
  })

  test('does not depend on the order of the rates, and returns every rate', () => {
    fc.assert(
      fc.property(fc.array(anyRate, { maxLength: 12 }), (rates) => {
        const { used, others } = chooseMarketRate(rates, wanted)
        expect(chooseMarketRate(rates.toReversed(), wanted).used?.midCents).toBe(
          // Here, rates of one key can differ in the amount. The database has one rate per key.
          rates.filter((one) => used !== null && compareRates(one, used) === 0).length > 1
            ? expect.any(Number)
            : used?.midCents,
        )
        expect(others.length + (used === null ? 0 : 1)).toBe(rates.length)
        if (used !== null) expect(marketRateState(used, wanted)).toBe('usable')
      }),
    )
  })
})

describe('the amounts of a market rate', () => {
  const amounts = { low: 180_000, mid: 200_000, high: 220_000, miles: 781 }
  test.each([
    ['dollars per load', amounts, []],
    ['dollars per mile', { ...amounts, low: null, mid: 245, high: null }, ['mid']],
    ['cents', { low: 18_000_000, mid: 20_000_000, high: 22_000_000, miles: 781 }, ['low', 'mid', 'high']],
    ['cents of an area', { low: null, mid: 20_000_000, high: null, miles: null }, ['mid']],
    ['a short haul', { low: null, mid: 60_000, high: null, miles: 20 }, []],
    ['low above high', { ...amounts, low: 230_000 }, ['low']],
    ['low above mid', { ...amounts, low: 210_000 }, ['low']],
    ['high below mid', { ...amounts, high: 190_000 }, ['high']],
  ] as const)('%s', (_, given, fields) => {
    expect(marketAmountFaults(given).map(({ field }) => field)).toEqual(fields)
  })

  test.each([
    [{ miles: 781 }, 781 * 2_000],
    [{ miles: 100 }, 250 * 2_000],
    [{ miles: null }, 3_500 * 2_000],
    [{ miles: 781, inPesos: true }, 20 * 781 * 2_000],
  ])('for a load of %j, the highest amount is %d cents', (load, most) => {
    const faultsOf = (mid: number) => marketAmountFaults({ low: null, mid, high: null, ...load })
    expect(faultsOf(most)).toEqual([])
    expect(faultsOf(most + 1)).toHaveLength(1)
  })

  test('the error says what would be right', () => {
    expect(marketAmountFaults({ low: null, mid: 245, high: null, miles: 781 })[0]?.detail).toBe(
      'mid must be dollars per load; $2.45 looks like dollars per mile, which is $1,913.45 for 781 miles.',
    )
    expect(marketAmountFaults({ low: null, mid: 21_500_000, high: null, miles: 781 })[0]?.detail).toContain(
      'In dollars it is $2,150.',
    )
  })
})

describe('the standing against the market', () => {
  const zero = { count: 0, cents: 0 }
  test('compares the loads of a day with the rate of the day', () => {
    const monday = { won: { count: 2, cents: 410_000 }, lost: zero, paid: { count: 1, cents: 210_000 } }
    const friday = { won: zero, lost: { count: 1, cents: 150_000 }, paid: zero }
    const sum = addStanding(
      addDay(noStanding, monday, { sell: 200_000, buy: 190_000 }),
      addDay(noStanding, friday, { sell: 220_000, buy: null }),
    )
    expect(sum).toEqual({
      won: { loads: 2, ownCents: 410_000, marketCents: 400_000 },
      lost: { loads: 1, ownCents: 150_000, marketCents: 220_000 },
      paid: { loads: 1, ownCents: 210_000, marketCents: 190_000 },
    })
    expect([abovePct(sum.won), abovePct(sum.lost), abovePct(noStanding.won)]).toEqual([2.5, -31.8, null])
    expect([paidAboveCents(sum), quotedBelowCents(sum)]).toEqual([20_000, 60_000])
  })
})
