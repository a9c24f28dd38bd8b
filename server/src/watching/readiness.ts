import { type Database, DatabaseUnavailable, reasonOf, workersAway } from '../database/session/index.ts'
import { clockDifferenceMs } from '../runtime/index.ts'

/** A condition for sending requests to this node. */
export interface Check {
  readonly name: 'database' | 'writes' | 'clock' | 'migrations' | 'workers'
  /** Null when the check was not run because an earlier one failed. */
  readonly holds: boolean | null
  /** The reason of a failure, without internal details. */
  readonly detail: string | null
  /** True when requests are answered even if the check fails. */
  readonly optional?: true
}

/** The maximum difference between the clocks of the node and its database. Signatures and limits depend on both. */
const clockSkewMsMax = 2_000

/**
 * Checks whether this node can answer: the database responds and accepts writes, the clocks agree, and every migration of this version has
 * run. Newer migrations are accepted, because two versions run side by side during an upgrade.
 */
export async function readiness({
  database,
  clock,
  migrations,
}: {
  database: Database
  clock: () => number
  migrations: readonly string[]
}): Promise<readonly Check[]> {
  let answer: Awaited<ReturnType<typeof database.ping>>
  const askedAt = clock()
  try {
    answer = await database.ping()
  } catch (error) {
    const detail = reasonOf(error instanceof DatabaseUnavailable ? error : new DatabaseUnavailable(error))
    return [
      { name: 'database', holds: false, detail },
      { name: 'writes', holds: null, detail: null },
      { name: 'clock', holds: null, detail: null },
      { name: 'migrations', holds: null, detail: null },
    ]
  }
  const skewMs = clockDifferenceMs(answer.databaseNow.getTime(), askedAt, clock())
  const missing = migrations.filter((name) => !answer.migrations.includes(name))
  const isOff = skewMs > clockSkewMsMax
  return [
    { name: 'database', holds: true, detail: null },
    { name: 'writes', holds: answer.writesRefused === null, detail: answer.writesRefused },
    {
      name: 'clock',
      holds: !isOff,
      detail: isOff ? `The clocks of this node and of the database differ by ${skewMs} ms.` : null,
    },
    {
      name: 'migrations',
      holds: missing.length === 0,
      detail: missing.length === 0 ? null : `The database lacks ${missing.join(', ')}.`,
    },
    ...(await workersCheck(database)),
  ]
}

/**
 * The check of the workers is optional, because brokerages on other workers are answered as usual, and every other instance
 * misses the same worker.
 */
async function workersCheck(database: Database): Promise<readonly Check[]> {
  const workers = await database.workers().catch(() => null)
  if (workers === null)
    return [
      { name: 'workers', holds: false, detail: 'The workers could not be asked in time.', optional: true },
    ]
  if (workers.length === 0) return []
  const away = workersAway(workers)
  return [{ name: 'workers', holds: away === null, detail: away, optional: true }]
}
