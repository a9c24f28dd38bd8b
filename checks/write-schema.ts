import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { databaseUrl, startCluster } from '#testing/database-cluster.ts'
import { migrationDigests, releasedFile, withNewMigrations } from './released-migrations.ts'
import { root, textOf } from './repository.ts'
import { schemaFile, schemaSql } from './schema-sql.ts'

/** Writes the schema from a freshly migrated database, and the digests of new migrations: `npm run schema`. */
const { cluster, stop } = await startCluster()
try {
  const owner = new pg.Client({ connectionString: databaseUrl(cluster.ownerUrl, cluster.template) })
  await owner.connect()
  try {
    writeFileSync(join(root, schemaFile), await schemaSql(owner))
    writeFileSync(join(root, releasedFile), withNewMigrations(textOf(releasedFile), migrationDigests()))
  } finally {
    await owner.end()
  }
} finally {
  await stop()
}
