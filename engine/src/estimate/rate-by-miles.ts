/**
 * What does this brokerage charge for 300 miles, and what for 900? Without this difference, long lanes would look expensive, and lanes of
 * different lengths could not share one market. The method is in length-of-haul.ts, here with quoted rates instead of costs.
 * docs/estimate-formulas.md, "The reference rate".
 */

import { dayOf } from '../day.ts'
import type { PastQuote } from '../history.ts'
import { isPooled, type PooledQuotes } from '../quotes/quoted-lanes.ts'
import { finished, type Steps } from '../steps.ts'
import { fitHaulCurveInSteps, haulLogDollars } from './length-of-haul.ts'

/** The fields of a quote that the curve of rates by miles is fitted to. */
export type MeasuredQuote = Pick<PastQuote, 'quoteId' | 'rateCents' | 'miles' | 'quotedAt'>

/** ln dollars of a haul by its miles, from the brokerage's rates; the brokerage's average for unknown miles. */
export type HaulLog = (miles: number | null) => number

/**
 * A brokerage's curve is fitted to at most this number of newest quotes, which is enough for its five parameters and bounds the
 * time of the fit.
 */
export const HAUL_QUOTES_MAX = 2_000

/**
 * The quotes that the curve is fitted to: those with a rate and miles from days before `day`, or from `day` itself if
 * there are none. Of these, the newest `HAUL_QUOTES_MAX` by (quotedAt, quoteId).
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
    .sort((one, other) => one.quotedAt - other.quotedAt || one.quoteId - other.quoteId)
    .slice(-HAUL_QUOTES_MAX)
}

const ROWS_PER_STEP = 50_000

/** Like `haulQuotes`, but from columns. Reads the rows from the end, where the newest quotes mostly are, which is faster. */
export function* haulQuotesInSteps(
  quoted: PooledQuotes,
  day: number,
): Steps<(MeasuredQuote & { miles: number })[]> {
  const { columns } = quoted
  let earlier: MeasuredQuote[] = []
  let today: MeasuredQuote[] = []
  let from = Number.NEGATIVE_INFINITY
  const { rows } = columns
  for (let at = 0; at < rows; at++) {
    if (at % ROWS_PER_STEP === 0) yield
    const row = rows - 1 - at
    const quotedAt = columns.quotedAt[row]!
    const quoteDay = dayOf(quotedAt)
    if (quotedAt < from || quoteDay > day || columns.lane[row]! < 0) continue
    if (!isPooled(quoted, row)) continue
    const quote = {
      quoteId: columns.quoteId[row]!,
      rateCents: columns.rateCents[row]!,
      miles: columns.miles[row]!,
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
 * The brokerage's usual rates by miles, so that lanes of different lengths can be compared. The curve is fitted to quotes of earlier days,
 * so a quote added today does not change the relative rates of other quotes. Neither the order of the quotes nor quotes excluded by
 * `haulQuotes` change a digit of the curve.
 *
 * @example rateByMiles([], day)(500) // 0: no quote has miles, so rates are not adjusted
 */
export function rateByMiles(quotes: readonly MeasuredQuote[], day: number): HaulLog {
  return finished(rateByMilesInSteps(quotes, day))
}

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
