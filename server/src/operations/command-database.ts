import { dirname } from 'node:path'
import type pg from 'pg'
import { type Config, ConfigError } from '../configuration/index.ts'
import { findTenant, listTenants, type NamedTenant } from '../database/queries/index.ts'
import { EarlierSchema, migrate, missingMigrations, NewerSchema } from '../database/schema/index.ts'
import {
  type Database,
  DatabaseUnavailable,
  deadlinesTimes,
  openDatabase,
  tenantId,
  whyUnavailable,
} from '../database/session/index.ts'
import {
  DataFolderInUse,
  embeddedConnections,
  makeFolders,
  runningEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../embedded-postgres/index.ts'

/** A reason why a command cannot run. Its message is shown to the operator. */
export class CommandRefused extends Error {}

/** The settings that a command needs to find the database. */
export interface CommandDatabase {
  readonly config: Pick<Config, 'databaseUrl' | 'migrationDatabaseUrl' | 'dataDirectory' | 'deadlineFactor'>
  /** Prints progress and remarks. */
  readonly remark: (line: string) => void
}

/**
 * Runs a command's work on the named brokerage (by name or id; optional while there is only one), in the configured
 * database, with or without a running service.
 *
 * @throws CommandRefused
 */
export async function atTenant<Result>(
  around: CommandDatabase,
  named: string | undefined,
  work: (database: Database, tenant: NamedTenant) => Promise<Result>,
): Promise<Result> {
  return atDatabase(around, async (database, owner) =>
    work(database, await chooseTenant(named, owner, database)),
  )
}

/** Runs a command's work in the configured database. `owner` is null when only the service's connection is known. */
export async function atDatabase<Result>(
  around: CommandDatabase,
  work: (database: Database, owner: pg.ClientConfig | null) => Promise<Result>,
): Promise<Result> {
  const connected = await connect(around)
  try {
    const database = await openDatabase({
      connection: connected.service,
      deadlines: deadlinesTimes(around.config.deadlineFactor),
    })
    try {
      return await work(database, connected.owner)
    } finally {
      await database.close()
    }
  } finally {
    await connected.close()
  }
}

interface Connected {
  readonly service: pg.ClientConfig
  /** Null when only the service's own connection is known. */
  readonly owner: pg.ClientConfig | null
  readonly close: () => Promise<void>
}

/** The database of DATABASE_URL, or else the embedded one: that of the running service, or one started for this command. */
async function connect({ config, remark }: CommandDatabase): Promise<Connected> {
  if (config.databaseUrl !== null) {
    const service = { connectionString: config.databaseUrl }
    const missing = await missingMigrations(service).catch((error: unknown) => {
      if (error instanceof EarlierSchema) throw error
      throw new CommandRefused(`The database of DATABASE_URL cannot be used: ${reason(error)}`)
    })
    if (missing.length > 0) {
      throw new CommandRefused(
        `The database lacks ${missing.join(', ')}. Start the service or run npm run migrate first.`,
      )
    }
    const owner =
      config.migrationDatabaseUrl === null ? null : { connectionString: config.migrationDatabaseUrl }
    return { service, owner, close: async () => {} }
  }
  const running = runningEmbeddedPostgres(config.dataDirectory)
  if (running !== null) {
    const connections = embeddedConnections(running)
    await refuseEarlierService(connections.service, config.dataDirectory)
    return { ...connections, close: async () => {} }
  }
  const postgres = await startEmbeddedPostgres({ directory: config.dataDirectory, log: remark })
  const connections = embeddedConnections(postgres)
  try {
    await migrate(connections.owner, remark)
  } catch (error) {
    await postgres.stop()
    throw error
  }
  return { ...connections, close: () => postgres.stop() }
}

/** Refuses a running service of an earlier version: until its next start migrates the database, queries may not fit the schema. */
async function refuseEarlierService(service: pg.ClientConfig, dataDirectory: string): Promise<void> {
  const missing = await missingMigrations(service).catch((error: unknown) => {
    if (error instanceof EarlierSchema) throw error
    throw new CommandRefused(`The database in ${dataDirectory} cannot be used: ${reason(error)}`)
  })
  if (missing.length > 0) {
    throw new CommandRefused(
      `The service that runs on ${dataDirectory} is an earlier version of Lanewise: its database lacks ${missing.join(', ')}. Stop it, or restart it with this version, and run this command again.`,
    )
  }
}

/** Creates the folders above a folder that a command will write. @throws CommandRefused */
export function makeRoomFor(folder: string): void {
  try {
    makeFolders(dirname(folder))
  } catch (error) {
    throw new CommandRefused(`${folder} cannot be created (${reason(error)}). Name another folder.`)
  }
}

function reason(error: unknown): string {
  // A host name with several addresses fails with one error per address and an empty message.
  const [first] = error instanceof AggregateError ? error.errors : [error]
  return first instanceof Error ? first.message : String(first)
}

/** The named brokerage, or the only one. */
async function chooseTenant(
  named: string | undefined,
  owner: pg.ClientConfig | null,
  database: Database,
): Promise<NamedTenant> {
  if (owner === null) {
    if (named === undefined || !/^\d{1,10}$/.test(named)) {
      throw new CommandRefused(
        'Name the brokerage by its number (--tenant NUMBER): its name can be looked up only with MIGRATION_DATABASE_URL set.',
      )
    }
    return tenantByNumber(database, Number(named))
  }
  const tenants = await listTenants(owner)
  const choices = tenants.map(({ tenant, name }) => `  ${name}  (${tenant})`).join('\n')
  if (tenants.length === 0) {
    throw new CommandRefused(
      'There is no brokerage yet. Make one: npm run tenant -- create NAME --owner-email EMAIL',
    )
  }
  const wanted = named?.trim().toLowerCase()
  const found =
    wanted === undefined
      ? // A test brokerage is worked on only if it is named.
        tenants.filter(({ isTest }) => !isTest)
      : tenants.filter(({ tenant, name }) => String(tenant) === wanted || name.toLowerCase() === wanted)
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  if (wanted === undefined) throw new CommandRefused(`Name the brokerage with --tenant:\n${choices}`)
  throw new CommandRefused(
    found.length === 0
      ? `There is no brokerage "${named}". There are:\n${choices}`
      : `Several brokerages are called "${named}"; name one by its number:\n${choices}`,
  )
}

async function tenantByNumber(database: Database, number: number): Promise<NamedTenant> {
  const unknown = new CommandRefused(`There is no brokerage ${number}.`)
  if (number < 1 || number > 2_147_483_647) throw unknown
  const tenant = tenantId(number)
  const row = await database.inTenant(tenant, (transaction) => findTenant(transaction, tenant))
  if (row === null) throw unknown
  return { tenant, name: row.name }
}

/**
 * Runs a command and returns its exit code. A CommandRefused is printed as its message; an unexpected error with its
 * stack. If the reader of the output leaves (`npm run tenant -- list | head`), the command ends without an error.
 *
 * @example process.exitCode = await exitCodeOf(main)
 */
export async function exitCodeOf(main: () => Promise<number>): Promise<number> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
  try {
    return await main()
  } catch (error) {
    const known =
      error instanceof CommandRefused ||
      error instanceof ConfigError ||
      error instanceof DataFolderInUse ||
      error instanceof EarlierSchema ||
      error instanceof NewerSchema
    if (error instanceof DatabaseUnavailable) {
      process.stderr.write(`${whyUnavailable(error)}\n`)
      return 1
    }
    process.stderr.write(`${known ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
    return 1
  }
}
