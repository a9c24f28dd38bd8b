import { expect, it } from 'vitest'
import { regionOf, STATES_OF_REGION } from './regions.ts'
import { STATE_CODES } from './states.ts'

const NOWHERE = ['AK', 'HI', 'PR', 'CH', 'CI', 'CL', 'CM', 'CS', 'MC', 'MX', 'SL', 'SP', 'TA']

it('puts every state in exactly one region, except states without truck freight and ambiguous codes', () => {
  const placed = Object.values(STATES_OF_REGION).flatMap((states) => states.split(' '))
  expect(new Set(placed).size).toBe(placed.length)
  expect([...placed, ...NOWHERE].sort()).toEqual([...STATE_CODES].sort())
})

it.each([
  ['NY', 'US-NE'],
  ['MI', 'US-MW'],
  ['MO', 'US-PL'],
  ['DC', 'US-SE'],
  ['TX', 'US-SC'],
  ['CO', 'US-MT'],
  ['CA', 'US-PC'],
  ['BC', 'CA-WEST'],
  ['QC', 'CA-CENTRAL'],
  ['NLE', 'MX-NORTH'],
  ['HI', null],
  ['ZZ', null],
  ['constructor', null],
])('%s is in %s', (state, region) => {
  expect(regionOf(state)).toBe(region)
})
