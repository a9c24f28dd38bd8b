import { OUTCOMES, PENDING, WON } from '../book/quote-columns.ts'
import type { Outcome } from '../history.ts'
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

/**
 * Folds a lane's quotes in the order of time: which count, where each stood against the reference rate of its morning,
 * and what was won and lost there. The same quotes and the same market give the same digits.
 */
export function foldLane(against: FoldedAgainst, lane: number): LaneFold {
  const { columns } = against.quoted
  const leftOut: { laneId: number; reason: LeftOutReason }[] = []
  const dated: { row: number; logRate: number }[] = []
  for (const row of columns.rowsOf(lane)) {
    const rateCents = columns.rateCents[row] as number
    const reason = whyUndated(rateCents, columns.quotedAt[row] as number, against.day)
    if (reason === null) {
      dated.push({ row, logRate: logRateOf(rateCents, columns.miles[row] as number, against.haulLog) })
    } else leftOut.push({ laneId: columns.laneId[row] as number, reason })
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
  return { ...foldCounted(against, counted), leftOut }
}

function foldCounted(
  { quoted: { columns }, day, market }: FoldedAgainst,
  counted: readonly { row: number; logRate: number }[],
): Omit<LaneFold, 'leftOut'> {
  const knots = emptyKnots()
  const quotes: QuoteUsed[] = []
  let level: LaneLevel | undefined
  let decided = 0
  let won = 0
  for (let from = 0; from < counted.length; ) {
    const quoteDay = dayOf(columns.quotedAt[counted[from]?.row ?? 0] as number)
    const { morning, indexAfter } = marketDay(market, quoteDay)
    const known = level === undefined || morning === null ? null : referenceOf(level, morning, quoteDay)
    let to = from
    for (; to < counted.length; to++) {
      const quote = counted[to]
      if (!quote || dayOf(columns.quotedAt[quote.row] as number) !== quoteDay) break
      level = movedLevel(level, quote.logRate - indexAfter, quoteDay)
    }
    // A lane first quoted on this day is measured against its own rates: see addDay.
    const reference = known ?? indexAfter + (level?.mean ?? 0)
    const weight = 2 ** (-(day - quoteDay) / HALF_LIFE_DAYS)
    for (const { row, logRate } of counted.slice(from, to)) {
      const x = relativeRate(Math.exp(logRate - reference), 1)
      const outcome = columns.outcome[row] as number
      quotes.push({
        laneId: columns.laneId[row] as number,
        rateCents: columns.rateCents[row] as number,
        x,
        outcome: OUTCOMES[outcome] ?? 'pending',
      })
      if (outcome === PENDING) continue
      addQuote(knots, { x, won: outcome === WON, weight })
      decided++
      if (outcome === WON) won++
    }
    from = to
  }
  return { knots, quotes, level, decided, won }
}
