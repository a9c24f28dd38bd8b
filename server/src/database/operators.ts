import pg from 'pg'
import { type TenantId, tenantId } from './open-database.ts'

export interface NamedTenant {
  readonly tenant: TenantId
  readonly name: string
}

/** Every brokerage of the installation, by name. Only the owner of the tables may ask; anyone else sees none. */
export async function listTenants(
  ownerConnection: pg.ClientConfig,
): Promise<(NamedTenant & { readonly status: 'active' | 'suspended' })[]> {
  const client = new pg.Client({
    ...ownerConnection,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 5_000,
  })
  await client.connect()
  try {
    const { rows } = await client.query<{ tenant_id: number; name: string; status: 'active' | 'suspended' }>(
      'select tenant_id, name, status from tenants order by name, tenant_id',
    )
    return rows.map(({ tenant_id, name, status }) => ({ tenant: tenantId(tenant_id), name, status }))
  } finally {
    await client.end()
  }
}
