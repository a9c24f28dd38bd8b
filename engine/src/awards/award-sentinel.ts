import { median } from '../statistics/median.ts'
import { DEVIATIONS_80 } from '../statistics/normal-cdf.ts'

/** One false alarm in so many weeks of a lane, or less often: ten years. */
export const SENTINEL_LANE_WEEKS = 520
/** An alarm that was raised stays until the evidence is below this. */
export const SENTINEL_OVER = 52
/** More wealth than this is not kept, so that an alarm ends some weeks after costs have come back, however long it lasted. */
const WEALTH_MAX = 10 * SENTINEL_LANE_WEEKS
/** With fewer weeks with loads, nothing is said. */
export const SENTINEL_WEEKS_MIN = 2

/** The rises that are bet on, in ln cost: 5, 8 and 16 %. */
const RISES = [0.05, 0.08, 0.15]
/** A week counts as at most this many deviations, so that no single week raises an alarm. */
const DEVIATIONS_MAX = 2
/** How far the first costs of an award usually are from their forecast, in ln cost. */
const USUAL_RISE = 0.1

/** How the costs of flat lanes move around their forecast, in ln cost: of weekly means. */
export interface CostNoise {
  /** The deviation of a week from what the week before lets expect. */
  readonly deviation: number
  /** The share of a week's distance from the forecast that the next week keeps, from 0 to .95. */
  readonly persistence: number
  /** How far the level of a lane moves in a week, as a random walk. */
  readonly move: number
}

/** A load of an awarded lane whose cost is known. */
export interface AwardedLoad {
  readonly id: string
  /** The week since the award began, from 0. */
  readonly week: number
  readonly costCents: number
}

/** An awarded lane: its fixed rate, and what was expected of it when it was bid. */
export interface AwardedLane {
  readonly rateCents: number
  /** The cost per load that was expected, by week of the award; the last entry holds for all later weeks. */
  readonly forecastCents: readonly number[]
  readonly loadsPerWeek: number
  /** The number of weeks of the award. */
  readonly weeks: number
}

/** Where an awarded lane stands. */
export interface AwardStanding {
  readonly state: 'too_few' | 'holds' | 'rising'
  readonly evidence: number
  /** The week in which the rise most likely began; null unless the state is `rising`. */
  readonly since: number | null
  /** By how much costs are above the forecast now, in ln cost, with its 80 % range. */
  readonly rise: { readonly value: number; readonly low: number; readonly high: number }
  /** What is expected until the end of the term, in cents: loads x cost above the forecast, and loads x (rate - cost). */
  readonly toEnd: {
    readonly loads: number
    readonly extraCostCents: number
    readonly extraLowCents: number
    readonly extraHighCents: number
    readonly marginCents: number
    /** The margin of these loads when the lane was bid. */
    readonly plannedMarginCents: number
  }
  /** The loads behind it: those since the rise began, or all. */
  readonly loads: readonly AwardedLoad[]
}

/** The mean of a week, in ln of cost / forecast. */
interface WeekSeen {
  readonly week: number
  readonly value: number
}

const forecastIn = ({ forecastCents }: AwardedLane, week: number) =>
  forecastCents[Math.min(week, forecastCents.length - 1)] as number

function weeksOf(lane: AwardedLane, loads: readonly AwardedLoad[], today: number): WeekSeen[] {
  const known = loads.filter(({ week, costCents }) => week >= 0 && week <= today && costCents > 0)
  return [...Map.groupBy(known, ({ week }) => week)]
    .map(([week, of]) => ({
      week,
      value:
        of.reduce((sum, { costCents }) => sum + Math.log(costCents / forecastIn(lane, week)), 0) / of.length,
    }))
    .sort((one, other) => one.week - other.week)
}

/**
 * The log of the largest mean of exp(theta x) over noise that is symmetric, with a variance of at most 1, and limited to +-c: all of its
 * mass is at 0 and at +-c, because cosh(theta sqrt(v)) is convex in v.
 */
const logMeanMax = (theta: number) =>
  Math.log1p((Math.cosh(DEVIATIONS_MAX * theta) - 1) / (DEVIATIONS_MAX * DEVIATIONS_MAX))

/** A week's distance from what the week before lets expect, if costs are as forecast, and how far a rise would move it. */
interface Surprise {
  /** In deviations, limited. */
  readonly z: number
  readonly deviation: number
  /** How much of a rise shows in this week if it began earlier. */
  readonly kept: number
}

function surprises(seen: readonly WeekSeen[], { deviation, persistence }: CostNoise): Surprise[] {
  return seen.map(({ week, value }, nth) => {
    const before = seen[nth - 1]
    const keeps = before === undefined ? 0 : persistence ** (week - before.week)
    const spread = deviation * Math.sqrt((1 - keeps * keeps) / (1 - persistence * persistence))
    const z = (value - keeps * (before?.value ?? 0)) / spread
    return { z: Math.max(-DEVIATIONS_MAX, Math.min(DEVIATIONS_MAX, z)), deviation: spread, kept: 1 - keeps }
  })
}

/**
 * Compares an awarded lane's costs with the forecast that its rate was fixed on, and says whether they have risen.
 *
 * Each week bets that costs have risen by 5, 8 or 16 %. A bet that begins in a week expects the whole rise in that week, and in later weeks
 * the part that the noise does not carry over from the week before. The bet multiplies its wealth by exp(theta z) divided by the
 * largest mean that this can have while costs are not above their forecast, for every symmetric noise with the stated deviation. So no bet
 * grows on average, and the evidence, the sum of the wealth of the bets that began in each week, averaged over the rises, exceeds the number
 * of weeks by nothing on average: a Shiryaev-Roberts detector made of e-processes, like the calibration alarm
 * (docs/decisions/0077-the-calibration-alarm.md). The mean time until the evidence of a flat lane reaches 520 is at least 520
 * weeks, however often one looks. docs/decisions/0152-the-award-sentinel.md has the limits.
 *
 * @param today the week of the award that it is
 * @param wasRising the state was `rising` at the last look: it holds again below an evidence of 52
 */
export function awardStanding(
  lane: AwardedLane,
  loads: readonly AwardedLoad[],
  {
    today,
    noise,
    wasRising = false,
  }: { readonly today: number; readonly noise: CostNoise; readonly wasRising?: boolean },
): AwardStanding {
  const seen = weeksOf(lane, loads, today)
  const steps = surprises(seen, noise)
  const evidence = evidenceOf(steps).at(-1) ?? 0
  const isRising = evidence >= (wasRising ? SENTINEL_OVER : SENTINEL_LANE_WEEKS)
  const state = seen.length < SENTINEL_WEEKS_MIN ? 'too_few' : isRising ? 'rising' : 'holds'
  const since = state === 'rising' ? (seen[likelyStart(steps)]?.week ?? null) : null
  const rise = riseNow(seen, { today, noise })
  return {
    state,
    evidence,
    since,
    rise,
    toEnd: untilTheEnd(lane, { today, rise, noise }),
    loads: loads.filter(({ week }) => week >= (since ?? 0) && week <= today),
  }
}

/** The evidence after each week with loads. */
function evidenceOf(steps: readonly Surprise[]): number[] {
  const wealth = RISES.map(() => 0)
  return steps.map((step) => {
    for (const [at, rise] of RISES.entries())
      wealth[at] = Math.min(
        WEALTH_MAX,
        (wealth[at] as number) * Math.exp(logFactor(step, rise, step.kept)) +
          Math.exp(logFactor(step, rise, 1)),
      )
    return wealth.reduce((sum, one) => sum + one, 0) / RISES.length
  })
}

/**
 * Where an awarded lane stands for somebody who looked each week: an alarm stays until its evidence is gone. Between weeks with loads
 * the evidence does not change, so each load is read a few times, however long the award is.
 */
export function standingEachWeek(
  lane: AwardedLane,
  loads: readonly AwardedLoad[],
  { today, noise }: { readonly today: number; readonly noise: CostNoise },
): AwardStanding {
  let wasRising = false
  for (const [at, evidence] of evidenceOf(surprises(weeksOf(lane, loads, today - 1), noise)).entries()) {
    wasRising = at + 1 >= SENTINEL_WEEKS_MIN && evidence >= (wasRising ? SENTINEL_OVER : SENTINEL_LANE_WEEKS)
  }
  return awardStanding(lane, loads, { today, noise, wasRising })
}

/** By what a week changes the log of the wealth of a bet on a rise, of which a share shows in this week. */
function logFactor({ z, deviation }: Surprise, rise: number, share: number): number {
  const theta = (share * rise) / deviation
  return theta * z - logMeanMax(theta)
}

/** The week whose bet on a rise of 8 % has the most wealth. */
function likelyStart(steps: readonly Surprise[]): number {
  const [, rise] = RISES as [number, number]
  let best = steps.length - 1
  let most = Number.NEGATIVE_INFINITY
  let later = 0
  for (let nth = steps.length - 1; nth >= 0; nth--) {
    const step = steps[nth] as Surprise
    const wealth = later + logFactor(step, rise, 1)
    if (wealth > most) [best, most] = [nth, wealth]
    later += logFactor(step, rise, step.kept)
  }
  return best
}

/**
 * The level of costs above the forecast today: a random walk seen through noise (Kalman 1960), which begins near the forecast.
 */
function riseNow(
  seen: readonly WeekSeen[],
  { today, noise: { deviation, persistence, move } }: { readonly today: number; readonly noise: CostNoise },
): { value: number; low: number; high: number; deviation: number } {
  const noise = (deviation * deviation) / (1 - persistence * persistence)
  let [value, variance, before] = [0, USUAL_RISE * USUAL_RISE, 0]
  for (const week of seen) {
    variance += move * move * (week.week - before)
    const gain = variance / (variance + noise)
    value += gain * (week.value - value)
    variance *= 1 - gain
    before = week.week
  }
  variance += move * move * (today - before)
  const spread = Math.sqrt(variance)
  return {
    value,
    low: value - DEVIATIONS_80 * spread,
    high: value + DEVIATIONS_80 * spread,
    deviation: spread,
  }
}

/** The costs of the loads that are left. The level moves on: the mean of n weeks of a random walk has the variance n / 3 of a week. */
function untilTheEnd(
  lane: AwardedLane,
  {
    today,
    rise,
    noise: { deviation: noise, persistence, move },
  }: {
    readonly today: number
    readonly rise: { readonly value: number; readonly deviation: number }
    readonly noise: CostNoise
  },
): AwardStanding['toEnd'] {
  const left = Math.max(0, lane.weeks - today - 1)
  const loads = left * lane.loadsPerWeek
  let forecast = 0
  for (let week = today + 1; week < lane.weeks; week++) forecast += lane.loadsPerWeek * forecastIn(lane, week)
  // The mean of n weeks of noise that persists has the variance s^2 / (1 - p)^2 / n.
  const ofNoise = left === 0 ? 0 : noise ** 2 / (1 - persistence) ** 2 / left
  const deviation = Math.sqrt(rise.deviation ** 2 + (move * move * left) / 3 + ofNoise)
  const at = (level: number) => forecast * Math.expm1(level)
  const extraCostCents = at(rise.value)
  const plannedMarginCents = loads * lane.rateCents - forecast
  return {
    loads,
    extraCostCents,
    extraLowCents: at(rise.value - DEVIATIONS_80 * deviation),
    extraHighCents: at(rise.value + DEVIATIONS_80 * deviation),
    marginCents: plannedMarginCents - extraCostCents,
    plannedMarginCents,
  }
}

/** The noise that is assumed without a history. It is that of weekly USDA rates: docs/decisions/0152-the-award-sentinel.md. */
export const USUAL_NOISE: CostNoise = { deviation: 0.021, persistence: 0.57, move: 0.035 }
/** A history counts from so many pairs of weeks on. */
const PAIRS_MIN = 40
/** Weeks before and after that count as the level of a week. */
const LEVEL_WEEKS = 4

/**
 * The noise of lanes with a history: of each lane, the logarithms of its weekly costs, in order and without gaps. What differs from the
 * median of nine weeks around it counts as noise. `USUAL_NOISE` if the histories have fewer than 40 pairs of weeks.
 *
 * @example costNoise([]) // USUAL_NOISE
 */
export function costNoise(histories: readonly (readonly number[])[]): CostNoise {
  const flat = histories.map(withoutLevel)
  let products = 0
  let squares = 0
  let pairs = 0
  let moves = 0
  let moved = 0
  for (const [nth, values] of flat.entries()) {
    const raw = histories[nth] ?? []
    for (let week = 1; week < values.length; week++) {
      products += (values[week] as number) * (values[week - 1] as number)
      squares += (values[week - 1] as number) ** 2
      pairs++
      if (week < MOVE_WEEKS) continue
      moves += ((raw[week] as number) - (raw[week - MOVE_WEEKS] as number)) ** 2 / MOVE_WEEKS
      moved++
    }
  }
  if (pairs < PAIRS_MIN || squares === 0) return USUAL_NOISE
  const persistence = Math.min(0.95, Math.max(0, products / squares))
  let sum = 0
  for (const values of flat)
    for (let week = 1; week < values.length; week++)
      sum += ((values[week] as number) - persistence * (values[week - 1] as number)) ** 2
  const deviation = Math.max(DEVIATION_MIN, Math.sqrt(sum / pairs))
  // Both ends of a movement are noisy.
  const ofNoise = (2 * deviation ** 2) / (1 - persistence ** 2) / MOVE_WEEKS
  const move = moved === 0 ? USUAL_NOISE.move : Math.sqrt(Math.max(MOVE_MIN ** 2, moves / moved - ofNoise))
  return { deviation, persistence, move }
}

/** The level moves over a season, so its movement is measured over two months. */
const MOVE_WEEKS = 8
/** Costs that never changed in the past may change. */
const DEVIATION_MIN = 0.005
const MOVE_MIN = 0.005

/** A history minus its level: the median of the nine weeks around each week. */
export function withoutLevel(history: readonly number[]): number[] {
  return history.map((value, week) => {
    const around = history.slice(Math.max(0, week - LEVEL_WEEKS), week + LEVEL_WEEKS + 1)
    return value - (median(around) ?? value)
  })
}
