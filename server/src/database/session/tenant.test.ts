import { expect, test } from 'vitest'
import { tenantId } from './tenant.ts'

/** Promise: a tenant id is a positive integer of PostgreSQL, and nothing else becomes one. */

test.each([1, 7, 2_147_483_647])('%s is a tenant id', (number) => {
  expect(tenantId(number)).toBe(number)
})

test.each([0, -1, 1.5, 2_147_483_648, Number.NaN, Number.POSITIVE_INFINITY])(
  '%s is not a tenant id',
  (number) => {
    expect(() => tenantId(number)).toThrow(RangeError)
  },
)
