import type { askApproval } from '#contract/approvals.ts'
import type { AnswerOf, BodyOf } from '#contract/endpoint.ts'
import type { createQuoteRequest, requote } from '#contract/quote-requests.ts'
import { centsFromDollars, dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import type { QuotedTerms } from '#engine/rate-basis.ts'
import { type ApprovalState, approvalEmail } from '#engine/rules/approval.ts'
import type { ApprovalRow, LaneRow } from '../database/schema/index.ts'

type Approval = AnswerOf<typeof askApproval>

interface ShownLane {
  readonly origin: string
  readonly destination: string
  readonly equipment: string
}

/** What was asked for, as it is stored. */
export type AskedQuote =
  | { readonly kind: 'quote'; readonly body: BodyOf<typeof createQuoteRequest> }
  | {
      readonly kind: 'requote'
      readonly laneRef: string
      readonly customerName: string
      /** The requote has the terms of the quote, unless its body has others. */
      readonly lane: ShownLane & Terms
      readonly body: BodyOf<typeof requote>
    }

export const askedQuote = (row: Pick<ApprovalRow, 'asked'>) => row.asked as AskedQuote

/** The state of a request. One that is past its end is expired, also before that is stored. */
export function approvalState({ state, expires_at }: ApprovalRow, now: number): ApprovalState {
  return (state === 'waiting' || state === 'countered') && expires_at.getTime() <= now ? 'expired' : state
}

type Terms = Partial<Pick<LaneRow, 'quoted_basis' | 'quoted_currency'>>

interface AskedLane {
  readonly lane: ShownLane
  readonly said: Terms & { readonly quoted_rate: number; readonly estimated_cost?: number }
  /** The terms of the quote that is quoted again. */
  readonly before: Terms
}

interface AskedRate {
  readonly lane: ShownLane
  readonly rateCents: number
  /** As it was entered; null without one. */
  readonly costCents: number | null
  readonly terms: QuotedTerms
}

/** The lanes of a request with the rates that were asked for, what they include and their currency. */
export function askedRates(request: AskedQuote): AskedRate[] {
  const asked =
    request.kind === 'quote'
      ? request.body.lanes.map((lane) => ({ lane, said: lane, before: {} }))
      : [{ lane: request.lane, said: request.body, before: request.lane }]
  return asked.map(({ lane, said, before }: AskedLane) => ({
    lane,
    rateCents: centsFromDollars(said.quoted_rate) ?? 0,
    costCents: said.estimated_cost === undefined ? null : centsFromDollars(said.estimated_cost),
    terms: {
      basis: said.quoted_basis ?? before.quoted_basis ?? null,
      currency: said.quoted_currency ?? before.quoted_currency ?? null,
    },
  }))
}

/** A request for approval in the form of the API. `names`: those of people, by id. */
export function approvalAnswer(row: ApprovalRow, names: ReadonlyMap<number, string>, now: number): Approval {
  const request = askedQuote(row)
  const nameOf = (id: number) => names.get(id) ?? `person ${id}`
  const shown = askedRates(request).map(({ lane, rateCents, costCents, terms }, index) => ({
    origin: lane.origin,
    destination: lane.destination,
    equipment: lane.equipment,
    rateCents,
    costCents,
    counterCents: row.counter_cents?.[index] ?? null,
    terms,
  }))
  const told = {
    approvalId: row.approval_id,
    state: approvalState(row, now),
    customerName: request.kind === 'quote' ? request.body.customer_name : request.customerName,
    requestedBy: nameOf(row.requested_by),
    decidedBy: row.decided_by === null ? null : nameOf(row.decided_by),
    note: row.note,
    decisionNote: row.decision_note,
    reasons: row.reasons,
    lanes: shown,
    laneRefs: row.lane_refs ?? [],
  }
  return {
    approval_id: row.approval_id,
    state: told.state,
    customer_name: told.customerName,
    lane_ref: request.kind === 'quote' ? null : request.laneRef,
    lanes: shown.map(({ rateCents, costCents, counterCents, terms, ...lane }) => ({
      ...lane,
      quoted_basis: terms.basis,
      quoted_currency: terms.currency,
      rate: dollarsFromCents(rateCents),
      counter_rate: dollarsIfKnown(counterCents),
      estimated_cost: dollarsIfKnown(costCents),
    })),
    reasons: row.reasons,
    note: row.note,
    requested_by: { user_id: row.requested_by, name: told.requestedBy },
    requested_at: row.requested_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    decided_by: row.decided_by === null ? null : { user_id: row.decided_by, name: nameOf(row.decided_by) },
    decided_at: row.decided_at?.toISOString() ?? null,
    decision_note: row.decision_note,
    lane_refs: told.laneRefs.slice(),
    email: approvalEmail(told),
  }
}
