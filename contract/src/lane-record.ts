import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { equipment, nullable, place } from './fields.ts'
import { lanePointsMax } from './limits.ts'
import { decisions } from './quote.ts'
import { ComparedBasis, exampleBasis } from './rate-basis.ts'
import { ofRateType } from './rate-types.ts'

const counts = {
  quotes: Type.Integer(),
  won: Type.Integer(),
  lost: Type.Integer(),
  pending: Type.Integer(),
}

export const LaneEnd = Type.Object({
  place: Type.String({
    description: 'The known place, such as Dallas, TX; the text as sent if the place is unknown',
  }),
  latitude: { ...nullable(Type.Number()), description: 'Degrees north; null if the place is unknown' },
  longitude: { ...nullable(Type.Number()), description: 'Degrees east; null if the place is unknown' },
})

export const laneRecord = endpoint({
  name: 'lane-record',
  method: 'GET',
  path: '/api/lane-record',
  summary: 'The record of a lane: its places, quotes and monthly figures',
  description:
    'All quotes on the exact city pair (and equipment, if given). The rate of a quote is the booked customer rate if known, else the quoted rate. The margin is the actual margin, if both booked amounts are known.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({
    origin: place('Pickup city and state'),
    destination: place('Delivery city and state'),
    equipment: Type.Optional(equipment('Equipment code; all types if absent')),
    rate_type: ofRateType,
  }),
  status: 200,
  answer: Type.Object({
    origin: LaneEnd,
    destination: LaneEnd,
    miles: { ...nullable(Type.Number()), description: 'Estimated road miles' },
    equipment: Type.Array(Type.Object({ equipment: Type.String(), ...counts }), {
      description:
        'All equipment types quoted on the city pair, regardless of the equipment parameter, most quoted first',
    }),
    points: Type.Array(
      Type.Object({
        lane_ref: Type.String(),
        rate: Type.Number(),
        booked: Type.Boolean({ description: 'true: rate is the booked customer rate (AR)' }),
        outcome: { ...Type.Enum([...decisions]), description: 'As statistics count it' },
        quoted_at: Type.String({ format: 'date-time' }),
        customer_name: Type.String(),
        margin: nullable(Type.Number()),
      }),
      { description: `The newest quotes, newest first, at most ${lanePointsMax.toLocaleString('en-US')}` },
    ),
    points_total: Type.Integer({ description: 'Number of quotes in the whole history' }),
    months: Type.Array(
      Type.Object({
        month: Type.String({
          description: 'YYYY-MM, in the time zone of the brokerage. Months without quotes are omitted',
        }),
        ...counts,
        win_rate_pct: {
          ...nullable(Type.Number()),
          description: 'won / (won + lost) x 100; null if no quote is decided',
        },
        avg_rate: Type.Number(),
        avg_margin: nullable(Type.Number()),
        margin_pct: {
          ...nullable(Type.Number()),
          description: 'Margin as a percentage of the AR of the same shipments',
        },
      }),
      { description: 'Every month of the history, oldest first' },
    ),
    basis: ComparedBasis,
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
      basis: exampleBasis,
    },
  },
})
