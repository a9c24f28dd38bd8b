import { expect, test } from 'vitest'
import { ImportFileError } from '../tables/index.ts'
import { type DatedTable, datedValues } from './dated-file.ts'

const table: DatedTable = {
  vocabulary: 'diesel prices',
  forms: [
    {
      names: { day: ['period'], series: ['series'], value: ['value'] },
      series: 'US',
      read: Number,
      must: 'a number',
    },
  ],
  needed: 'have the series US',
  words: { day: 'day', value: 'value', one: 'value' },
  blank: /^$/,
  daysMax: 10,
}

/** Lines of cells, and how many cells were read. */
function counted(rows: readonly (readonly string[])[]) {
  const count = { cells: 0 }
  const lines = rows.map((row, at) => ({
    line: at + 1,
    cells: new Proxy(row, {
      get(cells, name, receiver) {
        if (typeof name === 'string' && /^\d+$/.test(name)) count.cells++
        return Reflect.get(cells, name, receiver) as unknown
      },
    }),
  }))
  return { lines, count }
}

const header = ['period', 'series', 'value']

test('a file of nothing but headers is refused after a few looks at each cell, in steps', () => {
  const rows = 2_000
  const { lines, count } = counted(Array.from({ length: rows }, () => header))
  let steps = 0
  const read = () => {
    for (const _ of datedValues(lines, table, 'month_first')) steps++
  }
  expect(read).toThrow(ImportFileError)
  expect(count.cells).toBeLessThan(10 * rows * header.length)
  expect(steps).toBeGreaterThanOrEqual(40)
})

test('the values of the series are read below the first header of its columns, in steps', () => {
  const rows = Array.from({ length: 1_000 }, () => ['2026-03-02', 'us', '3.5'])
  const { lines } = counted([['a title'], header, ...rows])
  const reading = datedValues(lines, table, 'month_first')
  let steps = 0
  for (;;) {
    const { done, value } = reading.next()
    if (done === true) {
      expect(value).toEqual([{ day: '2026-03-02', value: 3.5 }])
      break
    }
    steps++
  }
  expect(steps).toBeGreaterThanOrEqual(20)
})
