import { type Insertable, type Selectable, sql } from 'kysely'
import type { LaneRow, LanesTable, Tables, TenantTransaction } from '../../schema/index.ts'
import { type Database, quotesChanged, quotesMade, type TenantId } from '../../session/index.ts'
import { laneSeenByViewer, seenByViewer } from '../customers/teams.ts'
import { type BookingColumn, bookedColumns } from './booking-columns.ts'

export type QuoteRequestRow = Selectable<Tables['quote_requests']>

/** The truck cost that was expected at the time of the quote, with its range and its basis. */
export type ExpectedColumn =
  | 'expected_cost_cents'
  | 'expected_cost_low_cents'
  | 'expected_cost_high_cents'
  | 'expected_basis'

/** The rate and the estimated cost of a quote, without named charges, with what they include and their currency. */
export type QuotedAmountColumn =
  | 'quoted_rate_cents'
  | 'estimated_cost_cents'
  | 'quoted_basis'
  | 'quoted_fuel_cents'
  | 'quoted_accessorials_cents'
  | 'quoted_currency'

/** What the expected cost of a quote depends on. */
export type CostColumn =
  | 'origin_key'
  | 'destination_key'
  | 'origin_state'
  | 'destination_state'
  | 'equipment_code'
  | 'miles'
  | 'pickup_date'

/** A quote on one lane, with parsed places and equipment. */
export type NewLane = Pick<
  Insertable<LanesTable>,
  | 'origin'
  | 'destination'
  | 'origin_key'
  | 'destination_key'
  | 'origin_state'
  | 'destination_state'
  | 'origin_market'
  | 'destination_market'
  | 'equipment'
  | 'equipment_code'
  | QuotedAmountColumn
  | 'quoted_charges'
  | 'market_rate_cents'
  | 'miles'
  | 'pickup_date'
  | ExpectedColumn
> &
  Partial<
    Pick<
      Insertable<LanesTable>,
      | 'outcome'
      | 'outcome_reason'
      | 'outcome_source'
      | 'decided_at'
      | 'truck_cost_source'
      | BookingColumn
      | 'import_fingerprint'
      | 'advice'
      | 'valid_until'
    >
  > & {
    /** For lanes migrated with their history: the lane and quote number in the request, and the time of the quote. */
    readonly placed?: { readonly laneNumber: number; readonly quoteCount: number; readonly createdAt: Date }
  }

export interface NewQuoteRequest {
  readonly customerName: string
  readonly reference: string | null
  readonly createdBy: number | null
  readonly createdAt: Date
  readonly importId: number | null
  /** The client's idempotency key, and a digest of the body that was sent with it. */
  readonly repeatable?: { readonly key: string; readonly digest: Buffer }
  readonly lanes: readonly NewLane[]
}

/** A lane_ref from its three parts. @example laneRef(48211093754, 1, 2) // '48211093754-1-2' */
export function laneRef(requestId: number, laneNumber: number, quoteCount: number): string {
  return `${requestId}-${laneNumber}-${quoteCount}`
}

async function nextNumbers(
  transaction: TenantTransaction,
  sequence: 'lane_number' | 'request_number',
  count: number,
): Promise<number[]> {
  const { rows } = await sql<{ number: number }>`
    select number from next_numbers(${sequence}, ${count}) as number
  `.execute(transaction)
  return rows.map((row) => row.number)
}

/**
 * Inserts quote requests with their lanes in a few statements, and returns the lanes in the given order. Omits lanes whose
 * import_fingerprint exists already: they were imported before.
 */
export async function insertQuoteRequests(
  transaction: TenantTransaction,
  tenant: TenantId,
  identifiers: Database['identifiers'],
  requests: readonly NewQuoteRequest[],
): Promise<LaneRow[]> {
  const requestNumbers = await nextNumbers(transaction, 'request_number', requests.length)
  const laneNumbers = await nextNumbers(
    transaction,
    'lane_number',
    requests.reduce((count, request) => count + request.lanes.length, 0),
  )
  const requestRows: Insertable<Tables['quote_requests']>[] = []
  const laneRows: Insertable<LanesTable>[] = []
  for (const [index, request] of requests.entries()) {
    const requestId = identifiers.requestId(requestNumbers[index] ?? -1)
    requestRows.push({
      tenant_id: tenant,
      request_id: requestId,
      customer_name: request.customerName,
      reference: request.reference,
      created_by: request.createdBy,
      created_at: request.createdAt,
      import_id: request.importId,
      request_key: request.repeatable?.key ?? null,
      request_digest: request.repeatable?.digest ?? null,
    })
    for (const [position, { placed, ...lane }] of request.lanes.entries()) {
      const createdAt = placed?.createdAt ?? request.createdAt
      laneRows.push({
        ...emptyBooking,
        ...lane,
        ...newLaneKeys(
          tenant,
          identifiers.laneId(laneNumbers[laneRows.length] ?? -1),
          requestId,
          placed?.laneNumber ?? position + 1,
          placed?.quoteCount ?? 1,
        ),
        quoted_customer_name: request.customerName,
        created_by: request.createdBy,
        created_at: createdAt,
        updated_at: createdAt,
        import_id: request.importId,
      })
    }
  }
  for (const rows of slices(requestRows))
    await transaction.insertInto('quote_requests').values(rows).execute()
  const inserted: LaneRow[] = []
  for (const rows of slices(laneRows)) {
    inserted.push(
      ...(await transaction
        .insertInto('lanes')
        .values(rows)
        .onConflict((conflict) =>
          conflict
            .columns(['tenant_id', 'import_fingerprint'])
            .where('import_fingerprint', 'is not', null)
            .doNothing(),
        )
        .returningAll()
        .execute()),
    )
  }
  quotesChanged(
    transaction,
    inserted.map(({ lane_id }) => lane_id),
  )
  // Quotes in a file are old, so no events are sent for them.
  quotesMade(
    transaction,
    inserted.filter(({ import_id }) => import_id === null),
  )
  return inserted
}

const emptyBooking = {
  outcome: 'pending',
  outcome_reason: null,
  outcome_source: null,
  decided_at: null,
  truck_cost_source: null,
  ...bookedColumns(() => null),
  import_fingerprint: null,
} as const

function newLaneKeys(
  tenant: TenantId,
  laneId: number,
  requestId: number,
  laneNumber: number,
  quoteCount: number,
) {
  return {
    tenant_id: tenant,
    lane_id: laneId,
    lane_ref: laneRef(requestId, laneNumber, quoteCount),
    request_id: requestId,
    lane_number: laneNumber,
    quote_count: quoteCount,
  }
}

/** A statement has at most 65,535 parameters, and a lane has 40 columns. */
const rowsPerStatement = 1_000

function slices<T>(rows: readonly T[]): T[][] {
  const parts: T[][] = []
  for (let start = 0; start < rows.length; start += rowsPerStatement)
    parts.push(rows.slice(start, start + rowsPerStatement))
  return parts
}

function laneCalled(transaction: TenantTransaction, tenant: TenantId, ref: string) {
  return transaction
    .selectFrom('lanes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(laneSeenByViewer(tenant))
    .where('lane_ref', '=', ref)
}

/** The lane of this tenant with this lane_ref; null if there is none, also if another tenant has it. */
export async function findLane(
  transaction: TenantTransaction,
  tenant: TenantId,
  ref: string,
): Promise<LaneRow | null> {
  return (await laneCalled(transaction, tenant, ref).executeTakeFirst()) ?? null
}

/** Like `findLane`, and locks the row until the end of the transaction, so that changes of one lane are sequential. */
export async function lockLane(
  transaction: TenantTransaction,
  tenant: TenantId,
  ref: string,
): Promise<LaneRow | null> {
  return (await laneCalled(transaction, tenant, ref).forUpdate().executeTakeFirst()) ?? null
}

/** The ids of the lanes of this tenant with these lane_refs: lane_ref -> lane_id. */
export async function findLaneIds(
  transaction: TenantTransaction,
  tenant: TenantId,
  refs: readonly string[],
): Promise<Map<string, number>> {
  if (refs.length === 0) return new Map()
  const rows = await transaction
    .selectFrom('lanes')
    .select(['lane_ref', 'lane_id'])
    .where('tenant_id', '=', tenant)
    .where(laneSeenByViewer(tenant))
    .where(sql<boolean>`lane_ref = any(${[...refs]}::text[])`)
    .execute()
  return new Map(rows.map((row) => [row.lane_ref, row.lane_id]))
}

/** Lanes by id, in order of id. With `lock`, locks them until the end of the transaction. */
export async function lanesById(
  transaction: TenantTransaction,
  tenant: TenantId,
  ids: readonly number[],
  { lock }: { readonly lock: boolean },
): Promise<LaneRow[]> {
  if (ids.length === 0) return []
  const lanes = transaction
    .selectFrom('lanes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(laneSeenByViewer(tenant))
    .where(sql<boolean>`lane_id = any(${[...ids]}::bigint[])`)
    .orderBy('lane_id')
  return (lock ? lanes.forUpdate() : lanes).execute()
}

const expectedOf = (lane: Partial<NewLane>) => ({
  expected_cost_cents: lane.expected_cost_cents ?? null,
  expected_cost_low_cents: lane.expected_cost_low_cents ?? null,
  expected_cost_high_cents: lane.expected_cost_high_cents ?? null,
  expected_basis: lane.expected_basis ?? null,
})

/** What a requote has of its own. */
type NextQuote = Pick<
  NewLane,
  QuotedAmountColumn | 'quoted_charges' | 'market_rate_cents' | 'pickup_date' | ExpectedColumn | 'valid_until'
> & {
  createdBy: number
  createdAt: Date
}

/** All quotes of a lane share the row of the request, so its lock makes concurrent requotes sequential. */
async function lockRequest(
  transaction: TenantTransaction,
  tenant: TenantId,
  { request_id }: Pick<LaneRow, 'request_id'>,
): Promise<void> {
  await transaction
    .selectFrom('quote_requests')
    .select('request_id')
    .where('tenant_id', '=', tenant)
    .where('request_id', '=', request_id)
    .forUpdate()
    .execute()
}

/**
 * The lane_ref of a later quote of the same lane that is won; null if there is none. No quote is added to the lane between
 * this and the end of the transaction.
 */
export async function lockedLaterWon(
  transaction: TenantTransaction,
  tenant: TenantId,
  quoted: Pick<LaneRow, 'request_id' | 'lane_number' | 'quote_count'>,
): Promise<string | null> {
  await lockRequest(transaction, tenant, quoted)
  const later = await transaction
    .selectFrom('lanes')
    .select('lane_ref')
    .where('tenant_id', '=', tenant)
    .where(laneSeenByViewer(tenant))
    .where('request_id', '=', quoted.request_id)
    .where('lane_number', '=', quoted.lane_number)
    .where('quote_count', '>', quoted.quote_count)
    .where('outcome', '=', 'won')
    .where('voided_at', 'is', null)
    .orderBy('quote_count', 'desc')
    .limit(1)
    .executeTakeFirst()
  return later?.lane_ref ?? null
}

/** The next quote of a lane: same places and equipment, COUNT + 1. The first lane row is locked by the caller. */
export async function insertRequote(
  transaction: TenantTransaction,
  tenant: TenantId,
  identifiers: Database['identifiers'],
  quoted: LaneRow,
  next: NextQuote,
): Promise<LaneRow> {
  await lockRequest(transaction, tenant, quoted)
  const { last } = await transaction
    .selectFrom('lanes')
    .select((query) => query.fn.max('quote_count').as('last'))
    .where('tenant_id', '=', tenant)
    .where('request_id', '=', quoted.request_id)
    .where('lane_number', '=', quoted.lane_number)
    .executeTakeFirstOrThrow()
  const [number = -1] = await nextNumbers(transaction, 'lane_number', 1)
  const inserted = await transaction
    .insertInto('lanes')
    .values({
      ...emptyBooking,
      origin: quoted.origin,
      destination: quoted.destination,
      origin_key: quoted.origin_key,
      destination_key: quoted.destination_key,
      origin_state: quoted.origin_state,
      destination_state: quoted.destination_state,
      origin_market: quoted.origin_market,
      destination_market: quoted.destination_market,
      equipment: quoted.equipment,
      equipment_code: quoted.equipment_code,
      miles: quoted.miles,
      rate_type: quoted.rate_type,
      quoted_rate_cents: next.quoted_rate_cents,
      quoted_basis: next.quoted_basis ?? null,
      quoted_fuel_cents: next.quoted_fuel_cents ?? null,
      quoted_accessorials_cents: next.quoted_accessorials_cents ?? null,
      quoted_currency: next.quoted_currency ?? null,
      quoted_charges: next.quoted_charges ?? null,
      estimated_cost_cents: next.estimated_cost_cents,
      market_rate_cents: next.market_rate_cents,
      pickup_date: next.pickup_date,
      valid_until: next.valid_until ?? null,
      ...expectedOf(next),
      ...newLaneKeys(tenant, identifiers.laneId(number), quoted.request_id, quoted.lane_number, last + 1),
      quoted_customer_name: quoted.quoted_customer_name,
      created_by: next.createdBy,
      created_at: next.createdAt,
      updated_at: next.createdAt,
      import_id: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  quotesChanged(transaction, [inserted.lane_id])
  quotesMade(transaction, [inserted])
  return inserted
}

/**
 * The quote request with an idempotency key; null if there is none. Of two concurrent requests with the same key, the second
 * waits here until the first has committed, and then finds it.
 */
export async function findQuoteRequestByKey(transaction: TenantTransaction, tenant: TenantId, key: string) {
  await sql`select pg_advisory_xact_lock(${tenant}, hashtext(${key}))`.execute(transaction)
  const found = await transaction
    .selectFrom('quote_requests')
    .select('request_id')
    .where('tenant_id', '=', tenant)
    .where('request_key', '=', key)
    .executeTakeFirst()
  return found === undefined ? null : findQuoteRequest(transaction, tenant, found.request_id)
}

export async function findQuoteRequest(transaction: TenantTransaction, tenant: TenantId, requestId: number) {
  const request = await transaction
    .selectFrom('quote_requests')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(seenByViewer(tenant, sql`customer_key(customer_name)`))
    .where('request_id', '=', requestId)
    .executeTakeFirst()
  if (request === undefined) return null
  const lanes = await transaction
    .selectFrom('lanes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(laneSeenByViewer(tenant))
    .where('request_id', '=', requestId)
    .orderBy('lane_number')
    .orderBy('quote_count')
    .execute()
  return { request, lanes }
}

/** The references of lanes, by lane id. */
export async function readLaneRefs(
  transaction: TenantTransaction,
  tenant: TenantId,
  laneIds: readonly number[],
): Promise<Map<number, string>> {
  const rows = await transaction
    .selectFrom('lanes')
    .select(['lane_id', 'lane_ref'])
    .where('tenant_id', '=', tenant)
    .where(laneSeenByViewer(tenant))
    .where('lane_id', 'in', laneIds)
    .execute()
  return new Map(rows.map(({ lane_id, lane_ref }) => [lane_id, lane_ref]))
}
