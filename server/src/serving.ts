import type { Logger } from 'pino'
import { buildApp } from './app.ts'
import { auditHeads } from './audit-heads.ts'
import { backtestRunner } from './backtests/backtest-runner.ts'
import { books } from './book/books.ts'
import { BrokerageBook } from './book/brokerage-book.ts'
import { callLog } from './call-log.ts'
import type { Config } from './config.ts'
import { takePlace } from './database/instances.ts'
import type { Database } from './database/open-database.ts'
import { replicaReads } from './database/replica.ts'
import type { CallLog, Parts } from './endpoints/call.ts'
import { eventSender } from './events/event-sender.ts'
import { importRunner } from './imports/import-runner.ts'
import { readAskedLane } from './lane-places.ts'
import { readiness } from './readiness.ts'
import { refusals as refusalsOf } from './refusals.ts'
import { signatureCheckLimit, tenantLimit } from './security/rate-limit.ts'
import type { SecretKeys } from './security/sealed-secret.ts'
import { signInAttempts } from './security/sign-in-back-off.ts'
import { signUpLimit } from './security/sign-up-limit.ts'
import { tokens } from './security/token.ts'
import { ownLimit, sharedLimit, type TakePlace, tenantWindow } from './tenant-limit.ts'
import { tenantMemory } from './tenant-memory.ts'
import { tenantWatch } from './tenant-watch.ts'
import type { Desk } from './threads/desk.ts'
import type { SharedTenants } from './threads/shared-tenants.ts'
import type { Counted } from './watching/metrics.ts'
import type { Watching } from './watching/start-watching.ts'

/** One thread that answers requests. A service is one of them, or several on one port. */
export interface Serving {
  readonly address: string
  /** What this thread keeps for all, where it is the first. */
  readonly desk: Desk
  /** The calls that this thread itself has counted. */
  readonly counted: CallLog['lastMinute']
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
  /** Its name among the instances of a database; null where the database is its own. */
  readonly instance: string | null
  /** What the threads share; null where there is one only. */
  readonly shared: SharedTenants | null
  /** Null in the first thread, which keeps it. */
  readonly first: Desk | null
  readonly countedElsewhere: CallLog['lastMinute']
  readonly watching: Watching
  readonly migrations: readonly string[]
  readonly listen: { readonly port: number; readonly host: string; readonly reusePort: boolean }
}

/** Tokens and secrets that are remembered: some hundred bytes each. */
export const credentialBytesMax = 32_000_000

const nanosecondsPerMs = 1_000_000

/** Milliseconds that never jump, and are the same for all threads: the clock of a thread itself begins with it. */
export function monotonicClock(): () => number {
  const offset = Number(process.hrtime.bigint()) / nanosecondsPerMs - performance.now()
  return () => performance.now() + offset
}

/** Makes the parts of a thread and lets it listen. Whoever calls it has opened the database, and closes it. */
export async function startServing(options: ServingOptions): Promise<Serving> {
  const { config, database, secretKeys, logger, clock, shared, first, watching, migrations } = options
  const monotonic = monotonicClock()
  const heads = auditHeads({ database, log: logger })
  const refusals = refusalsOf({ database, clock, log: logger })
  const calls = callLog({ database, clock, log: logger })
  const watch = tenantWatch({ database, monotonic, log: logger, shared: shared?.versions ?? null })
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
  let countedAtDesk: Counted['desk'] = null
  // One thread of an instance sends: it waits most of the time.
  const events = first === null ? eventSender({ config, database, secretKeys, clock, log: logger }) : null
  const keepDesk = (): Desk => {
    const imports = importRunner({ database, clock, log: logger })
    const backtests = backtestRunner({ database, staleReads, clock, log: logger })
    countedAtDesk = {
      imports: imports.counts,
      backtests: backtests.counts,
      events: events === null ? null : { counts: events.counts, queue: events.queue },
      readiness: () => readiness({ database, clock, migrations, replica }),
    }
    return {
      signInAttempts: signInAttempts(),
      signUps: signUpLimit(config.signUpsPerHour),
      imports,
      backtests,
      async lastMinute(tenant, now) {
        const [own, others] = await Promise.all([
          calls.lastMinute(tenant, now),
          options.countedElsewhere(tenant, now),
        ])
        return { requests: own.requests + others.requests, refused: own.refused + others.refused }
      },
    }
  }
  const own = shared?.tenantLimit ?? tenantLimit()
  const placeInDatabase: TakePlace = (tenant, given) =>
    takePlace(database, tenant, { ...tenantWindow, given })
  const redis =
    config.redisUrl === null
      ? null
      : await (await import('./redis.ts')).sharedRedis(config.redisUrl, {
          otherwise: placeInDatabase,
          heard: watch.heard,
          monotonic,
          log: logger,
        })
  if (redis !== null) database.onVersionsMoved(redis.tell)
  const limit =
    options.instance === null
      ? ownLimit(own, monotonic)
      : sharedLimit({
          own,
          watch,
          monotonic,
          takePlace: redis?.takePlace ?? placeInDatabase,
        })
  const desk = first ?? keepDesk()
  const memory = tenantMemory(watch, credentialBytesMax)
  const shelf = books({
    database,
    watch,
    make: () => new BrokerageBook(),
    bytesMax: (config.memoryMegabytes * 1_000_000) / config.threads,
    monotonic,
  })
  watching.lookUp({
    connections: database.connections,
    memory: memory.counts,
    books: shelf.counts,
    watch: watch.counts,
    calls: calls.counts,
    replica,
    desk: countedAtDesk,
  })
  const parts: Parts = {
    config,
    database,
    staleReads,
    replica,
    tokens: tokens(...secretKeys),
    secretKeys,
    signInAttempts: desk.signInAttempts,
    signUps: desk.signUps,
    books: shelf,
    migrations,
    memory,
    tenantLimit: watching.metrics.countingTenants(limit),
    signatureCheckLimit: watching.metrics.counting(
      'signature-check',
      shared?.signatureCheckLimit ?? signatureCheckLimit(),
    ),
    calls: { ...calls, lastMinute: desk.lastMinute },
    refusals,
    imports: desk.imports,
    backtests: desk.backtests,
    clock,
    monotonic,
    log: logger,
    metrics: watching.metrics,
    traces: watching.traces,
  }
  const drain = async () => {
    const behind = [
      desk.backtests,
      desk.imports,
      ...(events === null ? [] : [events]),
      shelf,
      calls,
      refusals,
      heads,
    ]
    await inTurn([
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
    const address = await app.listen(options.listen)
    return {
      address,
      desk,
      counted: calls.lastMinute,
      close: () => inTurn([() => app.leave(), () => app.close()]),
      drain,
    }
  } catch (error) {
    await drain()
    throw error
  }
}

/** Takes steps one after the other. One that fails keeps none of the others from being taken. */
export async function inTurn(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failed: unknown[] = []
  for (const step of steps) await step().catch((error: unknown) => failed.push(error))
  if (failed.length > 0) throw failed[0]
}
