import { sql } from 'kysely'
import type { TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

/** A city pair and an equipment type, by their keys. */
export interface LaneKeys {
  readonly originKey: string
  readonly destinationKey: string
  readonly equipmentCode: string
}

/** The places of lanes in their latest spelling, in the given order. */
export async function placesOfLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  lanes: readonly LaneKeys[],
): Promise<{ origin: string; destination: string }[]> {
  const { rows } = await sql<{ origin: string; destination: string }>`
    select written.origin, written.destination
    from unnest(
      ${lanes.map((lane) => lane.originKey)}::text[],
      ${lanes.map((lane) => lane.destinationKey)}::text[],
      ${lanes.map((lane) => lane.equipmentCode)}::text[]
    ) with ordinality as asked (origin_key, destination_key, equipment_code, place)
    cross join lateral (
      select quotes.origin, quotes.destination
      from quotes
      where quotes.tenant_id = ${tenant} and quotes.origin_key = asked.origin_key
        and quotes.destination_key = asked.destination_key and quotes.equipment_code = asked.equipment_code
      order by quotes.created_at desc, quotes.lane_id desc
      limit 1
    ) as written
    order by asked.place
  `.execute(transaction)
  return rows
}
