/**
 * Whether an expected cost is from loads of this brokerage. The default curve alone is a shape of 2017.
 *
 * @example isOwnCost({ ownCurve: false, ownLoads: 0 }) // false
 */
export function isOwnCost<Cost extends { readonly ownCurve: boolean; readonly ownLoads: number }>(
  cost: Cost | null,
): cost is Cost {
  return cost !== null && (cost.ownCurve || cost.ownLoads > 0)
}
