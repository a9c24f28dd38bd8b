import type { AnswerOf } from '#contract/endpoint.ts'
import { readTime } from '#contract/fields.ts'
import { exportForecasts, getForecasts } from '#contract/forecasts.ts'
import { forecastReportDays } from '#contract/limits.ts'
import {
  type ForecastQuote,
  type ForecastReport,
  forecastResult,
  forecastScorer,
  forecastSentence,
  type Scoring,
  scoringOf,
} from '#engine/forecast-report.ts'
import { LocalMonths, monthName } from '#engine/quote-statistics/months.ts'
import { quotedAs } from '#engine/recorded-forecast.ts'
import type { GroupedMean } from '#engine/statistics/mean-over-groups.ts'
import { termsOfQuote } from '../../book/index.ts'
import { csvHead, csvLinesInSteps } from '../../csv/index.ts'
import {
  type ForecastFilter,
  type ForecastRow,
  findTenant,
  forecastQuotesAfter,
} from '../../database/queries/index.ts'
import type { Database, TenantId } from '../../database/session/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'

/** Quotes read at once, of about 700 bytes each. */
const quotesAtOnce = 1_000
const dayMs = 86_400_000

/** The requested quotes with forecasts, and the brokerage's settings by which they are scored. */
async function askedForecasts(
  database: Database,
  tenant: TenantId,
  { rate_type: rateType, from, to }: Call<typeof getForecasts>['query'],
  now: number,
) {
  const owner = await database.inTenant(tenant, (transaction) => findTenant(transaction, tenant))
  if (owner === null) throw new Error('The brokerage of the call does not exist.')
  const [since, until] = [from, to].map((text) => (text === undefined ? null : readTime(text)))
  const filter: ForecastFilter = {
    since: new Date(since ?? now - forecastReportDays * dayMs),
    ...(until == null ? {} : { until: new Date(until) }),
    defaultRateType: owner.default_rate_type,
    ...(rateType === undefined ? {} : { rateType }),
  }
  const months = new LocalMonths(owner.time_zone)
  return {
    since: filter.since,
    expiredIsLost: owner.expired_counts_as_lost,
    quoteOf: (quote: ForecastRow) => forecastQuote(quote, months),
    lanes: () => forecastQuotes(database, tenant, filter),
  }
}

/** The quotes in portions, each read in a transaction of its own. */
async function* forecastQuotes(database: Database, tenant: TenantId, filter: ForecastFilter) {
  let after = 0
  for (;;) {
    const from = after
    const quotes = await database.inTenant(tenant, (transaction) =>
      forecastQuotesAfter(transaction, tenant, filter, { after: from, limit: quotesAtOnce }),
    )
    yield quotes
    const last = quotes.at(-1)
    if (quotes.length < quotesAtOnce || last === undefined) return
    after = last.lane_id
  }
}

function forecastQuote(quote: ForecastRow, months: LocalMonths): ForecastQuote {
  return {
    forecast: quote.forecast,
    month: monthName(months.of(quote.created_at.getTime())),
    rateType: quote.rate_type,
    lane: `${quote.origin_key}>${quote.destination_key}|${quote.equipment_code}`,
    outcome: quote.outcome,
    decidedAt: quote.decided_at?.getTime() ?? null,
    isVoid: quote.voided_at !== null,
    supersededAs: quote.superseded_as,
    quotedAs: quotedAs(quote.quoted_rate_cents, termsOfQuote(quote)),
  }
}

const meanAnswer = ({ mean, range95 }: GroupedMean) => ({ mean, range_95: range95 })

function reportAnswer(report: ForecastReport): Omit<AnswerOf<typeof getForecasts>, 'since'> {
  const { gap, winRateOfLane } = report
  return {
    forecasts: report.forecasts,
    scored: report.scored,
    won: report.won,
    lanes: report.lanes,
    unscored: { ...report.unscored },
    standing: forecastResult(report),
    sentence: forecastSentence(report),
    mean_forecast: report.meanForecast,
    brier: report.brier,
    won_minus_forecast: gap === null ? null : meanAnswer(gap),
    lane_rate:
      winRateOfLane === null
        ? null
        : {
            quotes: winRateOfLane.quotes,
            brier: winRateOfLane.brier,
            lane_rate_brier: winRateOfLane.laneWinRateBrier,
            better: meanAnswer(winRateOfLane.better),
          },
    calibration: report.reliability.map(({ count, forecast, came }) => ({
      quotes: count,
      forecast,
      won: came,
    })),
    months: report.months.map(({ rateType, meanForecast, laneWinRateBrier, ...month }) => ({
      ...month,
      rate_type: rateType,
      mean_forecast: meanForecast,
      lane_rate_brier: laneWinRateBrier,
    })),
  }
}

/** The data of one line of the CSV file. */
interface ExportedForecast {
  readonly lane: ForecastRow
  readonly quote: ForecastQuote
  readonly scoring: Scoring
}

const columns: readonly (readonly [
  header: string,
  cell: (row: ExportedForecast) => string | number | null,
])[] = [
  ['Lane ref', ({ lane: quote }) => quote.lane_ref],
  ['Quoted at', ({ lane: quote }) => quote.created_at.toISOString()],
  ['Month', ({ quote }) => quote.month],
  ['Rate type', ({ quote }) => quote.rateType],
  ['Origin', ({ lane: quote }) => quote.origin],
  ['Destination', ({ lane: quote }) => quote.destination],
  ['Equipment', ({ lane: quote }) => quote.equipment],
  ['Quoted as', ({ lane: quote }) => quote.forecast.quoted_as],
  ['Forecast made at', ({ lane: quote }) => quote.forecast.made_at],
  ['Win probability', ({ lane: quote }) => quote.forecast.win_probability],
  ['80 % range from', ({ lane: quote }) => quote.forecast.low],
  ['80 % range to', ({ lane: quote }) => quote.forecast.high],
  ['Lane win rate', ({ lane: quote }) => quote.forecast.lane_win_rate],
  ['Truck cost', ({ lane: quote }) => quote.forecast.cost],
  ['Truck cost from', ({ lane: quote }) => quote.forecast.cost_from],
  ['Going rate', ({ lane: quote }) => quote.forecast.going_rate],
  ['Best rate', ({ lane: quote }) => quote.forecast.best_rate],
  ['Model', ({ lane: quote }) => quote.forecast.model],
  ['Outcome', ({ lane: quote }) => quote.outcome],
  ['Decided at', ({ lane: quote }) => quote.decided_at?.toISOString() ?? null],
  ['Scored as', ({ scoring }) => ('unscored' in scoring ? null : scoring.won ? 'won' : 'lost')],
  ['Not scored because', ({ scoring }) => ('unscored' in scoring ? scoring.unscored : null)],
]

async function* csvOf(asked: Awaited<ReturnType<typeof askedForecasts>>): AsyncGenerator<string> {
  let head = csvHead(columns.map(([header]) => header))
  for await (const quotes of asked.lanes()) {
    const lines = csvLinesInSteps(quotes, (saved) => {
      const quote = asked.quoteOf(saved)
      const row = { lane: saved, quote, scoring: scoringOf(quote, asked.expiredIsLost) }
      return columns.map(([, cell]) => cell(row))
    })
    yield head + (await yieldBetweenSteps(lines))
    head = ''
  }
}

export const forecastEndpoints: ServedEndpoint[] = [
  serve(getForecasts, async ({ caller, query, now }, { database }) => {
    const asked = await askedForecasts(database, caller.tenant, query, now)
    const scorer = forecastScorer(asked.expiredIsLost)
    for await (const quotes of asked.lanes()) for (const quote of quotes) scorer.add(asked.quoteOf(quote))
    return { since: asked.since.toISOString(), ...reportAnswer(scorer.report()) }
  }),

  serve(exportForecasts, async ({ caller, query, now }, { database }) => ({
    fileName: `lanewise-forecasts-${new Date(now).toISOString().slice(0, 10)}.csv`,
    text: csvOf(await askedForecasts(database, caller.tenant, query, now)),
  })),
]
