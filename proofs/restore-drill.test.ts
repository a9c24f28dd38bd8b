import { expect, test } from 'vitest'
import { drillPrograms } from './drill-server.ts'
import { restoreDrill } from './restore-drill.ts'

test('restores the second before every row was deleted, with equal checksums; a restore to the moment after is detected', {
  tags: 'long',
}, async () => {
  const { faults, rows, sums } = await restoreDrill(drillPrograms(null, { durable: false }), 60, () => {})
  expect(faults.before).toEqual([])
  expect(rows).toBeGreaterThan(120)
  // Only tables without rows are equal after the deletion.
  const empty = sums.filter((table) => table.rows === 0 && !table.table.startsWith('newest'))
  for (const table of ['event_endpoints', 'event_secrets', 'events', 'event_deliveries'])
    expect(sums.find((one) => one.table === table)?.rows, table).toBeGreaterThan(0)
  expect(faults.after.length).toBeGreaterThanOrEqual(sums.length - empty.length - 1)
})
