import { expect, test } from 'vitest'
import { awardProgress, type PromisedLane, type TenderedLoads } from './award-progress.ts'

const lane: PromisedLane = {
  lane: 1,
  originKey: 'dallas|TX',
  destinationKey: 'atlanta|GA',
  equipmentCode: 'V',
  loads: 52,
}
const load: TenderedLoads = { ...lane, equipmentCode: 'V', week: 0, tendered: 1, booked: 1 }

test('loads count for the lane with their equipment, else for one that takes any', () => {
  const lanes = [{ ...lane, lane: 2, equipmentCode: null }, lane]
  const loads = [
    { ...load, week: 3, tendered: 2 },
    { ...load, week: 1, equipmentCode: 'R' },
    { ...load, originKey: 'waco|TX' },
  ]
  const found = awardProgress(lanes, loads, { today: 3, weeks: 52 })
  expect(found.lanes.get(1)).toEqual({ promised: 4, tendered: 2, booked: 1 })
  expect(found.lanes.get(2)).toEqual({ promised: 4, tendered: 1, booked: 1 })
  expect(found.weeks.map(({ tendered }) => tendered)).toEqual([0, 1, 0, 2])
  expect(found.weeks[0]?.promised).toBe(2)
})

test('before the contract nothing is promised, and after it everything', () => {
  const promised = (today: number) =>
    awardProgress([lane], [load], { today, weeks: 52 }).lanes.get(1)?.promised
  expect([promised(-3), promised(0), promised(51), promised(80)]).toEqual([0, 1, 52, 52])
  expect(awardProgress([{ ...lane, loads: null }], [], { today: 9, weeks: 52 }).lanes.get(1)?.promised).toBe(
    0,
  )
})
