import { sql } from 'kysely'
import type { TenantTransaction } from '../schema/index.ts'

/** Security-definer functions that have been reviewed: they bypass row-level security on purpose. */
const reviewedFunctions = sql.raw(
  [
    'brokerages_of_workers',
    'changed_tenants',
    'changed_tenants_among',
    'claim_sign_in',
    'due_endpoints',
    'erase_sandbox_rows',
    'event_queue',
    'release_sign_in',
    'sign_in_of',
    'stalled_undos',
    'tenants_with_ended_approvals',
    'tenants_with_ended_quotes',
    'tenants_with_old_networks',
    'try_write',
    'unannounced_expiries',
  ]
    .map((name) => `'${name}'`)
    .join(', '),
)

/** The relations of the schema, and the tables among them that contain rows of tenants. */
const relations = sql`
  with ours as (
    select c.oid, c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity, c.relowner, c.reloptions
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
      -- Leave out the objects of extensions that an operator has installed.
      and not exists (select from pg_depend d
                      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  ),
  tables as (select * from ours where relkind in ('r', 'p')),
  -- The service reads sign_in_emails before the tenant is known: its tenant_id is the answer.
  tenanted as (
    select * from tables t
    where relname <> 'sign_in_emails'
      and exists (select from pg_attribute a where a.attrelid = t.oid and a.attname = 'tenant_id' and not a.attisdropped)
  ),
  this_role as (select oid, rolname from pg_roles where rolname = current_user)
`

/** The condition of tenant_isolation, as PostgreSQL prints it. */
const ownRows = "(tenant_id = (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::integer)"

/** Tables with tenants whose policy is missing, incomplete, or widened by another policy. */
const policies = sql`
  select format('Row-level security is not enabled, forced and complete on the table %s.', relname)
  from tenanted t
  where not (relrowsecurity and relforcerowsecurity and exists (
    select from pg_policy p
    where p.polrelid = t.oid and p.polname = 'tenant_isolation' and p.polcmd = '*' and p.polpermissive
      and 0 = any (p.polroles)
      and (pg_get_expr(p.polqual, p.polrelid) = ${sql.lit(ownRows)}
           -- Further conditions that must also hold.
           or starts_with(pg_get_expr(p.polqual, p.polrelid), ${sql.lit(`(${ownRows} AND `)}))
      and pg_get_expr(p.polwithcheck, p.polrelid) = pg_get_expr(p.polqual, p.polrelid)
  ))
  union all
  select format('The policy %s opens the table %s to %s.', p.polname, t.relname, current_user)
  from tenanted t join pg_policy p on p.polrelid = t.oid
  where p.polname <> 'tenant_isolation' and p.polpermissive
    and exists (
      select from unnest(p.polroles) role (oid)
      where role.oid = 0 or pg_has_role(current_user, role.oid, 'usage')
    )
`

/** Views and materialized views that show rows of all tenants. */
const views = sql`
  select format('The view %s runs with the rights of its owner. Create it with security_invoker = true.', relname)
  from ours
  where relkind = 'v' and not coalesce('security_invoker=true' = any (reloptions), false)
  union all
  select format('The service role may read the materialized view %s, which has no row-level security.', relname)
  from ours
  where relkind in ('m', 'f')
    and (has_table_privilege(oid, 'select') or has_any_column_privilege(oid, 'select'))
`

/** Privileges of the service role that row-level security does not restrict. */
const rolePrivileges = sql`
  select format('The service role may empty (TRUNCATE) %s, which row-level security does not prevent.', relname)
  from tables where has_table_privilege(oid, 'truncate')
  union all
  select format('The service role may put triggers or foreign keys on %s.', relname)
  from tables
  where has_table_privilege(oid, 'trigger') or has_table_privilege(oid, 'references')
    or has_any_column_privilege(oid, 'references')
  union all
  select format('The service role owns %s.', relname)
  from ours where relowner = (select oid from this_role)
  union all
  select format('The service role may read or change %s.', relname)
  from tables
  where relname = 'sign_in_emails'
    and (has_table_privilege(oid, 'select, insert, update, delete')
         or has_any_column_privilege(oid, 'select, insert, update'))
  union all
  select format('The service role may change %s, which is append-only.', relname)
  from tables
  -- With the number of a shard, on a worker of Citus.
  where relname ~ '^(audit_log|quote_changes|shipment_updates)(_\\d+)?$'
    and (has_table_privilege(oid, 'update, delete') or has_any_column_privilege(oid, 'update'))
  union all
  select format('The service role may change the column %s of installation.', a.attname)
  from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  where t.relname = 'installation' and a.attname not in ('events', 'key_check', 'key_names')
    and has_column_privilege(t.oid, a.attnum, 'update')
  union all
  select format('The service role may act as %s, which row-level security does not restrict.', r.rolname)
  from pg_roles r
  where r.rolname <> current_user and pg_has_role(current_user, r.oid, 'member')
    and (r.rolsuper or r.rolbypassrls or exists (select from tables t where t.relowner = r.oid))
`

/** Privileges of every role. */
const publicPrivileges = sql`
  select format('Everybody may use the table %s.', t.relname)
  from tables t, pg_class c, aclexplode(c.relacl) granted
  where c.oid = t.oid and granted.grantee = 0
  union all
  select format('Everybody may use the column %s of %s.', a.attname, t.relname)
  from tables t join pg_attribute a on a.attrelid = t.oid, aclexplode(a.attacl) granted
  where granted.grantee = 0
`

/** Keys that do not contain the tenant. A violation of one would reveal that another tenant has the same value. */
const keys = sql`
  select format('The unique index %s does not contain the tenant.', i.indexrelid::regclass)
  from tenanted t join pg_index i on i.indrelid = t.oid
  where i.indisunique and not exists (
    select from pg_attribute a
    where a.attrelid = t.oid and a.attname = 'tenant_id' and a.attnum = any (i.indkey::int2[])
  )
  union all
  select format('The table %s has no primary key.', relname)
  from tenanted t
  where not exists (select from pg_index i where i.indrelid = t.oid and i.indisprimary)
  union all
  select format('The foreign key %s of %s does not contain the tenant on both sides.', k.conname, t.relname)
  from tenanted t join pg_constraint k on k.conrelid = t.oid and k.contype = 'f'
  where not exists (
    select from unnest(k.conkey, k.confkey) pair (own, referenced)
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = pair.own and a.attname = 'tenant_id'
    join pg_attribute b on b.attrelid = k.confrelid and b.attnum = pair.referenced and b.attname = 'tenant_id'
  )
`

const notReviewed = 'bypasses row-level security, and has not been reviewed.'

/** Whether a gap is a function that this version does not know. */
export const isUnreviewed = (fault: string): boolean => fault.endsWith(notReviewed)

/** Functions that run with the rights of their owner, but for those of extensions. */
const definers = sql`
  pg_proc p
  where p.pronamespace = 'public'::regnamespace and p.prosecdef
    and not exists (select from pg_depend d
                    where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
`

const functions = sql`
  select format('The function %s ${sql.raw(notReviewed)}', p.proname)
  from ${definers} and p.proname not in (${reviewedFunctions})
  union all
  select format('The function %s bypasses row-level security without a fixed search path, or for everybody.', p.proname)
  from ${definers}
    and (not coalesce('search_path=pg_catalog, public' = any (p.proconfig), false)
         or p.proacl is null
         or exists (select from aclexplode(p.proacl) granted where granted.grantee = 0))
`

const gaps = sql.join([policies, views, rolePrivileges, publicPrivileges, keys, functions], sql` union all `)

/** One row `fault` for each gap. It has no parameters, so that Citus can run it on its workers, too. */
export const gapsQuery = sql<{ fault: string }>`${relations} select fault from (${gaps}) as gaps (fault)`

/**
 * Finds gaps in row-level security in the catalog of a migrated database, with one query per kind of gap: PostgreSQL
 * allows all of them silently. The queries contain the reviewed exceptions. Add an exception only after a review of what
 * it exposes.
 *
 * @returns one sentence per gap, for an operator; empty if there are none
 * @example await rowLevelSecurityGaps(transaction) // ['The service role may empty (TRUNCATE) lanes, which ...']
 */
export async function rowLevelSecurityGaps(transaction: TenantTransaction): Promise<string[]> {
  const { rows } = await gapsQuery.execute(transaction)
  return rows.map(({ fault }) => fault)
}
