import type { ColumnType, Selectable } from 'kysely'
import type { PricingRule } from '#engine/rules/pricing-rules.ts'

/** A pricing rule as it is saved. A rule that is off is a draft, or is kept for later. */
export interface StoredRule extends PricingRule {
  readonly isOn: boolean
  readonly changedAt: string
  readonly changedBy: number | null
}

export interface ApprovalsTable {
  tenant_id: number
  approval_id: number
  state: 'waiting' | 'approved' | 'rejected' | 'countered' | 'accepted' | 'withdrawn' | 'expired'
  asked: ColumnType<unknown, string, string>
  reasons: ColumnType<string[], string, string>
  note: string | null
  requested_by: number
  requested_at: ColumnType<Date, Date, Date>
  expires_at: ColumnType<Date, Date, Date>
  decided_by: ColumnType<number | null, number | null | undefined, number | null>
  decided_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  decision_note: ColumnType<string | null, string | null | undefined, string | null>
  counter_cents: ColumnType<number[] | null, string | undefined, string>
  lane_refs: ColumnType<string[] | null, string | undefined, string>
}
export type ApprovalRow = Selectable<ApprovalsTable>
