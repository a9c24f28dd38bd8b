import { sql } from 'kysely'
import type pg from 'pg'
import type { TenantTransaction } from '../schema/index.ts'
import { BrokerageBusy, DatabaseUnavailable } from './database-failures.ts'
import { type Database, openDatabase } from './open-database.ts'
import { databaseSafetyFaults } from './row-level-security.ts'

/**
 * Long reads that may be some seconds old: performance, exports, backtests. Never what the integration interface promises,
 * never a page that somebody goes on working on.
 */
export type StaleReads = Pick<Database, 'inTenant'>

export interface ReplicaState {
  /** Whether it is asked. */
  readonly up: boolean
  /** How old what it knew was at the most, in milliseconds, when it was last looked at; null where nobody can say. */
  readonly behindMs: number | null
  /** Why it is not asked. */
  readonly detail: string | null
}

export interface Replica extends StaleReads {
  /** Looks at it, unless that was done a moment ago. */
  look(): Promise<ReplicaState>
  /** Reads that it answered, and those that the primary had to answer. */
  counts(): { readonly replica: number; readonly primary: number }
  state(): ReplicaState
  close(): Promise<void>
}

/** What is older is not shown to anybody: the primary is asked. */
export const replicaBehindMaxMs = 5_000
const lookEveryMs = 1_000
/** How often one that is not there, or not to be trusted, is tried again. */
const openEveryMs = 5_000
const connectionsMax = 5

/** Where the primary had got to, and when. */
interface Mark {
  readonly at: number
  readonly position: bigint
}

/** What stands between a database and its use as the replica of another; empty when nothing does. */
export async function replicaFaults(primary: Database, replica: Database): Promise<string[]> {
  const [ours, its] = await Promise.all([primary, replica].map((one) => one.outsideTenants(nameOf)))
  if (ours !== its) return ['The database of DATABASE_REPLICA_URL is of another installation.']
  return (await databaseSafetyFaults(replica)).map((line) => `The replica: ${line}`)
}

/** Opens a replica for reads alone. Throws where it cannot be reached. */
export function openReplica(connection: pg.PoolConfig): Promise<Database> {
  return openDatabase({ connection, connectionsMax, readOnly: true })
}

/**
 * Asks a replica what may be some seconds old, and the primary when the replica is away, too far behind, or not safe to
 * read from.
 *
 * How far it is behind is not what it says of itself: one that hears nothing any more takes itself for current. The
 * primary is asked where it is, and what the replica has of that tells how old it is.
 */
export function replicaReads({
  connection,
  primary,
  monotonic,
  warn,
}: {
  readonly connection: pg.PoolConfig
  readonly primary: Database
  readonly monotonic: () => number
  /** Told when it goes, and when it is there again. */
  readonly warn: (fields: object, message: string) => void
}): Replica {
  let opened: Database | null = null
  let triedAt = Number.NEGATIVE_INFINITY
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | null = null
  let marks: readonly Mark[] = []
  let behindMs: number | null = null
  let detail: string | null = 'It has not been looked at yet.'
  let closed = false
  const counts = { replica: 0, primary: 0 }

  function away(reason: string, error?: unknown): void {
    if (detail !== reason) warn({ err: error, reason }, 'the replica is not asked: the primary answers')
    behindMs = null
    detail = reason
  }

  async function open(): Promise<Database | null> {
    if (opened !== null) return opened
    if (monotonic() - triedAt < openEveryMs || closed) return null
    triedAt = monotonic()
    const database = await openReplica(connection)
    const faults = await replicaFaults(primary, database).catch(async (error: unknown) => {
      await database.close()
      throw error
    })
    if (faults.length > 0 || closed) {
      await database.close()
      // What is wrong is for the operator: the state is read by anybody.
      if (faults.length > 0) away('The replica is not safe to read from.', new Error(faults.join(' ')))
      return null
    }
    opened = database
    return database
  }

  async function lookNow(): Promise<void> {
    try {
      const database = await open()
      if (database === null) return
      const at = monotonic()
      marks = [...marks, { at, position: await primary.outsideTenants(writtenTo) }].filter(
        (mark) => at - mark.at <= 2 * replicaBehindMaxMs,
      )
      const replayed = await database.outsideTenants(replayedTo)
      if (replayed === null) {
        away('The database of DATABASE_REPLICA_URL is no replica: it takes writes of its own.')
        return
      }
      const had = marks.findLast(({ position }) => position <= replayed)
      lookedAt = monotonic()
      behindMs = had === undefined ? null : lookedAt - had.at
      const isBehind = behindMs === null || behindMs > replicaBehindMaxMs
      if (isBehind) away(`The replica is more than ${replicaBehindMaxMs / 1000} seconds behind.`)
      else {
        if (detail !== null) warn({}, 'the replica is asked')
        detail = null
      }
    } catch (error) {
      away('The replica cannot be asked.', error)
      // Whatever answers there next is looked at as if it were new.
      const last = opened
      opened = null
      await last?.close()
    }
  }

  function look(): Promise<void> {
    looking ??= lookNow().finally(() => {
      looking = null
    })
    return looking
  }

  /** How old what it would answer now is at the most. */
  const ageMs = () =>
    detail !== null || behindMs === null ? Number.POSITIVE_INFINITY : behindMs + monotonic() - lookedAt

  async function usable(): Promise<Database | null> {
    if (monotonic() - lookedAt > lookEveryMs) {
      const looked = look()
      // Nobody waits for one that was away: it is noticed behind the reads when it is back.
      if (detail === null && ageMs() > replicaBehindMaxMs) await looked
    }
    return ageMs() <= replicaBehindMaxMs ? opened : null
  }

  const state = (): ReplicaState => ({ up: detail === null, behindMs, detail })

  return {
    async inTenant(tenant, work) {
      const database = await usable()
      if (database !== null) {
        try {
          const answer = await database.inTenant(tenant, work)
          counts.replica++
          return answer
        } catch (error) {
          if (!isOfReplica(error)) throw error
          away('The replica could not answer.', error)
        }
      }
      counts.primary++
      return primary.inTenant(tenant, work)
    },
    async look() {
      if (monotonic() - lookedAt > lookEveryMs) await look()
      return state()
    },
    counts: () => ({ ...counts }),
    state,
    async close() {
      closed = true
      await looking
      await opened?.close()
    },
  }
}

/** Whether the primary may do better: it is there, or has what a migration has just brought. It does not write for it. */
function isOfReplica(error: unknown): boolean {
  // It is the brokerage that asks for too much, and the primary has other work.
  if (error instanceof BrokerageBusy) return false
  if (error instanceof DatabaseUnavailable) return codeOf(error.cause) !== readOnlyTransaction
  return codeOf(error).startsWith('42')
}

const readOnlyTransaction = '25006'
const codeOf = (error: unknown) => String((error as { code?: unknown } | null | undefined)?.code)

/** The secret of the identifiers is the name of an installation that no other has. It goes nowhere. */
async function nameOf(transaction: TenantTransaction): Promise<string> {
  const { id_key } = await transaction.selectFrom('installation').select('id_key').executeTakeFirstOrThrow()
  return id_key.toString('hex')
}

async function writtenTo(transaction: TenantTransaction): Promise<bigint> {
  const { rows } = await sql<{ at: string }>`select pg_current_wal_lsn()::text as at`.execute(transaction)
  return positionOf(rows[0]?.at ?? '')
}

/** Null where it is no replica. */
async function replayedTo(transaction: TenantTransaction): Promise<bigint | null> {
  const { rows } = await sql<{ at: string | null }>`
    select case when pg_is_in_recovery() then pg_last_wal_replay_lsn()::text end as at
  `.execute(transaction)
  const at = rows[0]?.at ?? null
  return at === null ? null : positionOf(at)
}

/** @example positionOf('16/B374D848') // 97500059720n */
function positionOf(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}
