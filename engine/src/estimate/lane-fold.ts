import { OUTCOMES, PENDING, WON } from '../book/quote-columns.ts'
import type { Outcome } from '../history.ts'
import { finished, type Steps } from '../steps.ts'
import { dayOf } from './day.ts'
import { addQuote, emptyKnots, type Knots } from './knots.ts'
import { type LeftOutReason, outlierTest } from './left-out.ts'
import { type MarketDays, marketDay } from './market-days.ts'
import { relativeRate } from './price-response.ts'
import type { QuotedLanes } from './quoted-lanes.ts'
import type { HaulLog } from './rate-by-miles.ts'
import { type LaneLevel, movedLevel, referenceOf } from './reference-rate.ts'

/** A decided quote's weight halves in this many days. */
const HALF_LIFE_DAYS = 60

/** One of a lane's quotes as the estimate used it: `x` is ln(rate / the reference rate of its morning). */
export interface QuoteUsed {
  readonly laneId: number
  readonly rateCents: number
  readonly x: number
  readonly outcome: Outcome
}

/** A lane's decided quotes as everything above it sees them. */
export interface LaneOutcomes {
  readonly knots: Knots
  readonly decided: number
  readonly won: number
}

/** A lane's own quotes, as they stand now, measured against the market of a preparation. */
export interface LaneFold extends LaneOutcomes {
  readonly quotes: readonly QuoteUsed[]
  /** Where the lane stands above the index; undefined when every quote is left out. */
  readonly level: LaneLevel | undefined
  readonly leftOut: readonly { readonly laneId: number; readonly reason: LeftOutReason }[]
}

/** What a lane's quotes are measured against. */
export interface FoldedAgainst {
  readonly quoted: QuotedLanes
  readonly day: number
  readonly haulLog: HaulLog
  readonly tenantMiddle: number | null
  readonly market: MarketDays
}

/** Why a quote of a day is left out before its rate is looked at; null when it is not. */
export function whyUndated(rateCents: number, quotedAt: number, day: number): LeftOutReason | null {
  if (!(rateCents > 0 && Number.isFinite(rateCents))) return 'bad_rate'
  return dayOf(quotedAt) <= day ? null : 'future'
}

/** ln of a rate in cents, less the tenant's curve by miles. Miles are NaN where unknown. */
export function logRateOf(rateCents: number, miles: number, haulLog: HaulLog): number {
  return Math.log(rateCents) - haulLog(Number.isNaN(miles) ? null : miles)
}

/** Quotes that are folded in one step. */
const QUOTES_PER_STEP = 3_000

/** A quote that may count: its row, and ln of its rate for its miles. */
interface Dated {
  readonly row: number
  readonly logRate: number
}

/** As foldLaneInSteps, without a pause. */
export function foldLane(against: FoldedAgainst, lane: number): LaneFold {
  return finished(foldLaneInSteps(against, lane))
}

/**
 * Folds a lane's quotes in the order of time: which count, where each stood against the reference rate of its morning,
 * and what was won and lost there. The same quotes and the same market give the same digits.
 */
export function* foldLaneInSteps(against: FoldedAgainst, lane: number): Steps<LaneFold> {
  const { columns } = against.quoted
  const leftOut: { laneId: number; reason: LeftOutReason }[] = []
  const dated: Dated[] = []
  for (const [at, row] of columns.rowsOf(lane).entries()) {
    const rateCents = columns.rateCents[row] as number
    const reason = whyUndated(rateCents, columns.quotedAt[row] as number, against.day)
    if (reason === null) {
      dated.push({ row, logRate: logRateOf(rateCents, columns.miles[row] as number, against.haulLog) })
    } else leftOut.push({ laneId: columns.laneId[row] as number, reason })
    if (at % QUOTES_PER_STEP === QUOTES_PER_STEP - 1) yield
  }
  const isOutlier = outlierTest(
    dated.map(({ logRate }) => logRate),
    against.tenantMiddle,
  )
  const counted = dated.filter(({ row, logRate }) => {
    if (!isOutlier(logRate)) return true
    leftOut.push({ laneId: columns.laneId[row] as number, reason: 'outlier' })
    return false
  })
  if (counted.length > QUOTES_PER_STEP) yield
  return { ...(yield* foldCounted(against, counted)), leftOut }
}

function* foldCounted(against: FoldedAgainst, counted: readonly Dated[]): Steps<Omit<LaneFold, 'leftOut'>> {
  const { columns } = against.quoted
  const fold = {
    knots: emptyKnots(),
    quotes: [] as QuoteUsed[],
    level: undefined as LaneLevel | undefined,
    decided: 0,
    won: 0,
  }
  let ofDay: Dated[] = []
  let day = Number.NaN
  for (const [at, quote] of counted.entries()) {
    const quoteDay = dayOf(columns.quotedAt[quote.row] as number)
    if (quoteDay !== day) {
      foldDay(against, fold, day, ofDay)
      ofDay = []
      day = quoteDay
    }
    ofDay.push(quote)
    if (at % QUOTES_PER_STEP === QUOTES_PER_STEP - 1) yield
  }
  foldDay(against, fold, day, ofDay)
  return fold
}

/** Adds a lane's quotes of one day to its fold. */
function foldDay(
  { quoted: { columns }, day, market }: FoldedAgainst,
  fold: { knots: Knots; quotes: QuoteUsed[]; level: LaneLevel | undefined; decided: number; won: number },
  quoteDay: number,
  ofDay: readonly Dated[],
): void {
  if (ofDay.length === 0) return
  const { morning, indexAfter } = marketDay(market, quoteDay)
  const known =
    fold.level === undefined || morning === null ? null : referenceOf(fold.level, morning, quoteDay)
  for (const { logRate } of ofDay) fold.level = movedLevel(fold.level, logRate - indexAfter, quoteDay)
  // A lane first quoted on this day is measured against its own rates: see addDay.
  const reference = known ?? indexAfter + (fold.level?.mean ?? 0)
  const weight = 2 ** (-(day - quoteDay) / HALF_LIFE_DAYS)
  for (const { row, logRate } of ofDay) {
    const x = relativeRate(Math.exp(logRate - reference), 1)
    const outcome = columns.outcome[row] as number
    fold.quotes.push({
      laneId: columns.laneId[row] as number,
      rateCents: columns.rateCents[row] as number,
      x,
      outcome: OUTCOMES[outcome] ?? 'pending',
    })
    if (outcome === PENDING) continue
    addQuote(fold.knots, { x, won: outcome === WON, weight })
    fold.decided++
    if (outcome === WON) fold.won++
  }
}
