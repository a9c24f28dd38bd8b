import type pg from 'pg'
import { withDatabaseClient } from '../../hosts/index.ts'
import { type TenantId, tenantId } from '../../session/index.ts'

export interface NamedTenant {
  readonly tenant: TenantId
  readonly name: string
}

/** All brokerages of the installation, by name. Requires the table owner: other roles see none. */
export async function listTenants(
  ownerConnection: pg.ClientConfig,
): Promise<(NamedTenant & { readonly status: 'active' | 'suspended'; readonly isTest: boolean })[]> {
  return withDatabaseClient(
    {
      ...ownerConnection,
      connectionTimeoutMillis: 5_000,
      statement_timeout: 5_000,
    },
    async (client) => {
      const { rows } = await client.query<{
        tenant_id: number
        name: string
        status: 'active' | 'suspended'
        is_test: boolean
      }>(
        'select tenant_id, name, status, sandbox_of is not null as is_test from tenants order by name, tenant_id',
      )
      return rows.map(({ tenant_id, name, status, is_test: isTest }) => ({
        tenant: tenantId(tenant_id),
        name,
        status,
        isTest,
      }))
    },
  )
}

/** The number of rows of a tenant in each table, with each table before the tables that it references. */
export type TenantRows = ReadonlyMap<string, number>

/**
 * Deletes all rows of a tenant from all tables with tenants in one transaction, and verifies that none are left. With
 * `dryRun`, counts the rows and deletes nothing. Requires the table owner.
 *
 * @throws Error if rows are left; then nothing has been deleted
 */
export async function eraseTenantRows(
  ownerConnection: pg.ClientConfig,
  tenant: TenantId,
  { dryRun, onTable = () => {} }: { dryRun: boolean; onTable?: (table: string, rows: number) => void },
): Promise<TenantRows> {
  return withDatabaseClient({ ...ownerConnection, connectionTimeoutMillis: 5_000 }, async (client) => {
    await client.query('begin')
    await client.query('select enter_tenant($1, 0, 0, 0)', [String(tenant)])
    const tables = await tenantTables(client)
    const rows = new Map<string, number>()
    for (const table of tables) {
      const count = dryRun
        ? Number(
            (
              await client.query<{ count: string }>(`select count(*) from ${table} where tenant_id = $1`, [
                tenant,
              ])
            ).rows[0]?.count,
          )
        : ((await client.query(`delete from ${table} where tenant_id = $1`, [tenant])).rowCount ?? 0)
      rows.set(table, count)
      onTable(table, count)
    }
    if (dryRun) {
      await client.query('rollback')
      return rows
    }
    for (const table of tables) {
      const { rowCount } = await client.query(`select from ${table} where tenant_id = $1 limit 1`, [tenant])
      if (rowCount !== 0) throw new Error(`Rows of the brokerage are left in ${table}: nothing was deleted.`)
    }
    // The brokerage's versions are deleted, too, so later polls learn of the erasure from this counter.
    await client.query('update installation set erasures = erasures + 1')
    await client.query('commit')
    return rows
  })
}

/** All tables with a tenant, each before those that its foreign keys reference. */
export async function tenantTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ table: string; points_at: string[] }>(
    `select c.oid::regclass::text as table,
       array(select distinct confrelid::regclass::text from pg_constraint
             where contype = 'f' and conrelid = c.oid and confrelid <> c.oid) as points_at
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
       and a.attname = 'tenant_id' and not a.attisdropped
     order by 1`,
  )
  const waiting = new Map(rows.map(({ table, points_at }) => [table, points_at]))
  const ordered: string[] = []
  while (waiting.size > 0) {
    const next = [...waiting.keys()].find(
      (table) => ![...waiting.values()].some((points) => points.includes(table)),
    )
    if (next === undefined)
      throw new Error(`The tables ${[...waiting.keys()].join(', ')} reference each other.`)
    waiting.delete(next)
    ordered.push(next)
  }
  return ordered
}
