import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root, textOf } from './repository.ts'

/** The rows of the table in docs/security.md: one threat each, with the tests that cover it. */
const rows = textOf('docs/security.md')
  .split('\n')
  .filter((line) => /^\| T\d+ \|/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, row = '', , measure = '', tests = '']) => ({ row, measure, tests }))

/** Returns the test files named in a cell, each with the test titles after it. */
function namedTests(tests: string): { path: string; titles: string[] }[] {
  return tests
    .split(/(?=`[\w./-]+`)/)
    .filter((part) => part.startsWith('`'))
    .map((part) => ({
      path: /^`([^`]+)`/.exec(part)?.[1] ?? '',
      titles: [...part.matchAll(/"([^"]+)"/g)].flatMap((match) => match[1] ?? []),
    }))
}

test('every threat has one row, in order', () => {
  expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: 43 }, (_, at) => `T${at + 1}`))
})

describe.each(rows)('$row', ({ measure, tests }) => {
  test('describes the measure against it', () => {
    expect(measure.length).toBeGreaterThan(10)
    expect(namedTests(tests)).not.toEqual([])
  })

  test.each(namedTests(tests))('$path has the named tests', ({ path, titles }) => {
    expect(existsSync(join(root, path))).toBe(true)
    expect(titles).not.toEqual([])
    const text = textOf(path)
    expect(titles.filter((title) => !text.includes(title))).toEqual([])
  })
})
