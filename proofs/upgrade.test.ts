import { inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { proofDatabase } from './proof-database.ts'
import { upgradeUnderLoad } from './upgrade-under-load.ts'

test('an upgrade with a new table, one instance after the other under load, and back, loses nothing acknowledged', {
  tags: ['long'],
  timeout: 300_000,
}, async () => {
  const cluster: DatabaseCluster = inject('databaseCluster')
  const database = await proofDatabase(cluster)
  try {
    await upgradeUnderLoad(database)
  } finally {
    await database.drop()
  }
})
