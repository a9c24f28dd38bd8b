import { expect, it } from 'vitest'
import { requestDigest } from './request-digest.ts'

/*
 * The digest of a request is stored with its request_key. If the order or the presence of a field changes, a repeated request is
 * refused as another one. These digests were computed before the fields of a quote had a table.
 */

const quote = {
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  quoted_rate: 2150,
}

it.each([
  ['a lane without more', quote, 'O3-m_knVURUb61UOxDOR1Q'],
  [
    'a lane with every amount',
    { ...quote, estimated_cost: 1800.5, market_rate: 2010, miles: 790, pickup_date: '2026-03-04' },
    'qoCxf9tpnWcb_6h2YDp5Iw',
  ],
  [
    'a lane with charges',
    {
      ...quote,
      quoted_basis: 'all_in' as const,
      quoted_fuel: 210.25,
      quoted_accessorials: 195,
      quoted_charges: [{ name: 'detention', amount: 195 }],
      quoted_currency: 'CAD' as const,
    },
    '8sHafKizSzde5ckGvnpSHg',
  ],
  ['a lane with one charge', { ...quote, quoted_fuel: 0 }, '5SaOfYnn3KFyFH_hPOe9dQ'],
])('a request for %s has the digest that is stored for it', (_, asked, digest) => {
  const body = { customer_name: 'Acme Foods', reference: 'PO-1', lanes: [asked] }
  expect(requestDigest(body).toString('base64url', 0, 16)).toBe(digest)
})
