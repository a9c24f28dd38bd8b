import Type, { type Static } from 'typebox'
import { unknownPlacesLookedUpMax } from './limits.ts'

/** Origins and destinations that may be misspelled. If so, the response does not cover the intended lane. */
export const UnknownPlaces = Type.Array(
  Type.Object({
    parameter: Type.Enum(['origin', 'destination']),
    sent: Type.String({ description: 'The place as sent' }),
    closest: Type.Array(Type.String(), {
      description: `Known places with a similar spelling, closest first, at most 5. Empty if there are none, and in a batch after the first ${unknownPlacesLookedUpMax} unknown places`,
    }),
  }),
  {
    description:
      'With include=places: origins and destinations that are not known places and that this brokerage has not quoted. Empty if there are none.',
  },
)
export type UnknownPlaces = Static<typeof UnknownPlaces>
