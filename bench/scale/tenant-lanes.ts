import { equipmentCode } from '#engine/equipment.ts'
import { type Place, readPlace } from '#engine/place.ts'
import { gazetteer } from '#geography/gazetteer.ts'
import { locate } from '#geography/locate.ts'
import { lanePlaces } from '#server/quotes/index.ts'
import { type SeededRandom, seededRandom, vanCostByMiles } from '#server/sample/index.ts'
import { mixed, type PlannedTenant, type ScalePlan } from './plan.ts'

/** A generated lane: its places as the service saves them, and the cost of a truck. */
export interface ScaleLane extends ReturnType<typeof lanePlaces> {
  readonly origin: string
  readonly destination: string
  readonly equipment: string
  /** The usual cost in cents, from miles, equipment and a random factor. */
  readonly costCents: number
}

/** The lanes of a tenant, busiest first, and the distribution of quotes over them. */
export interface TenantLanes {
  readonly lanes: readonly ScaleLane[]
  /** Draws a lane from the distribution, for a quote or a read. */
  readonly draw: (random: SeededRandom) => ScaleLane
}

interface ScaleCity {
  readonly text: string
  readonly place: Place
}

/** The number of cities per country, the most populous first. */
const citiesOfCountry = { US: 500, CA: 60, MX: 40 } as const
/** The average number of quotes per lane: a brokerage with 100 quotes has about 15 lanes. */
const quotesPerLane = 7
const lanesMin = 3
const lanesMax = 3_000
/** The Zipf distribution that spreads quotes over lanes. */
const zipfShift = 1
const zipfExponent = 1.05
/**
 * For the at-work row: the busiest lane has 1 % of the quotes, and half of the quotes are on rarely quoted lanes. 12,000 quotes
 * have 2,200 lanes, 100,000 have 6,300, and a million have 20,000.
 */
const brokerageZipfShift = 15
const brokerageLanes = (quotes: number) => Math.max(lanesMin, Math.round(20 * Math.sqrt(quotes)))

const trailers = ['V', 'R', 'F', 'SD'] as const
const trailerWeights = [62, 22, 12, 4]
const trailerFactor = { V: 1, R: 1.18, F: 1.21, SD: 1.3 } as const

let cities: readonly ScaleCity[] | undefined
let cityWeights: readonly number[] | undefined

/** Returns the largest cities whose name and state identify them uniquely. */
function scaleCities(): readonly ScaleCity[] {
  cities ??= Object.entries(citiesOfCountry).flatMap(([country, count]) =>
    gazetteer()
      .byName.filter((place) => place.country === country)
      .toSorted((a, b) => b.population - a.population || (a.key < b.key ? -1 : 1))
      .flatMap(({ key, city, state }) => {
        const text = `${city}, ${state}`
        const place = readPlace(text)
        return place === null || locate(place)?.key !== key ? [] : { text, place }
      })
      .slice(0, count),
  )
  return cities
}

/** Returns the cumulative sums of weights, for drawFrom. */
function runningTotal(weights: readonly number[]): number[] {
  let total = 0
  return weights.map((weight) => {
    total += weight
    return total
  })
}

/** Draws an index with the probability of its weight, by binary search in the cumulative sums. */
function drawFrom(totals: readonly number[], random: SeededRandom): number {
  const wanted = random.uniform() * (totals.at(-1) ?? 0)
  let low = 0
  let high = totals.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((totals[middle] ?? 0) > wanted) high = middle
    else low = middle + 1
  }
  return low
}

function drawCity(random: SeededRandom): ScaleCity {
  const all = scaleCities()
  cityWeights ??= runningTotal(all.map((_, rank) => (1 + (rank % citiesOfCountry.US)) ** -0.6))
  const city = all[drawFrom(cityWeights, random)]
  if (city === undefined) throw new RangeError('There is no city to draw.')
  return city
}

function drawLane(random: SeededRandom): ScaleLane {
  const from = drawCity(random)
  let to = drawCity(random)
  while (to === from) to = drawCity(random)
  const equipment = trailers[random.weighted(trailerWeights)] ?? 'V'
  const places = lanePlaces(from.place, to.place, null)
  return {
    ...places,
    origin: from.text,
    destination: to.text,
    equipment: equipmentCode(equipment) ?? equipment,
    costCents: Math.round(
      100 * vanCostByMiles(places.miles ?? 500) * trailerFactor[equipment] * Math.exp(random.normal(0, 0.1)),
    ),
  }
}

function lanesCount({ kind, quotes }: PlannedTenant): number {
  return kind === 'brokerage'
    ? brokerageLanes(quotes)
    : Math.min(lanesMax, Math.max(lanesMin, Math.round(quotes / quotesPerLane)))
}

/** Returns the lanes of a tenant, always the same for the same plan. Takes about 0.01 ms per lane. */
export function lanesOf(plan: ScalePlan, tenant: PlannedTenant): TenantLanes {
  const random = seededRandom(mixed(plan.seed, 1, tenant.index))
  const count = lanesCount(tenant)
  const lanes: ScaleLane[] = []
  const seen = new Set<string>()
  while (lanes.length < count) {
    const lane = drawLane(random)
    const key = `${lane.origin_key}>${lane.destination_key}>${lane.equipment}`
    if (seen.has(key)) continue
    seen.add(key)
    lanes.push(lane)
  }
  const shift = tenant.kind === 'brokerage' ? brokerageZipfShift : zipfShift
  const totals = runningTotal(lanes.map((_, rank) => (rank + shift) ** -zipfExponent))
  return {
    lanes,
    draw: (random) => {
      const lane = lanes[drawFrom(totals, random)]
      if (lane === undefined) throw new RangeError('There is no lane to draw.')
      return lane
    },
  }
}
