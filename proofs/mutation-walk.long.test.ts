import { expect, test } from 'vitest'
import { testDatabase } from '#testing/test-database.ts'
import {
  disableRowLevelSecurity,
  filesWithTenantConditions,
  leaksFoundBy,
  makeMutant,
} from './mutation-walk.ts'

test('without row-level security and without any tenant condition, the walk finds leaks in most reads of B', async () => {
  const database = await testDatabase()
  await disableRowLevelSecurity(database)
  const mutant = makeMutant(filesWithTenantConditions())
  try {
    const leaks = await leaksFoundBy(mutant.folder, database)
    const leaking = new Set(leaks.flatMap((leak) => /: ([a-z-]+) .* showed /.exec(leak)?.[1] ?? []))
    expect([...leaking]).toEqual(
      expect.arrayContaining(['list-users', 'list-lanes', 'get-lane', 'list-imports', 'lane-record']),
    )
  } finally {
    mutant.remove()
    await database.drop()
  }
}, 120_000)
