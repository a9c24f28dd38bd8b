/**
 * How far was each quote of a lane from the going rate of its day, and was it won? Reads the lane's quotes once, oldest first (a
 * fold). Quotes that are left out get a reason. Methods: the level of the lane is exponential smoothing (reference-rate.ts), and an
 * outcome counts half as much after 60 days (https://en.wikipedia.org/wiki/Exponential_decay).
 * docs/estimate-formulas.md, "The reference rate" and "The curve".
 */

import { dayOf } from '../day.ts'
import type { Outcome } from '../history.ts'
import { LOST, OUTCOMES, PENDING, REFUSED, WON } from '../quotes/quote-columns.ts'
import { pooledRows, type QuotedLanes } from '../quotes/quoted-lanes.ts'
import { finished, type Steps } from '../steps.ts'
import { type AnswerTimes, leaningAt } from './answer-times.ts'
import { addQuote, clearKnots, emptyKnots, HALF_LIFE_DAYS, type Knots } from './knots.ts'
import { type LeftOutReason, type TenantRates, weightsOfRates } from './left-out.ts'
import { type MarketDays, marketDay } from './market-days.ts'
import { aboutPrice, type OtherLosses, type OutcomeWeights } from './other-losses.ts'
import { relativeRate } from './price-response.ts'
import type { HaulLog } from './rate-by-miles.ts'
import { firstReference, type LaneLevel, type LevelSeen, movedLevel, referenceOf } from './reference-rate.ts'

/** A quote that counts in the estimate. `x` is ln(rate / reference rate before the first quote of its day). */
export interface QuoteUsed {
  readonly quoteId: number
  readonly rateCents: number
  readonly x: number
  readonly outcome: Outcome
  /**
   * The quote's weight among the lane's outcomes: 1 today, less with age, and less far from the lane's other rates. For a pending quote,
   * without the part that counts as won or lost: see `leaningAt`. For a loss for another reason than the price, only the part that may
   * be about the price: see `OtherLosses`.
   */
  readonly weight: number
}

/** The summary of a lane's decided quotes that the wider scopes use. */
export interface LaneOutcomes {
  readonly knots: Knots
  readonly decided: number
  /** How many of the decided quotes the price decided, rounded: all of them without losses for other reasons. */
  readonly byPrice: number
  readonly won: number
}

/** A lane's current quotes, relative to the market of a preparation. */
export interface LaneFold extends LaneOutcomes, OutcomeWeights {
  readonly quotes: readonly QuoteUsed[]
  /**
   * How many decided quotes were superseded by a later offer for their load. The win curve counts them, but they are no loads of
   * their own.
   */
  readonly refused: number
  /** How many decided quotes were lost for other reasons than the price. */
  readonly other: number
  /** The lane's level above the market index; undefined if no quote counts. */
  readonly level: LaneLevel | undefined
  readonly leftOut: readonly { readonly quoteId: number; readonly reason: LeftOutReason }[]
}

/** The prepared data of a day that a lane's quotes are compared with: the market, the rates by miles, the times of answers. */
export interface FoldedAgainst {
  readonly quoted: QuotedLanes
  readonly day: number
  readonly haulLog: HaulLog
  readonly tenantRates: TenantRates
  readonly market: MarketDays
  readonly answers: AnswerTimes
  readonly otherLosses: OtherLosses
}

/** The reason to exclude a quote that does not depend on other quotes: an invalid rate or a future date. Null if there is none. */
export function whyUndated(rateCents: number, quotedAt: number, day: number): LeftOutReason | null {
  if (!(rateCents > 0 && Number.isFinite(rateCents))) return 'bad_rate'
  return dayOf(quotedAt) <= day ? null : 'future'
}

/** ln of a rate in cents, minus the brokerage's curve by miles. Unknown miles are NaN. */
export function logRateOf(rateCents: number, miles: number, haulLog: HaulLog): number {
  return Math.log(rateCents) - haulLog(Number.isNaN(miles) ? null : miles)
}

const QUOTES_PER_STEP = 3_000

export function foldLane(against: FoldedAgainst, lane: number): LaneFold {
  return finished(foldLaneInSteps(against, lane))
}

/**
 * Finds the quotes of a lane that count, their distances from the reference rate before the first quote of their day, and the wins and
 * losses by distance. Equal quotes and markets give equal digits.
 */
export function* foldLaneInSteps(against: FoldedAgainst, lane: number): Steps<LaneFold> {
  const quotes: QuoteUsed[] = []
  const leftOut: { quoteId: number; reason: LeftOutReason }[] = []
  const list = { quotes, leftOut }
  const counted = yield* countedRowsInSteps(against, lane, list)
  const folded = yield* foldRowsInSteps(against, counted, emptyKnots(), list)
  return { ...folded, quotes, leftOut }
}

/** The rows of a lane that count, in the order of time, their log rates (see `logRateOf`), and how much each counts. */
export interface CountedRows {
  readonly rows: Int32Array
  readonly logRates: Float64Array
  readonly weights: Float64Array
  /** See `RateWeights`. */
  readonly spread: number
}

/**
 * Like `foldLaneInSteps`, without the lists of quotes, for the preparation, which reads every lane.
 *
 * @param counted the lane's rows that count, if they are known; null to look for them
 * @param knots the buffer for the result: new arrays for each lane would be a kilobyte of garbage
 */
export function* laneOutcomesInSteps(
  against: FoldedAgainst,
  lane: number,
  counted: CountedRows | null,
  knots: Knots,
): Steps<LaneOutcomes & Pick<LaneFold, 'level' | 'decidedWeight' | 'decidedSquares'>> {
  const known = counted ?? (yield* countedRowsInSteps(against, lane, null))
  return yield* foldRowsInSteps(against, known, clearKnots(knots), null)
}

/** The results so far of reading a lane's quotes. */
interface Folding {
  readonly knots: Knots
  level: LaneLevel | undefined
  decided: number
  won: number
  refused: number
  other: number
  decidedWeight: number
  decidedSquares: number
  otherWeight: number
}

interface FoldedQuotes {
  readonly quotes: QuoteUsed[]
  readonly leftOut: { quoteId: number; reason: LeftOutReason }[]
}

/** The rows of a lane that count. Adds the others to `list`. */
function* countedRowsInSteps(
  against: FoldedAgainst,
  lane: number,
  list: FoldedQuotes | null,
): Steps<CountedRows> {
  const { columns } = against.quoted
  const rows = pooledRows(against.quoted, lane)
  const logRates = new Float64Array(rows.length)
  // In both arrays, rows that count move to the front.
  let dated = 0
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!
    const rateCents = columns.rateCents[row]!
    const reason = whyUndated(rateCents, columns.quotedAt[row]!, against.day)
    if (reason === null) {
      rows[dated] = row
      logRates[dated++] = logRateOf(rateCents, columns.miles[row]!, against.haulLog)
    } else list?.leftOut.push({ quoteId: columns.quoteId[row]!, reason })
    if (at % QUOTES_PER_STEP === QUOTES_PER_STEP - 1) yield
  }
  const isPending = (at: number) => columns.outcomeOf(rows[at]!) === PENDING
  const dayAt = (at: number) => dayOf(columns.quotedAt[rows[at]!]!)
  const ofLane = { logRates: logRates.subarray(0, dated), isPending, dayOf: dayAt }
  const { weights, spread } = weightsOfRates(ofLane, against.tenantRates)
  let counted = 0
  for (let at = 0; at < dated; at++) {
    const row = rows[at]!
    const logRate = logRates[at]!
    const weight = weights[at]!
    if (weight === 0) {
      list?.leftOut.push({ quoteId: columns.quoteId[row]!, reason: 'outlier' })
    } else {
      rows[counted] = row
      weights[counted] = weight
      logRates[counted++] = logRate
    }
  }
  if (counted > QUOTES_PER_STEP) yield
  return {
    rows: rows.subarray(0, counted),
    logRates: logRates.subarray(0, counted),
    weights: weights.subarray(0, counted),
    spread,
  }
}

function* foldRowsInSteps(
  against: FoldedAgainst,
  countedRows: CountedRows,
  knots: Knots,
  list: FoldedQuotes | null,
): Steps<Folding & LaneOutcomes> {
  const { columns } = against.quoted
  const { rows } = countedRows
  const counted = rows.length
  const counts = {
    decided: 0,
    won: 0,
    refused: 0,
    other: 0,
    decidedWeight: 0,
    decidedSquares: 0,
    otherWeight: 0,
  }
  const folding: Folding = { ...counts, knots, level: undefined }
  let sinceYield = 0
  for (let from = 0; from < counted; ) {
    const day = dayOf(columns.quotedAt[rows[from]!]!)
    let to = from + 1
    while (to < counted && dayOf(columns.quotedAt[rows[to]!]!) === day) to++
    foldDay(against, folding, { ...countedRows, day, from, to }, list)
    sinceYield += to - from
    from = to
    if (sinceYield < QUOTES_PER_STEP) continue
    sinceYield = 0
    yield
  }
  const { mislabeled } = against.otherLosses
  return { ...folding, byPrice: folding.decided - Math.round((1 - mislabeled) * folding.other) }
}

/** Adds a lane's quotes of one day: rows `from` (inclusive) to `to` (exclusive). */
function foldDay(
  { quoted: { columns }, day: today, market, answers, otherLosses }: FoldedAgainst,
  folding: Folding,
  {
    day,
    from,
    to,
    rows,
    logRates,
    weights,
    spread,
  }: CountedRows & { readonly day: number; readonly from: number; readonly to: number },
  list: FoldedQuotes | null,
): void {
  const { knots } = folding
  const { morning, indexAfter } = marketDay(market, day)
  const known = folding.level === undefined || morning === null ? null : referenceOf(folding.level, morning)
  const seen: LevelSeen[] = []
  let [pendingSum, pendingWeight, pendingCount] = [0, 0, 0]
  for (let at = from; at < to; at++) {
    if (columns.outcomeOf(rows[at]!) === PENDING) {
      pendingSum += weights[at]! * logRates[at]!
      pendingWeight += weights[at]!
      pendingCount++
    } else seen.push({ value: logRates[at]! - indexAfter, weight: weights[at]!, spread })
  }
  // The pending quotes of a day count as one: see `marketDaysInSteps`.
  if (pendingCount > 0) {
    const value = pendingSum / pendingWeight - indexAfter
    seen.push({ value, weight: pendingWeight / pendingCount, spread })
  }
  folding.level = movedLevel(folding.level, seen, day)
  // A lane first quoted on this day is compared with its own rates: see `addDay`.
  const reference = known ?? firstReference(folding.level, indexAfter, morning)
  const weightOfDay = 2 ** (-(today - day) / HALF_LIFE_DAYS)
  const leaning = leaningAt(answers, today - day)
  for (let at = from; at < to; at++) {
    const row = rows[at]!
    const x = relativeRate(Math.exp(logRates[at]! - reference), 1)
    const weight = weights[at]! * weightOfDay
    const outcome = columns.outcomeOf(row)
    const isOther = outcome === LOST && columns.isForOtherReason(row)
    const evidence = isOther ? weight * aboutPrice(otherLosses, x) : weight
    list?.quotes.push({
      quoteId: columns.quoteId[row]!,
      rateCents: columns.rateCents[row]!,
      x,
      outcome: OUTCOMES[outcome] ?? 'pending',
      weight: outcome === PENDING ? weight * (1 - leaning.weight) : evidence,
    })
    if (outcome === PENDING) {
      if (leaning.weight > 0) addQuote(knots, { x, won: leaning.won, weight: weight * leaning.weight })
      continue
    }
    if (evidence > 0) addQuote(knots, { x, won: outcome === WON, weight: evidence })
    folding.decided++
    folding.decidedWeight += weight
    folding.decidedSquares += weight * weight
    if (isOther) {
      folding.other++
      folding.otherWeight += weight
    }
    if (outcome === WON) folding.won++
    if (outcome === REFUSED) folding.refused++
  }
}
