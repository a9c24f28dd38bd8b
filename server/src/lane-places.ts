import type { FieldError } from '#contract/errors.ts'
import { equipmentCode } from '#engine/equipment.ts'
import { type Place, readPlace } from '#engine/place.ts'
import type { NewLane } from './database/lanes.ts'

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

/** Reads `City, ST`; adds an error that says what would be right and answers null when it is not that. */
export function readPlaceAt(text: string, at: At, errors: FieldError[]): Place | null {
  const place = readPlace(text)
  if (place === null) {
    errors.push({
      ...at,
      code: 'invalid',
      detail: `${fieldName(at)} must be a city and a state of the US, Canada or Mexico, such as "Dallas, TX"; it is ${JSON.stringify(text.toWellFormed())}.`,
    })
  }
  return place
}

/** The folded place, as lanes keep it for matching. */
export function readPlaceKey(text: string, at: At, errors: FieldError[]): string | null {
  return readPlaceAt(text, at, errors)?.key ?? null
}

export function readEquipment(text: string, at: At, errors: FieldError[]): string | null {
  const code = equipmentCode(text)
  if (code === null) {
    errors.push({
      ...at,
      code: 'invalid',
      detail: `${fieldName(at)} must be an equipment code of 1 to 20 letters, digits, "_" or "-", such as V, R or F.`,
    })
  }
  return code
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

/** Both ends of a lane as the database keeps them, or null with the errors added. */
export function readLanePlaces(
  lane: { origin: string; destination: string; miles?: number },
  at: (field: 'origin' | 'destination') => At,
  errors: FieldError[],
): LanePlaces | null {
  const origin = readPlaceAt(lane.origin, at('origin'), errors)
  const destination = readPlaceAt(lane.destination, at('destination'), errors)
  if (origin === null || destination === null) return null
  return {
    origin: lane.origin,
    destination: lane.destination,
    origin_key: origin.key,
    destination_key: destination.key,
    origin_state: origin.state,
    destination_state: destination.state,
    origin_market: null,
    destination_market: null,
    miles: lane.miles ?? null,
  }
}
