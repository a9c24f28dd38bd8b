import { sql } from 'kysely'
import type { LaneRow, TenantTransaction } from '../schema/index.ts'
import { type TenantId, tenantId } from '../session/index.ts'

/** The brokerages with a pending quote whose validity has ended. */
export async function tenantsWithEndedQuotes(transaction: TenantTransaction): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from tenants_with_ended_quotes() as tenant_id
  `.execute(transaction)
  return rows.map((row) => tenantId(row.tenant_id))
}

/** A pending quote whose validity has ended, and when it ended. */
export type EndedQuote = LaneRow & { readonly ended_at: Date }

/**
 * Pending quotes whose validity has ended, at most `max`, locked until the end of the transaction. Leaves out quotes that
 * another transaction has locked, booked quotes, and quotes that a person set to pending: that decision stands.
 */
export async function lockEndedQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  max: number,
): Promise<EndedQuote[]> {
  const { rows } = await sql<EndedQuote>`
    select lanes.*, coalesce(valid_until, created_at + make_interval(days => one.valid_days)) as ended_at
    from lanes cross join (select quote_valid_days as valid_days from tenants where tenant_id = ${tenant}) as one
    where lanes.tenant_id = ${tenant} and outcome = 'pending' and voided_at is null
      and coalesce(outcome_source, '') <> 'dashboard' and customer_rate_cents is null and truck_cost_cents is null
      and (
        valid_until <= clock_timestamp()
        or (valid_until is null and created_at <= clock_timestamp() - make_interval(days => one.valid_days))
      )
    order by lane_id limit ${max} for update of lanes skip locked
  `.execute(transaction)
  return rows
}
