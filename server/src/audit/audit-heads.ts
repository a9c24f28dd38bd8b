import type { Database } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'

const everyMs = 3_600_000

/**
 * Logs the newest row of each audit log that has grown, every hour and when the service stops. An attacker
 * with write access to the database can truncate the log without a trace in the database; the service's own log, which
 * is saved elsewhere, reveals it. The logged rows are those that the service committed, not those that the database returns
 * later.
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
