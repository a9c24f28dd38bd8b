/** Errors of cost forecasts in ln cost are counted in bins of this width, up to this distance on both sides. */
const BIN_WIDTH = 0.02
const ERROR_MAX = 1.2
const BINS = Math.round((2 * ERROR_MAX) / BIN_WIDTH)

/**
 * The weight of a Laplace distribution with the usual error beside the tenant's own errors, in loads. It also fills the gaps
 * between few errors.
 */
const LAPLACE_WEIGHT = 10

/** How often a tenant's costs were off their forecast by how much: the cost minus the forecast, in ln cost. */
export interface ErrorCounts {
  readonly bins: Float64Array
  /** The sum of the weights. */
  count: number
}

export function noErrors(): ErrorCounts {
  return { bins: new Float64Array(BINS), count: 0 }
}

/** Counts an error; the weights of old loads are smaller (see `weightOf`), because the errors of a moving market grow. */
export function countError(counts: ErrorCounts, error: number, weight: number): void {
  const bin = Math.min(BINS - 1, Math.max(0, Math.floor((error + ERROR_MAX) / BIN_WIDTH)))
  counts.bins[bin] = (counts.bins[bin] as number) + weight
  counts.count += weight
}

/** The distribution of the error of a forecast. */
export interface ErrorSpread {
  readonly counts: ErrorCounts
  /** The mean absolute error in ln cost. */
  readonly usual: number
}

function laplaceBelow(error: number, usual: number): number {
  return error < 0 ? Math.exp(error / usual) / 2 : 1 - Math.exp(-error / usual) / 2
}

/**
 * The chance that the error of a forecast is below `error`: the share of the tenant's own past errors, mixed with a Laplace
 * distribution that weighs as much as 10 loads.
 *
 * @example errorBelow({ counts: noErrors(), usual: 0.2 }, 0) // 0.5
 */
export function errorBelow({ counts, usual }: ErrorSpread, error: number): number {
  const place = Math.min(BINS, Math.max(0, (error + ERROR_MAX) / BIN_WIDTH))
  const whole = Math.floor(place)
  let below = 0
  for (let bin = 0; bin < whole; bin++) below += counts.bins[bin] as number
  if (whole < BINS) below += (place - whole) * (counts.bins[whole] as number)
  return (LAPLACE_WEIGHT * laplaceBelow(error, usual) + below) / (LAPLACE_WEIGHT + counts.count)
}

/** The error that a forecast stays below with a chance. @example errorAt({ counts: noErrors(), usual: 0.2 }, 0.9) // 0.3219 */
export function errorAt(spread: ErrorSpread, chance: number): number {
  let [low, high] = [-4 * ERROR_MAX, 4 * ERROR_MAX]
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2
    if (errorBelow(spread, middle) < chance) low = middle
    else high = middle
  }
  return (low + high) / 2
}
