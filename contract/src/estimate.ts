import Type from 'typebox'
import { nullable } from './fields.ts'

/** The calibrated estimate behind `include=`. Amounts in dollars, probabilities from 0 to 1. */

export const markupExtras = ['estimate', 'curve', 'optimum', 'evidence'] as const
export type MarkupExtra = (typeof markupExtras)[number]

const number = nullable(Type.Number())
export const Interval = Type.Object({ low: Type.Number(), high: Type.Number() })

const ExpectedCost = Type.Object({
  amount: Type.Number(),
  low: Type.Number({ description: 'The range from low to high holds 4 costs in 5' }),
  high: Type.Number(),
  own_loads: Type.Integer({
    description: 'Quotes of this lane and equipment whose cost is known, booked or estimated',
  }),
  own_curve: Type.Boolean({
    description: 'false: the length-of-haul curve is a default, not drawn from your loads',
  }),
})

export const Estimate = Type.Object({
  probability: { ...number, description: 'Calibrated chance of winning at proposed_rate' },
  interval_80: nullable(Interval),
  interval_95: nullable(Interval),
  reference_rate: { ...number, description: "The lane's going rate today, from your own quotes" },
  equipment: { ...nullable(Type.String()), description: 'The equipment the estimate is for' },
  miles: number,
  decided: Type.Integer(),
  won: Type.Integer(),
  borrowed_share: { ...number, description: 'How much comes from other lanes: 1 without own decided quotes' },
  borrowed_from: Type.Array(
    Type.Object({
      scope: Type.String(),
      decided: Type.Integer(),
      won: Type.Integer(),
      lanes: Type.Integer(),
    }),
  ),
  expected_cost: nullable(ExpectedCost),
  expected_margin: {
    ...number,
    description: 'Chance of winning times margin over the expected cost, at proposed_rate',
  },
  flags: Type.Array(Type.String()),
  would_raise_confidence: Type.Array(
    Type.Object({
      more_decided_quotes: Type.Integer(),
      width_80_now: Type.Number(),
      width_80_then: Type.Number(),
    }),
  ),
  would_change_answer: Type.Array(Type.Object({ change: Type.String(), probability: Type.Number() })),
  at_other_rates: Type.Array(
    Type.Object({
      rate: Type.Number(),
      probability: Type.Number(),
      points: Type.Number(),
      dollars: Type.Number(),
    }),
    { description: 'What a lower and a higher rate would do: points of probability and dollars of rate' },
  ),
  sentence: Type.String(),
})

export const CurvePoint = Type.Object({
  rate: Type.Number(),
  probability: Type.Number(),
  interval_80: Interval,
  interval_95: Interval,
  nearby: Type.Object({ won: Type.Integer(), lost: Type.Integer(), pending: Type.Integer() }),
})

export const Optimum = Type.Object({
  rate: Type.Number({ description: 'The rate with the highest expected margin' }),
  win_probability: Type.Number(),
  expected_margin: Type.Number(),
  flat_zone: Type.Object({ low: Type.Number(), high: Type.Number() }),
  at_edge: Type.Boolean(),
  floor: { ...number, description: "The brokerage's own floor on this lane" },
  floored_rate: Type.Number({ description: 'The rate with the floor kept' }),
  floored_expected_margin: Type.Number(),
  at_stake: Type.Number({ description: 'Expected margin that proposed_rate leaves on the table' }),
})

/** A quote behind the numbers, or one that was left out of them and why. */
export const EvidenceQuote = Type.Object({
  lane_ref: Type.String(),
  equipment: Type.String(),
  rate: Type.Number(),
  outcome: Type.Enum(['won', 'lost', 'pending']),
  quoted_at: Type.String({ format: 'date-time' }),
  used_in: Type.Array(Type.Enum(['win_probability', 'suggested_rate', 'rate_band', 'estimate'])),
  left_out: Type.Array(Type.Object({ of: Type.String(), why: Type.String() })),
})
