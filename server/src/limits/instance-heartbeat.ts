import { setTimeout as delay } from 'node:timers/promises'
import { leaveInstance, seeInstance } from '../database/queries/index.ts'
import type { Database } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { joinMs } from './shared-limit.ts'

/** How often an instance renews its registration, in milliseconds. */
const heartbeatEveryMs = 2_000

/** The registration of this instance in the database. */
export interface Registration {
  /** Stops the heartbeat and records that this instance no longer admits requests. */
  leave(): Promise<void>
}

/**
 * Registers this instance in the database and renews the registration. If other instances run, resolves only after
 * all of them have noticed this one, because an instance that served earlier would admit requests beyond the shared limit.
 */
export async function joinInstances(
  database: Pick<Database, 'outsideTenants'>,
  instance: string,
  log: Log,
  /** The database for the first renewal, which may take longer than the others. */
  patient = database,
): Promise<Registration> {
  const beat = (on = database) => on.outsideTenants((transaction) => seeInstance(transaction, instance))
  let beating: Promise<unknown> = Promise.resolve()
  const { others } = await beat(patient)
  const timer = setInterval(() => {
    beating = beat().catch((error: unknown) =>
      log.warn({ err: error }, 'this instance could not renew its registration'),
    )
  }, heartbeatEveryMs)
  timer.unref()
  if (others) await delay(joinMs)
  return {
    async leave() {
      clearInterval(timer)
      await beating
      await database.outsideTenants((transaction) => leaveInstance(transaction, instance))
    },
  }
}
