import fc from 'fast-check'
import { expect, test } from 'vitest'
import { routePrices } from './route-price.ts'

const leg = (miles: number | null, rateCents: number | null) => ({ miles, rateCents })

test('a load with stops is priced by the sum of its legs, and by its longest leg plus a fee for each stop', () => {
  const prices = routePrices([leg(210, 80_050), leg(450, 120_001), leg(30, 45_000)], 7_550)
  expect(prices).toEqual([
    {
      method: 'sum_of_legs',
      parts: [
        { leg: 0, times: 1, eachCents: 80_050, cents: 80_050 },
        { leg: 1, times: 1, eachCents: 120_001, cents: 120_001 },
        { leg: 2, times: 1, eachCents: 45_000, cents: 45_000 },
      ],
      totalCents: 245_051,
    },
    {
      method: 'longest_leg_plus_stop_fee',
      parts: [
        { leg: 1, times: 1, eachCents: 120_001, cents: 120_001 },
        { leg: null, times: 2, eachCents: 7_550, cents: 15_100 },
      ],
      totalCents: 135_101,
    },
  ])
})

test('a method without the rates or the miles that it needs gives no price', () => {
  const methods = (legs: Parameters<typeof routePrices>[0]) =>
    routePrices(legs, 7_500).map(({ method }) => method)
  expect(methods([leg(210, null), leg(450, 120_000)])).toEqual(['longest_leg_plus_stop_fee'])
  expect(methods([leg(210, 80_000), leg(null, 120_000)])).toEqual(['sum_of_legs'])
  expect(methods([leg(210, 80_000), leg(450, null)])).toEqual([])
  expect(methods([leg(null, null), leg(450, 120_000)])).toEqual([])
})

test('every price is the sum of its parts, and every part its count times its amount, to the cent', () => {
  const amount = fc.integer({ min: 1, max: 999_999_999 })
  const legs = fc.array(
    fc.record({
      miles: fc.option(fc.double({ min: 0, max: 4_000, noNaN: true })),
      rateCents: fc.option(amount),
    }),
    { minLength: 2, maxLength: 11 },
  )
  fc.assert(
    fc.property(legs, fc.integer({ min: 0, max: 100_000 }), (route, fee) => {
      for (const { method, parts, totalCents } of routePrices(route, fee)) {
        expect(Number.isSafeInteger(totalCents)).toBe(true)
        expect(parts.reduce((sum, { cents }) => sum + cents, 0)).toBe(totalCents)
        for (const { times, eachCents, cents } of parts) expect(times * eachCents).toBe(cents)
        const rates = parts.flatMap(({ leg: nth, eachCents }) => (nth === null ? [] : [[nth, eachCents]]))
        for (const [nth = 0, cents] of rates) expect(route[nth]?.rateCents).toBe(cents)
        if (method === 'sum_of_legs') expect(parts).toHaveLength(route.length)
        else {
          const longest = route[rates[0]?.[0] ?? 0]?.miles ?? Number.NaN
          expect(route.every(({ miles }) => (miles ?? Number.NaN) <= longest)).toBe(true)
          expect(totalCents).toBe((rates[0]?.[1] ?? 0) + (route.length - 1) * fee)
        }
      }
    }),
  )
})
