import Type from 'typebox'
import { ComparedBasis } from './rate-basis.ts'
import { pools } from './rate-types.ts'
import { UnknownPlaces } from './unknown-places.ts'

/**
 * The extras that `include` can add to both markup and lane insight: the basis of the amounts, the unknown places, and spot or
 * contract.
 */
export const commonExtras = ['basis', 'places', 'pool'] as const

export const RateTypeCounts = Type.Object({ spot: Type.Integer(), contract: Type.Integer() })

export const AnsweredPool = Type.Object(
  {
    rate_type: Type.Enum([...pools], { description: 'The quotes that the answer counts' }),
    because: Type.Enum(['rate_type', 'integration_pool', 'default_rate_type'], {
      description: 'What decided it: the parameter, or a setting of the brokerage',
    }),
    quotes: {
      ...RateTypeCounts,
      description: 'The quotes of the city pair, with the equipment if given, of each rate type',
    },
  },
  { description: 'With include=pool' },
)
export type AnsweredPool = Type.Static<typeof AnsweredPool>

/** The members that `commonExtras` add to an answer. Without `include`, an answer has none of them. */
export const commonMembers = {
  basis: Type.Optional({ ...ComparedBasis, description: 'With include=basis' }),
  unknown_places: Type.Optional(UnknownPlaces),
  pool: Type.Optional(AnsweredPool),
}
