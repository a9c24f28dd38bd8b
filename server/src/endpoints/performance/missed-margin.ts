import type { AnswerOf, QueryOf } from '#contract/endpoint.ts'
import { type FieldError, invalid, problem } from '#contract/errors.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import { exportMissedMargin, getMissedMargin, listMissedQuotes } from '#contract/missed-margin.ts'
import type { BacktestResult, TooFewQuotes } from '#engine/backtest/backtest.ts'
import { backtestSentence } from '#engine/backtest/backtest-sentence.ts'
import { missedRange } from '#engine/backtest/missed-margin.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import type { ListedMissed, MissedCursor, MissedSums } from '#engine/quote-statistics/missed-sums.ts'
import type { QuoteSelection } from '#engine/quote-statistics/quote-selection.ts'
import { type JudgedQuotes, type Statistics, statisticsOf } from '../../book/index.ts'
import { csvHead, csvLines } from '../../csv/index.ts'
import { lanesById } from '../../database/queries/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { laneAnswers, readPlaceKey } from '../../lanes/index.ts'
import { csvPages } from '../csv-pages.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { cursorPosition, cursorText, wrongCursor } from '../page-cursor.ts'
import type { Parts } from '../parts.ts'
import { lanesExportedAtOnce } from '../quotes/lane-lists.ts'
import { basisAnswer, basisCells, basisHeaders } from './compared-basis.ts'
import { namesOf } from './performance-rows.ts'
import { readSelection } from './quote-selection.ts'

type Selection = QueryOf<typeof exportMissedMargin>
type Listed = Extract<AnswerOf<typeof listMissedQuotes>, { status: 'done' }>
type Sums = Listed['totals']
type Quote = Listed['quotes'][number]

function selectionOf(query: Partial<Omit<Selection, 'kind'>>, tenant: TenantId): QuoteSelection {
  const errors: FieldError[] = []
  const place = (parameter: 'origin' | 'destination') => {
    const text = query[parameter]
    return text === undefined ? null : readPlaceKey(text, { parameter }, errors)
  }
  const [originKey, destinationKey] = [place('origin'), place('destination')]
  if (errors.length > 0) throw invalid(errors)
  return {
    ...readSelection(query, tenant).selection,
    ...(originKey === null ? {} : { originKey }),
    ...(destinationKey === null ? {} : { destinationKey }),
  }
}

function sumsAnswer({ quotes, amountCents, sdSum, sdSquares, ...sums }: MissedSums): Sums {
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

const judgedAnswer = ({ windowDays, judged, notJudged }: BacktestResult) => ({
  status: 'done' as const,
  window_days: windowDays,
  judged,
  not_judged: notJudged,
})

const tooFewAnswer = (found: TooFewQuotes) => ({
  status: 'too_few' as const,
  too_few: { ...found, needed: { ...found.needed }, sentence: backtestSentence(found) },
})

/** A page of the judged quotes of one kind: each as it is now, with what was estimated on its morning. */
async function quotesPage(
  { statistics, database, tenant }: { statistics: Statistics; tenant: TenantId } & Pick<Parts, 'database'>,
  judged: JudgedQuotes,
  { selection, ...asked }: { selection: QuoteSelection } & Parameters<Statistics['listMissed']>[2],
): Promise<{ totals: Sums; quotes: Quote[]; next: ListedMissed | null }> {
  const { missed } = judged
  const found = await statistics.listMissed(judged, selection, { ...asked, limit: asked.limit + 1 })
  const page = found.quotes.slice(0, asked.limit)
  const lanes = await database.inTenant(tenant, async (transaction) => {
    const ids = page.map(({ laneId }) => laneId)
    return laneAnswers(transaction, tenant, await lanesById(transaction, tenant, ids, { lock: false }))
  })
  const byId = new Map(lanes.map((lane) => [lane.lane_id, lane]))
  const share = (value: number | undefined) => Math.round(1000 * (value ?? 0)) / 1000
  return {
    totals: sumsAnswer(found.totals),
    quotes: page.flatMap(({ laneId, amountCents, at, bookedCents }) => {
      const lane = byId.get(laneId)
      if (lane === undefined) return []
      return {
        lane,
        amount: dollarsFromCents(amountCents),
        quoted_rate: dollarsFromCents(missed.rateCents[at] ?? 0),
        cost: dollarsFromCents(missed.costCents[at] ?? 0),
        better_rate: dollarsFromCents(missed.betterRateCents[at] ?? 0),
        booked_margin: dollarsIfKnown(bookedCents),
        win_probability: share(missed.chance[at]),
        win_probability_better: share(missed.chanceAtBetter[at]),
      }
    }),
    next: found.quotes.length > asked.limit ? (page.at(-1) ?? null) : null,
  }
}

const csvColumns: readonly (readonly [string, (quote: Quote) => string | number | null])[] = [
  ['Quote', ({ lane }) => lane.lane_ref],
  ['Quoted at', ({ lane }) => lane.created_at],
  ['Customer', ({ lane }) => lane.customer_name],
  ['Origin', ({ lane }) => lane.origin],
  ['Destination', ({ lane }) => lane.destination],
  ['Equipment', ({ lane }) => lane.equipment],
  ['Outcome', ({ lane }) => lane.outcome],
  ['Amount (estimate)', ({ amount }) => amount.toFixed(2)],
  ['Quoted rate', ({ quoted_rate }) => quoted_rate.toFixed(2)],
  ['Truck cost known then', ({ cost }) => cost.toFixed(2)],
  ['Better rate (estimate)', ({ better_rate }) => better_rate.toFixed(2)],
  ['Win probability (estimate)', ({ win_probability }) => win_probability],
  ['Win probability at the better rate (estimate)', (quote) => quote.win_probability_better],
  ['Margin booked later', ({ booked_margin }) => booked_margin?.toFixed(2) ?? null],
]

async function csvOf(
  { query, tenant, now }: { query: Selection; tenant: TenantId; now: number },
  { backtests, books, database }: Pick<Parts, 'backtests' | 'books' | 'database'>,
): Promise<AsyncGenerator<string, void>> {
  const selection = selectionOf(query, tenant)
  const state = await backtests.look(tenant, now)
  if (state.status === 'running' || !state.result.enough) {
    throw problem(
      'state-conflict',
      state.status === 'running'
        ? 'The quotes are being judged. Request get-missed-margin until its status is done.'
        : 'There are too few decided quotes to judge any.',
    )
  }
  const judged = { missed: state.result.missed, asOf: state.asOf }
  const { kind } = query
  const head = csvHead([...csvColumns.map(([header]) => header), ...basisHeaders])
  return csvPages(head, async (cursor: ListedMissed | null) => {
    const statistics = await statisticsOf({ books, database }, tenant)
    const { quotes, next } = await quotesPage({ statistics, database, tenant }, judged, {
      kind,
      selection,
      cursor,
      limit: lanesExportedAtOnce,
    })
    const cells = basisCells(statistics.basis)
    return {
      lines: csvLines(quotes.map((quote) => [...csvColumns.map(([, cell]) => cell(quote)), ...cells])),
      next,
    }
  })
}

function readCursor(text: string | undefined, of: string): { amountCents: number; last: unknown } | null {
  if (text === undefined) return null
  const [name, amountCents, last] = cursorPosition(text) ?? []
  if (name !== of || typeof amountCents !== 'number' || !Number.isSafeInteger(amountCents))
    throw wrongCursor()
  return { amountCents, last }
}

function readRowCursor(text: string | undefined, of: string): MissedCursor | null {
  const found = readCursor(text, of)
  if (found === null) return null
  const { amountCents, last: key } = found
  if (typeof key !== 'string' || key.includes('\0')) throw wrongCursor()
  return { amountCents, key }
}

function readQuoteCursor(text: string | undefined, of: string): ListedMissed | null {
  const found = readCursor(text, of)
  if (found === null) return null
  const { amountCents, last: laneId } = found
  if (typeof laneId !== 'number' || !Number.isSafeInteger(laneId)) throw wrongCursor()
  return { amountCents, laneId }
}

export const missedMarginEndpoints: ServedEndpoint[] = [
  serve(getMissedMargin, async ({ caller: { tenant }, query, now }, { backtests, books, database }) => {
    const order = `${query.by}.${query.kind}`
    const [selection, cursor] = [selectionOf(query, tenant), readRowCursor(query.cursor, order)]
    const limit = query.limit ?? pageSizeDefault
    const state = await backtests.look(tenant, now)
    if (state.status === 'running') return state
    const { result, asOf, current } = state
    const read = { as_of: new Date(asOf).toISOString(), current }
    if (!result.enough) return { ...read, ...tooFewAnswer(result) }
    const statistics = await statisticsOf({ books, database }, tenant)
    const asked = { by: query.by, kind: query.kind, cursor, limit: limit + 1 }
    const found = await statistics.missedBy({ missed: result.missed, asOf }, selection, asked)
    const converted = await statistics.converted(selection)
    const page = found.rows.slice(0, limit)
    const names = await database.inTenant(tenant, (transaction) =>
      namesOf(transaction, tenant, query.by, page),
    )
    const last = found.rows.length > limit ? page.at(-1) : undefined
    const [low = noSums, notWorth = noSums] = found.totals
    return {
      ...read,
      ...judgedAnswer(result),
      basis: basisAnswer({ basis: statistics.basis, ...converted }),
      totals: { won_too_low: sumsAnswer(low), not_worth: sumsAnswer(notWorth) },
      rows: names.map((named, index) => ({ ...named, ...sumsAnswer(page[index] ?? noSums) })),
      rows_total: found.rowsTotal,
      next_cursor: last === undefined ? null : cursorText([order, last.amountCents, last.key]),
    }
  }),

  serve(listMissedQuotes, async ({ caller: { tenant }, query, now }, { backtests, books, database }) => {
    const order = `quotes.${query.kind}`
    const [selection, cursor] = [selectionOf(query, tenant), readQuoteCursor(query.cursor, order)]
    const state = await backtests.look(tenant, now)
    if (state.status === 'running') return state
    const { result, asOf, current } = state
    const read = { as_of: new Date(asOf).toISOString(), current }
    if (!result.enough) return { ...read, ...tooFewAnswer(result) }
    const statistics = await statisticsOf({ books, database }, tenant)
    const asked = { kind: query.kind, selection, cursor, limit: query.limit ?? pageSizeDefault }
    const judged = { missed: result.missed, asOf }
    const { next, ...page } = await quotesPage({ statistics, database, tenant }, judged, asked)
    const converted = await statistics.converted(selection)
    return {
      ...read,
      ...judgedAnswer(result),
      basis: basisAnswer({ basis: statistics.basis, ...converted }),
      ...page,
      next_cursor: next === null ? null : cursorText([order, next.amountCents, next.laneId]),
    }
  }),

  serve(exportMissedMargin, async ({ caller: { tenant }, query, now }, parts) => ({
    fileName: `lanewise-missed-margin-${query.kind}-${new Date(now).toISOString().slice(0, 10)}.csv`,
    text: await csvOf({ query, tenant, now }, parts),
  })),
]
