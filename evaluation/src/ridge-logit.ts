import { sigmoid } from '#engine/estimate/price-response.ts'

const ROUNDS = 12

/** Solves a symmetric positive definite system (Cholesky). */
function solved(matrix: readonly Float64Array[], right: Float64Array): Float64Array {
  const size = right.length
  const lower = Array.from({ length: size }, () => new Float64Array(size))
  const at = (rows: readonly Float64Array[], i: number, j: number) => rows[i]?.[j] ?? 0
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = at(matrix, i, j)
      for (let k = 0; k < j; k++) sum -= at(lower, i, k) * at(lower, j, k)
      const row = lower[i] as Float64Array
      row[j] = i === j ? Math.sqrt(Math.max(sum, 1e-12)) : sum / at(lower, j, j)
    }
  }
  const out = right.slice()
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < i; k++) out[i] = (out[i] ?? 0) - at(lower, i, k) * (out[k] ?? 0)
    out[i] = (out[i] ?? 0) / at(lower, i, i)
  }
  for (let i = size - 1; i >= 0; i--) {
    for (let k = i + 1; k < size; k++) out[i] = (out[i] ?? 0) - at(lower, k, i) * (out[k] ?? 0)
    out[i] = (out[i] ?? 0) / at(lower, i, i)
  }
  return out
}

/**
 * Fits a logistic regression with an intercept and a ridge of 3 on standardized columns.
 *
 * @returns the probability of a row like those it was fitted to
 */
export function ridgeLogit(
  rows: readonly (readonly number[])[],
  won: readonly boolean[],
): (row: readonly number[]) => number {
  const width = rows[0]?.length ?? 0
  const columns = Array.from({ length: width }, (_, k) => rows.map((row) => row[k] ?? 0))
  const means = columns.map((column) => column.reduce((sum, value) => sum + value, 0) / column.length)
  const deviations = columns.map(
    (column, k) =>
      Math.sqrt(column.reduce((sum, value) => sum + (value - (means[k] ?? 0)) ** 2, 0) / column.length) +
      1e-9,
  )
  const standard = (row: readonly number[]) => [
    1,
    ...row.map((value, k) => (value - (means[k] ?? 0)) / (deviations[k] ?? 1)),
  ]
  const ready = rows.map(standard)
  const ridge = (k: number) => (k === 0 ? 1e-6 : 3)
  const weights = new Float64Array(width + 1)
  const at = (row: readonly number[]) =>
    sigmoid(row.reduce((sum, value, k) => sum + value * (weights[k] ?? 0), 0))
  for (let round = 0; round < ROUNDS; round++) {
    const slope = weights.map((weight, k) => -ridge(k) * weight)
    const curvature = Array.from({ length: width + 1 }, (_, k) => {
      const line = new Float64Array(width + 1)
      line[k] = ridge(k)
      return line
    })
    for (const [n, row] of ready.entries()) {
      const p = at(row)
      const residual = (won[n] ? 1 : 0) - p
      const information = p * (1 - p)
      for (let i = 0; i <= width; i++) {
        slope[i] = (slope[i] ?? 0) + residual * (row[i] ?? 0)
        const line = curvature[i] as Float64Array
        for (let j = 0; j <= width; j++)
          line[j] = (line[j] ?? 0) + information * (row[i] ?? 0) * (row[j] ?? 0)
      }
    }
    for (const [k, step] of solved(curvature, slope).entries()) weights[k] = (weights[k] ?? 0) + step
  }
  return (row) => at(standard(row))
}
