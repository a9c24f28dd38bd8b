import pg from 'pg'
import { tablesWithoutTenant } from '#server/database/schema/index.ts'
import type { TestDatabase } from '#testing/test-database.ts'

/**
 * What a database spread by tenant could not hold or answer, told from any PostgreSQL: what the catalogue holds, and the
 * plans of the statements that were run. A plan names the conditions on each table after all that follows from others was
 * drawn, so that a table is tied to a tenant where it says so, however the statement was written.
 */

/** Tables with a tenant, by name. */
export async function tablesOfTenants(client: pg.ClientBase): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname::text as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
       and a.attname = 'tenant_id' and not a.attisdropped and c.relname <> all ($1)`,
    [tablesWithoutTenant],
  )
  return new Set(rows.map(({ name }) => name))
}

/** A sentence for each thing of the schema that could not be spread by tenant. */
export async function schemaFaults(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ fault: string }>(
    `with tables as (
       select c.oid, c.relname, a.attnum as tenant, c.relname = any ($1) as whole
       from pg_class c
       left join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
       where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
     )
     select format('%s has no tenant, and is not on the list of tables that stay whole', relname) as fault
     from tables where tenant is null and not whole
     union all
     select format('%s has no primary key', relname) from tables t
     where not whole and not exists (select from pg_index i where i.indrelid = t.oid and i.indisprimary)
     union all
     select format('%s does not begin with the tenant', i.indexrelid::regclass)
     from tables t join pg_index i on i.indrelid = t.oid
     where not whole and (i.indisunique or i.indisexclusion) and i.indkey[0] is distinct from t.tenant
     union all
     select format('%s of %s does not tie tenant to tenant', k.conname, t.relname)
     from tables t join pg_constraint k on k.conrelid = t.oid and k.contype = 'f'
     left join tables to_table on to_table.oid = k.confrelid
     where (t.whole <> to_table.whole) or (not t.whole and not exists (
       select from unnest(k.conkey, k.confkey) pair (own, referenced)
       where pair.own = t.tenant and pair.referenced = to_table.tenant))
     union all
     select format('%s of %s does more than a foreign key may here', k.conname, t.relname)
     from tables t join pg_constraint k on k.conrelid = t.oid and k.contype = 'f'
     where not t.whole and (k.condeferrable or k.confdeltype in ('n', 'd') or k.confupdtype <> 'a')
     union all
     select format('%s has the trigger %s', t.relname, g.tgname)
     from tables t join pg_trigger g on g.tgrelid = t.oid where not whole and not g.tgisinternal
     union all
     select format('%s has the rule %s', t.relname, r.rulename)
     from tables t join pg_rewrite r on r.ev_class = t.oid
     union all
     select format('%s.%s counts on by itself: workers would each count', t.relname, a.attname)
     from tables t join pg_attribute a on a.attrelid = t.oid
     left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
     where not whole and a.attnum > 0 and not a.attisdropped
       and (a.attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) like 'nextval(%')
     union all
     select format('%s inherits, or is inherited from', t.relname)
     from tables t where exists (select from pg_inherits i where t.oid in (i.inhrelid, i.inhparent))
     union all
     select format('the function %s asks %s in the language sql, whose parameters a worker is not told', p.proname, t.relname)
     from pg_proc p join pg_language l on l.oid = p.prolang
     join tables t on p.prosrc ~ ('(from|join|into|update)\\s+(public\\.)?' || t.relname || '\\M')
     where p.pronamespace = 'public'::regnamespace and l.lanname = 'sql' and not t.whole
     order by 1`,
    [tablesWithoutTenant],
  )
  return rows.map(({ fault }) => fault)
}

/** A node of a plan, as `explain (format json)` writes it. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Alias?: string
  readonly Operation?: string
  readonly 'Subplan Name'?: string
  readonly Plans?: readonly PlanNode[]
  readonly Filter?: string
  readonly 'Index Cond'?: string
  readonly 'Recheck Cond'?: string
}

export interface RunStatement {
  readonly text: string
  readonly plan: PlanNode
}

/** Of all tenants by intent: which of them have moved on. Every part is asked, on every worker. */
const ofAllTenants = /where known\.changed_in >= since/

/** A condition on the tenant by that of another table: right where that one is tied. */
const tiedToAnother = /\btenant_id = (\w+)\.tenant_id\b/
/** A condition on the tenant itself, by a value that is known before any row is read. */
const tiedToTenant = /\btenant_id = (?:\$?\d+|'\d+'::\w+|\(\$\d+\)::integer)|\$\d+ = (?:\w+\.)?tenant_id\b/

const conditionsOn = (node: PlanNode) =>
  `${node.Filter ?? ''} ${node['Index Cond'] ?? ''} ${node['Recheck Cond'] ?? ''}`

/** A sentence for each thing in a statement that does not keep to the rows of one tenant, or that no worker could do. */
export function statementFaults(
  { text, plan }: RunStatement,
  tables: ReadonlySet<string>,
): readonly string[] {
  if (ofAllTenants.test(text)) return []
  const faults: string[] = []
  const at = `${text.replaceAll(/\s+/g, ' ').trim().slice(0, 200)}`
  const isOfTenants = (node: PlanNode) => tables.has(node['Relation Name'] ?? '')
  const all = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(all)]
  const nodes = all(plan)
  const tied = new Set(nodes.filter((node) => isOfTenants(node) && tiedToTenant.test(conditionsOn(node))))
  for (const node of nodes) {
    if (!isOfTenants(node)) continue
    const name = node['Relation Name']
    if (node['Node Type'] === 'ModifyTable') {
      if (node !== plan) faults.push(`${name} is written within another statement: ${at}`)
      if (node.Operation !== 'Insert') continue
      const from = (node.Plans ?? []).flatMap(all)
      const isListed = from.every(({ 'Node Type': type }) => type === 'Result' || type === 'Values Scan')
      if (!isListed && !from.some(isOfTenants)) {
        faults.push(`${name} is filled from rows that are not of a tenant: ${at}`)
      }
      continue
    }
    const another = tiedToAnother.exec(conditionsOn(node))?.[1]
    const isTied = tied.has(node) || [...tied].some(({ Alias: alias }) => alias === another)
    if (!isTied) faults.push(`${name} is not tied to a tenant: ${at}`)
  }
  const whole = nodes.find((node) =>
    (tablesWithoutTenant as readonly string[]).includes(node['Relation Name'] ?? ''),
  )
  if (whole !== undefined && nodes.some(isOfTenants)) {
    faults.push(`${whole['Relation Name']} is put together with the rows of a tenant: ${at}`)
  }
  return faults
}

/**
 * Lets a database tell the plan of every statement it runs, those within functions and foreign keys, too, as notices. Only
 * connections that are made after it tell. False where its maker may not say so.
 */
export async function tellPlans(database: TestDatabase, makerUrl: string): Promise<boolean> {
  const maker = new pg.Client({ connectionString: makerUrl })
  await maker.connect()
  try {
    const { rows } = await maker.query<{ may: boolean }>(
      'select rolsuper as may from pg_roles where rolname = current_user',
    )
    if (rows[0]?.may !== true) return false
    const settings = {
      session_preload_libraries: 'auto_explain',
      'auto_explain.log_min_duration': '0',
      'auto_explain.log_nested_statements': 'on',
      'auto_explain.log_format': 'json',
      'auto_explain.log_level': 'notice',
    }
    for (const [name, value] of Object.entries(settings)) {
      await maker.query(`alter database ${database.name} set ${name} = '${value}'`)
    }
    return true
  } finally {
    await maker.end()
  }
}

/** The statement of a notice that tells a plan; null where it tells something else. */
export function toldPlan(notice: string): RunStatement | null {
  const begin = notice.indexOf('plan:\n')
  if (begin < 0) return null
  const { 'Query Text': text, Plan: plan } = JSON.parse(notice.slice(begin + 6)) as {
    'Query Text': string
    Plan: PlanNode
  }
  return { text, plan }
}
