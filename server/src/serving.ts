import type { Logger } from 'pino'
import { auditHeads, callLog, refusals as refusalsOf } from './audit/index.ts'
import { backtestRunner } from './backtests/index.ts'
import { BrokerageBook, books } from './book/index.ts'
import { tenantMemory, tenantWatch } from './cache/index.ts'
import type { Config } from './configuration/index.ts'
import { takePermit } from './database/queries/index.ts'
import { type Database, replicaReads } from './database/session/index.ts'
import type { Parts } from './endpoints/index.ts'
import { eventSender } from './events/index.ts'
import { buildApp } from './http/index.ts'
import { importRunner } from './imports/index.ts'
import { readAskedLane } from './lanes/index.ts'
import { ownLimit, sharedLimit, sharedRedis, type TakePermit, tenantWindow } from './limits/index.ts'
import { runInOrder } from './runtime/index.ts'
import {
  type SecretKeys,
  signatureCheckLimit,
  signInAttempts,
  signUpLimit,
  tenantLimit,
  tokens,
} from './security/index.ts'
import { readiness, type Watching } from './watching/index.ts'

/** The service while it answers requests. */
export interface Serving {
  readonly address: string
  /** Sends everybody away in peace, and shuts the door. */
  close(): Promise<void>
  /** Lets what goes on behind the answers end. The database is still needed. */
  drain(): Promise<void>
}

export interface ServingOptions {
  readonly config: Config
  readonly database: Database
  readonly secretKeys: SecretKeys
  readonly logger: Logger
  readonly clock: () => number
  /** Milliseconds that never jump. */
  readonly monotonic: () => number
  /** Its name among the instances of a database; null where the database is its own. */
  readonly instance: string | null
  readonly watching: Watching
  readonly migrations: readonly string[]
}

/** Tokens and secrets that are remembered: some hundred bytes each. */
export const credentialBytesMax = 32_000_000

/** Makes the parts of the service and lets it listen. Whoever calls it has opened the database, and closes it. */
export async function startServing(options: ServingOptions): Promise<Serving> {
  const { config, database, secretKeys, logger, clock, monotonic, watching, migrations } = options
  const heads = auditHeads({ database, log: logger })
  const refusals = refusalsOf({ database, clock, log: logger })
  const calls = callLog({ database, clock, log: logger })
  const watch = tenantWatch({ database, monotonic, log: logger })
  const replica =
    config.databaseReplicaUrl === null
      ? null
      : replicaReads({
          connection: { connectionString: config.databaseReplicaUrl },
          primary: database,
          monotonic,
          warn: (fields, message) => logger.warn(fields, message),
        })
  await replica?.look()
  const staleReads = replica ?? database
  const events = eventSender({ config, database, secretKeys, clock, log: logger })
  const imports = importRunner({ database, clock, log: logger })
  const backtests = backtestRunner({ database, staleReads, clock, log: logger })
  const own = tenantLimit()
  const permitInDatabase: TakePermit = (tenant, alreadyAdmitted) =>
    takePermit(database, tenant, { ...tenantWindow, alreadyAdmitted })
  const redis =
    config.redisUrl === null
      ? null
      : await sharedRedis(config.redisUrl, {
          fallback: permitInDatabase,
          onTenantChanged: (tenant, versions) => watch.applyVersions(tenant, versions),
          monotonic,
          log: logger,
        })
  if (redis !== null) database.onVersionsMoved(redis.publish)
  const limit =
    options.instance === null
      ? ownLimit(own, monotonic)
      : sharedLimit({
          own,
          watch,
          monotonic,
          takePermit: redis?.takePermit ?? permitInDatabase,
        })
  const memory = tenantMemory(watch, credentialBytesMax)
  const shelf = books({
    database,
    watch,
    make: () => new BrokerageBook(),
    bytesMax: config.memoryMegabytes * 1_000_000,
    monotonic,
  })
  watching.lookUp({
    connections: database.connections,
    memory: () => memory.counts(),
    books: shelf.counts,
    watch: () => watch.counts(),
    calls: () => calls.counts(),
    replica,
    imports: imports.counts,
    backtests: backtests.counts,
    events: events === null ? null : { counts: events.counts, queue: events.queue },
    readiness: () => readiness({ database, clock, migrations, replica }),
  })
  const parts: Parts = {
    config,
    database,
    staleReads,
    replica,
    tokens: tokens(...secretKeys),
    secretKeys,
    signInAttempts: signInAttempts(),
    signUps: signUpLimit(config.signUpsPerHour),
    books: shelf,
    migrations,
    memory,
    tenantLimit: watching.metrics.countingTenants(limit),
    signatureCheckLimit: watching.metrics.counting('signature-check', signatureCheckLimit()),
    calls,
    refusals,
    imports,
    backtests,
    clock,
    monotonic,
    log: logger,
    metrics: watching.metrics,
    traces: watching.traces,
  }
  const drain = async () => {
    const behind = [backtests, imports, ...(events === null ? [] : [events]), shelf, calls, refusals, heads]
    await runInOrder([
      ...behind.map((one) => () => one.drain()),
      () => watch.stop(),
      async () => redis?.close(),
      async () => replica?.close(),
      () => watching.stop(),
    ])
  }
  try {
    // All places are read before the first caller waits: half a second of parsing would hold up everybody.
    readAskedLane({ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' })
    const app = await buildApp(parts, logger)
    const address = await app.listen({ port: config.port, host: config.host })
    return {
      address,
      close: () => runInOrder([() => app.leave(), () => app.close()]),
      drain,
    }
  } catch (error) {
    await drain()
    throw error
  }
}
