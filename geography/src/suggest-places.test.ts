import { describe, expect, test } from 'vitest'
import { editDistance, prefixEditDistance } from '#geography/edit-distance.ts'
import { nearestSpellings } from '#geography/nearest-spellings.ts'
import { suggestPlaces } from '#geography/suggest-places.ts'

const offered = (text: string, limit = 5) => suggestPlaces(text, limit).map(({ place }) => place)

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

  test('an unfinished word may still become another', () => {
    expect(offered('st')).toContain('Stockton, CA')
    expect(offered('st')).toContain('St. Louis, MO')
  })

  test('a typing error still finds the city', () => {
    expect(offered('pheonix')[0]).toBe('Phoenix, AZ')
    expect(offered('los angelse')[0]).toBe('Los Angeles, CA')
  })

  test('places in use come first among those that begin so, the most used before the others', () => {
    const uses = new Map([
      ['dalhart|TX', 1],
      ['dalton|GA', 3],
      ['chicago|IL', 9],
      ['no such place|TX', 99],
    ])
    const names = (text: string) => suggestPlaces(text, 4, uses).map(({ place }) => place)
    expect(names('dal').slice(0, 3)).toEqual(['Dalton, GA', 'Dalhart, TX', 'Dallas, TX'])
    expect(names('dal, t')[0]).toBe('Dalhart, TX')
    expect(names('')).toEqual(['Chicago, IL', 'Dalton, GA', 'Dalhart, TX'])
  })

  test('at most as many as asked for, none twice', () => {
    expect(offered('san', 7)).toHaveLength(7)
    expect(new Set(offered('springfiel', 30)).size).toBe(offered('springfiel', 30).length)
  })

  test.each(['', '  ', ',', ', TX', '???', 'a'.repeat(5000)])('%j offers nothing', (typed) => {
    expect(offered(typed)).toEqual([])
  })
})

describe('for a place nobody knows', () => {
  test.each([
    ['Dalas, TX', 'Dallas, TX'],
    ['Chciago, IL', 'Chicago, IL'],
    ['Los Angles, CA', 'Los Angeles, CA'],
    ['Torono, ON', 'Toronto, ON'],
    ['Dallas TX', 'Dallas, TX'],
    ['Dallas', 'Dallas, TX'],
    ['Dallas, OK', 'Dallas, TX'],
  ])('%s is answered with %s first', (text, nearest) => {
    expect(nearestSpellings(text)[0]).toBe(nearest)
  })

  test('both cities are named where a state code could mean either', () => {
    expect(nearestSpellings('Juarez, CH').slice(0, 2).sort()).toEqual(['Juárez, CHH', 'Juárez, CHP'])
  })

  test('nothing near is an empty answer', () => {
    expect(nearestSpellings('zzzzqq, TX')).toEqual([])
    expect(nearestSpellings('')).toEqual([])
    expect(nearestSpellings('x'.repeat(100_000))).toEqual([])
  })
})

test('editDistance counts a swap of neighbours once, and gives up above the limit', () => {
  expect(editDistance('dalas', 'dallas', 2)).toBe(1)
  expect(editDistance('dlalas', 'dallas', 2)).toBe(1)
  expect(editDistance('boston', 'dallas', 2)).toBe(3)
  expect(prefixEditDistance('dalla', 'dallas', 2)).toBe(0)
})
