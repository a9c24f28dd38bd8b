import { expect, test } from 'vitest'
import { testDatabase } from '#testing/test-database.ts'
import { filteredFiles, mutant, takeOffRowLevelSecurity, walkOf } from './mutation-walk.ts'

test('without both walls anywhere, the walk finds holes in most of what B can read', async () => {
  const database = await testDatabase()
  await takeOffRowLevelSecurity(database)
  const copy = mutant(filteredFiles())
  try {
    const faults = await walkOf(copy.folder, database)
    const showing = new Set(faults.flatMap((fault) => /: ([a-z-]+) .* showed /.exec(fault)?.[1] ?? []))
    expect([...showing]).toEqual(
      expect.arrayContaining(['list-users', 'list-lanes', 'get-lane', 'list-imports', 'lane-record']),
    )
  } finally {
    copy.remove()
    await database.drop()
  }
}, 120_000)
