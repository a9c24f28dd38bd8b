import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { laneRef, nullable, recordId } from './fields.ts'
import { UserSummary } from './lane.ts'
import { currencies } from './rate-basis.ts'

const moment = Type.String({ format: 'date-time' })

export const DayQuote = Type.Object({
  lane_ref: laneRef,
  customer_name: Type.String(),
  origin: Type.String(),
  destination: Type.String(),
  equipment: Type.String(),
  rate: Type.Number(),
  currency: Type.Enum([...currencies]),
  at_stake: {
    ...nullable(Type.Number()),
    description:
      'The rate minus the expected cost, if one is known in the currency and on the basis of the rate; else null',
  },
  quoted_at: moment,
  ends_at: { ...nullable(moment), description: 'When its validity ends' },
  quoted_by: nullable(UserSummary),
  has_left: Type.Boolean({ description: 'The person who quoted it has left the brokerage, or is suspended' }),
  follow_up: {
    ...nullable(Type.Object({ item: Type.String(), detail: Type.String() })),
    description:
      'Set if a rule of the brokerage makes a follow-up due, until the person marks `item` as done, or snoozes it, with mark-inbox',
  },
})

const exampleQuote = {
  lane_ref: '48211093754-1-1',
  customer_name: 'Harvest Table Foods',
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  rate: 2150,
  currency: 'USD',
  at_stake: 300,
  quoted_at: '2026-03-01T14:00:00.000Z',
  ends_at: '2026-03-02T14:00:00.000Z',
  quoted_by: { user_id: 4, name: 'Sam Reyes' },
  has_left: false,
  follow_up: {
    item: 'follow-up after 48211093754-1-1',
    detail: '$2,150. No answer for 4 hours: follow up.',
  },
} as const

export const getMyDay = endpoint({
  name: 'get-my-day',
  method: 'GET',
  path: '/api/my-day',
  summary: 'List your pending quotes, the most urgent first',
  description:
    'Pending quotes that the signed-in person follows up: their own, those that were given to them, and, for admins, those of people who left. Those with a due follow-up are first; then by the dollars at stake per hour that is left. A quote without an expected cost counts with the share of margin of the others.',
  tag: 'Mail',
  who: { kind: 'dashboard', role: 'member' },
  status: 200,
  answer: Type.Object({ quotes: Type.Array(DayQuote) }),
  examples: { answer: { quotes: [exampleQuote] } },
})

export const giveQuotes = endpoint({
  name: 'give-quotes',
  method: 'POST',
  path: '/api/users/{id}/quotes-to',
  summary: 'Have another person follow up the pending quotes of a person',
  description:
    'From then on, the pending quotes of the person, who may have left, are in the day and the inbox of the other one. Without user_id, they go back: to the person, or, if they left, to the admins.',
  tag: 'Mail',
  who: { kind: 'dashboard', role: 'admin' },
  params: Type.Object({ id: recordId }),
  body: Type.Object({
    user_id: Type.Optional(
      Type.Integer({
        ...recordId,
        description: 'The active person who follows up. Absent or null: the usual one',
        'x-expected': 'the id of an active person with at least the role member',
      }),
    ),
  }),
  status: 200,
  answer: Type.Object({ user_id: nullable(Type.Integer()) }),
  problems: ['not-found'],
  examples: { body: { user_id: 4 }, answer: { user_id: 4 } },
})
