import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldCity, readPlace } from './place.ts'

const keyOf = (text: string) => readPlace(text)?.key ?? null

describe('readPlace', () => {
  it('returns the normalized key, the city as entered and the state code', () => {
    expect(readPlace('  St.   Louis ,  mo ')).toEqual({
      key: 'saint louis|MO',
      city: 'St. Louis',
      state: 'MO',
    })
  })

  const sameCity: [string, string[]][] = [
    [
      'saint louis|MO',
      ['Saint Louis, MO', 'st louis,mo', 'ST. LOUIS, Missouri', 'St.Louis, Mo.', 'SAINT-LOUIS,MO'],
    ],
    ['east saint louis|IL', ['East St. Louis, IL', 'E St Louis, il', 'E. Saint Louis, Illinois']],
    ['sainte genevieve|MO', ['Ste. Genevieve, MO', 'Sainte Geneviève, MO', 'STE GENEVIEVE, MO']],
    ['fort worth|TX', ['Ft. Worth, TX', 'Fort Worth, Texas', 'ft worth,tx', 'FT.WORTH, TX']],
    ['mount vernon|NY', ['Mt. Vernon, NY', 'Mount Vernon, New York', 'mt vernon, N.Y.', 'Mt Vernon, N Y']],
    ['north las vegas|NV', ['N Las Vegas, NV', 'North Las Vegas, Nevada', 'N. LAS VEGAS, NV']],
    ['south bend|IN', ['S. Bend, IN', 'South Bend, Indiana']],
    ['west chicago|IL', ['W Chicago, IL', 'West Chicago, IL']],
    ['mcallen|TX', ['McAllen, TX', 'Mc Allen, TX', 'MCALLEN, TX', 'mc  allen, tx']],
    ['ofallon|IL', ["O'Fallon, IL", 'O Fallon, IL', 'OFallon, IL', 'O’Fallon, IL']],
    ['lees summit|MO', ["Lee's Summit, MO", 'Lees Summit, MO', 'LEE´S SUMMIT, MO']],
    ['coeur dalene|ID', ["Coeur d'Alene, ID", 'Coeur D Alene, Idaho', 'Cœur d’Alene, ID']],
    ['industry|CA', ['City of Industry, CA', 'Industry, California', 'CITY OF INDUSTRY, CA']],
    ['winston salem|NC', ['Winston-Salem, NC', 'Winston Salem, N Carolina', 'Winston–Salem, N.C.']],
    ['washington|DC', ['Washington, DC', 'Washington, D.C.', 'washington, District of Columbia']],
    ['montreal|QC', ['Montréal, QC', 'Montreal, Québec', 'MONTREAL, PQ', 'Montre\u0301al, qc']],
    ['saint johns|NL', ["St. John's, NL", 'St Johns, NF', "Saint John's, Newfoundland and Labrador"]],
    ['monterrey|NLE', ['Monterrey, Nuevo León', 'Monterrey, NLE', 'MONTERREY, nuevo leon']],
    ['nuevo laredo|TAM', ['Nuevo Laredo, Tamaulipas', 'Nuevo Laredo, TM', 'Nuevo Laredo, Tamps.']],
    ['mexico city|CMX', ['Mexico City, CDMX', 'Mexico City, Ciudad de México', 'Mexico City, DF']],
    ['san luis potosi|SLP', ['San Luis Potosí, S.L.P.', 'San Luis Potosi, San Luis Potosí']],
    [
      'dallas|TX',
      ['Dallas, TX', 'DALLAS,TX', 'dallas\t,\ttx', 'Dallas\u00a0,\u00a0TX', 'Dallas，TX', 'Dallas, TX\n'],
    ],
    ['100 mile house|BC', ['100 Mile House, BC', '100 mile house, British Columbia']],
    ['bismarck|ND', ['Bismarck, ND', 'Bismarck, N. Dakota', 'Bismarck, North Dakota']],
    ['san juan|PR', ['San Juan, PR', 'San Juan, Puerto Rico']],
  ]
  it.each(sameCity)('reads every spelling of %s as the same place', (key, spellings) => {
    for (const spelling of spellings) expect([spelling, keyOf(spelling)]).toEqual([spelling, key])
  })

  it('expands abbreviations in whole words only', () => {
    expect(keyOf('Saintes, QC')).toBe('saintes|QC')
    expect(keyOf('Stockton, CA')).toBe('stockton|CA')
    expect(keyOf('Mtown, PA')).toBe('mtown|PA')
    expect(keyOf('Ftown, PA')).toBe('ftown|PA')
    expect(keyOf('Easton, PA')).toBe('easton|PA')
    expect(keyOf('Citronelle, AL')).toBe('citronelle|AL')
    expect(keyOf('Oklahoma City, OK')).toBe('oklahoma city|OK')
  })

  it('gives different places different keys', () => {
    const places = [
      'Saint Louis, MO',
      'East St. Louis, IL',
      'Saint Louis, MI',
      'Sault Sainte Marie, MI',
      'Sault Sainte Marie, ON',
      'Saint Genevieve, MO',
      'Sainte Genevieve, MO',
      'Kansas City, MO',
      'Kansas City, KS',
      'Kansas, OK',
      'Fort Wayne, IN',
      'Wayne, IN',
      'North Bend, OR',
      'Bend, OR',
      'Torreon, CO',
      'Torreon, COA',
      'Monterrey, NL',
      'Monterrey, NLE',
    ]
    expect(new Set(places.map(keyOf)).size).toBe(places.length)
    expect(places.map(keyOf)).not.toContain(null)
  })

  it('does not change two-letter state codes that two countries share', () => {
    for (const code of ['CO', 'MI', 'MO', 'BC', 'NL', 'CH', 'CL']) {
      expect(readPlace(`Allende, ${code}`)?.state).toBe(code)
    }
  })

  it('accepts an unknown city', () => {
    expect(keyOf('Nowheresville, TX')).toBe('nowheresville|TX')
    expect(keyOf('東京, CA')).toBe('東京|CA')
  })

  it.each([
    '',
    ' ',
    ',',
    'Dallas',
    'Dallas TX',
    'Dallas,',
    ', TX',
    ' - , TX',
    'Dallas, XX',
    'Dallas, ZZZ',
    'Dallas, NA',
    'Dallas, TX, USA',
    'Dallas, TX 75201',
    'Dallas,, TX',
    'Dallas; TX',
    '75201, TX',
    'Mexico City, Mexico',
    'Dal\u0000las, TX',
    'Dal\u202elas, TX',
    'Dal\ud800las, TX',
    'Dal\u200blas, TX',
    `${'a'.repeat(97)}, TX`,
    'a'.repeat(1_000_000),
    '..., ...',
    'Dallas, constructor',
    'Dallas, __proto__',
  ])('refuses %j', (text) => {
    expect(readPlace(text)).toBeNull()
  })

  it('accepts up to 100 code points, not UTF-16 units', () => {
    expect(readPlace(`${'a'.repeat(96)}, TX`)).not.toBeNull()
    expect(readPlace(`${'𠮷'.repeat(96)}, TX`)).not.toBeNull()
    expect(readPlace(`${'𠮷'.repeat(97)}, TX`)).toBeNull()
  })

  it('ignores case and surrounding white space for any text, and never throws', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc
        .tuple(fc.string({ maxLength: 30 }), fc.constantFrom('TX', 'ny', 'Quebec'))
        .map((parts) => parts.join(', ')),
    )
    fc.assert(
      fc.property(text, (value) => {
        const place = readPlace(value)
        if (place === null) return
        expect(keyOf(`  ${value} `)).toBe(place.key)
        expect(keyOf(`${place.city}, ${place.state}`)).toBe(place.key)
        expect(place.key.split('|')).toHaveLength(2)
      }),
      { numRuns: 200 },
    )
  })
})

describe('foldCity', () => {
  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (text) => {
        const once = foldCity(text)
        expect(foldCity(once)).toBe(once)
      }),
    )
    for (const city of ['St. Louis', 'Mc Allen', "Coeur d'Alene", 'City of N. Saint Paul', "O'Fallon"]) {
      expect(foldCity(foldCity(city))).toBe(foldCity(city))
    }
  })

  it('matches the examples in its comment', () => {
    expect(foldCity("Coeur d'Alene")).toBe('coeur dalene')
    expect(foldCity('City of N. Saint Paul')).toBe('north saint paul')
  })
})
