import { describe, expect, it } from 'vitest'
import { STATE_CODES, stateCode } from './states.ts'

describe('stateCode', () => {
  it('knows the 50 states, DC, Puerto Rico, 13 provinces and 32 Mexican states, and ten codes saved as written', () => {
    expect(STATE_CODES.size).toBe(52 + 13 + 32 + 10)
  })

  it('maps every code to itself', () => {
    for (const code of STATE_CODES) expect(stateCode(code.toLowerCase())).toBe(code)
  })

  it.each([
    ['newyork', 'NY'],
    ['districtofcolumbia', 'DC'],
    ['nf', 'NL'],
    ['pq', 'QC'],
    ['newfoundlandandlabrador', 'NL'],
    ['tamps', 'TAM'],
    ['nuevoleon', 'NLE'],
    ['ciudaddemexico', 'CMX'],
  ])('reads %s as %s', (text, code) => {
    expect(stateCode(text)).toBe(code)
  })

  it('never derives a country from two letters', () => {
    for (const clash of ['co', 'mi', 'mo', 'bc', 'nl']) expect(stateCode(clash)).toBe(clash.toUpperCase())
    for (const unsure of ['ch', 'cl', 'ta']) expect(stateCode(unsure)).toBe(unsure.toUpperCase())
  })

  it.each([
    '',
    'xx',
    'zz',
    'na',
    'usa',
    'us',
    'mexico',
    'mich',
    'tex',
    'tx75201',
    'constructor',
    '__proto__',
  ])('does not know %j', (text) => {
    expect(stateCode(text)).toBeNull()
  })
})
