import { describe, expect, test } from 'vitest'
import { type LaneOutcome, outcomeOfBooking } from './shipment-update.ts'

const open: LaneOutcome = { outcome: 'pending', reason: null, source: null, decidedAt: null }
const lostByAPerson: LaneOutcome = { outcome: 'lost', reason: 'price', source: 'dashboard', decidedAt: 1_000 }

describe.each(['tms', 'import'] as const)('a booking from %s', (source) => {
  const won = { outcome: 'won', reason: null, source, decidedAt: 5_000 }

  test.each([
    ['an open lane', open],
    ['a lane that a person marked lost', lostByAPerson],
    ['a lane that a file marked lost', { ...lostByAPerson, source: 'import' }],
  ] as const)('wins %s, and names the rule and the outcome from before', (_name, before) => {
    expect(outcomeOfBooking({ outcome: before, isBooked: false }, source, 5_000)).toEqual({
      outcome: won,
      beforeBooking: before,
      rule: 'booking_is_a_win',
    })
  })

  test('does not change an outcome that a person set after an earlier booking', () => {
    expect(outcomeOfBooking({ outcome: lostByAPerson, isBooked: true }, source, 5_000)).toBeNull()
  })

  test('keeps the time of a win that a person reported before it', () => {
    const before = { ...lostByAPerson, outcome: 'won', reason: null } as const
    expect(outcomeOfBooking({ outcome: before, isBooked: false }, source, 5_000)?.outcome.decidedAt).toBe(
      1_000,
    )
  })

  test('changes nothing when the same source, or the TMS, won the lane before', () => {
    const byTms = { ...won, source: 'tms' } as const
    expect(
      outcomeOfBooking({ outcome: { ...won, outcome: 'won' }, isBooked: true }, source, 9_000),
    ).toBeNull()
    expect(
      outcomeOfBooking({ outcome: { ...byTms, outcome: 'won' }, isBooked: true }, source, 9_000),
    ).toBeNull()
  })
})
