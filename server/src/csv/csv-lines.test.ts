import { expect, test } from 'vitest'
import { csvLines } from './csv-lines.ts'

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
