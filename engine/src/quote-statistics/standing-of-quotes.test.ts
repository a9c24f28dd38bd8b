import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MarketHistory, marketRateAt, type RateToCompare } from '../market-history.ts'
import type { MarketRate } from '../market-rate.ts'
import { MarketOfLanes } from './standing-of-quotes.ts'

const dayMs = 86_400_000

const anyRate = fc
  .record({
    day: fc.integer({ min: 0, max: 60 }),
    validDays: fc.option(fc.integer({ min: 1, max: 20 })),
    basis: fc.constantFrom('all_in' as const, 'linehaul' as const),
    currency: fc.constantFrom('USD' as const, 'CAD' as const),
    midCents: fc.integer({ min: 1, max: 5 }),
    needsMiles: fc.boolean(),
  })
  .map(({ day, validDays, needsMiles, ...rate }): RateToCompare<MarketRate> => {
    const asOf = day * 10 * dayMs
    const validUntil = validDays === null ? null : asOf + validDays * dayMs
    const stored = {
      ...rate,
      scope: 'lane',
      source: 'DAT',
      kind: 'sell',
      asOf,
      validUntil,
      lowCents: null,
      highCents: null,
      sample: null,
    } as const
    const converted = (miles: number): MarketRate => ({ ...stored, basis: 'all_in', midCents: miles })
    return { rate: stored, ofMiles: needsMiles && rate.basis === 'linehaul' ? converted : null }
  })

const anyHistories = fc.array(fc.array(anyRate, { maxLength: 6 }), { maxLength: 3 })

test('the rates of a day are those that are chosen for it, in whatever order days are requested', () => {
  fc.assert(
    fc.property(
      anyHistories,
      anyHistories,
      fc.array(fc.tuple(fc.integer({ min: 0, max: 1_100 }), fc.integer({ min: 1, max: 3 })), {
        maxLength: 60,
      }),
      fc.boolean(),
      (sell, buy, asked, inOrder) => {
        const historiesOf = (lists: typeof sell) => lists.map((list) => new MarketHistory(list, 'all_in'))
        const market = new MarketOfLanes(historiesOf(sell), historiesOf(buy))
        const days = inOrder ? asked.toSorted(([one], [other]) => one - other) : asked
        for (const [day, miles] of days) {
          const at = (day + 1) * dayMs - 1
          expect(market.on(day, () => miles)).toEqual({
            sell: marketRateAt(historiesOf(sell), at, () => miles),
            buy: marketRateAt(historiesOf(buy), at, () => miles),
          })
        }
      },
    ),
    { numRuns: 500 },
  )
})
