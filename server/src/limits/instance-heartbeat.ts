import { setTimeout as delay } from 'node:timers/promises'
import { leaveInstance, seeInstance } from '../database/queries/index.ts'
import type { Database } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { joinMs } from './tenant-limit.ts'

/** How often an instance says that it is here. */
const sayEveryMs = 2_000

/** An instance among those of one database. */
export interface Presence {
  /** Says that it admits nobody any more, and nothing more after it. */
  leave(): Promise<void>
}

/**
 * Joins the instances that work on a database, and goes on saying so. Where there are others it resolves when all of them
 * know of it: who answered before would be let in beside what they admit alone.
 */
export async function joinInstances(
  database: Pick<Database, 'outsideTenants'>,
  instance: string,
  log: Log,
): Promise<Presence> {
  const say = () => database.outsideTenants((transaction) => seeInstance(transaction, instance))
  let saying: Promise<unknown> = Promise.resolve()
  const { others } = await say()
  const timer = setInterval(() => {
    saying = say().catch((error: unknown) =>
      log.warn({ err: error }, 'this instance could not tell the others that it is here'),
    )
  }, sayEveryMs)
  timer.unref()
  if (others) await delay(joinMs)
  return {
    async leave() {
      clearInterval(timer)
      await saying
      await database.outsideTenants((transaction) => leaveInstance(transaction, instance))
    },
  }
}
