/**
 * Whether an expected cost is from loads of this brokerage. The default curve alone, the US market of 2017, is not.
 *
 * @example isOwnCost({ ownCurve: false, ownLoads: 0 }) // false
 */
export function isOwnCost<Cost extends { readonly ownCurve: boolean; readonly ownLoads: number }>(
  cost: Cost | null,
): cost is Cost {
  return cost !== null && (cost.ownCurve || cost.ownLoads > 0)
}
