import { expect, test } from 'vitest'
import * as limits from '#contract/limits.ts'
import { tableRows } from './page.ts'
import { textOf } from './repository.ts'

const headings = [...textOf('docs/limits.md').matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading)
const rows = headings.flatMap((heading) => tableRows('docs/limits.md', heading))
const known: Readonly<Record<string, unknown>> = { ...limits }
const units: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2 }

test('the page of limits has most of them, each once', () => {
  const names = rows.map(([, , name]) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.length).toBeGreaterThan(Object.keys(limits).length * 0.5 - 5)
})

test.each(rows)('%s: %s', (_limit, value = '', name = '') => {
  const [number = '', unit = ''] = value.split(' ')
  expect(Number(number.replaceAll(',', '')) * (units[unit] ?? 1)).toBe(known[name])
})
