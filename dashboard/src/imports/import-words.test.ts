import { expect, test } from 'vitest'
import { errorsKept, notImported } from './import-words.ts'

const cancelled = (row: number) => ({
  row,
  column: 'Was Cancelled',
  detail: 'Was Cancelled says that the load was cancelled, so the row is left out.',
})
const wrong = (row: number, column = 'Rate') => ({ row, column, detail: `${column} must be an amount.` })

test('rows of cancelled loads are left out, not rejected with an error', () => {
  const run = {
    columns: { cancelled: 'Was Cancelled' },
    rows_refused: 4,
    // One row has two errors.
    errors: [cancelled(2), wrong(3), wrong(3, 'Cost'), cancelled(4), wrong(9)],
  }
  expect(notImported(run)).toEqual({
    errors: [wrong(3), wrong(3, 'Cost'), wrong(9)],
    rejected: 2,
    leftOut: 2,
  })
})

test('without such a column, all of them are rejected', () => {
  const run = { columns: {}, rows_refused: 2, errors: [wrong(3), wrong(9)] }
  expect(notImported(run)).toEqual({ errors: run.errors, rejected: 2, leftOut: 0 })
})

test('no count is claimed where the service does not keep all errors', () => {
  const errors = Array.from({ length: errorsKept }, (_, row) => cancelled(row))
  const run = { columns: { cancelled: 'Was Cancelled' }, rows_refused: 2_000, errors }
  expect(notImported(run)).toMatchObject({ rejected: 2_000, leftOut: null })
})
