import type { Config } from '../configuration/index.ts'
import type { TransactionWatch } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import type { Counted } from './metrics.ts'
import { noMetrics, noTraces } from './no-watching.ts'
import type { Metrics, Traces } from './watching.ts'

/** How the service is watched: its counts and its traces, where somebody asks for them. */
export interface Watching {
  readonly metrics: Metrics
  readonly traces: Traces
  /** Tells both of every transaction; null where nobody asks. */
  readonly transaction: TransactionWatch | null
  lookUp(counted: Counted): void
  /** All numbers, in the form that Prometheus reads. */
  read(): Promise<string>
  stop(): Promise<void>
}

/** Starts what the configuration asks for. What it does not ask for is not even loaded. */
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
