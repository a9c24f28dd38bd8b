import type { Config } from '../configuration/index.ts'
import type { TransactionWatch } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { noMetrics, noTraces } from './no-watching.ts'
import type { Counted } from './part-metrics.ts'
import type { Metrics, Traces } from './watching.ts'

/** The metrics and traces of the service, when they are configured. */
export interface Watching {
  readonly metrics: Metrics
  readonly traces: Traces
  /** Reports every transaction to metrics and traces; null when both are off. */
  readonly transaction: TransactionWatch | null
  lookUp(counted: Counted): void
  /** All metrics, in the text format of Prometheus. */
  read(): Promise<string>
  stop(): Promise<void>
}

/** Starts the configured metrics and traces. Modules that are not needed are not loaded. */
export async function startWatching(
  { metrics, traces }: Pick<Config, 'metrics' | 'traces'>,
  parts: { readonly log: Log; readonly monotonic: () => number },
): Promise<Watching> {
  const counting = metrics === null ? null : (await import('./metrics.ts')).serviceMetrics()
  const tracing = traces === null ? null : (await import('./traces.ts')).serviceTraces(traces, parts)
  const watches = [counting, tracing].flatMap((one) => (one === null ? [] : [one.transaction]))
  return {
    metrics: counting ?? noMetrics,
    traces: tracing ?? noTraces,
    transaction:
      watches.length === 0
        ? null
        : (kind) => {
            const ended = watches.map((watch) => watch(kind))
            return (failure) => {
              for (const end of ended) end(failure)
            }
          },
    lookUp: (counted) => counting?.lookUp(counted),
    read: async () => (counting === null ? '' : counting.read()),
    stop: async () => tracing?.stop(),
  }
}
