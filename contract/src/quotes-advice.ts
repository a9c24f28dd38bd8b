import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { CurvePoint, Estimate, MarginRisk, Optimum, trustLevels } from './estimate.ts'
import { equipment, includeOf, loadedMiles, nullable, place, positiveDollars, text } from './fields.ts'
import { ItemFieldError } from './insight-batch.ts'
import { quoteRequestBytesMax, quotesPerRequestMax } from './limits.ts'
import { sentStops } from './load-modes.ts'
import { AppliedRules, OutsideRules } from './pricing-rules.ts'
import { quotedDetails, sealedAdvice } from './quoted-details.ts'
import { quotedCharges } from './rate-basis.ts'
import { RateWarnings } from './rate-warnings.ts'

const exampleRules = {
  minimum: null,
  target: null,
  maximum: null,
  rounding: { to: 25, rule_id: 3, because: 'over 700 miles' },
  validity: null,
  rate: 2275,
  verdict: 'within' as const,
  reasons: [],
  explanation: ['Rounded up to $25, because: over 700 miles.'],
}

export const adviceExtras = ['curve', 'risk'] as const
export type AdviceExtra = (typeof adviceExtras)[number]

/** One quote of the quote desk, before it is saved. Each is validated separately. */
export const deskQuote = Type.Object({
  origin: place('Pickup city and state'),
  destination: place('Delivery city and state'),
  stops: sentStops,
  equipment: Type.Optional(equipment('Equipment code; all types if absent')),
  quoted_rate: Type.Optional(
    positiveDollars(
      'The rate in dollars being considered. If absent, the rate to quote is used (the best rate, or without a cost the going rate), else the going rate',
    ),
  ),
  estimated_cost: Type.Optional(positiveDollars('The truck cost that you expect')),
  miles: Type.Optional(
    loadedMiles(
      'Loaded miles. Used if they are within 25 % of the distance that the service measures, or if it measures none',
    ),
  ),
  rate_type: quotedDetails.rate_type,
  mode: quotedDetails.mode,
  ...quotedCharges,
  include: Type.Optional(includeOf(adviceExtras, 'curve,risk')),
  counter_offer: Type.Optional(
    Type.Object(
      {
        refused_rate: positiveDollars('The rate that the customer refused'),
        counter_rate: positiveDollars('The lower rate that the customer named instead'),
      },
      {
        description:
          'Asks for the chance after a counter-offer, whose rates are on the terms of quoted_rate. Without quoted_rate, the result is for suggested_rate',
        'x-expected': 'an object with refused_rate and counter_rate',
      },
    ),
  ),
})

/** The chance of a rate after the customer refused a rate and named a lower one. */
const AfterCounterOffer = Type.Object({
  win_probability: {
    ...nullable(Type.Number()),
    description:
      'The chance of winning at the rate: 1 at counter_rate, 0 at refused_rate. Between them it falls as the win curve does, and is lower by the chance that the customer refuses any increase. null: there is nothing to estimate it from',
  },
  interval_80: nullable(Type.Object({ low: Type.Number(), high: Type.Number() })),
  trust: nullable(Type.Enum([...trustLevels])),
  suggested_rate: {
    ...nullable(Type.Number()),
    description:
      'The rate between the two with the best expected margin, within the rules if possible, on the terms of quoted_rate; the middle if no cost is known. At least one percent above counter_rate, or half of the difference; null if the two are within four dollars, or if each such rate is below the cost',
  },
})

/** The conversion of a quote's amounts to the brokerage's terms, for comparison. */
export const QuoteConversion = Type.Object({
  times: Type.Number({ description: 'US dollars per dollar of the quote' }),
  plus: Type.Number({ description: 'Then this is added: the charges, or minus the charges' }),
  by: {
    ...nullable(Type.Enum(['charges', 'schedule', 'exchange'])),
    description:
      'What it is converted by: its own fuel charge, the fuel schedule of today, or the exchange rate of today; null: as it is',
  },
})

export const adviseQuotes = endpoint({
  name: 'advise-quotes',
  method: 'POST',
  path: '/api/advice/lanes',
  summary: 'Advice on all quotes of a quote request, for the quote desk',
  description: `Returns for each of 1 to ${quotesPerRequestMax} quotes the chance of winning, the margin, the best rate, and the warnings about its rate, in one call. An invalid quote does not affect the others: its result has status 422. Nothing is saved.`,
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  bodyBytesMax: quoteRequestBytesMax,
  isRead: true,
  itemsOf: 'lanes',
  body: Type.Object({
    customer: Type.Optional(
      text('The customer, in any spelling. The rules for it apply, and the estimates are for it'),
    ),
    lanes: Type.Array(deskQuote, {
      minItems: 1,
      maxItems: quotesPerRequestMax,
      'x-expected': `a list of 1 to ${quotesPerRequestMax} quotes`,
    }),
  }),
  status: 200,
  answer: Type.Object({
    results: Type.Array(
      Type.Union([
        Type.Object({
          index: Type.Integer({ description: 'Index of the quote in the request, from 0' }),
          status: Type.Literal(200),
          rate: nullable(
            Type.Number({ description: 'The rate that the estimate is for; null if there is none' }),
          ),
          not_priced: Type.Optional(
            Type.String({
              description:
                'Why the load has no price: it has stops, or another mode than truckload. Absent for a direct truckload. Such a result has no estimate and no optimum; pricing rules apply to the cost that was sent',
            }),
          ),
          estimate: {
            ...nullable(Estimate),
            description:
              'probability is null if there is not enough to go on; flags and sentence say why, and what would change it. null: a load without a price',
          },
          optimum: nullable(Optimum),
          warnings: RateWarnings,
          outside_rules: OutsideRules,
          rules: AppliedRules,
          curve: Type.Optional(Type.Array(CurvePoint, { description: 'With include=curve, cheapest first' })),
          risk: Type.Optional({
            ...nullable(MarginRisk),
            description: 'With include=risk. null: no truck cost is known, expected or sent',
          }),
          advice: sealedAdvice(),
          conversion: {
            ...nullable(QuoteConversion),
            description:
              'How quoted_rate and estimated_cost become amounts on the default basis of the brokerage in US dollars, which all other amounts of the result are, except suggested_rate. null: they cannot be compared, because the fuel charge or the exchange rate of today is not known',
          },
          counter_offer: {
            ...nullable(AfterCounterOffer),
            description: 'null without counter_offer in the request, and for a load without a price',
          },
        }),
        Type.Object({
          index: Type.Integer(),
          status: Type.Literal(422),
          detail: Type.String(),
          errors: Type.Array(ItemFieldError),
        }),
      ]),
    ),
  }),
  examples: {
    body: {
      lanes: [
        { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 250 },
        { origin: 'Chicago, XX', destination: 'Memphis, TN' },
      ],
    },
    answer: {
      results: [
        {
          index: 0,
          status: 200,
          rate: 250,
          estimate: null,
          optimum: null,
          warnings: [
            {
              code: 'below_cost',
              field: 'quoted_rate',
              detail: '$250 is $1,555 below the expected cost of $1,805.',
            },
          ],
          outside_rules: [],
          rules: exampleRules,
          advice: 'mW1vKc0yq3oZ…',
          conversion: { times: 1, plus: 0, by: null },
          counter_offer: null,
        },
        {
          index: 1,
          status: 422,
          detail: 'origin must be a city and a state of the US, Canada or Mexico.',
          errors: [
            {
              pointer: '/origin',
              code: 'invalid',
              detail: 'origin must be a city and a state of the US, Canada or Mexico.',
            },
          ],
        },
      ],
    },
  },
})
