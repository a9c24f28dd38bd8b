import { describe, expect, test } from 'vitest'
import { editDistance, prefixEditDistance } from '#geography/edit-distance.ts'
import { nearestSpellings } from '#geography/nearest-spellings.ts'
import { suggestPlaces } from '#geography/suggest-places.ts'

const offered = (text: string, limit = 5) => suggestPlaces(text, limit).places.map(({ place }) => place)

describe('while typing', () => {
  test.each([
    ['dal', 'Dallas, TX'],
    ['st lou', 'St. Louis, MO'],
    ['fort w', 'Fort Worth, TX'],
    ['ft wo', 'Fort Worth, TX'],
    ['dallas, t', 'Dallas, TX'],
    ['chicago, il', 'Chicago, IL'],
    ['MONTREAL', 'Montréal, QC'],
    ['mc allen', 'McAllen, TX'],
  ])('%s offers %s first', (typed, first) => {
    expect(offered(typed)[0]).toBe(first)
  })

  test('an unfinished word matches longer names', () => {
    expect(offered('st')).toContain('Stockton, CA')
    expect(offered('st')).toContain('St. Louis, MO')
  })

  test('a typing error still finds the city', () => {
    expect(offered('pheonix')[0]).toBe('Phoenix, AZ')
    expect(offered('los angelse')[0]).toBe('Los Angeles, CA')
  })

  test('among places with the prefix, the most used come first', () => {
    const uses = new Map([
      ['dalhart|TX', 1],
      ['dalton|GA', 3],
      ['chicago|IL', 9],
      ['no such place|TX', 99],
    ])
    const names = (text: string) => suggestPlaces(text, 4, uses).places.map(({ place }) => place)
    expect(names('dal').slice(0, 3)).toEqual(['Dalton, GA', 'Dalhart, TX', 'Dallas, TX'])
    expect(names('dal, t')[0]).toBe('Dalhart, TX')
    expect(names('')).toEqual(['Chicago, IL', 'Dalton, GA', 'Dalhart, TX'])
  })

  test('returns at most the requested number, without duplicates', () => {
    expect(offered('san', 7)).toHaveLength(7)
    expect(new Set(offered('springfiel', 30)).size).toBe(offered('springfiel', 30).length)
  })

  test.each(['', '  ', ',', ', TX', '???', 'a'.repeat(5000)])('%j offers nothing', (typed) => {
    expect(offered(typed)).toEqual([])
  })
})

/** The largest freight cities, each with its shortest unambiguous prefix. */
const freightCities = [
  ['Atlanta, GA', 'atla'],
  ['Dallas, TX', 'dalla'],
  ['Chicago, IL', 'chicag'],
  ['Houston, TX', 'houst'],
  ['Los Angeles, CA', 'los an'],
  ['Memphis, TN', 'memp'],
  ['Indianapolis, IN', 'indianap'],
  ['Columbus, OH', 'columb'],
  ['Louisville, KY', 'louisv'],
  ['Nashville, TN', 'nashv'],
  ['Charlotte, NC', 'charlot'],
  ['Jacksonville, FL', 'jacksonv'],
  ['Miami, FL', 'miam'],
  ['Tampa, FL', 'tamp'],
  ['Orlando, FL', 'orland'],
  ['Savannah, GA', 'savann'],
  ['Charleston, SC', 'charlesto'],
  ['Kansas City, MO', 'kansas c'],
  ['St. Louis, MO', 'st lou'],
  ['Detroit, MI', 'detro'],
  ['Cleveland, OH', 'clevela'],
  ['Cincinnati, OH', 'cincin'],
  ['Pittsburgh, PA', 'pittsb'],
  ['Philadelphia, PA', 'philad'],
  ['New York, NY', 'new yo'],
  ['Newark, NJ', 'newar'],
  ['Elizabeth, NJ', 'elizabet'],
  ['Baltimore, MD', 'baltim'],
  ['Boston, MA', 'bosto'],
  ['Harrisburg, PA', 'harrisb'],
  ['Minneapolis, MN', 'minneap'],
  ['Milwaukee, WI', 'milwa'],
  ['Omaha, NE', 'omah'],
  ['Des Moines, IA', 'des mo'],
  ['Denver, CO', 'denv'],
  ['Salt Lake City, UT', 'salt la'],
  ['Phoenix, AZ', 'phoen'],
  ['Las Vegas, NV', 'las ve'],
  ['El Paso, TX', 'el pa'],
  ['Laredo, TX', 'lared'],
  ['San Antonio, TX', 'san anto'],
  ['Fort Worth, TX', 'fort wo'],
  ['Austin, TX', 'austi'],
  ['McAllen, TX', 'mcall'],
  ['Oklahoma City, OK', 'oklahoma c'],
  ['Tulsa, OK', 'tuls'],
  ['Little Rock, AR', 'little ro'],
  ['New Orleans, LA', 'new or'],
  ['Birmingham, AL', 'birmingh'],
  ['Mobile, AL', 'mobi'],
  ['Seattle, WA', 'seatt'],
  ['Portland, OR', 'portla'],
  ['Stockton, CA', 'stockt'],
  ['Fresno, CA', 'fresn'],
  ['Ontario, CA', 'ontario, c'],
  ['Toronto, ON', 'toron'],
  ['Monterrey, NLE', 'monterr'],
] as const

describe('each of the largest freight cities comes first', () => {
  test.each(freightCities)('%s', (place, beginning) => {
    const [city = '', state = ''] = place.toLowerCase().split(', ')
    const first = [`${city}, ${state}`, `${city} ${state}`, `${city},${state}`, place, beginning]
    expect(first.map((text) => [text, offered(text)[0]])).toEqual(first.map((text) => [text, place]))
    // A city without a state means the largest city with that name.
    expect([city, offered(city)[0]]).toEqual([city, place])
  })

  test.each([
    ['Columbus GA', 'Columbus, GA'],
    ['kansas city ks', 'Kansas City, KS'],
    ['kansas city kansas', 'Kansas City, KS'],
    ['portland me', 'Portland, ME'],
    ['charleston west virginia', 'Charleston, WV'],
    ['santa fe new mexico', 'Santa Fe, NM'],
    ['dallas texas', 'Dallas, TX'],
    ['dallas, texas', 'Dallas, TX'],
    ['washington dc', 'Washington, DC'],
    ['helena mt', 'Helena, MT'],
    ['st paul mn', 'Saint Paul, MN'],
    ['monterrey nl', 'Monterrey, NLE'],
    ['chicago i', 'Chicago, IL'],
    ['fort la', 'Fort Lauderdale, FL'],
    ['west m', 'West Milford, NJ'],
  ])('%s is %s, whether its last word is a state or part of the name', (text, place) => {
    expect(offered(text)[0]).toBe(place)
  })

  test('the typed city comes before longer names that are quoted more', () => {
    const uses = new Map([
      ['dallastown|PA', 50],
      ['dallas|GA', 2],
      ['chicago heights|IL', 50],
    ])
    const first = (text: string) => suggestPlaces(text, 1, uses).places[0]?.place
    expect(first('chicago')).toBe('Chicago, IL')
    expect(first('dallas tx')).toBe('Dallas, TX')
    expect(first('dallas')).toBe('Dallas, GA')
  })

  test('a village whose name is a prefix of a large city comes first only if it is quoted', () => {
    expect(offered('orland')[0]).toBe('Orlando, FL')
    expect(offered('orland')).toContain('Orland, CA')
    expect(offered('orland ca')[0]).toBe('Orland, CA')
    expect(suggestPlaces('orland', 1, new Map([['orland|CA', 1]])).places[0]?.place).toBe('Orland, CA')
  })
})

describe('a text with a city and a state that are not a known place', () => {
  test.each([
    ['Smallville, TX', 'Smallville, TX'],
    [' smallville ,  texas ', 'smallville, TX'],
    ['Smallville tx', 'Smallville, TX'],
    ['Dalas, TX', 'Dalas, TX'],
    ['Dallas, OK', 'Dallas, OK'],
    // "Dall" is a prefix of a known name, but the comma marks it as complete.
    ['Dall, TX', 'Dall, TX'],
  ])('%j is accepted as %s', (text, place) => {
    expect(suggestPlaces(text, 5).asTyped).toBe(place)
  })

  test.each([
    '',
    'Smallville',
    'Dallas',
    'dallas tx',
    'Dallas, TX',
    'St. Louis, MO',
    'nyc, ny',
    'Dallas, T',
    'Smallville, XX',
    // These are prefixes of known names, although their last letters are also a state.
    'fort la',
    'el pa',
    'salt la',
    'des mo',
  ])('%j is not such a text', (text) => {
    expect(suggestPlaces(text, 5).asTyped).toBe(null)
  })
})

describe('for an unknown place', () => {
  test.each([
    ['Dalas, TX', 'Dallas, TX'],
    ['Chciago, IL', 'Chicago, IL'],
    ['Los Angles, CA', 'Los Angeles, CA'],
    ['Torono, ON', 'Toronto, ON'],
    ['Dallas TX', 'Dallas, TX'],
    ['Dallas', 'Dallas, TX'],
    ['Dallas, OK', 'Dallas, TX'],
    ['Chigaco, IL', 'Chicago, IL'],
  ])('%s suggests %s first', (text, nearest) => {
    expect(nearestSpellings(text)[0]).toBe(nearest)
  })

  test('both cities are suggested if a state code could mean either', () => {
    expect(nearestSpellings('Juarez, CH').slice(0, 2).sort()).toEqual(['Juárez, CHH', 'Juárez, CHP'])
  })

  test('the result is empty without a similar name', () => {
    expect(nearestSpellings('zzzzqq, TX')).toEqual([])
    expect(nearestSpellings('')).toEqual([])
    expect(nearestSpellings('x'.repeat(100_000))).toEqual([])
  })
})

test('editDistance counts a swap of adjacent letters once, and stops above the limit', () => {
  expect(editDistance('dalas', 'dallas', 2)).toBe(1)
  expect(editDistance('dlalas', 'dallas', 2)).toBe(1)
  expect(editDistance('boston', 'dallas', 2)).toBe(3)
  expect(prefixEditDistance('dalla', 'dallas', 2)).toBe(0)
})
