import { type Selectable, sql } from 'kysely'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { nextTenantNumber } from '../people/people.ts'

export type EventEndpointRow = Selectable<Tables['event_endpoints']>

/** An event endpoint with its active secrets, without their values. */
export type ListedEndpoint = EventEndpointRow & {
  readonly secrets: readonly {
    readonly secretId: number
    readonly createdAt: Date
    readonly expiresAt: Date | null
  }[]
  readonly waiting: number
  readonly dead: number
}

/** The event endpoints of a brokerage, newest first, with the counts of waiting and failed deliveries. */
export async function listEventEndpoints(
  transaction: TenantTransaction,
  tenant: TenantId,
  now: Date,
): Promise<ListedEndpoint[]> {
  const endpoints = await transaction
    .selectFrom('event_endpoints')
    .selectAll()
    .select([countOf('due').as('waiting'), countOf('dead').as('dead')])
    .where('tenant_id', '=', tenant)
    .where('state', '!=', 'removed')
    .orderBy('endpoint_id', 'desc')
    .execute()
  const secrets = await transaction
    .selectFrom('event_secrets')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where((secret) => secret.or([secret('expires_at', 'is', null), secret('expires_at', '>', now)]))
    .orderBy('secret_id', 'desc')
    .execute()
  return endpoints.map((endpoint) => ({
    ...endpoint,
    secrets: secrets
      .filter(({ endpoint_id }) => endpoint_id === endpoint.endpoint_id)
      .map(({ secret_id, created_at, expires_at }) => ({
        secretId: secret_id,
        createdAt: created_at,
        expiresAt: expires_at,
      })),
  }))
}

const countedMost = 1_000

function countOf(state: 'due' | 'dead') {
  return sql<number>`(
    select count(*) from (
      select from event_deliveries as delivery
      where delivery.tenant_id = event_endpoints.tenant_id and delivery.endpoint_id = event_endpoints.endpoint_id
        and delivery.state = ${state}
      limit ${countedMost}
    ) as counted
  )`
}

/** Reads and locks an endpoint until the commit, so that changes of it are sequential. Null if there is none. */
export async function lockEventEndpoint(
  transaction: TenantTransaction,
  tenant: TenantId,
  endpointId: number,
): Promise<EventEndpointRow | null> {
  const found = await transaction
    .selectFrom('event_endpoints')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('endpoint_id', '=', endpointId)
    .where('state', '!=', 'removed')
    .forNoKeyUpdate()
    .executeTakeFirst()
  return found ?? null
}

/** Counts the endpoints of a brokerage, one transaction at a time: the tenant's row serves as a lock, as for secrets. */
export async function lockEventEndpointCount(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<number> {
  await transaction
    .selectFrom('tenants')
    .select('tenant_id')
    .where('tenant_id', '=', tenant)
    .forNoKeyUpdate()
    .execute()
  const { count } = await transaction
    .selectFrom('event_endpoints')
    .select((endpoint) => endpoint.fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenant)
    .where('state', '!=', 'removed')
    .executeTakeFirstOrThrow()
  return count
}

export async function insertEventEndpoint(
  transaction: TenantTransaction,
  tenant: TenantId,
  endpoint: {
    readonly url: string
    readonly description: string | null
    readonly eventTypes: readonly string[]
    readonly userId: number
    readonly now: Date
  },
): Promise<EventEndpointRow> {
  return transaction
    .insertInto('event_endpoints')
    .values({
      tenant_id: tenant,
      endpoint_id: await nextTenantNumber(transaction, tenant, 'event-endpoint'),
      url: endpoint.url,
      description: endpoint.description,
      event_types: [...endpoint.eventTypes],
      state: 'active',
      disabled_reason: null,
      created_by: endpoint.userId,
      created_at: endpoint.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Updates a locked endpoint. */
export async function updateEventEndpoint(
  transaction: TenantTransaction,
  tenant: TenantId,
  endpointId: number,
  next: Pick<EventEndpointRow, 'url' | 'description' | 'event_types' | 'state' | 'disabled_reason'>,
): Promise<EventEndpointRow> {
  return transaction
    .updateTable('event_endpoints')
    .set({
      url: next.url,
      description: next.description,
      event_types: next.event_types,
      state: next.state,
      disabled_reason: next.disabled_reason,
    })
    .where('tenant_id', '=', tenant)
    .where('endpoint_id', '=', endpointId)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Deletes a locked endpoint and its secrets. Its deliveries stay in the log as long as others do. */
export async function removeEventEndpoint(
  transaction: TenantTransaction,
  tenant: TenantId,
  endpointId: number,
): Promise<void> {
  await transaction
    .deleteFrom('event_secrets')
    .where('tenant_id', '=', tenant)
    .where('endpoint_id', '=', endpointId)
    .execute()
  await transaction
    .updateTable('event_endpoints')
    .set({ state: 'removed' })
    .where('tenant_id', '=', tenant)
    .where('endpoint_id', '=', endpointId)
    .execute()
}

/** Adds a secret to an endpoint. The previous one signs until `overlapEnd` or its earlier end; older ones are deleted. */
export async function insertEventSecret(
  transaction: TenantTransaction,
  tenant: TenantId,
  secret: {
    readonly endpointId: number
    readonly now: Date
    readonly overlapEnd: Date
    readonly sealedFor: (secretId: number) => Buffer
  },
): Promise<number> {
  const secretId = await nextTenantNumber(transaction, tenant, 'event-secret')
  await transaction
    .deleteFrom('event_secrets')
    .where('tenant_id', '=', tenant)
    .where('endpoint_id', '=', secret.endpointId)
    .where('expires_at', 'is not', null)
    .execute()
  await transaction
    .updateTable('event_secrets')
    .set({ expires_at: secret.overlapEnd })
    .where('tenant_id', '=', tenant)
    .where('endpoint_id', '=', secret.endpointId)
    .execute()
  await transaction
    .insertInto('event_secrets')
    .values({
      tenant_id: tenant,
      secret_id: secretId,
      endpoint_id: secret.endpointId,
      sealed: secret.sealedFor(secretId),
      created_at: secret.now,
      expires_at: null,
    })
    .execute()
  return secretId
}

/** Turns off an endpoint that fails permanently. Returns false if it was not on. */
export async function disableEventEndpoint(
  transaction: TenantTransaction,
  tenant: TenantId,
  endpointId: number,
  why:
    | { readonly reason: 'gone' }
    // Only if the endpoint has accepted no event newer than this one.
    | { readonly reason: 'failing'; readonly eventNumber: number },
): Promise<boolean> {
  const silent =
    why.reason === 'gone'
      ? sql<boolean>`true`
      : sql<boolean>`not exists (
          select from event_deliveries as delivery
          where delivery.tenant_id = ${tenant} and delivery.endpoint_id = ${endpointId}
            and delivery.event_number > ${why.eventNumber} and delivery.state = 'delivered'
        )`
  const { numUpdatedRows } = await transaction
    .updateTable('event_endpoints')
    .set({ state: 'disabled', disabled_reason: why.reason })
    .where('tenant_id', '=', tenant)
    .where('endpoint_id', '=', endpointId)
    .where('state', '=', 'active')
    .where(silent)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Deletes a secret that nobody can use. Its endpoint stays, and its events wait until it has a new one. */
export async function deleteEventSecret(
  transaction: TenantTransaction,
  tenant: TenantId,
  secretId: number,
): Promise<void> {
  await transaction
    .deleteFrom('event_secrets')
    .where('tenant_id', '=', tenant)
    .where('secret_id', '=', secretId)
    .execute()
}

/** All sealed event secrets, by id. Locks them until the commit. */
export async function sealedEventSecrets(
  transaction: TenantTransaction,
  tenant: TenantId,
  after: number,
  limit: number,
) {
  return transaction
    .selectFrom('event_secrets')
    .select(['secret_id', 'sealed', 'expires_at'])
    .where('tenant_id', '=', tenant)
    .where('secret_id', '>', after)
    .orderBy('secret_id')
    .limit(limit)
    .forNoKeyUpdate()
    .execute()
}
