import { type FieldError, invalid } from '#contract/errors.ts'
import { milesMax } from '#contract/limits.ts'
import { decidedMiles } from '#engine/appraisal/decided-miles.ts'
import { repeatedStop, stopsOf, stopsText } from '#engine/load-stops.ts'
import { arePlausibleMiles, roadMiles, sumOfLegs } from '#engine/miles.ts'
import type { Place } from '#engine/place.ts'
import { type LocatedPlace, locate } from '#geography/locate.ts'
import { nearestSpellings } from '#geography/nearest-spellings.ts'
import { placeName, readAnyPlace } from '#geography/read-place.ts'
import { readEquipment as readEquipmentCell } from '../csv/index.ts'
import type { NewQuote } from '../database/queries/index.ts'
import type { QuoteRow } from '../database/schema/index.ts'

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

/** The key by which a place is compared with those of lanes. */
export function readPlaceKey(text: string, at: At, errors: FieldError[]): string | null {
  const place = readPlaceAt(text, at, errors)
  return place === null ? null : knownOrFolded(place).key
}

export function readEquipment(text: string, at: At, errors: FieldError[]): string | null {
  const read = readEquipmentCell(text)
  if ('value' in read) return read.value
  errors.push({ ...at, code: 'invalid', detail: `${fieldName(at)} must be ${read.wrong}.` })
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
/** The most cached places, which take about ten megabytes. */
const askedPlacesMax = 50_000

function readAskedPlace(text: string, at: At, errors: FieldError[], guess: boolean): AskedPlace | null {
  const asked = askedPlaces.get(text)
  if (asked !== undefined) return asked
  // Copy the text: a substring would hold the whole URL in memory, which an attacker could pad to 8 KiB.
  const own = Buffer.from(text).toString()
  const place = readPlaceAt(own, at, errors, guess)
  if (place === null) return null
  const read = { place, known: knownOrFolded(place) }
  if (askedPlaces.size >= askedPlacesMax) askedPlaces.clear()
  askedPlaces.set(own, read)
  return read
}

type LanePlaces = Pick<
  NewQuote,
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
 * The columns of a quote for both ends of its lane. A known place has its own name and key, whatever the
 * spelling. An unknown place has the city as written and its folded text as key. Miles are the given ones if they are plausible for
 * this lane, else our estimate, else unknown. To convert thousands of lanes, pass a `where` that caches.
 *
 * @example lanePlaces(readPlace('Ft. Worth, Texas'), readPlace('Atlanta, GA'), null).origin_key // 'fort worth|TX'
 */
export function lanePlaces(
  origin: Place,
  destination: Place,
  milesGiven: number | null,
  where: (place: Place) => LocatedPlace | null = locate,
): LanePlaces {
  const { stops: _, ...places } = routePlaces([origin, destination], milesGiven, where)
  return places
}

/**
 * Like `lanePlaces`, for a load with stops: its places in the order of the route, from the origin to the destination. The miles are
 * those of all legs.
 */
export function routePlaces(
  route: readonly Place[],
  milesGiven: number | null,
  where: (place: Place) => LocatedPlace | null = locate,
): LanePlaces & { readonly stops: string | null } {
  const [origin, destination] = [route[0], route.at(-1)]
  if (origin === undefined || destination === undefined) throw new Error('A route has two ends.')
  const located = route.map(where)
  const [from = null, to = null] = [located[0], located.at(-1)]
  const known = located.filter((place) => place !== null)
  const measured = measuredAlong(located)
  const isGiven =
    milesGiven !== null && (known.length < located.length || arePlausibleMiles(milesGiven, ...known))
  const names = route.map((place, nth) => placeName(place, located[nth] ?? null))
  return {
    origin: names[0] ?? '',
    destination: names.at(-1) ?? '',
    origin_key: from?.key ?? origin.key,
    destination_key: to?.key ?? destination.key,
    origin_state: from?.state ?? origin.state,
    destination_state: to?.state ?? destination.state,
    origin_market: from?.market ?? null,
    destination_market: to?.market ?? null,
    miles: isGiven ? milesGiven : measured,
    stops: stopsText(names.slice(1, -1)),
  }
}

/**
 * The miles of a route as this service measures them, in tenths of a mile. Null if one of its places is unknown, or if it is longer than
 * any distance that can be sent: its stops are not in their order.
 */
function measuredAlong(route: readonly (LocatedPlace | null)[]): number | null {
  const known = route.filter((place) => place !== null)
  if (known.length < route.length) return null
  const miles = Math.round(sumOfLegs(known, roadMiles) * 10) / 10
  return miles <= milesMax ? miles : null
}

/** The location of a place by its stored name, such as `Dallas, TX`, or by its key, such as `dallas|TX`. */
function locateStored(text: string, separator: ', ' | '|'): LocatedPlace | null {
  const end = text.lastIndexOf(separator)
  return locate({ city: text.slice(0, end), state: text.slice(end + separator.length) })
}

const locateStops = (stops: string | null | undefined) =>
  stopsOf(stops).map((name) => locateStored(name, ', '))

/**
 * The miles between two places by their keys, by way of the stops, measured by this service; null if a place is unknown.
 *
 * @example milesBetweenKeys('dallas|TX', 'atlanta|GA') // 857
 */
export function milesBetweenKeys(
  originKey: string,
  destinationKey: string,
  stops: string | null = null,
): number | null {
  return measuredAlong([
    locateStored(originKey, '|'),
    ...locateStops(stops),
    locateStored(destinationKey, '|'),
  ])
}

/**
 * The miles of a stored quote, and its places: by their keys, or in an event, which lacks them, by their names. An event from before
 * stops lacks these, too.
 */
type StoredMiles = Pick<QuoteRow, 'miles'> &
  Partial<Pick<QuoteRow, 'stops'>> &
  (Pick<QuoteRow, 'origin_key' | 'destination_key'> | Pick<QuoteRow, 'origin' | 'destination'>)

/**
 * The miles of a stored quote that every conversion, cost and rate per mile uses (`decidedMiles`); null if they are unknown.
 *
 * @example countedMiles({ origin: 'Dallas, TX', destination: 'Atlanta, GA', miles: 2_000 }) // 857
 */
export function countedMiles(quote: StoredMiles): number | null {
  const measured =
    'origin_key' in quote
      ? milesBetweenKeys(quote.origin_key, quote.destination_key, quote.stops)
      : measuredAlong([
          locateStored(quote.origin, ', '),
          ...locateStops(quote.stops),
          locateStored(quote.destination, ', '),
        ])
  return decidedMiles({ typed: quote.miles, measured })
}

/** The columns by which a place is matched: key, state and market. An unknown place has its folded text as key, and no market. */
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

/**
 * Parses the places of a lane to quote. An unknown city with a name similar to a known one is rejected with suggestions,
 * unless the caller confirms the spelling. A city is never replaced by another one. Each stop is on the route once; origin and
 * destination may be the same place.
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
  const stops = sent.map((text, nth) => readStop(text, atStop(nth), errors, acceptUnknown))
  if (origin === null || destination === null || stops.includes(null)) return null
  const route = [origin, ...stops.filter((stop) => stop !== null), destination]
  const again = stops.length === 0 ? null : repeatedStop(route.map((place) => knownOrFolded(place).key))
  if (again !== null) {
    errors.push({
      ...atStop(again),
      code: 'invalid',
      detail: `${fieldName(atStop(again))} must be a place that is not on the route yet; it is ${JSON.stringify(sent[again])}. Two stops in one city are one stop.`,
    })
    return null
  }
  return routePlaces(route, lane.miles ?? null)
}

/** The places and the miles of a quote, as they were sent. */
interface SentRoute {
  readonly origin: string
  readonly destination: string
  readonly stops?: readonly string[]
  readonly miles?: number
}

function readEnd(text: string, at: At, errors: FieldError[], acceptUnknown: boolean): Place | null {
  const place = readPlaceAt(text, at, errors)
  if (place === null || acceptUnknown || locate(place) !== null) return place
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

/** Reads a stop. Semicolons separate stops where they are saved, so a name has none. */
function readStop(text: string, at: At, errors: FieldError[], acceptUnknown: boolean): Place | null {
  const place = readEnd(text, at, errors, acceptUnknown)
  if (place === null || !placeName(place).includes(';')) return place
  errors.push({
    ...at,
    code: 'invalid',
    detail: `${fieldName(at)} must be one place, without a semicolon; it is ${JSON.stringify(text.toWellFormed())}.`,
  })
  return null
}
