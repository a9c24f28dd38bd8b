import type { askApproval } from '#contract/approvals.ts'
import type { AnswerOf, BodyOf } from '#contract/endpoint.ts'
import type { createQuoteRequest, requote } from '#contract/quote-requests.ts'
import { centsFromDollars, dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import type { QuotedTerms } from '#engine/rate-basis.ts'
import { type ApprovalState, approvalEmail } from '#engine/rules/approval.ts'
import type { ApprovalRow } from '../database/schema/index.ts'
import type { PricedQuote } from './quote-answer.ts'

type Approval = AnswerOf<typeof askApproval>

/** The quotes that need approval, as sent: a quote request or a requote. */
export type AskedQuote =
  | { readonly kind: 'quote'; readonly body: BodyOf<typeof createQuoteRequest> }
  | {
      readonly kind: 'requote'
      readonly laneRef: string
      readonly customerName: string
      /** The quote that the requote would make. A request saved by an earlier version can lack fields. */
      readonly lane: Pick<PricedQuote, 'origin' | 'destination' | 'equipment'> & Partial<PricedQuote>
      readonly body: BodyOf<typeof requote>
    }

export const askedQuote = (row: Pick<ApprovalRow, 'asked'>) => row.asked as AskedQuote

/** The state of a request. It is expired from its end on, even before that state is saved. */
export function approvalState({ state, expires_at }: ApprovalRow, now: number): ApprovalState {
  return (state === 'waiting' || state === 'countered') && expires_at.getTime() <= now ? 'expired' : state
}

type ShownQuote = Omit<Approval['lanes'][number], 'rate' | 'counter_rate'>

interface AskedRate {
  readonly lane: ShownQuote
  readonly rateCents: number
  readonly terms: QuotedTerms
}

/** The quotes of a request for approval, with the requested rates and their basis, charges and currency. */
export function askedRates(request: AskedQuote): AskedRate[] {
  const asked = request.kind === 'quote' ? request.body.lanes : [{ ...request.lane, ...request.body }]
  return asked.map((quote) => ({
    lane: {
      origin: quote.origin,
      destination: quote.destination,
      equipment: quote.equipment,
      estimated_cost: quote.estimated_cost ?? null,
      quoted_basis: quote.quoted_basis ?? null,
      quoted_fuel: quote.quoted_fuel ?? null,
      quoted_accessorials: quote.quoted_accessorials ?? null,
      quoted_charges: quote.quoted_charges ?? null,
      quoted_currency: quote.quoted_currency ?? null,
      miles: quote.miles ?? null,
      rate_type: quote.rate_type ?? null,
      mode: quote.mode ?? null,
      stops: quote.stops ?? [],
    },
    rateCents: centsFromDollars(quote.quoted_rate) ?? 0,
    terms: { basis: quote.quoted_basis ?? null, currency: quote.quoted_currency ?? null },
  }))
}

/** A request for approval in the form of the API. `names`: those of people, by id. */
export function approvalAnswer(row: ApprovalRow, names: ReadonlyMap<number, string>, now: number): Approval {
  const request = askedQuote(row)
  const nameOf = (id: number) => names.get(id) ?? `person ${id}`
  const shown = askedRates(request).map((asked, index) => ({
    ...asked,
    counterCents: row.counter_cents?.[index] ?? null,
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
    lanes: shown.map(({ lane, ...rates }) => ({ ...lane, ...rates })),
    laneRefs: row.lane_refs ?? [],
  }
  return {
    approval_id: row.approval_id,
    state: told.state,
    customer_name: told.customerName,
    lane_ref: request.kind === 'quote' ? null : request.laneRef,
    lanes: shown.map(({ lane, rateCents, counterCents }) => ({
      ...lane,
      rate: dollarsFromCents(rateCents),
      counter_rate: dollarsIfKnown(counterCents),
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
