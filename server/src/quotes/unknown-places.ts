import type { UnknownPlaces } from '#contract/unknown-places.ts'
import type { Place } from '#engine/place.ts'
import { nearestSpellings } from '#geography/nearest-spellings.ts'
import { placeName } from '#geography/read-place.ts'
import type { AskedLane } from './lane-places.ts'

type End = 'origin' | 'destination'
type Ends = Readonly<Record<End, string>>
const ends: readonly End[] = ['origin', 'destination']

/** Known places with a name similar to an unknown one, most similar first. */
export type FindClosest = (place: Place) => readonly string[]

const found = new Map<string, readonly string[]>()
/** The entries of the cache, which take a few megabytes. */
const foundMax = 10_000

/** @param lookupsMax how many names are searched for among all places; further names get cached results only */
export function closestFinder(lookupsMax = Number.POSITIVE_INFINITY): FindClosest {
  let left = lookupsMax
  return (place) => {
    const before = found.get(place.key)
    if (before !== undefined) return before
    if (left <= 0) return []
    left--
    const closest = nearestSpellings(placeName(place, null))
    if (found.size >= foundMax) found.clear()
    found.set(place.key, closest)
    return closest
  }
}

/**
 * The ends of a lane that may be typing errors, in the form of the API. A place does not become known by being quoted, because the
 * quotes may have the same error.
 */
export function unknownPlaces(
  sent: Ends,
  asked: AskedLane,
  closest: FindClosest = closestFinder(),
): UnknownPlaces {
  // An end without a market is unknown.
  return ends
    .filter((end) => asked[end].market === null)
    .map((parameter) => ({
      parameter,
      sent: sent[parameter],
      closest: [...closest(asked.places[parameter])],
    }))
}
