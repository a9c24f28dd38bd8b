import { describe, expect, test } from 'vitest'
import { benchCommand } from './bench-command.ts'
import { spreadOf } from './bench-row.ts'
import { tenantPace } from './load/tenant-pace.ts'

describe('npm run bench', () => {
  test('refuses a row that is not there', async () => {
    expect(await benchCommand('--only', 'nonsense')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/no row/),
    })
  })
})

describe('the load generator', () => {
  test('lets no eleven requests of a tenant arrive within a second, however late they are answered', () => {
    const pace = tenantPace(2)
    const places = Array.from({ length: 10 }, () => pace.take(0, 0))
    expect(new Set(places).size).toBe(10)
    expect(pace.take(0, 5_000)).toBe(-1)
    expect(pace.take(1, 0)).not.toBe(-1)
    pace.answered(places[0] ?? -1, 5_000)
    expect(pace.take(0, 5_900)).toBe(-1)
    expect(pace.take(0, 6_010)).toBe(places[0])
  })
})

test('a spread is the median and how far the rounds were apart', () => {
  expect(spreadOf([5, 1, 3, 100])).toEqual({ median: 4, least: 1, most: 100 })
})
