import { type RawBuilder, sql } from 'kysely'
import type { Outcome } from '#engine/history.ts'
import type { Mode } from '#engine/load-mode.ts'
import type { TenantId } from '../../session/index.ts'

/** The rows of `lanes` that statistics count: truckloads without stops, as `isDirect` in the engine. */
export const isDirectLoad = sql<boolean>`(coalesce(mode, 'truckload') = 'truckload' and stops is null)`

/** The rows of `lanes` of a mode. A load that says none is a truckload. `multi_stop`: those with stops, of any mode. */
export function isOfMode(mode: Mode | 'multi_stop'): RawBuilder<boolean> {
  return mode === 'multi_stop'
    ? sql<boolean>`(stops is not null)`
    : sql<boolean>`(coalesce(mode, 'truckload') = ${mode})`
}

/** The outcome of a lane as statistics count it: an expired quote is pending, or lost if the brokerage has set it. */
export const countedOutcome = (tenant: TenantId) => sql<Outcome>`case
  when lanes.outcome <> 'expired' then lanes.outcome
  when (select one.expired_counts_as_lost from tenants as one where one.tenant_id = ${tenant}) then 'lost'
  else 'pending' end`
