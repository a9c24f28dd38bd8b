import {
  type AwardedLane,
  type AwardedLoad,
  awardStanding,
  type CostNoise,
  costNoise,
  withoutLevel,
} from '#engine/awards/award-sentinel.ts'
import { type AwardRecord, tenderedShare } from '#engine/awards/tendered-share.ts'
import { dayOf } from '#engine/estimate/day.ts'
import type { CostSeen } from '#engine/estimate/expected-cost.ts'
import { median } from '#engine/statistics/median.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import type { Bar } from './bar.ts'
import { normal } from './simulation.ts'

/** A lane's weekly costs without a gap, in ln dollars. */
export interface Stretch {
  readonly lane: string
  readonly costs: readonly number[]
}

/** A gap of more weeks ends a stretch. Shorter stretches than this say nothing. */
const GAP_WEEKS_MAX = 3
const STRETCH_WEEKS_MIN = 12

/** The stretches of weekly rates of each lane. */
export function stretchesOf(rates: readonly CostSeen[]): Stretch[] {
  const stretches: { lane: string; costs: number[] }[] = []
  for (const [lane, of] of Map.groupBy(rates, ({ costKeys }) => costKeys.join())) {
    let before = Number.NEGATIVE_INFINITY
    for (const { at, costCents } of of.toSorted((one, other) => one.at - other.at)) {
      const week = Math.floor(dayOf(at) / 7)
      if (week - before > GAP_WEEKS_MAX) stretches.push({ lane, costs: [] })
      stretches.at(-1)?.costs.push(Math.log(costCents / 100))
      before = week
    }
  }
  return stretches.filter(({ costs }) => costs.length >= STRETCH_WEEKS_MIN)
}

const FORECAST_CENTS = 400_000

/** An award with a rate of 15 % above a forecast that holds all the time. */
function awardOf(weeks: number): AwardedLane {
  return { rateCents: 1.15 * FORECAST_CENTS, forecastCents: [FORECAST_CENTS], loadsPerWeek: 1, weeks }
}

const loadsOf = (values: readonly number[]): AwardedLoad[] =>
  values.map((value, week) => ({ id: `${week}`, week, costCents: FORECAST_CENTS * Math.exp(value) }))

/** The weeks in which an alarm begins if the lane is looked at every week, and the sentinel starts again after each alarm. */
export function alarmsOf(values: readonly number[], noise: CostNoise): number[] {
  const alarms: number[] = []
  let start = 0
  for (let week = 0; week < values.length; week++) {
    const loads = loadsOf(values.slice(start, week + 1))
    const { state } = awardStanding(awardOf(values.length - start), loads, { today: week - start, noise })
    if (state !== 'rising') continue
    alarms.push(week)
    start = week + 1
  }
  return alarms
}

/** What the sentinel does on real weekly rates. */
export interface SentinelFound {
  readonly laneYears: number
  readonly falseAlarms: number
  /** Weeks from a planted rise to its alarm, counting the week of the rise; null: no alarm. */
  readonly delays: readonly (number | null)[]
}

/** The rise that is planted, and the weeks in which it is. */
const PLANTED = Math.log(1.08)
const PLANTED_EVERY = 3
const PLANTED_WEEKS_AFTER = 8

/**
 * Flat lanes are real weekly rates minus their level, the median of the nine weeks around each week: every rise of a month or less is
 * noise, and none lasts. The rise is planted in these. The noise is learned from the other lanes.
 */
export function sentinelOnFlatLanes(stretches: readonly Stretch[]): SentinelFound {
  let falseAlarms = 0
  let weeks = 0
  const delays: (number | null)[] = []
  for (const { lane, costs } of stretches) {
    const noise = costNoise(stretches.flatMap((one) => (one.lane === lane ? [] : [one.costs])))
    const flat = withoutLevel(costs)
    weeks += flat.length
    falseAlarms += alarmsOf(flat, noise).length
    for (let from = 4; from < flat.length - PLANTED_WEEKS_AFTER; from += PLANTED_EVERY) {
      const risen = flat.map((value, week) => value + (week >= from ? PLANTED : 0))
      const alarm = alarmsOf(risen, noise).find((week) => week >= from)
      delays.push(alarm === undefined ? null : alarm - from + 1)
    }
  }
  return { laneYears: weeks / 52, falseAlarms, delays }
}

/** Awards at the mean cost of the four weeks before, on the rates as they are. */
export interface SentinelOnAwards {
  readonly awards: number
  readonly alarms: number
  /** Alarms after which the four weeks from the alarm on cost more than the forecast, on average. */
  readonly right: number
  /** The share of awards whose extra cost of the eight weeks after week eight is within the 80 % range. */
  readonly within80: number
}

export function sentinelOnAwards(stretches: readonly Stretch[]): SentinelOnAwards {
  let [awards, alarms, right, inside, ranges] = [0, 0, 0, 0, 0]
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  for (const { lane, costs } of stretches) {
    const noise = costNoise(stretches.flatMap((one) => (one.lane === lane ? [] : [one.costs])))
    for (let from = 4; from + 16 <= costs.length; from += 4) {
      const forecast = mean(costs.slice(from - 4, from))
      const values = costs.slice(from, from + 26).map((cost) => cost - forecast)
      awards++
      const alarm = alarmsOf(values, noise)[0]
      if (alarm !== undefined) {
        alarms++
        if (mean(values.slice(alarm, alarm + 4)) > 0) right++
      }
      const { toEnd } = awardStanding(awardOf(16), loadsOf(values.slice(0, 8)), { today: 7, noise })
      const extra = values.slice(8, 16).reduce((sum, value) => sum + FORECAST_CENTS * Math.expm1(value), 0)
      ranges++
      if (extra >= toEnd.extraLowCents && extra <= toEnd.extraHighCents) inside++
    }
  }
  return { awards, alarms, right, within80: inside / ranges }
}

/** False alarms per ten lane-years of simulated flat lanes, whose noise is as the sentinel assumes. */
export function simulatedFalseAlarms(
  noise: CostNoise,
  { lanes, seed }: { readonly lanes: number; readonly seed: number },
): number {
  const random = seededNumbers(seed)
  let alarms = 0
  for (let lane = 0; lane < lanes; lane++) {
    let value = (noise.deviation / Math.sqrt(1 - noise.persistence ** 2)) * normal(random)
    const values = Array.from({ length: 520 }, () => {
      const now = value
      value = noise.persistence * value + noise.deviation * normal(random)
      return now
    })
    alarms += alarmsOf(values, noise).length
  }
  return alarms / lanes
}

/** How well the shares of tendered loads of simulated customers are known. */
export interface TenderedFound {
  readonly within80: number
  /** The root of the mean squared error, divided by that of the customer's own share alone, and of the usual share alone. */
  readonly againstOwn: number
  readonly againstUsual: number
}

/**
 * Simulates brokerages with 8 customers of 0 to 30 awarded lanes. A lane is a ghost with a chance that depends on the customer, or it
 * tenders a part of its loads.
 */
export function tenderedOnSimulated(brokerages: number, seed: number): TenderedFound {
  const random = seededNumbers(seed)
  let [inside, count, squares, own, usual, comparable] = [0, 0, 0, 0, 0, 0]
  let ofComparable = 0
  for (let nth = 0; nth < brokerages; nth++) {
    const typical = 0.25 + 0.5 * random()
    const truths = Array.from({ length: 8 }, () =>
      Math.min(0.97, Math.max(0.03, typical + 0.15 * normal(random))),
    )
    const records: AwardRecord[] = truths.flatMap((truth, customer) =>
      Array.from({ length: Math.floor(31 * random() ** 2) }, () => {
        const awardedLoads = Math.max(1, Math.round(Math.exp(1 + normal(random))))
        // Lanes that ship tender nine tenths on average.
        const ships = random() < truth / 0.9 || truth > 0.9
        const part = ships ? (truth > 0.9 ? truth : 0.8 + 0.2 * random()) : 0
        return { customer: `${customer}`, awardedLoads, tenderedLoads: part * awardedLoads }
      }),
    )
    for (const [customer, truth] of truths.entries()) {
      const found = tenderedShare(records, `${customer}`)
      if (found === null) continue
      count++
      if (truth >= found.low && truth <= found.high) inside++
      squares += (found.share - truth) ** 2
      usual += (found.usual - truth) ** 2
      if (found.own === null) continue
      comparable++
      ofComparable += (found.share - truth) ** 2
      own += (found.own - truth) ** 2
    }
  }
  return {
    within80: inside / count,
    againstOwn: Math.sqrt(ofComparable / comparable / (own / comparable)),
    againstUsual: Math.sqrt(squares / usual),
  }
}

/** The median, with cases without an alarm as the longest. */
export function medianDelay(delays: readonly (number | null)[]): number {
  return median(delays.map((delay) => delay ?? Number.MAX_SAFE_INTEGER)) ?? Number.NaN
}

/** The bars of awards. @param rates the USDA's weekly rates; null without the data */
export function awardBars(rates: readonly CostSeen[] | null, seed: number): Bar[] {
  const tendered = tenderedOnSimulated(200, seed)
  const simulated: Bar[] = [
    {
      check: 'tendered shares, simulated',
      measure: '80 % range coverage',
      value: tendered.within80,
      least: 0.77,
      most: 0.9,
    },
    {
      check: 'tendered shares, simulated',
      measure: "error / error of the customer's own share",
      value: tendered.againstOwn,
      most: 1,
    },
    {
      check: 'tendered shares, simulated',
      measure: 'error / error of the usual share',
      value: tendered.againstUsual,
      most: 1,
    },
    {
      check: 'award sentinel, simulated',
      measure: 'false alarms in ten lane-years',
      value: simulatedFalseAlarms(costNoise([]), { lanes: 40, seed }),
      most: 1,
    },
  ]
  if (rates === null) return simulated
  const stretches = stretchesOf(rates)
  const flat = sentinelOnFlatLanes(stretches)
  const awards = sentinelOnAwards(stretches)
  const check = 'USDA, award sentinel'
  return [
    ...simulated,
    {
      check,
      measure: 'false alarms in ten lane-years',
      value: (10 * flat.falseAlarms) / flat.laneYears,
      most: 1,
    },
    {
      check,
      measure: 'weeks to the alarm after a rise of 8 %, median',
      value: medianDelay(flat.delays),
      most: 6,
    },
    {
      check,
      measure: 'share of alarms after which costs stayed high',
      value: awards.right / awards.alarms,
      least: 0.8,
    },
    {
      check,
      measure: '80 % range of extra costs, coverage',
      value: awards.within80,
      least: 0.75,
      most: 0.85,
    },
  ]
}
