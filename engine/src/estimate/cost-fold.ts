/**
 * What did trucks cost on each lane so far, and how well would that have predicted the next load? Reads all loads once, oldest
 * first. Methods: the market index of costs is exponential smoothing (https://en.wikipedia.org/wiki/Exponential_smoothing). Each
 * load is forecast from what was known before it, and only then counted (prequential forecasting, Dawid, 1984).
 * docs/estimate-formulas.md, "Expected cost" and "Costs 7, 14 and 28 days ahead".
 */

import { QUOTES_PER_STEP, type Steps } from '../steps.ts'
import {
  type AbsoluteErrors,
  AHEAD_DAYS,
  addError,
  countError,
  type ErrorCounts,
  noAbsoluteErrors,
  noErrors,
  OWN_LOADS_ROWS,
  usualError,
} from './cost-errors.ts'
import {
  type CostChain,
  chainOf,
  countIn,
  type NewestLoads,
  newestGap,
  type Residual,
  weightOf,
} from './cost-scopes.ts'
import { type CostDays, earlierMovement, type LoadColumns, type SeasonShare } from './cost-season.ts'
import { clip } from './vector.ts'

/** How fast the market index of truck costs moves: a day with n loads moves it by 1 - e^(-.05 n) times their mean surprise. */
const INDEX_SPEED = 0.05
/** The limit, in ln cost, of a load's surprise (actual minus expected), and of the gap between a lane's newest loads and its level. */
const SURPRISE_MAX = 0.4
/** An expected cost moves toward the lane's newest loads by one of these shares of the gap: the one that would have been best so far. */
const FOLLOWED = [0, 0.25, 0.5, 0.75, 1] as const
/** With fewer loads to learn the share from, the share is 0. */
const FOLLOW_LOADS_MIN = 10
/** By chance alone, costs seem to move this much with the season, in ln cost. It is subtracted from each seasonal movement. */
const SEASON_LEAST = 0.005
/** Past errors are learned from at most this many of the newest loads, because each forecast takes time. */
const TAUGHT_LOADS_MAX = 20_000

/** How the brokerage's truck costs moved, as an index in ln cost: on the morning of each day with loads, oldest first, and now. */
export interface CostIndex {
  readonly days: readonly number[]
  readonly mornings: readonly number[]
  readonly now: number
}

/** The seasonal share and the past errors of forecasts for one of `AHEAD_DAYS`. */
export interface AheadFit {
  readonly season: SeasonShare
  /** One entry for each of `OWN_LOADS_ROWS`. */
  readonly errors: readonly Readonly<AbsoluteErrors>[]
}

/** The sums over a brokerage's loads that its expected costs are computed from. */
export interface CostScopes {
  loads: number
  readonly residuals: Map<string, Residual>
  /** The newest loads of each lane, by its key. */
  readonly newest: Map<string, NewestLoads>
}

/** Loads in the order of time, and the scope keys of each lane. */
export interface FoldedLoads extends LoadColumns {
  /** How much of each load's residual the limit of `values` cut off: 0 for nearly all. */
  readonly beyond: Float32Array
  readonly keysOf: (lane: number) => readonly string[]
}

const TENANT_KEY = 'tenant'

/** The scopes of a lane and its newest loads, as far as they are known. */
export function knownChain({ residuals, newest }: CostScopes, costKeys: readonly string[]): CostChain {
  return {
    scopes: [TENANT_KEY, ...costKeys].map((key) => residuals.get(key)),
    newest: newest.get(costKeys.at(-1) ?? ''),
  }
}

/** Like `knownChain`, but adds missing scopes. */
export function chainFor({ residuals, newest }: CostScopes, costKeys: readonly string[]): CostChain {
  const scopes = [TENANT_KEY, ...costKeys].map((key) => {
    const known = residuals.get(key) ?? { weight: 0, sum: 0, moved: 0, loads: 0 }
    residuals.set(key, known)
    return known
  })
  const key = costKeys.at(-1)
  if (key === undefined) return { scopes, newest: undefined }
  const known = newest.get(key) ?? { days: [], values: [] }
  newest.set(key, known)
  return { scopes, newest: known }
}

/** The row of `OWN_LOADS_ROWS` for a lane. */
export function ownLoadsRow({ scopes }: CostChain): number {
  const loads = scopes.at(-1)?.loads ?? 0
  return OWN_LOADS_ROWS.findIndex((most) => loads <= most)
}

/** The market index on the morning of a day. */
export function indexOn({ days, mornings, now }: CostIndex, day: number): number {
  let low = 0
  let high = days.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (days[middle]! < day) low = middle + 1
    else high = middle
  }
  return mornings[low] ?? now
}

/**
 * How far above or below the length-of-haul curve a truck on a lane will cost in some days, in ln cost, as expected on the evening
 * of the day `from`.
 */
export interface ResidualAhead {
  /** The residual by the lane's scopes, from the brokerage to the lane itself. */
  readonly level: number
  /** How far the lane's newest loads are from `level`, at most `SURPRISE_MAX`. */
  readonly gap: number
  /** How the season will move costs in those days. */
  readonly season: number
}

export function residualAhead(
  chain: CostChain,
  seen: {
    from: number
    ahead: number
    scale: number
    index: number
    costDays: CostDays | null
    share: number
  },
): ResidualAhead {
  const level = chainOf(chain, seen)
  const gap = clip(newestGap(chain, level, seen.from), -SURPRISE_MAX, SURPRISE_MAX)
  const moved =
    seen.costDays === null || seen.share === 0 ? null : earlierMovement(seen.costDays, seen.from, seen.ahead)
  const season = seen.share * (moved ?? 0)
  return { level, gap, season: Math.sign(season) * Math.max(0, Math.abs(season) - SEASON_LEAST) }
}

/** Learns which share of `FOLLOWED` would have had the smallest errors; if several are equal, the smallest share. */
class Share {
  share = 0
  loads = 0
  readonly #misses = FOLLOWED.map(() => 0)

  learn(gap: number, rest: number): void {
    this.loads++
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i < FOLLOWED.length; i++) {
      const share = FOLLOWED[i]!
      const missed = this.#misses[i]! + Math.abs(rest - share * gap)
      this.#misses[i] = missed
      if (missed >= least) continue
      least = missed
      this.share = share
    }
  }
}

/** One learned share for each of `OWN_LOADS_ROWS`. A row with too few loads has the share of all lanes. */
class Following {
  readonly #all = new Share()
  readonly #rows = OWN_LOADS_ROWS.map(() => new Share())

  share(row: number): number {
    const own = this.#rows[row]
    const found = own !== undefined && own.loads >= FOLLOW_LOADS_MIN ? own : this.#all
    return found.loads >= FOLLOW_LOADS_MIN ? found.share : 0
  }

  learn(row: number, gap: number, rest: number): void {
    if (gap === 0) return
    this.#all.learn(gap, rest)
    this.#rows[row]?.learn(gap, rest)
  }
}

/** The inputs that are known before the loads are read. */
interface Known {
  /** The day for which costs are prepared. */
  readonly day: number
  readonly costDays: CostDays | null
  readonly seasons: readonly SeasonShare[]
}

interface FoldedCosts extends CostScopes {
  readonly index: CostIndex
  readonly follow: readonly number[]
  readonly ahead: readonly AheadFit[]
  /** The signed errors of costs expected on the same day, in multiples of the usual error. */
  readonly signedErrors: ErrorCounts
}

/**
 * Reads a brokerage's loads, oldest first. Returns the residuals of each scope, the market index, and the errors of forecasts: each load
 * is forecast four times, from the loads known 0, 7, 14 and 28 days before its day.
 */
export function* foldedInSteps(loads: FoldedLoads, known: Known): Steps<FoldedCosts> {
  const fold = new CostFold(loads, known)
  const { days, values } = loads
  for (let nth = 0; nth < days.length; nth++) {
    // Each load updates seven scopes, so a step reads fewer rows than in other loops.
    if (nth % QUOTES_PER_STEP === 0) yield
    if (Number.isNaN(values[nth])) continue
    const day = days[nth]!
    if (day !== fold.today) {
      fold.endDay()
      yield* fold.lookAhead(day)
      fold.startDay(day)
    }
    fold.add(nth)
  }
  fold.endDay()
  yield* fold.lookAhead(known.day + 1)
  return yield* fold.result()
}

interface LaneForecast {
  readonly seen: ResidualAhead
  readonly row: number
  /** The usual error of the lane's forecasts. */
  readonly usual: number
}

class CostFold {
  today = Number.NEGATIVE_INFINITY
  readonly #loads: FoldedLoads
  readonly #known: Known
  readonly #scopes: CostScopes = { loads: 0, residuals: new Map(), newest: new Map() }
  /** The scopes of each lane (its chain), once they are needed. */
  readonly #chains: (CostChain | undefined)[]
  readonly #following = new Following()
  readonly #errors = AHEAD_DAYS.map(noAbsoluteErrors)
  readonly #signedErrors = noErrors()
  /** The forecast for the first load of today on each lane. */
  readonly #firstToday = new Map<number, LaneForecast>()
  readonly #taughtFrom: number
  /** The next load to forecast for each of `AHEAD_DAYS`. */
  readonly #next: number[]
  readonly #days: number[] = []
  readonly #mornings: number[] = []
  /** Arguments of `chainOf` and `countIn`, reused: new ones for each of a million loads are 200 megabytes of garbage. */
  readonly #moving = { scale: 0, index: 0, moving: 0 }
  readonly #counted = { day: 0, weight: 0, value: 0, index: 0, count: 1 as const }
  /** The day and the weight of the last call of `#weightOn`. */
  #weighedDay = Number.NaN
  #weight = 1
  #index = 0
  #surprise = 0
  #surprised = 0

  constructor(loads: FoldedLoads, known: Known) {
    this.#loads = loads
    this.#known = known
    this.#chains = Array.from({ length: loads.laneCount })
    this.#taughtFrom = Math.max(0, loads.days.length - TAUGHT_LOADS_MAX)
    this.#next = AHEAD_DAYS.map(() => this.#taughtFrom)
  }

  #chain(lane: number): CostChain {
    const known = this.#chains[lane]
    if (known !== undefined) return known
    const chain = chainFor(this.#scopes, this.#loads.keysOf(lane))
    this.#chains[lane] = chain
    return chain
  }

  /** `weightOf` is slow, so loads of the same day in a row share one result. */
  #weightOn(day: number): number {
    if (day !== this.#weighedDay) {
      this.#weighedDay = day
      this.#weight = weightOf(day, this.#known.day)
    }
    return this.#weight
  }

  /** Forecasts a load from the loads counted so far. `which` is a position in `AHEAD_DAYS`. */
  #forecast(which: number, chain: CostChain, from: number): ResidualAhead {
    return residualAhead(chain, {
      from,
      ahead: AHEAD_DAYS[which]!,
      scale: 1 / this.#weightOn(from),
      index: this.#index,
      costDays: this.#known.costDays,
      share: this.#known.seasons[which]?.share ?? 0,
    })
  }

  /** Forecasts loads 7, 14 or 28 days ahead: each load for which all loads up to that many days before it are counted on `day`. */
  *lookAhead(day: number): Steps<undefined> {
    const { days, lanes, values } = this.#loads
    for (let which = 1; which < AHEAD_DAYS.length; which++) {
      const ahead = AHEAD_DAYS[which]!
      for (let nth = this.#next[which]!; nth < days.length; nth++) {
        this.#next[which] = nth
        if (nth % QUOTES_PER_STEP === 0) yield
        const value = values[nth]!
        const from = days[nth]! - ahead
        if (!Number.isNaN(value) && from >= day) break
        this.#next[which] = nth + 1
        if (Number.isNaN(value) || this.#scopes.loads === 0) continue
        const chain = this.#chain(lanes[nth]!)
        const seen = this.#forecast(which, chain, from)
        const row = ownLoadsRow(chain)
        const weight = weightOf(days[nth]!, this.#known.day)
        const errors = this.#errors[which]?.[row]
        const actual = value + this.#loads.beyond[nth]!
        if (errors !== undefined) addError(errors, missOf(seen, actual, this.#following.share(row)), weight)
      }
    }
    return undefined
  }

  startDay(day: number): void {
    this.today = day
    this.#firstToday.clear()
    this.#days.push(day)
    this.#mornings.push(this.#index)
  }

  /** Moves the market index by the surprises of the day. */
  endDay(): void {
    if (this.#surprised === 0) return
    this.#index += (1 - Math.exp(-INDEX_SPEED * this.#surprised)) * (this.#surprise / this.#surprised)
    this.#surprise = 0
    this.#surprised = 0
  }

  add(nth: number): void {
    const value = this.#loads.values[nth]!
    const chain = this.#chain(this.#loads.lanes[nth]!)
    const weight = this.#weightOn(this.today)
    // The first load of a brokerage sets its level, and says nothing about the market. Here the means of all scopes follow the index.
    // Otherwise agreed prices, which do not follow the market, would count as surprises every day and move the index past it.
    if (this.#scopes.loads > 0) {
      this.#moving.scale = 1 / weight
      this.#moving.index = this.#index
      this.#moving.moving = chain.scopes.length
      const moved = chainOf(chain, this.#moving)
      this.#surprise += clip(value - moved, -SURPRISE_MAX, SURPRISE_MAX)
    }
    this.#surprised++
    if (nth >= this.#taughtFrom) this.#learn(nth, chain, weight)
    this.#counted.day = this.today
    this.#counted.weight = weight
    this.#counted.value = value
    this.#counted.index = this.#mornings.at(-1) ?? 0
    countIn(chain, this.#counted)
    this.#scopes.loads++
  }

  /**
   * Learns from the error of a load of today, forecast before the first load of its lane today. A broker cannot know the other loads of the
   * day either, and loads of one day often have the same cost.
   */
  #learn(nth: number, chain: CostChain, weight: number): void {
    if (this.#scopes.loads === 0) return
    const lane = this.#loads.lanes[nth]!
    const value = this.#loads.values[nth]!
    let first = this.#firstToday.get(lane)
    if (first === undefined) {
      const row = ownLoadsRow(chain)
      const usual = usualError(this.#errors[0]?.[row], { which: 0, row }, 1 / weight)
      first = { seen: this.#forecast(0, chain, this.today), row, usual }
      this.#firstToday.set(lane, first)
    }
    const { seen, row, usual } = first
    const miss = missOf(seen, value + this.#loads.beyond[nth]!, this.#following.share(row))
    countError(this.#signedErrors, miss / usual, weight)
    const errors = this.#errors[0]?.[row]
    if (errors !== undefined) addError(errors, miss, weight)
    this.#following.learn(row, seen.gap, value - seen.level)
  }

  *result(): Steps<FoldedCosts> {
    const { newest } = this.#scopes
    let copied = 0
    // Lists that grew have room for 17 loads; copies have no unused room.
    for (const [key, { days, values }] of newest) {
      newest.set(key, { days: days.slice(), values: values.slice() })
      if (++copied % QUOTES_PER_STEP === 0) yield
    }
    return {
      ...this.#scopes,
      index: { days: this.#days, mornings: this.#mornings, now: this.#index },
      follow: OWN_LOADS_ROWS.map((_, row) => this.#following.share(row)),
      ahead: this.#errors.map((errors, which) => ({
        season: this.#known.seasons[which] ?? { share: 0, checks: 0 },
        errors,
      })),
      signedErrors: this.#signedErrors,
    }
  }
}

/** How far a load's actual residual is from the expected one. */
function missOf({ level, gap, season }: ResidualAhead, value: number, follow: number): number {
  return value - level - follow * gap - season
}
