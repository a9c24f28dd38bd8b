import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { Estimate, trustLevels } from './estimate.ts'
import { laneRef, nullable, positiveDollars } from './fields.ts'
import { OutsideRules } from './pricing-rules.ts'
import { laneRefParams } from './quote-requests.ts'
import { currencies, rateBases } from './rate-basis.ts'
import { RateWarnings } from './rate-warnings.ts'

const money = nullable(Type.Number())
const Range = Type.Object({ low: Type.Number(), high: Type.Number() })

const choice = {
  rate: Type.Number(),
  win_probability: {
    ...nullable(Type.Number()),
    description:
      'The chance after the counter-offer: 1 at the rate that the customer named, 0 at the quoted rate. null: there is nothing to estimate it from',
  },
  interval_80: nullable(Range),
  margin: { ...money, description: 'The rate minus the truck cost; null without a cost' },
  margin_pct: { ...money, description: 'In percent of the rate' },
  expected_margin: { ...money, description: 'The chance times the margin' },
  warnings: RateWarnings,
  outside_rules: OutsideRules,
}

/** A way to answer a counter-offer. */
export const CounterChoice = Type.Object(choice)

export const counterChoices = ['accept', 'counter', 'walk_away'] as const

export const counterAdvice = endpoint({
  name: 'counter-advice',
  method: 'GET',
  path: '/api/lanes/{lane_ref}/counter-advice',
  summary: 'Advice on a counter-offer of a customer',
  description:
    'The customer named a lower rate than the quoted one. Compares accepting it, countering with a rate between the two, and walking away: the chance, the margin and the expected margin of each, for the customer of the quote. The customer would pay the named rate and refused the quoted one, so the chance of a rate between them is the share of the win curve that is left, less the chance that the customer refuses any increase. Nothing is stored: requote and set-outcome keep the choice with counter_rate.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  params: laneRefParams,
  query: Type.Object({
    counter_rate: positiveDollars(
      'The rate that the customer named, below the quoted rate, in its currency and on its basis',
    ),
    rate: Type.Optional(
      positiveDollars(
        'The rate that you would counter with; if absent, the one with the best expected margin between the two',
      ),
    ),
    estimated_cost: Type.Optional(
      positiveDollars(
        'The truck cost that you expect. If absent, that of the quote, or else the expected one',
      ),
    ),
  }),
  status: 200,
  answer: Type.Object({
    lane_ref: laneRef,
    quoted_rate: Type.Number(),
    counter_rate: Type.Number(),
    currency: Type.Enum([...currencies], { description: 'The currency of all amounts: that of the quote' }),
    basis: Type.Enum([...rateBases], { description: 'What all amounts include: as the quote' }),
    comparable: Type.Boolean({
      description:
        'false: the quote cannot be compared with your other quotes, because its fuel charge or the exchange rate of today is not known. Then there are no chances',
    }),
    cost: nullable(Type.Object({ amount: Type.Number(), source: Type.Enum(['entered', 'expected']) })),
    accept: CounterChoice,
    counter: {
      ...nullable(CounterChoice),
      description: 'With the sent rate, or else the suggested one; null if no rate is between the two',
    },
    suggested_rate: {
      ...nullable(Type.Number()),
      description:
        'The rate between the two with the best expected margin, within the rules if possible; the middle if no cost is known. At least one percent above the named rate, or half of the difference; null if the two are within four dollars',
    },
    best: {
      ...nullable(Type.Enum([...counterChoices])),
      description:
        'The choice with the best expected margin that no rule blocks; walking away earns nothing. null: no cost is known',
    },
    curve: Type.Array(Type.Object({ rate: Type.Number(), probability: Type.Number(), interval_80: Range }), {
      description: 'The chance from the named rate to the quoted one',
    }),
    trust: nullable(Type.Enum([...trustLevels])),
    estimate: {
      ...nullable(Estimate),
      description: 'The estimate for the quoted rate without the counter-offer',
    },
    sentence: Type.String(),
  }),
  problems: ['lane-not-found', 'state-conflict'],
  examples: {
    query: { counter_rate: 2050 },
    answer: {
      lane_ref: '48211093754-1-1',
      quoted_rate: 2150,
      counter_rate: 2050,
      currency: 'USD',
      basis: 'all_in',
      comparable: true,
      cost: { amount: 1820, source: 'entered' },
      accept: {
        rate: 2050,
        win_probability: 1,
        interval_80: { low: 1, high: 1 },
        margin: 230,
        margin_pct: 11.2,
        expected_margin: 230,
        warnings: [],
        outside_rules: [],
      },
      counter: {
        rate: 2071,
        win_probability: 0.59,
        interval_80: { low: 0.45, high: 0.72 },
        margin: 251,
        margin_pct: 12.1,
        expected_margin: 148.09,
        warnings: [],
        outside_rules: [],
      },
      suggested_rate: 2071,
      best: 'accept',
      curve: [
        { rate: 2050, probability: 1, interval_80: { low: 1, high: 1 } },
        { rate: 2050.01, probability: 0.75, interval_80: { low: 0.59, high: 0.89 } },
        { rate: 2150, probability: 0, interval_80: { low: 0, high: 0 } },
      ],
      trust: 'fair',
      estimate: null,
      sentence:
        'Accepting $2,050 earns $230. Countering with $2,071 earns $251 if the customer agrees, on average $148.',
    },
  },
})
