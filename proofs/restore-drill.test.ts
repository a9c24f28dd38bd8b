import { expect, test } from 'vitest'
import { drillPrograms } from './drill-server.ts'
import { restoreDrill } from './restore-drill.ts'

test('the second before every row was deleted is back to the checksum, and a restore to the moment after is seen', async () => {
  const { faults, rows, sums } = await restoreDrill(drillPrograms(null, { durable: false }), 60, () => {})
  expect(faults.before).toEqual([])
  expect(rows).toBeGreaterThan(120)
  // Only what had no rows is the same without them.
  const empty = sums.filter((table) => table.rows === 0 && !table.table.startsWith('newest'))
  expect(faults.after.length).toBeGreaterThanOrEqual(sums.length - empty.length - 1)
}, 120_000)
