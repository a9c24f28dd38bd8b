import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { databaseUrl, startCluster } from '#testing/database-cluster.ts'
import { root } from './repository.ts'
import { schemaFile, schemaSql } from './schema-sql.ts'

/** Writes the schema from a freshly migrated database: `npm run schema`. */
const { cluster, stop } = await startCluster()
try {
  const owner = new pg.Client({ connectionString: databaseUrl(cluster.ownerUrl, cluster.template) })
  await owner.connect()
  try {
    writeFileSync(join(root, schemaFile), await schemaSql(owner))
  } finally {
    await owner.end()
  }
} finally {
  await stop()
}
