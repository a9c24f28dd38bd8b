import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Offer, supersededOffers } from './offers.ts'

const offer = (count: number, more: Partial<Offer> = {}): Offer => ({
  count,
  isVoid: false,
  isBooked: false,
  outcome: 'pending',
  rateCents: 200_000 - count * 5_000,
  terms: 'all_in USD',
  isCountered: false,
  ...more,
})
const counting = (...offers: Offer[]) => {
  const standing = supersededOffers(offers)
  return offers.filter((one, nth) => standing[nth] === null && !one.isVoid).map(({ count }) => count)
}

const anyOffer = fc.record({
  isVoid: fc.boolean(),
  isBooked: fc.boolean(),
  outcome: fc.constantFrom('pending', 'won', 'lost', 'expired'),
  rateCents: fc.integer({ min: 100, max: 300 }),
  terms: fc.constantFrom('all_in USD', 'linehaul USD'),
  isCountered: fc.boolean(),
}) as fc.Arbitrary<Partial<Offer>>
const anyLoad = fc
  .array(anyOffer, { minLength: 1, maxLength: 6 })
  .map((offers) => offers.map((one, nth) => offer(nth + 1, one)))

describe('the offers for one load', () => {
  test('have exactly one that counts, unless all are void', () => {
    fc.assert(
      fc.property(anyLoad, (offers) => {
        expect(counting(...offers)).toHaveLength(offers.some(({ isVoid }) => !isVoid) ? 1 : 0)
      }),
    )
  })

  test('are won at most once, and are won if one of them is', () => {
    fc.assert(
      fc.property(anyLoad, (offers) => {
        const [count] = counting(...offers)
        const isWon = offers.some(({ outcome, isVoid }) => outcome === 'won' && !isVoid)
        expect(offers.some((one) => one.count === count && one.outcome === 'won')).toBe(isWon)
      }),
    )
  })

  test('do not depend on the order in which they are listed', () => {
    fc.assert(
      fc.property(anyLoad, fc.infiniteStream(fc.nat()), (offers, random) => {
        const shuffled = offers
          .map((one) => [random.next().value as number, one] as const)
          .sort(([one], [other]) => one - other)
          .map(([, one]) => one)
        const byCount = (of: readonly Offer[]) => {
          const standing = supersededOffers(of)
          return new Map(of.map(({ count }, nth) => [count, standing[nth]]))
        }
        expect(byCount(shuffled)).toEqual(byCount(offers))
      }),
    )
  })

  test('a void offer does not count; restored, it counts as before', () => {
    fc.assert(
      fc.property(anyLoad, fc.nat(), (offers, at) => {
        const nth = at % offers.length
        const voided = offers.map((one, index) => (index === nth ? { ...one, isVoid: true } : one))
        const without = voided.filter((_, index) => index !== nth)
        expect(supersededOffers(voided).filter((_, index) => index !== nth)).toEqual(
          supersededOffers(without),
        )
      }),
    )
  })
})

describe('the offer that counts', () => {
  test('is the last one, without the voided ones', () => {
    expect(counting(offer(1), offer(2))).toEqual([2])
    expect(counting(offer(1), offer(2, { isVoid: true }))).toEqual([1])
    expect(counting(offer(1, { isVoid: true }), offer(2))).toEqual([2])
  })

  test('is the one that a push says is won, and the one that is booked before any other', () => {
    expect(counting(offer(1, { outcome: 'won' }), offer(2))).toEqual([1])
    expect(counting(offer(1, { outcome: 'won' }), offer(2, { outcome: 'won' }))).toEqual([2])
    const booked = offer(1, { outcome: 'won', isBooked: true })
    expect(counting(booked, offer(2, { outcome: 'won' }))).toEqual([1])
    expect(counting(booked, offer(2, { outcome: 'won', isBooked: true }))).toEqual([2])
    // A person marked the booked load as lost.
    expect(counting(offer(1, { outcome: 'lost', isBooked: true }), offer(2))).toEqual([2])
  })
})

describe('a superseded offer', () => {
  const as = (first: Partial<Offer>, second: Partial<Offer> = {}) =>
    supersededOffers([offer(1, first), offer(2, second)])[0]?.as

  test('was refused if it was lost or countered, or if the next one asks for less', () => {
    expect(as({ outcome: 'lost' })).toBe('refused')
    expect(as({ isCountered: true, terms: 'linehaul CAD' })).toBe('refused')
    expect(as({ outcome: 'expired' })).toBe('refused')
    expect(as({})).toBe('refused')
  })

  test('says nothing if the next one asks for as much or more, is on other terms, or if it was won itself', () => {
    expect(as({}, { rateCents: 200_000 })).toBe('replaced')
    expect(as({}, { terms: 'linehaul USD' })).toBe('replaced')
    expect(as({ outcome: 'won' }, { outcome: 'won' })).toBe('replaced')
    // The customer took the earlier and higher offer.
    const [, later] = supersededOffers([offer(1, { outcome: 'won' }), offer(2)])
    expect(later).toEqual({ by: 1, as: 'replaced' })
  })
})
