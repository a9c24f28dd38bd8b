import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type pg from 'pg'
import { auditHeads } from './audit/index.ts'
import { type Config, installationTokens, makeSecretKey, secretKeysOf } from './configuration/index.ts'
import { writeEventsOn, writeKeyNames } from './database/queries/index.ts'
import { migrate, migrationNames, missingMigrations } from './database/schema/index.ts'
import {
  type Database,
  databaseSafety,
  deadlinesTimes,
  openDatabase,
  startFactor,
  watchedDatabase,
} from './database/session/index.ts'
import {
  embeddedConnections,
  findPlace,
  mkdirOrSay,
  startEmbeddedPostgres,
} from './embedded-postgres/index.ts'
import { firstStart } from './first-start.ts'
import { joinInstances } from './limits/index.ts'
import { type Log, runInOrder } from './runtime/index.ts'
import { giveSampleAccess, type SampleAccess } from './sample/index.ts'
import { keyName, type SecretKeys } from './security/index.ts'
import { startServing } from './serving.ts'
import { StartRefused } from './start-failure.ts'
import { type Progress, startProgress } from './start-progress.ts'
import { listenForMetrics, serviceLog, startWatching, type Watching } from './watching/index.ts'

export interface RunningService {
  readonly address: string
  /** The credentials of the sample brokerage, on the first start that shows them. */
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
  const progress = startProgress(say, monotonic)
  const undo: (() => Promise<unknown>)[] = []
  // The database stops last.
  const stop = () => runInOrder(undo.splice(0).reverse())
  try {
    // Checked before the work of a first start, which takes minutes on a busy machine.
    if (config.databaseUrl === null) for (const place of placesOf(config)) await refuseTakenPort(place)
    const { connection, secretKeys } = await connect(config, undo, options.onDatabaseExit, progress)
    const instance = config.databaseUrl === null ? null : randomUUID()
    const watching = await startWatching(config, { log: logger, monotonic })
    progress.step('opening the database')
    const { patient, closePatient } = await openPatiently(config, connection, logger)
    undo.push(closePatient)
    const opened = await openDatabase({
      connection,
      deadlines: deadlinesTimes(config.deadlineFactor),
      ...(instance === null ? {} : { instance }),
      transactionsPerBrokerage: config.transactionsPerBrokerage,
      onIdleError: warnOfIdle(logger),
      like: patient,
    })
    undo.push(() => opened.close())
    const database = watching.transaction === null ? opened : watchedDatabase(opened, watching.transaction)
    progress.step('checking the isolation of tenants')
    await refuseUnsafe(patient, database, logger)
    database.onWorkerBack(() => void checkAgain(database, logger, options.onUnsafe))

    await firstStart(patient, config, secretKeys, clock(), progress)
    await describeInstallation(patient, config, secretKeys)
    progress.step('preparing to listen')
    if (instance !== null) {
      const presence = await joinInstances(database, instance, logger, patient)
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
      throw refusedPort(servicePlace(config), error) ?? error
    })
    const { address } = serving
    undo.push(() => serving.drain())
    // Metrics are served until the last request is answered.
    let closeMetrics = async () => {}
    undo.push(() => closeMetrics())
    undo.push(() => serving.close())
    if (config.metrics !== null) closeMetrics = await serveMetrics(config.metrics, watching, logger)
    // Last, because credentials are shown once: a start that fails before leaves them to the next start.
    const sample = await sampleAccess(config, patient, secretKeys, clock())
    await closePatient()
    return { address, sample, stop }
  } catch (error) {
    await stop().catch((failed: unknown) =>
      logger.error({ err: failed }, 'a failed start could not be undone'),
    )
    throw error
  } finally {
    progress.stop()
  }
}

/** The credentials of the sample brokerage; null if this installation has none. */
async function sampleAccess(
  config: Config,
  database: Database,
  secretKeys: SecretKeys,
  now: number,
): Promise<SampleAccess | null> {
  if (config.databaseUrl !== null || !config.sampleBrokerage) return null
  return await giveSampleAccess(database, { tokens: installationTokens(config, secretKeys), secretKeys, now })
}

/**
 * Opens the database for the start's own work, with longer deadlines than those of requests. A second call of the function that
 * closes it waits for the first.
 */
async function openPatiently(
  config: Config,
  connection: pg.ClientConfig,
  logger: Log,
): Promise<{ patient: Database; closePatient: () => Promise<void> }> {
  const patient = await openDatabase({
    connection,
    deadlines: deadlinesTimes(config.deadlineFactor * startFactor),
    setsSessions: config.databaseUrl === null,
    connectionsMax: 2,
    onIdleError: warnOfIdle(logger),
  })
  const heads = auditHeads({ database: patient, log: logger })
  let closing: Promise<void> | null = null
  const closePatient = () => {
    closing ??= runInOrder([() => heads.drain(), () => patient.close()])
    return closing
  }
  return { patient, closePatient }
}

const warnOfIdle = (logger: Log) => (error: Error) =>
  logger.warn({ err: error }, 'an idle database connection was lost')

async function describeInstallation(
  database: Database,
  config: Config,
  secretKeys: SecretKeys,
): Promise<void> {
  // By these names, the command rotate-key checks that every service can decrypt what it encrypts.
  await database.outsideTenants((transaction) => writeKeyNames(transaction, secretKeys.map(keyName)))
  // From now on, changes in the database write events if events are on.
  await database.outsideTenants((transaction) => writeEventsOn(transaction, config.events !== null))
}

/** Where the service listens, and the prefix of the settings that say so. */
interface Place {
  readonly port: number
  readonly host: string
  readonly prefix: '' | 'METRICS_'
}

const servicePlace = ({ port, host }: Config): Place => ({ port, host, prefix: '' })
const metricsPlace = (at: NonNullable<Config['metrics']>): Place => ({ ...at, prefix: 'METRICS_' })
const placesOf = (config: Config) => [
  servicePlace(config),
  ...(config.metrics === null ? [] : [metricsPlace(config.metrics)]),
]

/** @throws StartRefused if the service could not listen */
async function refuseTakenPort(place: Place): Promise<void> {
  const { port, host } = place
  const server = createServer()
  try {
    server.listen({ port, host })
    await once(server, 'listening')
  } catch (error) {
    throw refusedPort(place, error as NodeJS.ErrnoException) ?? error
  }
  server.close()
  await once(server, 'close')
}

/** Why the service cannot listen; null for another error. */
function refusedPort(
  { port, host, prefix }: Place,
  { code = '', syscall = '' }: NodeJS.ErrnoException,
): StartRefused | null {
  // Errors of files have the same codes.
  if (!['listen', 'bind', 'getaddrinfo'].includes(syscall)) return null
  if (code === 'EADDRINUSE')
    return new StartRefused(
      `Port ${port} on ${host} is in use. Stop the program that listens there, or set ${prefix}PORT to another port.`,
    )
  if (code === 'EACCES')
    return new StartRefused(
      `This user may not listen on port ${port}. Set ${prefix}PORT to a port from 1024 on, or run the service behind a proxy.`,
    )
  if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code))
    return new StartRefused(
      `This machine has no address ${host}. Set ${prefix}HOST to one of its addresses, such as 127.0.0.1.`,
    )
  return null
}

const notSafe = (faults: readonly string[]) =>
  `The database is not safe to serve from:\n${faults.map((line) => `  - ${line}`).join('\n')}`

/** Refuses an unsafe database. A worker of Citus that is away is checked when it comes back. */
async function refuseUnsafe(patient: Database, database: Database, log: Log): Promise<void> {
  const { faults, unchecked, newer, unreviewed } = await databaseSafety(patient)
  if (faults.length > 0) throw new StartRefused(notSafe(faults))
  if (newer.length > 0) log.warn({ newer, unreviewed }, 'a newer version has migrated the database')
  if (unchecked.length === 0) return
  for (const worker of unchecked) log.warn({ worker }, 'a worker is away')
  // From this call on, the return of an absent worker is noticed.
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
      throw refusedPort(metricsPlace(at), error) ?? error
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
  progress: Progress,
): Promise<{ connection: pg.ClientConfig; secretKeys: SecretKeys }> {
  const { say } = progress
  if (config.databaseUrl !== null && config.secretKeys !== null) {
    const connection = { connectionString: config.databaseUrl }
    if (config.migrationDatabaseUrl !== null) {
      progress.step('migrating the database')
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
  // Before the database exists, so that a database without a key file is always one whose key is lost.
  if (config.secretKeys === null && findPlace(config.dataDirectory) === null) {
    mkdirOrSay(config.dataDirectory)
    makeSecretKey(config.dataDirectory)
  }
  progress.step('starting PostgreSQL')
  const postgres = await startEmbeddedPostgres({
    directory: config.dataDirectory,
    log: say,
    ...(onDatabaseExit === undefined ? {} : { onExit: onDatabaseExit }),
  })
  undo.push(() => postgres.stop())
  const { owner, service } = embeddedConnections(postgres)
  progress.step('migrating the database')
  await migrate(owner, say)
  return { connection: service, secretKeys: config.secretKeys ?? secretKeysOf(config.dataDirectory) }
}
