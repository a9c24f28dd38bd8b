import { type Selectable, sql } from 'kysely'
import type { credentialKinds, EventType } from '#contract/event-types.ts'
import type { OutcomeRule, OutcomeSource } from '#engine/quote-outcome.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { JsonRow, QuotesTable, TenantTransaction, UnshownQuoteColumn } from '../../schema/index.ts'
import { type Database, type TenantId, tenantId } from '../../session/index.ts'
import { insertRows } from '../insert-rows.ts'
import { databaseNow } from '../quotes/quote-changes.ts'

/** A quote as it was when its event was recorded, in JSON form. */
export type EventColumns = Omit<Selectable<QuotesTable>, UnshownQuoteColumn>
export type QuoteThen = JsonRow<EventColumns> & {
  readonly reference: string | null
  readonly quoted_by_name: string | null
  /** Absent from an older event. */
  readonly default_basis?: RateBasis
  /** The surcharges and exchange rate that converted AR and AP then, if these were on two bases or in two currencies. */
  readonly rates?: {
    readonly fuel_mills_per_mile: number | null
    readonly cost_mills_per_mile: number | null
    readonly usd_per_cad: number | null
  } | null
  /** The converted AR and AP. Events from before migration 0070 have it instead of `rates`. */
  readonly landed?: { readonly revenue_cents: number; readonly cost_cents: number } | null
}

/** A credential that expires soon, as its event has it. */
export interface ExpiringCredential {
  readonly kind: (typeof credentialKinds)[number]
  readonly id: number
  readonly name: string
  /** ISO 8601. */
  readonly expires_at: string
}

/** The saved content of an event: the quote at that time and its changes, or a credential. A test event has neither. */
export interface EventFacts {
  readonly lane?: QuoteThen
  readonly credential?: ExpiringCredential
  /** A request for approval in the form of the API. */
  readonly approval?: object
  readonly change_number?: number
  readonly source?: OutcomeSource
  readonly rule?: OutcomeRule | null
  readonly before?: Readonly<Record<string, unknown>>
  readonly after?: Readonly<Record<string, unknown>>
  /** Of a signed update of which nothing was applied. */
  readonly signed_at?: string
  readonly fields?: readonly string[]
}

/** One event that was claimed for delivery to one endpoint. */
export interface ClaimedEvent {
  readonly number: number
  /** The number of the attempt, from 1. */
  readonly attempt: number
  readonly id: string
  readonly type: string
  readonly occurredAt: Date
  readonly about: EventFacts
}

export interface ClaimedDeliveries {
  readonly url: string
  /** The signing secrets, newest first. */
  readonly secrets: readonly { readonly secretId: number; readonly sealed: Buffer }[]
  readonly events: readonly ClaimedEvent[]
}

/** The result of a delivery attempt. */
export interface Settlement {
  readonly state: 'delivered' | 'due' | 'dead'
  /** The time of the next attempt, if there is one. */
  readonly retrySeconds: number | null
  readonly status: number | null
  /** The beginning of the response. */
  readonly text: string | null
  readonly failure: string | null
  readonly ms: number
}

/** An endpoint with events to send. */
export interface DueEndpoint {
  readonly tenant: TenantId
  readonly endpointId: number
}

/** The endpoints of all brokerages with deliveries that are due, longest due first. */
export async function dueEndpoints(transaction: TenantTransaction, most: number): Promise<DueEndpoint[]> {
  const { rows } = await sql<{ tenant_id: number; endpoint_id: number }>`
    select * from due_endpoints(${most})
  `.execute(transaction)
  return rows.map((row) => ({ tenant: tenantId(row.tenant_id), endpointId: row.endpoint_id }))
}

/** The deliveries of all brokerages that wait, and the brokerages with rows past the retention period. */
export interface EventQueue {
  readonly waiting: number
  /** The age of the oldest waiting event. */
  readonly oldestSeconds: number
  /** The greatest delay of a due delivery. */
  readonly overdueSeconds: number
  readonly tenantsWithOld: readonly TenantId[]
}

export async function eventQueue(transaction: TenantTransaction, keptSince: Date): Promise<EventQueue> {
  const { rows } = await sql<{
    waiting: number
    oldest_seconds: number
    overdue_seconds: number
    tenants_with_old: number[]
  }>`select * from event_queue(${keptSince})`.execute(transaction)
  const [row] = rows
  if (row === undefined) throw new Error('The event queue query returned no row.')
  return {
    waiting: row.waiting,
    oldestSeconds: row.oldest_seconds,
    overdueSeconds: row.overdue_seconds,
    tenantsWithOld: row.tenants_with_old.map(tenantId),
  }
}

/**
 * Claims up to `most` due deliveries of one endpoint for `leaseSeconds`. Unless they are settled by then, they become due
 * again. Concurrent claims get other deliveries. Null if nothing may be sent.
 */
export async function claimDeliveries(
  database: Pick<Database, 'callInTenant'>,
  tenant: TenantId,
  endpointId: number,
  { most, leaseSeconds }: { readonly most: number; readonly leaseSeconds: number },
): Promise<ClaimedDeliveries | null> {
  const claimed = await database.callInTenant<{
    url: string
    secrets: { id: number; sealed: string }[]
    events: {
      number: number
      attempt: number
      id: string
      type: string
      occurred_at: string
      about: EventFacts
    }[]
  } | null>(tenant, 'claim_deliveries', [endpointId, most, leaseSeconds])
  return (
    claimed && {
      url: claimed.url,
      secrets: claimed.secrets.map(({ id, sealed }) => ({
        secretId: id,
        sealed: Buffer.from(sealed, 'hex'),
      })),
      events: claimed.events.map(({ occurred_at, ...event }) => ({
        ...event,
        occurredAt: new Date(occurred_at),
      })),
    }
  )
}

/** Records the result of an attempt. Returns false, and writes nothing, if there was a later attempt. */
export function settleDelivery(
  database: Pick<Database, 'callInTenant'>,
  tenant: TenantId,
  endpointId: number,
  { number, attempt }: Pick<ClaimedEvent, 'number' | 'attempt'>,
  { retrySeconds, ...settlement }: Settlement,
): Promise<boolean> {
  return database.callInTenant(tenant, 'settle_delivery', [
    endpointId,
    number,
    attempt,
    JSON.stringify({ ...settlement, ...(retrySeconds === null ? {} : { retry_seconds: retrySeconds }) }),
  ])
}

/** Rows deleted per transaction, which stays well below the statement timeout. */
const rowsPerPruning = 5_000

/** Deletes some rows past the retention period. Returns false if none are left. */
export async function pruneEvents(
  transaction: TenantTransaction,
  tenant: TenantId,
  keptSince: Date,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from event_deliveries
    where tenant_id = ${tenant} and (endpoint_id, event_number) in (
      select endpoint_id, event_number from event_deliveries
      where tenant_id = ${tenant} and created_at < ${keptSince} order by created_at limit ${rowsPerPruning}
    )
  `.execute(transaction)
  await sql`
    delete from events
    where tenant_id = ${tenant} and event_number in (
      select event_number from events
      where tenant_id = ${tenant} and occurred_at < ${keptSince}
        and not exists (
          select from event_deliveries as delivery
          where delivery.tenant_id = ${tenant} and delivery.event_number = events.event_number
        )
      order by event_number limit ${rowsPerPruning}
    )
  `.execute(transaction)
  await sql`
    delete from event_endpoints
    where tenant_id = ${tenant} and state = 'removed' and not exists (
      select from event_deliveries as delivery
      where delivery.tenant_id = ${tenant} and delivery.endpoint_id = event_endpoints.endpoint_id
    )
  `.execute(transaction)
  return numAffectedRows === BigInt(rowsPerPruning)
}

export interface DeliveryFilter {
  readonly endpointId?: number
  readonly state?: 'due' | 'delivered' | 'dead'
}

/** Deliveries newest first, before the event `before`. Request one more than a page to learn whether there is another page. */
export async function listDeliveries(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: DeliveryFilter,
  page: { readonly before: DeliveryPlace | null; readonly limit: number },
) {
  let query = transaction
    .selectFrom('event_deliveries as delivery')
    .innerJoin('events as event', (join) =>
      join
        .onRef('event.tenant_id', '=', 'delivery.tenant_id')
        .onRef('event.event_number', '=', 'delivery.event_number'),
    )
    .selectAll('delivery')
    .select(['event.event_id', 'event.type', 'event.occurred_at', 'event.about'])
    .where('delivery.tenant_id', '=', tenant)
  if (filter.endpointId !== undefined) query = query.where('delivery.endpoint_id', '=', filter.endpointId)
  if (filter.state !== undefined) query = query.where('delivery.state', '=', filter.state)
  if (page.before !== null) {
    const { eventNumber, endpointId } = page.before
    query = query.where(
      sql<boolean>`(delivery.event_number, delivery.endpoint_id) < (${eventNumber}, ${endpointId})`,
    )
  }
  return query
    .orderBy('delivery.event_number', 'desc')
    .orderBy('delivery.endpoint_id', 'desc')
    .limit(page.limit)
    .execute()
}

/** Where a page of deliveries ended. */
export interface DeliveryPlace {
  readonly eventNumber: number
  readonly endpointId: number
}

export type DeliveryRow = Awaited<ReturnType<typeof listDeliveries>>[number]

/** Records a test event for one endpoint, regardless of its types and of whether events are on. Returns the event's id. */
export async function insertTestEvent(
  transaction: TenantTransaction,
  tenant: TenantId,
  endpointId: number,
  type: string,
): Promise<string> {
  const { rows } = await sql<{ event_number: string; event_id: string }>`
    insert into events values
      (${tenant}, nextval('event_number'), gen_random_uuid(), ${type}, null, clock_timestamp(), '{}')
    returning event_number, event_id
  `.execute(transaction)
  const { event_number: number = null, event_id: eventId = '' } = rows[0] ?? {}
  await sql`
    insert into event_deliveries (tenant_id, endpoint_id, event_number, lane_id, created_at, next_at)
    values (${tenant}, ${endpointId}, ${number}, null, clock_timestamp(), clock_timestamp())
  `.execute(transaction)
  return eventId
}

/** The deliveries of an endpoint to send again: one event, or all from a time on. */
export interface Replayed {
  readonly eventId?: string
  readonly since?: Date
  readonly onlyDead?: boolean
}

/**
 * Schedules up to `most` deliveries of an endpoint again, oldest first, with no attempts so far. Skips deliveries in
 * progress. Returns how many were scheduled.
 */
export async function replayDeliveries(
  transaction: TenantTransaction,
  tenant: TenantId,
  endpointId: number,
  asked: Replayed & { readonly most: number },
): Promise<number> {
  const event = asked.eventId === undefined ? sql`` : sql`and event_id = ${asked.eventId}::uuid`
  const since = asked.since === undefined ? sql`` : sql`and occurred_at >= ${asked.since}`
  const states = asked.onlyDead === true ? ['dead'] : ['dead', 'delivered']
  const { numAffectedRows = 0n } = await sql`
    with chosen as (
      select delivery.event_number from event_deliveries as delivery
      join events as event
        on event.tenant_id = delivery.tenant_id and event.event_number = delivery.event_number
      where delivery.tenant_id = ${tenant} and delivery.endpoint_id = ${endpointId}
        and delivery.state = any(${states}::text[]) ${event} ${since}
      order by delivery.event_number limit ${asked.most}
      for no key update of delivery
    )
    update event_deliveries set state = 'due', attempts = 0, settled_at = null, next_at = now()
    where tenant_id = ${tenant} and endpoint_id = ${endpointId}
      and event_number in (select event_number from chosen)
  `.execute(transaction)
  return Number(numAffectedRows)
}

/** Writes an event that is not about a quote, with a delivery to each of these endpoints. */
export async function insertEvent(
  transaction: TenantTransaction,
  tenant: TenantId,
  { type, about }: { readonly type: EventType; readonly about: EventFacts },
  endpointIds: readonly number[],
): Promise<void> {
  const now = await databaseNow(transaction)
  const { rows } = await sql<{ event_number: string }>`
    insert into events values (
      ${tenant}, nextval('event_number'), gen_random_uuid(), ${type}, null, ${now}, ${JSON.stringify(about)}
    )
    returning event_number
  `.execute(transaction)
  await insertRows(
    transaction,
    tenant,
    'event_deliveries',
    [{ name: 'endpoint_id', type: 'integer', values: endpointIds }],
    [
      ['event_number', sql`${rows[0]?.event_number}::bigint`],
      ['created_at', sql`${now}::timestamptz`],
      ['next_at', sql`${now}::timestamptz`],
    ],
  )
}

/** Writes an event to every endpoint that subscribes to its type, if events are on. Returns the number of deliveries. */
export async function announceToSubscribers(
  transaction: TenantTransaction,
  tenant: TenantId,
  event: { readonly type: EventType; readonly about: EventFacts },
): Promise<number> {
  const { rows: known } = await sql<{ has: boolean }>`
    select has_subscriber(${tenant}, ${event.type}) as has
  `.execute(transaction)
  if (known[0]?.has !== true) return 0
  const { rows } = await sql<{ endpoint_id: number }>`
    select endpoint_id from event_endpoints
    where tenant_id = ${tenant} and (state in ('active', 'paused') or disabled_reason = 'failing')
      and ${event.type} = any (event_types)
  `.execute(transaction)
  await insertEvent(
    transaction,
    tenant,
    event,
    rows.map((row) => row.endpoint_id),
  )
  return rows.length
}
