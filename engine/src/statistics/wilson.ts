/** A range of a share, or of the difference between two. */
export interface ShareInterval {
  readonly low: number
  readonly high: number
}

/**
 * The confidence interval of a share: Wilson's score interval (E. B. Wilson, "Probable Inference", 1927). It holds for few observations,
 * too. Null without any.
 *
 * @param deviations of the normal distribution: 1.2816 for 80 %, 1.96 for 95 %
 * @example wilsonInterval(7, 10, 1.2816) // { low: 0.497, high: 0.846 }
 */
export function wilsonInterval(part: number, whole: number, deviations: number): ShareInterval | null {
  if (whole === 0) return null
  const square = deviations ** 2
  const share = part / whole
  const middle = (share + square / (2 * whole)) / (1 + square / whole)
  const half =
    (deviations * Math.sqrt((share * (1 - share)) / whole + square / (4 * whole ** 2))) / (1 + square / whole)
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) }
}

/** A part of a whole, in observations. */
export interface Share {
  readonly part: number
  readonly whole: number
}

/**
 * The confidence interval of the difference between two independent shares, one minus the other: R. G. Newcombe's method 10 ("Interval
 * estimation for the difference between independent proportions", 1998). Null if one of them has no observation.
 *
 * @example differenceInterval({ part: 56, whole: 70 }, { part: 48, whole: 80 }, 1.96) // { low: 0.0524, high: 0.3339 }
 */
export function differenceInterval(one: Share, other: Share, deviations: number): ShareInterval | null {
  const [first, second] = [one, other].map(({ part, whole }) => wilsonInterval(part, whole, deviations))
  if (first == null || second == null) return null
  const [a, b] = [one.part / one.whole, other.part / other.whole]
  return {
    low: a - b - Math.hypot(a - first.low, second.high - b),
    high: a - b + Math.hypot(first.high - a, b - second.low),
  }
}
