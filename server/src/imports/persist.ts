import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseUnavailable, LockTimeout } from '../database/session/index.ts'

/** The delays between attempts of a transaction. A batch whose commit was not confirmed is recognized by its progress. */
const retryMs = [100, 400, 1_000, 2_000, 4_000]

/**
 * Retries `work` after a short outage of the database or a lock time-out; with 'any error', after every error. Rethrows
 * the last error.
 */
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
