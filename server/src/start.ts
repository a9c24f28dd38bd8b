import { performance } from 'node:perf_hooks'
import type pg from 'pg'
import { gazetteer } from '#geography/gazetteer.ts'
import { buildApp } from './app.ts'
import { auditHeads } from './audit-heads.ts'
import { backtestRunner } from './backtests/backtest-runner.ts'
import { callLog } from './call-log.ts'
import type { Config } from './config.ts'
import { embeddedConnections, startEmbeddedPostgres } from './database/embedded-postgres.ts'
import { readKeyCheck, writeKeyCheck, writeKeyNames } from './database/installation.ts'
import { migrate, missingMigrations } from './database/migrate.ts'
import { type Database, openDatabase } from './database/open-database.ts'
import { missingWalls } from './database/walls.ts'
import type { Parts } from './endpoints/call.ts'
import { importRunner } from './imports/import-runner.ts'
import { keyCheckPlace, keyCheckText } from './key-check.ts'
import { refusals as refusalsOf } from './refusals.ts'
import { type SampleAccess, sampleMaker } from './sample/insert-sample.ts'
import { secretKeysOf } from './secret-key-file.ts'
import { signatureCheckLimit, tenantLimit } from './security/rate-limit.ts'
import { keyName, type SecretKeys, seal, unsealWithAny } from './security/sealed-secret.ts'
import { signInBackOff } from './security/sign-in-back-off.ts'
import { tokens } from './security/token.ts'
import { serviceLog } from './service-log.ts'
import { tenantMemory } from './tenant-memory.ts'
import { tenantModels } from './tenant-models.ts'
import { tenantWatch } from './tenant-watch.ts'

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
  const undo: (() => Promise<unknown>)[] = []
  const stop = async () => {
    const failed: unknown[] = []
    // A step that fails keeps none of the others from being taken: the database is the last of them.
    for (const step of undo.splice(0).reverse()) await step().catch((error: unknown) => failed.push(error))
    if (failed.length > 0) throw failed[0]
  }
  try {
    const { connection, secretKeys } = await connect(config, undo, options.onDatabaseExit, say)
    const database = await openDatabase({
      connection,
      onIdleError: (error) => logger.warn({ err: error }, 'an idle database connection was lost'),
    })
    undo.push(() => database.close())
    const walls = await missingWalls(database)
    if (walls.length > 0)
      throw new StartRefused(
        `The database is not safe to serve from:\n${walls.map((line) => `  - ${line}`).join('\n')}`,
      )

    const signer = tokens(...secretKeys)
    const sample = await firstStart(database, config, signer, secretKeys, clock(), say)
    // A command that seals secrets anew asks whether this service could open them.
    await database.outsideTenants((transaction) => writeKeyNames(transaction, secretKeys.map(keyName)))
    const heads = auditHeads({ database, log: logger })
    undo.push(() => heads.drain())
    const refusals = refusalsOf({ database, clock, log: logger })
    undo.push(() => refusals.drain())
    const imports = importRunner({ database, clock, log: logger })
    const backtests = backtestRunner({ database, clock, log: logger })
    const calls = callLog({ database, clock, log: logger })
    const monotonic = () => performance.now()
    const watch = tenantWatch({ database, monotonic, log: logger })
    undo.push(() => watch.stop())
    const parts: Parts = {
      config,
      database,
      tokens: signer,
      secretKeys,
      signInBackOff: signInBackOff(),
      models: tenantModels(),
      memory: tenantMemory(watch, config.memoryMegabytes * 1_000_000),
      tenantLimit: tenantLimit(),
      signatureCheckLimit: signatureCheckLimit(),
      calls,
      refusals,
      imports,
      backtests,
      clock,
      monotonic,
      log: logger,
    }
    // Read once before the first caller waits: half a second of parsing would hold up everybody.
    gazetteer()
    const app = await buildApp(parts, logger)
    const address = await app
      .listen({ port: config.port, host: config.host })
      .catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE') throw error
        throw new StartRefused(
          `Port ${config.port} on ${config.host} is in use. Stop what listens there, or set PORT to another one.`,
        )
      })
    undo.push(() => calls.drain())
    undo.push(() => imports.drain())
    undo.push(() => backtests.drain())
    undo.push(() => app.close())
    undo.push(() => app.leave())
    return { address, sample, stop }
  } catch (error) {
    await stop().catch((failed: unknown) =>
      logger.error({ err: failed }, 'a failed start could not be undone'),
    )
    throw error
  }
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
