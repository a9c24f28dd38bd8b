import fc from 'fast-check'
import { expect, test } from 'vitest'
import { performanceOf } from '../performance.ts'
import { finished } from '../steps.ts'
import { compareCodePoints } from './code-points.ts'
import {
  PERFORMANCE_RANKS,
  type PerformanceCursor,
  type PerformanceGroups,
  performancePage,
} from './performance-groups.ts'
import { NUMBERS_PER_GROUP, sumsOf } from './performance-sums.ts'

const keys = ['', 'a', 'B', 'é', '\ufb01ne', '𝔊othic', '田', 'zz']

/** Groups with few different numbers, so that many have the same sort value. */
const anyGroups = fc
  .array(
    fc.array(fc.integer({ min: 0, max: 3 }), { minLength: NUMBERS_PER_GROUP, maxLength: NUMBERS_PER_GROUP }),
    {
      maxLength: keys.length,
    },
  )
  .map(
    (rows): PerformanceGroups => ({
      count: rows.length,
      sums: Float64Array.from(rows.flat()),
      keyOf: (group) => keys[group] ?? '',
      partsOf: (group) => [keys[group] ?? ''],
      writtenOf: () => '',
      monthOf: (group) => (group % 3 === 0 ? 1_000 * group : null),
    }),
  )

test('all pages together have each group once, in the order of the figure, and then of quotes and key', () => {
  fc.assert(
    fc.property(
      anyGroups,
      fc.constantFrom(...PERFORMANCE_RANKS),
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.integer({ min: 1, max: 9 }),
      (groups, rank, direction, limit) => {
        const seen: string[] = []
        let cursor: PerformanceCursor | null = null
        for (;;) {
          const order = { rank, direction, cursor, limit }
          const { rows, rowsTotal }: ReturnType<typeof pageOf> = pageOf(groups, order)
          expect(rowsTotal).toBe(groups.count)
          const [last, before] = [rows.at(-1), rows.at(-2)]
          if (last === undefined) break
          if (before !== undefined) expect(isInOrder(before, last, direction)).toBe(true)
          if (cursor !== null && rows[0] !== undefined)
            expect(isInOrder(cursor, rows[0], direction)).toBe(true)
          seen.push(...rows.map(({ key }) => key))
          cursor = last
        }
        expect(seen.toSorted()).toEqual(keys.slice(0, groups.count).toSorted())
      },
    ),
  )
})

const pageOf = (groups: PerformanceGroups, order: Parameters<typeof performancePage>[1]) =>
  finished(performancePage(groups, order))

function isInOrder(one: PerformanceCursor, next: PerformanceCursor, direction: 'asc' | 'desc'): boolean {
  if (one.rank === null || next.rank === null) {
    if (one.rank !== next.rank) return next.rank === null
  } else if (one.rank !== next.rank) return direction === 'asc' ? one.rank < next.rank : one.rank > next.rank
  return one.quotes > next.quotes || (one.quotes === next.quotes && compareCodePoints(one.key, next.key) < 0)
}

test('rows are ordered by the figure that they show', () => {
  fc.assert(
    fc.property(anyGroups, (groups) => {
      const figureOf = {
        quotes: 'quotes',
        margin: 'marginCents',
        landed_vs_quoted: 'landedVsQuotedCents',
        lost_to_cost: 'lostToCostCents',
        lost_to_rate: 'lostToRateCents',
        quoted_too_low: 'quotedTooLowCents',
      } as const
      for (const [rank, name] of Object.entries(figureOf)) {
        const order = {
          rank: rank as keyof typeof figureOf,
          direction: 'desc',
          cursor: null,
          limit: 9,
        } as const
        for (const row of pageOf(groups, order).rows) {
          expect([rank, row.rank]).toEqual([
            rank,
            { ...row, ...performanceOf(row), quotes: row.quotes }[name],
          ])
        }
      }
      for (let group = 0; group < groups.count; group++)
        expect(sumsOf(groups.sums, group).quotes).toBeDefined()
    }),
  )
})

test('keys are in the order of code points, as in the database', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
      const inBytes = Buffer.compare(Buffer.from(one), Buffer.from(other))
      expect(Math.sign(compareCodePoints(one, other))).toBe(inBytes)
    }),
  )
})
