import { forecastByBaselines } from '#engine/backtest/baselines.ts'
import { forecastByModel } from '#engine/backtest/walk-forward.ts'
import { type Forecast, type Quality, quality } from '#engine/statistics/forecast-quality.ts'
import { simulateTenant } from './simulation.ts'

const LANE_SIZES = [3, 8, 15, 60]
const DAYS = 90
const WARM_UP_DAYS = 30

/** Compares the model with the lane win rate on simulated brokers, day by day. Deterministic, and small enough for every test run. */
export function evaluateSample(options: { tenants: number; seed: number }): {
  model: Quality
  winRateOfLane: Quality
} {
  const model: Forecast[] = []
  const winRateOfLane: Forecast[] = []
  for (let tenant = 0; tenant < options.tenants; tenant++) {
    const { quotes } = simulateTenant({
      seed: options.seed + tenant,
      laneSizes: LANE_SIZES,
      days: DAYS,
      shape: tenant % 2 === 0 ? 'logistic' : 'probit',
    })
    const forecasts = forecastByModel(quotes, { warmUpDays: WARM_UP_DAYS })
    model.push(...forecasts.map(({ quote, p }) => ({ p, won: quote.outcome === 'won' })))
    winRateOfLane.push(...forecastByBaselines(quotes, WARM_UP_DAYS).winRateOfLane)
  }
  return { model: quality(model), winRateOfLane: quality(winRateOfLane) }
}
