import { ConfigError, readConfig } from '../configuration/index.ts'
import { migrate } from '../database/schema/index.ts'

/** `npm run migrate`: migrates the PostgreSQL database of MIGRATION_DATABASE_URL to this version. */
async function main(): Promise<void> {
  const { migrationDatabaseUrl } = readConfig(process.env, { asOwner: true })
  if (migrationDatabaseUrl === null) {
    throw new ConfigError(['MIGRATION_DATABASE_URL must be the connection of the owner of the database.'])
  }
  await migrate({ connectionString: migrationDatabaseUrl }, (line) => process.stdout.write(`${line}\n`))
  process.stdout.write('The database is up to date.\n')
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
