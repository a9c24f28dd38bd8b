import { stopsText } from '#engine/load-stops.ts'
import { isNotGiven } from '#engine/not-given.ts'
import { readState } from '#engine/place.ts'
import { placeName, readAnyPlace, readPlaceParts } from '#geography/read-place.ts'
import { type Cell, quoted, readSentStops, readText } from '../csv/index.ts'

/** Reads a place whose city is given: `TBD, TX` is none. */
export function readGivenPlace(text: string): ReturnType<typeof readAnyPlace> {
  const read = readAnyPlace(text)
  return 'value' in read && isNotGiven('city', read.value.city)
    ? { wrong: 'a city with its state, such as "Portland, OR"' }
    : read
}

/** Reads a city without its state. @example readCity('TBD') // { wrong: 'a city' } */
export function readCity(text: string): Cell<string> {
  return isNotGiven('city', text) || !/\p{L}/u.test(text) ? { wrong: 'a city' } : readText(text)
}

/** Reads a state alone, as its code. */
export function readStateCell(text: string): Cell<string> {
  const value = readState(text)
  return value === null ? { wrong: 'a state of the US, Canada or Mexico such as TX' } : { value }
}

/** Reads a ZIP code or a Canadian postal code alone, as its place. */
export function readZip(zip: string): ReturnType<typeof readPlaceParts> {
  return readPlaceParts({ city: null, state: null, zip })
}

/**
 * Reads the places between origin and destination, by their names as they are saved.
 *
 * @example readStops('memphis tn; Nashville, TN') // { value: 'Memphis, TN; Nashville, TN' }
 */
export function readStops(text: string): Cell<string | null> {
  const written = readSentStops(text)
  if ('wrong' in written) return written
  const names: string[] = []
  for (const one of written.value) {
    const read = readGivenPlace(one)
    if ('wrong' in read) return { wrong: `places; ${quoted(one)} is not ${read.wrong}` }
    names.push(placeName(read.value))
  }
  return { value: stopsText(names) }
}
