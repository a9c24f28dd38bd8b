/** A mean with its standard error and its 95 % range; the range is null with fewer than five groups. */
export interface GroupedMean {
  readonly mean: number
  readonly standardError: number
  readonly range95: { readonly low: number; readonly high: number } | null
}

/** The range of fewer groups would be meaningless. */
const GROUPS_MIN = 5
/** 95 % of a normal distribution are within this many standard deviations of its mean. */
const Z_95 = 1.96

/**
 * The mean of values that are correlated within groups, such as the quotes of a lane, with a range that allows for it: the
 * cluster-robust standard error, sqrt(sum over groups of (sum of its deviations)^2) / n (Liang and Zeger, Biometrika 73, 1986).
 *
 * @example meanOverGroups([{ group: 'a', value: 1 }, { group: 'b', value: 0 }]) // { mean: 0.5, standardError: 0.354, range95: null }
 */
export function meanOverGroups(
  values: readonly { readonly group: string; readonly value: number }[],
): GroupedMean {
  const mean = values.reduce((sum, { value }) => sum + value, 0) / values.length
  const deviations = new Map<string, number>()
  for (const { group, value } of values) deviations.set(group, (deviations.get(group) ?? 0) + value - mean)
  const squares = [...deviations.values()].reduce((sum, deviation) => sum + deviation ** 2, 0)
  const standardError = Math.sqrt(squares) / values.length
  const error = Z_95 * standardError
  const range95 = deviations.size < GROUPS_MIN ? null : { low: mean - error, high: mean + error }
  return { mean, standardError, range95 }
}
