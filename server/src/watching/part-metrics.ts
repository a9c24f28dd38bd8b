import type { CallLogCounts } from '../audit/index.ts'
import type { BacktestCounts } from '../backtests/index.ts'
import type { BookCounts } from '../book/index.ts'
import type { MemoryCounts, WatchCounts } from '../cache/index.ts'
import type { EventQueue } from '../database/queries/index.ts'
import type { Connections, Worker } from '../database/session/index.ts'
import type { EventCounts } from '../events/index.ts'
import type { ImportCounts } from '../imports/index.ts'
import { each, one, type ReadOnScrape } from './read-on-scrape.ts'
import type { Check } from './readiness.ts'

/** The counts of the parts of the service. They are read when Prometheus scrapes. */
export interface Counted {
  readonly connections: () => Connections
  readonly memory: () => MemoryCounts
  readonly books: () => BookCounts
  readonly watch: () => WatchCounts
  readonly calls: () => CallLogCounts
  /** The workers of Citus at the last check; empty without Citus. */
  readonly workers: () => readonly Worker[]
  readonly imports: () => ImportCounts
  readonly backtests: () => BacktestCounts
  /** Null when events are off. */
  readonly events: { readonly counts: () => EventCounts; readonly queue: () => Promise<EventQueue> } | null
  readonly readiness: () => Promise<readonly Check[]>
  /** When the last verified backup was made, in epoch milliseconds; null if none is recorded. */
  readonly verifiedBackup: () => Promise<number | null>
}

/** Registers the metrics of the parts of the service. */
export function registerParts(metrics: ReadOnScrape, counted: Counted): void {
  connectionMetrics(metrics, counted)
  bookMetrics(metrics, counted)
  memoryMetrics(metrics, counted)
  callLogMetrics(metrics, counted)
  workerMetrics(metrics, counted)
  importMetrics(metrics, counted)
  backtestMetrics(metrics, counted)
  if (counted.events !== null) eventMetrics(metrics, counted.events)
  readinessMetric(metrics, counted)
  backupMetric(metrics, counted)
}

function connectionMetrics(metrics: ReadOnScrape, { connections }: Counted): void {
  metrics.level(
    'lanewise_database_connections',
    'Database connections for requests, by state: idle or in use.',
    ['state'],
    () => {
      const { open, idle } = connections()
      return each('state', { idle, in_use: open - idle })
    },
  )
  metrics.level(
    'lanewise_database_connections_max',
    'Maximum number of database connections for requests.',
    [],
    () => one(connections().max),
  )
  metrics.level('lanewise_database_connections_waiting', 'Transactions that wait for a connection.', [], () =>
    one(connections().waiting),
  )
}

function bookMetrics(metrics: ReadOnScrape, { books }: Counted): void {
  metrics.level('lanewise_books', 'Brokerages whose quotes are in memory.', [], () => one(books().books))
  metrics.level('lanewise_book_quotes', 'Quotes in memory.', [], () => one(books().quotes))
  metrics.level('lanewise_book_bytes', 'Approximate memory of these quotes.', [], () => one(books().bytes))
  metrics.level('lanewise_book_bytes_max', 'Maximum memory for quotes: MEMORY_MEGABYTES.', [], () =>
    one(books().bytesMax),
  )
  metrics.total(
    'lanewise_book_reads_total',
    'Books opened, brought up to date, and closed to free memory.',
    ['kind'],
    () => each('kind', { opened: books().opened, followed: books().followed, closed: books().closed }),
  )
}

function memoryMetrics(metrics: ReadOnScrape, { memory, watch }: Counted): void {
  metrics.level('lanewise_memory_entries', 'Cached tokens and secrets.', [], () => one(memory().entries))
  metrics.level('lanewise_memory_bytes', 'Approximate memory of cached tokens and secrets.', [], () =>
    one(memory().bytes),
  )
  metrics.level('lanewise_memory_bytes_max', 'Maximum memory for cached tokens and secrets.', [], () =>
    one(memory().bytesMax),
  )
  metrics.total(
    'lanewise_memory_recalls_total',
    'Lookups of tokens and secrets that were served from the cache, and from the database.',
    ['from'],
    () => each('from', { memory: memory().hits, database: memory().reads }),
  )
  metrics.total('lanewise_memory_forgotten_total', 'Cache entries evicted to free memory.', [], () =>
    one(memory().evicted),
  )
  metrics.level(
    'lanewise_tenants_watched',
    'Brokerages with cached data, whose changes are therefore polled.',
    [],
    () => one(watch().tenants),
  )
  metrics.total('lanewise_version_looks_total', 'Polls for brokerages with changes.', [], () =>
    one(watch().polls),
  )
  metrics.total(
    'lanewise_version_looks_failed_total',
    'Failed polls. Until the next successful poll, every read queries the database.',
    [],
    () => one(watch().failed),
  )
}

function callLogMetrics(metrics: ReadOnScrape, { calls }: Counted): void {
  metrics.total(
    'lanewise_call_log_calls_total',
    'Calls for the call log: written, omitted during a flood, lost because the database was unavailable.',
    ['outcome'],
    () => {
      const { written, leftOut, lost } = calls()
      return each('outcome', { written, left_out: leftOut, lost })
    },
  )
  metrics.level('lanewise_call_log_waiting', 'Calls that wait to be written to the call log.', [], () =>
    one(calls().waiting),
  )
}

function workerMetrics(metrics: ReadOnScrape, { workers }: Counted): void {
  const ofEach = (value: (worker: Worker) => number) =>
    each('worker', Object.fromEntries(workers().map((worker) => [worker.name, value(worker)])))
  metrics.level(
    'lanewise_worker_up',
    'Whether the worker of the distributed database answered at the last check (1) or not (0).',
    ['worker'],
    () => ofEach(({ up }) => Number(up)),
  )
  metrics.level(
    'lanewise_worker_brokerages',
    'Brokerages whose data is on the worker: they get 503 while it is away.',
    ['worker'],
    () => ofEach(({ brokerages }) => brokerages),
  )
  metrics.level(
    'lanewise_worker_transfer_wal_bytes',
    'Bytes of the write-ahead log that the worker keeps for a transfer of shards to another worker.',
    ['worker'],
    () => ofEach(({ transferWalBytes }) => transferWalBytes),
  )
  metrics.level(
    'lanewise_worker_transfer_wal_bytes_max',
    'The most that the worker keeps for it (max_slot_wal_keep_size); -1: no limit, or the worker is away.',
    ['worker'],
    () => ofEach(({ transferWalBytesMax }) => transferWalBytesMax ?? -1),
  )
}

function importMetrics(metrics: ReadOnScrape, { imports }: Counted): void {
  metrics.level('lanewise_imports', 'Imports that run and that wait.', ['state'], () => {
    const { running, waiting } = imports()
    return each('state', { running, waiting })
  })
  metrics.level('lanewise_import_bytes_held', 'Bytes of files of running and waiting imports.', [], () =>
    one(imports().bytesHeld),
  )
  metrics.total(
    'lanewise_imports_ended_total',
    'Ended imports: done, stopped, failed because the database was unavailable, broken by an error of the service.',
    ['status'],
    () => each('status', imports().ended),
  )
  metrics.total(
    'lanewise_import_rows_total',
    'Rows of imports: added, updated, repeated, refused, or not applied because of a newer value (kept).',
    ['outcome'],
    () => each('outcome', imports().rows),
  )
}

function backtestMetrics(metrics: ReadOnScrape, { backtests }: Counted): void {
  metrics.level('lanewise_backtests', 'Backtests that run and that wait.', ['state'], () => {
    const { running, waiting } = backtests()
    return each('state', { running, waiting })
  })
  metrics.total('lanewise_backtests_ended_total', 'Ended backtests, by outcome.', ['status'], () =>
    each('status', backtests().ended),
  )
}

/** The metrics of events. The state of the queue is read from the database, so every instance reports the same. */
function eventMetrics(metrics: ReadOnScrape, { counts, queue }: NonNullable<Counted['events']>): void {
  metrics.total(
    'lanewise_event_attempts_total',
    'Attempts to deliver events: delivered, failed and to be retried, given up (dead).',
    ['outcome'],
    () => {
      const { delivered, failed, dead } = counts()
      return each('outcome', { delivered, failed, dead })
    },
  )
  metrics.total(
    'lanewise_event_endpoints_disabled_total',
    'Event endpoints disabled because they answered 410 or have accepted nothing for days.',
    [],
    () => one(counts().disabled),
  )
  // The three gauges of one scrape share one read of the database.
  let reading: Promise<EventQueue | null> | null = null
  const readOnce = () => {
    reading ??= queue()
      .catch(() => null)
      .finally(() => setImmediate(() => (reading = null)))
    return reading
  }
  const queued = (name: string, help: string, of: (now: EventQueue) => number) =>
    metrics.level(name, help, [], async () => {
      const now = await readOnce()
      return now === null ? [] : one(of(now))
    })
  queued(
    'lanewise_events_waiting',
    'Deliveries that wait to be sent or retried, in the whole database.',
    (now) => now.waiting,
  )
  queued('lanewise_events_oldest_seconds', 'Age of the oldest waiting event.', (now) => now.oldestSeconds)
  queued(
    'lanewise_events_overdue_seconds',
    'Delay of the most overdue delivery: no instance sends, or a receiver is slow.',
    (now) => now.overdueSeconds,
  )
}

function readinessMetric(metrics: ReadOnScrape, { readiness }: Counted): void {
  metrics.level(
    'lanewise_ready',
    'Result of each readiness check at this scrape: passed (1), failed (0), or not run (-1).',
    ['check'],
    async () =>
      (await readiness())
        .filter(({ optional }) => optional !== true)
        .map(({ name, holds }) => [{ check: name }, holds === null ? -1 : Number(holds)] as const),
  )
}

function backupMetric(metrics: ReadOnScrape, { verifiedBackup }: Counted): void {
  metrics.level(
    'lanewise_backup_verified_timestamp_seconds',
    'Time of the last backup that was restored and compared; 0 if none is recorded. It is read from the database.',
    [],
    async () => {
      // Without a database there is no sample: the alerts of the database tell that.
      const at = await verifiedBackup().catch(() => undefined)
      return at === undefined ? [] : one((at ?? 0) / 1000)
    },
  )
}
