import { sql } from 'kysely'
import type { EventType } from '#contract/event-types.ts'
import type { TenantTransaction } from '../../schema/index.ts'
import { type TenantId, tenantId } from '../../session/index.ts'
import { type ExpiringCredential, insertEvent } from '../integration/events.ts'
import { databaseNow } from '../quotes/quote-changes.ts'
import { expiringTokens, liveSigningSecrets } from './credentials.ts'

const type: EventType = 'credential.expiring'

/** The brokerages with a credential that expires within `noticeDays` and an endpoint that was not told about it. */
export async function unannouncedExpiries(
  transaction: TenantTransaction,
  noticeDays: number,
): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select distinct tenant_id from unannounced_expiries(${noticeDays}) as tenant_id
  `.execute(transaction)
  return rows.map((row) => tenantId(row.tenant_id))
}

/**
 * Writes an event for each credential that expires within `noticeDays`, to the endpoints that subscribe and were not told
 * about it. Concurrent calls write each event once, because a notice has a unique key, for which the later call waits.
 *
 * @returns the number of deliveries
 */
export async function announceExpiries(
  transaction: TenantTransaction,
  tenant: TenantId,
  noticeDays: number,
): Promise<number> {
  let deliveries = 0
  for (const credential of await expiringCredentials(transaction, tenant, noticeDays)) {
    const { rows: told } = await sql<{ endpoint_id: number }>`
      insert into expiry_notices (tenant_id, endpoint_id, credential, credential_id)
      select tenant_id, endpoint_id, ${credential.kind}, ${credential.id}::integer from event_endpoints
      where tenant_id = ${tenant} and state = 'active' and ${type} = any (event_types)
      on conflict do nothing returning endpoint_id
    `.execute(transaction)
    if (told.length === 0) continue
    const toldIds = told.map((endpoint) => endpoint.endpoint_id)
    await insertEvent(transaction, tenant, { type, about: { credential } }, toldIds)
    deliveries += toldIds.length
  }
  return deliveries
}

async function expiringCredentials(
  transaction: TenantTransaction,
  tenant: TenantId,
  noticeDays: number,
): Promise<ExpiringCredential[]> {
  const now = await databaseNow(transaction)
  const until = new Date(now.getTime() + noticeDays * 86_400_000)
  const tokens = await expiringTokens(transaction, tenant, now, until)
  const secrets = await liveSigningSecrets(transaction, tenant, now)
  return [
    ...tokens.map(({ token_id, name, expires_at }) => ({
      kind: 'service_token' as const,
      id: token_id,
      name,
      expires_at: expires_at.toISOString(),
    })),
    ...secrets.flatMap(({ secret_id, name, expires_at }) =>
      expires_at === null || expires_at > until
        ? []
        : [{ kind: 'signing_secret' as const, id: secret_id, name, expires_at: expires_at.toISOString() }],
    ),
  ]
}
