import type { Mode } from '../load-mode.ts'
import { formatDollars } from '../money.ts'
import { type QuotedTerms, termsBehind } from '../rate-basis.ts'
import type { RateType } from '../rate-type.ts'

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

/** Who decides, and in what relation to the request. */
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
  /** The bid whose rates need approval; absent for quotes. */
  readonly bid?: { readonly name: string; readonly lanes: number } | null
  readonly requestedBy: string
  readonly decidedBy: string | null
  readonly note: string | null
  readonly decisionNote: string | null
  readonly reasons: readonly string[]
  readonly lanes: readonly {
    readonly origin: string
    readonly destination: string
    readonly equipment: string
    readonly rateCents: number
    readonly counterCents: number | null
    /** What the two rates include, and their currency. */
    readonly terms: QuotedTerms
    /** As asked; null for the default of the brokerage. */
    readonly rateType: RateType | null
    /** How the load moves; null for a truckload. */
    readonly mode: Mode | null
    readonly stops: readonly string[]
  }[]
  readonly laneRefs: readonly string[]
}

/** @example ratesOfBid({ name: 'RFP 2027', lanes: 3 }) // '3 rates of the bid RFP 2027' */
export const ratesOfBid = ({ name, lanes }: { readonly name: string; readonly lanes: number }) =>
  `${lanes === 1 ? 'a rate' : `${lanes} rates`} of the bid ${name}`

/** An approval in words, ready to send by e-mail. */
export function approvalEmail(told: Told): { readonly subject: string; readonly text: string } {
  const { approvalId, state, customerName, requestedBy, lanes, laneRefs } = told
  const bid = told.bid ?? null
  const [first] = lanes
  const more = lanes.length > 1 ? ` and ${lanes.length - 1} more` : ''
  const where =
    bid !== null
      ? `, bid ${bid.name}`
      : first === undefined
        ? ''
        : `, ${first.origin} to ${first.destination}${more}`
  const by = told.decidedBy ?? 'Nobody'
  const [asked, the] =
    bid === null
      ? ['a quote', `the quote of ${requestedBy}`]
      : [ratesOfBid(bid), `${ratesOfBid(bid)}, which ${requestedBy} asked for,`]
  const opening: Readonly<Record<ApprovalState, string>> = {
    waiting: `${requestedBy} asks for approval of ${asked} for ${customerName}.`,
    approved: `${by} approved ${the} for ${customerName}.`,
    rejected: `${by} rejected ${the} for ${customerName}.`,
    countered: `${by} would approve other rates for ${customerName} than ${requestedBy} asked for.`,
    accepted: `The quote for ${customerName} was made at the rates that were offered instead.`,
    withdrawn: `The request of ${requestedBy} for ${customerName} was withdrawn.`,
    expired: `Nobody decided the request of ${requestedBy} for ${customerName} in time.`,
  }
  const lines = lanes.map(({ origin, destination, equipment, mode, stops, rateType, ...asked }) => {
    const rate = (cents: number) => `${formatDollars(cents)}${termsBehind(asked.terms)}`
    const via = stops.length === 0 ? '' : ` via ${stops.join(', ')}`
    const what = [equipment, mode, rateType].filter((one) => one !== null).join(', ')
    const instead = asked.counterCents === null ? '' : `; instead ${rate(asked.counterCents)}`
    return `- ${origin} to ${destination}${via}, ${what}: ${rate(asked.rateCents)}${instead}`
  })
  const inUsd = lanes.some(({ terms }) => terms.currency === 'CAD') ? ' (in US dollars)' : ''
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
    ...(bid === null || bid.lanes <= lanes.length ? [] : [`And ${bid.lanes - lanes.length} more rates.`]),
    ...notes,
    ...(laneRefs.length === 0 ? [] : [`Quotes: ${laneRefs.join(', ')}`]),
  ]
  return {
    subject: `Approval ${approvalId} (${state}): ${customerName}${where}`,
    text: parts.join('\n\n'),
  }
}
