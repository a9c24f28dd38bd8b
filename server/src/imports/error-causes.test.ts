import { expect, test } from 'vitest'
import { ErrorCauses } from './error-causes.ts'

test('errors that differ only in their values have one cause, the most frequent first', () => {
  const causes = new ErrorCauses()
  expect(causes.list()).toEqual([])
  const add = (row: number, column: string | null, detail: string) => causes.add({ row, column, detail })
  add(2, 'Day', 'Day must be a date; it is "soon".')
  add(3, 'Rate', 'Rate must be an amount of dollars; it is "call".')
  add(5, 'Rate', 'Rate must be an amount of dollars; it is "ask, \'Dana\'".')
  add(9, 'Cost', 'Cost must be an amount of dollars; it is "call".')
  for (let row = 20; row < 40; row++) add(row, 'Rate', `Rate must be above ${row}; it is "1".`)
  const lines = [20, 21, 22, 23, 24, 25, 26, 27]
  expect(causes.list()).toEqual([
    { column: 'Rate', detail: 'Rate must be above 20; it is "1".', rows: 20, lines },
    { column: 'Rate', detail: 'Rate must be an amount of dollars; it is "call".', rows: 2, lines: [3, 5] },
    { column: 'Day', detail: 'Day must be a date; it is "soon".', rows: 1, lines: [2] },
    { column: 'Cost', detail: 'Cost must be an amount of dollars; it is "call".', rows: 1, lines: [9] },
  ])
})
