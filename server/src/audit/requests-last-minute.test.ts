import { expect, test } from 'vitest'
import { tenantId } from '../database/session/index.ts'
import { lastMinute } from './requests-last-minute.ts'

const [ours, theirs] = [tenantId(1), tenantId(2)]

test('counts the calls and refusals of the last 60 seconds per tenant', () => {
  const minute = lastMinute()
  minute.count(ours, false, 1_000)
  minute.count(ours, true, 1_999)
  minute.count(ours, false, 30_000)
  minute.count(theirs, true, 30_000)
  expect(minute.countsOf(ours, 30_000)).toEqual({ requests: 3, refused: 1 })
  expect(minute.countsOf(theirs, 30_000)).toEqual({ requests: 1, refused: 1 })
  expect(minute.countsOf(ours, 60_999)).toEqual({ requests: 3, refused: 1 })
  expect(minute.countsOf(ours, 61_000)).toEqual({ requests: 1, refused: 0 })
  expect(minute.countsOf(ours, 90_000)).toEqual({ requests: 0, refused: 0 })
  expect(minute.countsOf(tenantId(3), 0)).toEqual({ requests: 0, refused: 0 })
})

test('the count of a second is not added to the count of the same second a minute later', () => {
  const minute = lastMinute()
  for (let second = 0; second < 300; second++) minute.count(ours, second % 2 === 0, second * 1000)
  expect(minute.countsOf(ours, 299_000)).toEqual({ requests: 60, refused: 30 })
})

test('no call is counted twice after the clock was set back', () => {
  const minute = lastMinute()
  minute.count(ours, false, 100_000)
  minute.count(ours, false, 40_000)
  expect(minute.countsOf(ours, 40_000)).toEqual({ requests: 1, refused: 0 })
})

test('tenants that were idle for a minute are removed, and active tenants stay counted', () => {
  const minute = lastMinute()
  for (let tenant = 1; tenant <= 10_000; tenant++) minute.count(tenantId(tenant), false, 0)
  minute.count(tenantId(20_000), false, 61_000)
  minute.count(tenantId(20_001), false, 61_000)
  expect(minute.countsOf(tenantId(20_000), 61_000).requests).toBe(1)
  // A query with an earlier time does not bring the removed count back.
  expect(minute.countsOf(tenantId(5), 0).requests).toBe(0)
})
