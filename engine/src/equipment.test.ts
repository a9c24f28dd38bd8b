import { describe, expect, it } from 'vitest'
import { equipmentCode } from './equipment.ts'

describe('equipmentCode', () => {
  const folded: [string, string[]][] = [
    [
      'V',
      [
        'V',
        'v',
        'VAN',
        'van',
        'Dry Van',
        'DRYVAN',
        'dry-van',
        'DRV',
        'CV',
        'DV',
        'van_dry_53',
        ' van ',
        'DRY  VAN',
      ],
    ],
    ['R', ['R', 'r', 'REEFER', 'Reefer', 'RFR', 'RT', 'reefer_53', 'REFRIGERATED', 'Refrigerated Van']],
    ['F', ['F', 'f', 'FLATBED', 'Flat Bed', 'FBE', 'FT', 'FB', 'flatbed_48', 'flat-bed']],
    ['SD', ['SD', 'Step Deck', 'stepdeck', 'STEP-DECK']],
    ['DD', ['DD', 'double drop']],
    ['RGN', ['rgn', 'Removable Gooseneck']],
    ['PO', ['PO', 'power only', 'POWER_ONLY']],
    ['HS', ['HS', 'HOTSHOT', 'hot shot']],
    ['CON', ['CON', 'Conestoga']],
    ['IMC', ['IMC', 'intermodal']],
  ]
  it.each(folded)('keeps every spelling of %s under one code', (code, spellings) => {
    for (const spelling of spellings) expect([spelling, equipmentCode(spelling)]).toEqual([spelling, code])
  })

  it('lets a code it does not know stand for itself, in upper case', () => {
    expect(equipmentCode('vr')).toBe('VR')
    expect(equipmentCode('lowboy_3-axle')).toBe('LOWBOY_3-AXLE')
    expect(equipmentCode('53')).toBe('53')
    expect(equipmentCode('__proto__')).toBe('__PROTO__')
    expect(equipmentCode('constructor')).toBe('CONSTRUCTOR')
    expect(equipmentCode('A'.repeat(20))).toBe('A'.repeat(20))
  })

  it.each([
    '',
    '   ',
    'A'.repeat(21),
    'curtain side',
    "53' van",
    'V,R',
    'V/R',
    'v\nan',
    'dry\tvan',
    'ﬂatbed',
    'ſd',
    'væn',
    '１',
    'V\u0000',
    'x'.repeat(100_000),
    ' '.repeat(100_000),
    `V${' '.repeat(60)}AN`,
  ])('refuses %j', (text) => {
    expect(equipmentCode(text)).toBeNull()
  })

  it('gives a code that folds to itself', () => {
    for (const [code] of folded) expect(equipmentCode(code)).toBe(code)
  })
})
