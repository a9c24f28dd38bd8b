/**
 * What every room needs of the process: the log, the version, and rules for running work concurrently.
 */
export { concurrencyLimit, QueueFull } from './concurrency-limit.ts'
export type { Log } from './log.ts'
export { runInOrder } from './run-in-order.ts'
export { version } from './version.ts'
export { yieldBetweenSteps } from './yield-between-steps.ts'
