import { type RawBuilder, sql } from 'kysely'
import type { Outcome } from '#engine/history.ts'
import { codesOfOtherModes, type Mode, modeOfWord } from '#engine/load-mode.ts'
import type { RateType } from '#engine/rate-type.ts'
import type { TenantId } from '../../session/index.ts'

/** The outcome of a quote as statistics count it: an expired quote is pending, or lost if the brokerage has set that. */
export function countedOutcome(tenant: TenantId): RawBuilder<Outcome> {
  return sql<Outcome>`case
    when quotes.outcome <> 'expired' then quotes.outcome
    when (select one.expired_counts_as_lost from tenants as one where one.tenant_id = ${tenant}) then 'lost'
    else 'pending' end`
}

/** Whether a quote was lost for another reason than its price. A loss without a reason counts as about the price. */
export const isLostForOtherReason = sql<boolean>`coalesce(
  outcome = 'lost' and outcome_reason <> 'price' and superseded_by is null, false)`

/** The stated rate type of a quote, else the default of the brokerage. */
export function rateTypeOf(tenant: TenantId): RawBuilder<RateType> {
  return sql<RateType>`coalesce(quotes.rate_type,
    (select one.default_rate_type from tenants as one where one.tenant_id = ${tenant}))`
}

export function isOfRateType(tenant: TenantId, rateType: RateType): RawBuilder<boolean> {
  return sql<boolean>`${rateTypeOf(tenant)} = ${rateType}`
}

/** The mode of a quote, as `savedMode` in the engine: its own, else that of its equipment, else truckload. */
const modeOfQuote = sql<Mode>`coalesce(mode, case equipment_code
  ${sql.join(
    codesOfOtherModes.map((code) => sql`when ${sql.lit(code)} then ${sql.lit(modeOfWord(code))}`),
    sql` `,
  )} else 'truckload' end)`

/** Whether a quote is of a direct truckload, as `isDirect` in the engine. Only these are in statistics of lanes. */
export const isDirectLoad = sql<boolean>`(${modeOfQuote} = 'truckload' and stops is null)`

/** The loads that a list can select: those of a mode, or those with stops. */
export type ListedMode = Mode | 'multi_stop'

/** Whether a quote is of a mode. `multi_stop`: whether it has stops, of any mode. */
export function isOfMode(mode: ListedMode): RawBuilder<boolean> {
  return mode === 'multi_stop'
    ? sql<boolean>`quotes.stops is not null`
    : sql<boolean>`${modeOfQuote} = ${mode}`
}
