/**
 * Would a simple rule do as well as the model? Four rules forecast the quotes that the model forecast: the overall win rate, the
 * lane's win rate, and two ways to compute `win_probability`. Method: win rates with pseudo-quotes (https://en.wikipedia.org/wiki/Rule_of_succession).
 * docs/backtest.md, "Accuracy of the forecasts".
 */

import { isDecided } from '../history.ts'
import { laneRates } from '../lane-rates.ts'
import type { LaneQuote } from '../quotes/quoted-lanes.ts'
import { countRates } from '../rate-counts.ts'
import { laneWinRate } from '../recorded-forecast.ts'
import type { Forecast } from '../statistics/forecast-quality.ts'
import { winProbability } from '../win-probability.ts'
import { byDay } from './walk-forward.ts'

const DAY = 86_400_000
const HALF_LIFE_DAYS = 60
const COUNT_DAYS = 90

/** Forecasts by the four rules, for the same quotes and from the same earlier outcomes as those of the model. */
export interface BaselineForecasts {
  readonly overall: Forecast[]
  readonly winRateOfLane: Forecast[]
  readonly literal: Forecast[]
  readonly atOrBelow: Forecast[]
}

/**
 * Forecasts each decided quote, day by day, by four rules: the overall win rate so far; the lane's win rate with a
 * half-life of 60 days; and the `literal` and the `at_or_below` win probability over the lane's last 90 days.
 */
export function forecastByBaselines(quotes: readonly LaneQuote[], warmUpDays: number): BaselineForecasts {
  const days = byDay(quotes)
  const first = Math.min(...days.keys())
  const out: BaselineForecasts = { overall: [], winRateOfLane: [], literal: [], atOrBelow: [] }
  const lanes = new Map<string, { won: number; decided: number; day: number; past: LaneQuote[] }>()
  let won = 0
  let decided = 0
  for (const [day, today] of days) {
    for (const quote of day - first >= warmUpDays ? today.filter(isDecided) : []) {
      const outcome = { won: quote.outcome === 'won' }
      const overall = (won + 1) / (decided + 2)
      const lane = lanes.get(quote.lane.key)
      const decay = lane ? 2 ** (-(day - lane.day) / HALF_LIFE_DAYS) : 0
      const aged = { won: (lane?.won ?? 0) * decay, decided: (lane?.decided ?? 0) * decay }
      const winRateOfLane = laneWinRate(aged, { won, decided })
      const recent = (lane?.past ?? []).filter((past) => past.quotedAt >= (day - COUNT_DAYS) * DAY)
      const rates = laneRates(countRates(recent))
      const count = (method: 'literal' | 'at_or_below') =>
        winProbability(rates, quote.rateCents, method).probability ?? overall
      out.overall.push({ ...outcome, p: overall })
      out.winRateOfLane.push({ ...outcome, p: winRateOfLane })
      out.literal.push({ ...outcome, p: count('literal') })
      out.atOrBelow.push({ ...outcome, p: count('at_or_below') })
    }
    for (const quote of today.filter(isDecided)) {
      const lane = lanes.get(quote.lane.key) ?? { won: 0, decided: 0, day, past: [] }
      const decay = 2 ** (-(day - lane.day) / HALF_LIFE_DAYS)
      const win = quote.outcome === 'won' ? 1 : 0
      lanes.set(quote.lane.key, {
        won: lane.won * decay + win,
        decided: lane.decided * decay + 1,
        day,
        past: lane.past,
      })
      lane.past.push(quote)
      won += win
      decided++
    }
  }
  return out
}
