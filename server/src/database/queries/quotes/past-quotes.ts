import { sql } from 'kysely'
import type { Outcome } from '#engine/history.ts'
import type { QuoteRow, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { type CountedColumn, countedColumns } from './amount-columns.ts'
import { countedOutcome, isDirectLoad } from './quote-conditions.ts'

/** A quote as it was made, with the costs that were known then. Its amounts are as they were sent. */
export interface PastQuoteRow extends Pick<QuoteRow, CountedColumn> {
  readonly lane_ref: string
  readonly customer_keys: readonly string[]
  /** The hash of the customer that the name counts for, as in the book. */
  readonly customer_hash: number
  readonly tier: string | null
  /** The teams that the person who quoted is in today. */
  readonly team_ids: readonly number[]
  readonly origin_state: string
  readonly destination_state: string
  readonly origin_market: string | null
  readonly destination_market: string | null
  readonly equipment_code: string
  readonly rate_type: 'spot' | 'contract' | null
  readonly created_by: number | null
  readonly outcome: Outcome
}

/** The newest quotes of direct truckloads since a time, newest first, without voided ones and superseded offers. */
export async function pastQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<PastQuoteRow[]> {
  const { rows } = await sql<PastQuoteRow>`
    select quotes.lane_ref,
      array_append(
        array(select alias.customer_key from customer_aliases as alias
          where alias.tenant_id = ${tenant} and alias.customer_id = known.customer_id),
        customer_key(quotes.quoted_customer_name)
      ) as customer_keys,
      hashtext(coalesce(known.main_key, customer_key(quotes.quoted_customer_name))) as customer_hash,
      array(select of_rep.team_id from team_members as of_rep
        where of_rep.tenant_id = ${tenant} and of_rep.user_id = quotes.created_by) as team_ids,
      customers.tier,
      quotes.origin_state, quotes.destination_state, quotes.origin_market,
      quotes.destination_market, quotes.equipment_code, quotes.rate_type, quotes.created_by, ${countedOutcome(tenant)} as outcome,
      ${sql.join(countedColumns.map((column) => sql.ref(`quotes.${column}`)))}
    from quotes
    left join customer_aliases as known
      on known.tenant_id = ${tenant} and known.customer_key = customer_key(quotes.quoted_customer_name)
    left join customers on customers.tenant_id = ${tenant} and customers.customer_id = known.customer_id
    where quotes.tenant_id = ${tenant} and quotes.created_at >= ${since} and quotes.quoted_rate_cents > 0
      and quotes.voided_at is null and quotes.superseded_by is null and ${isDirectLoad}
    order by quotes.created_at desc, quotes.lane_id desc
    limit ${limit}
  `.execute(transaction)
  return rows
}
