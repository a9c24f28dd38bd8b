import { sql } from 'kysely'
import type pg from 'pg'
import { withDatabaseClient } from '../hosts/index.ts'

import type { TenantTransaction } from './tables.ts'

/** An instance whose last heartbeat is older than this is gone. It sends several heartbeats in that time. */
export const instanceGoneMs = 10_000
/**
 * An instance that could not renew its registration for this long considers itself unregistered: before the other instances
 * do (`instanceGoneMs`).
 */
export const registrationValidMs = 7_000

/**
 * Tables of the installation, not of a tenant. Add a table here only if it reveals nothing about tenants, and no query
 * joins it with rows of a tenant.
 */
export const tablesWithoutTenant = [
  'installation',
  'instances',
  'schema_migrations',
  'sign_in_emails',
  // Numbers of the two sequences, without the tenants of their quotes.
  'taken_numbers',
] as const

/**
 * Tables that stay on the coordinator. `tenant_windows` has rows of tenants, with row-level security like any other table,
 * but it is unlogged, so its shards could not be moved to another worker while they are written.
 */
export const tablesOnCoordinator = [...tablesWithoutTenant, 'tenant_windows'] as const

/** All rows of a tenant are on the same worker as its row of this table. */
export const firstTable = 'tenants'
export const shardsUsual = 32
export const shardsMax = 1024

/** A reason why a database cannot be distributed. The message tells the operator what to do. */
export class DistributionRefused extends Error {}

export interface DistributionProgress {
  readonly table: string
  /** The position of the table, from 1, and the number of tables. */
  readonly nth: number
  readonly of: number
  /** The number of rows in the table; `before` if an earlier run distributed it. */
  readonly moved: number | 'before'
}

export interface Distribution {
  readonly workers: number
  readonly shards: number
  readonly tables: number
}

/**
 * Distributes the tables of a migrated database, with their rows, over the workers of a Citus cluster by tenant. Each
 * table is one transaction: if the run is interrupted, every table is either distributed or unchanged, and the next run
 * continues with the remaining tables.
 *
 * @throws DistributionRefused
 */
export async function distribute(
  ownerConnection: pg.ClientConfig,
  options: {
    readonly shards: number
    readonly onTable: (progress: DistributionProgress) => void
    /** Whether to stop. Called before each table. */
    readonly stopped: () => boolean
  },
): Promise<Distribution> {
  return withDatabaseClient(ownerConnection, async (client) => {
    const workers = await activeWorkers(client)
    await refuseWhileServed(client)
    const tables = await tablesOfTenants(client)
    await refuseForeignTables(client, tables)
    await client.query('select pg_advisory_lock(7205915)')
    for (const [at, table] of tables.entries()) {
      if (options.stopped())
        throw new DistributionRefused('Stopped. The next run continues with the next table.')
      const moved = (await isDistributed(client, table))
        ? ('before' as const)
        : await distributeTable(client, table, options.shards)
      options.onTable({ table, nth: at + 1, of: tables.length, moved })
    }
    // The coordinator still has the rows that were moved, although no query reads them. This deletes them.
    for (const table of tables.toReversed()) await removeMovedRows(client, table)
    await alignFunctionRights(client)
    await refuseOpenShards(client, tables)
    const { rows } = await client.query<{ shards: string }>(
      'select count(*) as shards from pg_dist_shard where logicalrelid = $1::regclass',
      [firstTable],
    )
    return { workers, shards: Number(rows[0]?.shards), tables: tables.length }
  })
}

/** Whether this database can have workers: whether it has the Citus extension. */
export async function hasWorkers(transaction: TenantTransaction): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from pg_extension where extname = 'citus') as found
  `.execute(transaction)
  return rows[0]?.found === true
}

/**
 * Tables of tenants that are not distributed although others are, because a migration has created them since. Their
 * foreign keys cannot reference rows on a worker. Null if no table is distributed. Works with the service's role, too.
 */
export async function notSpread(transaction: TenantTransaction): Promise<readonly string[] | null> {
  if (!(await hasWorkers(transaction))) return null
  const { rows } = await sql<{ table: string; spread: boolean }>`
    select c.relname::text as table, d.logicalrelid is not null as spread
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    left join pg_dist_partition d on d.logicalrelid = c.oid and d.partmethod = 'h'
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
      and a.attname = 'tenant_id' and not a.attisdropped and c.relname <> all (${[...tablesOnCoordinator]}::text[])
    order by 1
  `.execute(transaction)
  return rows.some(({ spread }) => spread)
    ? rows.filter(({ spread }) => !spread).map(({ table }) => table)
    : null
}

export async function activeWorkers(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{
    extension: boolean
    quotes: boolean
    owns: boolean
    current: string
  }>(`
    select exists (select from pg_extension where extname = 'citus') as extension,
      to_regclass('public.quotes') is not null as quotes,
      coalesce((select pg_has_role(current_user, relowner, 'usage') from pg_class
                where oid = to_regclass('public.quotes')), false) as owns,
      current_user as current`)
  const [found] = rows
  if (found?.extension !== true) {
    throw new DistributionRefused(
      'The database has no extension "citus". On every node, as a superuser: set shared_preload_libraries = \'citus\', restart, and run "create extension citus" in this database; then add the workers with citus_add_node.',
    )
  }
  if (!found.quotes)
    throw new DistributionRefused('The database has no tables yet. Run npm run migrate first.')
  if (!found.owns) {
    throw new DistributionRefused(
      `The role ${found.current} does not own the tables. Set MIGRATION_DATABASE_URL to the owner's connection.`,
    )
  }
  const nodes = await client.query<{ workers: string; standby: boolean }>(`
    select count(*) as workers, pg_is_in_recovery() as standby from pg_dist_node
    where isactive and shouldhaveshards and noderole = 'primary'`)
  if (nodes.rows[0]?.standby === true) {
    throw new DistributionRefused('This is a read replica. Name the coordinator itself.')
  }
  const workers = Number(nodes.rows[0]?.workers)
  if (workers === 0) {
    throw new DistributionRefused(
      "The cluster has no worker. As a superuser: select citus_set_coordinator_host('HOST', PORT), then select citus_add_node('HOST', PORT) for each worker.",
    )
  }
  return workers
}

/**
 * Refuses a database with a running service: its writes would wait until their table is distributed, and it reads only at its
 * start whether the database is distributed.
 */
async function refuseWhileServed(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ running: string }>(
    `select count(*) as running from instances
     where seen_at > clock_timestamp() - make_interval(secs => $1::float8 / 1000)`,
    [instanceGoneMs],
  )
  if (Number(rows[0]?.running) > 0) {
    throw new DistributionRefused(
      `${rows[0]?.running} instance(s) of the service use this database. Stop them first. A stopped instance no longer counts after ${instanceGoneMs / 1000} seconds.`,
    )
  }
}

/** All tables with a tenant, each after those that its foreign keys reference. */
export async function tablesOfTenants(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ table: string; points_at: string[] }>(
    `select c.relname::text as table,
       array(select distinct f.relname::text from pg_constraint k join pg_class f on f.oid = k.confrelid
             where k.contype = 'f' and k.conrelid = c.oid and k.confrelid <> c.oid) as points_at
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
       and a.attname = 'tenant_id' and not a.attisdropped and c.relname <> all ($1)
     order by c.relname <> $2, c.relname`,
    [tablesOnCoordinator, firstTable],
  )
  const ordered: string[] = []
  const waiting = [...rows]
  while (waiting.length > 0) {
    const at = waiting.findIndex(({ points_at }) => points_at.every((name) => ordered.includes(name)))
    const [next] = at < 0 ? [] : waiting.splice(at, 1)
    if (next === undefined) {
      throw new DistributionRefused(
        `The tables ${waiting.map(({ table }) => table).join(', ')} reference each other, or a table without a tenant.`,
      )
    }
    ordered.push(next.table)
  }
  return ordered
}

/**
 * Refuses tables that are not part of this version: they would not be distributed, and queries could not join them with the others.
 */
async function refuseForeignTables(client: pg.Client, tables: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ table: string }>(
    `select c.relname::text as table from pg_class c
     where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and c.relname <> all ($1)
       and not exists (select from pg_depend d
                       where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
     order by 1`,
    [[...tables, ...tablesOnCoordinator]],
  )
  if (rows.length > 0) {
    throw new DistributionRefused(
      `The schema has tables that are not part of this version: ${rows.map(({ table }) => table).join(', ')}. Move them to another schema.`,
    )
  }
}

export async function isDistributed(client: pg.ClientBase, table: string): Promise<boolean> {
  const { rows } = await client.query<{ by: string | null }>(
    `select column_to_column_name(logicalrelid, partkey) as by from pg_dist_partition
     where logicalrelid = to_regclass($1) and partmethod = 'h'`,
    [table],
  )
  if (rows[0] !== undefined && rows[0].by !== 'tenant_id') {
    throw new DistributionRefused(
      `${table} is distributed already, but by ${rows[0].by} and not by the tenant.`,
    )
  }
  return rows[0] !== undefined
}

async function distributeTable(client: pg.Client, table: string, shards: number): Promise<number> {
  await client.query('begin')
  try {
    const moved = await distributeInTransaction(client, table, shards)
    await client.query('commit')
    return moved
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

async function distributeInTransaction(
  client: pg.ClientBase,
  table: string,
  shards: number,
): Promise<number> {
  // Forced row-level security would hide the rows to move from the owner. It is restored before the commit.
  await client.query(`alter table ${table} no force row level security`)
  const before = await client.query<{ count: string }>(`select count(*) from ${table}`)
  await (table === firstTable
    ? client.query(
        `select create_distributed_table($1, 'tenant_id', colocate_with => 'none', shard_count => $2)`,
        [table, shards],
      )
    : client.query(`select create_distributed_table($1, 'tenant_id', colocate_with => $2)`, [
        table,
        firstTable,
      ]))
  const after = await client.query<{ count: string }>(`select count(*) from ${table}`)
  if (before.rows[0]?.count !== after.rows[0]?.count) {
    throw new DistributionRefused(
      `${table} had ${before.rows[0]?.count} rows and would have ${after.rows[0]?.count} afterwards. It was not changed.`,
    )
  }
  await client.query(`alter table ${table} force row level security`)
  return Number(after.rows[0]?.count)
}

/**
 * Distributes the tables that a migration has just created, in the migration's transaction, if the others are distributed.
 * So no instance ever sees an undistributed table of tenants, and an upgrade with a new table needs no stop.
 */
export async function distributeNewTables(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ extension: boolean }>(
    `select exists (select from pg_extension where extname = 'citus') as extension`,
  )
  if (rows[0]?.extension !== true || !(await isDistributed(client, firstTable))) return
  for (const table of await tablesOfTenants(client)) {
    if (!(await isDistributed(client, table))) await distributeInTransaction(client, table, shardsUsual)
  }
}

async function removeMovedRows(client: pg.Client, table: string): Promise<void> {
  await client.query('select truncate_local_data_after_distributing_table($1)', [table])
}

/** Refuses shards without row-level security: every shard needs it, because clients can also query a worker directly. */
export async function refuseOpenShards(client: pg.Client, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    const { rows } = await client.query<{ open: string }>(
      `select count(*) as open from run_command_on_placements($1, $$
         select c.relrowsecurity and c.relforcerowsecurity
           and exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'tenant_isolation')
         from pg_class c where c.oid = '%s'::regclass
       $$) where not success or result <> 't'`,
      [table],
    )
    if (rows[0]?.open !== '0') {
      throw new DistributionRefused(
        `Row-level security is not complete on ${rows[0]?.open} shards of ${table}: do not start the service on this database.`,
      )
    }
  }
}

/**
 * Gives the functions on every worker the rights that they have on the coordinator. Citus creates them on a worker that is
 * added later, with the right of everybody to call them.
 */
export async function alignFunctionRights(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ statements: string }>(`
      select string_agg(format(
        'if to_regprocedure(%1$L) is not null then revoke all on function %1$s from public; %2$s end if;',
        signature, grants), E'\n') as statements
      from (
        select format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)) as signature, (
          select string_agg(format('grant execute on function %I.%I(%s) to %s;', n.nspname, p.proname,
            oidvectortypes(p.proargtypes),
            case acl.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(acl.grantee)) end), ' ')
          from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as acl where acl.grantee <> p.proowner
        ) as grants
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where n.nspname = 'public' and p.prokind = 'f'
          and not exists (select from pg_depend d
                          where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
      ) as known`)
  const faults = await onEveryWorker(
    client,
    `do $do$ begin set local citus.enable_ddl_propagation = off; ${rows[0]?.statements ?? ''} end $do$`,
  )
  if (faults.length > 0) throw new DistributionRefused(faults.join('\n'))
}

/** Runs a command on every worker, and returns a sentence for each worker on which it failed. */
export async function onEveryWorker(client: pg.ClientBase, command: string): Promise<string[]> {
  const { rows } = await client.query<{ fault: string }>(
    `select format('%s:%s: %s', nodename, nodeport, result) as fault from run_command_on_workers($1) where not success`,
    [command],
  )
  return rows.map(({ fault }) => fault)
}
