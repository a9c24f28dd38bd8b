import type { AnswerOf } from '#contract/endpoint.ts'
import { exportForecasts, getForecasts } from '#contract/forecasts.ts'
import { forecastReportDays } from '#contract/limits.ts'
import {
  type ForecastQuote,
  type ForecastReport,
  forecastScorer,
  forecastSentence,
  forecastStanding,
  type Scoring,
  scoringOf,
} from '#engine/forecast-report.ts'
import { LocalMonths, monthName } from '#engine/quote-statistics/months.ts'
import type { RateType } from '#engine/rate-type.ts'
import { quotedAs } from '#engine/recorded-forecast.ts'
import type { GroupedMean } from '#engine/statistics/mean-over-groups.ts'
import { termsOfQuote } from '../../book/index.ts'
import { csvHead, csvLines } from '../../csv/index.ts'
import {
  type ForecastFilter,
  type ForecastLane,
  findTenant,
  forecastLanesAfter,
} from '../../database/queries/index.ts'
import type { Database, TenantId } from '../../database/session/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'

/** Quotes read at once, of about 700 bytes each. */
const lanesAtOnce = 1_000
const dayMs = 86_400_000

/** The quotes with forecasts that a call asks about, and the settings of the brokerage that they are scored by. */
async function askedForecasts(
  database: Database,
  tenant: TenantId,
  { rateType, now }: { readonly rateType: RateType | undefined; readonly now: number },
) {
  const owner = await database.inTenant(tenant, (transaction) => findTenant(transaction, tenant))
  if (owner === null) throw new Error('The brokerage of the call does not exist.')
  const filter: ForecastFilter = {
    since: new Date(now - forecastReportDays * dayMs),
    defaultRateType: owner.default_rate_type,
    ...(rateType === undefined ? {} : { rateType }),
  }
  const months = new LocalMonths(owner.time_zone)
  return {
    since: filter.since,
    expiredIsLost: owner.expired_counts_as_lost,
    quoteOf: (lane: ForecastLane) => forecastQuote(lane, months),
    lanes: () => forecastLanes(database, tenant, filter),
  }
}

/** The quotes in portions, each read in a transaction of its own. */
async function* forecastLanes(database: Database, tenant: TenantId, filter: ForecastFilter) {
  let after = 0
  for (;;) {
    const from = after
    const lanes = await database.inTenant(tenant, (transaction) =>
      forecastLanesAfter(transaction, tenant, filter, { after: from, limit: lanesAtOnce }),
    )
    yield lanes
    const last = lanes.at(-1)
    if (lanes.length < lanesAtOnce || last === undefined) return
    after = last.lane_id
  }
}

function forecastQuote(lane: ForecastLane, months: LocalMonths): ForecastQuote {
  return {
    forecast: lane.forecast,
    month: monthName(months.of(lane.created_at.getTime())),
    rateType: lane.rate_type,
    lane: `${lane.origin_key}>${lane.destination_key}|${lane.equipment_code}`,
    outcome: lane.outcome,
    decidedAt: lane.decided_at?.getTime() ?? null,
    isVoid: lane.voided_at !== null,
    supersededAs: lane.superseded_as,
    quotedAs: quotedAs(lane.quoted_rate_cents, termsOfQuote(lane)),
  }
}

const meanAnswer = ({ mean, range95 }: GroupedMean) => ({ mean, range_95: range95 })

function reportAnswer(report: ForecastReport): Omit<AnswerOf<typeof getForecasts>, 'since'> {
  const { gap, laneRate } = report
  return {
    forecasts: report.forecasts,
    scored: report.scored,
    won: report.won,
    lanes: report.lanes,
    unscored: { ...report.unscored },
    standing: forecastStanding(report),
    sentence: forecastSentence(report),
    mean_forecast: report.meanForecast,
    brier: report.brier,
    won_minus_forecast: gap === null ? null : meanAnswer(gap),
    lane_rate:
      laneRate === null
        ? null
        : {
            quotes: laneRate.quotes,
            brier: laneRate.brier,
            lane_rate_brier: laneRate.laneRateBrier,
            better: meanAnswer(laneRate.better),
          },
    calibration: report.reliability.map(({ count, forecast, came }) => ({
      quotes: count,
      forecast,
      won: came,
    })),
    months: report.months.map(({ rateType, meanForecast, laneRateBrier, ...month }) => ({
      ...month,
      rate_type: rateType,
      mean_forecast: meanForecast,
      lane_rate_brier: laneRateBrier,
    })),
  }
}

/** What a line of the CSV file is made from. */
interface ExportedForecast {
  readonly lane: ForecastLane
  readonly quote: ForecastQuote
  readonly scoring: Scoring
}

const columns: readonly (readonly [
  header: string,
  cell: (row: ExportedForecast) => string | number | null,
])[] = [
  ['Lane ref', ({ lane }) => lane.lane_ref],
  ['Quoted at', ({ lane }) => lane.created_at.toISOString()],
  ['Month', ({ quote }) => quote.month],
  ['Rate type', ({ quote }) => quote.rateType],
  ['Origin', ({ lane }) => lane.origin],
  ['Destination', ({ lane }) => lane.destination],
  ['Equipment', ({ lane }) => lane.equipment],
  ['Quoted as', ({ lane }) => lane.forecast.quoted_as],
  ['Forecast made at', ({ lane }) => lane.forecast.made_at],
  ['Win probability', ({ lane }) => lane.forecast.win_probability],
  ['80 % range from', ({ lane }) => lane.forecast.low],
  ['80 % range to', ({ lane }) => lane.forecast.high],
  ['Lane win rate', ({ lane }) => lane.forecast.lane_win_rate],
  ['Truck cost', ({ lane }) => lane.forecast.cost],
  ['Truck cost from', ({ lane }) => lane.forecast.cost_from],
  ['Going rate', ({ lane }) => lane.forecast.going_rate],
  ['Best rate', ({ lane }) => lane.forecast.best_rate],
  ['Model', ({ lane }) => lane.forecast.model],
  ['Outcome', ({ lane }) => lane.outcome],
  ['Decided at', ({ lane }) => lane.decided_at?.toISOString() ?? null],
  ['Scored as', ({ scoring }) => ('unscored' in scoring ? null : scoring.won ? 'won' : 'lost')],
  ['Not scored because', ({ scoring }) => ('unscored' in scoring ? scoring.unscored : null)],
]

async function* csvOf(asked: Awaited<ReturnType<typeof askedForecasts>>): AsyncGenerator<string> {
  let head = csvHead(columns.map(([header]) => header))
  for await (const lanes of asked.lanes()) {
    const lines = lanes.map((lane) => {
      const quote = asked.quoteOf(lane)
      const row = { lane, quote, scoring: scoringOf(quote, asked.expiredIsLost) }
      return columns.map(([, cell]) => cell(row))
    })
    yield head + csvLines(lines)
    head = ''
  }
}

export const forecastEndpoints: ServedEndpoint[] = [
  serve(getForecasts, async ({ caller, query, now }, { database }) => {
    const asked = await askedForecasts(database, caller.tenant, { rateType: query.rate_type, now })
    const scorer = forecastScorer(asked.expiredIsLost)
    for await (const lanes of asked.lanes()) for (const lane of lanes) scorer.add(asked.quoteOf(lane))
    return { since: asked.since.toISOString(), ...reportAnswer(scorer.report()) }
  }),

  serve(exportForecasts, async ({ caller, query, now }, { database }) => ({
    fileName: `lanewise-forecasts-${new Date(now).toISOString().slice(0, 10)}.csv`,
    text: csvOf(await askedForecasts(database, caller.tenant, { rateType: query.rate_type, now })),
  })),
]
