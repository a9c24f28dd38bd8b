import { expect, test } from 'vitest'
import { emailText, newestQuotes, rateText, validityChoices } from './quote-text.ts'

const quote = {
  lane_ref: '48211093754-1-1',
  created_at: '2026-02-27T16:12:09.000Z',
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  quoted_rate: 2150,
  pickup_date: '2026-03-04',
  // Facts that the customer must not see.
  estimated_cost: 1800,
  expected_cost: { amount: 1805, low: 1640, high: 1990 },
}
const request = {
  customer_name: 'Harvest Table Foods',
  reference: 'PO-7781',
  lanes: [quote],
}

const brokerage = (valid_days: number | null = null) =>
  ({
    tenant: { name: 'Meridian Fox Freight', default_basis: 'all_in', quote_expiry: { valid_days } },
    user: { id: 3, phone: '(312) 555-0142' },
  }) as const

test('an e-mail names lane, equipment, rate, validity and references, and no cost', () => {
  const text = emailText(
    { ...request, lanes: [{ ...quote, valid_until: '2026-02-28T16:12:09.000Z' }] },
    brokerage(),
  )
  expect(text.split('\n').slice(0, 8)).toEqual([
    'Subject: Quote from Meridian Fox Freight: Dallas, TX → Atlanta, GA',
    '',
    'Quote for Harvest Table Foods',
    'Your reference: PO-7781',
    '',
    'Dallas, TX → Atlanta, GA, Van (V): $2,150 all-in',
    '  Pickup Mar 4, 2026',
    '  Our reference 48211093754-1-1',
  ])
  expect(text).toMatch(/Valid until Feb 28, 2026, \d+:12 [AP]M \S+\./)
  expect(text).not.toMatch(/1,?80[05]|margin|cost/i)
})

test('an e-mail ends with the rep, unless several reps made the quotes', () => {
  const by = (name: string) => ({ ...quote, quoted_by: { name } })
  const endOf = (...quotes: (typeof quote)[]) =>
    emailText({ ...request, lanes: quotes }, brokerage())
      .split('\n')
      .slice(-2)
  expect(endOf(by('Marguerite Oduya'))).toEqual(['Marguerite Oduya', 'Meridian Fox Freight'])
  expect(endOf({ ...quote, rep_name: 'Dana Hill' } as typeof quote)[0]).toBe('Dana Hill')
  expect(endOf(by('Marguerite Oduya'), by('Dana Hill'))).toEqual(['', 'Meridian Fox Freight'])
  expect(endOf(quote)).toEqual(['', 'Meridian Fox Freight'])
  // Only the signed-in person's own phone is known.
  const own = { ...quote, quoted_by: { user_id: 3, name: 'Ana Ortiz' } }
  expect(endOf(own)).toEqual(['(312) 555-0142', 'Meridian Fox Freight'])
  expect(endOf({ ...own, quoted_by: { user_id: 4, name: 'Sam Reyes' } } as typeof quote)[0]).toBe('Sam Reyes')
})

test('a rate without its own basis has the one of the brokerage', () => {
  const { tenant, user } = brokerage()
  const linehaul = { tenant: { ...tenant, default_basis: 'linehaul' }, user } as const
  expect(emailText(request, linehaul)).toContain('$2,150 linehaul, plus fuel and accessorials')
})

test('several quotes have a total', () => {
  const text = emailText(
    {
      ...request,
      reference: null,
      lanes: [quote, { ...quote, lane_ref: '48211093754-2-1', quoted_rate: 1000.5 }],
    },
    brokerage(),
  )
  expect(text).toContain('Subject: 2 quotes from Meridian Fox Freight')
  expect(text).toContain('Total: $3,150.50')
  expect(text).not.toContain('Your reference')
})

test('after a requote, the customer sees the newest quote for each load', () => {
  const refs = ['7-1-1', '7-2-1', '7-1-10', '7-1-2'].map((lane_ref) => ({ lane_ref }))
  expect(newestQuotes(refs).map(({ lane_ref }) => lane_ref)).toEqual(['7-1-10', '7-2-1'])
})

test('a rate says what it includes, its charges and its currency', () => {
  expect(rateText({ quoted_rate: 2150, quoted_basis: null, quoted_currency: null })).toBe('$2,150')
  expect(rateText({ quoted_rate: 2150, quoted_basis: 'all_in' })).toBe('$2,150 all-in')
  expect(rateText({ quoted_rate: 2150, quoted_basis: 'linehaul', quoted_currency: 'CAD' })).toBe(
    '$2,150 CAD linehaul, plus fuel and accessorials',
  )
  const charges = [
    { name: 'lumper', amount: 120 },
    { name: 'detention', amount: 75 },
  ]
  expect(
    rateText({
      quoted_rate: 2400,
      quoted_basis: 'linehaul',
      quoted_currency: 'CAD',
      quoted_fuel: 350,
      quoted_accessorials: 195,
      quoted_charges: charges,
    }),
  ).toBe('$2,400 CAD linehaul, plus fuel $350, lumper $120, detention $75; $2,945 CAD in total')
})

test('the validity is the saved one, of each quote if they differ', () => {
  const stored = (valid_until: string) => ({ ...quote, valid_until })
  const one = emailText({ ...request, lanes: [stored('2026-03-01T20:03:00Z')] }, brokerage())
  expect(one).toMatch(/Valid until Mar 1, 2026, \d+:03 [AP]M/)
  expect(one).not.toContain('Feb 28')
  const two = emailText(
    { ...request, lanes: [stored('2026-03-01T20:03:00Z'), stored('2026-03-05T20:04:00Z')] },
    brokerage(),
  )
  expect(two.match(/Valid until/g)).toHaveLength(2)
})

test('without a saved validity, it is when the brokerage lets the quote expire, or not stated', () => {
  expect(emailText(request, brokerage(3))).toMatch(/Valid until Mar 2, 2026, \d+:12 [AP]M/)
  expect(emailText(request, brokerage())).not.toContain('Valid')
  const stored = { ...quote, lane_ref: '48211093754-2-1', valid_until: '2026-03-01T20:03:00Z' }
  expect(emailText({ ...request, lanes: [quote, stored] }, brokerage()).match(/Valid until/g)).toHaveLength(1)
})

test('the usual validity is the default of the brokerage, else 24 hours, and always a choice', () => {
  expect(validityChoices(null).usual).toBe(24)
  const { usual, choices } = validityChoices(10)
  expect(usual).toBe(240)
  expect(choices.map(({ label }) => label)).toEqual(['4 hours', '24 hours', '3 days', '7 days', '10 days'])
})

test('amounts in two currencies have no total, and charges are part of one', () => {
  const linehaul = { ...quote, quoted_basis: 'linehaul', quoted_fuel: 350 } as const
  const cad = { ...quote, quoted_currency: 'CAD' } as const
  const textOf = (...quotes: (typeof quote)[]) => emailText({ ...request, lanes: quotes }, brokerage())
  expect(textOf(quote, cad)).not.toContain('Total')
  expect(textOf(cad, cad)).toContain('Total: $4,300 CAD')
  expect(textOf(quote, linehaul)).toContain('Total: $4,650')
  expect(textOf(quote, { ...quote, quoted_basis: 'linehaul' } as typeof quote)).not.toContain('Total')
})
