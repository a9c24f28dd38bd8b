import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstInOrder } from './first-in-order.ts'

test('the first numbers are those of the sorted list', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer()), fc.nat(20), (list, count) => {
      const inOrder = list.toSorted((one, other) => one - other)
      const first = firstInOrder(Int32Array.from(list), count, (one, other) => one - other)
      expect([...first]).toEqual(inOrder.slice(0, count))
    }),
  )
})
