import { sql } from 'kysely'
import type pg from 'pg'
import type { TenantTransaction } from '../schema/index.ts'
import { BrokerageBusy, DatabaseUnavailable } from './database-failures.ts'
import { type Database, openDatabase } from './open-database.ts'
import { databaseSafetyFaults } from './row-level-security.ts'
import type { TenantId } from './tenant.ts'

/**
 * Long reads that may be some seconds old: performance, exports, backtests. Never used for the integration API, nor for a
 * page on which a person continues to work.
 */
export type StaleReads = Pick<Database, 'inTenant'>

export interface ReplicaState {
  /** Whether reads go to the replica. */
  readonly up: boolean
  /** The greatest possible lag at the last check, in milliseconds; null if it is unknown. */
  readonly behindMs: number | null
  /** Why reads do not go to the replica; null if they do. */
  readonly detail: string | null
}

export interface Replica extends StaleReads {
  /** Checks the replica, unless the last check was within a second. */
  look(): Promise<ReplicaState>
  /** Reads that the replica answered, and reads that the primary had to answer. */
  counts(): { readonly replica: number; readonly primary: number }
  state(): ReplicaState
  close(): Promise<void>
}

/** The greatest lag of the replica at which it is read from. Beyond it, the primary answers. */
export const replicaBehindMaxMs = 5_000
const lookEveryMs = 1_000
/** How often the service tries to open a replica that is unreachable or unsafe to read from. */
const openEveryMs = 5_000
const connectionsMax = 5

/** A position in the write-ahead log of the primary, and when the primary had reached it. */
interface Mark {
  readonly at: number
  readonly position: bigint
}

/** The reasons why a database cannot serve as the replica of another, as sentences for an operator; empty if it can. */
export async function replicaFaults(primary: Database, replica: Database): Promise<string[]> {
  const [ofPrimary, ofReplica] = await Promise.all(
    [primary, replica].map((database) => database.outsideTenants(installationName)),
  )
  if (ofPrimary !== ofReplica) return ['The database of DATABASE_REPLICA_URL is of another installation.']
  return (await databaseSafetyFaults(replica)).map((line) => `The replica: ${line}`)
}

/** Opens a replica for reads only. Throws if it is unreachable. */
export function openReplica(connection: pg.PoolConfig): Promise<Database> {
  return openDatabase({ connection, connectionsMax, readOnly: true })
}

interface ReplicaParts {
  readonly connection: pg.PoolConfig
  readonly primary: Database
  readonly monotonic: () => number
  /** Called when the replica stops or resumes answering reads. */
  readonly warn: (fields: object, message: string) => void
}

/**
 * Sends stale reads to a replica, and to the primary if the replica is unreachable, too far behind, or unsafe to read
 * from.
 *
 * The lag is not what the replica reports: a replica that has lost its connection to the primary believes that it is
 * current. Instead, the service records the positions of the primary, and compares them with what the replica has.
 */
export function replicaReads(parts: ReplicaParts): Replica {
  return new ReplicaReads(parts)
}

class ReplicaReads implements Replica {
  readonly #parts: ReplicaParts
  #opened: Database | null = null
  #triedAt = Number.NEGATIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | null = null
  #marks: readonly Mark[] = []
  #behindMs: number | null = null
  #detail: string | null = 'The replica has not been checked yet.'
  #isClosed = false
  readonly #counts = { replica: 0, primary: 0 }

  constructor(parts: ReplicaParts) {
    this.#parts = parts
  }

  async inTenant<T>(tenant: TenantId, work: (transaction: TenantTransaction) => Promise<T>): Promise<T> {
    const replica = await this.#usableReplica()
    if (replica !== null) {
      try {
        const answer = await replica.inTenant(tenant, work)
        this.#counts.replica++
        return answer
      } catch (error) {
        if (!mayPrimaryAnswer(error)) throw error
        this.#stopUsing('The replica could not answer.', error)
      }
    }
    this.#counts.primary++
    return this.#parts.primary.inTenant(tenant, work)
  }

  async look(): Promise<ReplicaState> {
    if (this.#isLookDue()) await this.#lookOnce()
    return this.state()
  }

  counts() {
    return { ...this.#counts }
  }

  state(): ReplicaState {
    return { up: this.#detail === null, behindMs: this.#behindMs, detail: this.#detail }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#looking
    await this.#opened?.close()
  }

  async #usableReplica(): Promise<Database | null> {
    if (this.#isLookDue()) {
      const looking = this.#lookOnce()
      // Wait only for a replica that was up. Whether one that was down is back is checked in the background.
      if (this.#detail === null && this.#ageMs() > replicaBehindMaxMs) await looking
    }
    return this.#ageMs() <= replicaBehindMaxMs ? this.#opened : null
  }

  /** The greatest possible age of an answer of the replica now, in milliseconds. */
  #ageMs(): number {
    if (this.#detail !== null || this.#behindMs === null) return Number.POSITIVE_INFINITY
    return this.#behindMs + this.#parts.monotonic() - this.#lookedAt
  }

  #isLookDue(): boolean {
    return this.#parts.monotonic() - this.#lookedAt > lookEveryMs
  }

  #lookOnce(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #lookNow(): Promise<void> {
    const { primary, monotonic, warn } = this.#parts
    try {
      const replica = await this.#open()
      if (replica === null) return
      const at = monotonic()
      this.#marks = [...this.#marks, { at, position: await primary.outsideTenants(writtenTo) }].filter(
        (mark) => at - mark.at <= 2 * replicaBehindMaxMs,
      )
      const replayed = await replica.outsideTenants(replayedTo)
      if (replayed === null) {
        this.#stopUsing('The database of DATABASE_REPLICA_URL is not a replica: it accepts writes.')
        return
      }
      const reached = this.#marks.findLast(({ position }) => position <= replayed)
      this.#lookedAt = monotonic()
      this.#behindMs = reached === undefined ? null : this.#lookedAt - reached.at
      if (this.#behindMs === null || this.#behindMs > replicaBehindMaxMs) {
        this.#stopUsing(`The replica is more than ${replicaBehindMaxMs / 1000} seconds behind.`)
      } else {
        if (this.#detail !== null) warn({}, 'the replica answers stale reads')
        this.#detail = null
      }
    } catch (error) {
      this.#stopUsing('The replica is unreachable.', error)
      // The next database at this address is checked from the start.
      const last = this.#opened
      this.#opened = null
      await last?.close()
    }
  }

  async #open(): Promise<Database | null> {
    const { connection, primary, monotonic } = this.#parts
    if (this.#opened !== null) return this.#opened
    if (monotonic() - this.#triedAt < openEveryMs || this.#isClosed) return null
    this.#triedAt = monotonic()
    const replica = await openReplica(connection)
    const faults = await replicaFaults(primary, replica).catch(async (error: unknown) => {
      await replica.close()
      throw error
    })
    if (faults.length > 0 || this.#isClosed) {
      await replica.close()
      // The faults go to the log only: anybody can read the state.
      if (faults.length > 0) {
        this.#stopUsing('The replica is not safe to read from.', new Error(faults.join(' ')))
      }
      return null
    }
    this.#opened = replica
    return replica
  }

  #stopUsing(reason: string, error?: unknown): void {
    if (this.#detail !== reason) {
      this.#parts.warn({ err: error, reason }, 'the primary answers stale reads instead of the replica')
    }
    this.#behindMs = null
    this.#detail = reason
  }
}

/** Whether the primary may succeed: it may be reachable, or have a migration that has not reached the replica. Not for writes. */
function mayPrimaryAnswer(error: unknown): boolean {
  // The brokerage itself is over its limit. The primary does not take its excess load.
  if (error instanceof BrokerageBusy) return false
  if (error instanceof DatabaseUnavailable) return codeOf(error.cause) !== readOnlyTransaction
  return codeOf(error).startsWith('42')
}

const readOnlyTransaction = '25006'
const codeOf = (error: unknown) => String((error as { code?: unknown } | null | undefined)?.code)

/** A unique name of the installation: the secret key of its identifiers. It never leaves the process. */
async function installationName(transaction: TenantTransaction): Promise<string> {
  const { id_key } = await transaction.selectFrom('installation').select('id_key').executeTakeFirstOrThrow()
  return id_key.toString('hex')
}

async function writtenTo(transaction: TenantTransaction): Promise<bigint> {
  const { rows } = await sql<{ at: string }>`select pg_current_wal_lsn()::text as at`.execute(transaction)
  return positionOf(rows[0]?.at ?? '')
}

/** Null if the database is not a replica. */
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
