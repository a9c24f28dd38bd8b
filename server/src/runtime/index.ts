/**
 * Process-level helpers that every folder may use: the log, the version, clocks, and ways to run work concurrently.
 */
export { clockDifferenceMs } from './clock-difference.ts'
export { concurrencyLimit, QueueFull } from './concurrency-limit.ts'
export type { Log } from './log.ts'
export { lowerPriority } from './lower-priority.ts'
export { andThen, type NowOrLater } from './now-or-later.ts'
export { late, orLate } from './or-late.ts'
export { inReadingTurn, type ReadingTurn, readingTurn, TurnEnded } from './reading-turn.ts'
export { runInOrder } from './run-in-order.ts'
export { limitProcessorTime } from './thread-limit.ts'
export { revision, revisionOf, version } from './version.ts'
export { onBehalfOf, takeTurn, yieldBetweenSteps } from './yield-between-steps.ts'
