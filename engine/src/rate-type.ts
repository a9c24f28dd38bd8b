/** Whether a rate is for one load (spot) or for a period (contract). Estimates compare quotes of the same type. */
export type RateType = 'spot' | 'contract'

export const rateTypes: readonly RateType[] = ['spot', 'contract']

/** The quotes that a number is computed from: those of a rate type, or all. */
export type Pool = 'all' | RateType

/** @example isInPool('spot', 'contract') // false */
export function isInPool(pool: Pool, rateType: RateType): boolean {
  return pool === 'all' || pool === rateType
}
