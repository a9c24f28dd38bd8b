import { readConfig } from '../configuration/index.ts'
import {
  DistributionRefused,
  distribute,
  missingMigrations,
  shardsMax,
  shardsUsual,
  unknownMigrations,
} from '../database/schema/index.ts'
import { CommandRefused, exitCodeOf } from './command-database.ts'

const usage = `npm run distribute                  spreads the database of MIGRATION_DATABASE_URL over its Citus workers, by tenant
npm run distribute -- --shards N    into N parts (default ${shardsUsual}; several per worker, including future workers)
`

/** `npm run distribute`: distributes a PostgreSQL database over the workers of the Citus extension. */
async function main(): Promise<number> {
  const [option, value, ...rest] = process.argv.slice(2)
  const shards = option === undefined ? shardsUsual : Number(value)
  if (
    (option !== undefined && option !== '--shards') ||
    rest.length > 0 ||
    !(Number.isInteger(shards) && shards >= 1 && shards <= shardsMax)
  ) {
    process.stderr.write(usage)
    return 2
  }
  const { migrationDatabaseUrl } = readConfig(process.env, { asOwner: true })
  if (migrationDatabaseUrl === null) {
    throw new CommandRefused('Set MIGRATION_DATABASE_URL to the connection of the owner of the database.')
  }
  const connection = { connectionString: migrationDatabaseUrl }
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stopping = true
      process.stderr.write(
        'Stopping after this table. Press Ctrl-C again to undo it and leave it for the next run.\n',
      )
    })
  }
  try {
    const [missing, unknown] = [await missingMigrations(connection), await unknownMigrations(connection)]
    if (missing.length > 0) {
      throw new CommandRefused(`The database lacks ${missing.join(', ')}. Run npm run migrate first.`)
    }
    if (unknown.length > 0) {
      throw new CommandRefused(
        `The database was migrated by a newer version of Lanewise (${unknown.join(', ')}). Use that version.`,
      )
    }
    const began = Date.now()
    const {
      workers,
      shards: parts,
      tables,
    } = await distribute(connection, {
      shards,
      stopped: () => stopping,
      onTable: ({ table, nth, of, moved }) => {
        const what = moved === 'before' ? 'was moved before' : `${moved.toLocaleString('en-US')} rows moved`
        process.stdout.write(`${String(nth).padStart(2)}/${of}  ${table.padEnd(20)} ${what}\n`)
      },
    })
    process.stdout.write(
      `${tables} tables are distributed by tenant over ${workers} workers in ${parts} shards, after ${Math.round((Date.now() - began) / 1000)} s. Start the service.\n`,
    )
    return 0
  } catch (error) {
    if (error instanceof DistributionRefused) throw new CommandRefused(error.message)
    throw error
  }
}

process.exitCode = await exitCodeOf(main)
