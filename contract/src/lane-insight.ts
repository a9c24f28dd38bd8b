import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { equipment, includeOf, nullable, place } from './fields.ts'
import { commonExtras, commonMembers } from './insight-extras.ts'
import { MarketReference } from './market-reference.ts'
import { askedPool } from './rate-types.ts'

export const laneScopes = ['equipment', 'corridor', 'market', 'state_pair', 'region', 'tenant'] as const

/** The extras that `include` can add to an insight. */
export const insightExtras = [...commonExtras, 'evidence', 'market'] as const

const extras = {
  ...commonMembers,
  market: Type.Optional(MarketReference),
}

export const InsightQuery = Type.Object({
  origin: Type.String(),
  destination: Type.String(),
  equipment: nullable(Type.String()),
})

export const laneInsight = endpoint({
  name: 'lane-insight',
  method: 'GET',
  path: '/api/integrations/insights/lane',
  summary: 'Insight about a lane',
  description:
    "History, four scores, four signals and one sentence about a lane, from the brokerage's own quotes. Falls back to wider scopes, with trust decreasing; scope names the one that was used. The answer has the members listed as required; include adds others.",
  tag: 'Integration',
  who: { kind: 'service', signed: false, scope: 'read' },
  query: Type.Object({
    origin: place('Pickup city and state'),
    destination: place('Delivery city and state'),
    equipment: Type.Optional(
      equipment('Equipment code. If absent, the result covers all equipment types of the corridor'),
    ),
    rate_type: askedPool,
    include: Type.Optional(includeOf(insightExtras, 'basis,market')),
  }),
  status: 200,
  cacheSeconds: 900,
  answer: Type.Union([
    Type.Object({
      found: Type.Literal(true),
      query: InsightQuery,
      scope: Type.Enum([...laneScopes]),
      history: Type.Object({
        total_quotes: Type.Integer(),
        wins: Type.Integer(),
        losses: Type.Integer(),
        win_rate_pct: Type.Number(),
        months_active: Type.Integer(),
        avg_rate_usd: Type.Number(),
      }),
      scores: Type.Object({
        harmonic: Type.Number(),
        integral: Type.Number(),
        derivative: Type.Number(),
        correlation: Type.Number(),
      }),
      signals: Type.Object({
        strength: Type.Enum(['strong', 'moderate', 'weak', 'unproven']),
        trend: Type.Enum(['heating', 'steady', 'cooling', 'new']),
        consistency: Type.Enum(['reliable', 'mixed', 'erratic', 'unproven']),
        timing: Type.Enum(['aligned', 'neutral', 'misaligned', 'unknown']),
      }),
      summary: Type.String(),
      ...extras,
      evidence: Type.Optional(
        Type.Object({}, { additionalProperties: true, description: 'With include=evidence' }),
      ),
    }),
    Type.Object({
      found: Type.Literal(false),
      query: InsightQuery,
      ...extras,
    }),
  ]),
  examples: {
    query: { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' },
    answer: {
      found: true,
      query: { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' },
      scope: 'equipment',
      history: {
        total_quotes: 34,
        wins: 17,
        losses: 9,
        win_rate_pct: 65.4,
        months_active: 8,
        avg_rate_usd: 2012.44,
      },
      scores: { harmonic: 0.81, integral: 4.2, derivative: 0.58, correlation: 0.9 },
      signals: { strength: 'strong', trend: 'steady', consistency: 'reliable', timing: 'aligned' },
      summary: 'You have won 17 of 26 decided quotes on this lane.',
    },
  },
})

const { cacheSeconds: _, ...uncached } = laneInsight

/** Lane insight for the dashboard. Not cached, so that a changed outcome is visible immediately. */
export const laneAdvice = endpoint({
  ...uncached,
  name: 'lane-advice',
  path: '/api/advice/lane',
  summary: 'Insight about a lane, for the dashboard',
  description: `The same response as ${laneInsight.path}, for a person signed in to the dashboard. ${laneInsight.description}`,
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
})
