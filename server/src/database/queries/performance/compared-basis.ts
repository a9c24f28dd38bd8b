import { type RawBuilder, sql } from 'kysely'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { TenantId } from '../../session/index.ts'

/** Whether an amount of a quote is on this basis. An index for each basis has the same condition. */
function says(basis: RateBasis): RawBuilder<boolean> {
  const word = sql.lit(basis)
  return sql<boolean>`(quotes.quoted_basis = ${word} or quotes.customer_basis = ${word} or quotes.truck_basis = ${word})`
}

/** Whether an amount of a quote is in Canadian dollars. An index has the same condition. */
const inCad = sql<boolean>`(quotes.quoted_currency = 'CAD' or quotes.customer_currency = 'CAD' or quotes.truck_currency = 'CAD')`

/**
 * Whether the tenant `one` has a quote with an amount on the other basis or in the other currency: two reads of an index. Each
 * subquery names the tenant, because with `one.tenant_id` Citus would refuse the query or ask every worker.
 */
export const isMixed = (tenant: TenantId) => sql<boolean>`(case one.default_basis
  when 'all_in' then exists (select from quotes where quotes.tenant_id = ${tenant} and ${says('linehaul')})
  else exists (select from quotes where quotes.tenant_id = ${tenant} and ${says('all_in')}) end
  or exists (select from quotes where quotes.tenant_id = ${tenant} and ${inCad}))`
