import Type from 'typebox'
import { nullable } from './fields.ts'

export const outcomes = ['won', 'lost', 'pending'] as const
export const outcomeReasons = ['price', 'service', 'capacity', 'no_response', 'other'] as const
export const changeSources = ['dashboard', 'tms', 'import'] as const

const money = nullable(Type.Number())
const moment = nullable(Type.String({ format: 'date-time' }))

/** A lane: one priced origin-destination-equipment line of a quote request, with its booking once there is one. */
export const Lane = Type.Object({
  lane_ref: Type.String({ description: 'REQUESTID-LANENUM-COUNT, unique, assigned by the service' }),
  lane_id: Type.Integer(),
  request_id: Type.Integer(),
  origin: Type.String(),
  destination: Type.String(),
  equipment: Type.String(),
  customer_name: Type.String({
    description: 'Who is billed: the TMS may have replaced the name on the quote',
  }),
  quoted_customer_name: Type.String({ description: 'The customer named on the quote' }),
  reference: { ...nullable(Type.String()), description: "The shipper's own reference of the quote request" },
  quoted_by: {
    ...nullable(Type.Object({ user_id: Type.Integer(), name: Type.String() })),
    description: 'The rep who quoted it; null for an imported lane',
  },
  quoted_rate: Type.Number({ description: 'What was quoted, in dollars' }),
  customer_rate: { ...money, description: 'AR: what the customer pays, once booked' },
  estimated_cost: { ...money, description: 'The truck cost expected when the rate was quoted' },
  expected_cost: {
    ...nullable(Type.Object({ amount: Type.Number(), low: Type.Number(), high: Type.Number() })),
    description:
      'What the truck was expected to cost when quoted, from AP history, with the range that holds 4 in 5',
  },
  truck_cost: { ...money, description: 'AP: what the carrier is paid, once booked' },
  truck_cost_source: {
    ...nullable(Type.Enum([...changeSources])),
    description: 'Where the truck cost came from; null while there is none',
  },
  margin: { ...money, description: 'customer_rate minus truck_cost, when both are known' },
  margin_pct: { ...money, description: 'margin / customer_rate x 100, one decimal' },
  carrier_name: nullable(Type.String()),
  carrier_notes: nullable(Type.String()),
  market_rate: money,
  miles: nullable(Type.Number()),
  pickup_date: nullable(Type.String({ format: 'date' })),
  outcome: Type.Enum([...outcomes]),
  outcome_reason: nullable(Type.Enum([...outcomeReasons])),
  outcome_source: nullable(Type.Enum([...changeSources])),
  decided_at: moment,
  booked_at: moment,
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
})
export type Lane = Type.Static<typeof Lane>
