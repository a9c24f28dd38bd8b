/**
 * Metrics, traces, readiness, and the log line of each request.
 */
export { listenForMetrics } from './metrics-listener.ts'
export { noMetrics, noTraces } from './no-watching.ts'
export { readiness } from './readiness.ts'
export { recordProblem, recordRequests } from './request-record.ts'
export { serviceLog } from './service-log.ts'
export { startWatching, type Watching } from './start-watching.ts'
export type { Metrics, Traces } from './watching.ts'
