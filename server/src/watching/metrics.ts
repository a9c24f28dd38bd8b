import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { CallLogCounts } from '../audit/index.ts'
import type { BacktestCounts } from '../backtests/index.ts'
import type { BookCounts } from '../book/index.ts'
import type { MemoryCounts, WatchCounts } from '../cache/index.ts'
import type { EventQueue } from '../database/queries/index.ts'
import {
  type Connections,
  databaseFailures,
  type Replica,
  transactionKinds,
} from '../database/session/index.ts'
import type { EventCounts } from '../events/index.ts'
import type { ImportCounts } from '../imports/index.ts'
import { version } from '../runtime/index.ts'
import type { Admission } from '../security/index.ts'
import type { Check } from './readiness.ts'
import type { Metrics } from './watching.ts'

/** What is counted where it happens, and looked up when somebody asks for the numbers. */
export interface Counted {
  readonly connections: () => Connections
  readonly memory: () => MemoryCounts
  readonly books: () => BookCounts
  readonly watch: () => WatchCounts
  readonly calls: () => CallLogCounts
  /** Null where there is none. */
  readonly replica: Pick<Replica, 'counts' | 'state'> | null
  readonly imports: () => ImportCounts
  readonly backtests: () => BacktestCounts
  /** Null where events are off. */
  readonly events: { readonly counts: () => EventCounts; readonly queue: () => Promise<EventQueue> } | null
  readonly readiness: () => Promise<readonly Check[]>
}

export interface ServiceMetrics extends Metrics {
  /** Has the numbers of the parts of the service looked up, too. */
  lookUp(counted: Counted): void
  /** All numbers, in the form that Prometheus reads. */
  read(): Promise<string>
}

/** From an answer out of memory (some 40 us) to the longest that anybody is let wait. */
const answerSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const transactionSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/** Any other word in the place of a method is a label less. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

type Values = readonly (readonly [labels: Record<string, string>, value: number])[]

/** The metrics of a process. */
export function serviceMetrics(): ServiceMetrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const requests = new Counter({
    name: 'lanewise_http_requests_total',
    help: 'Requests that were answered, by endpoint of the contract, method and status (499: the caller had gone).',
    labelNames: ['endpoint', 'method', 'status'],
    registers,
    collect: countThoseFromMemory,
  })
  const durations = new Histogram({
    name: 'lanewise_http_request_duration_seconds',
    help: 'How long answers took, by endpoint of the contract.',
    labelNames: ['endpoint'],
    buckets: answerSeconds,
    registers,
  })
  /** Told in a hurry: they are added to the others when somebody looks. */
  const fromMemory = new Map<string, { readonly status: string; count: number; added: number }>()
  function countThoseFromMemory(): void {
    for (const [endpoint, answers] of fromMemory) {
      requests.inc({ endpoint, method: 'GET', status: answers.status }, answers.count - answers.added)
      answers.added = answers.count
    }
  }
  const refusals = new Counter({
    name: 'lanewise_refusals_total',
    help: 'Requests that were refused, by the code of the problem.',
    labelNames: ['code'],
    registers,
  })
  const transactions = new Histogram({
    name: 'lanewise_database_transaction_duration_seconds',
    help: 'How long transactions took, with the wait for a connection, by kind.',
    labelNames: ['kind'],
    buckets: transactionSeconds,
    registers,
  })
  const failures = new Counter({
    name: 'lanewise_database_failures_total',
    help: 'Transactions that failed, by kind and by what failed.',
    labelNames: ['kind', 'failure'],
    registers,
  })
  for (const kind of transactionKinds) {
    transactions.zero({ kind })
    for (const failure of databaseFailures) failures.inc({ kind, failure }, 0)
  }
  const limits = new Map<string, { admitted: number; refused: number }>()

  /** A number that only grows, looked up when somebody asks. */
  function total(name: string, help: string, labelNames: readonly string[], look: () => Values): void {
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset()
        for (const [labels, value] of look()) this.inc(labels, value)
      },
    })
  }

  /** A number of now. */
  function level(name: string, help: string, labelNames: readonly string[], look: () => Values): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        for (const [labels, value] of look()) this.set(labels, value)
      },
    })
  }
  const each = (label: string, values: Readonly<Record<string, number>>): Values =>
    Object.entries(values).map(([name, value]) => [{ [label]: name }, value])
  const one = (value: number): Values => [[{}, value]]

  total(
    'lanewise_http_requests_from_memory_total',
    'Requests that were answered from memory, without the database, by endpoint.',
    ['endpoint'],
    () => [...fromMemory].map(([endpoint, { count }]) => [{ endpoint }, count]),
  )
  total(
    'lanewise_limit_total',
    'Requests that a limit of brokerages admitted and refused.',
    ['limit', 'outcome'],
    () =>
      [...limits].flatMap(([limit, { admitted, refused }]) => [
        [{ limit, outcome: 'admitted' }, admitted],
        [{ limit, outcome: 'refused' }, refused],
      ]),
  )
  level('lanewise_build_info', 'Version of the service and of Node.', ['version', 'node'], () => [
    [{ version, node: process.version }, 1],
  ])

  /** What waits is asked of the database, for all instances: each of them tells the same. */
  function watchEvents({ counts, queue }: NonNullable<Counted['events']>): void {
    total(
      'lanewise_event_attempts_total',
      'Events sent to an address: delivered, failed and to be tried again, given up (dead).',
      ['outcome'],
      () => {
        const { delivered, failed, dead } = counts()
        return each('outcome', { delivered, failed, dead })
      },
    )
    total(
      'lanewise_event_endpoints_disabled_total',
      'Addresses that events are sent to no more: they answered 410, or have taken nothing for days.',
      [],
      () => one(counts().disabled),
    )
    // Several numbers of one look at the database.
    let looking: Promise<EventQueue | null> | null = null
    const look = () => {
      looking ??= queue()
        .catch(() => null)
        .finally(() => setImmediate(() => (looking = null)))
      return looking
    }
    const waiting = (name: string, help: string, of: (now: EventQueue) => number) =>
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          const now = await look()
          if (now !== null) this.set(of(now))
        },
      })
    waiting(
      'lanewise_events_waiting',
      'Deliveries that wait to be sent or to be tried again, in the whole database.',
      (now) => now.waiting,
    )
    waiting(
      'lanewise_events_oldest_seconds',
      'How long ago the oldest event that waits happened.',
      (now) => now.oldestSeconds,
    )
    waiting(
      'lanewise_events_overdue_seconds',
      'By how much the delivery that is longest due is late: nobody sends, or a receiver stalls.',
      (now) => now.overdueSeconds,
    )
  }

  return {
    answered({ endpoint, method, status, seconds }) {
      requests.inc({ endpoint, method: methods.has(method) ? method : 'other', status })
      if (seconds !== null) durations.observe({ endpoint }, seconds)
    },
    fromMemory({ name, status }) {
      const answers = { status: String(status), count: 0, added: 0 }
      fromMemory.set(name, answers)
      const duration = durations.labels({ endpoint: name })
      return (seconds) => {
        answers.count++
        duration.observe(seconds)
      }
    },
    refused: (code) => refusals.inc({ code }),
    counting(name, limit) {
      const counts = { admitted: 0, refused: 0 }
      limits.set(name, counts)
      return {
        admit(key, now) {
          const admission = limit.admit(key, now)
          counts[admission.admitted ? 'admitted' : 'refused']++
          return admission
        },
        note: (key, now) => limit.note(key, now),
        remaining: (key, now) => limit.remaining(key, now),
      }
    },
    countingTenants(limit) {
      const counts = { admitted: 0, refused: 0 }
      limits.set('tenant', counts)
      const counted = (admission: Admission) => {
        counts[admission.admitted ? 'admitted' : 'refused']++
        return admission
      }
      return {
        admitNow(tenant) {
          const admission = limit.admitNow(tenant)
          // Who is refused here is refused again, in words, on the ordinary way.
          return admission?.admitted === true ? counted(admission) : admission
        },
        admit: async (tenant) => counted(await limit.admit(tenant)),
        refusedNow(tenant) {
          const refusal = limit.refusedNow(tenant)
          return refusal === null ? null : counted(refusal)
        },
        remaining: (tenant) => limit.remaining(tenant),
      }
    },
    transaction(kind) {
      const began = performance.now()
      return (failure) => {
        transactions.observe({ kind }, (performance.now() - began) / 1000)
        if (failure !== null) failures.inc({ kind, failure })
      }
    },

    lookUp({ connections, memory, books, watch, calls, replica, imports, backtests, events, readiness }) {
      level(
        'lanewise_database_connections',
        'Connections to the database for requests, by whether they are in use.',
        ['state'],
        () => {
          const { open, idle } = connections()
          return each('state', { idle, in_use: open - idle })
        },
      )
      level(
        'lanewise_database_connections_max',
        'Connections to the database that requests may have in all.',
        [],
        () => one(connections().max),
      )
      level('lanewise_database_connections_waiting', 'Transactions that wait for a connection.', [], () =>
        one(connections().waiting),
      )
      level('lanewise_books', 'Brokerages whose quotes are held in memory.', [], () => one(books().books))
      level('lanewise_book_quotes', 'Quotes that are held in memory.', [], () => one(books().quotes))
      level('lanewise_book_bytes', 'About what that takes.', [], () => one(books().bytes))
      level('lanewise_book_bytes_max', 'What it may take: MEMORY_MEGABYTES.', [], () => one(books().bytesMax))
      total(
        'lanewise_book_reads_total',
        'Books that were opened, brought up to date, and closed for room.',
        ['kind'],
        () => each('kind', { opened: books().opened, followed: books().followed, closed: books().closed }),
      )
      level('lanewise_memory_entries', 'Tokens and secrets that are remembered.', [], () =>
        one(memory().entries),
      )
      level('lanewise_memory_bytes', 'About what that takes.', [], () => one(memory().bytes))
      level('lanewise_memory_bytes_max', 'What it may take.', [], () => one(memory().bytesMax))
      total(
        'lanewise_memory_recalls_total',
        'Things asked of the memory that were remembered, and that had to be read from the database.',
        ['from'],
        () => each('from', { memory: memory().remembered, database: memory().read }),
      )
      total('lanewise_memory_forgotten_total', 'Things that were forgotten to make room.', [], () =>
        one(memory().forgotten),
      )
      level(
        'lanewise_tenants_watched',
        'Brokerages whose changes are watched, because something of them is remembered.',
        [],
        () => one(watch().tenants),
      )
      total('lanewise_version_looks_total', 'Looks at which brokerages have moved on.', [], () =>
        one(watch().looks),
      )
      total(
        'lanewise_version_looks_failed_total',
        'Those of them that the database did not answer: then nothing is answered from memory.',
        [],
        () => one(watch().failed),
      )
      total(
        'lanewise_call_log_calls_total',
        'Calls for the log of calls: written, left out of a flood, lost because the database could not take them.',
        ['outcome'],
        () => {
          const { written, leftOut, lost } = calls()
          return each('outcome', { written, left_out: leftOut, lost })
        },
      )
      level('lanewise_call_log_waiting', 'Calls that wait to be written to the log of calls.', [], () =>
        one(calls().waiting),
      )
      total(
        'lanewise_stale_reads_total',
        'Reads that may be some seconds old, by where they were answered; counted with DATABASE_REPLICA_URL.',
        ['from'],
        () => (replica === null ? [] : each('from', replica.counts())),
      )
      level(
        'lanewise_replica_up',
        'Whether the read replica was asked when it was last looked at (1), or the database in its place (0); -1: there is none.',
        [],
        () => one(replica === null ? -1 : Number(replica.state().up)),
      )
      level(
        'lanewise_replica_behind_seconds',
        'How old what the read replica knew was at the most, when it was last looked at; -1: nobody can say.',
        [],
        () => {
          const behindMs = replica?.state().behindMs ?? null
          return one(behindMs === null ? -1 : behindMs / 1000)
        },
      )
      level('lanewise_imports', 'Imports that run and that wait.', ['state'], () => {
        const { running, waiting } = imports()
        return each('state', { running, waiting })
      })
      level('lanewise_import_bytes_held', 'Bytes of files that are being imported or wait.', [], () =>
        one(imports().bytesHeld),
      )
      total(
        'lanewise_imports_ended_total',
        'Imports that ended: done, stopped, failed for want of the database, broken by a fault of the service.',
        ['status'],
        () => each('status', imports().ended),
      )
      total(
        'lanewise_import_rows_total',
        'Rows of imports: added, updated, repeated, refused, or kept because a newer value stands.',
        ['outcome'],
        () => each('outcome', imports().rows),
      )
      level('lanewise_backtests', 'Backtests that run and that wait.', ['state'], () => {
        const { running, waiting } = backtests()
        return each('state', { running, waiting })
      })
      total('lanewise_backtests_ended_total', 'Backtests that ended, by how.', ['status'], () =>
        each('status', backtests().ended),
      )
      if (events !== null) watchEvents(events)
      new Gauge({
        name: 'lanewise_ready',
        help: 'Whether a check of readiness held when this was asked (1), failed (0) or could not be looked at (-1).',
        labelNames: ['check'],
        registers,
        async collect() {
          for (const { name, holds, optional } of await readiness()) {
            if (optional !== true) this.set({ check: name }, holds === null ? -1 : Number(holds))
          }
        },
      })
    },
    read: () => registry.metrics(),
  }
}

export const contentType = Registry.PROMETHEUS_CONTENT_TYPE
