import { clip } from './vector.ts'

/** Days in which what a lane's rates said loses half its weight. */
const LEVEL_HALF_LIFE_DAYS = 40
/** Weight of the tenant's own average beside a lane's level, in quotes. */
const TENANT_WEIGHT = 0.3
/** Squared log distance of a new truckload lane from the tenant's average, at its miles; what is imagined at first. */
const USUAL_DISTANCE = 0.04
const IMAGINED_LANES = 10
/** How fast the index follows: a day with n quotes moves it by 1 - e^(-.005 n) of their mean surprise. */
const INDEX_SPEED = 0.005
/** No quote surprises the index by more than this, in log rate. */
const SURPRISE_MAX = 0.4

/** What lanes are told apart by. */
export type LaneKey = string | number

/** One quote as the reference rate sees it: `logRate` is ln(rate in cents), less ln of the tenant's length-of-haul curve. */
export interface RateSeen {
  readonly lane: LaneKey
  readonly logRate: number
}

/** A lane's level above the index on the day of its last quote, and the weight behind it, in quotes. */
export interface LaneLevel {
  weight: number
  mean: number
  day: number
}

/** What the quotes of a day are measured against: the market as it stood before any of them. */
export interface Morning {
  readonly index: number
  /** The tenant's average level. */
  readonly mean: number
  /** See `laneLikeness`. */
  readonly likeness: number
}

/**
 * Where the market stands for one tenant: a log index for all lanes, a level for each lane above it, and the tenant's
 * average level for lanes never quoted. It is a fold over days: the same days in the same order give the same digits.
 */
export interface Market {
  index: number
  /** Lanes first seen after the tenant's first quote, and the sum of their squared distances from its average. */
  newLanes: number
  newLaneDistances: number
  seen: number
  mean: number
  readonly levels: Map<LaneKey, LaneLevel>
}

export function emptyMarket(): Market {
  return { index: 0, newLanes: 0, newLaneDistances: 0, seen: 0, mean: 0, levels: new Map() }
}

/**
 * How much the tenant's average says about a lane, against what it says for truckloads: 1 where new lanes have lain within
 * 20 % or so of it, near 0 where every lane has a level of its own (goods of unlike worth; lanes without miles).
 * `min(1, 0.04 / B)`, B the mean squared log distance of new lanes, with ten imagined ones at 0.04.
 *
 * @example laneLikeness(emptyMarket()) // 1
 */
export function laneLikeness(market: Market): number {
  const distance =
    (market.newLaneDistances + IMAGINED_LANES * USUAL_DISTANCE) / (market.newLanes + IMAGINED_LANES)
  return Math.min(1, USUAL_DISTANCE / distance)
}

/** The market before the quotes of its next day; null where nothing at all has been quoted yet. */
export function morningOf(market: Market): Morning | null {
  return market.seen === 0 ? null : { index: market.index, mean: market.mean, likeness: laneLikeness(market) }
}

/**
 * Log of the reference rate of a lane on a day:
 * `I + (w f mu + g G) / (w f + g)`, g = 0.3 x `laneLikeness`, f = 2^(-days since the lane's last quote / 40); `I + G` for an unseen lane.
 *
 * @example referenceOf({ weight: 1, mean: 0, day: 0 }, { index: 7.6, mean: 0.1, likeness: 1 }, 0) // 7.623
 */
export function referenceOf(level: LaneLevel | undefined, morning: Morning, day: number): number {
  if (!level) return morning.index + morning.mean
  const weight = level.weight * 2 ** (-(day - level.day) / LEVEL_HALF_LIFE_DAYS)
  const tenantWeight = TENANT_WEIGHT * morning.likeness
  return morning.index + (weight * level.mean + tenantWeight * morning.mean) / (weight + tenantWeight)
}

/**
 * As referenceOf, from the market itself; null where nothing at all has been quoted yet.
 *
 * @example logReference(market, 'DAL>ATL V', 40) // ln 2052.208679 in the example of docs/model-estimate.md
 */
export function logReference(market: Market, lane: LaneKey, day: number): number | null {
  const morning = morningOf(market)
  return morning === null ? null : referenceOf(market.levels.get(lane), morning, day)
}

/** Moves a lane's level by a quote of a day, `value` above the index; makes the level of a new lane. */
export function movedLevel(level: LaneLevel | undefined, value: number, day: number): LaneLevel {
  if (!level) return { weight: 1, mean: value, day }
  const weight = level.weight * 2 ** (-(day - level.day) / LEVEL_HALF_LIFE_DAYS)
  level.mean = (weight * level.mean + value) / (weight + 1)
  level.weight = weight + 1
  level.day = day
  return level
}

/**
 * Adds one day's quotes. Their reference rates are those of the morning, before any of them; they are returned in the
 * order of the quotes. Quotes on a lane first seen this day are measured against their own mean: how far a new lane lies
 * from the tenant's average is news of the lane, not of the offer (on real quotes this was better than `I + G`, and far
 * safer where lanes differ much). Then the index moves once, by the mean surprise of quotes on known lanes, and each quote
 * moves its lane's level and the tenant's average.
 *
 * @example addDay(emptyMarket(), 0, [{ lane: 'DAL>ATL V', logRate: Math.log(2000) }]) // [ln 2000]
 */
export function addDay(market: Market, day: number, quotes: readonly RateSeen[]): number[] {
  let surprise = 0
  let known = 0
  const morning = morningOf(market)
  const references = quotes.map((quote) => {
    const level = market.levels.get(quote.lane)
    if (level === undefined || morning === null) return null
    const reference = referenceOf(level, morning, day)
    surprise += clip(quote.logRate - reference, -SURPRISE_MAX, SURPRISE_MAX)
    known++
    return reference
  })
  // A day with many quotes on known lanes says more about the market than one quote; one step a day keeps it stable.
  if (known > 0) market.index += (1 - Math.exp(-INDEX_SPEED * known)) * (surprise / known)

  for (const quote of quotes) {
    const value = quote.logRate - market.index
    const level = market.levels.get(quote.lane)
    if (!level && market.seen > 0) {
      market.newLanes++
      market.newLaneDistances += (value - market.mean) ** 2
    }
    market.seen++
    market.mean += (value - market.mean) / market.seen
    const moved = movedLevel(level, value, day)
    if (!level) market.levels.set(quote.lane, moved)
  }
  return references.map(
    (reference, i) => reference ?? market.index + (market.levels.get(quotes[i]?.lane ?? '')?.mean ?? 0),
  )
}
