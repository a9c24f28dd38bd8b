/**
 * The service said "70 %" with each of 400 quotes: were about 280 won? Compares each quote's saved forecast with its outcome.
 * Methods: Brier score (Brier, 1950), the mean squared error, of the forecasts and of the lane's plain win rate; and the mean gap between
 * outcome and forecast, with a range (quotes of one lane are alike: statistics/mean-over-groups.ts).
 * docs/decisions/0076-the-forecast-of-each-quote.md.
 */

import type { SavedOutcome } from './history.ts'
import type { SupersededAs } from './offers.ts'
import type { RateType } from './rate-type.ts'
import type { RecordedForecast } from './recorded-forecast.ts'
import { brier, type ReliabilityRow, reliability } from './statistics/forecast-quality.ts'
import { type GroupedMean, meanOverGroups } from './statistics/mean-over-groups.ts'

/** A quote, the forecast that was made with it, and its outcome. */
export interface ForecastQuote {
  readonly forecast: Pick<RecordedForecast, 'made_at' | 'win_probability' | 'lane_win_rate' | 'quoted_as'>
  /** The month of the quote, `YYYY-MM`. */
  readonly month: string
  readonly rateType: RateType
  /** The city pair and the equipment. */
  readonly lane: string
  readonly outcome: SavedOutcome
  /** Epoch milliseconds; null if undecided. */
  readonly decidedAt: number | null
  readonly isVoid: boolean
  /** Set if another offer for the load superseded this one: it says whether the customer refused its rate. */
  readonly supersededAs: SupersededAs | null
  /** The quoted rate with its terms as they are now: see `quotedAs`. */
  readonly quotedAs: string
}

/** Why a forecast is not scored. */
export const unscoredReasons = ['undecided', 'expired', 'void', 'superseded', 'rate_changed', 'late'] as const
export type Unscored = (typeof unscoredReasons)[number]

/** The score of a forecast (won or not), or the reason why it has none. */
export type Scoring = { readonly won: boolean } | { readonly unscored: Unscored }

/**
 * A forecast is scored by the outcome of its quote, if the quote was won or lost at the rate that was forecast. An offer whose rate
 * the customer refused is lost, as in the win curve. A forecast is late if it was made after its quote was decided.
 *
 * @param expiredIsLost the brokerage's setting about expired quotes
 */
export function scoringOf(quote: ForecastQuote, expiredIsLost: boolean): Scoring {
  const { forecast, outcome, decidedAt, supersededAs } = quote
  if (quote.isVoid) return { unscored: 'void' }
  if (supersededAs === 'replaced') return { unscored: 'superseded' }
  const isRefused = supersededAs === 'refused'
  if (outcome === 'pending' && !isRefused) return { unscored: 'undecided' }
  if (outcome === 'expired' && !expiredIsLost && !isRefused) return { unscored: 'expired' }
  if (forecast.quoted_as !== null && forecast.quoted_as !== quote.quotedAs)
    return { unscored: 'rate_changed' }
  // Compared in whole seconds, like the time of a signed outcome.
  const second = Math.floor(Date.parse(forecast.made_at) / 1000) * 1000
  if (decidedAt !== null && decidedAt < second) return { unscored: 'late' }
  return { won: outcome === 'won' && !isRefused }
}

/** The forecasts of a month and a rate type. */
export interface ForecastMonth {
  readonly month: string
  readonly rateType: RateType
  readonly scored: number
  readonly won: number
  readonly meanForecast: number
  readonly brier: number
  /** The Brier score of the lane's win rate on the same quotes; null if it is not known for all of them. */
  readonly laneWinRateBrier: number | null
}

/** How good the forecasts were. Lower Brier scores are better. */
export interface ForecastReport {
  readonly forecasts: number
  readonly scored: number
  readonly won: number
  readonly lanes: number
  readonly unscored: Readonly<Record<Unscored, number>>
  /** Null without a scored forecast. */
  readonly meanForecast: number | null
  readonly brier: number | null
  /** The share of the scored quotes that was won, minus the mean forecast; null without one. */
  readonly gap: GroupedMean | null
  /**
   * Over the quotes whose lane had a known win rate: both Brier scores, and in `better` that of the lane's win rate minus that of the
   * forecast.
   */
  readonly winRateOfLane: {
    readonly quotes: number
    readonly brier: number
    readonly laneWinRateBrier: number
    readonly better: GroupedMean
  } | null
  /** Ten groups of equal size, lowest forecast first. */
  readonly reliability: readonly ReliabilityRow[]
  /** Newest month first. */
  readonly months: readonly ForecastMonth[]
}

interface Scored {
  readonly month: string
  readonly rateType: RateType
  readonly lane: string
  readonly p: number
  readonly winRateOfLane: number | null
  readonly won: boolean
}

/** Collects quotes with forecasts, in any order, and reports on them. */
export interface ForecastScorer {
  add(quote: ForecastQuote): void
  report(): ForecastReport
}

/** Scores the forecasts of quotes. @param expiredIsLost the brokerage's setting about expired quotes */
export function forecastScorer(expiredIsLost: boolean): ForecastScorer {
  const scored: Scored[] = []
  const unscored = Object.fromEntries(unscoredReasons.map((why) => [why, 0])) as Record<Unscored, number>
  let forecasts = 0
  return {
    add(quote) {
      forecasts++
      const scoring = scoringOf(quote, expiredIsLost)
      if ('unscored' in scoring) unscored[scoring.unscored]++
      else {
        const { month, rateType, lane, forecast } = quote
        const { win_probability: p, lane_win_rate: winRateOfLane } = forecast
        scored.push({ month, rateType, lane, p, winRateOfLane, won: scoring.won })
      }
    },
    report: () => ({ forecasts, unscored: { ...unscored }, ...reportOf(scored) }),
  }
}

const wins = (scored: readonly Scored[]) => scored.filter(({ won }) => won).length
const meanOf = (scored: readonly Scored[]) => scored.reduce((sum, { p }) => sum + p, 0) / scored.length
const squared = (p: number, won: boolean) => (p - (won ? 1 : 0)) ** 2

function reportOf(scored: readonly Scored[]): Omit<ForecastReport, 'forecasts' | 'unscored'> {
  const isEmpty = scored.length === 0
  return {
    scored: scored.length,
    won: wins(scored),
    lanes: new Set(scored.map(({ lane }) => lane)).size,
    meanForecast: isEmpty ? null : meanOf(scored),
    brier: isEmpty ? null : brier(scored),
    gap: isEmpty
      ? null
      : meanOverGroups(scored.map(({ lane, p, won }) => ({ group: lane, value: (won ? 1 : 0) - p }))),
    winRateOfLane: laneWinRateOf(scored),
    reliability: isEmpty ? [] : reliability(scored),
    months: monthsOf(scored),
  }
}

const byLaneWinRate = (scored: readonly Scored[]) =>
  scored.flatMap(({ winRateOfLane, won }) => (winRateOfLane === null ? [] : [{ p: winRateOfLane, won }]))

function laneWinRateOf(scored: readonly Scored[]): ForecastReport['winRateOfLane'] {
  const compared = scored.filter(({ winRateOfLane }) => winRateOfLane !== null)
  if (compared.length === 0) return null
  return {
    quotes: compared.length,
    brier: brier(compared),
    laneWinRateBrier: brier(byLaneWinRate(compared)),
    better: meanOverGroups(
      compared.map(({ lane, p, winRateOfLane, won }) => ({
        group: lane,
        value: squared(winRateOfLane ?? p, won) - squared(p, won),
      })),
    ),
  }
}

function monthsOf(scored: readonly Scored[]): ForecastMonth[] {
  const groups = Map.groupBy(scored, ({ month, rateType }) => `${month} ${rateType}`)
  const found = [...groups.values()].map((group): ForecastMonth => {
    const [{ month, rateType }] = group as [Scored]
    const compared = byLaneWinRate(group)
    return {
      month,
      rateType,
      scored: group.length,
      won: wins(group),
      meanForecast: meanOf(group),
      brier: brier(group),
      laneWinRateBrier: compared.length === group.length ? brier(compared) : null,
    }
  })
  const order = ({ month, rateType }: ForecastMonth) => `${month} ${rateType}`
  return found.toSorted((one, other) => (order(one) < order(other) ? 1 : -1))
}

/** With fewer scored forecasts, the result is `unknown`. */
export const FORECASTS_MIN = 100
/** A smaller difference between the forecast and the share of quotes won is not worth a warning. */
const GAP_MIN = 0.05

/** The result of the report. `unknown`: too few scored forecasts. */
export type ForecastResult = 'unknown' | 'good' | 'too_high' | 'too_low' | 'behind_lane_rate'

/**
 * Whether the forecasts can be relied on. They cannot if quotes were won clearly less or more often than forecast (by five points
 * or more, and more than chance explains), or if the lane's plain win rate was clearly better.
 */
export function forecastResult({ scored, gap, winRateOfLane }: ForecastReport): ForecastResult {
  if (scored < FORECASTS_MIN || gap?.range95 == null) return 'unknown'
  if (gap.mean <= -GAP_MIN && gap.range95.high < 0) return 'too_high'
  if (gap.mean >= GAP_MIN && gap.range95.low > 0) return 'too_low'
  const better = winRateOfLane?.better.range95 ?? null
  return better !== null && better.high < 0 ? 'behind_lane_rate' : 'good'
}

const count = (of: number) => of.toLocaleString('en-US')

/** The result in one sentence. */
export function forecastSentence(report: ForecastReport): string {
  const { scored, won, meanForecast, winRateOfLane } = report
  const expected = Math.round((meanForecast ?? 0) * scored)
  const counts = `${count(won)} of ${count(scored)} quotes were won, and their forecasts expected ${count(expected)}`
  switch (forecastResult(report)) {
    case 'unknown':
      return `There are too few decided quotes with a forecast to judge the forecasts: ${count(scored)} of ${count(FORECASTS_MIN)}, on five lanes or more.`
    case 'good':
      return `The forecasts are reliable: ${counts}.`
    case 'too_high':
      return `The forecasts are too high: ${counts}. Do not rely on them until you know why. Usual reasons are a market that moved, outcomes that are reported late or only when lost, and another mix of customers.`
    case 'too_low':
      return `The forecasts are too low: ${counts}. Do not rely on them until you know why. Usual reasons are a market that moved, outcomes that are reported late or only when won, and another mix of customers.`
    case 'behind_lane_rate':
      return `The win rate of the lane was the better forecast: its squared error is ${winRateOfLane?.laneWinRateBrier.toFixed(3)}, and that of the forecasts ${winRateOfLane?.brier.toFixed(3)} (lower is better). Do not rely on the forecasts until you know why.`
  }
}
