import { type Insertable, sql } from 'kysely'
import type { PricedLane } from '#engine/bid/bid-lane.ts'
import type {
  BidChangeRow,
  BidColumns,
  BidLaneRow,
  BidRow,
  ChangedCell,
  Tables,
  TenantTransaction,
} from '../../schema/index.ts'
import { type TenantId, tenantId } from '../../session/index.ts'
import { seenByViewer } from '../customers/teams.ts'
import { insertRows } from '../insert-rows.ts'
import { nextTenantNumber } from '../people/people.ts'

/** A process that prices a bid gives a sign of life more often than this. */
const silentSince = sql<Date>`now() - interval '30 seconds'`

const columnsWithoutFile = [
  'tenant_id',
  'bid_id',
  'name',
  'customer_name',
  'stage',
  'due_at',
  'contract_months',
  'starts_on',
  'file_name',
  'sheet',
  'columns',
  'header_digest',
  'lanes',
  'lines_skipped',
  'previous_bid_id',
  'last_change',
  'pricing_at',
  'created_by',
  'created_at',
  'changed_at',
] as const satisfies readonly (keyof BidRow)[]

/** The bids that the person may see. */
const seenBids = (transaction: TenantTransaction, tenant: TenantId) =>
  transaction
    .selectFrom('bids')
    .where('bids.tenant_id', '=', tenant)
    .where(seenByViewer(tenant, sql`customer_key(bids.customer_name)`))

export type NewBid = Pick<
  Insertable<Tables['bids']>,
  | 'name'
  | 'customer_name'
  | 'due_at'
  | 'contract_months'
  | 'file_name'
  | 'file'
  | 'previous_bid_id'
  | 'sheet'
  | 'header_digest'
  | 'lines_skipped'
  | 'created_by'
> & { readonly columns: BidColumns; readonly createdAt: Date }
export type NewBidLane = Omit<
  BidLaneRow,
  'tenant_id' | 'bid_id' | 'priced' | 'version' | 'award' | 'award_cents' | 'award_loads' | 'award_signed_at'
>

/** Inserts a bid with its lanes, which wait for their prices. Returns its number. */
export async function insertBid(
  transaction: TenantTransaction,
  tenant: TenantId,
  { columns, createdAt, ...bid }: NewBid,
  lanes: readonly NewBidLane[],
): Promise<number> {
  const bidId = await nextTenantNumber(transaction, tenant, 'bid')
  await transaction
    .insertInto('bids')
    .values({
      ...bid,
      tenant_id: tenant,
      bid_id: bidId,
      stage: 'open',
      columns: JSON.stringify(columns),
      lanes: lanes.length,
      pricing_at: sql`now()`,
      created_at: createdAt,
      changed_at: createdAt,
    })
    .execute()
  const values = <Name extends keyof NewBidLane>(name: Name) => lanes.map((lane) => lane[name])
  await insertRows(
    transaction,
    tenant,
    'bid_lanes',
    [
      { name: 'lane_number', type: 'integer', values: values('lane_number') },
      { name: 'row_number', type: 'integer', values: values('row_number') },
      { name: 'lane_key', type: 'text', values: values('lane_key') },
      { name: 'origin_sent', type: 'text', values: values('origin_sent') },
      { name: 'destination_sent', type: 'text', values: values('destination_sent') },
      { name: 'origin', type: 'text', values: values('origin') },
      { name: 'destination', type: 'text', values: values('destination') },
      { name: 'equipment_code', type: 'text', values: values('equipment_code') },
      { name: 'loads', type: 'integer', values: values('loads') },
      { name: 'target_cents', type: 'integer', values: values('target_cents') },
      { name: 'rank', type: 'integer', values: values('rank') },
      { name: 'previous_lane', type: 'integer', values: values('previous_lane') },
      { name: 'previous_rate_cents', type: 'integer', values: values('previous_rate_cents') },
      { name: 'rate_cents', type: 'integer', values: values('rate_cents') },
      { name: 'miles', type: 'double precision', values: values('miles') },
      {
        name: 'problems',
        type: 'text',
        values: values('problems').map((list) => JSON.stringify(list)),
        cast: '::jsonb',
      },
      { name: 'duplicate_of', type: 'integer', values: values('duplicate_of') },
    ],
    [['bid_id', sql`${bidId}::integer`]],
  )
  return bidId
}

/** The newest bids, newest first. */
export async function listBids(
  transaction: TenantTransaction,
  tenant: TenantId,
  limit: number,
): Promise<BidRow[]> {
  return seenBids(transaction, tenant)
    .select(columnsWithoutFile)
    .orderBy('bid_id', 'desc')
    .limit(limit)
    .execute()
}

/** Null if there is none, or the person may not see it. `lock` holds it until the end of the transaction. */
export async function findBid(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  { lock }: { readonly lock: boolean } = { lock: false },
): Promise<BidRow | null> {
  const found = seenBids(transaction, tenant).select(columnsWithoutFile).where('bid_id', '=', bidId)
  return (await (lock ? found.forUpdate() : found).executeTakeFirst()) ?? null
}

/** The file of a bid as it was sent; null as in `findBid`. */
export async function bidFile(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
): Promise<Buffer | null> {
  const row = await seenBids(transaction, tenant)
    .select('file')
    .where('bid_id', '=', bidId)
    .executeTakeFirst()
  return row?.file ?? null
}

/** The columns of the newest bid with this header, those of the same customer first; null without one. */
export async function rememberedColumns(
  transaction: TenantTransaction,
  tenant: TenantId,
  headerDigest: string,
  customerName: string,
): Promise<BidColumns | null> {
  const row = await seenBids(transaction, tenant)
    .select('columns')
    .where('header_digest', '=', headerDigest)
    .orderBy(sql`customer_key(customer_name) = customer_key(${customerName})`, 'desc')
    .orderBy('bid_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.columns ?? null
}

/** The lanes of a bid in their order, after a lane. The caller has found the bid. */
export async function lanesOfBid(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  { after = 0, limit = null }: { readonly after?: number; readonly limit?: number | null } = {},
): Promise<BidLaneRow[]> {
  const rows = transaction
    .selectFrom('bid_lanes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('bid_id', '=', bidId)
    .where('lane_number', '>', after)
    .orderBy('lane_number')
  return (limit === null ? rows : rows.limit(limit)).execute()
}

/** What the sums of bids need of their lanes, by bid. The caller has found the bids. */
export async function lanesOfBids(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidIds: readonly number[],
): Promise<{ bid_id: number; rated: number; value_cents: string | null; priced: number; unknown: number }[]> {
  const { rows } = await sql<{
    bid_id: number
    rated: number
    value_cents: string | null
    priced: number
    unknown: number
  }>`
    select bid_id, count(rate_cents)::integer as rated, count(priced)::integer as priced,
      sum(rate_cents::bigint * loads) as value_cents,
      (count(*) filter (where origin is null or destination is null))::integer as unknown
    from bid_lanes
    where tenant_id = ${tenant} and bid_id = any(${[...bidIds]}::integer[])
    group by bid_id
  `.execute(transaction)
  return rows
}

export interface BidSettings {
  readonly name?: string
  readonly stage?: BidRow['stage']
  readonly due_at?: Date | null
  readonly starts_on?: string | null
}

export async function changeBid(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  settings: BidSettings,
  now: Date,
): Promise<void> {
  await transaction
    .updateTable('bids')
    .set({ ...settings, changed_at: now })
    .where('tenant_id', '=', tenant)
    .where('bid_id', '=', bidId)
    .execute()
}

/** Removes a bid with its lanes and their history. A later round becomes a first one. */
export async function removeBid(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
): Promise<void> {
  await transaction
    .updateTable('bids')
    .set({ previous_bid_id: null })
    .where('tenant_id', '=', tenant)
    .where('previous_bid_id', '=', bidId)
    .execute()
  await transaction.deleteFrom('bids').where('tenant_id', '=', tenant).where('bid_id', '=', bidId).execute()
}

/** The next lanes to price. */
export async function unpricedLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  limit: number,
): Promise<BidLaneRow[]> {
  return transaction
    .selectFrom('bid_lanes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('bid_id', '=', bidId)
    .where('priced', 'is', null)
    .where('origin', 'is not', null)
    .where('destination', 'is not', null)
    .orderBy('lane_number')
    .limit(limit)
    .execute()
}

/** A price of a lane with these places. */
export interface BidLanePrice {
  readonly lane: Pick<BidLaneRow, 'lane_number' | 'origin' | 'destination'>
  readonly priced: PricedLane
}

/**
 * Stores prices, with a sign of life of the bid. A lane without a rate gets the suggested one. A lane whose place was changed meanwhile
 * stays unpriced.
 */
export async function savePrices(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  prices: readonly BidLanePrice[],
): Promise<void> {
  // The lock of the bid comes first, as in every change: a removal locks the bid, and then its lanes.
  await transaction
    .updateTable('bids')
    .set({ pricing_at: sql`now()` })
    .where('tenant_id', '=', tenant)
    .where('bid_id', '=', bidId)
    .where('pricing_at', 'is not', null)
    .execute()
  await sql`
    update bid_lanes as known
    set priced = sent.priced, rate_cents = coalesce(known.rate_cents, sent.rate)
    from tenants as one cross join unnest(
      ${prices.map(({ lane }) => lane.lane_number)}::integer[],
      ${prices.map(({ lane }) => lane.origin)}::text[],
      ${prices.map(({ lane }) => lane.destination)}::text[],
      ${prices.map(({ priced }) => JSON.stringify(priced))}::jsonb[],
      ${prices.map(({ priced }) => priced.suggestedCents)}::integer[]
    ) as sent (lane, origin, destination, priced, rate)
    where one.tenant_id = ${tenant} and known.tenant_id = one.tenant_id and known.bid_id = ${bidId}
      and known.lane_number = sent.lane and known.origin = sent.origin and known.destination = sent.destination
  `.execute(transaction)
}

/** The bids of all tenants that no process prices. */
export async function unpricedBids(
  transaction: TenantTransaction,
): Promise<{ readonly tenant: TenantId; readonly bidId: number }[]> {
  const { rows } = await sql<{ tenant_id: number; bid_id: number }>`
    select * from unpriced_bids(${silentSince})
  `.execute(transaction)
  return rows.map((row) => ({ tenant: tenantId(row.tenant_id), bidId: row.bid_id }))
}

/** Takes over a bid whose process was lost. False if another process was faster, or it is priced. */
export async function takeOverBid(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('bids')
    .set({ pricing_at: sql`now()` })
    .where('tenant_id', '=', tenant)
    .where('bid_id', '=', bidId)
    .where('pricing_at', '<', silentSince)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Says that lanes of a bid wait for prices. */
export async function signOfLife(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
): Promise<void> {
  await transaction
    .updateTable('bids')
    .set({ pricing_at: sql`now()` })
    .where('tenant_id', '=', tenant)
    .where('bid_id', '=', bidId)
    .execute()
}

/** Lets another process price a bid at once. */
export async function releaseBid(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
): Promise<void> {
  await transaction
    .updateTable('bids')
    .set({ pricing_at: new Date(0) })
    .where('tenant_id', '=', tenant)
    .where('bid_id', '=', bidId)
    .where('pricing_at', 'is not', null)
    .execute()
}

/** Ends the pricing of a bid, unless a place was changed meanwhile: then false. */
export async function endPricing(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
): Promise<boolean> {
  // The lock of the bid comes first, as where a place is changed.
  await sql`select 1 from bids where tenant_id = ${tenant} and bid_id = ${bidId} for update`.execute(
    transaction,
  )
  const left = await unpricedLanes(transaction, tenant, bidId, 1)
  if (left.length > 0) return false
  await transaction
    .updateTable('bids')
    .set({ pricing_at: null })
    .where('tenant_id', '=', tenant)
    .where('bid_id', '=', bidId)
    .execute()
  return true
}

/** The rates that lanes get, and the number of lanes that got one. The caller has locked the bid and compared the versions. */
export async function setRates(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  rates: readonly { readonly lane: number; readonly cents: number | null }[],
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update bid_lanes as known set rate_cents = sent.cents, version = known.version + 1
    from tenants as one cross join unnest(
      ${rates.map(({ lane }) => lane)}::integer[], ${rates.map(({ cents }) => cents)}::integer[]
    ) as sent (lane, cents)
    where one.tenant_id = ${tenant} and known.tenant_id = one.tenant_id and known.bid_id = ${bidId}
      and known.lane_number = sent.lane
  `.execute(transaction)
  return Number(numAffectedRows)
}

/** Says which place a text means, in all lanes with this text. They lose their price and wait for another. Returns the lanes. */
export async function setPlace(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  {
    end,
    text,
    place,
  }: { readonly end: 'origin' | 'destination'; readonly text: string; readonly place: string },
): Promise<number[]> {
  const rows = await transaction
    .updateTable('bid_lanes')
    .set({ [end]: place, priced: null, version: sql`version + 1` })
    .where('tenant_id', '=', tenant)
    .where('bid_id', '=', bidId)
    .where(`${end}_sent`, '=', text)
    .where((row) => row.or([row(end, 'is', null), row(end, '<>', place)]))
    .returning('lane_number')
    .execute()
  return rows.map((row) => row.lane_number)
}

export interface NewBidChange {
  readonly kind: BidChangeRow['kind']
  readonly words: string
  readonly cells: readonly ChangedCell[]
  /** Null: another system. */
  readonly changedBy: number | null
  readonly now: Date
}

/** Adds a change to the history of a bid that the caller has locked, and returns its number. */
export async function insertBidChange(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  { kind, words, cells, changedBy, now }: NewBidChange,
): Promise<number> {
  const { last_change: number } = await transaction
    .updateTable('bids')
    .set({ last_change: sql`last_change + 1`, changed_at: now })
    .where('tenant_id', '=', tenant)
    .where('bid_id', '=', bidId)
    .returning('last_change')
    .executeTakeFirstOrThrow()
  await transaction
    .insertInto('bid_changes')
    .values({
      tenant_id: tenant,
      bid_id: bidId,
      change_number: number,
      kind,
      words,
      cells: JSON.stringify(cells),
      changed_by: changedBy,
      changed_at: now,
    })
    .execute()
  return number
}

/** The newest changes of a bid, newest first; of one lane if it is named. */
export async function listBidChanges(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  { lane, limit }: { readonly lane: number | null; readonly limit: number },
): Promise<BidChangeRow[]> {
  const rows = transaction
    .selectFrom('bid_changes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('bid_id', '=', bidId)
    .orderBy('change_number', 'desc')
    .limit(limit)
  return (
    lane === null ? rows : rows.where(sql<boolean>`cells @> ${JSON.stringify([{ lane }])}::jsonb`)
  ).execute()
}

export async function findBidChange(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  changeNumber: number,
): Promise<BidChangeRow | null> {
  const row = await transaction
    .selectFrom('bid_changes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('bid_id', '=', bidId)
    .where('change_number', '=', changeNumber)
    .executeTakeFirst()
  return row ?? null
}

export async function markUndone(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  { change, by }: { readonly change: number; readonly by: number },
): Promise<void> {
  await transaction
    .updateTable('bid_changes')
    .set({ undone_by: by })
    .where('tenant_id', '=', tenant)
    .where('bid_id', '=', bidId)
    .where('change_number', '=', change)
    .execute()
}
