import { expect, test } from 'vitest'
import { type Change, ruleWords } from './quote-changes-words.ts'

const change = (change_id: number, more: Partial<Change>): Change => ({
  change_id,
  source: 'tms',
  changed_by: null,
  changed_at: '2026-03-01T14:00:00.000Z',
  before: {},
  after: {},
  rule: null,
  rolled_back_change_id: null,
  ...more,
})
const lost = change(1, {
  source: 'dashboard',
  changed_by: { user_id: 1, name: 'Ana Ortiz' },
  before: { outcome: 'pending' },
  after: { outcome: 'lost' },
})
const named = change(2, { after: { carrier_name: 'Blue Mesa' } })
const booked = change(3, {
  rule: 'booking_is_a_win',
  before: { outcome: 'lost' },
  after: { outcome: 'won' },
})
const cancelled = change(4, {
  rule: 'cancellation_takes_back_the_win',
  before: { outcome: 'won' },
  after: { outcome: 'lost' },
})
const changes = [cancelled, booked, named, lost]

test('a change by a rule is explained, with the source of the previous outcome', () => {
  expect(ruleWords(booked, changes)).toMatch(
    /^Won, because the TMS booked it; before: lost, set by Ana Ortiz on .*Mar.* 1, 2026.*\.$/,
  )
  expect(ruleWords(cancelled, changes)).toMatch(
    /^Lost, because the booking was cancelled; before: won, set by the TMS on .*\.$/,
  )
  expect(ruleWords({ ...booked, before: { outcome: 'pending' } }, [booked])).toBe(
    'Won, because the TMS booked it; before: pending.',
  )
  expect(ruleWords(lost, changes)).toBeNull()
})
