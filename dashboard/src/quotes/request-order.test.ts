import { expect, test } from 'vitest'
import { inRequestOrder } from './request-order.ts'

const quote = (lane_ref: string, created_at = '2026-03-01T12:00:00Z') => ({
  lane_ref,
  request_id: Number(lane_ref.split('-')[0]),
  created_at,
})
const refs = (lanes: readonly { lane_ref: string }[]) => lanes.map(({ lane_ref }) => lane_ref)

test('lanes of one request are listed in the order in which they were entered', () => {
  const listed = ['7-5-1', '7-3-1', '7-10-1', '7-1-1', '9-2-1', '9-1-1'].map((ref) => quote(ref))
  const ordered = ['7-1-1', '7-3-1', '7-5-1', '7-10-1', '9-1-1', '9-2-1']
  expect(refs(inRequestOrder(listed, 'newest'))).toEqual(ordered)
  expect(refs(inRequestOrder(listed, 'oldest'))).toEqual(ordered)
})

test('the order of the list by time or by amount does not change', () => {
  const later = [quote('7-2-1', '2026-03-02T12:00:00Z'), quote('7-1-1')]
  expect(inRequestOrder(later, 'newest')).toEqual(later)
  const byRate = [quote('7-2-1'), quote('7-1-1')]
  expect(inRequestOrder(byRate, 'rate_high')).toEqual(byRate)
  expect(inRequestOrder([], 'newest')).toEqual([])
})
