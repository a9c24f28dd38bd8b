import { setTimeout as delay } from 'node:timers/promises'
import { leaveInstance, seeInstance } from '../database/queries/index.ts'
import type { Database } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { joinMs } from './shared-limit.ts'

/** How often an instance renews its registration, in milliseconds. */
const heartbeatEveryMs = 2_000
/** The same after a failed renewal: without a registration, an instance answers no request when the database is back. */
const heartbeatAgainMs = 250

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
  const { others } = await beat(patient)
  let beating: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let isLeaving = false
  let isFailing = false
  const beatAfter = (ms: number) => {
    if (isLeaving) return
    timer = setTimeout(() => {
      beating = beat()
        .then(() => {
          isFailing = false
        })
        .catch((error: unknown) => {
          if (!isFailing) log.warn({ err: error }, 'this instance could not renew its registration')
          isFailing = true
        })
        .finally(() => beatAfter(isFailing ? heartbeatAgainMs : heartbeatEveryMs))
    }, ms)
    timer.unref()
  }
  beatAfter(heartbeatEveryMs)
  if (others) await delay(joinMs)
  return {
    async leave() {
      isLeaving = true
      clearTimeout(timer)
      await beating
      await database.outsideTenants((transaction) => leaveInstance(transaction, instance))
    },
  }
}
