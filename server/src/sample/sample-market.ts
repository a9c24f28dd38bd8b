import { stateOf } from '#server/sample/sample-cities.ts'
import type { SeededRandom } from '#server/sample/seeded-random.ts'

const dayMilliseconds = 86_400_000

/** A sample haul, for the truck market. */
export interface SampleHaul {
  readonly origin: { readonly place: string; readonly pull: number }
  readonly destination: { readonly place: string; readonly pull: number }
  readonly equipment: string
  readonly miles: number
}

/** The cost factor of each equipment relative to a dry van. */
const equipmentFactor: Readonly<Record<string, number>> = { V: 1, R: 1.18, F: 1.21, SD: 1.3, HS: 1.12 }

/** Below this many miles, a haul is priced as a full day. */
const dayMinimumMiles = 120

/** The harvest season of each produce state, as days of the year, and its effect on reefer costs. */
const produceSeasons: Readonly<Record<string, { fromDay: number; toDay: number; lift: number }>> = {
  FL: { fromDay: 75, toDay: 150, lift: 0.2 },
  GA: { fromDay: 125, toDay: 195, lift: 0.15 },
  TX: { fromDay: 60, toDay: 160, lift: 0.1 },
  CA: { fromDay: 105, toDay: 245, lift: 0.14 },
  WA: { fromDay: 225, toDay: 320, lift: 0.15 },
  SC: { fromDay: 140, toDay: 200, lift: 0.1 },
  NL: { fromDay: 20, toDay: 120, lift: 0.1 },
}

/**
 * A van's cost by length of haul, in dollars: a day's minimum, then a line that flattens after 500 miles.
 *
 * @example vanCostByMiles(1000) // 2220
 */
export function vanCostByMiles(miles: number): number {
  const counted = Math.max(miles, dayMinimumMiles)
  return 330 + 1.75 * counted + 0.28 * Math.min(counted, 500)
}

/** The day of the year, 0 to 365, in UTC. */
function dayOfYear(at: number): number {
  return Math.floor((at - Date.UTC(new Date(at).getUTCFullYear(), 0, 1)) / dayMilliseconds)
}

/** A smooth curve: 1 in the middle of a season, 0 at its ends and outside. */
function hump(day: number, fromDay: number, toDay: number): number {
  if (day <= fromDay || day >= toDay) return 0
  return Math.sin((Math.PI * (day - fromDay)) / (toDay - fromDay)) ** 2
}

/**
 * The seasonal change of truck costs, as a logarithm (0.1 is about 10% more).
 *
 * Produce raises reefer costs out of harvest states; the fourth quarter raises all costs; January and February are
 * slack; trucks are scarce around Independence Day, in the two weeks of Christmas, and in the week of the roadside
 * checks in May.
 *
 * @example seasonLift({ equipment: 'V', originState: 'IL' }, Date.UTC(2026, 9, 1)) // 0, nothing special on 1 October
 */
export function seasonLift(haul: { equipment: string; originState: string }, at: number): number {
  const day = dayOfYear(at)
  const produce = produceSeasons[haul.originState]
  const harvest = produce ? produce.lift * hump(day, produce.fromDay, produce.toDay) : 0
  return (
    harvest * (haul.equipment === 'R' ? 1 : 0.3) +
    0.07 * hump(day, 285, 366) -
    0.05 * hump(day, 8, 75) +
    0.05 * hump(day, 178, 190) +
    (day >= 352 || day <= 4 ? 0.06 : 0) +
    0.05 * hump(day, 130, 142) +
    (haul.equipment === 'F' ? 0.06 * hump(day, 80, 220) : 0)
  )
}

/** The effect of the weekday, as a logarithm, from Sunday: Fridays and weekends cost more, Tuesdays and Wednesdays least. */
const weekdayLift = [0.03, 0, -0.01, -0.01, 0, 0.02, 0.04]

/**
 * The truck market of the sample: one index with daily drift, and the cost of a haul on a day.
 *
 * `from` and `to` are epoch milliseconds; the index is drawn once for each day between them.
 */
export function sampleMarket(
  random: SeededRandom,
  span: { from: number; to: number },
): { costCents: (haul: SampleHaul, at: number) => number } {
  const days = Math.ceil((span.to - span.from) / dayMilliseconds) + 2
  const phase = random.uniform() * 2 * Math.PI
  const index: number[] = []
  for (let day = 0, wander = 0; day < days; day++) {
    wander = 0.985 * wander + random.normal(0, 0.008)
    index.push(wander + 0.07 * Math.sin(phase + (2 * Math.PI * day) / 520))
  }
  const costCents = (haul: SampleHaul, at: number) => {
    const day = Math.max(0, Math.floor((at - span.from) / dayMilliseconds))
    const crossing = crossesBorder(haul) ? 0.16 : 0
    const log =
      (index[day] ?? 0) +
      seasonLift({ equipment: haul.equipment, originState: stateOf(haul.origin.place) }, at) +
      (weekdayLift[new Date(at).getUTCDay()] ?? 0) +
      haul.origin.pull -
      haul.destination.pull +
      crossing
    return 100 * vanCostByMiles(haul.miles) * (equipmentFactor[haul.equipment] ?? 1) * Math.exp(log)
  }
  return { costCents }
}

const abroad: Readonly<Record<string, string>> = { ON: 'CA', QC: 'CA', AB: 'CA', NL: 'MX' }

function crossesBorder(haul: SampleHaul): boolean {
  return abroad[stateOf(haul.origin.place)] !== abroad[stateOf(haul.destination.place)]
}
