/**
 * How far is a truck's cost usually from the expected one: 10 % or 25 %? Each past load was forecast before it moved; the errors of these
 * forecasts tell. Methods: the mean error is shrunk toward errors measured on 4,476 US truckloads (credibility, Bühlmann, 1967). The
 * distribution is the histogram of own errors mixed with a Laplace distribution: the posterior mean of a Dirichlet process (Ferguson,
 * 1973).
 * docs/estimate-formulas.md, "Expected cost", The range, and "Margin at risk".
 */

/** The days ahead for which a cost is expected: today, and one, two and four weeks ahead. */
export const AHEAD_DAYS = [0, 7, 14, 28] as const

/**
 * Lanes are grouped by their number of loads, which decides how good their expected costs are. Each entry is the largest number of loads of
 * a group.
 */
export const OWN_LOADS_ROWS = [0, 4, 14, Number.POSITIVE_INFINITY] as const

/**
 * The mean absolute error of the estimate in ln cost for each of `AHEAD_DAYS`, by the number of loads on the lane (0, 1 to 4, 5 to
 * 14, more). Measured on 4,476 US truckloads, each predicted before it moved.
 */
const MEASURED = [
  [0.24, 0.16, 0.11, 0.1],
  [0.25, 0.18, 0.11, 0.11],
  [0.26, 0.18, 0.12, 0.12],
  [0.28, 0.19, 0.13, 0.12],
] as const
/** The measured error counts as much as this many loads of the brokerage. */
const MEASURED_WEIGHT = 8
/** The mean error of all loads counts as much as this many recent loads, because a mean over fewer varies by 15 % or more. */
const RECENT_WEIGHT = 30

/** Sums of how far past expected costs were from the actual ones, in ln cost. */
export interface AbsoluteErrors {
  sum: number
  loads: number
  /** `recentSum` and `recent`: the same, weighted by the age of a load (`weightOf`). */
  recentSum: number
  recent: number
}

/** @example noAbsoluteErrors().length // 4: one for each of `OWN_LOADS_ROWS` */
export function noAbsoluteErrors(): AbsoluteErrors[] {
  return OWN_LOADS_ROWS.map(() => ({ sum: 0, loads: 0, recentSum: 0, recent: 0 }))
}

export function addError(errors: AbsoluteErrors, error: number, weight: number): void {
  errors.sum += Math.abs(error)
  errors.loads++
  errors.recentSum += weight * Math.abs(error)
  errors.recent += weight
}

/**
 * How far the truck cost of a load usually is from the expected one: the mean absolute error in ln cost. With few recent loads, the error
 * over all loads of the brokerage counts more; with few loads at all, `MEASURED` does.
 *
 * @param place positions in `AHEAD_DAYS` and in `OWN_LOADS_ROWS`
 * @param scale turns the weights that recent loads have today into those of an earlier day
 */
export function usualError(
  errors: AbsoluteErrors | undefined,
  { which, row }: { readonly which: number; readonly row: number },
  scale = 1,
): number {
  const measured = MEASURED[which]?.[row] ?? MEASURED[0][0]
  if (errors === undefined) return measured
  const usual = (errors.sum + MEASURED_WEIGHT * measured) / (errors.loads + MEASURED_WEIGHT)
  return (scale * errors.recentSum + RECENT_WEIGHT * usual) / (scale * errors.recent + RECENT_WEIGHT)
}

/** Errors are counted as multiples of the usual error: in bins of this width, up to this multiple on both sides. */
const BIN_WIDTH = 0.1
const ERROR_MAX = 8
const BINS = Math.round((2 * ERROR_MAX) / BIN_WIDTH)

/**
 * The Laplace distribution counts as much as this many recent loads. Truck costs move together, so the errors of a few weeks can
 * all be on one side by chance: docs/decisions/0073-margin-at-risk.md.
 */
const LAPLACE_WEIGHT = 300

/** A histogram of how far a brokerage's truck costs were above or below the expected ones, in multiples of the usual error. */
export interface ErrorCounts {
  readonly bins: Float64Array
  /** The sum of the weights of all errors. */
  count: number
}

export function noErrors(): ErrorCounts {
  return { bins: new Float64Array(BINS), count: 0 }
}

/** Counts an error; old loads have smaller weights (see `weightOf`). */
export function countError(counts: ErrorCounts, error: number, weight: number): void {
  const bin = Math.min(BINS - 1, Math.max(0, Math.floor((error + ERROR_MAX) / BIN_WIDTH)))
  counts.bins[bin]! += weight
  counts.count += weight
}

/** How far the truck cost of a load may be from the expected one. */
export interface ErrorSpread {
  readonly counts: ErrorCounts
  /** The mean absolute error in ln cost. */
  readonly usual: number
}

/**
 * The chance that the error of an expected cost is below `error`: the share of the brokerage's past errors below it, mixed with a
 * Laplace distribution that weighs as much as 300 loads.
 *
 * @example errorBelow({ counts: noErrors(), usual: 0.2 }, 0) // 0.5
 */
export function errorBelow({ counts, usual }: ErrorSpread, error: number): number {
  const times = error / usual
  const laplace = times < 0 ? Math.exp(times) / 2 : 1 - Math.exp(-times) / 2
  const place = Math.min(BINS, Math.max(0, (times + ERROR_MAX) / BIN_WIDTH))
  const whole = Math.floor(place)
  let below = 0
  for (let bin = 0; bin < whole; bin++) below += counts.bins[bin]!
  if (whole < BINS) below += (place - whole) * counts.bins[whole]!
  return (LAPLACE_WEIGHT * laplace + below) / (LAPLACE_WEIGHT + counts.count)
}

/** The inverse of `errorBelow`: the error at a chance. @example errorAt({ counts: noErrors(), usual: 0.2 }, 0.9) // 0.3219 */
export function errorAt(spread: ErrorSpread, chance: number): number {
  let [low, high] = [-2 * ERROR_MAX * spread.usual, 2 * ERROR_MAX * spread.usual]
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2
    if (errorBelow(spread, middle) < chance) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** The ends of the 80 % range of truck costs, in multiples of the usual error from the expected cost. */
export interface ErrorRange {
  readonly low: number
  readonly high: number
}

/**
 * The 80 % range: one in ten loads costs less, and one in ten more. The range contains the expected cost, even if nearly all past loads
 * cost more than expected.
 *
 * @example errorRange(noErrors()) // { low: -1.61, high: 1.61 }
 */
export function errorRange(counts: ErrorCounts): ErrorRange {
  const at = (chance: number) => errorAt({ counts, usual: 1 }, chance)
  return { low: Math.min(0, at(0.1)), high: Math.max(0, at(0.9)) }
}
