import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { roadMiles } from '#engine/miles.ts'
import { foldCity, readPlace } from '#engine/place.ts'
import { gazetteer } from '#geography/gazetteer.ts'
import { type LocatedPlace, locate } from '#geography/locate.ts'

function at(text: string): LocatedPlace | null {
  const place = readPlace(text)
  return place && locate(place)
}

const withoutSpaces = (name: string) => foldCity(name).replaceAll(' ', '')

/** Alternative spellings in use, each with the city it means. */
const aliases = readFileSync(new URL('alias-spellings.tsv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t'))
  .map(([written = '', means = '']) => ({ written, means }))

describe('other spellings', () => {
  test('the table has at least 500 spellings', () => {
    expect(aliases.length).toBeGreaterThanOrEqual(500)
  })

  test('every city in the table is known', () => {
    expect(aliases.filter(({ means }) => at(means) === null)).toEqual([])
  })

  test('99 % are found', () => {
    const unknown = aliases.filter(({ written }) => at(written) === null)
    expect(unknown.length / aliases.length, JSON.stringify(unknown)).toBeLessThanOrEqual(0.01)
  })

  test('none is mistaken for another city', () => {
    const wrong = aliases.filter(({ written, means }) => at(written) && at(written)?.key !== at(means)?.key)
    expect(wrong).toEqual([])
  })
})

describe('names of the Census Bureau', () => {
  const { byName } = gazetteer()

  test('every known place is found by its own name', () => {
    expect(byName.filter((one) => locate(one)?.key !== one.key)).toEqual([])
  })

  test.each(['city', 'town', 'village', 'township', 'CDP'])(
    'a known place followed by "%s" is that place, a place of that whole name, or unknown',
    (description) => {
      // Every fifth place, because all of them take seconds.
      const wrong = byName.filter((one, at) => {
        const city = `${one.city} ${description}`
        // A "Township of Washington township" is not a name.
        const isNamed = at % 5 === 0 && !one.folded.startsWith(`${description} of `)
        const found = isNamed ? locate({ city, state: one.state }) : null
        const isWhole = found !== null && withoutSpaces(found.city) === withoutSpaces(city)
        // Greenwich Village is a part of New York City.
        return found !== null && found.key !== one.key && !isWhole && one.key !== 'greenwich|NY'
      })
      expect(wrong).toEqual([])
    },
  )

  test('99 % of the larger US cities are known with their description', () => {
    const larger = byName.filter((one) => one.country === 'US' && one.population >= 100_000)
    const unknown = larger.filter((one) => locate({ city: `${one.city} city`, state: one.state }) === null)
    expect(unknown.length / larger.length, JSON.stringify(unknown)).toBeLessThanOrEqual(0.01)
  })

  test('a consolidated city is known with its own county, and with no other', () => {
    expect(at('Nashville-Davidson, TN')?.city).toBe('Nashville')
    expect(at('Nashville-Shelby, TN')).toBeNull()
    expect(at('Macon-Bibb County, GA')?.city).toBe('Macon')
    expect(at('Macon-Fulton County, GA')).toBeNull()
  })
})

describe('never another city', () => {
  test.each([
    'Dalas, TX',
    'Chciago, IL',
    'Saintes, QC',
    'Kansas City, OK',
    'Carson City, CA',
    'Junction City village, IL',
    'Dallas County, TX',
    'Laredo MX',
    'Laredo TX, MX',
    'Denver, TX 75',
    'Lake Chicago, IL',
    'Nowhereville, TX',
    'Saint Louis, IL',
    'New York, NJ',
    'Los Angeles, TX',
    'Monterrey, TX',
    'Township, NJ',
    'Borough of, NJ',
    'X, TX',
    'constructor, TX',
    'toString hts, TX',
  ])('%s is unknown', (text) => {
    expect(at(text)).toBeNull()
  })

  test.each([
    ['Saint Louis, MO', 'East St. Louis, IL'],
    ['Kansas City, MO', 'Kansas City, KS'],
    ['Portland, ME', 'Portland, OR'],
    ['Springfield, MO', 'Springfield, IL'],
    ['Saint John, NB', "Saint John's, NL"],
    ['Clinton, MI', 'Clinton Township, MI'],
    ['Fort Worth, TX', 'Worth, IL'],
    ['North Bend, OR', 'Bend, OR'],
    ['Sault Ste Marie, MI', 'Sault Ste Marie, ON'],
    ['Pasadena, CA', 'South Pasadena, CA'],
  ])('%s and %s are two places', (one, other) => {
    expect(at(one)?.key).toBeDefined()
    expect(at(other)?.key).toBeDefined()
    expect(at(one)?.key).not.toBe(at(other)?.key)
  })

  test('a code shared by two Mexican states matches neither if both have the city', () => {
    expect(at('Juarez, CH')).toBeNull()
  })

  test('a code shared with the US or Canada means the US or Canadian state if it has the city', () => {
    expect(at('Victoria, BC')?.country).toBe('CA')
    expect(at('Denver, CO')?.country).toBe('US')
    expect(at('Torreon, CO')).toMatchObject({ country: 'MX', state: 'COA' })
  })
})

test('a located place has its position, postal area, market and region', () => {
  expect(at('St. Louis, MO')).toMatchObject({
    city: 'St. Louis',
    zip3: '631',
    region: 'US-PL',
    // Saved quotes contain market names, so these must not change.
    market: 'Saint Louis, MO',
  })
  expect(at('Montreal, QC')).toMatchObject({ country: 'CA', market: 'Montréal, QC', region: 'CA-CENTRAL' })
  expect(at('Monterrey, NL')).toMatchObject({ zip3: null, market: 'Monterrey, NLE', region: 'MX-NORTH' })
  expect(at('McAllen, TX')?.city).toBe('McAllen')
})

test.each([
  ['Ahwatukee Foothills, AZ', '850'],
  ['South Boston, MA', '021'],
  ['Lethbridge, AB', 'T1J'],
])('%s, which the postal data do not name, is in the nearest postal area', (text, area) => {
  expect(at(text)?.zip3).toBe(area)
})

test('neighboring places share a market, and places a day apart do not', () => {
  expect(at('Fort Worth, TX')?.market).toBe(at('Dallas, TX')?.market)
  expect(at('Ontario, CA')?.market).toBe(at('Los Angeles, CA')?.market)
  expect(at('Joliet, IL')?.market).toBe(at('Chicago, IL')?.market)
  expect(at('Mississauga, ON')?.market).toBe(at('Toronto, ON')?.market)
  expect(at('Houston, TX')?.market).not.toBe(at('Dallas, TX')?.market)
})

test('a market does not cross a border', () => {
  expect(at('Windsor, ON')?.market).not.toBe(at('Detroit, MI')?.market)
  expect(at('Ciudad Juarez, CHH')?.market).not.toBe(at('El Paso, TX')?.market)
})

test('road miles between located cities are close to driven miles', () => {
  const miles = (from: string, to: string) => {
    const [a, b] = [at(from), at(to)]
    return a && b ? roadMiles(a, b) : Number.NaN
  }
  expect(miles('Dallas, TX', 'Atlanta, GA') / 782).toBeCloseTo(1, 0)
  expect(miles('Chicago, IL', 'Los Angeles, CA') / 2015).toBeCloseTo(1, 0)
  expect(miles('Dallas, TX', 'DALLAS, Texas')).toBe(15)
})
