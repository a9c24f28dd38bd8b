import { expect, test } from 'vitest'
import { causesOf } from './import-errors.tsx'

const error = (row: number, column: string | null, detail: string) => ({ row, column, detail })

test('errors that differ only in their values have one cause, the most frequent first', () => {
  const causes = causesOf([
    error(2, 'Day', 'Day must be a date; it is "soon".'),
    error(3, 'Rate', 'Rate must be an amount of dollars; it is "call".'),
    error(5, 'Rate', 'Rate must be an amount of dollars; it is "ask, \'Dana\'".'),
    error(9, 'Cost', 'Cost must be an amount of dollars; it is "call".'),
  ])
  expect(causes.map(({ column, lines }) => [column, lines])).toEqual([
    ['Rate', [3, 5]],
    ['Day', [2]],
    ['Cost', [9]],
  ])
  expect(causes[0]?.detail).toBe('Rate must be an amount of dollars; it is "call".')
  expect(causesOf([])).toEqual([])
})
