import { type CostModel, expectedCost } from '#engine/estimate/expected-cost.ts'
import { AMOUNT_CENTS_MAX } from '#engine/money.ts'
import type { NewLane } from './database/lanes.ts'
import { laneIdentity } from './tenant-models.ts'

type CostExpected = Pick<
  NewLane,
  'expected_cost_cents' | 'expected_cost_low_cents' | 'expected_cost_high_cents'
>

/** What the truck of a lane is expected to cost, from the tenant's AP history, as the lane keeps it. */
export function costExpected(
  costs: CostModel,
  lane: Pick<
    NewLane,
    'origin_key' | 'destination_key' | 'origin_state' | 'destination_state' | 'equipment_code' | 'miles'
  >,
): CostExpected {
  const { costKeys } = laneIdentity({
    originKey: lane.origin_key,
    destinationKey: lane.destination_key,
    originState: lane.origin_state,
    destinationState: lane.destination_state,
    equipmentCode: lane.equipment_code,
  })
  const expected = expectedCost(costs, { costKeys, miles: lane.miles ?? null })
  if (expected === null) return {}
  const kept = (cents: number) => Math.min(AMOUNT_CENTS_MAX, Math.round(cents))
  return {
    expected_cost_cents: kept(expected.costCents),
    expected_cost_low_cents: kept(expected.lowCents),
    expected_cost_high_cents: kept(expected.highCents),
  }
}
