import { roadMiles } from '#engine/miles.ts'
import { readPlace } from '#engine/place.ts'
import { locate } from '#geography/locate.ts'
import type { Truckload } from './loadsmart.ts'

/** The errors of estimated road miles, compared with the billed miles of each lane. */
export interface MilesCheck {
  readonly lanes: number
  readonly notLocated: number
  readonly median: number
  readonly within10: number
}

/** Compares the estimate with the mean billed miles of each lane with known places. Placeholders are excluded. */
export function checkMiles(loads: readonly Truckload[]): MilesCheck {
  const lanes = new Map<string, { load: Truckload; miles: number[] }>()
  for (const load of loads) {
    if (load.placeholderMiles) continue
    const key = load.costKeys.at(-2) ?? ''
    const lane = lanes.get(key) ?? { load, miles: [] }
    lane.miles.push(load.miles)
    lanes.set(key, lane)
  }
  const errors: number[] = []
  let notLocated = 0
  for (const { load, miles } of lanes.values()) {
    const [from, to] = [load.origin, load.destination].map((end) => {
      const place = readPlace(`${end.city}, ${end.state}`)
      return place ? locate(place) : null
    })
    if (!from || !to) {
      notLocated++
      continue
    }
    const billed = miles.reduce((sum, value) => sum + value, 0) / miles.length
    errors.push(Math.abs(roadMiles(from, to) / billed - 1))
  }
  errors.sort((one, other) => one - other)
  return {
    lanes: lanes.size,
    notLocated,
    median: errors[Math.floor(errors.length / 2)] ?? Number.NaN,
    within10: errors.filter((error) => error <= 0.1).length / errors.length,
  }
}
