/**
 * Were the forecasts any good: did 70 of 100 quotes with a forecast of 70 % win? Methods: Brier score (Brier, 1950), log loss,
 * calibration slope (Cox, 1958), calibration error over ten groups, and the area under the ROC curve (Hanley and McNeil, 1982).
 * docs/backtest.md, "Accuracy of the forecasts".
 */

/** A forecast win probability and the outcome. */
export interface Forecast {
  readonly p: number
  readonly won: boolean
}

/**
 * Quality of a set of forecasts. Lower is better for Brier score, log loss and calibration error (ECE); the ideal
 * slope is 1.
 */
export interface Quality {
  readonly count: number
  readonly auc: number
  readonly brier: number
  readonly logLoss: number
  readonly slope: number
  readonly calibrationError: number
}

/** One row of a reliability table: a group of similar forecasts, their mean, and the share of their quotes that was won (`came`). */
export interface ReliabilityRow {
  readonly count: number
  readonly forecast: number
  readonly came: number
}

const FORECAST_MIN = 1e-4
const STEP_MAX = 0.5

function logit(p: number): number {
  const q = Math.min(1 - FORECAST_MIN, Math.max(FORECAST_MIN, p))
  return Math.log(q / (1 - q))
}

/** The probability that a random won quote has a higher forecast than a random lost quote. Ties count half. */
export function auc(forecasts: readonly Forecast[]): number {
  const sorted = [...forecasts].sort((one, other) => one.p - other.p)
  let rankSum = 0
  let won = 0
  for (let from = 0; from < sorted.length; ) {
    let to = from
    while (to < sorted.length && sorted[to]?.p === sorted[from]?.p) to++
    const rank = (from + 1 + to) / 2
    for (let i = from; i < to; i++) {
      if (!sorted[i]?.won) continue
      rankSum += rank
      won++
    }
    from = to
  }
  const lost = sorted.length - won
  return won === 0 || lost === 0 ? 0.5 : (rankSum - (won * (won + 1)) / 2) / (won * lost)
}

/** Mean squared error of the forecasts. */
export function brier(forecasts: readonly Forecast[]): number {
  return forecasts.reduce((sum, { p, won }) => sum + (p - (won ? 1 : 0)) ** 2, 0) / forecasts.length
}

/** Mean negative log likelihood: confident errors cost most. Forecasts are clamped to .0001 and .9999. */
export function logLoss(forecasts: readonly Forecast[]): number {
  const sum = forecasts.reduce((total, { p, won }) => {
    const q = Math.min(1 - FORECAST_MIN, Math.max(FORECAST_MIN, p))
    return total - Math.log(won ? q : 1 - q)
  }, 0)
  return sum / forecasts.length
}

/**
 * Below 1 if forecasts are too extreme, above 1 if they are too timid: the slope of a logistic regression of the outcomes on the forecasts'
 * log odds.
 */
export function calibrationSlope(forecasts: readonly Forecast[]): number {
  let intercept = 0
  let slope = 1
  for (let round = 0; round < 60; round++) {
    let g0 = 0
    let g1 = 0
    let h00 = 1e-9
    let h01 = 0
    let h11 = 1e-9
    for (const { p, won } of forecasts) {
      const x = logit(p)
      const q = 1 / (1 + Math.exp(-(intercept + slope * x)))
      const rest = (won ? 1 : 0) - q
      const weight = q * (1 - q)
      g0 += rest
      g1 += rest * x
      h00 += weight
      h01 += weight * x
      h11 += weight * x * x
    }
    const determinant = h00 * h11 - h01 * h01
    // If the forecasts say nothing, the slope is undefined. Limited steps stop the iteration from diverging.
    const step = (size: number) => Math.max(-STEP_MAX, Math.min(STEP_MAX, size))
    intercept += step((h11 * g0 - h01 * g1) / determinant)
    slope += step((h00 * g1 - h01 * g0) / determinant)
  }
  return slope
}

/** Groups the forecasts into groups of equal size, from lowest to highest forecast. */
export function reliability(forecasts: readonly Forecast[], groups = 10): ReliabilityRow[] {
  const sorted = [...forecasts].sort((one, other) => one.p - other.p)
  return Array.from({ length: groups }, (_, group) => {
    const part = sorted.slice(
      Math.floor((group * sorted.length) / groups),
      Math.floor(((group + 1) * sorted.length) / groups),
    )
    return {
      count: part.length,
      forecast: part.reduce((sum, { p }) => sum + p, 0) / part.length,
      came: part.filter(({ won }) => won).length / part.length,
    }
  }).filter((row) => row.count > 0)
}

/** How far the forecasts are from the share of quotes won, on average over the ten groups of the reliability table, weighted by size. */
export function calibrationError(forecasts: readonly Forecast[]): number {
  return reliability(forecasts).reduce(
    (sum, row) => sum + (row.count / forecasts.length) * Math.abs(row.forecast - row.came),
    0,
  )
}

export function quality(forecasts: readonly Forecast[]): Quality {
  return {
    count: forecasts.length,
    auc: auc(forecasts),
    brier: brier(forecasts),
    logLoss: logLoss(forecasts),
    slope: calibrationSlope(forecasts),
    calibrationError: calibrationError(forecasts),
  }
}
