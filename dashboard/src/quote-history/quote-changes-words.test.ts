import { expect, test } from 'vitest'
import { exampleQuote } from '#contract/quote.ts'
import { bookingTable } from '#engine/booking-fields.ts'
import { modes } from '#engine/load-mode.ts'
import { isAmountUnit, quoteTable } from '#engine/quote-fields.ts'
import { type Change, currenciesAround, restoredBy, ruleWords, valueWords } from './quote-changes-words.ts'

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

test('a value is written by the unit of its field: only amounts are dollars', () => {
  const isAmount = (unit: string) => unit === 'cents' || isAmountUnit(unit as 'rate')
  for (const { shown, unit } of [...Object.values(quoteTable), ...Object.values(bookingTable)])
    expect([shown, valueWords(shown, 34).startsWith('$')]).toEqual([shown, isAmount(unit)])
  expect(valueWords('a_later_field', 34)).toBe('34')
  expect(valueWords('miles', 1250)).toBe('1,250')
  expect(valueWords('valid_until', '2026-03-01T14:00:00.000Z')).toMatch(/^Mar.* 1, 2026/)
  expect(valueWords('quoted_basis', 'all_in')).toBe('all-in')
  expect([valueWords('truck_cost', 0), valueWords('customer_name', null)]).toEqual(['$0', 'as on the quote'])
})

test('a rollback writes the charges that a quote has as those that its history has', () => {
  const quoted_charges = [
    { name: 'lumper', amount: 120 },
    { name: 'detention', amount: 75.5 },
  ]
  const restored = (before: string) =>
    restoredBy({ ...exampleQuote, quoted_charges }, change(5, { before: { quoted_charges: before } }))
  const now = 'lumper 120.00; detention 75.50'
  expect(restored(now)).toMatchObject([{ now, back: now, differs: false }])
  expect(restored('lumper 90.00')).toMatchObject([{ now, back: 'lumper 90.00', differs: true }])
})

test('a mode is written as on all pages', () => {
  expect(modes.map((mode) => valueWords('mode', mode))).toEqual([
    'Truckload',
    'Partial',
    'LTL',
    'Drayage',
    'Intermodal',
  ])
})

test('an amount has the currency that it had at the time of the change', () => {
  const now = { ...exampleQuote, quoted_currency: 'USD' as const, truck_currency: 'CAD' as const }
  const history = [
    change(9, { before: { quoted_rate: 2100 }, after: { quoted_rate: 2150 } }),
    change(8, { before: { quoted_currency: 'CAD' }, after: { quoted_currency: 'USD' } }),
    change(7, { before: { quoted_rate: 2600, truck_cost: 1 }, after: { quoted_rate: 2700, truck_cost: 2 } }),
  ]
  const around = currenciesAround(now, history)
  const words = (id: number, field: string) => [
    valueWords(field, history.find((one) => one.change_id === id)?.before[field], around.get(id)?.before),
    valueWords(field, history.find((one) => one.change_id === id)?.after[field], around.get(id)?.after),
  ]
  expect(words(9, 'quoted_rate')).toEqual(['$2,100', '$2,150'])
  expect(words(7, 'quoted_rate')).toEqual(['$2,600 CAD', '$2,700 CAD'])
  expect(words(7, 'truck_cost')).toEqual(['$1 CAD', '$2 CAD'])
})
