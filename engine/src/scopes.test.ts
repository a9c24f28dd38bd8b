import { expect, it } from 'vitest'
import { isEnough, type LaneScope, scopesFor } from './scopes.ts'

it('tries the most trusted scope first, and starts with the corridor if no equipment is given', () => {
  expect(scopesFor(true)).toEqual(['equipment', 'corridor', 'market', 'state_pair', 'region', 'tenant'])
  expect(scopesFor(false)).toEqual(['corridor', 'market', 'state_pair', 'region', 'tenant'])
})

it.each<[LaneScope, number, number, number, boolean]>([
  ['equipment', 1, 0, 0, true],
  ['equipment', 0, 0, 0, false],
  ['corridor', 1, 0, 0, true],
  ['corridor', 0, 0, 0, false],
  ['market', 3, 3, 2, true],
  ['market', 9, 2, 2, false],
  ['market', 9, 9, 1, false],
  ['state_pair', 3, 3, 1, true],
  ['state_pair', 9, 2, 5, false],
  ['region', 5, 5, 1, true],
  ['region', 9, 4, 5, false],
  ['tenant', 5, 5, 1, true],
  ['tenant', 99, 4, 9, false],
])('%s with %d quotes, %d decided, %d lanes: %s', (scope, quotes, decided, lanes, enough) => {
  expect(isEnough(scope, { quotes, decided, lanes })).toBe(enough)
})
