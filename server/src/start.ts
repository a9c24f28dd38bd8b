import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { keyCheckPlace, keyCheckText } from './access/index.ts'
import { type Config, secretKeysOf } from './configuration/index.ts'
import { readKeyCheck, writeEventsOn, writeKeyCheck, writeKeyNames } from './database/queries/index.ts'
import { migrate, migrationNames, missingMigrations } from './database/schema/index.ts'
import {
  type Database,
  databaseSafetyFaults,
  openDatabase,
  openReplica,
  replicaFaults,
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

/** A reason not to start, fit to be shown to the operator as it is. */
export class StartRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StartRefused'
  }
}

export interface RunningService {
  readonly address: string
  /** Only on the start that made the sample brokerage. */
  readonly sample: SampleAccess | null
  /** Answers what has begun, takes no more, and stops the database that was started for it. */
  stop(): Promise<void>
}

/** Starts the service: database, migrations, walls, sample brokerage, HTTP. Anything that fails undoes what came before. */
export async function startService(
  config: Config,
  options: {
    clock?: () => number
    onDatabaseExit?: (reason: string) => void
    say?: (line: string) => void
  } = {},
): Promise<RunningService> {
  const { clock = Date.now, say = () => {} } = options
  const logger = serviceLog(config.logLevel)
  const monotonic = () => performance.now()
  const undo: (() => Promise<unknown>)[] = []
  // The database is the last of them.
  const stop = () => runInOrder(undo.splice(0).reverse())
  try {
    const { connection, secretKeys } = await connect(config, undo, options.onDatabaseExit, say)
    const instance = config.databaseUrl === null ? null : randomUUID()
    const watching = await startWatching(config, { log: logger, monotonic })
    const opened = await openDatabase({
      connection,
      ...(instance === null ? {} : { instance }),
      onIdleError: (error) => logger.warn({ err: error }, 'an idle database connection was lost'),
    })
    undo.push(() => opened.close())
    const database = watching.transaction === null ? opened : watchedDatabase(opened, watching.transaction)
    const walls = await databaseSafetyFaults(database)
    if (walls.length > 0)
      throw new StartRefused(
        `The database is not safe to serve from:\n${walls.map((line) => `  - ${line}`).join('\n')}`,
      )

    if (config.databaseReplicaUrl !== null) await refuseUnsafeReplica(config.databaseReplicaUrl, opened)

    const signer = tokens(...secretKeys)
    const sample = await firstStart(database, config, signer, secretKeys, clock(), say)
    // A command that seals secrets anew asks whether this service could open them.
    await database.outsideTenants((transaction) => writeKeyNames(transaction, secretKeys.map(keyName)))
    // What is written down from now on is told of, or is not.
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
    // Until nobody is answered any more, whoever watches the service sees it go.
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
  new StartRefused(`Port ${port} on ${host} is in use. Stop what listens there, or set PORT to another one.`)

/** One that cannot be reached is asked later; one that is there and not safe to read from is a mistake. */
async function refuseUnsafeReplica(url: string, primary: Database): Promise<void> {
  const replica = await openReplica({ connectionString: url }).catch(() => null)
  if (replica === null) return
  try {
    const faults = await replicaFaults(primary, replica)
    if (faults.length === 0) return
    throw new StartRefused(
      `The replica is not safe to read from:\n${faults.map((line) => `  - ${line}`).join('\n')}`,
    )
  } finally {
    await replica.close()
  }
}

/** Serves the numbers to who watches the service, and answers how to end that. */
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
        `Port ${at.port} on ${at.host} is in use. Set METRICS_PORT to another one, or leave it out.`,
      )
    },
  )
  log.info({ port: listener.port, host: at.host }, 'metrics are served')
  return listener.close
}

/** The database to serve from, migrated, and the key of the installation. */
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
 * On the first start of a database: notes which secret key it belongs to and, on the embedded one, makes the sample
 * brokerage, in one transaction. On every other: refuses a key that does not open what the database holds.
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
        'The secret key is not the one this database was made with: no signing secret would open. Restore LANEWISE_SECRET_KEY (or secret-key in the data folder). A key that is being replaced stays in the list, behind the new one, until npm run rotate-key is done.',
      )
    }
    return null
  }
  const keyCheck = seal(secretKeys[0], keyCheckPlace, keyCheckText)
  if (config.databaseUrl !== null || !config.sampleBrokerage) {
    const first = await database.outsideTenants((transaction) => writeKeyCheck(transaction, keyCheck))
    // Another first start was quicker: its key is the one that counts.
    return first ? null : firstStart(database, config, signer, secretKeys, now, say)
  }
  say('making a sample brokerage with two years of quotes')
  const maker = sampleMaker(database, signer, secretKeys)
  return database.inTenant(maker.tenant, async (transaction) => {
    if (!(await writeKeyCheck(transaction, keyCheck)))
      throw new StartRefused('Another first start is under way.')
    return maker.insert(transaction, now)
  })
}
