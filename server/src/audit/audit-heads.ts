import type { Database } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'

const everyMs = 3_600_000

/**
 * Logs the newest row of every audit log that has been appended to: each hour, and when the service stops. Who can write
 * to the database can cut the end of a log off and nothing in the database shows it; the service's log, kept elsewhere,
 * does. It is what the service itself has committed, not what the database says an hour later.
 */
export function auditHeads({ database, log }: { database: Database; log: Log }) {
  const write = () => {
    for (const { tenant, entry, hash } of database.takeAuditHeads()) {
      log.info({ tenant, entry, hash: hash.toString('hex') }, 'audit head')
    }
  }
  const timer = setInterval(write, everyMs)
  timer.unref()
  return {
    async drain() {
      clearInterval(timer)
      write()
    },
  }
}
