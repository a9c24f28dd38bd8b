import { describe, expect, test } from 'vitest'
import {
  factsOf,
  noFacts,
  outcomeFrom,
  withBooking,
  withCancellation,
  withPossibleTimes,
} from './quote-outcome.ts'

describe('the times of bookings and cancellations', () => {
  const booked = (times: readonly number[]) =>
    times.reduce((facts, time) => withBooking(facts, time), noFacts)

  test('are ascending and each once, in whatever order they arrive', () => {
    expect(booked([30, 10, 20, 10]).bookings).toEqual([10, 20, 30])
  })

  test('are at most twelve: the newest but one goes for a newer one', () => {
    const daily = Array.from({ length: 12 }, (_, day) => day)
    expect(booked([...daily, 12]).bookings).toEqual([...daily.slice(0, 11), 12])
  })

  test('are at most twelve: the oldest goes if a cancellation came after it', () => {
    const daily = Array.from({ length: 12 }, (_, day) => day)
    const cancelled = withCancellation(booked(daily), 5)
    expect(withBooking(cancelled, 12).bookings).toEqual([...daily.slice(1), 12])
  })

  test('stay ascending and each once when another time replaces impossible ones', () => {
    const facts = { ...booked([10, 20, 90, 95]), cancellations: [15, 99] }
    const possible = withPossibleTimes(facts, (second) => second >= 90, 12)
    expect(possible).toMatchObject({ bookings: [10, 12, 20], cancellations: [12, 15] })
  })

  test('that are possible leave the same facts', () => {
    const facts = booked([10, 20])
    expect(withPossibleTimes(facts, () => false, 0)).toBe(facts)
  })
})

describe("a person's loss, in a quote without saved facts", () => {
  const shown = { outcome: 'lost', reason: null, source: 'dashboard', decidedAt: 50_000 } as const
  const booking = { isBooked: true, isSigned: true, bookedAt: null }
  const factsOfLoss = (isBooked: boolean) =>
    factsOf({ shown, kept: null, isBooked, cancelledAt: null, stamps: [] })

  test('becomes a win when the quote is booked', () => {
    expect(outcomeFrom(withBooking(factsOfLoss(false), 100), booking)).toMatchObject({
      outcome: 'won',
      source: 'tms',
      decidedAt: 100_000,
    })
  })

  test('counts if the quote was booked before', () => {
    expect(outcomeFrom(factsOfLoss(true), booking)).toEqual(shown)
  })
})
