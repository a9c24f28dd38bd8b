import type { Mode } from '../load-mode.ts'
import { formatDollars } from '../money.ts'
import { type QuotedTerms, termsBehind } from '../rate-basis.ts'

export type ApprovalState =
  | 'waiting'
  | 'approved'
  | 'rejected'
  | 'countered'
  | 'accepted'
  | 'withdrawn'
  | 'expired'
export type ApprovalAction = 'approve' | 'reject' | 'counter' | 'accept' | 'withdraw'

const after: Readonly<Record<ApprovalAction, { from: readonly ApprovalState[]; to: ApprovalState }>> = {
  approve: { from: ['waiting', 'countered'], to: 'approved' },
  reject: { from: ['waiting', 'countered'], to: 'rejected' },
  counter: { from: ['waiting', 'countered'], to: 'countered' },
  accept: { from: ['countered'], to: 'accepted' },
  withdraw: { from: ['waiting', 'countered'], to: 'withdrawn' },
}

/** The person who decides about a request for approval. */
export interface Decider {
  readonly isRequester: boolean
  /** An admin or owner. */
  readonly isApprover: boolean
  /** No other active person of the brokerage is an admin or owner. */
  readonly isOnlyApprover: boolean
}

/**
 * Whether somebody may take an action, and the state after it. Approving, rejecting and countering is for approvers, and not on
 * their own request, unless there is no other approver. Accepting a counter and withdrawing is for the requester, or an approver.
 *
 * @example decided('waiting', 'approve', { isRequester: true, isApprover: true, isOnlyApprover: false }) // { refused: 'own' }
 */
export function decided(
  state: ApprovalState,
  action: ApprovalAction,
  { isRequester, isApprover, isOnlyApprover }: Decider,
): { readonly to: ApprovalState } | { readonly refused: 'role' | 'own' | 'state' } {
  const { from, to } = after[action]
  if (action === 'accept' || action === 'withdraw') {
    if (!isRequester && !isApprover) return { refused: 'role' }
  } else {
    if (!isApprover) return { refused: 'role' }
    if (isRequester && !isOnlyApprover) return { refused: 'own' }
  }
  return from.includes(state) ? { to } : { refused: 'state' }
}

interface Told {
  readonly approvalId: number
  readonly state: ApprovalState
  readonly customerName: string
  readonly requestedBy: string
  readonly decidedBy: string | null
  readonly note: string | null
  readonly decisionNote: string | null
  readonly reasons: readonly string[]
  readonly lanes: readonly {
    readonly origin: string
    readonly destination: string
    readonly equipment: string
    /** Null: a truckload. */
    readonly mode?: Mode | null
    readonly stops?: readonly string[]
    readonly rateCents: number
    readonly counterCents: number | null
    /** What the two rates include, and their currency. */
    readonly terms: QuotedTerms
  }[]
  readonly laneRefs: readonly string[]
}

/** An approval in words, ready to send by e-mail. */
export function approvalEmail(told: Told): { readonly subject: string; readonly text: string } {
  const { approvalId, state, customerName, requestedBy, lanes: quotes, laneRefs } = told
  const [first] = quotes
  const where = first === undefined ? '' : `, ${first.origin} to ${first.destination}`
  const more = quotes.length > 1 ? ` and ${quotes.length - 1} more` : ''
  const by = told.decidedBy ?? 'Nobody'
  const opening: Readonly<Record<ApprovalState, string>> = {
    waiting: `${requestedBy} asks for approval of a quote for ${customerName}.`,
    approved: `${by} approved the quote of ${requestedBy} for ${customerName}.`,
    rejected: `${by} rejected the quote of ${requestedBy} for ${customerName}.`,
    countered: `${by} would approve other rates for ${customerName} than ${requestedBy} asked for.`,
    accepted: `The quote for ${customerName} was made at the rates that were offered instead.`,
    withdrawn: `The request of ${requestedBy} for ${customerName} was withdrawn.`,
    expired: `Nobody decided the request of ${requestedBy} for ${customerName} in time.`,
  }
  const lines = quotes.map(({ origin, destination, equipment, rateCents, counterCents, terms, ...load }) => {
    const rate = (cents: number) => `${formatDollars(cents)}${termsBehind(terms)}`
    const { mode = null, stops = [] } = load
    const via = stops.length === 0 ? '' : ` via ${stops.join('; ')}`
    const what = mode === null || mode === 'truckload' ? equipment : `${equipment}, ${mode}`
    return `- ${origin} to ${destination}${via}, ${what}: ${rate(rateCents)}${counterCents === null ? '' : `; instead ${rate(counterCents)}`}`
  })
  const inUsd = quotes.some(({ terms }) => terms.currency === 'CAD') ? ' (in US dollars)' : ''
  const notes = [
    ...(told.note === null ? [] : [`Note of ${requestedBy}: ${told.note}`]),
    ...(told.decisionNote === null ? [] : [`Note of ${by}: ${told.decisionNote}`]),
  ]
  const parts = [
    opening[state],
    lines.join('\n'),
    ...(told.reasons.length === 0
      ? []
      : [`Why it needs approval${inUsd}:\n${told.reasons.map((reason) => `- ${reason}`).join('\n')}`]),
    ...notes,
    ...(laneRefs.length === 0 ? [] : [`Quotes: ${laneRefs.join(', ')}`]),
  ]
  return {
    subject: `Approval ${approvalId} (${state}): ${customerName}${where}${more}`,
    text: parts.join('\n\n'),
  }
}
