import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseUnavailable, LockTimeout } from '../database/session/index.ts'

/** Waits before a transaction is tried again. A batch that was committed unseen is known by what it left. */
const retryMs = [100, 400, 1_000, 2_000, 4_000]

/** Tries again while the database is away for a moment or somebody holds a lock; or after any error. */
export async function persist<T>(
  work: () => Promise<T>,
  after: 'passing errors' | 'any error' = 'passing errors',
): Promise<T> {
  for (const wait of retryMs) {
    try {
      return await work()
    } catch (error) {
      const isPassing = error instanceof DatabaseUnavailable || error instanceof LockTimeout
      if (!isPassing && after === 'passing errors') throw error
      await delay(wait)
    }
  }
  return work()
}
