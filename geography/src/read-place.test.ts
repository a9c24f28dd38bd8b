import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readPlace } from '#engine/place.ts'
import { airports, nicknames } from '#geography/freight-names.ts'
import { industrialPlaces } from '#geography/industrial-places.ts'
import { locate } from '#geography/locate.ts'
import { nearestSpellings } from '#geography/nearest-spellings.ts'
import { placeName, readAnyPlace, readPlaceParts } from '#geography/read-place.ts'

const inputs = readFileSync(new URL('place-inputs.tsv', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line): [string, string] => [line.split('\t')[0] ?? '', line.split('\t')[1] ?? ''])

const nameOf = (read: ReturnType<typeof readAnyPlace>) => ('value' in read ? placeName(read.value) : '')

describe('readAnyPlace', () => {
  test.each(inputs)('%s is saved as "%s"', (written, stored) => {
    expect(nameOf(readAnyPlace(written))).toBe(stored)
  })

  test('reads a saved name as the same place', () => {
    for (const [, stored] of inputs.filter(([, name]) => name !== '')) {
      expect(nameOf(readAnyPlace(stored))).toBe(stored)
    }
  })

  test('reads City, ST with any city like readPlace', () => {
    for (const text of ['Dallas, TX', 'nowheresville , tx', 'Denver, Colorado']) {
      expect(readAnyPlace(text)).toEqual({ value: readPlace(text) })
    }
  })

  test('suggests places for a city without a state', () => {
    expect(nearestSpellings('Portland').slice(0, 2)).toEqual(['Portland, OR', 'Portland, ME'])
    expect(nearestSpellings('1 Main St, Dallas, TX 75201')).toEqual(['Dallas, TX'])
    expect(nearestSpellings('Dalas TX')[0]).toBe('Dallas, TX')
  })

  test('names the choices for a city of which only the country is given', () => {
    const wrongOf = (text: string) => expect(readAnyPlace(text))
    wrongOf('Guadalupe, Mexico').toEqual({
      wrong: 'a city with its state, such as "Guadalupe, NLE" or "Guadalupe, ZAC" or "Guadalupe, VER"',
    })
    wrongOf('Quebec, Canada').toEqual({ wrong: 'a city with its state, such as "Québec, QC"' })
    wrongOf('Nowhere at all, Canada').toEqual({ wrong: expect.stringContaining('such as "Dallas, TX"') })
    expect(readPlaceParts({ city: 'Toronto', state: 'Canada', zip: null })).toEqual(
      readAnyPlace('Toronto, ON'),
    )
  })

  test('knows industrial places where few people live, and keeps them apart from towns of their name', () => {
    const unknown = industrialPlaces.filter(([city, state]) => locate({ city, state })?.state !== state)
    expect(unknown).toEqual([])
    expect(locate({ city: 'Vernon', state: 'CA' })).toMatchObject({ market: 'Los Angeles, CA', zip3: '900' })
    expect(locate({ city: 'Woodbridge', state: 'ON' })?.market).toBe('Toronto, ON')
  })

  test('explains a conflict between a ZIP code and a state', () => {
    expect(readAnyPlace('Dallas, TX 30301')).toEqual({ wrong: expect.stringContaining('30301 is in GA') })
  })
})

describe('airport codes and nicknames', () => {
  const all = [...Object.entries(airports), ...Object.entries(nicknames)]

  test('are about 80 and 60, and each names a known place', () => {
    expect(Object.keys(airports).length).toBeGreaterThanOrEqual(80)
    expect(Object.keys(nicknames).length).toBeGreaterThanOrEqual(60)
    const unknown = all.filter(([, means]) => {
      const place = readPlace(means)
      return place === null || locate(place) === null
    })
    expect(unknown).toEqual([])
  })

  test('are read in any case, alone and with their state', () => {
    for (const [called, means] of all) {
      const place = readPlace(means)
      const known = place && locate(place)
      for (const text of [called, called.toLowerCase(), `${called}, ${known?.state}`]) {
        const read = readAnyPlace(text)
        // A nickname overrides an airport code with the same letters, and a city with that name in the state
        // overrides both.
        const isCity = text.includes(',') && 'value' in read && locate(read.value)?.key === read.value.key
        if (!isCity) expect([text, nameOf(read)]).toEqual([text, known && placeName(known, known)])
      }
    }
  })
})

describe('readPlaceParts', () => {
  const read = (city: string | null, state: string | null, zip: string | null = null) => {
    const place = readPlaceParts({ city, state, zip })
    return 'value' in place ? placeName(place.value) : place.part
  }

  test('reads a city, a state and a ZIP code from separate cells', () => {
    expect(read('Dallas', 'TX')).toBe('Dallas, TX')
    expect(read('dallas', 'Texas', '75201')).toBe('Dallas, TX')
    expect(read('Dallas, TX', 'TX', '75201')).toBe('Dallas, TX')
    expect(read(null, null, '75201')).toBe('Dallas, TX')
    expect(read(null, 'TX', '75201')).toBe('Dallas, TX')
    expect(read('Dallas', null, '75201')).toBe('Dallas, TX')
    expect(read('LA', 'CA')).toBe('Los Angeles, CA')
    expect(read(null, null, '7030')).toBe('Hoboken, NJ')
    expect(read('Toronto', 'ON', 'M5H 2N2')).toBe('Toronto, ON')
  })

  test('names the part that is wrong', () => {
    expect(read('Dallas', 'ZZ')).toBe('state')
    expect(read('Dallas, TX', 'OK')).toBe('state')
    expect(read('???', 'TX')).toBe('city')
    expect(read('Dallas', 'TX', '30301')).toBe('city')
    expect(read(null, 'GA', '75201')).toBe('zip')
    expect(read('Portland', null)).toBe('city')
  })
})
