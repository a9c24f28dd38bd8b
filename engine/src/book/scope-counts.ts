import type { PastQuote } from '../history.ts'
import { type HistoryCount, HistoryCounter } from '../history-counts.ts'
import { type MilesCount, MilesCounter } from '../lane-insight.ts'
import { OUTCOMES, REFUSED, UNKNOWN_COST } from '../quotes/quote-columns.ts'
import { type RateCount, RateCounter } from '../rate-counts.ts'
import { isInPool, type Pool, type RateType } from '../rate-type.ts'
import { mapInSteps, type Steps, sortInSteps } from '../steps.ts'
import { type Area, type BookLane, countsOf, type QuoteBook } from './quote-book.ts'

/** The quotes of an area with one equipment (null means all equipment) in a pool. */
export interface Scope {
  readonly area: Area
  readonly equipmentCode: string | null
  readonly pool: Pool
}

/** The lanes of a scope, one by one, because a list of the thousands of lanes of a brokerage takes milliseconds to build. */
function* lanesOf({ area, equipmentCode }: Scope): Generator<BookLane> {
  for (const { lanes } of area.corridors)
    for (const lane of lanes)
      if (equipmentCode === null || lane.places.equipmentCode === equipmentCode) yield lane
}

/** Quotes counted per step; a visited lane counts as `LANE_WORK` more. */
const QUOTES_PER_STEP = 5_000
const LANE_WORK = 5

/** Calls `see` with the row of every quote that counts in a scope, in no particular order. */
function* eachRow(book: QuoteBook, scope: Scope, see: (row: number) => void): Steps<void> {
  const { columns } = book
  let work = 0
  const seeCounting = (row: number) => {
    if (columns.outcomeOf(row) !== REFUSED && isInPool(scope.pool, columns.rateTypeOf(row))) see(row)
  }
  for (const lane of lanesOf(scope)) {
    columns.eachRowOf(lane.number, seeCounting)
    work += columns.countOf(lane.number) + LANE_WORK
    if (work < QUOTES_PER_STEP) continue
    work = 0
    yield
  }
}

/** Counts of won, lost and pending quotes by rate: the whole input of advice on a rate. */
export function* countScopeRates(book: QuoteBook, scope: Scope): Steps<RateCount[]> {
  // Read the arrays through `columns` for each row: between two steps, longer arrays may replace them.
  const { columns } = book
  const counter = new RateCounter()
  yield* eachRow(book, scope, (row) =>
    counter.add(columns.rateCents[row]!, OUTCOMES[columns.outcomeOf(row)] ?? 'pending'),
  )
  return counter.counts()
}

/** Counts by 30-day bucket and calendar month: the whole input of lane insight. */
export function* countScopeHistory(book: QuoteBook, scope: Scope, now: number): Steps<HistoryCount[]> {
  const { columns } = book
  const counter = new HistoryCounter(now)
  yield* eachRow(book, scope, (row) =>
    counter.add(
      columns.rateCents[row]!,
      OUTCOMES[columns.outcomeOf(row)] ?? 'pending',
      columns.quotedAt[row]!,
    ),
  )
  return counter.counts()
}

/** The rates of a scope by miles, to average lanes of different lengths. */
export function* countScopeMiles(book: QuoteBook, scope: Scope): Steps<MilesCount[]> {
  const { columns } = book
  const counter = new MilesCounter()
  yield* eachRow(book, scope, (row) => counter.add(columns.rateCents[row]!, columns.miles[row]!))
  return counter.counts()
}

/** The size of a scope: its quotes, its decided quotes, and the city pairs with a decided quote. */
export function countScope(scope: Scope): { quotes: number; decided: number; lanes: number } {
  const decidedCorridors = new Set<unknown>()
  let quotes = 0
  let decided = 0
  for (const lane of lanesOf(scope)) {
    const [pending, won, lost] = countsOf(lane, scope.pool)
    quotes += pending + won + lost
    decided += won + lost
    if (won + lost > 0) decidedCorridors.add(lane.corridor)
  }
  return { quotes, decided, lanes: decidedCorridors.size }
}

export interface ScopeQuote extends PastQuote {
  readonly equipmentCode: string
  readonly rateType: RateType
}

/** The newest quotes of a scope, at most `max`, oldest first. */
export function* newestQuotes(book: QuoteBook, scope: Scope, max: number): Steps<ScopeQuote[]> {
  const { columns, lanes } = book
  const found: number[] = []
  yield* eachRow(book, scope, (row) => found.push(row))
  const rows = yield* sortInSteps(Int32Array.from(found), (one, other) => columns.compare(one, other))
  return yield* mapInSteps(Array.from(rows.subarray(Math.max(0, rows.length - max))), (row) => {
    const [cost, miles] = [columns.costCents[row]!, columns.miles[row]!]
    return {
      quoteId: columns.quoteId[row]!,
      rateCents: columns.rateCents[row]!,
      costCents: cost === UNKNOWN_COST ? null : cost,
      outcome: OUTCOMES[columns.outcomeOf(row)] ?? 'pending',
      quotedAt: columns.quotedAt[row]!,
      miles: Number.isNaN(miles) ? null : miles,
      equipmentCode: lanes[columns.lane[row]!]?.places.equipmentCode ?? '',
      rateType: columns.rateTypeOf(row),
    }
  })
}
