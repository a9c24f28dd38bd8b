import type { FieldError } from '#contract/errors.ts'
import type { MarketScope } from '#engine/market-rate.ts'
import { roadMiles } from '#engine/miles.ts'
import { type Place, readState } from '#engine/place.ts'
import { regionOf, STATES_OF_REGION } from '#engine/regions.ts'
import { type LocatedPlace, locate } from '#geography/locate.ts'
import { isPostalArea, marketsNamed } from '#geography/markets.ts'
import { placeName } from '#geography/read-place.ts'
import type { MarketPair } from '../database/queries/index.ts'
import { fieldName, readPlaceAt } from './lane-places.ts'

type At = Pick<FieldError, 'pointer' | 'parameter'>

/** One end of a market rate: the key that is compared, and the name that is shown. */
interface MarketArea {
  readonly area: string
  readonly name: string
  /** Null for areas whose center is unknown. */
  readonly place: LocatedPlace | null
}

/** Both ends of a market rate, and the miles between them; null for areas. */
interface MarketEnds {
  readonly origin: MarketArea
  readonly destination: MarketArea
  readonly miles: number | null
}

/**
 * Reads both areas of a market rate. A city must be known: a rate of an unknown place would never be found again. Adds an
 * error for each area that is not known, and then returns null.
 */
export function readMarketEnds(
  scope: MarketScope,
  sent: { readonly origin: string; readonly destination: string },
  at: (field: 'origin' | 'destination') => At,
  errors: FieldError[],
): MarketEnds | null {
  const origin = readArea(scope, sent.origin, at('origin'), errors)
  const destination = readArea(scope, sent.destination, at('destination'), errors)
  if (origin === null || destination === null) return null
  const miles =
    origin.place === null || destination.place === null ? null : roadMiles(origin.place, destination.place)
  return { origin, destination, miles }
}

function readArea(scope: MarketScope, text: string, at: At, errors: FieldError[]): MarketArea | null {
  switch (scope) {
    case 'lane': {
      const place = readCity(text, 'a known city', at, errors)
      return place && { area: place.key, name: `${place.city}, ${place.state}`, place }
    }
    case 'market': {
      // "Dallas Mkt" and "Dallas Market, TX" are how load boards write the market of a city.
      const city = text.replace(/(?<!\s)\s+(mkt|market)\b\.?/i, '').trim()
      const [named, ...others] = marketsNamed(city)
      if (others.length > 0) {
        return refuse(text, `a market with its state: ${[named, ...others].join(' or ')}`, at, errors)
      }
      const place = readCity(named ?? city, 'the principal city of a market, such as Dallas, TX', at, errors)
      return place && { area: place.market, name: place.market, place }
    }
    case 'zip3': {
      const code = text.trim().toUpperCase()
      if (isPostalArea(code)) return { area: code, name: code, place: null }
      return refuse(text, 'the first three characters of a postal code, such as 752', at, errors)
    }
    case 'state_pair': {
      const code = readState(text)
      if (code !== null) return { area: code, name: code, place: null }
      return refuse(text, 'a state or province, such as TX', at, errors)
    }
    case 'region': {
      const code = text.trim().toUpperCase()
      if (Object.hasOwn(STATES_OF_REGION, code)) return { area: code, name: code, place: null }
      return refuse(text, `one of ${Object.keys(STATES_OF_REGION).join(', ')}`, at, errors)
    }
  }
}

/** A provider's code of a market area, such as TX_DAL, also with a state after it. */
const providerCode = /^[A-Z]{2}[_-][A-Z]{3}(,.*)?$/

function readCity(text: string, what: string, at: At, errors: FieldError[]): LocatedPlace | null {
  if (providerCode.test(text.trim())) {
    return refuse(
      text,
      "a city, such as Dallas, TX: a provider's codes of market areas, such as TX_DAL, are not known",
      at,
      errors,
    )
  }
  const place = readPlaceAt(text, at, errors)
  if (place === null) return null
  return locate(place) ?? refuse(placeName(place, null), what, at, errors)
}

function refuse(text: string, what: string, at: At, errors: FieldError[]): null {
  errors.push({
    ...at,
    code: 'unknown-market',
    detail: `${fieldName(at)} must be ${what}; it is ${JSON.stringify(text.toWellFormed())}.`,
  })
  return null
}

/** The columns of one end of a quote, from which its areas are made. */
interface AreaEnd {
  readonly key: string
  readonly state: string
  readonly market: string | null
}

/** The postal areas of places by key: a brokerage names the same few thousand cities again and again. */
const postalAreas = new Map<string, string | null>()
const postalAreasMax = 50_000

function postalAreaOf(key: string): string | null {
  const known = postalAreas.get(key)
  if (known !== undefined) return known
  const [city = '', state = ''] = key.split('|')
  const area = locate({ city, state } satisfies Pick<Place, 'city' | 'state'>)?.zip3 ?? null
  if (postalAreas.size >= postalAreasMax) postalAreas.clear()
  postalAreas.set(key, area)
  return area
}

/**
 * The pairs of areas that a lane is in, most specific first. The market rates of each pair are rates of the lane.
 *
 * @example marketPairs(dallas, atlanta)[0] // { scope: 'lane', originArea: 'dallas|TX', destinationArea: 'atlanta|GA' }
 */
export function marketPairs(origin: AreaEnd, destination: AreaEnd): MarketPair[] {
  const pair = (scope: MarketScope, from: string | null, to: string | null): MarketPair[] =>
    from === null || to === null ? [] : [{ scope, originArea: from, destinationArea: to }]
  return [
    ...pair('lane', origin.key, destination.key),
    ...pair('zip3', postalAreaOf(origin.key), postalAreaOf(destination.key)),
    ...pair('market', origin.market, destination.market),
    ...pair('state_pair', origin.state, destination.state),
    ...pair('region', regionOf(origin.state), regionOf(destination.state)),
  ]
}
