import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root, textOf } from './repository.ts'

/** The rows of the table in docs/security.md: each threat once, with the tests that hold it. */
const rows = textOf('docs/security.md')
  .split('\n')
  .filter((line) => /^\| T\d+ \|/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, row = '', , answer = '', held = '']) => ({ row, answer, held }))

/** Each file of a cell with the titles that follow it. */
function namedTests(held: string): { path: string; titles: string[] }[] {
  return held
    .split(/(?=`[\w./-]+`)/)
    .filter((part) => part.startsWith('`'))
    .map((part) => ({
      path: /^`([^`]+)`/.exec(part)?.[1] ?? '',
      titles: [...part.matchAll(/"([^"]+)"/g)].flatMap((match) => match[1] ?? []),
    }))
}

test('every threat has its row, once and in order', () => {
  expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: 41 }, (_, at) => `T${at + 1}`))
})

describe.each(rows)('$row', ({ answer, held }) => {
  test('says what is done about it', () => {
    expect(answer.length).toBeGreaterThan(10)
    expect(namedTests(held)).not.toEqual([])
  })

  test.each(namedTests(held))('$path holds it', ({ path, titles }) => {
    expect(existsSync(join(root, path))).toBe(true)
    expect(titles).not.toEqual([])
    const text = textOf(path)
    expect(titles.filter((title) => !text.includes(title))).toEqual([])
  })
})
