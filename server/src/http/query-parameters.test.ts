import { array, assert, constantFrom, oneof, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { Problem } from '#contract/errors.ts'
import { markup } from '#contract/markup.ts'
import { queryReader, sentParameters } from './query-parameters.ts'

const piece = oneof(
  constantFrom(
    '&',
    '=',
    '+',
    '%20',
    '%2C',
    '%26',
    '%3D',
    '%2B',
    '%C3%A9',
    '?',
    '#',
    'é',
    '%',
    '%E0%A4',
    '%00',
    ' ',
    '\uD800',
  ),
  string({ maxLength: 4 }),
)
const query = array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))

/** The expected result, from the platform: an invalid percent code is rejected, the rest is parsed as a form. */
function reference(text: string): [string, string][] | 'malformed-request' {
  try {
    decodeURIComponent(text.toWellFormed())
  } catch {
    return 'malformed-request'
  }
  return [...new URLSearchParams(text)]
}

test('a query is parsed like URLSearchParams, and rejected when a percent code is invalid', () => {
  assert(
    property(query, (text) => {
      const expected = reference(text)
      const read = () => sentParameters(`/path?${text}`)
      if (expected === 'malformed-request') expect(read).toThrow(Problem)
      else expect(read()).toEqual(expected)
    }),
    { numRuns: 5_000 },
  )
})

test.each(['__proto__', 'constructor', 'prototype', '%5F_proto__'])(
  '%s is no name of a parameter',
  (name) => {
    expect(() => sentParameters(`/path?a=1&${name}=2`)).toThrow(Problem)
  },
)

test('a URL without a question mark has no parameters', () => {
  expect(sentParameters('/path')).toEqual([])
  expect(sentParameters('/path?')).toEqual([])
})

const part = constantFrom(
  'origin=Dallas%2C+TX',
  'origin=Dallas,%20TX',
  'origin=Dallas',
  'destination=Atlanta,GA',
  'destination=',
  'equipment=V',
  'equipment=',
  'proposed_rate=2150',
  'proposed_rate=2150.50',
  'proposed_rate=0',
  'proposed_rate=1e3',
  'market_rate=2000',
  'include=evidence',
  'nonsense=1',
  '%6Frigin=Dallas,TX',
  'origin',
  '',
  '%',
)

test('a query is parsed the same with and without cached parts', () => {
  const reader = queryReader(markup.query, 8)
  const outcomeOf = (read: typeof reader, url: string) => {
    const ignored: string[] = []
    try {
      return { values: read(url, ignored), ignored }
    } catch (error) {
      return { problem: (error as Problem).code, errors: JSON.stringify(error), ignored }
    }
  }
  assert(
    property(array(part, { maxLength: 7 }), constantFrom('?', '??', ''), (parts, mark) => {
      const url = `/path${mark}${parts.join('&')}`
      expect(outcomeOf(reader, url)).toEqual(outcomeOf(queryReader(markup.query), url))
    }),
    { numRuns: 5_000 },
  )
  const right = '/path?origin=Dallas,%20TX&destination=Atlanta,GA&proposed_rate=2150'
  expect(reader(right, [])).toEqual({ origin: 'Dallas, TX', destination: 'Atlanta,GA', proposed_rate: 2150 })
  expect(() => reader(`${right}&proposed_rate=2150`, [])).toThrow(Problem)
})
