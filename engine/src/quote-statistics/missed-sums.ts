import { MISSED_KINDS, type MissedColumns, type MissedKind } from '../backtest/missed-margin.ts'
import type { QuoteBook } from '../book/quote-book.ts'
import { FACTS, PENDING, type QuoteColumns, WON } from '../quotes/quote-columns.ts'
import { firstInOrder } from '../statistics/first-in-order.ts'
import type { Steps } from '../steps.ts'
import { compareCodePoints } from './code-points.ts'
import { type CustomerRecords, mainKeyOf } from './customer-records.ts'
import { mostFrequent } from './performance-groups.ts'
import { ROWS_PER_STEP } from './performance-sums.ts'
import type { IsSelected } from './quote-selection.ts'

/**
 * Sums of judged quotes, in cents. `sdSum` is the sum of the standard deviations of the lanes, and `sdSquares` the sum of their
 * squares: `missedRange` computes the range from both.
 */
export interface MissedSums {
  readonly quotes: number
  readonly amountCents: number
  readonly sdSum: number
  readonly sdSquares: number
  /** The quotes whose AR and AP are booked by now, and the margin of these bookings. */
  readonly booked: number
  readonly bookedMarginCents: number
}

export interface MissedRow extends MissedSums {
  readonly key: string
  readonly parts: readonly string[]
  /** For a customer: the most frequent spelling of its name. */
  readonly written: string
}

/** A judged quote that still has the outcome that it was judged for, as the book has it now. */
interface StillJudged {
  /** Its position in the judged quotes. */
  readonly at: number
  readonly kind: number
  readonly lane: number
  readonly names: number
  /** The margin of its booking; null if there is none, or if it cannot be converted. */
  readonly bookedCents: number | null
}

const NOT_WORTH = MISSED_KINDS.indexOf('not_worth')

/** The judged quotes of a selection that still have their outcome. A quote that was voided is not in the book. */
function* stillJudged(
  { columns, apart }: QuoteBook,
  judged: MissedColumns,
  isSelected: IsSelected,
): Steps<StillJudged[]> {
  const found: StillJudged[] = []
  for (let at = 0; at < judged.laneId.length; at++) {
    if (at % ROWS_PER_STEP === 0) yield
    const laneId = judged.laneId[at] as number
    const isApart = columns.rowOf(laneId) < 0
    const of = isApart ? apart : columns
    const row = of.rowOf(laneId)
    if (row < 0 || !isSelected(of, row)) continue
    const [kind, outcome] = [judged.kind[at] as number, of.outcomeOf(row)]
    if (outcome !== WON && !(kind === NOT_WORTH && outcome === PENDING)) continue
    const bookedCents = marginOf(of, row, isApart)
    found.push({ at, kind, lane: of.lane[row] as number, names: of.names[row] as number, bookedCents })
  }
  return found
}

/** AR minus AP. A quote can be kept apart for its quoted rate alone: a booking that states no terms then has a margin. */
function marginOf(columns: QuoteColumns, row: number, isApart: boolean): number | null {
  const facts = columns.facts[row] as number
  const landed = FACTS.customerRate | FACTS.truckCost
  if ((facts & landed) !== landed || (isApart && (facts & FACTS.bookingTerms) !== 0)) return null
  return (columns.rateCents[row] as number) - (columns.costCents[row] as number)
}

/** Adds up quotes. Errors add up within a lane, so each lane is summed first. */
function sumsOf(quotes: readonly StillJudged[], judged: MissedColumns): MissedSums {
  const byLane = new Map<number, { winSd: number; costSquares: number }>()
  const sums = {
    quotes: quotes.length,
    amountCents: 0,
    sdSum: 0,
    sdSquares: 0,
    booked: 0,
    bookedMarginCents: 0,
  }
  for (const { at, lane, bookedCents } of quotes) {
    const ofLane = byLane.get(lane) ?? { winSd: 0, costSquares: 0 }
    byLane.set(lane, ofLane)
    ofLane.winSd += judged.winSdCents[at] as number
    ofLane.costSquares += (judged.costSdCents[at] as number) ** 2
    sums.amountCents += judged.amountCents[at] as number
    if (bookedCents === null) continue
    sums.booked++
    sums.bookedMarginCents += bookedCents
  }
  for (const { winSd, costSquares } of byLane.values()) {
    const variance = winSd ** 2 + costSquares
    sums.sdSquares += variance
    sums.sdSum += Math.sqrt(variance)
  }
  return sums
}

export interface MissedCursor {
  readonly amountCents: number
  readonly key: string
}

export interface MissedGroups {
  /** In the order of `MISSED_KINDS`. */
  readonly totals: readonly MissedSums[]
  readonly rowsTotal: number
  readonly rows: readonly MissedRow[]
}

/**
 * The sums of each kind, and the rows of one kind by lane or customer, the largest amount first and then by key, after `cursor`.
 */
export function* missedByGroup(
  book: QuoteBook,
  judged: MissedColumns,
  asked: {
    readonly by: 'lane' | 'customer'
    readonly kind: MissedKind
    readonly isSelected: IsSelected
    readonly records: CustomerRecords
    readonly cursor: MissedCursor | null
    readonly limit: number
  },
): Steps<MissedGroups> {
  const { by, kind, isSelected, records, cursor, limit } = asked
  const { lanes, names } = book
  const still = yield* stillJudged(book, judged, isSelected)
  const ofKind = still.filter((quote) => quote.kind === MISSED_KINDS.indexOf(kind))
  yield
  const partsOf = ({ lane, names: number }: StillJudged): readonly string[] => {
    if (by === 'customer') return [mainKeyOf(records, names.customers[number]?.key ?? '')]
    const { originKey = '', destinationKey = '', equipmentCode = '' } = lanes[lane]?.places ?? {}
    return [originKey, destinationKey, equipmentCode]
  }
  const groups = Map.groupBy(ofKind, (quote) => partsOf(quote).join('>'))
  yield
  const rows: MissedRow[] = []
  for (const [key, quotes] of groups) {
    if (rows.length % 1_000 === 0) yield
    const [first] = quotes
    if (first === undefined) continue
    const written = by === 'lane' ? '' : mostFrequentName(quotes, names)
    rows.push({ ...sumsOf(quotes, judged), key, parts: partsOf(first), written })
  }
  const compare = (one: MissedCursor, other: MissedCursor) =>
    other.amountCents - one.amountCents || compareCodePoints(one.key, other.key)
  const after = rows.flatMap((row, nth) => (cursor === null || compare(row, cursor) > 0 ? [nth] : []))
  const rowAt = (nth: number) => rows[nth] as MissedRow
  const page = firstInOrder(Int32Array.from(after), limit, (one, other) => compare(rowAt(one), rowAt(other)))
  yield
  return {
    totals: MISSED_KINDS.map((_, number) =>
      sumsOf(
        still.filter((quote) => quote.kind === number),
        judged,
      ),
    ),
    rowsTotal: rows.length,
    rows: Array.from(page, rowAt),
  }
}

function mostFrequentName(quotes: readonly StillJudged[], names: QuoteBook['names']): string {
  const spellings = new Map<string, number>()
  for (const { names: number } of quotes) {
    const written = names.customers[number]?.written ?? ''
    spellings.set(written, (spellings.get(written) ?? 0) + 1)
  }
  return mostFrequent(spellings)
}

export interface ListedMissed {
  readonly laneId: number
  readonly amountCents: number
}

/** A listed quote, and its position in the columns of the judged quotes. */
export interface PlacedMissed extends ListedMissed {
  readonly at: number
  /** The margin of its booking, if there is one. */
  readonly bookedCents: number | null
}

/** The judged quotes of one kind, the largest amount first and then the newest, after `cursor`, and the sums of all of them. */
export function* listMissed(
  book: QuoteBook,
  judged: MissedColumns,
  asked: {
    readonly kind: MissedKind
    readonly isSelected: IsSelected
    readonly cursor: ListedMissed | null
    readonly limit: number
  },
): Steps<{ readonly totals: MissedSums; readonly quotes: readonly PlacedMissed[] }> {
  const { kind, isSelected, cursor, limit } = asked
  const still = yield* stillJudged(book, judged, isSelected)
  const ofKind = still.filter((quote) => quote.kind === MISSED_KINDS.indexOf(kind))
  yield
  const listed = ofKind.map(
    ({ at, bookedCents }): PlacedMissed => ({
      at,
      bookedCents,
      laneId: judged.laneId[at] as number,
      amountCents: judged.amountCents[at] as number,
    }),
  )
  const compare = (one: ListedMissed, other: ListedMissed) =>
    other.amountCents - one.amountCents || other.laneId - one.laneId
  const after = listed.flatMap((quote, nth) => (cursor === null || compare(quote, cursor) > 0 ? [nth] : []))
  yield
  const quoteAt = (nth: number) => listed[nth] as PlacedMissed
  const page = firstInOrder(Int32Array.from(after), limit, (one, other) =>
    compare(quoteAt(one), quoteAt(other)),
  )
  return { totals: sumsOf(ofKind, judged), quotes: Array.from(page, quoteAt) }
}
