import { expect, test } from 'vitest'
import { isDirect, modeOfWord, unpricedBecause } from './load-mode.ts'
import { repeatedStop, stopsOf, stopsText } from './load-stops.ts'

const van = { equipment_code: 'V' }

test('a load is direct if it is a truckload without stops, also if it says neither', () => {
  const direct = [van, { ...van, mode: null, stops: null }, { ...van, mode: 'truckload' } as const]
  expect(direct.map(isDirect)).toEqual([true, true, true])
  expect(isDirect({ ...van, mode: 'ltl' })).toBe(false)
  expect(isDirect({ ...van, mode: 'truckload', stops: 'Memphis, TN' })).toBe(false)
  // A quote from before modes can have its mode as its equipment.
  expect(['IMC', 'LTL', 'FTL'].map((code) => isDirect({ equipment_code: code }))).toEqual([
    false,
    false,
    true,
  ])
})

test('a load that is not direct has a sentence why it is not priced', () => {
  expect(unpricedBecause(van)).toBeNull()
  const sentences = [
    { ...van, stops: 'Memphis, TN' },
    { ...van, mode: 'ltl' } as const,
    { equipment_code: 'IMC' },
  ]
  expect(sentences.map(unpricedBecause)).toEqual([
    expect.stringMatching(/^A truckload with stops is saved, not priced: /),
    expect.stringMatching(/^An LTL load is saved, not priced: /),
    expect.stringMatching(/^An intermodal load is saved, not priced: /),
  ])
})

test('stops are written as they are read', () => {
  const stops = ['Memphis, TN', 'Nashville, TN']
  expect(stopsOf(stopsText(stops))).toEqual(stops)
  expect([stopsText([]), stopsOf(null)]).toEqual([null, []])
})

test.each([
  [['a', 'b', 'c', 'd'], null],
  [['a', 'b', 'a'], null],
  [['a', 'b', 'b', 'd'], 1],
  [['a', 'b', 'a', 'd'], 1],
  [['a', 'd', 'd'], 0],
  [['a', 'b', 'c', 'b', 'd'], 2],
])('on the route %s, the stop that is there twice is %s; a round trip ends where it began', (route, again) =>
  expect(repeatedStop(route)).toBe(again),
)

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
