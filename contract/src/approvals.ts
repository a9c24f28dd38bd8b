import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { laneRef, nullable, oneOf, positiveDollars, recordId, sentLaneRef, text } from './fields.ts'
import {
  approvalHours,
  approvalsListedMax,
  noteLengthMax,
  quoteRequestBytesMax,
  quotesPerRequestMax,
} from './limits.ts'
import { quotedFields, UserSummary } from './quote.ts'
import { createQuoteRequest, requote } from './quote-requests.ts'
import { shownBasis, shownCharge, shownCharges, shownCurrency } from './rate-basis.ts'

export const approvalStates = [
  'waiting',
  'approved',
  'rejected',
  'countered',
  'accepted',
  'withdrawn',
  'expired',
] as const

const moment = Type.String({ format: 'date-time' })

export const Approval = Type.Object({
  approval_id: Type.Integer(),
  state: Type.Enum([...approvalStates], {
    description: `waiting: nobody has decided. countered: an approver would approve other rates, and the requester can accept them. approved, accepted: the quotes were made. expired: not decided within ${approvalHours} hours`,
  }),
  customer_name: Type.String(),
  lane_ref: {
    ...nullable(laneRef),
    description: 'The quote that the requote would supersede; null for a new quote request',
  },
  lanes: Type.Array(
    Type.Object({
      origin: Type.String(),
      destination: Type.String(),
      equipment: Type.String(),
      rate: Type.Number(),
      counter_rate: nullable(Type.Number()),
      estimated_cost: {
        ...nullable(Type.Number()),
        description:
          'The truck cost that the requester entered, or that a requote keeps, in the currency and on the basis of the rate',
      },
      quoted_basis: shownBasis('rate and counter_rate'),
      quoted_fuel: shownCharge('fuel charge', 'rate'),
      quoted_accessorials: shownCharge('accessorial charges', 'rate'),
      quoted_charges: shownCharges('rate'),
      quoted_currency: shownCurrency('rate and counter_rate'),
      miles: quotedFields.miles,
      rate_type: quotedFields.rate_type,
      mode: quotedFields.mode,
      stops: quotedFields.stops,
    }),
  ),
  reasons: Type.Array(Type.String(), {
    description:
      'Why the quote needs approval. Amounts are in US dollars on the default basis of the brokerage',
  }),
  note: nullable(Type.String()),
  requested_by: UserSummary,
  requested_at: moment,
  expires_at: moment,
  decided_by: nullable(UserSummary),
  decided_at: nullable(moment),
  decision_note: nullable(Type.String()),
  lane_refs: Type.Array(Type.String(), { description: 'The quotes that were made' }),
  email: Type.Object(
    { subject: Type.String(), text: Type.String() },
    { description: 'The state in words, ready to send by e-mail. The service sends nothing' },
  ),
})

export const exampleApproval = {
  approval_id: 12,
  state: 'waiting' as const,
  customer_name: 'Harvest Table Foods',
  lane_ref: null,
  lanes: [
    {
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      equipment: 'V',
      rate: 1900,
      counter_rate: null,
      estimated_cost: 1850,
      quoted_basis: null,
      quoted_fuel: null,
      quoted_accessorials: null,
      quoted_charges: null,
      quoted_currency: null,
      miles: null,
      rate_type: null,
      mode: null,
      stops: [],
    },
  ],
  reasons: ['$1,900 is below the minimum of $2,000 (rule 3, because: customer Harvest Table Foods).'],
  note: 'They promised four loads a week.',
  requested_by: { user_id: 4, name: 'Sam Reyes' },
  requested_at: '2026-03-01T14:00:00.000Z',
  expires_at: '2026-03-02T14:00:00.000Z',
  decided_by: null,
  decided_at: null,
  decision_note: null,
  lane_refs: [],
  email: {
    subject: 'Approval 12: Harvest Table Foods, Dallas, TX to Atlanta, GA',
    text: 'Sam Reyes asks for approval of a quote for Harvest Table Foods.',
  },
}

const note = Type.Optional(text('A note for the other side', noteLengthMax))
const asks = { kind: 'dashboard', role: 'member' } as const

export const listApprovals = endpoint({
  name: 'list-approvals',
  method: 'GET',
  path: '/api/approvals',
  summary: 'List approvals',
  description: `The newest ${approvalsListedMax} requests for approval, newest first.`,
  tag: 'Rules',
  who: asks,
  query: Type.Object({
    recent: Type.Optional(
      oneOf(
        `true leaves out requests that were decided or expired more than ${approvalHours} hours ago. For a page that asks every few seconds`,
        ['true', 'false'],
      ),
    ),
  }),
  status: 200,
  answer: Type.Object({ approvals: Type.Array(Approval) }),
  examples: { query: { recent: 'true' }, answer: { approvals: [exampleApproval] } },
})

export const askApproval = endpoint({
  name: 'ask-approval',
  method: 'POST',
  path: '/api/approvals',
  summary: 'Ask for approval of a quote outside the rules',
  description:
    'Takes a quote request that was refused with outside-rules, and a note. No quote is made until an admin approves it; then it is made as requested, in the name of the requester. A quote that needs no approval, or that a rule blocks, is refused.',
  tag: 'Rules',
  who: asks,
  bodyBytesMax: quoteRequestBytesMax,
  body: Type.Object({ ...createQuoteRequest.body.properties, note }),
  status: 201,
  answer: Approval,
  problems: ['outside-rules', 'state-conflict'],
  examples: {
    body: {
      customer_name: 'Harvest Table Foods',
      lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 1900 }],
      note: 'They promised four loads a week.',
    },
    answer: exampleApproval,
  },
})

export const askRequoteApproval = endpoint({
  name: 'ask-requote-approval',
  method: 'POST',
  path: '/api/lanes/{lane_ref}/approvals',
  summary: 'Ask for approval of a requote',
  description: 'Like ask-approval, for a requote that was refused with outside-rules.',
  tag: 'Rules',
  who: asks,
  params: Type.Object({ lane_ref: sentLaneRef('The quote') }),
  body: Type.Object({ ...requote.body.properties, note }),
  status: 201,
  answer: Approval,
  problems: ['lane-not-found', 'outside-rules', 'state-conflict'],
  examples: { body: { quoted_rate: 1900 }, answer: { ...exampleApproval, lane_ref: '48211093754-1-1' } },
})

export const decideApproval = endpoint({
  name: 'decide-approval',
  method: 'POST',
  path: '/api/approvals/{approval_id}/decision',
  summary: 'Approve, reject, counter, accept or withdraw',
  description:
    'An admin or owner can approve, reject and counter, but nobody decides their own request, except the only active admin or owner of the brokerage. counter names the rates that would be approved, in the currency and on the basis of the request. The requester, or an admin, can accept the rates of a counter, and withdraw. If the rates sent with accept are not those of the counter, it is refused with state-conflict, and errors has the rates of the counter. Approving and accepting make the quotes, unless a rule blocks them by now.',
  tag: 'Rules',
  who: asks,
  params: Type.Object({ approval_id: recordId }),
  body: Type.Object({
    decision: oneOf('The decision', ['approve', 'reject', 'counter', 'accept', 'withdraw']),
    rates: Type.Optional(
      Type.Array(positiveDollars('The rate of a quote'), {
        minItems: 1,
        maxItems: quotesPerRequestMax,
        description:
          'The rate of each quote, in the order of lanes. For counter: the rates that would be approved. For accept: the rates of the counter that the person saw, so that a counter that changed meanwhile is not accepted',
        'x-expected': 'a list with one rate for each quote',
      }),
    ),
    note,
  }),
  status: 200,
  answer: Approval,
  problems: ['not-found', 'state-conflict', 'outside-rules', 'role-required'],
  examples: {
    body: { decision: 'counter', rates: [1960] },
    answer: {
      ...exampleApproval,
      state: 'countered',
      lanes: [{ ...exampleApproval.lanes[0], counter_rate: 1960 }],
      decided_by: { user_id: 1, name: 'Ana Ortiz' },
      decided_at: '2026-03-01T14:20:00.000Z',
    },
  },
})
