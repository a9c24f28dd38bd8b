import { Problem } from '#contract/errors.ts'
import { identityOf, type PreparedAdvice } from '#engine/book/quote-book.ts'
import { expectedCost } from '#engine/estimate/expected-cost.ts'
import { isWeekend } from '#engine/estimate/weekend-pickup.ts'
import { AMOUNT_CENTS_MAX } from '#engine/money.ts'
import type { BookSettings, CostColumn, ExpectedColumn, NewLane } from '../database/queries/index.ts'
import type { TenantId } from '../database/session/index.ts'
import type { Books } from './books.ts'
import type { BrokerageBook } from './brokerage-book.ts'

type CostExpected = Pick<NewLane, ExpectedColumn>

/** The expected truck cost of a lane, from the tenant's AP history, in the columns of the lane. */
export function costExpected(
  pricing: Pick<Pricing, 'costs' | 'settings'> | null,
  lane: Pick<NewLane, CostColumn>,
): CostExpected {
  const { costKeys } = identityOf({
    originKey: lane.origin_key,
    destinationKey: lane.destination_key,
    originState: lane.origin_state,
    destinationState: lane.destination_state,
    equipmentCode: lane.equipment_code,
  })
  const expected =
    pricing === null
      ? null
      : expectedCost(pricing.costs, {
          costKeys,
          miles: lane.miles ?? null,
          weekendPickup: isWeekend(lane.pickup_date ?? null),
        })
  if (pricing === null || expected === null) return {}
  const kept = (cents: number) => Math.min(AMOUNT_CENTS_MAX, Math.round(cents))
  return {
    expected_cost_cents: kept(expected.costCents),
    expected_cost_low_cents: kept(expected.lowCents),
    expected_cost_high_cents: kept(expected.highCents),
    expected_basis: pricing.settings.basis,
  }
}

/** What a quote is compared with when it is saved: the preparation of the brokerage's book, and its settings. */
export interface Pricing extends PreparedAdvice {
  readonly settings: BookSettings
}

/**
 * What to compare new quotes with. Null if the book does not fit into memory: quotes are then saved without an expected cost,
 * without warnings, and without a forecast.
 */
export async function pricingOf(
  books: Books<BrokerageBook>,
  tenant: TenantId,
  now: number,
): Promise<Pricing | null> {
  const open = await books.read(tenant).catch((error: unknown) => {
    if (error instanceof Problem) return null
    throw error
  })
  return open === null ? null : { ...(await open.quotes.advice(now)), settings: open.settings }
}
