import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blankLane, withLanes } from './desk-draft.ts'

const { id: _, ...typed } = { ...blankLane(0), origin: 'Dallas, TX' }

test('each row of a draft has an id of its own, whichever rows were removed before others were added', () => {
  const steps = fc.array(fc.record({ removed: fc.nat(20), added: fc.integer({ min: 1, max: 4 }) }), {
    maxLength: 8,
  })
  fc.assert(
    fc.property(steps, (all) => {
      let lanes = withLanes([], [typed, typed, typed])
      for (const { removed, added } of all) {
        lanes = withLanes(
          lanes.filter((_lane, place) => place !== removed % lanes.length),
          Array.from({ length: added }, () => typed),
        )
        expect(new Set(lanes.map(({ id }) => id)).size).toBe(lanes.length)
      }
    }),
  )
})
