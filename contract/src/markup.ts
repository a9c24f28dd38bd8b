import Type, { type Static, type TObject, type TProperties } from 'typebox'
import { endpoint } from './endpoint.ts'
import { CurvePoint, Estimate, EvidenceQuote, MarginRisk, markupExtras, Optimum } from './estimate.ts'
import { equipment, includeOf, nullable, oneOf, place, positiveDollars, text, wholeNumber } from './fields.ts'
import { commonMembers } from './insight-extras.ts'
import { pageSizeDefault, pageSizeMax } from './limits.ts'
import { MarketReference } from './market-reference.ts'
import { AppliedRules } from './pricing-rules.ts'
import { sealedAdvice } from './quoted-details.ts'
import { askedPool } from './rate-types.ts'

export const confidences = ['high', 'medium', 'low', 'none'] as const
export const winProbabilityMethods = ['at_or_below', 'literal', 'revealed'] as const

const number = nullable(Type.Number())

const echo = {
  origin: Type.String(),
  destination: Type.String(),
  equipment: nullable(Type.String()),
  proposed_rate: Type.Number(),
  market_rate: number,
}

/** The counts and the quotes that the numbers are based on. */
export const MarkupEvidence = Type.Object(
  { quotes: Type.Array(EvidenceQuote), quotes_page: Type.Integer(), quotes_pages: Type.Integer() },
  {
    additionalProperties: true,
    description: 'With include=evidence: the counts and the quotes behind each number',
  },
)

export const RateBand = Type.Object({ floor: number, median: number, ceiling: number })

const extras = {
  ...commonMembers,
  estimate: Type.Optional(Estimate),
  curve: Type.Optional(Type.Array(CurvePoint, { description: 'With include=curve, cheapest first' })),
  optimum: Type.Optional(nullable(Optimum)),
  evidence: Type.Optional(MarkupEvidence),
  market: Type.Optional(MarketReference),
  rules: Type.Optional(AppliedRules),
  risk: Type.Optional({
    ...nullable(MarginRisk),
    description: 'With include=risk. null: no truck cost is known, expected or sent',
  }),
}

/** The response, with an echo of its query. */
function answerOf<Query extends TObject, More extends TProperties>(query: Query, more: More) {
  return Type.Union([
    Type.Object({
      found: Type.Literal(true),
      query,
      win_probability: number,
      confidence: Type.Enum([...confidences]),
      markup_pct: number,
      suggested_rate: number,
      rate_band: RateBand,
      verdict: Type.String(),
      ...extras,
      ...more,
    }),
    Type.Object({
      found: Type.Literal(false),
      query,
      confidence: Type.Literal('none'),
      ...extras,
      ...more,
    }),
  ])
}

/** The result for a lane of a batch. `proposed_rate` is null if none was sent and none can be suggested. */
export const markupOfBatch = answerOf(
  Type.Object({
    ...echo,
    proposed_rate: nullable(Type.Number({ description: 'The rate as sent, else the suggested rate' })),
  }),
  {},
)

export type MarkupOfBatch = Static<typeof markupOfBatch>

export const markup = endpoint({
  name: 'markup',
  method: 'GET',
  path: '/api/integrations/insights/markup',
  summary: 'Win probability, suggested rate and rate band',
  description:
    'Compares a proposed rate with the quotes that this brokerage won and lost on the exact city pair (and equipment, if given). win_probability is the share won of the quotes at this rate or lower. It describes the past and is not a forecast. The answer has the members listed as required; include adds others.',
  tag: 'Integration',
  who: { kind: 'service', signed: false, scope: 'read' },
  query: Type.Object({
    origin: place('Pickup city and state'),
    destination: place('Delivery city and state'),
    equipment: Type.Optional(equipment('Equipment code; all types if absent')),
    rate_type: askedPool,
    proposed_rate: positiveDollars('The rate in dollars being considered'),
    market_rate: Type.Optional(
      positiveDollars('External market rate. If given, it is the reference of markup_pct'),
    ),
    reference: Type.Optional(
      oneOf(
        'The reference of markup_pct: median (the default) is the median of the rates quoted on the lane; market is the saved market rate, or the median if none is usable. Not together with market_rate',
        ['median', 'market'],
      ),
    ),
    estimated_cost: Type.Optional(
      positiveDollars('The truck cost that you expect. If given, include=estimate,optimum,risk use it'),
    ),
    customer: Type.Optional(
      text(
        'The customer that the quote is for, in any spelling. include=rules applies the rules for it, and include=estimate,curve,optimum are for it. The count in win_probability stays that of all customers',
      ),
    ),
    include: Type.Optional(includeOf(markupExtras, 'basis,estimate')),
    evidence_page: Type.Optional(wholeNumber('Page of evidence.quotes, from 1', 1, 1_000_000)),
    evidence_limit: Type.Optional(
      wholeNumber(`Quotes per page of evidence; default ${pageSizeDefault}`, 1, pageSizeMax),
    ),
  }),
  status: 200,
  cacheSeconds: 300,
  answer: answerOf(Type.Object(echo), {}),
  examples: {
    query: { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', proposed_rate: 2150 },
    answer: {
      found: true,
      query: {
        origin: 'Dallas, TX',
        destination: 'Atlanta, GA',
        equipment: 'V',
        proposed_rate: 2150,
        market_rate: null,
      },
      win_probability: 0.63,
      confidence: 'medium',
      markup_pct: 6.2,
      suggested_rate: 1910,
      rate_band: { floor: 1800, median: 2025, ceiling: 2250 },
      verdict: 'At $2,150 you won 63 % of the 8 decided quotes at this rate or lower.',
    },
  },
})

const { cacheSeconds: _, ...uncached } = markup

/** Markup for the dashboard. Not cached, so that a changed outcome is visible immediately. */
export const quoteAdvice = endpoint({
  ...uncached,
  name: 'quote-advice',
  path: '/api/advice/markup',
  summary: 'Advice on a rate, for the quote desk',
  description: `The same response as ${markup.path}, for a person signed in to the dashboard. ${markup.description}`,
  answer: answerOf(Type.Object(echo), {
    advice: Type.Optional(sealedAdvice('With include=estimate, curve, optimum, risk or rules. ')),
  }),
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
})
