import { sql } from 'kysely'
import type { QuoteRow, TenantTransaction } from '../../schema/index.ts'
import { type TenantId, tenantId } from '../../session/index.ts'

/** The brokerages with a pending quote whose validity has ended. */
export async function tenantsWithEndedQuotes(transaction: TenantTransaction): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from tenants_with_ended_quotes() as tenant_id
  `.execute(transaction)
  return rows.map((row) => tenantId(row.tenant_id))
}

/** A pending quote whose validity has ended, and when it ended. */
export type EndedQuote = QuoteRow & { readonly ended_at: Date }

/**
 * Pending quotes whose validity has ended, at most `max`, locked until the end of the transaction. Leaves out quotes that
 * another transaction has locked, booked quotes, and quotes that a person set to pending, which stay pending.
 */
export async function lockEndedQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  max: number,
): Promise<EndedQuote[]> {
  // The times are computed here, because Citus refuses a locking query that adds an interval to a time of the row.
  const { rows: settings } = await sql<{ now: Date; valid_days: number | null }>`
    select clock_timestamp() as now, quote_valid_days as valid_days from tenants where tenant_id = ${tenant}
  `.execute(transaction)
  const [setting] = settings
  if (setting === undefined) return []
  const { now, valid_days: validDays } = setting
  const validMs = validDays === null ? null : validDays * 86_400_000
  const madeBy = validMs === null ? null : new Date(now.getTime() - validMs)
  const { rows } = await sql<QuoteRow>`
    select * from quotes
    where tenant_id = ${tenant} and outcome = 'pending' and voided_at is null
      and (outcome_source is null or outcome_source <> 'dashboard')
      and customer_rate_cents is null and truck_cost_cents is null
      and (valid_until <= ${now} or (valid_until is null and created_at <= ${madeBy}))
    order by lane_id limit ${max} for update skip locked
  `.execute(transaction)
  return rows.map((quote) => ({
    ...quote,
    ended_at: quote.valid_until ?? new Date(quote.created_at.getTime() + (validMs ?? 0)),
  }))
}
