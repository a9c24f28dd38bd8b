import { QUOTES_PER_STEP, type Steps } from '../steps.ts'
import { counted } from '../wording.ts'
import { clip } from './vector.ts'

/** The minimum of weekend pickups on lanes that also have other loads. With fewer, the effect is 0. */
const LOADS_MIN = 10
/** Weight of "no effect", in loads. */
const NO_EFFECT_LOADS = 10
/** An effect within this many standard errors of zero is chance. */
const STANDARD_ERRORS_MIN = 2.5
/** Limit of the effect, in ln cost. */
const EFFECT_MAX = 0.25

/** How much more a tenant's loads cost if they are picked up on a Saturday or Sunday. */
export interface WeekendPickups {
  /** In ln cost. 0 without evidence. */
  readonly effect: number
  /** The weekend pickups on lanes that also have other loads. */
  readonly loads: number
}

const NO_EFFECT: WeekendPickups = { effect: 0, loads: 0 }

/**
 * Whether a date is a Saturday or a Sunday. False for an unknown date.
 *
 * @example isWeekend('2026-03-07') // true
 */
export function isWeekend(date: string | null): boolean {
  if (date === null) return false
  const weekday = new Date(`${date}T00:00:00Z`).getUTCDay()
  return weekday === 0 || weekday === 6
}

/** The residuals of a tenant's loads in the order of time. The value of a load that does not count is NaN. */
interface LoadResiduals {
  readonly lanes: Int32Array
  readonly values: Float64Array
  /** 1 for a weekend pickup. */
  readonly weekend: Uint8Array
  /** Every number of a lane is below this. */
  readonly laneCount: number
}

/**
 * Learns the effect of weekend pickups: by how much their residuals differ from those of other loads of the same lane, over
 * all lanes. Each sum adds the loads in the order of time, so the numbering of the lanes does not change a digit of it.
 */
export function* weekendPickupsInSteps(loads: LoadResiduals): Steps<WeekendPickups> {
  const { lanes, values, weekend, laneCount } = loads
  if (weekend.reduce((sum, flag) => sum + flag, 0) < LOADS_MIN) return NO_EFFECT
  const sums = new Float64Array(laneCount)
  const counts = new Int32Array(laneCount)
  const weekends = new Int32Array(laneCount)
  for (let nth = 0; nth < values.length; nth++) {
    if (nth % (5 * QUOTES_PER_STEP) === 0) yield
    const value = values[nth] as number
    if (Number.isNaN(value)) continue
    const lane = lanes[nth] as number
    sums[lane] = (sums[lane] as number) + value
    counts[lane] = (counts[lane] as number) + 1
    weekends[lane] = (weekends[lane] as number) + (weekend[nth] as number)
  }
  const meanOf = (lane: number) => (sums[lane] as number) / (counts[lane] as number)
  const shareOf = (lane: number) => (weekends[lane] as number) / (counts[lane] as number)
  let [found, difference, information] = [0, 0, 0]
  for (let nth = 0; nth < values.length; nth++) {
    if (nth % (5 * QUOTES_PER_STEP) === 0) yield
    const lane = lanes[nth] as number
    if (weekend[nth] === 0 || Number.isNaN(values[nth]) || shareOf(lane) === 1) continue
    found++
    difference += (values[nth] as number) - meanOf(lane)
    information += 1 - shareOf(lane)
  }
  if (found < LOADS_MIN) return NO_EFFECT
  const effect = difference / information
  let [squares, freedom] = [0, -1]
  for (let nth = 0; nth < values.length; nth++) {
    if (nth % (5 * QUOTES_PER_STEP) === 0) yield
    const value = values[nth] as number
    if (Number.isNaN(value)) continue
    const lane = lanes[nth] as number
    const rest = value - meanOf(lane) - effect * ((weekend[nth] as number) - shareOf(lane))
    squares += rest * rest
    freedom += 1 - 1 / (counts[lane] as number)
  }
  const standardError = Math.sqrt(squares / Math.max(1, freedom) / information)
  if (Math.abs(effect) < STANDARD_ERRORS_MIN * standardError) return NO_EFFECT
  const shrunk = effect * (information / (information + NO_EFFECT_LOADS))
  return { effect: clip(shrunk, -EFFECT_MAX, EFFECT_MAX), loads: found }
}

/**
 * The effect in one sentence; null without one.
 *
 * @example weekendSentence({ effect: Math.log(1.08), loads: 41 })
 * // 'Weekend pickup: 8% more than on other days, from 41 loads.'
 */
export function weekendSentence({ effect, loads }: WeekendPickups): string | null {
  const percent = Math.round(100 * Math.abs(Math.expm1(effect)))
  if (percent === 0) return null
  return `Weekend pickup: ${percent}% ${effect > 0 ? 'more' : 'less'} than on other days, from ${counted(loads, 'load')}.`
}
