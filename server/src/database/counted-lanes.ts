import { type RawBuilder, sql } from 'kysely'
import type { HistoryCount } from '#engine/history-counts.ts'
import type { RateCount } from '#engine/lane-rates.ts'
import type { Database, TenantId, TenantTransaction } from './open-database.ts'
import { readDayCounts } from './quote-counts.ts'

/** Two places between which quotes were made, in whatever equipment. */
export interface Corridor {
  readonly originKey: string
  readonly destinationKey: string
}

/** The quotes from which on a lane is kept counted: below, its rows are counted in a few milliseconds. */
export const countedFromQuotes = 5_000

/** What is asked of a lane that is kept counted; of all its equipment where none is given. */
interface CountedHistory {
  readonly corridor?: Corridor
  readonly equipmentCode?: string
}

/** The conditions on a table of counts, or on the rows themselves; null where what is asked is no lane's own. */
function ofLane(tenant: TenantId, { corridor, equipmentCode }: CountedHistory): RawBuilder<boolean> | null {
  if (corridor === undefined) return null
  const equipment = equipmentCode === undefined ? sql`` : sql`and equipment_code = ${equipmentCode}`
  return sql<boolean>`tenant_id = ${tenant} and origin_key = ${corridor.originKey}
    and destination_key = ${corridor.destinationKey} ${equipment}`
}

/** As readRateCounts, from what is kept of a lane; null where nothing is. */
export async function readCountedRates(
  transaction: TenantTransaction,
  tenant: TenantId,
  of: CountedHistory,
): Promise<RateCount[] | null> {
  const lane = ofLane(tenant, of)
  if (lane === null) return null
  // As four lists: thousands of rows would take the driver longer than the database takes to read them.
  const { rows } = await sql<Record<'rates' | 'won' | 'lost' | 'pending', number[] | null>>`
    select json_agg(rate_cents) as rates, json_agg(won) as won, json_agg(lost) as lost, json_agg(pending) as pending
    from (
      select rate_cents, sum(won)::bigint as won, sum(lost)::bigint as lost, sum(pending)::bigint as pending
      from lane_rates where ${lane} group by rate_cents
    ) as counted
    where won + lost + pending > 0
  `.execute(transaction)
  const [{ rates, won, lost, pending } = { rates: null, won: null, lost: null, pending: null }] = rows
  if (rates === null) return null
  return rates.map((rateCents, at) => ({
    rateCents,
    won: won?.[at] ?? 0,
    lost: lost?.[at] ?? 0,
    pending: pending?.[at] ?? 0,
  }))
}

/** As readHistoryCounts, from what is kept of a lane; null where nothing is. */
export async function readCountedHistory(
  transaction: TenantTransaction,
  tenant: TenantId,
  of: CountedHistory,
  now: number,
): Promise<HistoryCount[] | null> {
  const lane = ofLane(tenant, of)
  if (lane === null) return null
  const counts = await readDayCounts(transaction, {
    days: sql`
      select day::timestamp at time zone 'UTC' as day, sum(won)::bigint as won, sum(lost)::bigint as lost,
        sum(pending)::bigint as pending, sum(priced)::bigint as priced, sum(rate_sum_cents)::bigint as rate_sum
      from lane_days where ${lane} and won + lost + pending > 0
      group by day`,
    // By equipment: the index of a lane goes on with it, and only then with the time.
    parts: sql`(select distinct equipment_code as counted_code from lane_days where ${lane}) as counted`,
    quotes: sql`${lane} and equipment_code = counted_code`,
    now,
  })
  return counts.length === 0 ? null : counts
}

/** The lanes of a tenant that are large enough to be kept counted, and are not. */
export async function findLargeLanes(transaction: TenantTransaction, tenant: TenantId): Promise<Corridor[]> {
  const { rows } = await sql<Corridor>`
    select origin_key as "originKey", destination_key as "destinationKey" from (
      select origin_key, destination_key from lanes where tenant_id = ${tenant}
      group by origin_key, destination_key having count(*) >= ${countedFromQuotes}
    ) as large
    where not exists (
      select from counted_lanes as counted
      where counted.tenant_id = ${tenant} and counted.origin_key = large.origin_key
        and counted.destination_key = large.destination_key
    )
  `.execute(transaction)
  return rows
}

/**
 * Has a lane counted from its rows and kept counted from then on; answers whether it was not so before. Writers of its tenant
 * wait for as long as that takes: the time-out of a statement ends it.
 */
export async function keepLaneCounted(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  { originKey, destinationKey }: Corridor,
): Promise<boolean> {
  const { rows } = await database.inTenant(tenant, (transaction) =>
    sql<{ kept: boolean }>`
      select keep_lane_counted(${tenant}, ${originKey}, ${destinationKey}) as kept
    `.execute(transaction),
  )
  return rows[0]?.kept === true
}
