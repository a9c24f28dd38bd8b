import type { Database, Replica } from '../database/session/index.ts'

/** Something that must hold before requests are sent here. */
export interface Check {
  readonly name: 'database' | 'clock' | 'migrations' | 'replica'
  /** Null: it could not be looked at, because one before it failed. */
  readonly holds: boolean | null
  /** What is wrong, fit to be read by anybody. */
  readonly detail: string | null
  /** True where requests are answered all the same. */
  readonly optional?: true
}

/** A node and its database that disagree on the time by more than this would disagree on signatures and limits. */
const clockSkewMsMax = 2_000

/**
 * Looks whether this node can answer: the database answers, its clock is ours, and it has every migration that this
 * version was written for. One that is newer than this version is no reason to go: while a version is being replaced,
 * both are at work.
 */
export async function readiness({
  database,
  clock,
  migrations,
  replica = null,
}: {
  database: Database
  clock: () => number
  migrations: readonly string[]
  replica?: Replica | null
}): Promise<readonly Check[]> {
  let answer: Awaited<ReturnType<typeof database.ping>>
  try {
    answer = await database.ping()
  } catch {
    const detail = 'The database cannot answer.'
    return [
      { name: 'database', holds: false, detail },
      { name: 'clock', holds: null, detail: null },
      { name: 'migrations', holds: null, detail: null },
    ]
  }
  const skewMs = Math.abs(answer.databaseNow.getTime() - clock())
  const missing = migrations.filter((name) => !answer.migrations.includes(name))
  const isOff = skewMs > clockSkewMsMax
  return [
    { name: 'database', holds: true, detail: null },
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
    ...(replica === null ? [] : [await replicaCheck(replica)]),
  ]
}

/** Without it all is answered, by the database itself. */
async function replicaCheck(replica: Replica): Promise<Check> {
  const { up, detail } = await replica.look()
  return { name: 'replica', holds: up, detail, optional: true }
}
