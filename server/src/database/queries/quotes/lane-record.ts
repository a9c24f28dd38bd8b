import { sql } from 'kysely'
import type { TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

/** The name of a quote in a list: its lane_ref and its customer. */
export interface QuoteName {
  readonly laneRef: string
  readonly customerName: string
}

/** The names of quotes by lane_id, without deleted ones. */
export async function namesOfQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  quoteIds: readonly number[],
): Promise<ReadonlyMap<number, QuoteName>> {
  if (quoteIds.length === 0) return new Map()
  const rows = await transaction
    .selectFrom('quotes')
    .select((lane) => [
      'lane_id',
      'lane_ref as laneRef',
      lane.fn.coalesce('customer_name', 'quoted_customer_name').as('customerName'),
    ])
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`lane_id = any(${[...quoteIds]}::bigint[])`)
    .execute()
  return new Map(rows.map(({ lane_id: quoteId, ...name }) => [quoteId, name]))
}
