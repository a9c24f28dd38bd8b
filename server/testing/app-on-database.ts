import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { callLog, type Refusals, refusals } from '#server/audit/index.ts'
import { backtestRunner } from '#server/backtests/index.ts'
import { tenantWatch } from '#server/cache/index.ts'
import { type Config, installationTokens, readConfig } from '#server/configuration/index.ts'
import { writeEventsOn } from '#server/database/queries/index.ts'
import { migrationNames } from '#server/database/schema/index.ts'
import {
  type Database,
  type Deadlines,
  openDatabase,
  watchedDatabase,
} from '#server/database/session/index.ts'
import { eventSender } from '#server/events/index.ts'
import { quoteExpirer } from '#server/expiry/index.ts'
import { buildApp } from '#server/http/index.ts'
import { importRunner } from '#server/imports/index.ts'
import { ownLimit } from '#server/limits/index.ts'
import type { Log } from '#server/runtime/index.ts'
import {
  type SecretKey,
  type SecretKeys,
  secretKey,
  type Tokens,
  tenantLimit,
} from '#server/security/index.ts'
import { booksOf, connectParts } from '#server/serving.ts'
import { noMetrics, noTraces, serviceLog, type Watching } from '#server/watching/index.ts'
import type { TestDatabase } from './cloned-database.ts'
import { manySignUps } from './running-service.ts'
import { testDeadlines } from './test-deadlines.ts'

/** The complete service on its own database, listening on a real socket, with a clock that the test controls. */
export interface TestApp {
  readonly url: string
  readonly database: Database
  readonly testDatabase: TestDatabase
  readonly tokens: Tokens
  readonly secretKey: SecretKey
  /** Refusals are written to the audit log after the response. `refusals.settle()` waits for pending writes. */
  readonly refusals: Refusals
  /** The server's clock in epoch milliseconds. Assign to it to move the clock. */
  now: number
  /** Every line the service logged. */
  readonly logLines: string[]
  /** Sends a request without a socket, which is several times as fast. */
  readonly inject: FastifyInstance['inject']
  /** Expires the quotes whose validity has ended, as the service does every minute. Returns their number. */
  expireQuotes(): Promise<number>
  /** Waits for work that the service does after it responds: the call log and the audit log. */
  settle(): Promise<void>
  close(): Promise<void>
}

/** Overrides for a test. */
export interface TestAppOptions {
  rateLimit?: 'real'
  /** Deadlines for a test that waits for them. */
  deadlines?: Partial<Deadlines>
  /** The clock of the rate limits, in milliseconds, for a test that controls it. */
  monotonic?: () => number
  config?: Partial<Config>
  now?: number
  /** The installation's key, followed by older keys that still decrypt and verify. */
  secretKeys?: SecretKeys
  /** The size of the service's connection pool. */
  connectionsMax?: number
  /** Wraps the database, for example to inject failures. */
  wrapDatabase?: (database: Database) => Database
  /** Wraps the database for the call log only, which writes after the response. */
  wrapCallLogDatabase?: (database: Database) => Database
  /** Changes the server before it listens, to plant a fault that the test must find. */
  plant?: (server: FastifyInstance) => void
  /** Metrics and traces, for a test that reads them. */
  watching?: (log: Log) => Promise<Watching>
  /** The migrations that the service expects the database to have. */
  migrations?: readonly string[]
  /** Options of the event sender. If absent, events are saved but not sent. */
  sendEvents?: Parameters<typeof eventSender>[1]
  /** How often to look for interrupted undos of imports, in milliseconds. If absent, never. */
  resumeUndosEveryMs?: number
  /** Replaces the service's backtest thread, for example by one that fails. */
  backtestThread?: URL
}

const unwatched: Watching = {
  metrics: noMetrics,
  traces: noTraces,
  transaction: null,
  lookUp: () => {},
  read: async () => '',
  stop: async () => {},
}

/**
 * Starts the service on a database. By default the tenant rate limit never refuses a request, because its clock advances by
 * one second per reading; `rateLimit: 'real'` uses real time. The limit of sign-ups is very high. `close()` keeps the database.
 */
export async function appOn(ownDatabase: TestDatabase, options: TestAppOptions = {}): Promise<TestApp> {
  const key = options.secretKeys?.[0] ?? secretKey(randomBytes(32).toString('base64'))
  if (key === null) throw new Error('No key.')
  const keys = options.secretKeys ?? ([key] as const)
  const opened = await openDatabase({
    connection: ownDatabase.service,
    deadlines: { ...testDeadlines, ...options.deadlines },
    ...(options.connectionsMax === undefined ? {} : { connectionsMax: options.connectionsMax }),
  })
  const logLines: string[] = []
  const logger = serviceLog('info', { write: (line) => logLines.push(line) })
  const wrapped = options.wrapDatabase?.(opened) ?? opened
  const watching = (await options.watching?.(logger)) ?? unwatched
  const database = watching.transaction === null ? wrapped : watchedDatabase(wrapped, watching.transaction)
  let stepping = 0
  const config = { ...readConfig({ EVENTS: 'on', SIGN_UPS_PER_HOUR: manySignUps }), ...options.config }
  const app: Omit<TestApp, 'inject'> = {
    url: '',
    database,
    testDatabase: ownDatabase,
    tokens: installationTokens(config, keys),
    secretKey: key,
    refusals: refusals({ database: opened, clock: () => app.now, log: logger }),
    now: options.now ?? Date.now(),
    logLines,
    expireQuotes: async () => 0,
    settle: async () => {},
    close: async () => {},
  }
  const clock = () => app.now
  await opened.outsideTenants((transaction) => writeEventsOn(transaction, config.events !== null))
  const realMonotonic = () => performance.now()
  const watch = tenantWatch({ database, monotonic: realMonotonic, log: logger })
  const monotonic =
    options.monotonic ?? (options.rateLimit === 'real' ? realMonotonic : () => (stepping += 1000))
  const expirer = quoteExpirer({ database, log: logger }, { everyMs: null })
  app.expireQuotes = expirer.expireNow
  const { parts, drain } = connectParts(
    {
      config,
      database,
      secretKeys: keys,
      logger,
      clock,
      monotonic,
      watching,
      migrations: options.migrations ?? (await migrationNames()),
    },
    {
      watch,
      limit: ownLimit(tenantLimit(), monotonic),
      books: booksOf({ config, database, monotonic: realMonotonic }, watch),
      refusals: app.refusals,
      calls: callLog({ database: options.wrapCallLogDatabase?.(opened) ?? opened, clock, log: logger }),
      events:
        options.sendEvents === undefined
          ? null
          : eventSender({ config, database, secretKeys: keys, clock, log: logger }, options.sendEvents),
      expirer,
      imports: importRunner({ database, log: logger }, { resumeEveryMs: options.resumeUndosEveryMs ?? null }),
      backtests: backtestRunner(
        { database, clock, log: logger },
        options.backtestThread === undefined ? {} : { threadFile: options.backtestThread },
      ),
    },
  )
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
      await drain()
      await watch.stop()
      await watching.stop()
      await opened.close()
    },
  })
}

/** Starts the service as `appOn` does. `close()` drops the database, too. */
export async function appAndDatabase(database: TestDatabase, options: TestAppOptions): Promise<TestApp> {
  const app = await appOn(database, options)
  const { close } = app
  return Object.assign(app, {
    close: async () => {
      await close()
      await database.drop()
    },
  })
}
