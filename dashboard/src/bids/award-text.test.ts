import { expect, test } from 'vitest'
import { readAwards } from './award-text.ts'

const lanes = [
  { lane: 1, lane_id: 'H-1', version: 4, rate: 2150 },
  { lane: 2, lane_id: 'H-2', version: 0, rate: null },
  { lane: 3, lane_id: null, version: 1, rate: 900 },
]

test('lanes are named by ID or number, with a rate and loads if they are given', () => {
  expect(readAwards('h-1\t$2,140.50\t1,040\n\nH-2\n3;905\r\n', lanes, false)).toEqual({
    cells: [
      { lane: 1, version: 4, state: 'awarded', rate: 2140.5, loads: 1040 },
      { lane: 2, version: 0, state: 'awarded' },
      { lane: 3, version: 1, state: 'awarded', rate: 905 },
    ],
    problems: [],
  })
})

test('the other lanes are lost only if the person says so', () => {
  expect(readAwards('H-2', lanes, true).cells.map(({ lane, state }) => [lane, state])).toEqual([
    [2, 'awarded'],
    [1, 'lost'],
    [3, 'lost'],
  ])
})

test('a line that names no lane, one lane twice, no rate or no loads is a problem', () => {
  expect(readAwards('H-9\nH-1\nH-1\nH-2\tsome\n3\t900\tmany', lanes, false)).toEqual({
    cells: [{ lane: 1, version: 4, state: 'awarded' }],
    problems: [
      'The bid has no lane “H-9”.',
      'Lane “H-1” is in the list twice.',
      '“some” of lane “H-2” is no rate in dollars.',
      '“many” of lane “3” is no number of loads.',
    ],
  })
})
