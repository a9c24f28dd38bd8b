import { expect, test } from 'vitest'
import { equipmentCode, modeAsEquipment } from './equipment.ts'
import { isDirect, modeOfWord } from './load-mode.ts'
import { repeatedStop, stopsOf, stopsText } from './load-stops.ts'

test('a load is direct if it is a truckload without stops, also if it says neither', () => {
  expect([{}, { mode: null, stops: null }, { mode: 'truckload' } as const].map(isDirect)).toEqual([
    true,
    true,
    true,
  ])
  expect(isDirect({ mode: 'ltl' })).toBe(false)
  expect(isDirect({ mode: 'truckload', stops: 'Memphis, TN' })).toBe(false)
})

test('stops are written as they are read', () => {
  const stops = ['Memphis, TN', 'Nashville, TN']
  expect(stopsOf(stopsText(stops))).toEqual(stops)
  expect([stopsText([]), stopsOf(null)]).toEqual([null, []])
})

test('each stop is on the route once; a round trip ends where it began', () => {
  expect(repeatedStop(['a', 'b', 'c', 'd'])).toBeNull()
  expect(repeatedStop(['a', 'b', 'a'])).toBeNull()
  expect(repeatedStop(['a', 'b', 'b', 'd'])).toBe(1)
  expect(repeatedStop(['a', 'b', 'a', 'd'])).toBe(1)
  expect(repeatedStop(['a', 'd', 'd'])).toBe(0)
  expect(repeatedStop(['a', 'b', 'c', 'b', 'd'])).toBe(2)
})

test.each([
  ['LTL', 'ltl'],
  ['less-than-truckload', 'ltl'],
  ['FTL', 'truckload'],
  ['Full Truckload', 'truckload'],
  ['PTL', 'partial'],
  ['Dray', 'drayage'],
  ['IMDL', 'intermodal'],
  ['air', null],
])('the word %s means the mode %s', (word, mode) => expect(modeOfWord(word)).toBe(mode))

test('a mode in place of an equipment has a reason; a container, and codes of a brokerage, are equipment', () => {
  expect(modeAsEquipment('ltl')).toMatch(/; LTL is a mode, not an equipment: say mode ltl,/)
  expect(modeAsEquipment('Partial')).toMatch(/say mode partial/)
  expect(['V', 'intermodal', 'FTL', 'DRAY-20'].map(modeAsEquipment)).toEqual([null, null, null, null])
  expect(equipmentCode('intermodal')).toBe('IMC')
})
