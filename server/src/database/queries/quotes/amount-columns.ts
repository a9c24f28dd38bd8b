import {
  type ConversionDays,
  type CountedAmounts,
  chargesOfDay,
  conversionDayOf,
  countedAmounts,
  type SentAmounts,
} from '#engine/counted-amounts.ts'
import { customerKey } from '#engine/customer-name.ts'
import type { AmountTerms, RateBasis } from '#engine/rate-basis.ts'
import type { LaneRow } from '../../schema/index.ts'

/** The amounts of a quote that state what they include: the quoted rate with the costs of its time, AR, and AP. */
export const statedAmounts = ['quoted', 'customer', 'truck'] as const
export type StatedAmount = (typeof statedAmounts)[number]

/** The columns with what an amount includes. */
export type TermColumn<Of extends StatedAmount = StatedAmount> =
  `${Of}_${'basis' | 'fuel_cents' | 'accessorials_cents' | 'currency'}`

/** The columns of a quote with its amounts as they were sent, and with what they include. */
export const sentColumns = [
  ...statedAmounts.flatMap(
    (of) => [`${of}_basis`, `${of}_fuel_cents`, `${of}_accessorials_cents`, `${of}_currency`] as const,
  ),
  'quoted_rate_cents',
  'estimated_cost_cents',
  'expected_cost_cents',
  'expected_basis',
  'market_rate_cents',
  'customer_rate_cents',
  'truck_cost_cents',
] as const satisfies readonly (keyof LaneRow)[]
export type SentColumn = (typeof sentColumns)[number]

/** What an amount of a quote includes. A column that a new quote or an old event lacks is not stated. */
export function statedTerms<Of extends StatedAmount>(
  lane: { readonly [Column in TermColumn<Of>]?: LaneRow[Column] | undefined },
  of: Of,
): AmountTerms {
  const columns: { readonly [Column in TermColumn]?: LaneRow[Column] | undefined } = lane
  return {
    basis: columns[`${of}_basis`] ?? null,
    fuelCents: columns[`${of}_fuel_cents`] ?? null,
    accessorialCents: columns[`${of}_accessorials_cents`] ?? null,
    currency: columns[`${of}_currency`] ?? null,
  }
}

/** The amounts of a quote as they were sent. */
export function sentAmounts(lane: Pick<LaneRow, SentColumn>): SentAmounts {
  return {
    quotedCents: lane.quoted_rate_cents,
    estimatedCents: lane.estimated_cost_cents,
    expectedCents: lane.expected_cost_cents,
    expectedBasis: lane.expected_basis ?? null,
    marketCents: lane.market_rate_cents,
    customerRateCents: lane.customer_rate_cents,
    truckCostCents: lane.truck_cost_cents,
    quoted: statedTerms(lane, 'quoted'),
    customer: statedTerms(lane, 'customer'),
    truck: statedTerms(lane, 'truck'),
  }
}

/** The columns of a quote that its amounts are converted from. */
export const countedColumns = [...sentColumns, 'quoted_customer_name', 'miles', 'created_at'] as const
export type CountedColumn = (typeof countedColumns)[number]

/** The amounts of a quote as statistics count them; null if one of them cannot be converted. */
export function countedLane(
  lane: Pick<LaneRow, CountedColumn>,
  basis: RateBasis,
  days: ConversionDays | null,
): CountedAmounts | null {
  return countedAmounts(sentAmounts(lane), basis, () =>
    chargesOfDay(days, {
      customerKey: customerKey(lane.quoted_customer_name),
      day: conversionDayOf(lane.created_at.getTime()),
      miles: lane.miles ?? Number.NaN,
    }),
  )
}
