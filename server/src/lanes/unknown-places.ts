import type { UnknownPlaces } from '#contract/unknown-places.ts'
import type { QuoteBook } from '#engine/book/quote-book.ts'
import type { Place } from '#engine/place.ts'
import { nearestSpellings } from '#geography/nearest-spellings.ts'
import { placeName } from '#geography/read-place.ts'
import type { AskedLane } from './lane-places.ts'

type End = 'origin' | 'destination'
const ends: readonly End[] = ['origin', 'destination']

/**
 * The ends of a lane without quotes that may be typing errors: no known place has the name, and the brokerage has no quote
 * from or to it.
 */
export function unknownEnds(book: QuoteBook, asked: AskedLane): readonly End[] {
  // Every known place has a market.
  return ends.filter((end) => asked[end].market === null && !book.hasPlace(asked[end].key))
}

/** Known places with a name similar to an unknown one, most similar first. */
export type FindClosest = (place: Place) => readonly string[]

const found = new Map<string, readonly string[]>()
/** About a few megabytes. */
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

/** The unknown ends of a lane, in the form of the API. */
export function unknownPlaces(
  sent: Readonly<Record<End, string>>,
  { places }: AskedLane,
  unknown: readonly End[],
  closest: FindClosest = closestFinder(),
): UnknownPlaces {
  return unknown.map((parameter) => ({
    parameter,
    sent: sent[parameter],
    closest: [...closest(places[parameter])],
  }))
}
