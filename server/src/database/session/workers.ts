import { sql } from 'kysely'
import { hasWorkers, type TenantTransaction } from '../schema/index.ts'
import { DatabaseUnavailable } from './database-failures.ts'

/** A worker of a Citus cluster: a server with the rows of some brokerages. */
export interface Worker {
  /** Its host and port, such as "10.0.0.7:5432". */
  readonly name: string
  /** The number by which Citus knows it. */
  readonly group: number
  /** Whether it answered the coordinator. */
  readonly up: boolean
  /** The number of brokerages with people whose rows it has: those that get 503 while it is away. */
  readonly brokerages: number
  /** Bytes of the write-ahead log that it keeps for the transfer of shards to another worker; 0 if it is away. */
  readonly transferWalBytes: number
  /** The most write-ahead log that it keeps for this; null without a limit, or if it is away. */
  readonly transferWalBytesMax: number | null
  /** Roles of transfers with BYPASSRLS: that of a running transfer, or what an interrupted one left. */
  readonly transferRoles: readonly string[]
}

/**
 * A query on a worker: the bytes that the slots of transfers keep, the limit in megabytes (-1 for none), and the roles of
 * transfers with BYPASSRLS.
 */
const keptWal = `
  select coalesce(sum(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::bigint
    || ' ' || (select setting from pg_settings where name = 'max_slot_wal_keep_size')
    || ' ' || (select coalesce(string_agg(rolname, ',' order by rolname), '') from pg_roles
               where rolname like 'citus\\_shard\\_%' and rolbypassrls)
  from pg_replication_slots where slot_name like 'citus\\_shard\\_%'`

/** A connection to a worker takes a few milliseconds. Without this limit, a machine that is off takes 30 seconds. */
const workerConnectMs = 500

/** Limits the time for a connection to a worker in this transaction. */
export async function limitWorkerConnect(transaction: TenantTransaction): Promise<void> {
  await sql`select set_config('citus.node_connection_timeout', ${String(workerConnectMs)}, true)`.execute(
    transaction,
  )
}

/**
 * The workers of this database, in the order of their numbers; empty without Citus. It connects to each worker, as the role
 * of the transaction. A worker that cannot be reached within half a second is away.
 */
export async function readWorkers(transaction: TenantTransaction): Promise<readonly Worker[]> {
  if (!(await hasWorkers(transaction))) return []
  await limitWorkerConnect(transaction)
  const { rows } = await sql<Worker>`
    select known.worker as name, known.group_id as group, coalesce(asked.success, false) as up,
      known.brokerages::int as brokerages,
      case when asked.success then split_part(asked.result, ' ', 1)::bigint else 0 end as "transferWalBytes",
      case when asked.success
        then nullif(split_part(asked.result, ' ', 2), '-1')::bigint * 1048576 end as "transferWalBytesMax",
      string_to_array(coalesce(nullif(split_part(asked.result, ' ', 3), ''), ''), ',') as "transferRoles"
    from brokerages_of_workers() as known
    left join run_command_on_workers(${keptWal}) as asked on asked.nodename || ':' || asked.nodeport = known.worker
    order by known.group_id
  `.execute(transaction)
  return rows
}

/** A sentence for each worker that is away, with the number of brokerages that it affects; null if all are up. */
export function workersAway(workers: readonly Worker[]): string | null {
  const all = workers.reduce((sum, { brokerages }) => sum + brokerages, 0)
  const away = workers.filter(({ up }) => !up)
  if (away.length === 0) return null
  return away
    .map(
      ({ name, brokerages }) =>
        `The worker ${name} does not answer: ${brokerages} of ${all} brokerages get 503.`,
    )
    .join(' ')
}

/** A sentence for what a transfer of shards needs or keeps on a worker: disk space, or a role that row-level security does not restrict. */
export function transferFaults(workers: readonly Worker[]): readonly string[] {
  return workers.flatMap(({ name, up, transferWalBytes, transferWalBytesMax, transferRoles }) => [
    ...(up && transferWalBytesMax === null
      ? [
          `The worker ${name} has no max_slot_wal_keep_size: a transfer of shards that cannot finish would fill its disk.`,
        ]
      : []),
    ...(transferWalBytes > 0
      ? [
          `The worker ${name} keeps ${Math.ceil(transferWalBytes / 1e6)} MB of write-ahead log for a transfer of shards.`,
        ]
      : []),
    ...transferRoles.map(
      (role) => `The worker ${name} has the role ${role} with BYPASSRLS, for a transfer of shards.`,
    ),
  ])
}

/** The workers are asked at most once in this time, and this often while one is away. */
const askAgainMs = 1_000

/** Knows which workers are away, so that polls of all brokerages do not fail because of them. */
export class WorkerWatch {
  readonly #read: (() => Promise<readonly Worker[]>) | null
  #workers: readonly Worker[] = []
  #askedAt = Number.NEGATIVE_INFINITY
  readonly #onBack: (() => void)[] = []

  /** `read` asks the workers; null without Citus. */
  constructor(read: (() => Promise<readonly Worker[]>) | null) {
    this.#read = read
  }

  /** Calls the listener when a worker that was away answers again. */
  readonly onBack = (listener: () => void): void => {
    this.#onBack.push(listener)
  }

  lastSeen(): readonly Worker[] {
    return this.#workers
  }

  /** Asks the workers, unless they were asked within the last second. */
  async recent(): Promise<readonly Worker[]> {
    return performance.now() - this.#askedAt > askAgainMs ? this.#ask() : this.#workers
  }

  async #ask(): Promise<readonly Worker[]> {
    if (this.#read === null) return []
    const before = this.#workers
    this.#workers = await this.#read()
    this.#askedAt = performance.now()
    const isBack = ({ group, up }: Worker) => up && before.some((one) => one.group === group && !one.up)
    if (this.#workers.some(isBack)) for (const listener of this.#onBack) listener()
    return this.#workers
  }

  /**
   * Runs a poll. It gets null to ask for everything, or the numbers of the workers that are away. A poll that fails although
   * all workers seemed up is repeated without the workers that turn out to be away.
   *
   * @throws DatabaseUnavailable
   */
  async around<T>(poll: (away: readonly number[] | null) => Promise<T>): Promise<T> {
    try {
      if (this.#away() !== null) await this.recent()
      return await this.#pollOnceOrTwice(poll)
    } catch (error) {
      throw error instanceof DatabaseUnavailable ? error : new DatabaseUnavailable(error)
    }
  }

  async #pollOnceOrTwice<T>(poll: (away: readonly number[] | null) => Promise<T>): Promise<T> {
    try {
      return await poll(this.#away())
    } catch (error) {
      if (this.#read === null) throw error
      await this.#ask()
      const away = this.#away()
      if (away === null) throw error
      return await poll(away)
    }
  }

  #away(): readonly number[] | null {
    const away = this.#workers.filter(({ up }) => !up).map(({ group }) => group)
    return away.length === 0 ? null : away
  }
}
