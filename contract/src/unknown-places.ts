import Type, { type Static } from 'typebox'
import { unknownPlacesLookedUpMax } from './limits.ts'

const UnknownPlace = Type.Object({
  parameter: Type.Enum(['origin', 'destination']),
  sent: Type.String({ description: 'The place as sent' }),
  closest: Type.Array(Type.String(), {
    description: `Known places with a similar spelling, closest first, at most 5. Empty if there are none, and in a batch or a push after the first ${unknownPlacesLookedUpMax} unknown places`,
  }),
})

const notKnown =
  'origins and destinations that are not known places, so that they may be misspelled. Quotes do not make a place known'

/** Origins and destinations that may be misspelled. If so, the response does not cover the intended lane. */
export const UnknownPlaces = Type.Array(UnknownPlace, {
  description: `With include=places: ${notKnown}. Empty if there are none.`,
})
export type UnknownPlaces = Static<typeof UnknownPlaces>

/** Origins and destinations of a pushed quote that may be misspelled. The quote is saved as it was sent. */
export const UnknownPlacesOfItem = Type.Array(UnknownPlace, {
  description: `The ${notKnown}. The quote is saved as sent: correct a misspelled place by pushing the quote again. Absent if there are none`,
})
