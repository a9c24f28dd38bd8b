import type { Static } from 'typebox'
import type { BidField } from '#contract/bid-fields.ts'
import type * as contract from '#contract/bids.ts'
import { type BidLane, type BidTotals, bidTotals, laneFigures } from '#engine/bid/bid-lane.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import type { bids } from '../../database/queries/index.ts'
import type { BidLaneRow, BidRow } from '../../database/schema/index.ts'

type LaneAnswer = Static<typeof contract.BidLane>
type Summary = Static<typeof contract.BidSummary>

const stateOf = (place: string | null) => place?.split(', ').at(-1) ?? null

/** A lane as sums and strategies see it. */
export function bidLaneOf(row: BidLaneRow): BidLane {
  return {
    lane: row.lane_number,
    originState: stateOf(row.origin),
    destinationState: stateOf(row.destination),
    equipment: row.equipment_code ?? row.priced?.equipment ?? null,
    loads: row.loads,
    targetCents: row.target_cents,
    rateCents: row.rate_cents,
    priced: row.priced,
  }
}

export function laneAnswer(row: BidLaneRow): LaneAnswer {
  const figures = laneFigures({ loads: row.loads, rateCents: row.rate_cents, priced: row.priced })
  const { priced } = row
  return {
    lane: row.lane_number,
    row: row.row_number,
    lane_id: row.lane_key,
    origin_sent: row.origin_sent,
    destination_sent: row.destination_sent,
    origin: row.origin,
    destination: row.destination,
    equipment: row.equipment_code,
    loads: row.loads,
    target: dollarsIfKnown(row.target_cents),
    rank: row.rank,
    previous_rate: dollarsIfKnown(row.previous_rate_cents),
    problems: row.problems,
    duplicate_of: row.duplicate_of,
    award:
      row.award === null
        ? null
        : { state: row.award, rate: dollarsIfKnown(row.award_cents), loads: row.award_loads },
    rate: dollarsIfKnown(row.rate_cents),
    version: row.version,
    chance: figures.chance === null ? null : { ...figures.chance },
    revenue: dollarsIfKnown(figures.revenueCents),
    margin: dollarsIfKnown(figures.marginCents),
    expected_margin: dollarsIfKnown(figures.expectedMarginCents),
    below_minimum: figures.isBelowMinimum,
    priced:
      priced === null
        ? null
        : {
            suggested: dollarsIfKnown(priced.suggestedCents),
            expected_cost: dollarsIfKnown(priced.costCents),
            cost_low: dollarsIfKnown(priced.costLowCents),
            cost_high: dollarsIfKnown(priced.costHighCents),
            market: dollarsIfKnown(priced.marketCents),
            minimum: dollarsIfKnown(priced.minimumCents),
            miles: priced.miles,
            equipment: priced.equipment,
            scope: priced.scope,
            decided: priced.decided,
            reasons: [...priced.reasons],
          },
  }
}

export function totalsAnswer(totals: BidTotals): Static<typeof contract.BidTotals> {
  return {
    lanes: totals.lanes,
    priced: totals.priced,
    rated: totals.rated,
    without_loads: totals.withoutLoads,
    loads: totals.loads,
    revenue: dollarsFromCents(totals.revenueCents),
    cost: dollarsFromCents(totals.costCents),
    margin: dollarsFromCents(totals.marginCents),
    expected_margin: dollarsFromCents(totals.expectedMarginCents),
    expected_share: totals.expectedShare,
    below_minimum: totals.belowMinimum,
    below_cost: totals.belowCost,
  }
}

export const totalsOfRows = (rows: readonly BidLaneRow[]) => totalsAnswer(bidTotals(rows.map(bidLaneOf)))

type Sums = Awaited<ReturnType<typeof bids.lanesOfBids>>[number]

export function summaryAnswer(
  row: BidRow,
  sums: Omit<Sums, 'bid_id'>,
  names: ReadonlyMap<number, string>,
): Summary {
  return {
    bid_id: row.bid_id,
    name: row.name,
    customer_name: row.customer_name,
    stage: row.stage,
    due_at: row.due_at?.toISOString() ?? null,
    contract_months: row.contract_months,
    starts_on: row.starts_on,
    previous_bid_id: row.previous_bid_id,
    file_name: row.file_name,
    lanes: row.lanes,
    rated: sums.rated,
    unknown_places: sums.unknown,
    value: dollarsFromCents(Number(sums.value_cents ?? 0)),
    pricing: { is_running: row.pricing_at !== null, priced: sums.priced },
    last_change: row.last_change,
    created_by:
      row.created_by === null ? null : { user_id: row.created_by, name: names.get(row.created_by) ?? '' },
    created_at: row.created_at.toISOString(),
    changed_at: row.changed_at.toISOString(),
  }
}

/** A text of a shipper that is no known place, and the lanes that have it. */
export interface UnknownText {
  readonly end: 'origin' | 'destination'
  readonly sent: string
  readonly lanes: number
}

/** The texts that are no known place, those of most lanes first. A lane without a text has a problem instead. */
export function unknownTexts(rows: readonly BidLaneRow[]): UnknownText[] {
  const found = new Map<string, { end: 'origin' | 'destination'; sent: string; lanes: number }>()
  for (const row of rows) {
    for (const end of ['origin', 'destination'] as const) {
      const sent = row[`${end}_sent`]
      if (row[end] !== null || sent === '') continue
      const known = found.get(`${end} ${sent}`)
      if (known === undefined) found.set(`${end} ${sent}`, { end, sent, lanes: 1 })
      else known.lanes++
    }
  }
  return [...found.values()].sort((one, other) => other.lanes - one.lanes)
}

export function columnsAnswer({ columns }: BidRow): { field: BidField; column: number }[] {
  return Object.entries(columns.positions)
    .map(([field, at]) => ({ field: field as BidField, column: at + 1 }))
    .sort((one, other) => one.column - other.column)
}
