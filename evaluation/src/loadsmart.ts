import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Papa from 'papaparse'
import type { CostSeen } from '#engine/estimate/expected-cost.ts'
import { freightLane } from '#engine/quotes/lane-identity.ts'

/** The file has this number instead of unknown miles. */
const PLACEHOLDER_MILES = 140
const COST_MIN = 100
const MILES_MIN = 5

const REGIONS: Record<string, string> = Object.fromEntries(
  Object.entries({
    NE: 'CT ME MA NH RI VT NJ NY PA',
    MW: 'IL IN MI OH WI',
    PL: 'IA KS MN MO NE ND SD',
    SE: 'DE FL GA MD NC SC VA DC WV AL KY MS TN',
    SC: 'AR LA OK TX',
    MT: 'AZ CO ID MT NV NM UT WY',
    PC: 'CA OR WA',
  }).flatMap(([region, states]) => states.split(' ').map((state) => [state, region])),
)

/** A US truckload of 2017: its places, miles, carrier cost and customer rate. */
export interface Truckload extends CostSeen {
  readonly origin: { readonly city: string; readonly state: string }
  readonly destination: { readonly city: string; readonly state: string }
  readonly placeholderMiles: boolean
  readonly rateCents: number
  /** NaN if unknown. */
  readonly pickupAt: number
}

/**
 * The truckloads with a cost of at least $100 and at least 5 miles, oldest booking first. Null if the file is
 * missing.
 */
export function readTruckloads(folder: string): Truckload[] | null {
  const path = join(folder, 'loadsmart_truckloads_2017.csv.gz')
  if (!existsSync(path)) return null
  const { data } = Papa.parse<Record<string, string>>(gunzipSync(readFileSync(path)).toString('utf8'), {
    header: true,
    skipEmptyLines: true,
  })
  const loads: Truckload[] = []
  for (const [i, row] of data.entries()) {
    const cost = Number(row.source_price)
    const miles = Number(row.mileage)
    const at = Date.parse(`${(row.book_date ?? '').replace(' ', 'T')}Z`)
    if (!(Number(row.book_price) > 0 && cost >= COST_MIN && miles >= MILES_MIN) || Number.isNaN(at)) continue
    const origin = { city: row.origin_city ?? '', state: row.origin_state ?? '' }
    const destination = { city: row.dest_city ?? '', state: row.dest_state ?? '' }
    const end = (place: { city: string; state: string }) => ({
      city: `${place.city}, ${place.state}`.toLowerCase(),
      state: place.state,
      region: REGIONS[place.state] ?? place.state,
    })
    loads.push({
      quoteId: i + 1,
      costCents: Math.round(cost * 100),
      rateCents: Math.round(Number(row.book_price) * 100),
      miles,
      at,
      costKeys: freightLane({
        origin: end(origin),
        destination: end(destination),
        equipment: row.equipment ?? null,
      }).costKeys,
      origin,
      destination,
      placeholderMiles: miles === PLACEHOLDER_MILES,
      pickupAt: Date.parse(`${(row.pickup_date ?? '').replace(' ', 'T')}Z`),
    })
  }
  return loads.sort((one, other) => one.at - other.at || one.quoteId - other.quoteId)
}
