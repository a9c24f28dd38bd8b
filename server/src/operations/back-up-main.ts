import { readConfig } from '../configuration/index.ts'
import { backUp } from './back-up.ts'
import { CommandRefused, exitCodeOf } from './command-database.ts'

/** `npm run backup -- FOLDER`: copies the embedded database while the service runs. */
async function main(): Promise<number> {
  const [folder, ...more] = process.argv.slice(2)
  if (folder === undefined || folder === '' || more.length > 0) {
    process.stderr.write('npm run backup -- FOLDER    copies the embedded database into a new folder\n')
    return 2
  }
  const { databaseUrl, dataDirectory } = readConfig(process.env)
  if (databaseUrl !== null) {
    throw new CommandRefused(
      'This command backs up the embedded database, and DATABASE_URL is set. For your own PostgreSQL, see docs/backup.md.',
    )
  }
  const copied = await backUp({
    dataDirectory,
    folder,
    clock: Date.now,
    remark: (line) => process.stderr.write(`${line}\n`),
  })
  const rows = [...copied.values()].reduce((sum, table) => sum + table.rows, 0)
  process.stdout.write(
    `The database is in ${folder}. The copy was started and read: ${copied.size} tables, ${rows} rows. The secret key is not: save a copy of it elsewhere.\nTo restore: put the file secret-key into ${folder} and start with DATA_DIR=${folder}.\n`,
  )
  return 0
}

process.exitCode = await exitCodeOf(main)
