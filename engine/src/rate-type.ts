/** Whether a rate is for one load or for a period. Quotes of a type are a pool: statistics and estimates compare like with like. */
export type RateType = 'spot' | 'contract'

export const rateTypes: readonly RateType[] = ['spot', 'contract']

/** Quotes that a number is computed from: those of a type, or all. */
export type Pool = 'all' | RateType

/** @example isInPool('spot', 'contract') // false */
export function isInPool(pool: Pool, rateType: RateType): boolean {
  return pool === 'all' || pool === rateType
}
