/**
 * How much of this contract estimate comes from spot quotes, or the reverse? The answer is two shares of the other type: in the win curve
 * and in the going rate. No statistical method: the shares are the weights that the estimate was computed with.
 * docs/estimate-formulas.md, "Spot and contract".
 */

import type { LaneIdentity } from '../quotes/lane-identity.ts'
import type { Estimator } from './estimator.ts'
import { otherReferenceShare } from './lane-reference.ts'
import { scopeOf } from './scope-tree.ts'

/** The parts of an estimate that come from quotes of the other rate type. */
export interface BorrowedType {
  /** The share of the win curve that is from outcomes of the other type. */
  readonly curveShare: number
  /** The share of the going rate that is from rates of the other type on the lane. */
  readonly rateShare: number
  /** An outcome of the other type counts as this part of one of this type. */
  readonly weight: number
  /** How far rates of this type usually are above those of the other on the same lane, in ln. */
  readonly rateOffset: number
  /** The number of lanes with quotes of both types. */
  readonly lanesOfBoth: number
}

/**
 * How much of a lane's estimate comes from the other rate type. The part of the win curve that other lanes contribute is divided between
 * the types in proportion to their weighted decided quotes in the narrowest scope that has any. Null for a model that borrows nothing.
 *
 * @param borrowedShare the share of the curve that is not from the lane's own quotes
 */
export function borrowedType(
  model: Estimator,
  identity: LaneIdentity,
  borrowedShare: number,
): BorrowedType | null {
  const { borrowing } = model
  if (borrowing === null) return null
  let scope = scopeOf(model, identity)
  while (scope.parent !== null && scope.decided + scope.borrowed === 0) scope = scope.parent
  const all = scope.decided + scope.borrowed
  return {
    curveShare: all === 0 ? 0 : (borrowedShare * scope.borrowed) / all,
    rateShare: otherReferenceShare(model, identity),
    weight: borrowing.weight,
    rateOffset: borrowing.rateOffset,
    lanesOfBoth: borrowing.lanesOfBoth,
  }
}
