import type { QuoteColumns } from '../book/quote-columns.ts'
import type { PastQuote } from '../history.ts'
import { finished, type Steps } from '../steps.ts'
import { dayOf } from './day.ts'
import { fitHaulCurveInSteps, haulLogDollars } from './length-of-haul.ts'

/** What the curve looks at of a quote. */
export type MeasuredQuote = Pick<PastQuote, 'laneId' | 'rateCents' | 'miles' | 'quotedAt'>

/** ln dollars of a haul by its miles, as a tenant prices it; the tenant's average where miles are unknown. */
export type HaulLog = (miles: number | null) => number

/**
 * The newest quotes that a tenant's curve is drawn from: five numbers need no more, and whoever asks for the curve alone has
 * them at once, however many quotes the tenant has.
 */
export const HAUL_QUOTES_MAX = 2_000

/**
 * Which quotes the curve is drawn from: with a rate and miles, of earlier days than this one; of this day where there is no
 * earlier one. Of those the newest `HAUL_QUOTES_MAX` by (quotedAt, laneId).
 */
export function haulQuotes<Quote extends MeasuredQuote>(
  quotes: readonly Quote[],
  day: number,
): (Quote & { miles: number })[] {
  const measured = quotes.filter(
    (quote): quote is Quote & { miles: number } => isMeasured(quote) && dayOf(quote.quotedAt) <= day,
  )
  const earlier = measured.filter((quote) => dayOf(quote.quotedAt) < day)
  return (earlier.length > 0 ? earlier : measured)
    .sort((one, other) => one.quotedAt - other.quotedAt || one.laneId - other.laneId)
    .slice(-HAUL_QUOTES_MAX)
}

/** Rows that are looked at in one step. */
const ROWS_PER_STEP = 50_000

/**
 * As haulQuotes, from columns. It starts at the end that holds the newer rows, so that it keeps and sorts few others: a
 * book is opened with its newest quote first. The order does not change the result.
 */
export function* haulQuotesInSteps(
  columns: QuoteColumns,
  day: number,
): Steps<(MeasuredQuote & { miles: number })[]> {
  let earlier: MeasuredQuote[] = []
  let today: MeasuredQuote[] = []
  let from = Number.NEGATIVE_INFINITY
  const { rows } = columns
  const isNewestFirst = (columns.quotedAt[0] ?? 0) > (columns.quotedAt[rows >> 1] ?? 0)
  for (let at = 0; at < rows; at++) {
    if (at % ROWS_PER_STEP === 0) yield
    const row = isNewestFirst ? at : rows - 1 - at
    const quotedAt = columns.quotedAt[row] as number
    const quoteDay = dayOf(quotedAt)
    if (quotedAt < from || quoteDay > day || (columns.lane[row] as number) < 0) continue
    const quote = {
      laneId: columns.laneId[row] as number,
      rateCents: columns.rateCents[row] as number,
      miles: columns.miles[row] as number,
      quotedAt,
    }
    if (!isMeasured(quote)) continue
    if (quoteDay === day) {
      if (earlier.length === 0) today.push(quote)
      if (today.length >= 4 * HAUL_QUOTES_MAX) today = haulQuotes(today, day)
      continue
    }
    earlier.push(quote)
    if (earlier.length < 2 * HAUL_QUOTES_MAX) continue
    const kept = haulQuotes(earlier, day)
    from = kept[0]?.quotedAt ?? from
    earlier = kept
    yield
  }
  return haulQuotes(earlier.length > 0 ? earlier : today, day)
}

function isMeasured({ rateCents, miles }: MeasuredQuote): boolean {
  return rateCents > 0 && Number.isFinite(rateCents) && miles !== null && miles > 0 && Number.isFinite(miles)
}

/**
 * The tenant's own shape of rates by miles, so that lanes of unlike length can share one market level. It is drawn from
 * quotes of earlier days: a quote added today changes no other quote's place on its curve, so little has to be redone.
 * Neither the order of the quotes nor those that `haulQuotes` leaves out change a digit of it.
 *
 * @example rateByMiles([], day)(500) // 0: nothing has miles, so rates stand as they are
 */
export function rateByMiles(quotes: readonly MeasuredQuote[], day: number): HaulLog {
  return finished(rateByMilesInSteps(quotes, day))
}

/** As rateByMiles, in steps. */
export function* rateByMilesInSteps(quotes: readonly MeasuredQuote[], day: number): Steps<HaulLog> {
  const basis = haulQuotes(quotes, day)
  if (basis.length === 0) return () => 0
  const { curve } = yield* fitHaulCurveInSteps(
    basis.map((quote) => ({
      logDollars: Math.log(quote.rateCents / 100),
      miles: quote.miles,
      ageDays: day - dayOf(quote.quotedAt),
    })),
  )
  const mean = basis.reduce((sum, quote) => sum + haulLogDollars(curve, quote.miles), 0) / basis.length
  return (miles) =>
    miles !== null && miles > 0 && Number.isFinite(miles) ? haulLogDollars(curve, miles) : mean
}
