import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable, recordId } from './fields.ts'
import { bidRoundListedMax } from './limits.ts'

const count = (description: string) => Type.Integer({ description })
const listed = `at most ${bidRoundListedMax.toLocaleString('en-US')}`
const places = { origin: Type.String(), destination: Type.String() }
const value = nullable(Type.Union([Type.Number(), Type.String()]))

export const getBidRound = endpoint({
  name: 'get-bid-round',
  method: 'GET',
  path: '/api/bids/{bid_id}/round',
  summary: 'What changed since the round before',
  description:
    'For a bid that was uploaded as the next round of another one: the lanes that came, went or changed, and the ranks and targets that the shipper tells. Lanes are joined by the lane ID of the shipper, else by places and equipment, if these are unique in both rounds. For a first round, or if the round before was removed, the response is 409.',
  tag: 'Bids',
  who: { kind: 'dashboard', role: 'viewer' },
  params: Type.Object({ bid_id: recordId }),
  status: 200,
  answer: Type.Object({
    previous: Type.Object({ bid_id: Type.Integer(), name: Type.String(), stage: Type.String() }),
    counts: Type.Object({
      joined: count('Lanes that continue a lane of the round before'),
      added: count('New lanes'),
      removed: count('Lanes of the round before that are gone'),
      changed: count('Continued lanes with other places, equipment or loads'),
    }),
    added: Type.Array(Type.Object({ lane: Type.Integer(), ...places }), { description: listed }),
    removed: Type.Array(
      Type.Object({
        lane: count('The number of the lane in the round before'),
        ...places,
        rate: nullable(Type.Number()),
      }),
      { description: listed },
    ),
    changed: Type.Array(
      Type.Object({
        lane: Type.Integer(),
        field: Type.Enum(['origin', 'destination', 'equipment', 'loads']),
        before: value,
        after: value,
      }),
      { description: listed },
    ),
    feedback: Type.Object({
      ranked: count('Lanes with a rank'),
      first: count('Those of them with rank 1'),
      targeted: count('Lanes with a target'),
      above_target: count('Lanes whose rate is above their target'),
      to_target: Type.Number({
        description:
          'What the margin of the contract loses, in dollars, if each rate above its target becomes the target',
      }),
    }),
  }),
  problems: ['not-found', 'state-conflict'],
  examples: {
    answer: {
      previous: { bid_id: 3, name: 'Annual RFP 2027', stage: 'submitted' },
      counts: { joined: 118, added: 1, removed: 1, changed: 1 },
      added: [{ lane: 119, origin: 'Reno, NV', destination: 'Boise, ID' }],
      removed: [{ lane: 17, origin: 'Dallas, TX', destination: 'Miami, FL', rate: 2890 }],
      changed: [{ lane: 4, field: 'loads', before: 104, after: 52 }],
      feedback: { ranked: 118, first: 31, targeted: 118, above_target: 64, to_target: 41250 },
    },
  },
})
