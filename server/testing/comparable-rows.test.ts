import { expect, test } from 'vitest'
import { firstDifference, withRanks } from './comparable-rows.ts'

/** The rows of one request with one quote and its version, with these numbers. */
function rowsWith(request: number, quote: number, origin = 'Dallas, TX'): Map<string, string[]> {
  return new Map([
    [
      'quotes',
      [
        `{"lane_id": ${quote}, "lane_ref": "${request}-1-1", "origin": "${origin}", "request_id": ${request}}`,
      ],
    ],
    ['quote_requests', [`{"created_at": "2026-04-03", "request_id": ${request}}`]],
    ['quote_versions', [`{"lane_id": ${quote}, "version": 1}`]],
  ])
}

test('rows that differ in their random numbers only are the same, also if a quote has the number of a request', () => {
  const rows = withRanks(rowsWith(48211093754, 60938382366))
  expect(firstDifference(rows, withRanks(rowsWith(7120034567, 29726289537)))).toBeNull()
  expect(firstDifference(rows, withRanks(rowsWith(48211093754, 48211093754)))).toBeNull()
})

test('a random number with few digits changes no order', () => {
  const two = (one: Map<string, string[]>, other: Map<string, string[]>) =>
    withRanks(new Map([...one].map(([table, rows]) => [table, [...rows, ...(other.get(table) ?? [])]])))
  const long = two(rowsWith(48211093754, 60938382366), rowsWith(7120034567, 29726289537, 'Reno, NV'))
  for (const few of [7, 2024, 99_999]) {
    const short = two(rowsWith(48211093754, 60938382366), rowsWith(few, 29726289537, 'Reno, NV'))
    expect(firstDifference(short, long)).toBeNull()
    expect([...short.values()].flat().join()).toContain('"2026-04-03"')
  }
})

test('rows that differ in another value are not the same', () => {
  expect(
    firstDifference(
      withRanks(rowsWith(7120034567, 29726289537)),
      withRanks(rowsWith(7120034567, 29726289537, 'Reno, NV')),
    ),
  ).toMatch(/^quotes has /)
})
