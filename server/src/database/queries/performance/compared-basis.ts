import { expressionBuilder, type RawBuilder, sql } from 'kysely'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { type LaneFilter, matching } from '../quotes/lane-lists.ts'

/** Whether an amount of a lane is on this basis. The condition of the indexes lanes_with_linehaul and lanes_with_all_in. */
function says(basis: RateBasis): RawBuilder<boolean> {
  const word = sql.lit(basis)
  return sql<boolean>`(lanes.quoted_basis = ${word} or lanes.customer_basis = ${word} or lanes.truck_basis = ${word})`
}

/** Whether an amount of a lane is in Canadian dollars. The condition of the index lanes_with_cad. */
const inCad = sql<boolean>`(lanes.quoted_currency = 'CAD' or lanes.customer_currency = 'CAD' or lanes.truck_currency = 'CAD')`

/**
 * Whether the tenant `one` has a lane with an amount on the other basis or in the other currency: two reads of an index. It
 * names the tenant in each subquery: with `one.tenant_id`, Citus would refuse it or ask every worker.
 */
export const isMixed = (tenant: TenantId) => sql<boolean>`(case one.default_basis
  when 'all_in' then exists (select from lanes where lanes.tenant_id = ${tenant} and ${says('linehaul')})
  else exists (select from lanes where lanes.tenant_id = ${tenant} and ${says('all_in')}) end
  or exists (select from lanes where lanes.tenant_id = ${tenant} and ${inCad}))`

/** The basis in which amounts are compared, and the lanes with an amount on the other one. */
export interface BasisCounts {
  readonly basis: RateBasis
  /** Lanes whose amounts statistics convert by their own charges, the fuel schedule of the day, or its exchange rate. */
  readonly convertedBy: { readonly charges: number; readonly schedule: number; readonly exchange: number }
  /** Lanes that statistics leave out, because an amount cannot be converted. */
  readonly keptApart: number
  /** Those of them with an amount in Canadian dollars. */
  readonly keptApartInCad: number
}

/** The basis of a brokerage's statistics, and whether some of its amounts have to be brought to it: see `isMixed`. */
export async function readComparedBasis(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<{ readonly basis: RateBasis; readonly mixed: boolean }> {
  return transaction
    .selectFrom('tenants as one')
    .select(['one.default_basis as basis', isMixed(tenant).as('mixed')])
    .where('one.tenant_id', '=', tenant)
    .executeTakeFirstOrThrow()
}

/** The basis of a brokerage's statistics over the lanes of a filter, and how many of them were not on it. */
export async function readBasisCounts(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: LaneFilter,
): Promise<BasisCounts> {
  const { basis, mixed } = await readComparedBasis(transaction, tenant)
  if (!mixed) return { basis, ...noneConverted }
  // The view is read once for all these lanes: read for each of them, it reads the days of fuel and exchange again each time.
  const { rows } = await sql<BasisCounts['convertedBy'] & Pick<BasisCounts, 'keptApart' | 'keptApartInCad'>>`
    with other as materialized (
      select lane_id, coalesce(${inCad}, false) as in_cad
      from lanes
      where tenant_id = ${tenant} and (${says(basis === 'all_in' ? 'linehaul' : 'all_in')} or ${inCad})
        and ${matching(filter, tenant)(expressionBuilder<Tables, 'lanes'>())}
    ), counted as materialized (
      select lane_id, coalesce(converted_by, 'none') as how from counted_lanes
      where tenant_id = ${tenant} and lane_id = any (array(select lane_id from other))
    )
    select count(*) filter (where how = 'charges') as charges, count(*) filter (where how = 'schedule') as schedule,
      count(*) filter (where how = 'exchange') as exchange, count(*) filter (where how is null) as "keptApart",
      count(*) filter (where how is null and in_cad) as "keptApartInCad"
    from other left join counted using (lane_id)
  `.execute(transaction)
  const [found] = rows
  if (found === undefined) return { basis, ...noneConverted }
  const { keptApart, keptApartInCad, ...convertedBy } = found
  return { basis, convertedBy, keptApart, keptApartInCad }
}

/** The counts of a brokerage whose amounts are all in US dollars on its default basis. */
export const noneConverted = {
  convertedBy: { charges: 0, schedule: 0, exchange: 0 },
  keptApart: 0,
  keptApartInCad: 0,
}
