import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { callLog, type Refusals, refusals } from '#server/audit/index.ts'
import { backtestRunner } from '#server/backtests/index.ts'
import { BrokerageBook, books } from '#server/book/index.ts'
import { tenantMemory, tenantWatch } from '#server/cache/index.ts'
import { type Config, readConfig } from '#server/configuration/index.ts'
import { writeEventsOn } from '#server/database/queries/index.ts'
import { migrationNames } from '#server/database/schema/index.ts'
import { type Database, openDatabase, type Replica, watchedDatabase } from '#server/database/session/index.ts'
import type { Parts } from '#server/endpoints/index.ts'
import { eventSender } from '#server/events/index.ts'
import { buildApp } from '#server/http/index.ts'
import { importRunner } from '#server/imports/index.ts'
import { ownLimit } from '#server/limits/index.ts'
import type { Log } from '#server/runtime/index.ts'
import {
  type SecretKey,
  type SecretKeys,
  secretKey,
  signatureCheckLimit,
  signInAttempts,
  signUpLimit,
  type Tokens,
  tenantLimit,
  tokens,
} from '#server/security/index.ts'
import { credentialBytesMax } from '#server/serving.ts'
import { noMetrics, noTraces, readiness, serviceLog, type Watching } from '#server/watching/index.ts'
import type { TestDatabase } from './cloned-database.ts'
import { manySignUps } from './running-service.ts'

/** The whole service on a database of its own, behind a real socket, with a clock that the test holds. */
export interface TestApp {
  readonly url: string
  readonly database: Database
  readonly testDatabase: TestDatabase
  readonly tokens: Tokens
  readonly secretKey: SecretKey
  /** Refusals are written into the audit log behind the requests: `settle()` waits for what is due. */
  readonly refusals: Refusals
  /** The server's clock, epoch milliseconds. Set it to move it. */
  now: number
  /** Every line the service logged. */
  readonly logLines: string[]
  /** Hands the service a request without a socket: several times as fast. */
  readonly inject: FastifyInstance['inject']
  /** Waits until what the service does behind its answers is done. */
  settle(): Promise<void>
  close(): Promise<void>
}

/** What a test may want otherwise than usual. */
export interface TestAppOptions {
  rateLimit?: 'real'
  /** The clock of the limits, in milliseconds, where a test holds that, too. */
  monotonic?: () => number
  config?: Partial<Config>
  now?: number
  /** The key of the installation, and others behind it that still open and verify. */
  secretKeys?: SecretKeys
  /** Connections in the service's pool. */
  connectionsMax?: number
  /** A replica of the database, made for the one that the service works on. */
  replica?: (database: Database) => Replica
  /** Stands between the service and its database, to make it fail. */
  wrapDatabase?: (database: Database) => Database
  /** The log of calls works behind the requests, so it has a way to the database of its own. */
  wrapCallLogDatabase?: (database: Database) => Database
  /** Changes the server before it listens: plants the faults that a test must find. */
  plant?: (server: FastifyInstance) => void
  /** Counts and traces, where a test looks at them. */
  watching?: (log: Log) => Promise<Watching>
  /** The migrations that the service takes for its own. */
  migrations?: readonly string[]
  /** Sends events, by this where it is given: otherwise they are written down and wait. */
  sendEvents?: Parameters<typeof eventSender>[1]
  /** How often undos whose process was lost are looked for; absent: never. */
  resumeUndosEveryMs?: number
  /** Walks backtests in the place of the service's own thread, to make it fail. */
  backtestThread?: URL
}

/**
 * Starts a service on a database. By default the tenant limit never bites: its clock moves on by a second with every
 * look. `rateLimit: 'real'` gives it the real one. Sign-ups have a limit that only their own test comes near. Closing it leaves the database there.
 */
export async function appOn(ownDatabase: TestDatabase, options: TestAppOptions = {}): Promise<TestApp> {
  const key = options.secretKeys?.[0] ?? secretKey(randomBytes(32).toString('base64'))
  if (key === null) throw new Error('No key.')
  const keys = options.secretKeys ?? ([key] as const)
  const opened = await openDatabase({
    connection: ownDatabase.service,
    ...(options.connectionsMax === undefined ? {} : { connectionsMax: options.connectionsMax }),
  })
  const logLines: string[] = []
  const logger = serviceLog('info', { write: (line) => logLines.push(line) })
  const wrapped = options.wrapDatabase?.(opened) ?? opened
  const watching = await options.watching?.(logger)
  const database = watching?.transaction == null ? wrapped : watchedDatabase(wrapped, watching.transaction)
  const replica = options.replica?.(database) ?? null
  const staleReads = replica ?? database
  let stepping = 0
  const app: Omit<TestApp, 'inject'> = {
    url: '',
    database,
    testDatabase: ownDatabase,
    tokens: tokens(...keys),
    secretKey: key,
    refusals: refusals({ database: opened, clock: () => app.now, log: logger }),
    now: options.now ?? Date.now(),
    logLines,
    settle: async () => {},
    close: async () => {},
  }
  const clock = () => app.now
  const config = { ...readConfig({ EVENTS: 'on', SIGN_UPS_PER_HOUR: manySignUps }), ...options.config }
  await opened.outsideTenants((transaction) => writeEventsOn(transaction, config.events !== null))
  const watch = tenantWatch({ database, monotonic: () => performance.now(), log: logger })
  const monotonic =
    options.monotonic ?? (options.rateLimit === 'real' ? () => performance.now() : () => (stepping += 1000))
  const memory = tenantMemory(watch, credentialBytesMax)
  const shelf = books({
    database,
    watch,
    make: () => new BrokerageBook(),
    bytesMax: config.memoryMegabytes * 1_000_000,
    monotonic: () => performance.now(),
  })
  const calls = callLog({ database: options.wrapCallLogDatabase?.(opened) ?? opened, clock, log: logger })
  const imports = importRunner(
    { database, clock, log: logger },
    { resumeEveryMs: options.resumeUndosEveryMs ?? null },
  )
  const backtests = backtestRunner(
    { database, staleReads, clock, log: logger },
    options.backtestThread === undefined ? {} : { threadFile: options.backtestThread },
  )
  const events =
    options.sendEvents === undefined
      ? null
      : eventSender({ config, database, secretKeys: keys, clock, log: logger }, options.sendEvents)
  const migrations = options.migrations ?? (await migrationNames())
  watching?.lookUp({
    connections: database.connections,
    memory: memory.counts,
    books: shelf.counts,
    watch: watch.counts,
    calls: calls.counts,
    replica,
    imports: imports.counts,
    backtests: backtests.counts,
    events: events === null ? null : { counts: events.counts, queue: events.queue },
    readiness: () => readiness({ database, clock, migrations, replica }),
  })
  const metrics = watching?.metrics ?? noMetrics
  const parts: Parts = {
    config,
    database,
    staleReads,
    replica,
    tokens: app.tokens,
    secretKeys: keys,
    signInAttempts: signInAttempts(),
    signUps: signUpLimit(config.signUpsPerHour),
    books: shelf,
    migrations,
    memory,
    tenantLimit: metrics.countingTenants(ownLimit(tenantLimit(), monotonic)),
    signatureCheckLimit: metrics.counting('signature-check', signatureCheckLimit()),
    calls,
    refusals: app.refusals,
    imports,
    backtests,
    clock,
    monotonic,
    log: logger,
    metrics,
    traces: watching?.traces ?? noTraces,
  }
  const server = await buildApp(parts, logger)
  options.plant?.(server)
  const url = await server.listen({ port: 0, host: '127.0.0.1' })
  return Object.assign(app, {
    url,
    inject: server.inject.bind(server) as FastifyInstance['inject'],
    settle: async () => {
      await parts.calls.flush()
      await app.refusals.settle()
    },
    close: async () => {
      await server.close()
      await events?.drain()
      await parts.calls.drain()
      await app.refusals.drain()
      await parts.imports.drain()
      await parts.backtests.drain()
      await watch.stop()
      await watching?.stop()
      await replica?.close()
      await opened.close()
    },
  })
}
