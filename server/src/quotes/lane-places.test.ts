import { describe, expect, test } from 'vitest'
import type { FieldError } from '#contract/errors.ts'
import { readLanePlaces, readPlaceAt } from './lane-places.ts'

function errorsOf(lane: { origin: string; destination: string }): FieldError[] {
  const errors: FieldError[] = []
  readLanePlaces(lane, (field) => ({ pointer: `/lanes/0/${field}` }), errors, false)
  return errors
}

describe('a place that may be a typing error', () => {
  test('is rejected with suggested spellings, in the text and as a list', () => {
    const [error] = errorsOf({ origin: 'Dalas, TX', destination: 'Atlanta, GA' })
    expect(error).toMatchObject({ pointer: '/lanes/0/origin', code: 'unknown-place' })
    expect(error?.suggestions?.[0]).toBe('Dallas, TX')
    for (const suggestion of error?.suggestions ?? []) expect(error?.detail).toContain(`"${suggestion}"`)
  })

  test('each suggested spelling is accepted', () => {
    const [error] = errorsOf({ origin: 'Chciago, IL', destination: 'Atlanta, GA' })
    const offered = error?.suggestions ?? []
    expect(offered.length).toBeGreaterThan(0)
    for (const origin of offered) expect(errorsOf({ origin, destination: 'Atlanta, GA' })).toEqual([])
  })
})

describe('a text that is not a place', () => {
  test('gets suggestions if it resembles a city, and none otherwise', () => {
    const errors: FieldError[] = []
    expect(readPlaceAt('Atlanta, ZZ', { parameter: 'origin' }, errors)).toBeNull()
    expect(readPlaceAt('zzzzqq, ZZ', { parameter: 'destination' }, errors)).toBeNull()
    expect(errors.map(({ code }) => code)).toEqual(['invalid', 'invalid'])
    expect(errors[0]?.suggestions?.[0]).toBe('Atlanta, GA')
    expect(errors[1]).not.toHaveProperty('suggestions')
  })

  test('a request with many wrong places gets suggestions for the first few only', () => {
    const errors: FieldError[] = []
    for (let index = 0; index < 200; index++) {
      readPlaceAt('Atlanta, ZZ', { pointer: `/lanes/${index}/origin` }, errors)
    }
    expect(errors.filter(({ suggestions }) => suggestions !== undefined).length).toBe(4)
  })
})
