import type pg from 'pg'
import { laneRef } from '#server/database/queries/index.ts'
import type { Identifiers } from '#server/database/session/index.ts'
import { type CopyValue, copyIn, copyText, withoutForcedSecurity } from './copy-rows.ts'
import type { ScaleQuote } from './scale-quotes.ts'
import { quotingUserId } from './write-tenants.ts'

/** The name of the counter of written chunks, saved with the plan's first tenant. */
const chunkCounter = 'generated chunk'

export const requestColumns = ['tenant_id', 'request_id', 'customer_name', 'created_by', 'created_at']

export const laneColumns = [
  'tenant_id',
  'lane_id',
  'lane_ref',
  'request_id',
  'lane_number',
  'quote_count',
  'origin',
  'destination',
  'origin_key',
  'destination_key',
  'origin_state',
  'destination_state',
  'origin_market',
  'destination_market',
  'equipment',
  'equipment_code',
  'quoted_customer_name',
  'quoted_rate_cents',
  'estimated_cost_cents',
  'market_rate_cents',
  'miles',
  'pickup_date',
  'outcome',
  'outcome_reason',
  'outcome_source',
  'decided_at',
  'customer_rate_cents',
  'truck_cost_cents',
  'truck_cost_source',
  'carrier_name',
  'carrier_notes',
  'booked_at',
  'created_by',
  'created_at',
  'updated_at',
]

/** Rows of quote requests and quotes for COPY. */
export interface QuoteRows {
  readonly requests: CopyValue[][]
  readonly lanes: CopyValue[][]
  /** The tenants of the rows. */
  readonly tenants: ReadonlySet<number>
}

/** Returns the number of chunks already written for the plan with this first tenant. */
export async function chunksWritten(client: pg.Client, firstTenant: number): Promise<number> {
  await client.query(`begin; select enter_tenant('${Number(firstTenant)}', 0, 0, 0)`)
  const { rows } = await client.query<{ done: string }>(
    'select last_number as done from tenant_counters where tenant_id = $1 and counter = $2',
    [firstTenant, chunkCounter],
  )
  await client.query('commit')
  return Number(rows[0]?.done ?? 0)
}

/** Takes numbers from a sequence of the installation, like the service does. */
async function takeNumbers(
  client: pg.Client,
  sequence: 'lane_number' | 'request_number',
  count: number,
): Promise<number[]> {
  const { rows } = await client.query<{ number: string }>(
    'select number from next_numbers($1, $2) as number',
    [sequence, count],
  )
  return rows.map((row) => Number(row.number))
}

/** Returns the rows that the service would write for these quotes. */
export async function rowsOf(
  client: pg.Client,
  identifiers: Identifiers,
  quotes: readonly ScaleQuote[],
): Promise<QuoteRows> {
  const requestCount = quotes.filter((quote) => quote.beginsRequest).length
  const requestNumbers = await takeNumbers(client, 'request_number', requestCount)
  const laneNumbers = await takeNumbers(client, 'lane_number', quotes.length)
  const requests: CopyValue[][] = []
  const lanes: CopyValue[][] = []
  const tenants = new Set<number>()
  let requestId = 0
  let laneNumber = 0
  for (const quote of quotes) {
    const { tenant, lane, booking } = quote
    const { tenantId } = tenant
    const quotedAt = new Date(quote.quotedAt)
    tenants.add(tenantId)
    if (quote.beginsRequest) {
      requestId = identifiers.requestId(requestNumbers[requests.length] ?? -1)
      laneNumber = 0
      requests.push([tenantId, requestId, quote.customerName, quotingUserId, quotedAt])
    }
    laneNumber++
    lanes.push([
      tenantId,
      identifiers.quoteId(laneNumbers[lanes.length] ?? -1),
      laneRef(requestId, laneNumber, 1),
      requestId,
      laneNumber,
      1,
      lane.origin,
      lane.destination,
      lane.origin_key,
      lane.destination_key,
      lane.origin_state,
      lane.destination_state,
      lane.origin_market ?? null,
      lane.destination_market ?? null,
      lane.equipment,
      lane.equipment,
      quote.customerName,
      quote.quotedRateCents,
      quote.estimatedCostCents,
      quote.marketRateCents,
      lane.miles ?? null,
      quote.pickupDate,
      quote.outcome,
      quote.outcomeReason,
      quote.outcome === 'pending' ? null : booking === null ? 'dashboard' : 'tms',
      quote.decidedAt === null ? null : new Date(quote.decidedAt),
      booking?.customerRateCents ?? null,
      booking?.truckCostCents ?? null,
      booking === null ? null : 'tms',
      booking?.carrierName ?? null,
      booking?.carrierMc ?? null,
      booking === null ? null : new Date(booking.bookedAt),
      quotingUserId,
      quotedAt,
      quotedAt,
    ])
  }
  return { requests, lanes, tenants }
}

const writtenTables = ['tenant_counters', 'quote_requests', 'quotes', 'tenant_facts']

/** Writes a chunk and increases the chunk counter in one transaction, so that an interrupted chunk leaves nothing. */
export async function writeChunk(
  client: pg.Client,
  firstTenant: number,
  chunk: number,
  rows: QuoteRows,
): Promise<void> {
  await withoutForcedSecurity(client, writtenTables, async () => {
    await copyIn(client, 'quote_requests', requestColumns, copyText(rows.requests))
    await copyIn(client, 'quotes', laneColumns, copyText(rows.lanes))
    // A chunk writes no quote_versions, so a running service reads all quotes of these tenants again.
    await client.query(
      `insert into tenant_facts as known (tenant_id, facts_version)
       select tenant_id, 1 from unnest($1::integer[]) as added (tenant_id)
       on conflict (tenant_id) do update set facts_version = known.facts_version + 1,
         changed_in = pg_current_xact_id()`,
      [[...rows.tenants]],
    )
    const { rowCount } = await client.query(
      `insert into tenant_counters (tenant_id, counter, last_number) values ($1, $2, $3)
       on conflict (tenant_id, counter) do update set last_number = $3
       where tenant_counters.last_number = $3 - 1`,
      [firstTenant, chunkCounter, chunk + 1],
    )
    if (rowCount !== 1) throw new Error('Another generator is writing the same data.')
  })
}
