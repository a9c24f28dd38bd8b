/**
 * What is the going rate of a lane, if it was last quoted three weeks ago and the market has moved since? Methods: the market
 * index and the level of each lane are exponential smoothing (https://en.wikipedia.org/wiki/Exponential_smoothing). The fewer
 * recent quotes a lane has, the more the brokerage's average counts beside its level (credibility, Bühlmann and Straub, 1970).
 * docs/estimate-formulas.md, "The reference rate".
 */

import { clip } from './vector.ts'

/** A rate counts half as much in the level of its lane after this many days. */
const LEVEL_HALF_LIFE_DAYS = 40
/** A quote moves the level of a lane with five quotes or more by at most this share of the lane's spread, and that of fewer further. */
const STEP_MAX = 0.07
const SETTLED_QUOTES = 5
/** The rates of a lane that hardly differ are a price list, and it changes: the step is of this spread at least. */
const STEP_SPREAD_MIN = 0.05
/** The brokerage's average counts as much as this many quotes of a lane. */
const TENANT_WEIGHT = 0.3
/** How far the rates of a new truckload lane usually are from the brokerage's average for its miles: the squared log distance. */
const USUAL_DISTANCE = 0.04
/** `USUAL_DISTANCE` counts as if measured on this many lanes. */
const IMAGINED_LANES = 10
/** How fast the market index moves: a day with n quotes moves it by 1 - e^(-.005 n) times their mean surprise. */
const INDEX_SPEED = 0.005
/**
 * The quotes of one lane on one day move the index by at most as much as this many: hundreds of wrong rates in one file are one lane's, and
 * say little about the others.
 */
const INDEX_QUOTES_MAX = 10
/** A quote's surprise, ln(rate / reference rate), counts up to this much. */
const SURPRISE_MAX = 0.4

export type LaneKey = string | number

/** One quote: `logRate` is ln(rate in cents) minus the brokerage's length-of-haul curve. */
export interface RateSeen {
  readonly lane: LaneKey
  readonly logRate: number
  /** How much the rate counts, from 0 to 1: see `weightsOfRates`. Absent: 1. */
  readonly weight?: number
}

/** How far a lane's rates are above the market index (its level), and the weight of its quotes, both on the day of the last quote. */
export interface LaneLevel {
  weight: number
  mean: number
  day: number
  /** How many quotes moved it, by weight. */
  quotes: number
}

/** The market before the first quote of a day, with which all quotes of the day are compared. */
export interface Morning {
  readonly index: number
  /** The average level of the brokerage's quotes. */
  readonly mean: number
  /** How similar the lanes are: see `laneLikeness`. If the weight in use is k above the usual one, at least k / (k + 1). */
  readonly likeness: number
  /** The brokerage's average counts as this many quotes of a lane: 0.3 x likeness. */
  readonly usualWeight: number
  /** The weight in use: the usual one, or on the way to one of `TENANT_WEIGHTS` that predicted rates better. */
  readonly tenantWeight: number
  /** The weight on the day of a lane's first quotes: how far the weight in use is above the usual one. */
  readonly firstDayWeight: number
}

/**
 * The market of one brokerage: a log index for all lanes, each lane's level above it, and the brokerage's average level for lanes
 * never quoted. Equal days in the same order give equal digits.
 */
export interface Market {
  index: number
  /**
   * The number of lanes first quoted after the brokerage's first quote. `newLaneDistances` sums their squared distances from its average.
   */
  newLanes: number
  newLaneDistances: number
  /** The number of quotes on known lanes. */
  knownQuotes: number
  /** The sums of how far these quotes were from their reference rates: with the usual weight and with each of `TENANT_WEIGHTS`. */
  readonly distances: number[]
  /** ln(the weight of the brokerage's average in use / the usual one). */
  raised: number
  seen: number
  mean: number
  readonly levels: Map<LaneKey, LaneLevel>
}

export function emptyMarket(): Market {
  return {
    index: 0,
    newLanes: 0,
    newLaneDistances: 0,
    knownQuotes: 0,
    distances: [0, 0, 0, 0, 0],
    raised: 0,
    seen: 0,
    mean: 0,
    levels: new Map(),
  }
}

/**
 * How well the brokerage's average predicts the rates of a new lane: 1 if new lanes are within about 20 % of it, near 0 if lanes
 * differ much (for example without miles). `min(1, 0.04 / B)`, where B is the mean squared log distance of new lanes, including ten
 * assumed lanes at 0.04.
 *
 * @example laneLikeness(emptyMarket()) // 1
 */
export function laneLikeness(market: Market): number {
  const distance =
    (market.newLaneDistances + IMAGINED_LANES * USUAL_DISTANCE) / (market.newLanes + IMAGINED_LANES)
  return Math.min(1, USUAL_DISTANCE / distance)
}

/**
 * Weights of the brokerage's average that are tried beside the usual one, in quotes. In sealed tenders, lanes hardly differ from
 * the average, but bids differ much, so that a lane's own mean is mostly noise.
 */
const TENANT_WEIGHTS = [1, 3, 10, 30] as const
/** One of `TENANT_WEIGHTS` replaces the usual weight only after this many quotes on known lanes. */
const QUOTES_TO_CHOOSE = 100
/** The weight in use moves toward a better one as far as 1 - 1/e with this many quotes. */
const QUOTES_TO_MOVE = 50
/** Such a weight must also decrease the mean distance of quotes from their reference rates by this share. */
const DISTANCE_GAIN_MIN = 0.01
/** At most this much of a quote's distance counts in the choice of the weight. */
const DISTANCE_MAX = 1

/** The one of `TENANT_WEIGHTS` that predicted rates better than the usual weight; null if there is none. */
function betterWeight(market: Market): number | null {
  if (market.knownQuotes < QUOTES_TO_CHOOSE) return null
  const [usual = 0, ...others] = market.distances
  let best = -1
  let least = usual * (1 - DISTANCE_GAIN_MIN)
  for (const [i, distance] of others.entries()) {
    if (distance < least) [best, least] = [i, distance]
  }
  return TENANT_WEIGHTS[best] ?? null
}

/**
 * Moves the weight in use toward the one that predicted rates best, in ln, by a hundredth of the way for each quote. So no single quote
 * switches it.
 */
function moveWeight(market: Market, known: number): void {
  const usual = TENANT_WEIGHT * laneLikeness(market)
  const aim = Math.log((betterWeight(market) ?? usual) / usual)
  market.raised += (1 - Math.exp(-known / QUOTES_TO_MOVE)) * (aim - market.raised)
}

/** The market before the next day's quotes; null if there are no quotes yet. */
export function morningOf(market: Market): Morning | null {
  if (market.seen === 0) return null
  const likeness = laneLikeness(market)
  const usualWeight = TENANT_WEIGHT * likeness
  const tenantWeight = usualWeight * Math.exp(market.raised)
  const more = Math.max(0, tenantWeight - usualWeight)
  return {
    index: market.index,
    mean: market.mean,
    likeness: Math.max(likeness, more / (more + 1)),
    usualWeight,
    tenantWeight,
    firstDayWeight: more,
  }
}

/**
 * Log of the reference rate of a lane: `I + (n mu + g G) / (n + g)`, with the index I, the lane's mean mu and its n quotes, the brokerage's
 * mean G and `g = tenantWeight`; `I + G` for an unseen lane. Old quotes count in full beside the average: otherwise one new quote on a lane
 * that is far from it would move the rate by more than the quote says.
 *
 * @example referenceOf({ weight: 1, mean: 0, day: 0, quotes: 1 }, { ...morning, index: 7.6, mean: 0.1, tenantWeight: 0.3 }) // 7.623
 */
export function referenceOf(level: LaneLevel | undefined, morning: Morning): number {
  if (!level) return morning.index + morning.mean
  const { index, mean, tenantWeight } = morning
  return index + (level.quotes * level.mean + tenantWeight * mean) / (level.quotes + tenantWeight)
}

const weightOf = ({ weight = 1 }: RateSeen) => weight

/** How much each quote of a day counts in the index: at most `INDEX_QUOTES_MAX` quotes of a lane do, by share. */
function indexWeights(quotes: readonly RateSeen[]): number[] {
  if (quotes.length <= INDEX_QUOTES_MAX) return quotes.map(weightOf)
  const ofLane = new Map<LaneKey, number>()
  for (const quote of quotes) ofLane.set(quote.lane, (ofLane.get(quote.lane) ?? 0) + weightOf(quote))
  return quotes.map((quote) => {
    const all = ofLane.get(quote.lane) ?? 0
    return all <= INDEX_QUOTES_MAX ? weightOf(quote) : (weightOf(quote) * INDEX_QUOTES_MAX) / all
  })
}

/** Adds how far a quote on a known lane is from its reference rate with each of the weights. */
function countDistances(
  market: Market,
  level: LaneLevel,
  { morning, quote }: { morning: Morning; quote: RateSeen },
): void {
  const value = quote.logRate - morning.index
  for (let i = 0; i < market.distances.length; i++) {
    const tenantWeight = i === 0 ? morning.usualWeight : TENANT_WEIGHTS[i - 1]!
    const mean = (level.quotes * level.mean + tenantWeight * morning.mean) / (level.quotes + tenantWeight)
    market.distances[i]! += weightOf(quote) * Math.min(Math.abs(value - mean), DISTANCE_MAX)
  }
  market.knownQuotes++
}

/**
 * Like `referenceOf`, but from the market; null if there are no quotes yet.
 *
 * @example logReference(market, 'DAL>ATL V') // ln 2052.375653 in the example of docs/estimate-formulas.md
 */
export function logReference(market: Market, lane: LaneKey): number | null {
  const morning = morningOf(market)
  return morning === null ? null : referenceOf(market.levels.get(lane), morning)
}

/** The weight of a lane's level on a day, in quotes. */
export function levelWeight({ weight, day: since }: LaneLevel, day: number): number {
  return weight * 2 ** (-(day - since) / LEVEL_HALF_LIFE_DAYS)
}

/** A quote of a lane: how far its log rate is above the index, how much it counts, and the spread of the lane (infinity: no limit). */
export interface LevelSeen {
  readonly value: number
  readonly weight: number
  readonly spread: number
}

/**
 * Updates a lane's level (undefined for a new lane) with the quotes of a day. Each moves it from the morning's level, so their order does
 * not matter, and by at most .07 x max(1, 5 / n)^2 of the lane's spread, for a lane with n quotes.
 */
export function movedLevel(level: LaneLevel | undefined, seen: readonly LevelSeen[], day: number): LaneLevel {
  let [added, sum] = [0, 0]
  for (const { weight, value } of seen) {
    added += weight
    sum += weight * value
  }
  if (level === undefined) return { weight: added, mean: sum / added, day, quotes: added }
  const weight = levelWeight(level, day) + added
  const share = STEP_MAX * Math.max(1, SETTLED_QUOTES / level.quotes) ** 2
  let move = 0
  for (const { weight: own, value, spread } of seen) {
    const most = share * Math.max(STEP_SPREAD_MIN, spread)
    move += clip((own * (value - level.mean)) / weight, -most, most)
  }
  level.mean += move
  level.weight = weight
  level.day = day
  level.quotes += added
  return level
}

/**
 * Adds one day's quotes. Returns the log of their reference rates, in the order of the quotes, from the market before the first of
 * them. A lane first quoted this day is compared with its own mean, because a new lane that is far from the brokerage's average is
 * an unusual lane, not an unusual offer (see `firstReference`). On real quotes this was better than `I + G`. Then the index moves
 * once, by the mean surprise of quotes on known lanes, and each quote updates its lane's level and the brokerage's average.
 *
 * @example addDay(emptyMarket(), 0, [{ lane: 'DAL>ATL V', logRate: Math.log(2000) }]) // [ln 2000]
 */
export function addDay(market: Market, day: number, quotes: readonly RateSeen[]): number[] {
  let surprise = 0
  let known = 0
  const morning = morningOf(market)
  const inIndex = indexWeights(quotes)
  const references = quotes.map((quote, nth) => {
    const level = market.levels.get(quote.lane)
    if (level === undefined || morning === null) return null
    const reference = referenceOf(level, morning)
    const weight = inIndex[nth] ?? 0
    surprise += weight * clip(quote.logRate - reference, -SURPRISE_MAX, SURPRISE_MAX)
    countDistances(market, level, { morning, quote })
    known += weight
    return reference
  })
  // The index moves once per day, which makes it stable, and further the more quotes on known lanes the day has.
  if (known > 0) {
    market.index += (1 - Math.exp(-INDEX_SPEED * known)) * (surprise / known)
    moveWeight(market, known)
  }

  for (const quote of quotes) {
    const value = quote.logRate - market.index
    const weight = weightOf(quote)
    const level = market.levels.get(quote.lane)
    if (!level && market.seen > 0) {
      market.newLanes++
      market.newLaneDistances += (value - market.mean) ** 2
    }
    market.seen += weight
    market.mean += (weight * (value - market.mean)) / market.seen
    const moved = movedLevel(level, [{ value, weight, spread: Number.POSITIVE_INFINITY }], day)
    if (!level) market.levels.set(quote.lane, moved)
  }
  return references.map(
    (reference, i) =>
      reference ?? firstReference(market.levels.get(quotes[i]?.lane ?? ''), market.index, morning),
  )
}

/**
 * Log of the reference rate of a lane first quoted this day: the mean of its own rates, mixed with the brokerage's average if lanes
 * hardly differ from it.
 */
export function firstReference(level: LaneLevel | undefined, index: number, morning: Morning | null): number {
  if (!level) return index
  const weight = morning?.firstDayWeight ?? 0
  return index + (level.weight * level.mean + weight * (morning?.mean ?? 0)) / (level.weight + weight)
}
