import Type from 'typebox'
import { unknownPlacesLookedUpMax } from './limits.ts'

/** An end of the lane that may be a typing error: the answer then has nothing of the lane that was meant. */
export const UnknownPlaces = Type.Array(
  Type.Object({
    parameter: Type.Enum(['origin', 'destination']),
    sent: Type.String({ description: 'As it was sent' }),
    closest: Type.Array(Type.String(), {
      description: `Known places spelled much like it, closest first, at most 5; empty where there is none, and in a batch beyond the first ${unknownPlacesLookedUpMax} unknown places`,
    }),
  }),
  {
    description:
      'Ends of the lane that are no known place and that this brokerage has not quoted. Absent when there are none.',
  },
)
