import pg from 'pg'
import { withDatabaseClient } from '#server/database/hosts/index.ts'
import { tablesOnCoordinator } from '#server/database/schema/index.ts'
import type { TestDatabase } from '#testing/test-database.ts'
import { citusFaults, knownFunctions, readTree } from './citus-rules.ts'

/**
 * Finds, on any PostgreSQL, the schema and the statements that a database distributed by tenant (Citus) would refuse. `schemaFaults`
 * reads the catalog. `statementFaults` reads the plans of executed statements: the planner derives implied conditions, so a plan
 * shows whether each table is restricted to one tenant, however the statement is written.
 */

/** Returns the names of the tables that are distributed by tenant. */
export async function tenantTables(client: pg.ClientBase): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname::text as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
       and a.attname = 'tenant_id' and not a.attisdropped and c.relname <> all ($1)`,
    [tablesOnCoordinator],
  )
  return new Set(rows.map(({ name }) => name))
}

/** Returns a sentence for each part of the schema that could not be distributed by tenant. */
export async function schemaFaults(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ fault: string }>(
    `with tables as (
       select c.oid, c.relname, a.attnum as tenant, c.relname = any ($1) as whole
       from pg_class c
       left join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
       where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
     )
     select format('%s has no tenant_id, and is not listed as a table without a tenant', relname) as fault
     from tables where tenant is null and not whole
     union all
     select format('%s has no primary key', relname) from tables t
     where not whole and not exists (select from pg_index i where i.indrelid = t.oid and i.indisprimary)
     union all
     select format('%s does not start with tenant_id', i.indexrelid::regclass)
     from tables t join pg_index i on i.indrelid = t.oid
     where not whole and (i.indisunique or i.indisexclusion) and i.indkey[0] is distinct from t.tenant
     union all
     select format('%s of %s does not reference the same tenant', k.conname, t.relname)
     from tables t join pg_constraint k on k.conrelid = t.oid and k.contype = 'f'
     left join tables to_table on to_table.oid = k.confrelid
     where (t.whole <> to_table.whole) or (not t.whole and not exists (
       select from unnest(k.conkey, k.confkey) pair (own, referenced)
       where pair.own = t.tenant and pair.referenced = to_table.tenant))
     union all
     select format('%s of %s uses a foreign key option that distributed tables do not support', k.conname, t.relname)
     from tables t join pg_constraint k on k.conrelid = t.oid and k.contype = 'f'
     where not t.whole and (k.condeferrable or k.confdeltype in ('n', 'd') or k.confupdtype <> 'a')
     union all
     select format('%s has the trigger %s', t.relname, g.tgname)
     from tables t join pg_trigger g on g.tgrelid = t.oid where not whole and not g.tgisinternal
     union all
     select format('%s has the rule %s', t.relname, r.rulename)
     from tables t join pg_rewrite r on r.ev_class = t.oid
     union all
     select format('%s has the restrictive policy %s, which Citus makes permissive on the workers', t.relname, p.polname)
     from tables t join pg_policy p on p.polrelid = t.oid where not whole and not p.polpermissive
     union all
     select format('%s.%s is filled from a sequence: each worker would count separately', t.relname, a.attname)
     from tables t join pg_attribute a on a.attrelid = t.oid
     left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
     where not whole and a.attnum > 0 and not a.attisdropped
       and (a.attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) like 'nextval(%')
     union all
     select format('%s takes part in inheritance', t.relname)
     from tables t where exists (select from pg_inherits i where t.oid in (i.inhrelid, i.inhparent))
     union all
     select format('the function %s queries %s in language sql, whose parameters are not sent to workers', p.proname, t.relname)
     from pg_proc p join pg_language l on l.oid = p.prolang
     join tables t on p.prosrc ~ ('(from|join|into|update)\\s+(public\\.)?' || t.relname || '\\M')
     where p.pronamespace = 'public'::regnamespace and l.lanname = 'sql' and not t.whole
     order by 1`,
    [tablesOnCoordinator],
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

interface ExecutedStatement {
  readonly text: string
  readonly plan: PlanNode
}

/** Background queries that cover all tenants on purpose: they find tenants with changes or work, on every worker. */
const acrossAllTenants = /where known\.changed_in >= since|^\s*select (distinct )?array\[\w+\.tenant_id\b/

/** A join condition on the tenant of another table. It restricts this table if the other table is restricted. */
const sameTenantAs = /\btenant_id = (\w+)\.tenant_id\b/
/** A condition that compares tenant_id with a value known before any row is read. */
const oneTenant = /\btenant_id = (?:\$?\d+|'\d+'::\w+|\(\$\d+\)::integer)|\$?\d+ = (?:\w+\.)?tenant_id\b/

const conditionsOn = (node: PlanNode) =>
  `${node.Filter ?? ''} ${node['Index Cond'] ?? ''} ${node['Recheck Cond'] ?? ''}`

const allNodes = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(allNodes)]

/** Returns a sentence for each reason why a statement is not restricted to one tenant, or could not run on a worker. */
function statementFaults({ text, plan }: ExecutedStatement, tables: ReadonlySet<string>): readonly string[] {
  if (acrossAllTenants.test(text)) return []
  const nodes = allNodes(plan)
  const isTenantTable = (node: PlanNode) => tables.has(node['Relation Name'] ?? '')
  const tenantNodes = nodes.filter(isTenantTable)
  const restricted = tenantNodes.filter((node) => oneTenant.test(conditionsOn(node)))

  const writeFaults = (node: PlanNode): string[] => {
    const nested = node === plan ? [] : ['is written by a statement inside another statement']
    if (node.Operation !== 'Insert') return nested
    const sources = (node.Plans ?? []).flatMap(allNodes)
    const isLiteral = sources.every(({ 'Node Type': type }) => type === 'Result' || type === 'Values Scan')
    return isLiteral || sources.some(isTenantTable)
      ? nested
      : [...nested, 'is filled from rows that belong to no tenant']
  }
  const readFaults = (node: PlanNode): string[] => {
    const joined = sameTenantAs.exec(conditionsOn(node))?.[1]
    const isRestricted = restricted.includes(node) || restricted.some(({ Alias: alias }) => alias === joined)
    return isRestricted ? [] : ['is not restricted to a tenant']
  }

  const faults = tenantNodes.flatMap((node) =>
    (node['Node Type'] === 'ModifyTable' ? writeFaults(node) : readFaults(node)).map(
      (fault) => `${node['Relation Name']} ${fault}`,
    ),
  )
  const global = nodes.find((node) =>
    (tablesOnCoordinator as readonly string[]).includes(node['Relation Name'] ?? ''),
  )
  if (global !== undefined && tenantNodes.length > 0) {
    faults.push(`${global['Relation Name']} is joined with rows of a tenant`)
  }
  const shortened = text.replaceAll(/\s+/g, ' ').trim().slice(0, 200)
  return faults.map((fault) => `${fault}: ${shortened}`)
}

/**
 * Makes a database send the service the plan of every statement as a notice, including statements in functions and foreign key
 * checks, on connections opened afterwards. Returns false if the role in `makerUrl` is no superuser: only a superuser may set this.
 */
async function sendPlansAsNotices(database: TestDatabase, makerUrl: string): Promise<boolean> {
  return withDatabaseClient({ connectionString: makerUrl }, async (maker) => {
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
      // PostgreSQL also reports the parse trees, for the rules in citus-rules.ts.
      debug_print_rewritten: 'on',
      debug_pretty_print: 'off',
      client_min_messages: 'log',
    }
    for (const [name, value] of Object.entries(settings)) {
      await maker.query(`alter role lanewise_service in database ${database.name} set ${name} = '${value}'`)
    }
    return true
  })
}

/** Parses a notice of `sendPlansAsNotices`. Returns null for any other notice. */
function statementInNotice(notice: string): ExecutedStatement | null {
  const begin = notice.indexOf('plan:\n')
  if (begin < 0) return null
  const { 'Query Text': text, Plan: plan } = JSON.parse(notice.slice(begin + 6)) as {
    'Query Text': string
    Plan: PlanNode
  }
  return { text, plan }
}

/** The statements that the service has executed since the last call of `take`. */
export interface WatchedStatements {
  /** Whether the database reports its plans. It does not if the tests have no superuser. */
  readonly hasPlans: boolean
  /** Returns the number of statements, and a sentence for each reason why one could not run in a distributed database. */
  take(): { readonly statements: number; readonly faults: readonly string[] }
  stop(): void
}

/**
 * Checks each statement that the service executes on connections opened from now on, also inside functions of the database. Row-level
 * security must be disabled, because its conditions would restrict every table.
 */
export async function watchStatements(database: TestDatabase, makerUrl: string): Promise<WatchedStatements> {
  const owner = new pg.Client(database.owner)
  await owner.connect()
  const tables = await tenantTables(owner)
  const known = await knownFunctions(owner, tables)
  await owner.end()
  const hasPlans = await sendPlansAsNotices(database, makerUrl)
  const faults = new Set<string>()
  /** The parse trees of updates, inserts and deletes. */
  const trees = new Set<string>()
  let statements = 0
  const { emit } = pg.Client.prototype
  pg.Client.prototype.emit = function noticed(this: pg.Client, event: string, ...values: unknown[]) {
    if (event === 'notice') {
      const { message, detail = '' } = values[0] as { message: string; detail?: string }
      const statement = statementInNotice(message)
      if (statement !== null) {
        statements += 1
        for (const fault of statementFaults(statement, tables)) faults.add(fault)
      }
      // The command types 2, 3 and 4 are update, insert and delete.
      if (message === 'rewritten parse tree:' && /\{QUERY :commandType [234] /.test(detail)) trees.add(detail)
    }
    return (emit as (...given: unknown[]) => boolean).call(this, event, ...values)
  } as typeof emit
  return {
    hasPlans,
    take() {
      for (const tree of trees) for (const fault of citusFaults(readTree(tree), known)) faults.add(fault)
      const taken = { statements, faults: [...faults] }
      statements = 0
      faults.clear()
      trees.clear()
      return taken
    },
    stop() {
      pg.Client.prototype.emit = emit
    },
  }
}
