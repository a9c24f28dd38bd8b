import { sql } from 'kysely'
import type { TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { quoteSeenByViewer } from '../customers/teams.ts'

/**
 * How often each place is the origin or destination of the tenant's newest quotes, by the place's key.
 *
 * @example await placeUses(transaction, tenant, 2_000) // Map { 'dallas|TX' => 212, 'atlanta|GA' => 97 }
 */
export async function placeUses(
  transaction: TenantTransaction,
  tenant: TenantId,
  lanesMax: number,
): Promise<Map<string, number>> {
  const { rows } = await sql<{ key: string; uses: number }>`
    select ends.key, count(*) as uses
    from (
      select origin_key, destination_key from quotes where tenant_id = ${tenant} and voided_at is null
      order by created_at desc, lane_id desc limit ${lanesMax}
    ) newest
    cross join lateral (values (newest.origin_key), (newest.destination_key)) ends (key)
    group by ends.key
    order by uses desc, ends.key
  `.execute(transaction)
  return new Map(rows.map(({ key, uses }) => [key, uses]))
}

export interface CustomerUse {
  readonly name: string
  readonly quotes: number
  readonly lastQuotedAt: Date
}

/**
 * Customers whose name contains a text, case-insensitively, most quoted first. Names that differ only in case and white space
 * are one customer, with its most frequent spelling. The name on the booking takes precedence over the one on the quote.
 *
 * @example await customersCalled(transaction, tenant, 'har', 1) // [{ name: 'Harvest Table Foods', quotes: 212, ... }]
 */
export async function customersCalled(
  transaction: TenantTransaction,
  tenant: TenantId,
  text: string,
  limit: number,
): Promise<CustomerUse[]> {
  // Group by the exact name first, so that the rest processes some hundred names instead of every quote.
  const { rows } = await sql<CustomerUse>`
    with written as (
      select coalesce(customer_name, quoted_customer_name) as name, customer_key,
        count(*) filter (where voided_at is null and superseded_by is null) as quotes,
        max(created_at) as last_quoted_at
      from quotes where tenant_id = ${tenant} and ${quoteSeenByViewer(tenant)}
      group by 1, 2
    )
    select (array_agg(name order by quotes desc, name))[1] as name,
      sum(quotes)::bigint as quotes,
      max(last_quoted_at) as "lastQuotedAt"
    from written
    where strpos(lower(name), lower(${text})) > 0
    group by customer_key
    order by quotes desc, customer_key
    limit ${limit}
  `.execute(transaction)
  return rows
}
