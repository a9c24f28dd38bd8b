import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable, oneOf, recordId } from './fields.ts'
import { UserSummary } from './lane.ts'
import { exampleMember, User } from './sign-in.ts'

const moment = Type.String({ format: 'date-time' })
const who = { kind: 'dashboard', role: 'admin' } as const
const params = Type.Object({ id: recordId })
const lastUse = { ...nullable(moment), description: 'null if it was never used' }

export const Leaving = Type.Object({
  user: User,
  sessions: Type.Object({ count: Type.Integer(), last_used_at: lastUse }),
  tokens: Type.Array(
    Type.Object({
      id: Type.Integer(),
      name: Type.String(),
      scope: Type.String(),
      expires_at: moment,
      last_used_at: lastUse,
    }),
    { description: 'The live service tokens that act with the rights of the person' },
  ),
  signing_secrets: Type.Array(
    Type.Object({ id: Type.Integer(), name: Type.String(), last_used_at: lastUse }),
    {
      description:
        'The live signing secrets that the person made, and may know. They belong to the brokerage and keep working: rotate those that the person may know',
    },
  ),
  event_endpoints: Type.Array(Type.Object({ id: Type.Integer(), url: Type.String() }), {
    description: 'The event endpoints that the person added. They belong to the brokerage and keep working',
  }),
  quotes: Type.Object({
    pending: Type.Integer({ description: 'Pending quotes that they made, as in my-day; at most 300' }),
    follow_ups_due: Type.Integer({ description: 'Of these, those with a due follow-up' }),
    last_quoted_at: { ...nullable(moment), description: 'When the newest of them was made' },
    given_to: { ...nullable(UserSummary), description: 'Who follows them up instead of the person already' },
  }),
  approvals: Type.Object({
    asked: Type.Integer({ description: 'Requests for approval of the person that are open' }),
    last_asked_at: { ...nullable(moment), description: 'When the newest of them was made' },
    to_decide: Type.Integer({ description: 'Open requests of other people that the person may decide' }),
    other_deciders: Type.Integer({ description: 'Other active admins and owners, who may decide, too' }),
  }),
})

export const getLeaving = endpoint({
  name: 'get-leaving',
  method: 'GET',
  path: '/api/users/{id}/leaving',
  summary: 'List what a person would leave',
  description:
    'Read it before you suspend or remove a person. It has counts and the last use of what they hold. A draft at the quote desk is only in the browser of the person, so it is not listed.',
  tag: 'People',
  who,
  params,
  status: 200,
  answer: Leaving,
  problems: ['not-found'],
  examples: {
    answer: {
      user: { ...exampleMember, role: 'admin' },
      sessions: { count: 1, last_used_at: '2026-03-01T14:00:00.000Z' },
      tokens: [
        {
          id: 2,
          name: 'TMS',
          scope: 'integrations:read',
          expires_at: '2026-09-01T14:00:00.000Z',
          last_used_at: '2026-03-01T13:58:00.000Z',
        },
      ],
      signing_secrets: [{ id: 1, name: 'TMS', last_used_at: '2026-03-01T13:58:00.000Z' }],
      event_endpoints: [{ id: 1, url: 'https://tms.example.com/lanewise' }],
      quotes: { pending: 7, follow_ups_due: 2, last_quoted_at: '2026-03-01T13:40:00.000Z', given_to: null },
      approvals: { asked: 1, last_asked_at: '2026-03-01T13:45:00.000Z', to_decide: 3, other_deciders: 2 },
    },
  },
})

const quotes = (absent = '') =>
  oneOf(`Who follows up their pending quotes: all admins and owners, or the person in \`to\`${absent}`, [
    'to-admins',
    'hand-over',
  ])
const approvals = (absent = '') =>
  oneOf(
    `What happens to their open requests for approval: they stay, are withdrawn, or become those of the person in \`to\`. Nobody can approve a request that stays; it can be rejected, and expires${absent}`,
    ['keep', 'withdraw', 'hand-over'],
  )
const to = (absent: string) => ({
  ...recordId,
  description: `The person to hand over to: active, at least member, for service tokens at least admin, and one who sees all customers concerned. ${absent}`,
  'x-expected': 'the id of another active person with at least the role member',
})

export const suspendUser = endpoint({
  name: 'suspend-user',
  method: 'POST',
  path: '/api/users/{id}/suspend',
  summary: 'Suspend a person',
  description:
    'Ends their sessions at once, and refuses them until an admin restores them. What they leave is handed over or ended in the same step: all of it happens, or nothing. Nobody can suspend themselves or the last owner.',
  tag: 'People',
  who,
  params,
  body: Type.Object({
    tokens: oneOf(
      'What happens to their live service tokens: they stop until the person is restored, are revoked, or become those of the person in `to`',
      ['stop', 'revoke', 'hand-over'],
    ),
    quotes: quotes(),
    approvals: approvals(),
    to: Type.Optional(to('Needed if something is handed over, and only then.')),
  }),
  confirms: true,
  status: 200,
  answer: User,
  problems: ['not-found', 'last-owner', 'state-conflict'],
  examples: {
    body: { tokens: 'revoke', quotes: 'hand-over', approvals: 'hand-over', to: 5 },
    answer: { ...exampleMember, status: 'suspended' },
  },
})

export const restoreUser = endpoint({
  name: 'restore-user',
  method: 'POST',
  path: '/api/users/{id}/restore',
  summary: 'Restore a suspended person',
  description:
    'They can sign in again with their password. Their pending quotes are theirs again, and tokens that only stopped work again. Revoked tokens, and tokens and requests that were handed over, do not come back.',
  tag: 'People',
  who,
  params,
  confirms: true,
  status: 200,
  answer: User,
  problems: ['not-found', 'state-conflict'],
  examples: { answer: exampleMember },
})

export const removeUser = endpoint({
  name: 'remove-user',
  method: 'DELETE',
  path: '/api/users/{id}',
  summary: 'Remove a person',
  description:
    'Ends their sessions at once. If they have live service tokens, choose what happens to the tokens: tokens=revoke, or tokens=hand-over to transfer them. What else they leave is handed over or ended in the same step: all of it happens, or nothing. The last owner cannot be removed.',
  tag: 'People',
  who,
  params,
  query: Type.Object({
    tokens: Type.Optional(oneOf('What happens to their live service tokens', ['revoke', 'hand-over'])),
    quotes: Type.Optional(quotes('. Absent: as before')),
    approvals: Type.Optional(approvals('. Absent: they stay')),
    to: Type.Optional(to('If absent, you.')),
  }),
  confirms: true,
  status: 200,
  answer: User,
  problems: ['not-found', 'last-owner', 'tokens-to-hand-over'],
  examples: { answer: { ...exampleMember, status: 'removed' } },
})
