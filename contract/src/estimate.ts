import Type from 'typebox'
import { nullable } from './fields.ts'
import { commonExtras } from './insight-extras.ts'
import { rateTypes } from './rate-types.ts'

/** The schemas of the calibrated estimate, requested with `include=`. Amounts in dollars, probabilities from 0 to 1. */

export const markupExtras = [
  ...commonExtras,
  'estimate',
  'curve',
  'optimum',
  'evidence',
  'market',
  'risk',
  'rules',
] as const
export type MarkupExtra = (typeof markupExtras)[number]

export const trustLevels = ['good', 'fair', 'weak', 'none'] as const

const number = nullable(Type.Number())
export const Interval = Type.Object({ low: Type.Number(), high: Type.Number() })

const CostAhead = Type.Object({
  days: Type.Integer({ description: 'Days from now: 7, 14 or 28' }),
  amount: Type.Number(),
  low: Type.Number({ description: '80 % of costs are between low and high' }),
  high: Type.Number(),
  season_pct: {
    ...number,
    description: 'The effect of the season on amount, in percent. null: no evidence of a season',
  },
})

const ExpectedCost = Type.Object({
  amount: Type.Number(),
  low: Type.Number({ description: '80 % of costs are between low and high' }),
  high: Type.Number(),
  own_loads: Type.Integer({
    description: 'Number of quotes of this lane and equipment with a known cost, booked or estimated',
  }),
  own_curve: Type.Boolean({
    description: 'false: the length-of-haul curve is a default and is not fitted to your loads',
  }),
  borrowed_share: Type.Number({
    description: 'Share of amount that is from loads of the other rate type, on a lane with few own loads',
  }),
  ahead: Type.Array(CostAhead, {
    description: 'The costs expected 7, 14 and 28 days from now, each with the range of that many days',
  }),
  season: Type.Object(
    { evidence: Type.Boolean(), sentence: Type.String() },
    {
      description:
        'Whether the costs of earlier years show a season. Without evidence, the costs ahead have no season, and the sentence says so',
    },
  ),
})

export const CustomerOfEstimate = Type.Object(
  {
    name: Type.String(),
    decided: Type.Integer({
      description:
        'Its decided quotes of the last year, on all lanes, each load once, without losses that are not about price',
    }),
    won: Type.Integer(),
    differ: Type.Boolean({
      description:
        'false: the quotes of the brokerage do not show that customers differ, so the customer changes nothing',
    }),
    probability_of_all: { ...number, description: 'The probability without regard to the customer' },
  },
  { description: 'With customer: the customer, and what it changes' },
)

const share = (description: string) => Type.Number({ description, minimum: 0, maximum: 1 })

/** The rate type of the quotes that an estimate uses, spot or contract, and the shares from the other type. */
export const EstimatePool = Type.Object(
  {
    rate_type: Type.Enum([...rateTypes], { description: 'The requested rate type' }),
    answered_by: Type.Enum([...rateTypes], {
      description:
        'The rate type of the quotes used: the requested one, or the other one if it has no quotes',
    }),
    borrowed: {
      ...nullable(
        Type.Object({
          curve_share: share('Share of the win curve that is from outcomes of the other type'),
          rate_share: share("Share of reference_rate that is from the other type's rates on this lane"),
          outcome_weight: share(
            'The weight of an outcome of the other type; one of the requested type has 1',
          ),
          rate_difference_pct: Type.Number({
            description:
              'Percent by which rates of this type are above those of the other type on the same lane',
          }),
          lanes_of_both: Type.Integer({ description: 'Lanes with quotes of both types' }),
        }),
      ),
      description:
        'What is taken from quotes of the other type, and what was learned about the difference. null: nothing',
    },
  },
  { description: 'The quotes that the estimate is from' },
)

export const Estimate = Type.Object({
  pool: EstimatePool,
  probability: { ...number, description: 'Calibrated win probability at proposed_rate' },
  interval_80: nullable(Interval),
  interval_95: nullable(Interval),
  reference_rate: {
    ...number,
    description: "The lane's current market level, estimated from your own quotes",
  },
  equipment: { ...nullable(Type.String()), description: 'The equipment the estimate is for' },
  miles: number,
  decided: Type.Integer(),
  won: Type.Integer(),
  used: Type.Object(
    {
      decided: Type.Integer(),
      won: Type.Integer(),
      newest_quoted_at: nullable(Type.String({ format: 'date-time' })),
    },
    {
      description:
        'The decided quotes of this lane that count in the estimate: not older than 600 days, and not left out. decided and won count all ages',
    },
  ),
  losses: Type.Object(
    {
      lost: Type.Integer({ description: 'Lost quotes among the decided ones of this lane' }),
      not_about_price: Type.Integer({
        description:
          'Those with another reason than the price. They lower the probability at every rate alike, and do not say that a rate was too high',
      }),
      about_price_share: Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'The share of such losses, over all lanes, that count as about the price, because their rates are higher than those of other quotes. 0: the reasons are taken at their word',
      }),
    },
    { description: "What the reasons of the lane's losses say" },
  ),
  customer: Type.Optional(CustomerOfEstimate),
  trust: Type.Enum([...trustLevels], {
    description:
      'How far the estimate can be trusted, from its interval, its scope and its age. none: there is no estimate',
  }),
  borrowed_share: {
    ...number,
    description: 'Share of the evidence from other lanes: 1 if this lane has no decided quotes',
  },
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
    description: 'Win probability times margin over the expected cost, at proposed_rate',
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
  undecided: {
    ...nullable(Type.Object({ quotes: Type.Integer(), if_lost: Type.Number(), if_won_alike: Type.Number() })),
    description:
      "How much the probability depends on the lane's pending quotes: the probability if all of them are lost, and if they are won as often as the lane's decided quotes. null: no quote of the lane is pending",
  },
  at_other_rates: Type.Array(
    Type.Object({
      rate: Type.Number(),
      probability: Type.Number(),
      points: Type.Number(),
      dollars: Type.Number(),
    }),
    {
      description:
        'The effect of a lower and a higher rate: change in percentage points of probability and in dollars of rate',
    },
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
  floored_rate: Type.Number({ description: 'The rate, raised to the floor if it is below the floor' }),
  floored_expected_margin: Type.Number(),
  at_stake: Type.Number({
    description: 'Expected margin lost by quoting proposed_rate instead of the best rate',
  }),
})

const shareOf = Type.Object({ share: Type.Number(), amount: Type.Number() })

/** The possible margins of the proposed rate, if the quote is won. */
export const MarginRisk = Type.Object({
  cost: Type.Number({ description: 'The truck cost around which the actual cost varies' }),
  cost_source: Type.Enum(['entered', 'expected'], {
    description: 'entered: estimated_cost of the request. expected: the expected cost of the lane',
  }),
  margin: Type.Object(
    { low: Type.Number(), median: Type.Number(), high: Type.Number() },
    { description: 'The margin at proposed_rate: 80 % of margins are between low and high' },
  ),
  loss_chance: Type.Number({ description: 'The chance that the truck costs more than proposed_rate' }),
  safe_rate: Type.Number({
    description: 'Below this rate, the chance of losing money is above one in ten',
  }),
  costs: Type.Array(shareOf, {
    description:
      'The distribution of the truck cost, lowest first: the share of such loads whose cost is at most the amount',
  }),
  own_loads: Type.Integer({
    description:
      'How many of your past loads show how far costs are from the expected one; older loads count less',
  }),
  sentence: Type.String(),
})

/** A quote that the numbers are based on, or an excluded quote with the reason. */
export const EvidenceQuote = Type.Object({
  lane_ref: Type.String(),
  equipment: Type.String(),
  rate: Type.Number(),
  outcome: Type.Enum(['won', 'lost', 'pending']),
  quoted_at: Type.String({ format: 'date-time' }),
  used_in: Type.Array(Type.Enum(['win_probability', 'suggested_rate', 'rate_band', 'estimate'])),
  left_out: Type.Array(Type.Object({ of: Type.String(), why: Type.String() })),
})
