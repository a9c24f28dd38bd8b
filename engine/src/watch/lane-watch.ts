import { median } from '../statistics/median.ts'
import { normalCdf } from '../statistics/normal-cdf.ts'

/** What of a lane, a customer or a market is watched. */
export const WATCHED_METRICS = ['cost', 'rate', 'win_rate'] as const
export type WatchedMetric = (typeof WATCHED_METRICS)[number]

/** With all three metrics, one false alert in so many days with quotes, or less often: a year. */
export const WATCH_LANE_DAYS = 365
/** The evidence at which a metric has moved. */
export const WATCH_EVIDENCE = WATCHED_METRICS.length * WATCH_LANE_DAYS
/** Earlier values that new ones are compared with: without so many, nothing is said. */
export const WATCH_BEFORE_MIN = 20
/** The newest values that are read: more would not be compared faster than they come. */
export const WATCH_VALUES_MAX = 400
/** A smaller move is not told, however sure it is: in ln dollars, and as a share of decided quotes. */
export const WATCH_MOVE_MIN: Readonly<Record<WatchedMetric, number>> = {
  cost: 0.05,
  rate: 0.05,
  win_rate: 0.08,
}

/**
 * A rate or cost is compared with those of the days just before its move, too: a level that wanders is far from where it was months ago
 * without a move. A smaller step is not told, in ln dollars, and none before it has lasted for some days.
 */
const NEAR_DAYS = 30
const STEP_MIN = 0.065
const STEP_DAYS_MIN = 5
/** Without so many values just before, the step is the one from all values before. */
const NEAR_VALUES_MIN = 5
/** Of the values of a step, this share at either end does not count. */
const TRIMMED = 0.1

/** A value counts as at most this many deviations, so that no single one is an alert. */
const DEVIATIONS_MAX = 2
/** Moves that are bet on, in deviations of the values, up and down. */
const MOVES = [0.7, 1.2] as const
const BETS = MOVES.flatMap((move) => [move, -move])

/** A value of a metric: ln dollars of a cost or a rate, or 1 and 0 of a quote that was won and lost. */
export interface WatchedValue {
  /** The day, as a number of days. */
  readonly day: number
  /** Values are compared within a group, such as a lane of a customer. */
  readonly group: string
  readonly value: number
  /** A number from 0 to 1 that has nothing to do with the value: it decides between equal ones. */
  readonly chance: number
}

/** A move of a metric. */
export interface Move {
  /** The day on which it most likely began. */
  readonly since: number
  /** The middle value before and since then: ln dollars of the usual lane, or a share of decided quotes. */
  readonly before: number
  readonly after: number
  readonly valuesBefore: number
  readonly valuesAfter: number
  readonly evidence: number
}

/** The log of the mean of exp(theta z) over a normal variable that is limited to +-DEVIATIONS_MAX. */
function logMean(theta: number): number {
  const [low, high] = [normalCdf(-DEVIATIONS_MAX - theta), normalCdf(DEVIATIONS_MAX - theta)]
  const tail = normalCdf(-DEVIATIONS_MAX)
  const ends = tail * (Math.exp(theta * DEVIATIONS_MAX) + Math.exp(-theta * DEVIATIONS_MAX))
  return Math.log(Math.exp((theta * theta) / 2) * (high - low) + ends)
}
const LOG_MEANS = BETS.map(logMean)

/** The normal variable with a probability: the inverse of `normalCdf` by bisection, limited. */
function normalOf(probability: number): number {
  let [low, high] = [-DEVIATIONS_MAX, DEVIATIONS_MAX]
  if (probability <= normalCdf(low)) return low
  if (probability >= normalCdf(high)) return high
  for (let step = 0; step < 30; step++) {
    const middle = (low + high) / 2
    if (normalCdf(middle) < probability) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** The values seen so far, each minus the middle of its group: a customer with other lanes is no move. */
class Seen {
  readonly #values: WatchedValue[] = []
  readonly #sorted = new Map<string, number[]>()
  readonly #middles = new Map<string, number>()
  readonly #isShare: boolean

  constructor(isShare: boolean) {
    this.#isShare = isShare
  }

  /** Adds a value, and returns where it stands among all: uniform from 0 to 1 while nothing moves, whatever the noise is. */
  add(value: WatchedValue): number {
    this.#values.push(value)
    if (!this.#isShare) this.#addToGroup(value)
    const own = this.residual(value)
    let [below, equal] = [0, 0]
    for (const other of this.#values) {
      const residual = this.residual(other)
      if (residual < own) below++
      else if (residual === own) equal++
    }
    return (below + value.chance * equal) / this.#values.length
  }

  residual({ group, value }: WatchedValue): number {
    return value - (this.#middles.get(group) ?? 0)
  }

  #addToGroup({ group, value }: WatchedValue): void {
    const sorted = this.#sorted.get(group) ?? []
    this.#sorted.set(group, sorted)
    let at = sorted.length
    while (at > 0 && (sorted[at - 1] as number) > value) at--
    sorted.splice(at, 0, value)
    this.#middles.set(group, median(sorted) ?? value)
  }
}

/**
 * Whether a metric has moved since `from`, compared with the values before.
 *
 * Each value bets on a move up or down. Where it stands among all values so far is uniform while they come from one distribution, whatever
 * that is (a conformal test: Vovk, Nouretdinov and Gammerman 2003), so no bet grows on average: not with heavy tails, not with single
 * outliers. Every day with values begins a new bet. The evidence, the sum of the bets, exceeds the number of days by nothing on average: a
 * Shiryaev-Roberts detector. It reaches 1,095 in 1,095 days with values or less often, so the three metrics of a lane together give one
 * false alert a year or fewer. docs/decisions/0156-the-lane-watch.md has what it finds, and its limits.
 *
 * @param values in any order; values before `from` are what new ones are compared with
 * @returns null while there is no evidence of a move
 */
export function findMove(
  metric: WatchedMetric,
  values: readonly WatchedValue[],
  { from }: { readonly from: number },
): Move | null {
  const ordered = values
    .toSorted((one, other) => one.day - other.day || one.chance - other.chance)
    .slice(-WATCH_VALUES_MAX)
  const isShare = metric === 'win_rate'
  const seen = new Seen(isShare)
  const wealth = BETS.map(() => 0)
  /** The log of the product of all factors so far, of each bet: its lowest point is where a move most likely began. */
  const path = BETS.map(() => 0)
  const lowest = BETS.map(() => ({ path: 0, at: 0 }))
  let lastDay = Number.NEGATIVE_INFINITY
  for (const [at, value] of ordered.entries()) {
    const z = normalOf(seen.add(value))
    if (value.day < from || at < WATCH_BEFORE_MIN) continue
    const begins = value.day === lastDay ? 0 : 1
    lastDay = value.day
    for (const [nth, theta] of BETS.entries()) {
      const factor = theta * z - (LOG_MEANS[nth] as number)
      if ((path[nth] as number) <= (lowest[nth]?.path ?? 0)) lowest[nth] = { path: path[nth] as number, at }
      path[nth] = (path[nth] as number) + factor
      wealth[nth] = ((wealth[nth] as number) + begins) * Math.exp(factor)
    }
  }
  const evidence = wealth.reduce((sum, one) => sum + one, 0) / BETS.length
  if (evidence < WATCH_EVIDENCE) return null
  const best = wealth.indexOf(Math.max(...wealth))
  return moveSince(metric, { ordered, seen, evidence, start: lowest[best]?.at ?? 0 })
}

/** Whether a move is a step: it has lasted for some days, and is large beside the days just before it, too. */
function isStep(
  metric: WatchedMetric,
  {
    before,
    after,
    seen,
    since,
    moved,
  }: {
    readonly before: readonly WatchedValue[]
    readonly after: readonly WatchedValue[]
    readonly seen: Seen
    readonly since: number
    readonly moved: number
  },
): boolean {
  const late = after.filter(({ day }) => day < since + NEAR_DAYS)
  if (new Set(late.map(({ day }) => day)).size < STEP_DAYS_MIN) return false
  if (metric === 'win_rate') return true
  const near = before.filter(({ day }) => day >= since - NEAR_DAYS)
  const from = near.length < NEAR_VALUES_MIN ? before : near
  const level = (of: readonly WatchedValue[]) => trimmedMean(of.map((one) => seen.residual(one)))
  const step = level(late) - level(from)
  return Math.abs(step) >= STEP_MIN && Math.sign(step) === Math.sign(moved)
}

function trimmedMean(values: readonly number[]): number {
  const cut = Math.floor(TRIMMED * values.length)
  const kept = values.toSorted((one, other) => one - other).slice(cut, values.length - cut)
  return kept.reduce((sum, value) => sum + value, 0) / kept.length
}

function moveSince(
  metric: WatchedMetric,
  {
    ordered,
    seen,
    evidence,
    start,
  }: {
    readonly ordered: readonly WatchedValue[]
    readonly seen: Seen
    readonly evidence: number
    readonly start: number
  },
): Move | null {
  const since = ordered[start]?.day ?? 0
  const [before, after] = [
    ordered.filter(({ day }) => day < since),
    ordered.filter(({ day }) => day >= since),
  ]
  const middle = (of: readonly WatchedValue[]) =>
    metric === 'win_rate'
      ? of.reduce((sum, { value }) => sum + value, 0) / of.length
      : (median(of.map((one) => seen.residual(one))) ?? 0)
  const moved = middle(after) - middle(before)
  if (Math.abs(moved) < WATCH_MOVE_MIN[metric]) return null
  if (!isStep(metric, { before, after, seen, since, moved })) return null
  // In dollars of the usual lane: the middle of the values before, and the same lane since.
  const level = metric === 'win_rate' ? middle(before) : (median(before.map(({ value }) => value)) ?? 0)
  return {
    since,
    before: level,
    after: level + moved,
    valuesBefore: before.length,
    valuesAfter: after.length,
    evidence,
  }
}
