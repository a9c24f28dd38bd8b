import type { LaneQuote } from '#engine/estimate/quoted-lanes.ts'
import { median } from '#engine/statistics/median.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import { findMove, WATCHED_METRICS, type WatchedValue } from '#engine/watch/lane-watch.ts'
import type { Bar } from './bar.ts'
import { normal } from './simulation.ts'

/** As the service does: 120 days before, and a new beginning every 60 days. */
const BEFORE_DAYS = 120
const EPOCH_DAYS = 60
const LANES = 60
/** Quotes a day, and the deviation of their rates, of the lane that the promise is about. */
const USUAL = { perDay: 2, noise: 0.08 } as const
const SHIFT = Math.log(1.08)
const SHIFT_DAY = 10
const PLANTED = 61

interface Kind {
  readonly perDay: number
  readonly noise: number
  /** The level of a day, in ln dollars, of a lane. */
  readonly levels: (random: () => number) => (day: number) => number
  readonly outliers?: number
}

const flat: Kind['levels'] = () => () => 0

function valuesOf(random: () => number, { perDay, noise, levels, outliers = 0 }: Kind): WatchedValue[] {
  const values: WatchedValue[] = []
  const level = levels(random)
  for (let day = -BEFORE_DAYS; day < EPOCH_DAYS; day++) {
    const middle = level(day)
    for (let left = Math.exp(-perDay), product = random(); product > left; product *= random()) {
      const size = noise * (random() < outliers ? 8 : 1)
      values.push({ day, group: '', value: middle + size * normal(random), chance: random() })
    }
  }
  return values
}

/** The day on which somebody who looks each day is told; null if they are not. */
function toldOn(values: readonly WatchedValue[]): number | null {
  for (let day = 0; day < EPOCH_DAYS; day++) {
    const seen = values.filter((one) => one.day <= day)
    if (findMove('rate', seen, { from: 0 }) !== null) return day
  }
  return null
}

/** False alerts of a lane in a year, of all metrics, if each is like this. */
function falseAlerts(seed: number, kind: Kind): number {
  const random = seededNumbers(seed)
  let alerts = 0
  for (let lane = 0; lane < LANES; lane++) if (toldOn(valuesOf(random, kind)) !== null) alerts++
  return (WATCHED_METRICS.length * alerts * 365) / (LANES * EPOCH_DAYS)
}

/** The days from a planted move of 8 % to its alert at the median, counting the day of the move. */
function delay(seed: number, perDay: number, noise: number): number {
  const random = seededNumbers(seed)
  const levels: Kind['levels'] = () => (day) => (day >= SHIFT_DAY ? SHIFT : 0)
  const days = Array.from({ length: PLANTED }, () => {
    const told = toldOn(valuesOf(random, { perDay, noise, levels }))
    return told === null ? EPOCH_DAYS : told - SHIFT_DAY + 1
  })
  return median(days) ?? EPOCH_DAYS
}

/** A level that goes back to its middle, and one that wanders. Both in ln dollars a day. */
const persistent: Kind['levels'] = (random) => {
  const levels = new Map<number, number>([[-BEFORE_DAYS - 1, 0]])
  return (day) => {
    const level = 0.57 * (levels.get(day - 1) ?? 0) + 0.02 * normal(random)
    levels.set(day, level)
    return level
  }
}
const wandering =
  (step: number): Kind['levels'] =>
  (random) => {
    let level = 0
    return () => {
      level += step * normal(random)
      return level
    }
  }
const drifting: Kind['levels'] = () => (day) => (0.04 * day) / 365

/** Alerts a lane and year on the real lanes of a history whose order of quotes was mixed, which makes them flat. */
function mixedAlerts(quotes: readonly LaneQuote[], seed: number): number {
  const random = seededNumbers(seed)
  const byLane = [...Map.groupBy(quotes, ({ lane }) => lane.key).values()]
  const busy = byLane.filter((of) => of.length >= 200).slice(0, LANES)
  let alerts = 0
  for (const of of busy) {
    const rates = of.slice(-360).map(({ rateCents }) => Math.log(rateCents / 100))
    for (let at = rates.length - 1; at > 0; at--) {
      const other = Math.floor(random() * (at + 1))
      ;[rates[at], rates[other]] = [rates[other] as number, rates[at] as number]
    }
    const perDay = rates.length / (BEFORE_DAYS + EPOCH_DAYS)
    const values = rates.map((value, nth) => ({
      day: Math.floor(nth / perDay) - BEFORE_DAYS,
      group: '',
      value,
      chance: random(),
    }))
    if (toldOn(values) !== null) alerts++
  }
  return busy.length === 0 ? 0 : (WATCHED_METRICS.length * alerts * 365) / (busy.length * EPOCH_DAYS)
}

/** What the lane watch tells of flat lanes, and how soon it tells of a move of 8 %. */
export function watchBars(quotes: readonly LaneQuote[]): Bar[] {
  const check = 'lane watch'
  const year = (name: string) => `alerts a lane and year: ${name}`
  const days = (perDay: number, noise: number) =>
    `days to a move of 8 %: ${perDay} quotes a day, noise of ${100 * noise} %`
  return [
    { check, measure: year('flat'), value: falseAlerts(1, { ...USUAL, levels: flat }), most: 1 },
    {
      check,
      measure: year('flat with outliers'),
      value: falseAlerts(2, { ...USUAL, levels: flat, outliers: 0.05 }),
      most: 1,
    },
    {
      check,
      measure: year('a drift of 4 % a year'),
      value: falseAlerts(3, { ...USUAL, levels: drifting }),
      most: 1,
    },
    {
      check,
      measure: year('days that resemble the day before'),
      value: falseAlerts(4, { ...USUAL, levels: persistent }),
      most: 2,
    },
    {
      check,
      measure: year('a level that wanders by 0.3 % a day'),
      value: falseAlerts(5, { ...USUAL, levels: wandering(0.003) }),
      most: 1,
    },
    { check, measure: year('copper in a mixed order'), value: mixedAlerts(quotes, 6), most: 1 },
    { check, measure: days(2, 0.08), value: delay(7, 2, 0.08), most: 10 },
    { check, measure: days(1, 0.05), value: delay(8, 1, 0.05), most: 12 },
    { check, measure: days(4, 0.08), value: delay(9, 4, 0.08), most: 6 },
  ]
}
