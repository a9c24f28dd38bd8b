import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { withDatabaseClient } from '#server/database/hosts/index.ts'

/** Waits until a session of this role waits for a lock in this database, which another session of the test holds. */
export async function waitingForLock(connection: pg.ClientConfig): Promise<void> {
  return withDatabaseClient(connection, async (watcher) => {
    const waiting = `select from pg_stat_activity
      where datname = current_database() and usename = current_user and wait_event_type = 'Lock'`
    while ((await watcher.query(waiting)).rowCount === 0) await delay(10)
  })
}
