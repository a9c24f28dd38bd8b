import type { Answer } from '../api/index.ts'

type Floors = Answer<'me'>['tenant']['floors']

/**
 * The lowest rate that the brokerage's floors allow on a lane, in dollars. Based on the cost that the rep typed; without one,
 * returns the service's own floor, which is based on the expected cost. Floors with an unknown cost or unknown miles are
 * ignored. Null when no floor applies.
 *
 * @example floorOf(floors, { advised: null, typedCost: 1700, miles: 850 }) // 2000, when the margin must be 15%
 */
export function floorOf(
  floors: Floors,
  lane: { readonly advised: number | null; readonly typedCost: number | null; readonly miles: number | null },
): number | null {
  const { advised, typedCost, miles } = lane
  if (advised !== null && typedCost === null) return advised
  const { margin_pct, margin, rate_per_mile } = floors
  const kept = [
    margin_pct === null || typedCost === null ? 0 : typedCost / (1 - margin_pct / 100),
    margin === null || typedCost === null ? 0 : typedCost + margin,
    rate_per_mile === null || miles === null ? 0 : rate_per_mile * miles,
  ]
  const floor = Math.max(...kept)
  return floor === 0 ? null : Math.round(floor * 100) / 100
}
