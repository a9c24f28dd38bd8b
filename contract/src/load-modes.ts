import Type from 'typebox'
import { nullable, oneOf, place } from './fields.ts'
import { stopsMax } from './limits.ts'

/** How a load moves. */
export const modes = ['truckload', 'partial', 'ltl', 'drayage', 'intermodal'] as const

/** The mode of a load, in an answer. */
export const shownMode = {
  ...nullable(Type.Enum([...modes])),
  description: 'How the load moves. null: a truckload',
}

/** The stops between origin and destination, in an answer: none for most loads. */
export const shownStops = Type.Array(Type.String(), {
  description:
    'The places between origin and destination, in their order. Quotes with stops, or of another mode than truckload, are in no statistic of a lane',
})

/** The mode of a load, in a request. */
export const sentMode = Type.Optional(
  oneOf(
    'How the load moves; a truckload if absent. Only truckloads without stops are priced and in the statistics of a lane',
    modes,
  ),
)

/** The loads that a list can select: those of a mode, or those with stops. */
const listedModes = [...modes, 'multi_stop'] as const

/** Selects loads in lists by how they move. */
export const ofMode = Type.Optional(
  oneOf(
    'Only loads of this mode; truckload: also with stops, and those that do not say a mode; multi_stop: only loads with stops between origin and destination, of any mode. All if absent',
    listedModes,
  ),
)

/** The stops between origin and destination, in a request. */
export const sentStops = Type.Optional(
  Type.Array(place('A stop, such as Memphis, TN'), {
    maxItems: stopsMax,
    description: `The places between origin and destination, in their order, each once; none if absent. With origin and destination, a load has 2 to ${stopsMax + 2} stops`,
    'x-expected': `a list of at most ${stopsMax} places between origin and destination: a load has at most ${stopsMax + 2} stops`,
  }),
)
