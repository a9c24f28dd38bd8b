import { sql } from 'kysely'
import type { QuoteRow, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

/** Two quotes of a brokerage that show what it can do, and the number of its quotes. */
export interface ExampleLanes {
  readonly count: number
  /** The newest open quote. */
  readonly openQuote: Pick<QuoteRow, 'lane_ref' | 'quoted_rate_cents'>
  /** The newest quote of the lane with the most quotes. */
  readonly busyLane: Pick<QuoteRow, 'origin' | 'destination' | 'equipment' | 'quoted_rate_cents'>
}

/** Null if the brokerage has no open quote. */
export async function readExampleLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<ExampleLanes | null> {
  const lanes = transaction.selectFrom('quotes').where('tenant_id', '=', tenant)
  const openQuote = await lanes
    .select(['lane_ref', 'quoted_rate_cents'])
    .where('outcome', '=', 'pending')
    .where('superseded_by', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('lane_number')
    .executeTakeFirst()
  const busiest = await lanes
    .select(['origin_key', 'destination_key', 'equipment_code'])
    .groupBy(['origin_key', 'destination_key', 'equipment_code'])
    .orderBy(sql`count(*)`, 'desc')
    .orderBy('origin_key')
    .executeTakeFirst()
  if (openQuote === undefined || busiest === undefined) return null
  const busyLane = await lanes
    .select(['origin', 'destination', 'equipment', 'quoted_rate_cents'])
    .where('origin_key', '=', busiest.origin_key)
    .where('destination_key', '=', busiest.destination_key)
    .where('equipment_code', '=', busiest.equipment_code)
    .orderBy('created_at', 'desc')
    .orderBy('lane_number')
    .executeTakeFirstOrThrow()
  const { count } = await lanes
    .select((query) => query.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return { count, openQuote, busyLane }
}
