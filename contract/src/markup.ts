import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { equipment, nullable, place, positiveDollars } from './fields.ts'

export const confidences = ['high', 'medium', 'low', 'none'] as const
export const winProbabilityMethods = ['at_or_below', 'literal', 'revealed'] as const

const number = nullable(Type.Number())

const query = Type.Object({
  origin: Type.String(),
  destination: Type.String(),
  equipment: nullable(Type.String()),
  proposed_rate: Type.Number(),
  market_rate: number,
})

export const markup = endpoint({
  name: 'markup',
  method: 'GET',
  path: '/api/integrations/insights/markup',
  summary: 'Win probability, suggested rate and rate band',
  description:
    'How a proposed rate compares with what this brokerage won and lost on the exact city pair (and equipment, when given). win_probability is the share won of what was quoted at this rate or lower: a description of the past, not a forecast.',
  tag: 'Integration',
  who: { kind: 'service', signed: false },
  query: Type.Object({
    origin: place('Pickup city and state'),
    destination: place('Delivery city and state'),
    equipment: Type.Optional(equipment('Equipment code; all types when absent')),
    proposed_rate: positiveDollars('The rate in dollars being considered'),
    market_rate: Type.Optional(
      positiveDollars('External market rate; the reference of markup_pct when given'),
    ),
    include: Type.Optional(
      Type.Refine(
        Type.String({
          description: 'Extras as a comma list: evidence',
          'x-expected': 'a comma list of evidence',
        }),
        (value) => value.split(',').every((part) => part.trim() === 'evidence'),
        () => 'include',
      ),
    ),
  }),
  status: 200,
  cacheSeconds: 300,
  answer: Type.Union([
    Type.Object({
      found: Type.Literal(true),
      query,
      win_probability: number,
      confidence: Type.Enum([...confidences]),
      markup_pct: number,
      suggested_rate: number,
      rate_band: Type.Object({ floor: number, median: number, ceiling: number }),
      verdict: Type.String(),
      evidence: Type.Optional(
        Type.Object({}, { additionalProperties: true, description: 'With include=evidence' }),
      ),
    }),
    Type.Object({ found: Type.Literal(false), query, confidence: Type.Literal('none') }),
  ]),
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
