import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { equipment, oneOf, place, text } from './fields.ts'
import { watchesMax, watchMovesDays } from './limits.ts'

const person = { kind: 'dashboard', role: 'viewer' } as const
const moment = Type.String({ format: 'date-time' })
const watchId = Type.String({
  description: 'The id of what you follow',
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  'x-expected': 'the id of something that you follow',
})

export const watchKinds = ['lane', 'customer', 'market'] as const

export const Watch = Type.Object({
  id: Type.String(),
  kind: Type.Enum([...watchKinds]),
  label: Type.String({ description: 'What you follow, in words' }),
  followed_at: moment,
  moves: Type.Array(
    Type.Object({
      metric: Type.Enum(['cost', 'rate', 'win_rate']),
      found_at: moment,
      title: Type.String(),
      detail: Type.String({ description: 'Before and after, since when, and on how many quotes it rests' }),
    }),
    { description: `The moves of the last ${watchMovesDays} days, newest first` },
  ),
})

const answer = Type.Object({ watches: Type.Array(Watch) })
const exampleAnswer = {
  watches: [
    {
      id: '0b0c2a54-3a0e-4b57-9a2e-6f3d1b1f8c12',
      kind: 'lane',
      label: 'Dallas, TX to Atlanta, GA, V',
      followed_at: '2026-03-01T14:00:00.000Z',
      moves: [
        {
          metric: 'rate',
          found_at: '2026-03-20T11:00:00.000Z',
          title: 'Dallas, TX to Atlanta, GA, V: quoted rate up 8.2%',
          detail: '$2,175 on 11 quotes since Mar 14; $2,010 on 160 before.',
        },
      ],
    },
  ],
} as const
const examples = { answer: exampleAnswer }

export const listWatches = endpoint({
  name: 'list-watches',
  method: 'GET',
  path: '/api/watches',
  summary: 'List what you follow, and what moved',
  description:
    'Lanes, customers and markets that you follow, with the moves that were found. A move that rests on a customer who is hidden from you by now is left out.',
  tag: 'Mail',
  who: person,
  status: 200,
  answer,
  examples,
})

export const follow = endpoint({
  name: 'follow',
  method: 'POST',
  path: '/api/watches',
  summary: 'Follow a lane, a customer or a market',
  description: `You are told in your inbox and by mail, at most once a day, when its truck cost, its quoted rate or its win rate has moved. A lane or a market has origin and destination: a market is all lanes between the market areas of the two places. What you follow already stays as it is. At most ${watchesMax} for a person.`,
  tag: 'Mail',
  who: person,
  body: Type.Object({
    kind: oneOf('What to follow', watchKinds),
    origin: Type.Optional(place('The origin of a lane or a market')),
    destination: Type.Optional(place('The destination of a lane or a market')),
    equipment: Type.Optional(equipment('Only this equipment; absent: all')),
    customer_name: Type.Optional(text('The customer')),
  }),
  status: 200,
  answer,
  problems: ['state-conflict', 'not-found'],
  examples: {
    ...examples,
    body: { kind: 'lane', origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' },
  },
})

export const stopFollowing = endpoint({
  name: 'stop-following',
  method: 'DELETE',
  path: '/api/watches/{id}',
  summary: 'Stop following something',
  description: 'Its moves are deleted, too.',
  tag: 'Mail',
  who: person,
  params: Type.Object({ id: watchId }),
  status: 200,
  answer,
  problems: ['not-found'],
  examples,
})
