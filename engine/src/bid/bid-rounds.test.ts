import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isSameWork, joinedLanes, type RoundLane, roundDifference } from './bid-rounds.ts'

const lane = (number: number, more: Partial<RoundLane> = {}): RoundLane => ({
  lane: number,
  key: null,
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  loads: 52,
  ...more,
})

describe('the next round of a bid', () => {
  test('is joined by the lane IDs of the shipper, whatever their case and order', () => {
    const joined = joinedLanes(
      [lane(1, { key: 'b-2 ' }), lane(2, { key: 'A-1', origin: 'Reno, NV' })],
      [lane(1, { key: 'A-1' }), lane(2, { key: 'B-2' })],
    )
    expect([...joined]).toEqual([
      [1, 2],
      [2, 1],
    ])
  })

  test('is joined by places and equipment where it has no ID, and by nothing that is not unique', () => {
    const reno = { origin: 'Reno, NV' }
    const joined = joinedLanes(
      [lane(1, reno), lane(2), lane(3), lane(4, { key: 'X' }), lane(5, { origin: null })],
      [lane(1), lane(2, reno), lane(3, { key: 'X' }), lane(4, { key: 'x' }), lane(5, { origin: null })],
    )
    expect([...joined]).toEqual([[1, 2]])
  })

  test('joins no lane of the round before twice', () => {
    const some = fc.array(
      fc.record({
        key: fc.constantFrom(null, 'a', 'A', 'b', 'c'),
        origin: fc.constantFrom(null, 'Reno, NV', 'Dallas, TX'),
        equipment: fc.constantFrom(null, 'V', 'R'),
      }),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(some, some, (now, before) => {
        const lanes = now.map((one, at) => lane(at + 1, one))
        const previous = before.map((one, at) => lane(at + 1, one))
        const joined = joinedLanes(lanes, previous)
        expect(new Set(joined.values()).size).toBe(joined.size)
        const { added, removed } = roundDifference(lanes, previous, joined)
        expect(added.length + joined.size).toBe(lanes.length)
        expect(removed.length + joined.size).toBe(previous.length)
      }),
    )
  })

  test('says which lanes came, went and changed', () => {
    const lanes = [lane(1, { key: 'A', loads: 26 }), lane(2, { key: 'C', equipment: null })]
    const previous = [lane(1, { key: 'B' }), lane(2, { key: 'A' }), lane(3, { key: 'C' })]
    expect(roundDifference(lanes, previous, joinedLanes(lanes, previous))).toEqual({
      added: [],
      removed: [1],
      changed: [
        { lane: 1, field: 'loads', before: 52, after: 26 },
        { lane: 2, field: 'equipment', before: 'V', after: null },
      ],
    })
  })

  test('keeps a rate for the same work only: other loads are, another place or equipment is not', () => {
    expect(isSameWork(lane(1, { loads: 1 }), lane(2))).toBe(true)
    expect(isSameWork(lane(1, { equipment: 'R' }), lane(2))).toBe(false)
    expect(isSameWork(lane(1, { destination: 'Reno, NV' }), lane(2))).toBe(false)
    expect(isSameWork(lane(1, { origin: null }), lane(2, { origin: null }))).toBe(false)
  })
})
