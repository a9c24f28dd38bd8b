import { type FieldError, invalid } from '#contract/errors.ts'
import { equipmentCode, equipmentFault, modeAsEquipment } from '#engine/equipment.ts'
import { repeatedStop, stopsText } from '#engine/load-stops.ts'
import { roadMiles } from '#engine/miles.ts'
import type { Place } from '#engine/place.ts'
import { type LocatedPlace, locate } from '#geography/locate.ts'
import { nearestSpellings } from '#geography/nearest-spellings.ts'
import { placeName, readAnyPlace } from '#geography/read-place.ts'
import type { NewLane } from '../database/queries/index.ts'

/** The location of a field in the request: a pointer into the body, or the name of a query parameter. */
type At = Pick<FieldError, 'pointer' | 'parameter'>

export function fieldName(at: At): string {
  return (
    at.parameter ??
    (at.pointer ?? '')
      .replace(/^\//, '')
      .replace(/\/(\d+)/g, '[$1]')
      .replaceAll('/', '.')
  )
}

/** Suggestions take some milliseconds per place, so only the first few wrong places of a request get them. */
export const placesMeantMax = 4

/**
 * Parses a place (see `readAnyPlace`). If the text is not a place, adds an error and returns null. With `guess`, the error
 * suggests similar places.
 */
export function readPlaceAt(text: string, at: At, errors: FieldError[], guess = true): Place | null {
  const read = readAnyPlace(text)
  if ('value' in read) return read.value
  const suggestions = guess && errors.length < placesMeantMax ? nearestSpellings(text) : []
  errors.push({
    ...at,
    code: 'invalid',
    ...(suggestions.length === 0 ? {} : { suggestions }),
    detail: `${fieldName(at)} must be ${read.wrong}; it is ${JSON.stringify(text.toWellFormed())}.`,
  })
  return null
}

/** The key of a place that lanes are matched by. */
export function readPlaceKey(text: string, at: At, errors: FieldError[]): string | null {
  const place = readPlaceAt(text, at, errors)
  return place === null ? null : knownOrFolded(place).key
}

/** Parses the equipment of a filter or a lane that is asked about. */
export function readEquipment(text: string, at: At, errors: FieldError[]): string | null {
  const code = equipmentCode(text)
  if (code !== null) return code
  errors.push({ ...at, code: 'invalid', detail: `${fieldName(at)} must be ${equipmentFault(text)}.` })
  return null
}

/** Parses the equipment of a quote: a mode in its place is an error. */
export function readQuotedEquipment(text: string, at: At, errors: FieldError[]): string | null {
  const mode = modeAsEquipment(text)
  if (mode === null) return readEquipment(text, at, errors)
  errors.push({ ...at, code: 'invalid', detail: `${fieldName(at)} must be ${mode}.` })
  return null
}

/** The lane in a read request: both ends, and the equipment code if one is given. */
export interface AskedLane {
  readonly origin: KnownPlace
  readonly destination: KnownPlace
  readonly equipmentCode: string | null
  /** Both ends as parsed. */
  readonly places: { readonly origin: Place; readonly destination: Place }
}

/**
 * Parses the lane of a query, or of a body. Throws a 422 that lists every invalid parameter or field.
 *
 * @example readAskedLane({ origin: 'dallas, tx', destination: 'Atlanta, GA' }).equipmentCode // null
 */
export function readAskedLane(
  query: { readonly origin: string; readonly destination: string; readonly equipment?: string },
  at: (name: string) => At = inQuery,
  guess = true,
): AskedLane {
  const errors: FieldError[] = []
  const origin = readAskedPlace(query.origin, at('origin'), errors, guess)
  const destination = readAskedPlace(query.destination, at('destination'), errors, guess)
  const code = query.equipment === undefined ? null : readEquipment(query.equipment, at('equipment'), errors)
  if (origin === null || destination === null || errors.length > 0) throw invalid(errors)
  return {
    origin: origin.known,
    destination: destination.known,
    equipmentCode: code,
    places: { origin: origin.place, destination: destination.place },
  }
}

const inQuery = (name: string): At => ({ parameter: name })

interface AskedPlace {
  readonly place: Place
  readonly known: KnownPlace
}

/** A cache of parsed places by their text: most requests name one of a few thousand cities. */
const askedPlaces = new Map<string, AskedPlace>()
/** About ten megabytes. */
const askedPlacesMax = 50_000

function readAskedPlace(text: string, at: At, errors: FieldError[], guess: boolean): AskedPlace | null {
  const asked = askedPlaces.get(text)
  if (asked !== undefined) return asked
  // Copy the text: a substring keeps the whole URL in memory, which an attacker could pad to 8 KiB.
  const own = Buffer.from(text).toString()
  const place = readPlaceAt(own, at, errors, guess)
  if (place === null) return null
  const read = { place, known: knownOrFolded(place) }
  if (askedPlaces.size >= askedPlacesMax) askedPlaces.clear()
  askedPlaces.set(own, read)
  return read
}

type LanePlaces = Pick<
  NewLane,
  | 'origin'
  | 'destination'
  | 'origin_key'
  | 'destination_key'
  | 'origin_state'
  | 'destination_state'
  | 'origin_market'
  | 'destination_market'
  | 'miles'
>

/**
 * The columns that the database stores for both ends of a lane. A known place has its own name and key, whatever the
 * spelling. An unknown place has the city as written and its folded text as key. Miles are the given ones, else our estimate,
 * else unknown. To convert thousands of lanes, pass a `where` that caches.
 *
 * @example lanePlaces(readPlace('Ft. Worth, Texas'), readPlace('Atlanta, GA'), null).origin_key // 'fort worth|TX'
 */
export function lanePlaces(
  origin: Place,
  destination: Place,
  milesGiven: number | null,
  where: (place: Place) => LocatedPlace | null = locate,
): LanePlaces {
  const [from, to] = [where(origin), where(destination)]
  const measured = from === null || to === null ? null : Math.round(roadMiles(from, to) * 10) / 10
  return {
    origin: placeName(origin, from),
    destination: placeName(destination, to),
    origin_key: from?.key ?? origin.key,
    destination_key: to?.key ?? destination.key,
    origin_state: from?.state ?? origin.state,
    destination_state: to?.state ?? destination.state,
    origin_market: from?.market ?? null,
    destination_market: to?.market ?? null,
    miles: milesGiven ?? measured,
  }
}

/** The columns of a lane with the stops between its ends. The miles are the given ones, else those of its legs, else unknown. */
export function routePlaces(
  [origin, ...stops]: readonly [Place, ...Place[]],
  destination: Place,
  milesGiven: number | null,
  where: (place: Place) => LocatedPlace | null = locate,
): LanePlaces & { stops: string | null } {
  const ends = lanePlaces(origin, destination, milesGiven, where)
  if (stops.length === 0) return { ...ends, stops: null }
  const located = [origin, ...stops, destination].map(where)
  return {
    ...ends,
    miles: milesGiven ?? milesOfLegs(located, roadMiles),
    stops: stopsText(stops.map((stop, nth) => placeName(stop, located[nth + 1] ?? null))),
  }
}

/**
 * The miles of a route, to a tenth; null if one of its places is unknown.
 *
 * @param between the miles between two places
 */
export function milesOfLegs(
  places: readonly (LocatedPlace | null)[],
  between: (from: LocatedPlace, to: LocatedPlace) => number,
): number | null {
  let sum = 0
  for (const [nth, to] of places.entries()) {
    const from = places[nth - 1]
    if (to === null || from === null) return null
    if (from !== undefined) sum += between(from, to)
  }
  return Math.round(sum * 10) / 10
}

/** The miles between two places as stored, measured by this service; null if one of them is unknown. */
export function measuredMiles(origin: string, destination: string): number | null {
  const [from, to] = [readAnyPlace(origin), readAnyPlace(destination)]
  if (!('value' in from) || !('value' in to)) return null
  return lanePlaces(from.value, to.value, null).miles ?? null
}

/** The miles between two places by their keys, measured by this service; null if one of them is unknown. */
export function milesBetweenKeys(originKey: string, destinationKey: string): number | null {
  const placeOf = (key: string) => {
    const end = key.lastIndexOf('|')
    return { key, city: key.slice(0, end), state: key.slice(end + 1) }
  }
  return lanePlaces(placeOf(originKey), placeOf(destinationKey), null).miles ?? null
}

/** The matching columns of a place: key, state, and market of a known place; the folded text of an unknown one. */
export interface KnownPlace {
  readonly key: string
  readonly state: string
  readonly market: string | null
}

export function knownOrFolded(place: Place): KnownPlace {
  const located = locate(place)
  return {
    key: located?.key ?? place.key,
    state: located?.state ?? place.state,
    market: located?.market ?? null,
  }
}

/** What a quote says about its route. */
interface SentRoute {
  readonly origin: string
  readonly destination: string
  readonly stops?: readonly string[]
  readonly miles?: number
}

/**
 * Parses the places of a lane to quote. An unknown city with a name similar to a known one is rejected with suggestions,
 * unless the caller confirms the spelling. A city is never replaced by another one. Each stop is there once; origin and destination
 * may be the same place.
 */
export function readLanePlaces(
  { stops: sent = [], ...lane }: SentRoute,
  at: (field: string) => At,
  errors: FieldError[],
  acceptUnknown: boolean,
): ReturnType<typeof routePlaces> | null {
  const atStop = (nth: number) => at(`stops/${nth}`)
  const origin = readEnd(lane.origin, at('origin'), errors, acceptUnknown)
  const destination = readEnd(lane.destination, at('destination'), errors, acceptUnknown)
  const stops = sent.map((text, nth) => readEnd(text, atStop(nth), errors, acceptUnknown))
  if (origin === null || destination === null || stops.includes(null)) return null
  const route = [origin, ...stops.filter((stop) => stop !== null)] as const
  const again =
    stops.length === 0 ? null : repeatedStop([...route, destination].map((place) => knownOrFolded(place).key))
  if (again !== null) {
    errors.push({
      ...atStop(again),
      code: 'invalid',
      detail: `${fieldName(atStop(again))} must be a place that is not on the route yet; it is ${JSON.stringify(sent[again])}. Two stops in one city are one stop.`,
    })
    return null
  }
  return routePlaces(route, destination, lane.miles ?? null)
}

function readEnd(text: string, at: At, errors: FieldError[], acceptUnknown: boolean): Place | null {
  const place = readPlaceAt(text, at, errors)
  if (place === null) return null
  const isStop = /stops\/\d+$/.test(at.pointer ?? '')
  if (isStop && placeName(place, locate(place)).includes(';')) {
    errors.push({
      ...at,
      code: 'invalid',
      detail: `${fieldName(at)} must be one place, without a semicolon.`,
    })
    return null
  }
  if (acceptUnknown || locate(place) !== null) return place
  const meant = nearestSpellings(placeName(place, null))
  if (meant.length === 0) return place
  errors.push({
    ...at,
    code: 'unknown-place',
    suggestions: meant,
    detail: `${fieldName(at)} "${text}" is not a known place. Did you mean ${meant.map((name) => `"${name}"`).join(' or ')}? If the spelling is correct, send accept_unknown_places: true.`,
  })
  return null
}
