import { expect, test } from 'vitest'
import { steppedTo } from './type-ahead.tsx'

const known = [{ value: 'Foxlathe Dairy' }, { value: 'Foxlathe Farms' }]
const asNew = { value: 'foxl', isExplicit: true }

test('arrow keys lead on from the option that is accepted without them, around the list', () => {
  expect(steppedTo(known, 0, [1])).toBe(1)
  expect(steppedTo(known, 0, [1, 1])).toBe(0)
  expect(steppedTo(known, -1, [1])).toBe(0)
  expect(steppedTo(known, -1, [-1])).toBe(1)
  expect(steppedTo([], -1, [1])).toBe(-1)
})

test('the first arrow key never leads to an option that must be meant', () => {
  const one = known.slice(0, 1)
  expect(steppedTo([...one, asNew], 0, [1])).toBe(0)
  expect(steppedTo([...one, asNew], 0, [-1])).toBe(0)
  expect(steppedTo([...one, asNew], 0, [1, 1])).toBe(1)
  expect(steppedTo([...known, asNew], 0, [1])).toBe(1)
  expect(steppedTo([...known, asNew], 0, [1, 1])).toBe(2)
  // An explicit option is accepted without arrow keys if it is the only one.
  expect(steppedTo([asNew], 0, [1])).toBe(0)
})
