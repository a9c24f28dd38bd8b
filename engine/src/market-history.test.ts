import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MarketHistory, marketRateAt } from './market-history.ts'
import { chooseMarketRate, MARKET_SCOPES, type MarketRate } from './market-rate.ts'

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
const asStored = (one: MarketRate) => ({ rate: one, ofMiles: null })
const unknownMiles = () => null

/** The histories of a lane: one for each scope, most specific first. */
const historiesOf = (rates: readonly MarketRate[]) =>
  MARKET_SCOPES.map(
    (scope) => new MarketHistory(rates.filter((one) => one.scope === scope).map(asStored), 'all_in'),
  )

const anyRate = fc.record({
  scope: fc.constantFrom(...MARKET_SCOPES),
  source: fc.constantFrom('DAT', 'Truckstop'),
  basis: fc.constantFrom('all_in' as const, 'linehaul' as const),
  kind: fc.constant('buy' as const),
  currency: fc.constantFrom('USD', 'CAD'),
  lowCents: fc.constant(null),
  midCents: fc.integer({ min: 1_000, max: 900_000 }),
  highCents: fc.constant(null),
  sample: fc.option(fc.nat(50)),
  asOf: fc.integer({ min: -500, max: 2 }).map((days) => now + days * day),
  validUntil: fc.option(fc.integer({ min: -20, max: 20 }).map((days) => now + days * day)),
})

test('the rate of each day is the one that the page of the lane chooses, in whatever order days are requested', () => {
  const days = fc.array(fc.integer({ min: -400, max: 30 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(fc.array(anyRate, { maxLength: 12 }), days, (rates, asked) => {
      const histories = historiesOf(rates)
      for (const days of asked) {
        const at = now + days * day
        const { used } = chooseMarketRate(rates, { at, basis: 'all_in' })
        expect(marketRateAt(histories, at, unknownMiles).used).toEqual(used)
      }
    }),
  )
})

test('a rate that needs the miles of a lane is used for the lanes whose miles are known', () => {
  const linehaul = { ...rate, basis: 'linehaul' as const, asOf: now - day }
  const ofMiles = (miles: number): MarketRate => ({
    ...linehaul,
    basis: 'all_in',
    midCents: linehaul.midCents + 50 * miles,
  })
  const histories = [new MarketHistory([asStored(rate), { rate: linehaul, ofMiles }], 'all_in')]
  expect(marketRateAt(histories, now, () => 800).used?.midCents).toBe(240_000)
  expect(marketRateAt(histories, now, () => 400).used?.midCents).toBe(220_000)
  expect(marketRateAt(histories, now, unknownMiles).used).toBe(rate)
})

test.each([
  [
    'only in another currency, though older ones are too old',
    [{ currency: 'CAD' }, { validUntil: now }],
    'other_currency',
  ],
  ['only on the other basis', [{ currency: 'CAD' }, { basis: 'linehaul' as const }], 'other_basis'],
  ['only of before, in another currency', [{ currency: 'CAD', validUntil: now }], 'stale'],
  ['only of a wider area, too old', [{ scope: 'region' as const, asOf: now - 400 * day }], 'stale'],
  ['only of later', [{ asOf: now + 1 }], null],
])('a missing rate has a reason: saved %s', (_, overs, why) => {
  const rates = overs.map((over) => ({ ...rate, ...over }))
  expect(marketRateAt(historiesOf(rates), now, unknownMiles)).toEqual({ used: null, why })
})
