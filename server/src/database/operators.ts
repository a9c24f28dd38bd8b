import pg from 'pg'
import { type TenantId, tenantId } from './open-database.ts'

export interface NamedTenant {
  readonly tenant: TenantId
  readonly name: string
}

/** Every brokerage of the installation, by name. Only the owner of the tables may ask; anyone else sees none. */
export async function listTenants(ownerConnection: pg.ClientConfig): Promise<NamedTenant[]> {
  const client = new pg.Client({
    ...ownerConnection,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 5_000,
  })
  await client.connect()
  try {
    const { rows } = await client.query<{ tenant_id: number; name: string }>(
      'select tenant_id, name from tenants order by name, tenant_id',
    )
    return rows.map((row) => ({ tenant: tenantId(row.tenant_id), name: row.name }))
  } finally {
    await client.end()
  }
}
