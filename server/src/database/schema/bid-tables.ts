import type { ColumnType, Generated, Selectable } from 'kysely'
import type { PricedLane } from '#engine/bid/bid-lane.ts'

type Fixed<Value> = ColumnType<Value, Value, never>

/** The column of each field of a bid's lanes, from 0, and the time that its volumes are of. */
export interface BidColumns {
  readonly positions: Readonly<Record<string, number>>
  readonly volumePer: string | null
}

export interface BidsTable {
  tenant_id: number
  bid_id: number
  name: string
  customer_name: string
  stage: 'open' | 'submitted' | 'awarded' | 'lost' | 'withdrawn'
  due_at: Date | null
  contract_months: number
  /** The first day of the contract, as YYYY-MM-DD. */
  starts_on: string | null
  file_name: Fixed<string>
  file: Fixed<Buffer>
  sheet: Fixed<string | null>
  columns: ColumnType<BidColumns, string, never>
  header_digest: Fixed<string>
  lanes: Fixed<number>
  lines_skipped: Fixed<number>
  /** The round before; null in the first one. */
  previous_bid_id: number | null
  last_change: Generated<number>
  pricing_at: Date | null
  created_by: number | null
  created_at: Fixed<Date>
  changed_at: Date
}
/** A bid without its file. */
export type BidRow = Omit<Selectable<BidsTable>, 'file'>

export interface BidLanesTable {
  tenant_id: number
  bid_id: number
  lane_number: number
  row_number: number
  lane_key: string | null
  origin_sent: string
  destination_sent: string
  origin: string | null
  destination: string | null
  equipment_code: string | null
  loads: number | null
  target_cents: number | null
  /** The rank of the rate of the round before, from 1. */
  rank: number | null
  /** The lane of the round before that this one continues, and its rate then. */
  previous_lane: number | null
  previous_rate_cents: number | null
  miles: number | null
  problems: ColumnType<string[], string, string>
  duplicate_of: number | null
  priced: ColumnType<PricedLane | null, string | null, string | null>
  rate_cents: number | null
  version: Generated<number>
  /** Null while it is open. */
  award: 'awarded' | 'lost' | null
  award_cents: number | null
  /** Loads over the contract. */
  award_loads: number | null
  /** When the award was signed, or a person said it. */
  award_signed_at: Date | null
}
export type BidLaneRow = Selectable<BidLanesTable>

/** The value of a lane's cell before a change, and after it. */
export interface ChangedCell {
  readonly lane: number
  readonly before: number | string | null
  readonly after: number | string | null
}

export interface BidChangesTable {
  tenant_id: number
  bid_id: number
  change_number: number
  kind: 'rates' | 'strategy' | 'place' | 'undo' | 'awards'
  words: string
  cells: ColumnType<ChangedCell[], string, never>
  undone_by: number | null
  changed_by: number | null
  changed_at: Date
}
export type BidChangeRow = Selectable<BidChangesTable>
