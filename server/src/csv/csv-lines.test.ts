import Papa from 'papaparse'
import { expect, test } from 'vitest'
import { csvLines, csvLinesInSteps, formula, withoutGuards } from './csv-lines.ts'

test.each([
  ['=1+1', `"'=1+1"`],
  ['Acme;=1+1', "Acme;'=1+1"],
  ['Acme| @SUM(A1)', "Acme|' @SUM(A1)"],
  ['Acme\t+1;-x', "Acme\t'+1;'-x"],
  ['=a;=b', `"'=a;'=b"`],
  ['Acme;-5;Co', 'Acme;-5;Co'],
  ['Acme; Reno, NV', '"Acme; Reno, NV"'],
])('no part of %j is a formula for a spreadsheet with another separator', (cell, line) => {
  expect(csvLines([[cell]])).toBe(`${line}\r\n`)
})

test('no reader with another separator sees a formula, whatever quotes stand before it, and the name comes back', () => {
  const starts = ['', '"', '""', `'"`, `"'`, '" ', `'`, ' "', ' "" "', '\u00A0"']
  const names = starts.flatMap((start) => [
    `A;${start}=1+1&";x`,
    `A\t${start}@SUM(1)"`,
    `A|${start}+1`,
    `${start}=1;${start}=2`,
  ])
  for (const name of names) {
    const text = csvLines([['Acme', name, 'x']])
    for (const delimiter of [',', ';', '\t', '|']) {
      const cells = Papa.parse<string[]>(text, { delimiter }).data.flat()
      expect([name, delimiter, cells.filter((cell) => formula.test(cell))]).toEqual([name, delimiter, []])
    }
    // Some readers skip spaces before a cell, and then drop quotes as those around a cell.
    const parts = text.split(/[;\t|]/).map((part) => part.replace(/^[\s"]+/, ''))
    expect([name, parts.filter((part) => formula.test(part))]).toEqual([name, []])
    const [, read = ''] = Papa.parse<string[]>(text, { delimiter: ',' }).data[0] ?? []
    expect(withoutGuards(read)).toBe(name)
  }
})

test('ten thousand lines are made in a hundred steps, and are the same as in one', () => {
  const rows = Array.from({ length: 10_000 }, (_, at) => ['=1', at])
  const making = csvLinesInSteps(rows, (row) => row)
  let steps = 0
  for (;;) {
    const { done, value } = making.next()
    if (done === true) {
      expect(value).toBe(csvLines(rows))
      break
    }
    steps++
  }
  expect(steps).toBe(100)
})
