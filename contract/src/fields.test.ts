import { Compile } from 'typebox/compile'
import { expect, it } from 'vitest'
import { readTime, time } from './fields.ts'

it.each([
  ['2026-03-01t10:00:00z', '2026-03-01T10:00:00Z'],
  ['2026-03-01 10:00:00', '2026-03-01T10:00:00Z'],
  ['2026-03-01T10:00:00 -06:00', '2026-03-01T16:00:00Z'],
  ['2026-03-01 14:30 CST', '2026-03-01T20:30:00Z'],
  ['2026-07-01 14:30 NDT', '2026-07-01T17:00:00Z'],
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
  ['2026-03-01T24:00:00Z', '2026-03-02T00:00:00Z'],
  ['20260301', '2026-03-01T00:00:00Z'],
  ['20260301T100000.5-0600', '2026-03-01T16:00:00.5Z'],
])('the time %s is %s', (text, moment) => {
  expect(readTime(text)).toBe(Date.parse(moment))
  expect(Compile(time('A time')).Check(text)).toBe(true)
})

// Without its plus sign, which a form turns into a blank, an offset is none.
it.each(['2026-03-01T10:00:00 06:00', '2026-03-01 14:30 CET', '2026-W09-7', '46082', '2026-02-30 10:00'])(
  '%s is no time',
  (text) => expect(readTime(text)).toBeNull(),
)
