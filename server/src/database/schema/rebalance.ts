import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { DatabaseClient } from '../hosts/index.ts'
import {
  activeWorkers,
  alignFunctionRights,
  DistributionRefused,
  firstTable,
  isDistributed,
  onEveryWorker,
  refuseOpenShards,
  tablesOfTenants,
} from './distribution.ts'
import { migrationLock } from './migrate.ts'

/** The number of an advisory lock, so that only one rebalance runs on a database. */
const rebalanceLock = 7_205_916

/** How often the roles of a running transfer are looked for. */
const lookEveryMs = 200

/** Roles that Citus creates for one transfer each, and drops after it. */
const transferRoles = 'citus_shard_move_subscription_role_%'

/** The move of a group of shards: all rows of some brokerages. */
export interface ShardMove {
  /** The shard of the table `tenants`, which names the group. */
  readonly shard: number
  /** The bytes of the whole group. */
  readonly bytes: number
  readonly from: string
  readonly to: string
}

export interface RebalanceOptions {
  readonly onMove: (move: ShardMove, nth: number) => void
  readonly onMoved: (move: ShardMove, tookMs: number) => void
  /** Called with a sentence for each worker on which something of a transfer could not be removed. */
  readonly onLeftover?: (fault: string) => void
  /** Whether to stop. Called before each move. */
  readonly stopped: () => boolean
  /** Abort it to cancel the running move, which is then undone. */
  readonly cancel?: AbortSignal
}

/**
 * Prepares workers that were added after the distribution: see alignFunctionRights.
 *
 * @param superuser the connection of a superuser to the coordinator
 */
export async function prepareWorkers(superuser: pg.ClientConfig): Promise<void> {
  const client = await connected(superuser)
  try {
    await alignFunctionRights(client)
  } finally {
    await client.end()
  }
}

/**
 * Moves shards until the rows are spread evenly over the workers, while the service works. Writes to the brokerages of a
 * group wait only while its last changes are copied.
 *
 * Citus applies the changes that are made during a copy as a role that it creates for the transfer. PostgreSQL refuses that
 * for a table with forced row-level security, unless the role has BYPASSRLS. So each such role gets it, and Citus drops the
 * role when the transfer ends. No other role may act as it.
 *
 * @param superuser the connection of a superuser to the coordinator: only a superuser may grant BYPASSRLS
 * @throws DistributionRefused
 */
export async function rebalance(superuser: pg.ClientConfig, options: RebalanceOptions): Promise<number> {
  const mover = await connected(superuser)
  const aide = await connected(superuser)
  try {
    await refuseUnfit(mover)
    await takeLock(mover)
    try {
      return await moveAll({ mover, aide }, options)
    } finally {
      for (const fault of await removeLeftovers(aide)) options.onLeftover?.(fault)
    }
  } finally {
    await Promise.all([mover.end(), aide.end()])
  }
}

interface Connections {
  readonly mover: pg.Client
  /** Runs the other statements that a move needs while it runs. */
  readonly aide: pg.Client
}

async function moveAll(connections: Connections, options: RebalanceOptions): Promise<number> {
  const { mover } = connections
  for (const fault of await removeLeftovers(mover)) options.onLeftover?.(fault)
  let moves = 0
  for (;;) {
    if (options.stopped())
      throw new DistributionRefused('Stopped. The next run continues with the next shard.')
    const move = await nextMove(mover)
    if (move === null) break
    options.onMove(move, ++moves)
    const began = performance.now()
    await runMove(connections, move, options.cancel)
    options.onMoved(move, performance.now() - began)
  }
  await refuseOpenShards(mover, await tablesOfTenants(mover))
  return moves
}

async function connected(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new DatabaseClient(config)
  client.on('error', () => {})
  await client.connect()
  return client
}

async function refuseUnfit(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ role: string; superuser: boolean }>(
    'select rolname as role, rolsuper as superuser from pg_roles where rolname = current_user',
  )
  if (rows[0]?.superuser !== true) {
    throw new DistributionRefused(
      `The role ${rows[0]?.role} is not a superuser. Set CLUSTER_DATABASE_URL to a superuser's connection to the coordinator.`,
    )
  }
  const workers = await activeWorkers(client)
  if (!(await isDistributed(client, firstTable)))
    throw new DistributionRefused('The tables are not distributed yet. Run npm run distribute first.')
  if (workers < 2) {
    throw new DistributionRefused(
      "There is only one worker. Add another one as a superuser: select citus_add_node('HOST', PORT).",
    )
  }
  const faults = [...(await nodeFaults(client)), ...(await unreachablePairs(client))]
  if (faults.length > 0) throw new DistributionRefused(faults.join('\n'))
}

async function takeLock(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ free: boolean }>('select pg_try_advisory_lock($1) as free', [
    rebalanceLock,
  ])
  if (rows[0]?.free !== true) {
    throw new DistributionRefused(
      'Another npm run rebalance is moving shards of this database. Nothing was changed.',
    )
  }
}

/** A sentence for each node whose settings do not allow transfers. */
async function nodeFaults(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ node: string; success: boolean; result: string }>(
    `select nodename || ':' || nodeport as node, success, result
     from run_command_on_all_nodes($$ select current_setting('wal_level') || ' ' || current_setting('max_slot_wal_keep_size') $$)
       join pg_dist_node using (nodeid) order by 1`,
  )
  return rows.flatMap(({ node, success, result }) => {
    if (!success) return [`${node} does not answer: ${result}`]
    const [level, keep] = result.split(' ')
    return [
      ...(level === 'logical'
        ? []
        : [`${node} has wal_level = ${level}. Set it to logical and restart the node.`]),
      ...(keep === '-1'
        ? [
            `${node} has no max_slot_wal_keep_size: a transfer that cannot finish would fill its disk. Set it, for example to a quarter of the disk, and reload.`,
          ]
        : []),
    ]
  })
}

/** A sentence for each failed connection: transfers need one from every node to every other, without a password prompt. */
async function unreachablePairs(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ fault: string }>(
    `select format('%s:%s cannot connect to %s:%s as the superuser %s.',
       from_nodename, from_nodeport, to_nodename, to_nodeport, current_user) as fault
     from citus_check_cluster_node_health() where result is distinct from true order by 1`,
  )
  return rows.map(({ fault }) => fault)
}

/** The next move of Citus's plan; null if the workers are balanced. */
async function nextMove(client: pg.Client): Promise<ShardMove | null> {
  const { rows } = await client.query<{ shard: string; bytes: string; from: string; to: string }>(
    `with plan as materialized (
       select shardid, sourcename || ':' || sourceport as source, targetname || ':' || targetport as target, table_name
       from get_rebalance_table_shards_plan($1)
     ), first as (
       select shardid, source, target from plan where table_name = $1::regclass limit 1
     )
     select first.shardid as shard, first.source as from, first.target as to, (
       select sum(shard_size) from citus_shards where shardid in (
         select other.shardid from pg_dist_shard as own
         join pg_dist_shard as other on other.shardminvalue = own.shardminvalue where own.shardid = first.shardid
       )
     ) as bytes
     from first`,
    [firstTable],
  )
  const [row] = rows
  return row === undefined ? null : { ...row, shard: Number(row.shard), bytes: Number(row.bytes) }
}

async function runMove(
  { mover, aide }: Connections,
  { shard, from, to }: ShardMove,
  cancel: AbortSignal | undefined,
): Promise<void> {
  const { rows } = await mover.query<{ pid: number }>('select pg_backend_pid() as pid')
  // A migration and a move wait for each other, because both lock the tables.
  await mover.query('select pg_advisory_lock($1)', [migrationLock])
  const over = new AbortController()
  const permitting = permitTransfers(aide, over.signal)
  // Awaited after the move. Without a handler until then, a lost connection would end the process before the clean-up.
  permitting.catch(() => {})
  const onCancel = () =>
    void aide.query('select pg_cancel_backend($1::integer)', [rows[0]?.pid]).catch(() => {})
  cancel?.addEventListener('abort', onCancel, { once: true })
  try {
    await mover.query(`select citus_move_shard_placement($1, $2, $3, $4, $5, 'force_logical')`, [
      shard,
      ...hostAndPort(from),
      ...hostAndPort(to),
    ])
  } catch (error) {
    if (cancel?.aborted === true)
      throw new DistributionRefused('The move was canceled and undone. Earlier moves stay done.')
    throw error
  } finally {
    cancel?.removeEventListener('abort', onCancel)
    over.abort()
    await permitting
    await mover.query('select pg_advisory_unlock($1)', [migrationLock])
  }
}

function hostAndPort(address: string): [string, number] {
  const colon = address.lastIndexOf(':')
  return [address.slice(0, colon), Number(address.slice(colon + 1))]
}

/**
 * Gives BYPASSRLS to the roles of transfers until `over`. A transfer that began to apply changes earlier fails, and tries again
 * after some seconds.
 */
async function permitTransfers(client: pg.Client, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await onEveryWorker(
      client,
      `do $do$ declare its_role text; its_subscription text; begin
         for its_role, its_subscription in
           select rolname, subname from pg_roles join pg_subscription on subowner = pg_roles.oid
           where rolname like '${transferRoles}' and not rolsuper and not rolbypassrls
         loop
           set local citus.enable_ddl_propagation = off;
           execute format('alter role %I bypassrls', its_role);
           -- Newer versions apply changes as the owner of the table otherwise, whom row-level security restricts.
           if current_setting('server_version_num')::integer >= 160000 then
             execute format('alter subscription %I set (run_as_owner = true)', its_subscription);
           end if;
         end loop;
       end $do$`,
    )
    await delay(lookEveryMs, undefined, { signal: over }).catch(() => {})
  }
}

/**
 * Removes what an interrupted transfer left: Citus drops its own objects, and a role that it cannot drop yet loses
 * BYPASSRLS. Returns a sentence for each worker on which this failed.
 */
async function removeLeftovers(client: pg.Client): Promise<string[]> {
  try {
    // Roles lose BYPASSRLS even if Citus cannot clean up yet.
    await client.query('call citus_cleanup_orphaned_resources()').catch(() => {})
    const faults = await onEveryWorker(
      client,
      `do $do$ declare its_role text; begin
         for its_role in select rolname from pg_roles where rolname like '${transferRoles}' and rolbypassrls loop
           set local citus.enable_ddl_propagation = off;
           execute format('alter role %I nobypassrls', its_role);
         end loop;
       end $do$`,
    )
    return faults.map((fault) => `A role of a transfer may still have BYPASSRLS on ${fault}`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [`Roles of transfers may still have BYPASSRLS on the workers: ${reason}`]
  }
}
