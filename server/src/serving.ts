import type { Logger } from 'pino'
import { auditHeads, callLog, refusals as refusalsOf } from './audit/index.ts'
import { backtestRunner } from './backtests/index.ts'
import { type Books, BrokerageBook, books } from './book/index.ts'
import { type TenantWatch, tenantMemory, tenantWatch } from './cache/index.ts'
import { type Config, installationTokens } from './configuration/index.ts'
import { readVerifiedBackup, takePermit } from './database/queries/index.ts'
import type { Database } from './database/session/index.ts'
import type { Parts } from './endpoints/index.ts'
import { eventSender } from './events/index.ts'
import { quoteExpirer } from './expiry/index.ts'
import { buildApp } from './http/index.ts'
import { importRunner } from './imports/index.ts'
import { fileTurns, ownLimit, sharedLimit, type TenantLimit, tenantWindow } from './limits/index.ts'
import { loadPlaces } from './quotes/index.ts'
import { runInOrder } from './runtime/index.ts'
import {
  eventTestLimit,
  type SecretKeys,
  signatureCheckLimit,
  signInAttempts,
  signUpLimit,
  tenantLimit,
} from './security/index.ts'
import { readiness, type Watching } from './watching/index.ts'

/** A service that answers requests. */
export interface Serving {
  readonly address: string
  /** Answers the requests in flight, closes their connections, and closes the port. */
  close(): Promise<void>
  /** Finishes or stops the background work, which still needs the database. */
  drain(): Promise<void>
}

export interface ServingOptions {
  readonly config: Config
  readonly database: Database
  readonly secretKeys: SecretKeys
  readonly logger: Logger
  readonly clock: () => number
  /** A monotonic clock, in milliseconds. */
  readonly monotonic: () => number
  /** The name of this instance among those that share the database; null when the database is its own. */
  readonly instance: string | null
  readonly watching: Watching
  readonly migrations: readonly string[]
}

/** The memory for cached tokens and secrets, of some hundred bytes each. */
const credentialBytesMax = 32_000_000

/** Makes the parts of the service and starts listening. The caller opens the database, and closes it. */
export async function startServing(options: ServingOptions): Promise<Serving> {
  const { parts, drain } = await makeParts(options)
  const { config, logger } = options
  try {
    // Before the first request, because loading takes most of a second.
    loadPlaces()
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

/** Makes the parts of the service, and the function that stops their background work in order. */
async function makeParts(options: ServingOptions): Promise<{ parts: Parts; drain: () => Promise<void> }> {
  const { config, database, secretKeys, logger, clock, monotonic, watching } = options
  const log = logger
  const watch = tenantWatch({ database, monotonic, log })
  const heads = auditHeads({ database, log })
  const { parts, drain } = connectParts(options, {
    watch,
    limit: limitOf(options, watch),
    books: booksOf(options, watch),
    refusals: refusalsOf({ database, clock, log }),
    calls: callLog({ database, clock, log }),
    events: eventSender({ config, database, secretKeys, clock, log }),
    imports: importRunner({ database, log }),
    expirer: quoteExpirer({ database, log }),
    backtests: backtestRunner({ database, clock, log }),
  })
  return {
    parts,
    drain: () => runInOrder([drain, () => heads.drain(), () => watch.stop(), () => watching.stop()]),
  }
}

/** The books of the brokerages, within the configured memory. */
export function booksOf(
  { config, database, monotonic }: Pick<ServingOptions, 'config' | 'database' | 'monotonic'>,
  watch: TenantWatch,
): Books<BrokerageBook> {
  return books({
    database,
    watch,
    make: () => new BrokerageBook(),
    bytesMax: config.memoryMegabytes * 1_000_000,
    monotonic,
  })
}

/** The parts that a test makes with its own options. */
interface ConnectedParts extends Pick<Parts, 'books' | 'refusals'> {
  readonly watch: TenantWatch
  readonly limit: TenantLimit
  readonly calls: ReturnType<typeof callLog>
  readonly events: ReturnType<typeof eventSender>
  readonly imports: ReturnType<typeof importRunner>
  readonly expirer: ReturnType<typeof quoteExpirer>
  readonly backtests: ReturnType<typeof backtestRunner>
}

/** Completes the parts of the service, and reports their counts to the metrics. `drain` stops their background work. */
export function connectParts(
  options: Omit<ServingOptions, 'instance'>,
  { watch, limit, events, expirer, ...made }: ConnectedParts,
): { parts: Parts; drain: () => Promise<void> } {
  const { config, database, secretKeys, logger, clock, monotonic, watching, migrations } = options
  const { books, refusals, calls, imports, backtests } = made
  const memory = tenantMemory(watch, credentialBytesMax)
  watching.lookUp({
    connections: database.connections,
    memory: () => memory.counts(),
    books: books.counts,
    watch: () => watch.counts(),
    calls: () => calls.counts(),
    workers: database.workersLastSeen,
    imports: imports.counts,
    backtests: backtests.counts,
    events: events === null ? null : { counts: events.counts, queue: events.queue },
    readiness: () => readiness({ database, clock, migrations }),
    verifiedBackup: () => database.outsideTenants(readVerifiedBackup),
  })
  const parts: Parts = {
    ...made,
    config,
    database,
    files: fileTurns(database.shares),
    tokens: installationTokens(config, secretKeys),
    secretKeys,
    signInAttempts: signInAttempts(),
    signUps: signUpLimit(config.signUpsPerHour),
    migrations,
    memory,
    tenantLimit: watching.metrics.countingTenants(limit),
    signatureCheckLimit: watching.metrics.counting('signature-check', signatureCheckLimit()),
    eventTestLimit: watching.metrics.counting('event-test', eventTestLimit()),
    clock,
    monotonic,
    log: logger,
    metrics: watching.metrics,
    traces: watching.traces,
  }
  const background = [
    expirer,
    backtests,
    imports,
    ...(events === null ? [] : [events]),
    books,
    calls,
    refusals,
  ]
  return { parts, drain: () => runInOrder(background.map((part) => () => part.drain())) }
}

/** The rate limit of tenants: of this process alone, or shared in the database. */
function limitOf({ database, instance, monotonic }: ServingOptions, watch: TenantWatch): TenantLimit {
  const own = tenantLimit()
  if (instance === null) return ownLimit(own, monotonic)
  return sharedLimit({
    own,
    watch,
    monotonic,
    takePermit: (tenant, alreadyAdmitted) =>
      takePermit(database, tenant, { ...tenantWindow, alreadyAdmitted }),
  })
}
