import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { equipment, nullable, place } from './fields.ts'
import { outcomes } from './lane.ts'
import { lanePointsMax } from './limits.ts'

const counts = {
  quotes: Type.Integer(),
  won: Type.Integer(),
  lost: Type.Integer(),
  pending: Type.Integer(),
}

export const LaneEnd = Type.Object({
  place: Type.String({ description: 'The known place, as Dallas, TX; as sent where it is not known' }),
  latitude: { ...nullable(Type.Number()), description: 'Degrees north; null where the place is not known' },
  longitude: { ...nullable(Type.Number()), description: 'Degrees east; null where the place is not known' },
})

export const laneRecord = endpoint({
  name: 'lane-record',
  method: 'GET',
  path: '/api/lane-record',
  summary: 'The record of a lane: where it runs, its quotes and its months',
  description:
    'Everything quoted on the exact city pair (and equipment, when given). The rate of a quote is the booked customer rate when there is one, else the quoted rate; margin is landed margin, where both booked amounts are known.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({
    origin: place('Pickup city and state'),
    destination: place('Delivery city and state'),
    equipment: Type.Optional(equipment('Equipment code; all types when absent')),
  }),
  status: 200,
  answer: Type.Object({
    origin: LaneEnd,
    destination: LaneEnd,
    miles: { ...nullable(Type.Number()), description: 'Our own estimate of the road miles' },
    equipment: Type.Array(Type.Object({ equipment: Type.String(), ...counts }), {
      description: 'Every type quoted on the city pair, whichever was asked for, most quoted first',
    }),
    points: Type.Array(
      Type.Object({
        lane_ref: Type.String(),
        rate: Type.Number(),
        booked: Type.Boolean({ description: 'true: rate is the booked customer rate (AR)' }),
        outcome: Type.Enum([...outcomes]),
        quoted_at: Type.String({ format: 'date-time' }),
        customer_name: Type.String(),
        margin: nullable(Type.Number()),
      }),
      { description: `The newest quotes, newest first, at most ${lanePointsMax.toLocaleString('en-US')}` },
    ),
    points_total: Type.Integer({ description: 'Quotes in the whole history' }),
    months: Type.Array(
      Type.Object({
        month: Type.String({ description: 'YYYY-MM in UTC; months without a quote are left out' }),
        ...counts,
        win_rate_pct: {
          ...nullable(Type.Number()),
          description: 'Won of won and lost; null where none is decided',
        },
        avg_rate: Type.Number(),
        avg_margin: nullable(Type.Number()),
        margin_pct: { ...nullable(Type.Number()), description: 'Margin as a share of the AR it is of' },
      }),
      { description: 'Every month of the history, oldest first' },
    ),
  }),
  examples: {
    query: { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' },
    answer: {
      origin: { place: 'Dallas, TX', latitude: 32.78306, longitude: -96.80667 },
      destination: { place: 'Atlanta, GA', latitude: 33.749, longitude: -84.38798 },
      miles: 856.9,
      equipment: [{ equipment: 'V', quotes: 1, won: 1, lost: 0, pending: 0 }],
      points: [
        {
          lane_ref: '48211093754-1-1',
          rate: 2150,
          booked: true,
          outcome: 'won',
          quoted_at: '2026-03-01T14:00:00.000Z',
          customer_name: 'Harvest Table Foods',
          margin: 350,
        },
      ],
      points_total: 1,
      months: [
        {
          month: '2026-03',
          quotes: 1,
          won: 1,
          lost: 0,
          pending: 0,
          win_rate_pct: 100,
          avg_rate: 2150,
          avg_margin: 350,
          margin_pct: 16.3,
        },
      ],
    },
  },
})
