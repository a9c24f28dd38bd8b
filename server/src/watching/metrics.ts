import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { databaseFailures, type TransactionWatch, transactionKinds } from '../database/session/index.ts'
import type { TenantLimit } from '../limits/index.ts'
import { revision, version } from '../runtime/index.ts'
import type { Admission, RateLimit } from '../security/index.ts'
import { type Counted, registerParts } from './part-metrics.ts'
import type { ReadOnScrape } from './read-on-scrape.ts'
import type { Metrics } from './watching.ts'

export interface ServiceMetrics extends Metrics {
  /** Registers the metrics of the parts of the service. */
  lookUp(counted: Counted): void
  /** All metrics, in the text format of Prometheus. */
  read(): Promise<string>
}

/** The buckets of answers, from one without the database (some 100 us) to the longest wait for it. */
const answerSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const transactionSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/** Methods that have a label. Others share the label `other`, which bounds the number of labels. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The metrics of a process. */
export function serviceMetrics(): ServiceMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const onScrape = readOnScrape(registry)
  const requests = requestMetrics(registry, onScrape)
  const refusals = new Counter({
    name: 'lanewise_refusals_total',
    help: 'Requests that were refused, by the code of the problem.',
    labelNames: ['code'],
    registers: [registry],
  })
  const limits = limitMetrics(onScrape)
  onScrape.level(
    'lanewise_build_info',
    'Version and commit of the service, and version of Node.',
    ['version', 'revision', 'node'],
    () => [[{ version, revision, node: process.version }, 1]],
  )
  return {
    ...requests,
    ...limits,
    refused: (code) => refusals.inc({ code }),
    transaction: transactionMetrics(registry),
    lookUp: (counted) => registerParts(onScrape, counted),
    read: () => registry.metrics(),
  }
}

function readOnScrape(registry: Registry): ReadOnScrape {
  const registers = [registry]
  return {
    total(name, help, labelNames, read) {
      new Counter({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset()
          for (const [labels, value] of read()) this.inc(labels, value)
        },
      })
    },
    level(name, help, labelNames, read) {
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        async collect() {
          for (const [labels, value] of await read()) this.set(labels, value)
        },
      })
    },
  }
}

function requestMetrics(registry: Registry, onScrape: ReadOnScrape): Pick<Metrics, 'answered'> {
  const registers = [registry]
  /** Counted in plain numbers, because the library hashes the labels of each count. */
  const counts = new Map<string, { readonly labels: Record<string, string>; count: number }>()
  onScrape.total(
    'lanewise_http_requests_total',
    'Answered requests, by endpoint of the contract, method and status (499: the caller disconnected).',
    ['endpoint', 'method', 'status'],
    () => [...counts.values()].map(({ labels, count }) => [labels, count]),
  )
  const durations = new Histogram({
    name: 'lanewise_http_request_duration_seconds',
    help: 'Duration of requests, by endpoint of the contract.',
    labelNames: ['endpoint'],
    buckets: answerSeconds,
    registers,
  })
  const durationOf = new Map<string, ReturnType<typeof durations.labels>>()
  return {
    answered({ endpoint, method: sent, status: code, seconds }) {
      const status = String(code)
      const method = methods.has(sent) ? sent : 'other'
      const key = `${endpoint} ${method} ${status}`
      const counted = counts.get(key)
      if (counted === undefined) counts.set(key, { labels: { endpoint, method, status }, count: 1 })
      else counted.count++
      if (seconds === null) return
      let duration = durationOf.get(endpoint)
      if (duration === undefined) {
        duration = durations.labels({ endpoint })
        durationOf.set(endpoint, duration)
      }
      duration.observe(seconds)
    },
  }
}

function transactionMetrics(registry: Registry): TransactionWatch {
  const registers = [registry]
  const durations = new Histogram({
    name: 'lanewise_database_transaction_duration_seconds',
    help: 'Duration of transactions, including the wait for a connection, by kind.',
    labelNames: ['kind'],
    buckets: transactionSeconds,
    registers,
  })
  const failures = new Counter({
    name: 'lanewise_database_failures_total',
    help: 'Failed transactions, by kind and by failure.',
    labelNames: ['kind', 'failure'],
    registers,
  })
  for (const kind of transactionKinds) {
    durations.zero({ kind })
    for (const failure of databaseFailures) failures.inc({ kind, failure }, 0)
  }
  return (kind) => {
    const began = performance.now()
    return (failure) => {
      durations.observe({ kind }, (performance.now() - began) / 1000)
      if (failure !== null) failures.inc({ kind, failure })
    }
  }
}

/** Wraps limits, to count what they admit and refuse. */
function limitMetrics(onScrape: ReadOnScrape): Pick<Metrics, 'counting' | 'countingTenants'> {
  const limits = new Map<string, { admitted: number; refused: number }>()
  onScrape.total(
    'lanewise_limit_total',
    'Requests that a limit per brokerage admitted and refused.',
    ['limit', 'outcome'],
    () =>
      [...limits].flatMap(([limit, { admitted, refused }]) => [
        [{ limit, outcome: 'admitted' }, admitted],
        [{ limit, outcome: 'refused' }, refused],
      ]),
  )
  const counterOf = (name: string) => {
    const counts = { admitted: 0, refused: 0 }
    limits.set(name, counts)
    return (admission: Admission) => {
      counts[admission.admitted ? 'admitted' : 'refused']++
      return admission
    }
  }
  return {
    counting(name, limit): RateLimit {
      const counted = counterOf(name)
      return {
        admit: (key, now) => counted(limit.admit(key, now)),
        note: (key, now) => limit.note(key, now),
        remaining: (key, now) => limit.remaining(key, now),
      }
    },
    countingTenants(limit): TenantLimit {
      const counted = counterOf('tenant')
      return {
        admitNow(tenant) {
          const admission = limit.admitNow(tenant)
          return admission === null ? null : counted(admission)
        },
        admit: async (tenant) => counted(await limit.admit(tenant)),
        refusedNow(tenant) {
          const refusal = limit.refusedNow(tenant)
          return refusal === null ? null : counted(refusal)
        },
        remaining: (tenant) => limit.remaining(tenant),
      }
    },
  }
}

export const contentType = Registry.PROMETHEUS_CONTENT_TYPE
