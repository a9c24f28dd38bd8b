import { type FieldError, invalid } from '#contract/errors.ts'
import { equipmentCode, equipmentFault } from '#engine/equipment.ts'
import { roadMiles } from '#engine/miles.ts'
import type { Place } from '#engine/place.ts'
import { type LocatedPlace, locate } from '#geography/locate.ts'
import { nearestSpellings } from '#geography/nearest-spellings.ts'
import { placeName, readAnyPlace } from '#geography/read-place.ts'
import type { NewLane } from '../database/queries/index.ts'

/** Where a field stands in what was sent: a pointer into the body, or the name of a query parameter. */
type At = Pick<FieldError, 'pointer' | 'parameter'>

function fieldName(at: At): string {
  return (
    at.parameter ??
    (at.pointer ?? '')
      .replace(/^\//, '')
      .replace(/\/(\d+)/g, '[$1]')
      .replaceAll('/', '.')
  )
}

/** To look for what was meant takes some milliseconds each: the first few wrong places of a request get it. */
export const placesMeantMax = 4

/**
 * Reads a place (see `readAnyPlace`); adds an error that says what would be right and answers null when it is none. With
 * `guess` it looks for what was meant, too.
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

/** The key of a place, as lanes keep it for matching. */
export function readPlaceKey(text: string, at: At, errors: FieldError[]): string | null {
  const place = readPlaceAt(text, at, errors)
  return place === null ? null : knownOrFolded(place).key
}

export function readEquipment(text: string, at: At, errors: FieldError[]): string | null {
  const code = equipmentCode(text)
  if (code === null) {
    errors.push({
      ...at,
      code: 'invalid',
      detail: `${fieldName(at)} ${equipmentFault(text)}.`,
    })
  }
  return code
}

/** The lane that a read asks about: both ends, and the code of the equipment when one is named. */
export interface AskedLane {
  readonly origin: KnownPlace
  readonly destination: KnownPlace
  readonly equipmentCode: string | null
  /** Both ends as they were read. */
  readonly places: { readonly origin: Place; readonly destination: Place }
}

/**
 * Reads the lane of a query, or of a lane in a body. Throws a 422 that names every parameter (or field) that is wrong.
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

/** Places by the text they were asked by: the same few thousand cities are asked about all day long. */
const askedPlaces = new Map<string, AskedPlace>()
/** Some ten megabytes of them. */
const askedPlacesMax = 50_000

function readAskedPlace(text: string, at: At, errors: FieldError[], guess: boolean): AskedPlace | null {
  const asked = askedPlaces.get(text)
  if (asked !== undefined) return asked
  // A part of a text keeps the whole in memory: here an address of 8 KiB, most of it padding if somebody means harm.
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
 * Both ends of a lane as the database keeps them: a known place goes by its own name and its one key, whatever the
 * spelling; an unknown one by the city as written and its folded text. Miles are those given, else our own estimate, else unknown. Whoever asks for thousands of lanes hands
 * in a `where` that remembers.
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

/** A place as it is looked up: a known one by its own key, state and market, an unknown one by its folded text. */
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
 * Reads both ends of a lane to be quoted. A city nobody knows that is spelled much like one we do know is refused with the
 * spellings that may have been meant, unless the caller says that it is meant so; never is another city put in its place.
 */
export function readLanePlaces(
  lane: { origin: string; destination: string; miles?: number },
  at: (field: 'origin' | 'destination') => At,
  errors: FieldError[],
  acceptUnknown: boolean,
): LanePlaces | null {
  const end = (field: 'origin' | 'destination') => {
    const place = readPlaceAt(lane[field], at(field), errors)
    if (place === null || acceptUnknown || locate(place) !== null) return place
    const meant = nearestSpellings(placeName(place, null))
    if (meant.length === 0) return place
    errors.push({
      ...at(field),
      code: 'unknown-place',
      suggestions: meant,
      detail: `${fieldName(at(field))} "${lane[field]}" is not a place we know. Did you mean ${meant.map((name) => `"${name}"`).join(' or ')}? If it is right as it is, send accept_unknown_places: true.`,
    })
    return null
  }
  const [origin, destination] = [end('origin'), end('destination')]
  if (origin === null || destination === null) return null
  return lanePlaces(origin, destination, lane.miles ?? null)
}
