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
  'a parameter named %s is rejected',
  (name) => {
    expect(() => sentParameters(`/path?a=1&${name}=2`)).toThrow(Problem)
  },
)

test('a URL without a question mark has no parameters', () => {
  expect(sentParameters('/path')).toEqual([])
  expect(sentParameters('/path?')).toEqual([])
})

test('a parameter that was sent twice is rejected, and an unknown one is reported', () => {
  const read = queryReader(markup.query)
  const right = '/path?origin=Dallas,%20TX&destination=Atlanta,GA&proposed_rate=2150'
  const ignored: string[] = []
  expect(read(`${right}&colour=blue`, ignored)).toEqual({
    origin: 'Dallas, TX',
    destination: 'Atlanta,GA',
    proposed_rate: 2150,
  })
  expect(ignored).toEqual(['colour'])
  expect(() => read(`${right}&proposed_rate=2150`, [])).toThrow(Problem)
})
