import { sql } from 'kysely'
import type { TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

/** A quote as it was made, with the costs that were known then. */
export interface PastQuoteRow {
  readonly lane_ref: string
  readonly customer_name: string
  readonly customer_keys: readonly string[]
  /** The hash of the customer that the name counts for, as in the book. */
  readonly customer_hash: number
  readonly tier: string | null
  /** The teams that the person who quoted is in today. */
  readonly team_ids: readonly number[]
  readonly origin: string
  readonly destination: string
  readonly origin_key: string
  readonly destination_key: string
  readonly origin_state: string
  readonly destination_state: string
  readonly origin_market: string | null
  readonly destination_market: string | null
  readonly equipment_code: string
  readonly miles: number | null
  readonly rate_type: 'spot' | 'contract' | null
  readonly created_by: number | null
  readonly created_at: Date
  readonly outcome: string
  readonly quoted_rate_cents: number
  readonly estimated_cost_cents: number | null
  readonly expected_cost_cents: number | null
}

/** The newest quotes since a time that statistics count, with their amounts as statistics convert them. */
export async function pastQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<PastQuoteRow[]> {
  const { rows } = await sql<PastQuoteRow>`
    select lanes.lane_ref, lanes.quoted_customer_name as customer_name,
      array_append(
        array(select alias.customer_key from customer_aliases as alias
          where alias.tenant_id = ${tenant} and alias.customer_id = known.customer_id),
        customer_key(lanes.quoted_customer_name)
      ) as customer_keys,
      hashtext(coalesce(known.main_key, customer_key(lanes.quoted_customer_name))) as customer_hash,
      array(select of_rep.team_id from team_members as of_rep
        where of_rep.tenant_id = ${tenant} and of_rep.user_id = lanes.created_by) as team_ids,
      customers.tier, lanes.origin, lanes.destination,
      lanes.origin_key, lanes.destination_key, lanes.origin_state, lanes.destination_state, lanes.origin_market,
      lanes.destination_market, lanes.equipment_code, lanes.miles, lanes.rate_type, lanes.created_by, lanes.created_at,
      lanes.outcome, lanes.quoted_rate_cents, nullif(lanes.estimated_cost_cents, 0) as estimated_cost_cents,
      nullif(lanes.expected_cost_cents, 0) as expected_cost_cents
    from counted_lanes as lanes
    left join customer_aliases as known
      on known.tenant_id = ${tenant} and known.customer_key = customer_key(lanes.quoted_customer_name)
    left join customers on customers.tenant_id = ${tenant} and customers.customer_id = known.customer_id
    where lanes.tenant_id = ${tenant} and lanes.created_at >= ${since} and lanes.quoted_rate_cents > 0
      and lanes.superseded_by is null
    order by lanes.created_at desc, lanes.lane_id desc
    limit ${limit}
  `.execute(transaction)
  return rows
}
