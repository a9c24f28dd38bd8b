import { setTimeout as delay } from 'node:timers/promises'
import { withDatabaseClient } from '#server/database/hosts/index.ts'
import type { TestDatabase } from './cloned-database.ts'

/** Waits until a session of the service waits for a lock in this database, which another session of the test holds. */
export async function waitingForLock({ service }: TestDatabase): Promise<void> {
  return withDatabaseClient(service, async (watcher) => {
    const waiting = `select from pg_stat_activity
      where datname = current_database() and usename = current_user and wait_event_type = 'Lock'`
    while ((await watcher.query(waiting)).rowCount === 0) await delay(10)
  })
}
