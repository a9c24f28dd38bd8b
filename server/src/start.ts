import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { keyCheckPlace, keyCheckText } from './access/index.ts'
import { type Config, secretKeysOf } from './configuration/index.ts'
import { readKeyCheck, writeEventsOn, writeKeyCheck, writeKeyNames } from './database/queries/index.ts'
import { migrate, migrationNames, missingMigrations } from './database/schema/index.ts'
import {
  type Database,
  databaseSafety,
  deadlinesTimes,
  openDatabase,
  watchedDatabase,
} from './database/session/index.ts'
import { embeddedConnections, startEmbeddedPostgres } from './embedded-postgres/index.ts'
import type { Parts } from './endpoints/index.ts'
import { joinInstances } from './limits/index.ts'
import { type Log, runInOrder } from './runtime/index.ts'
import { type SampleAccess, sampleMaker } from './sample/index.ts'
import { keyName, type SecretKeys, seal, tokens, unsealWithAny } from './security/index.ts'
import { startServing } from './serving.ts'
import { listenForMetrics, serviceLog, startWatching, type Watching } from './watching/index.ts'

/** A reason not to start. Its message is shown to the operator. */
export class StartRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StartRefused'
  }
}

export interface RunningService {
  readonly address: string
  /** Null except on the start that created the sample brokerage. */
  readonly sample: SampleAccess | null
  /** Answers the requests in flight, accepts no more, and stops the embedded database. */
  stop(): Promise<void>
}

/** Starts the service: database, migrations, tenant isolation, sample brokerage, HTTP. A failed step undoes the steps before it. */
export async function startService(
  config: Config,
  options: {
    clock?: () => number
    onDatabaseExit?: (reason: string) => void
    /** Called when a worker of Citus comes back and is not safe to serve from. */
    onUnsafe?: (reason: string) => void
    say?: (line: string) => void
  } = {},
): Promise<RunningService> {
  const { clock = Date.now, say = () => {} } = options
  const logger = serviceLog(config.logLevel)
  for (const line of config.unused) logger.warn({}, line)
  const monotonic = () => performance.now()
  const undo: (() => Promise<unknown>)[] = []
  // The database stops last.
  const stop = () => runInOrder(undo.splice(0).reverse())
  try {
    const { connection, secretKeys } = await connect(config, undo, options.onDatabaseExit, say)
    const instance = config.databaseUrl === null ? null : randomUUID()
    const watching = await startWatching(config, { log: logger, monotonic })
    const opened = await openDatabase({
      connection,
      deadlines: deadlinesTimes(config.deadlineFactor),
      ...(instance === null ? {} : { instance }),
      transactionsPerBrokerage: config.transactionsPerBrokerage,
      onIdleError: (error) => logger.warn({ err: error }, 'an idle database connection was lost'),
    })
    undo.push(() => opened.close())
    const database = watching.transaction === null ? opened : watchedDatabase(opened, watching.transaction)
    await refuseUnsafe(database, logger)
    database.onWorkerBack(() => void checkAgain(database, logger, options.onUnsafe))

    const signer = tokens(...secretKeys)
    const sample = await firstStart(database, config, signer, secretKeys, clock(), say)
    // The command rotate-key checks that every service can decrypt what it encrypts.
    await database.outsideTenants((transaction) => writeKeyNames(transaction, secretKeys.map(keyName)))
    // From now on, changes in the database write events, or do not.
    await database.outsideTenants((transaction) => writeEventsOn(transaction, config.events !== null))
    if (instance !== null) {
      const presence = await joinInstances(database, instance, logger)
      undo.push(() => presence.leave())
    }
    const serving = await startServing({
      config,
      database,
      secretKeys,
      logger,
      clock,
      monotonic,
      instance,
      watching,
      migrations: await migrationNames(),
    }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EADDRINUSE' ? portTaken(config) : error
    })
    const { address } = serving
    undo.push(() => serving.drain())
    // Metrics are served until the last request is answered.
    let closeMetrics = async () => {}
    undo.push(() => closeMetrics())
    undo.push(() => serving.close())
    if (config.metrics !== null) closeMetrics = await serveMetrics(config.metrics, watching, logger)
    return { address, sample, stop }
  } catch (error) {
    await stop().catch((failed: unknown) =>
      logger.error({ err: failed }, 'a failed start could not be undone'),
    )
    throw error
  }
}

const portTaken = ({ port, host }: Config) =>
  new StartRefused(
    `Port ${port} on ${host} is in use. Stop the program that listens there, or set PORT to another port.`,
  )

const notSafe = (faults: readonly string[]) =>
  `The database is not safe to serve from:\n${faults.map((line) => `  - ${line}`).join('\n')}`

/** Refuses an unsafe database. A worker of Citus that is away is checked when it comes back. */
async function refuseUnsafe(database: Database, log: Log): Promise<void> {
  const { faults, unchecked } = await databaseSafety(database)
  if (faults.length > 0) throw new StartRefused(notSafe(faults))
  if (unchecked.length === 0) return
  for (const worker of unchecked) log.warn({ worker }, 'a worker is away')
  // From now on, its return is noticed.
  await database.workers()
}

const checkAgainMs = 1_000

/** Checks the database again, until it can be checked. */
async function checkAgain(
  database: Database,
  log: Log,
  onUnsafe: (reason: string) => void = () => {},
): Promise<void> {
  try {
    const { faults } = await databaseSafety(database)
    if (faults.length === 0) log.info({}, 'a worker came back and was checked')
    else onUnsafe(notSafe(faults))
  } catch (error) {
    log.warn({ err: error }, 'a worker came back and could not be checked yet')
    setTimeout(() => void checkAgain(database, log, onUnsafe), checkAgainMs).unref()
  }
}

/** Serves metrics. Returns the function that stops serving them. */
async function serveMetrics(
  at: NonNullable<Config['metrics']>,
  watching: Watching,
  log: Log,
): Promise<() => Promise<void>> {
  const onError = (error: unknown) => log.error({ err: error }, 'metrics could not be read')
  const listener = await listenForMetrics(at, watching.read, onError).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error
      throw new StartRefused(
        `Port ${at.port} on ${at.host} is in use. Set METRICS_PORT to another port, or remove it.`,
      )
    },
  )
  log.info({ port: listener.port, host: at.host }, 'metrics are served')
  return listener.close
}

/** Migrates the database. Returns its connection and the secret keys of the installation. */
async function connect(
  config: Config,
  undo: (() => Promise<unknown>)[],
  onDatabaseExit: ((reason: string) => void) | undefined,
  say: (line: string) => void,
): Promise<{ connection: pg.ClientConfig; secretKeys: SecretKeys }> {
  if (config.databaseUrl !== null && config.secretKeys !== null) {
    const connection = { connectionString: config.databaseUrl }
    if (config.migrationDatabaseUrl !== null) {
      await migrate({ connectionString: config.migrationDatabaseUrl }, say)
    } else {
      const missing = await missingMigrations(connection)
      if (missing.length > 0) {
        throw new StartRefused(
          `The database lacks ${missing.join(', ')}. Run npm run migrate with MIGRATION_DATABASE_URL set to its owner's connection.`,
        )
      }
    }
    return { connection, secretKeys: config.secretKeys }
  }
  const postgres = await startEmbeddedPostgres({
    directory: config.dataDirectory,
    log: say,
    ...(onDatabaseExit === undefined ? {} : { onExit: onDatabaseExit }),
  })
  undo.push(() => postgres.stop())
  const { owner, service } = embeddedConnections(postgres)
  await migrate(owner, say)
  return { connection: service, secretKeys: config.secretKeys ?? secretKeysOf(config.dataDirectory) }
}

/**
 * On the first start of a database, stores a check value of the secret key and, in the embedded database, creates the
 * sample brokerage, in one transaction. On later starts, refuses a key that cannot decrypt the check value.
 */
async function firstStart(
  database: Database,
  config: Config,
  signer: Parts['tokens'],
  secretKeys: SecretKeys,
  now: number,
  say: (line: string) => void,
): Promise<SampleAccess | null> {
  const known = await database.outsideTenants(readKeyCheck)
  if (known !== null) {
    if (unsealWithAny(secretKeys, keyCheckPlace, known) !== keyCheckText) {
      throw new StartRefused(
        'The secret key is not the one this database was created with, so no signing secret can be decrypted. Restore LANEWISE_SECRET_KEY (or secret-key in the data folder). While you replace a key, keep the old one in the list, after the new one, until npm run rotate-key is done.',
      )
    }
    return null
  }
  const keyCheck = seal(secretKeys[0], keyCheckPlace, keyCheckText)
  if (config.databaseUrl !== null || !config.sampleBrokerage) {
    const first = await database.outsideTenants((transaction) => writeKeyCheck(transaction, keyCheck))
    // Another first start ran at the same time and stored its key first.
    return first ? null : firstStart(database, config, signer, secretKeys, now, say)
  }
  say('creating a sample brokerage with two years of quotes')
  const maker = sampleMaker(database, signer, secretKeys)
  return database.inTenant(maker.tenant, async (transaction) => {
    if (!(await writeKeyCheck(transaction, keyCheck)))
      throw new StartRefused('Another first start is in progress.')
    return maker.insert(transaction, now)
  })
}
