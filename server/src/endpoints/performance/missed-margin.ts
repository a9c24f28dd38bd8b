import type { getBacktest } from '#contract/backtest.ts'
import type { AnswerOf } from '#contract/endpoint.ts'
import { missedQuotesMax } from '#contract/limits.ts'
import type { BacktestResult } from '#engine/backtest/backtest.ts'
import { MISSED_KINDS, missedRange } from '#engine/backtest/missed-margin.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import type { ListedMissed, MissedSums } from '#engine/quote-statistics/missed-sums.ts'
import { type Statistics, statisticsOf } from '../../book/index.ts'
import { csvHead, csvLinesInSteps } from '../../csv/index.ts'
import { quotesById } from '../../database/queries/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { quoteAnswers } from '../../quotes/index.ts'
import { csvPages, rowsExportedAtOnce } from '../csv-pages.ts'
import type { Parts } from '../parts.ts'
import { basisCells, basisHeaders } from './compared-basis.ts'

type Missed = NonNullable<Extract<AnswerOf<typeof getBacktest>, { status: 'done' }>['missed']>
type Quote = Missed['quotes'][number]

/** The result of a backtest, and the time at which its quotes were read. */
interface Judged {
  readonly result: BacktestResult
  readonly asOf: number
}

function sumsAnswer({ quotes, amountCents, sdSum, sdSquares, ...sums }: MissedSums): Missed['not_worth'] {
  const { lowCents, highCents } = missedRange(amountCents, { sum: sdSum, sumOfSquares: sdSquares })
  return {
    quotes,
    amount: dollarsFromCents(amountCents),
    range_80: {
      low: dollarsFromCents(Math.round(lowCents)),
      high: dollarsFromCents(Math.round(highCents)),
    },
    booked: sums.booked,
    booked_margin: sums.booked === 0 ? null : dollarsFromCents(sums.bookedMarginCents),
  }
}

const noSums = { quotes: 0, amountCents: 0, sdSum: 0, sdSquares: 0, booked: 0, bookedMarginCents: 0 }

/** A page of the quotes that missed margin: each quote as it is now, with the estimates from the data before its day. */
async function quotesPage(
  { statistics, database, tenant }: { statistics: Statistics; tenant: TenantId } & Pick<Parts, 'database'>,
  { result: { missed }, asOf }: Judged,
  { cursor, limit }: { cursor: ListedMissed | null; limit: number },
): Promise<{ totals: readonly MissedSums[]; quotes: Quote[]; next: ListedMissed | null }> {
  const found = await statistics.missed({ missed, asOf }, { cursor, limit: limit + 1 })
  const page = found.quotes.slice(0, limit)
  const quotes = await database.inTenant(tenant, async (transaction) => {
    const ids = page.map(({ quoteId }) => quoteId)
    return quoteAnswers(transaction, tenant, await quotesById(transaction, tenant, ids, { lock: false }))
  })
  const byId = new Map(quotes.map((quote) => [quote.lane_id, quote]))
  const share = (value: number | undefined) => Math.round(1000 * (value ?? 0)) / 1000
  return {
    totals: found.totals,
    quotes: page.flatMap(({ quoteId, amountCents, at, bookedCents }) => {
      const [quote, finding] = [byId.get(quoteId), MISSED_KINDS[missed.kind[at] ?? 0]]
      if (quote === undefined || finding === undefined) return []
      return {
        lane: quote,
        finding,
        amount: dollarsFromCents(amountCents),
        quoted_rate: dollarsFromCents(missed.rateCents[at] ?? 0),
        cost: dollarsFromCents(missed.costCents[at] ?? 0),
        better_rate: dollarsFromCents(missed.betterRateCents[at] ?? 0),
        booked_margin: dollarsIfKnown(bookedCents),
        win_probability: share(missed.chance[at]),
        win_probability_better: share(missed.chanceAtBetter[at]),
      }
    }),
    next: found.quotes.length > limit ? (page.at(-1) ?? null) : null,
  }
}

/** The sums of missed margin, and the quotes that missed the most. */
export async function missedAnswer(
  of: { statistics: Statistics; tenant: TenantId } & Pick<Parts, 'database'>,
  judged: Judged,
): Promise<Missed> {
  const { totals, quotes } = await quotesPage(of, judged, { cursor: null, limit: missedQuotesMax })
  const [low = noSums, notWorth = noSums] = totals
  return {
    judged: judged.result.judged,
    not_judged: judged.result.notJudged,
    won_too_low: sumsAnswer(low),
    not_worth: sumsAnswer(notWorth),
    quotes,
  }
}

const csvColumns: readonly (readonly [string, (quote: Quote) => string | number | null])[] = [
  ['Quote', ({ lane: quote }) => quote.lane_ref],
  ['Finding', ({ finding }) => finding],
  ['Quoted at', ({ lane: quote }) => quote.created_at],
  ['Customer', ({ lane: quote }) => quote.customer_name],
  ['Origin', ({ lane: quote }) => quote.origin],
  ['Destination', ({ lane: quote }) => quote.destination],
  ['Equipment', ({ lane: quote }) => quote.equipment],
  ['Spot or contract', ({ lane: quote }) => quote.rate_type],
  ['Outcome', ({ lane: quote }) => quote.outcome],
  ['Amount (estimate)', ({ amount }) => amount.toFixed(2)],
  ['Quoted rate', ({ quoted_rate }) => quoted_rate.toFixed(2)],
  ['Truck cost known then', ({ cost }) => cost.toFixed(2)],
  ['Better rate (estimate)', ({ better_rate }) => better_rate.toFixed(2)],
  ['Win probability (estimate)', ({ win_probability }) => win_probability],
  ['Win probability at the better rate (estimate)', (quote) => quote.win_probability_better],
  ['Margin booked later', ({ booked_margin }) => booked_margin?.toFixed(2) ?? null],
]

/** All quotes that missed margin, as a CSV file. */
export function missedCsv(
  { tenant, judged }: { readonly tenant: TenantId; readonly judged: Judged },
  { books, database }: Pick<Parts, 'books' | 'database'>,
): AsyncGenerator<string, void> {
  const head = csvHead([...csvColumns.map(([header]) => header), ...basisHeaders])
  return csvPages(head, async (cursor: ListedMissed | null) => {
    const statistics = await statisticsOf({ books, database }, tenant)
    const page = { cursor, limit: rowsExportedAtOnce }
    const { quotes, next } = await quotesPage({ statistics, database, tenant }, judged, page)
    const cells = basisCells(statistics.basis)
    return {
      lines: csvLinesInSteps(quotes, (quote) => [...csvColumns.map(([, cell]) => cell(quote)), ...cells]),
      next,
    }
  })
}
