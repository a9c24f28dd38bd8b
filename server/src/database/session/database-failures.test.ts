import { expect, test } from 'vitest'
import { DatabaseUnavailable, reasonOf, whyUnavailable } from './database-failures.ts'

const pooling = Object.assign(new Error('transaction blocks not allowed in statement pooling mode'), {
  code: '08P01',
})
const noPrimary = Object.assign(new Error('None of the hosts accepts writes: 10.0.0.5:5432 is a standby.'), {
  code: 'NO_PRIMARY',
})
const refused = new AggregateError([new Error('connect ECONNREFUSED ::1:5432')], '')

test.each([
  [pooling, 'The pooler in front of the database is in statement mode; it must be in transaction mode.'],
  [noPrimary, 'None of the hosts of the database accepts writes.'],
  [refused, 'The database cannot answer right now.'],
])('callers are told the reason without addresses: %o', (cause, reason) => {
  expect(reasonOf(new DatabaseUnavailable(cause))).toBe(reason)
})

test('operators are told the reason in one line, with addresses', () => {
  expect(whyUnavailable(new DatabaseUnavailable(refused))).toBe(
    'The database cannot answer. (connect ECONNREFUSED ::1:5432) npm run doctor looks for the reason.',
  )
})
