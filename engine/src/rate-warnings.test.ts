import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type RateToCheck, rateWarnings } from './rate-warnings.ts'

const usual: RateToCheck = {
  rateCents: 276_900,
  cost: { cents: 206_100, source: 'expected' },
  floorCents: 220_000,
  goingRate: { cents: 280_000, isOwn: true },
}
const codes = (changed: Partial<RateToCheck>) =>
  rateWarnings({ ...usual, ...changed }).map(({ code }) => code)

describe('a rate is questioned', () => {
  test('not when it is usual', () => {
    expect(rateWarnings(usual)).toEqual([])
  })

  test('when a digit is missing, with the amounts that show it', () => {
    expect(rateWarnings({ ...usual, rateCents: 25_000 }).map(({ detail }) => detail)).toEqual([
      '$250 is $1,811 below the expected cost of $2,061.',
      '$250 is $1,950 below your minimum of $2,200.',
      '$250 is 91% below the going rate of $2,800.',
    ])
  })

  test('when a digit is too many', () => {
    expect(rateWarnings({ ...usual, rateCents: 2_500_000 }).map(({ detail }) => detail)).toEqual([
      '$25,000 is 793% above the going rate of $2,800.',
      '$25,000 is 12.1 times the expected cost of $2,061.',
    ])
  })

  test('when it is below the cost by any amount, and not when it is equal to it', () => {
    expect(codes({ rateCents: 206_099, floorCents: null })).toEqual(['below_cost'])
    expect(codes({ rateCents: 206_100, floorCents: null })).toEqual([])
    expect(
      rateWarnings({
        ...usual,
        rateCents: 199_999,
        floorCents: null,
        cost: { cents: 200_000, source: 'entered' },
      }),
    ).toEqual([{ code: 'below_cost', detail: '$1,999.99 is $0.01 below your cost of $2,000.' }])
  })

  test('when it is below the floor, although it is above the cost', () => {
    expect(codes({ rateCents: 219_900 })).toEqual(['below_floor'])
  })

  test('30% below or 50% above the going rate; on a lane without quotes, at half or double', () => {
    const bare = { cost: null, floorCents: null }
    const own = (rateCents: number) =>
      codes({ ...bare, rateCents, goingRate: { cents: 100_000, isOwn: true } })
    const others = (rateCents: number) =>
      codes({ ...bare, rateCents, goingRate: { cents: 100_000, isOwn: false } })
    expect([own(70_000), own(69_999)]).toEqual([[], ['below_going_rate']])
    expect([own(150_000), own(150_001)]).toEqual([[], ['above_going_rate']])
    expect([others(50_000), others(49_999)]).toEqual([[], ['below_going_rate']])
    expect([others(200_000), others(200_001)]).toEqual([[], ['above_going_rate']])
  })

  test('not against amounts that are unknown', () => {
    expect(codes({ rateCents: 1, cost: null, floorCents: null, goingRate: null })).toEqual([])
  })
})

test('a higher rate is never questioned for being low, and a lower rate never for being high', () => {
  const cents = fc.integer({ min: 1, max: 999_999_999 })
  fc.assert(
    fc.property(cents, cents, cents, cents, fc.boolean(), (one, other, cost, going, isOwn) => {
      const of = (rateCents: number) =>
        codes({ rateCents, cost: { cents: cost, source: 'entered' }, goingRate: { cents: going, isOwn } })
      const [low, high] = [of(Math.min(one, other)), of(Math.max(one, other))]
      for (const code of high.filter((found) => found.startsWith('below'))) expect(low).toContain(code)
      for (const code of low.filter((found) => found.startsWith('above'))) expect(high).toContain(code)
    }),
  )
})
