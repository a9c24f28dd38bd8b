import Type from 'typebox'
import { ComparedBasis } from './rate-basis.ts'
import { UnknownPlaces } from './unknown-places.ts'

/** What `include` can add to markup and lane insight alike: the basis of the amounts, and the unknown places. */
export const commonExtras = ['basis', 'places'] as const

/** The members that `commonExtras` add to an answer. Without `include`, an answer has none of them. */
export const commonMembers = {
  basis: Type.Optional({ ...ComparedBasis, description: 'With include=basis' }),
  unknown_places: Type.Optional(UnknownPlaces),
}
