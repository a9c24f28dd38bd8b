import { describe, expect, it } from 'vitest'
import { equipmentCode, equipmentFault, knownEquipment } from './equipment.ts'

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
    ['PO', ['PO', 'Power Only', 'power only', 'POWER_ONLY', 'POWERONLY']],
    ['HS', ['HS', 'HOTSHOT', 'hot shot']],
    ['CON', ['CON', 'Conestoga']],
  ]
  it.each(folded)('maps every spelling of %s to one code', (code, spellings) => {
    for (const spelling of spellings) expect([spelling, equipmentCode(spelling)]).toEqual([spelling, code])
  })

  it('accepts an unknown code, in upper case', () => {
    expect(equipmentCode('vr')).toBe('VR')
    expect(equipmentCode('lowboy_3-axle')).toBe('LOWBOY_3-AXLE')
    expect(equipmentCode('X53')).toBe('X53')
    expect(equipmentCode('__proto__')).toBe('__PROTO__')
    expect(equipmentCode('constructor')).toBe('CONSTRUCTOR')
    expect(equipmentCode('A'.repeat(20))).toBe('A'.repeat(20))
  })

  it.each([
    '',
    '   ',
    'A'.repeat(21),
    'curtain side',
    'V,R',
    '2150',
    '53',
    "53'",
    '48 FT',
    '$2,150',
    '2150.00',
    '-',
    '_',
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

  it('reads the plurals that exports of rates write', () => {
    const plurals = ['Vans', 'Dry Vans', 'REEFERS', 'flatbeds', 'Step Decks']
    expect(plurals.map(equipmentCode)).toEqual(['V', 'V', 'R', 'F', 'SD'])
    expect(equipmentCode('DVS')).toBe('DVS')
  })

  it('ignores the trailer length', () => {
    for (const text of [
      "53' van",
      '53 dry van',
      '53ft Dry Van',
      "Van (53')",
      '53-foot van',
      'VAN 53',
      'V53',
    ]) {
      expect([text, equipmentCode(text)]).toEqual([text, 'V'])
    }
    for (const text of ['reefer 53', "53' Reefer", 'R 53'])
      expect([text, equipmentCode(text)]).toEqual([text, 'R'])
    for (const text of ["48' flatbed", 'flatbed_48', 'FB 48'])
      expect([text, equipmentCode(text)]).toEqual([text, 'F'])
    expect(equipmentCode('step deck 53')).toBe('SD')
  })

  it('distinguishes known spellings from codes that a brokerage defines', () => {
    expect(knownEquipment('rfr')).toBe('R')
    expect(knownEquipment('VR')).toBeNull()
  })

  it('reports that a number looks like a rate', () => {
    expect(equipmentFault('2150')).toMatch(/; 2150 looks like a rate$/)
    expect(equipmentFault('$2,150.00')).toMatch(/; \$2,150.00 looks like a rate$/)
    expect(equipmentFault('53')).toMatch(/; 53 is a number$/)
    expect(equipmentFault('curtain side')).not.toMatch(/rate/)
  })

  it('does not repeat a number that is longer than a code', () => {
    expect(equipmentFault('1'.repeat(20))).toMatch(/; 1{20} looks like a rate$/)
    expect(equipmentFault('1'.repeat(21))).toMatch(/such as V, R or F$/)
  })

  const modes = ['TL', 'ftl', 'Truckload', 'truck-load', 'Full Truckload', 'LTL/Partial', 'Trailer']
  it.each(modes)('refuses the mode %s by name', (text) => {
    expect(equipmentCode(text)).toBeNull()
    expect(equipmentFault(text)).toMatch(new RegExp(`such as V, R or F; ${text} is a mode, not equipment$`))
  })

  it.each([
    ['LTL', 'ltl'],
    ['less-than-truckload', 'ltl'],
    ['Partial', 'partial'],
    ['DRAYAGE', 'drayage'],
    ['IMC', 'intermodal'],
    ['Intermodal', 'intermodal'],
  ])('refuses the mode %s, and says where it belongs', (text, mode) => {
    expect(equipmentCode(text)).toBeNull()
    expect(equipmentFault(text)).toMatch(
      `; ${text} is a mode, not equipment: mode says ${mode}, and equipment what it moves in`,
    )
  })

  const none = [
    'TBD',
    'NA',
    'N/A',
    'None',
    'null',
    'undefined',
    'Any',
    'All',
    'Unknown',
    'x',
    '-',
    '0',
    '#N/A',
  ]
  it.each(none)('refuses %s by name, because it names no equipment', (text) => {
    expect(equipmentCode(text)).toBeNull()
    expect(equipmentFault(text)).toMatch(new RegExp(`such as V, R or F; ${text} names no equipment$`))
  })

  it('still accepts codes that contain such a word', () => {
    expect(
      ['LTLX', 'ALL-STEEL', 'XL', 'TLR', 'VR', 'BOX'].filter((text) => equipmentCode(text) === null),
    ).toEqual([])
  })

  it('is idempotent', () => {
    for (const [code] of folded) expect(equipmentCode(code)).toBe(code)
  })
})
