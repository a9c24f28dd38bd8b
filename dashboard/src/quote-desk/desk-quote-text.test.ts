import { expect, test } from 'vitest'
import { emailText, newestQuotes, rateText } from './desk-quote-text.ts'

const lane = {
  lane_ref: '48211093754-1-1',
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
  created_at: '2026-02-27T16:12:09.000Z',
  lanes: [lane],
}

test('an e-mail names lane, equipment, rate, validity and references, and no cost', () => {
  const text = emailText(request, 'Meridian Fox Freight', 24)
  expect(text.split('\n').slice(0, 8)).toEqual([
    'Subject: Quote from Meridian Fox Freight: Dallas, TX → Atlanta, GA',
    '',
    'Quote for Harvest Table Foods',
    'Your reference: PO-7781',
    '',
    'Dallas, TX → Atlanta, GA, Van (V): $2,150',
    '  Pickup 2026-03-04',
    '  Our reference 48211093754-1-1',
  ])
  expect(text).toMatch(/Valid until Feb 28, 2026, \d+:12 [AP]M \S+\./)
  expect(text).not.toMatch(/1,?80[05]|margin|cost/i)
})

test('several lanes have a total', () => {
  const text = emailText(
    {
      ...request,
      reference: null,
      lanes: [lane, { ...lane, lane_ref: '48211093754-2-1', quoted_rate: 1000.5 }],
    },
    'Meridian Fox Freight',
    4,
  )
  expect(text).toContain('Subject: Quote from Meridian Fox Freight: 2 lanes')
  expect(text).toContain('Total: $3,150.50')
  expect(text).not.toContain('Your reference')
})

test('after a counter-offer, the customer sees the newest quote of each lane', () => {
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

test('the validity is the stored one, of each lane if they differ', () => {
  const stored = (valid_until: string) => ({ ...lane, valid_until })
  const one = emailText({ ...request, lanes: [stored('2026-03-01T20:03:00Z')] }, 'Meridian', 24)
  expect(one).toMatch(/Valid until Mar 1, 2026, \d+:03 [AP]M/)
  expect(one).not.toContain('Feb 28')
  const two = emailText(
    { ...request, lanes: [stored('2026-03-01T20:03:00Z'), stored('2026-03-05T20:04:00Z')] },
    'Meridian',
    24,
  )
  expect(two.match(/Valid until/g)).toHaveLength(2)
})

test('amounts in two currencies have no total, and charges are part of one', () => {
  const linehaul = { ...lane, quoted_basis: 'linehaul', quoted_fuel: 350 } as const
  const cad = { ...lane, quoted_currency: 'CAD' } as const
  const textOf = (...lanes: (typeof lane)[]) => emailText({ ...request, lanes }, 'Meridian', 24)
  expect(textOf(lane, cad)).not.toContain('Total')
  expect(textOf(cad, cad)).toContain('Total: $4,300 CAD')
  expect(textOf(lane, linehaul)).toContain('Total: $4,650')
  expect(textOf(lane, { ...lane, quoted_basis: 'linehaul' } as typeof lane)).not.toContain('Total')
})
