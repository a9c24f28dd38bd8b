import type { LaneIdentity } from '../quotes/lane-identity.ts'
import type { Estimator } from './estimator.ts'
import { otherReferenceShare } from './lane-reference.ts'
import { scopeOf } from './scope-tree.ts'

/** What an estimate of a rate type takes from the quotes of the other type. */
export interface BorrowedType {
  /** The share of the win curve that is from outcomes of the other type. */
  readonly curveShare: number
  /** The share of the going rate that is from rates of the other type on the lane. */
  readonly rateShare: number
  /** An outcome of the other type counts as this part of an own one. */
  readonly weight: number
  /** ln of the own rates divided by those of the other type. */
  readonly rateOffset: number
  /** The lanes with quotes of both types. */
  readonly lanesOfBoth: number
}

/**
 * How much an estimate of a lane takes from the other rate type. Of what it borrows from other lanes, the part of the other type
 * is that among the decided quotes of the narrowest scope that has any, each with its weight. Null for a model that borrows nothing.
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
